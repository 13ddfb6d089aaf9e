"""How long ``status``, ``runs``, ``failures`` and ``nodes`` take of a campaign of 100,000 runs that somebody has looked at before.

    benchmarks/looking.py [DAYS]

The campaign is a rehearsal of so many days of C5, 780 runs a day. The bar: 0.5 s of processor time each, start-up included. The
first look, which folds the whole log, is shown beside it. Without DAYS it takes ten minutes, most of them for the first ``nodes``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from shakedown.events.looks import SETTLED_S
from shakedown.model.layout import Layout

LIMIT_S, ROUNDS = 0.5, 3
EXAMPLE = Path(__file__).parent.parent / "examples" / "c5-rehearsal"
COMMANDS = (("status",), ("runs", "--verdict", "node_fail"), ("failures",), ("nodes",))


def main() -> int:
    """0 where every bar is met, else 1."""
    days = int(sys.argv[1]) if len(sys.argv) > 1 else 130
    with tempfile.TemporaryDirectory(prefix="shakedown-looking-") as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        site = Path(shutil.copytree(EXAMPLE, f"{folder}/site"))
        plan = site / "plans" / "mended.yaml"
        plan.write_text(plan.read_text().replace("duration: 10d", f"duration: {days}d"))
        _command(site, "rehearse", "mended", "--scenario", "mended", "--fault", "node_fail=2%", "--quiet")
        _age(Layout(site / "rehearsed" / "mended-1"))
        met = True
        for words in COMMANDS:
            first = _command(site, *words, "mended-1")
            again = min(_command(site, *words, "mended-1") for _ in range(ROUNDS))
            met = met and again <= LIMIT_S
            said = "met" if again <= LIMIT_S else "NOT MET"
            print(
                f"{' '.join(words):<26} first {first:7.2f} s, then {again:5.2f} s, at most {LIMIT_S} s: {said}",
                flush=True,
            )
    return 0 if met else 1


def _age(layout: Layout) -> None:
    """A log that was closed a while ago, as most are: what changed in the last minute is always read."""
    newest = max(path.stat().st_ctime for path in layout.log.glob("*.jsonl"))
    time.sleep(max(0.0, newest + SETTLED_S + 1 - time.time()))


def _command(site: Path, *words: str) -> float:
    """Seconds of processor time of one command."""
    before = os.times()
    done = subprocess.run([sys.executable, "-m", "shakedown", *words], cwd=site, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(words)}: exit status {done.returncode}\n{done.stderr.decode()[-2000:]}")
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    sys.exit(main())
