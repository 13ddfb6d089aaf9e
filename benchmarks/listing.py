"""How long ``shakedown list cases`` takes where 5,000 tests are written in 5,000 files: as they are, and from the cache.

The bars, start-up included: 1.5 s when nothing is cached, 0.3 s when it is.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from measure import Row, command_seconds, interleaved

SHAKEDOWN = str(Path(sys.executable).parent / "shakedown")
TESTS, ROUNDS = 5000, 5
LIMITS_S = (1.5, 0.3)  # cold, cached

TEST = """\
test: t{number}
about: says hello number {number}
tags: [memory, quick]
parameters: {{threads: [1]}}
run:
  nodes: 1
  tasks_per_node: 1
  cpus_per_task: 1
  time_limit: 1min
  environment: {{OMP_NUM_THREADS: "{{threads}}"}}
  command: "echo hello {number} with {{threads}} threads"
check:
  - output contains "hello {number}"
figures:
  number: {{regex: 'hello (?P<value>{number})', better: higher}}
"""


def main() -> int:
    """0 when both bars are met, else 1."""
    with tempfile.TemporaryDirectory(prefix="shakedown-listing-") as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        site = make_site(Path(folder) / "site")
        best = interleaved(
            {
                "python -c pass": lambda: command_seconds(sys.executable, "-c", "pass"),
                f"list cases, {TESTS:,} files, cold": lambda: cold_seconds(site),
                f"list cases, {TESTS:,} files, cached": lambda: listing_seconds(site),
            },
            ROUNDS,
        )
    python, *ours = best.items()
    print("\n".join(str(Row(name, took, took / python[1])) for name, took in best.items()))
    verdicts = [_judge(name, took, limit) for (name, took), limit in zip(ours, LIMITS_S, strict=True)]
    return 0 if all(verdicts) else 1


def _judge(name: str, took: float, limit: float) -> bool:
    print(f"{name}: {took:.2f} s, at most {limit} s: {'met' if took <= limit else 'NOT MET'}")
    return took <= limit


def make_site(site: Path) -> Path:
    """A site directory with one small test a file; it rests a moment, as files that people edit do."""
    (site / "tests").mkdir(parents=True)
    (site / "site.yaml").write_text("site: listing\n")
    for number in range(TESTS):
        (site / "tests" / f"t{number}.yaml").write_text(TEST.format(number=number))
    time.sleep(0.2)
    return site


def cold_seconds(site: Path) -> float:
    """Seconds of one listing with no cache; it leaves one behind."""
    shutil.rmtree(Path(os.environ["XDG_CACHE_HOME"]) / "shakedown" / "listings", ignore_errors=True)
    return listing_seconds(site)


def listing_seconds(site: Path) -> float:
    return command_seconds(SHAKEDOWN, "list", "cases", "--site", str(site))


if __name__ == "__main__":
    sys.exit(main())
