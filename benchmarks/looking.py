"""How long ``status``, ``runs``, ``failures`` and ``nodes`` take of a campaign of 100,000 runs that somebody has looked at before.

    benchmarks/looking.py [RUNS]

The bar: 0.5 s of processor time each, start-up included. The first look, which folds the whole log, is shown beside it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from shakedown.events.campaigns import read_document
from shakedown.events.lease import Lease
from shakedown.events.looks import SETTLED_S
from shakedown.events.opening import open_log
from shakedown.events.reader import read_events
from shakedown.model.events import Event
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout

LIMIT_S, ROUNDS = 0.5, 3
EXAMPLE = Path(__file__).parent.parent / "examples" / "c5-rehearsal"
COMMANDS = (("status",), ("runs", "--verdict", "failed"), ("failures",), ("nodes",))


def main() -> int:
    """0 where every bar is met, else 1."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(prefix="shakedown-looking-") as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        site = Path(shutil.copytree(EXAMPLE, f"{folder}/site"))
        _command(site, "rehearse", "mended", "--scenario", "mended", "--quiet")
        layout = Layout(site / "rehearsed" / "mended-1")
        _lengthen(layout, runs)
        _age(layout)
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


def _lengthen(layout: Layout, runs: int) -> None:
    """The same campaign with so many runs: each as the first that passed or, one in fifty, failed; on one node in turn."""
    start = next(iter(read_events(layout.log)))
    document = thaw(read_document(layout, str(start.value["document"])))
    cases = [case.id for case in document.cases if not case.unavailable]
    shutil.rmtree(layout.log)
    shutil.rmtree(layout.lease)
    with Lease.acquire(layout) as lease:
        log, _ = open_log(layout.log, lease)
        log.append([start])
        seq = 1
        for number in range(runs):
            log.append(_events(seq, number, cases[number % len(cases)], document.components[0].name, start.time))
            seq += 4
            if number % 512 == 0:
                log.flush()
        log.commit()
        log.close()


def _events(seq: int, number: int, case: str, component: str, begin: float) -> list[Event]:
    at, run, job = begin + number * 66, f"r{number + 1:06d}", f"j{number + 1:06d}"
    bad = number % 50 == 0
    value: dict[str, Any] = {"component": component, "repeat": number + 1, "attempt": 1}
    ended = {"verdict": "failed" if bad else "passed", "elapsed_s": 60 + number % 7, "started": at, "exit": int(bad)}
    more = {"nodes": f"c5n{number % 1920 + 1:04d}"}
    why = "exit status 3" if bad else "exit status 0, 2 checks hold"
    return [
        Event("submit_order", seq + 1, at, case=case, run=run, job=job, value=value),
        Event("job_report", seq + 2, at, run=run, job=job, value={"state": "running"}),
        Event("job_report", seq + 3, at + 65, run=run, job=job, value={"state": "completed"}),
        Event("verdict", seq + 4, at + 66, case=case, run=run, job=job, value=value | ended | more, reason=why),
    ]


if __name__ == "__main__":
    sys.exit(main())
