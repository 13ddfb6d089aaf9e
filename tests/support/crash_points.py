"""The conductor, killed at a named point. The product knows nothing of it.

    python tests/support/crash_points.py POINT COUNT WORDS...     as ``shakedown WORDS``, ``kill -9`` at POINT, the COUNT-th time

POINT is PORT.METHOD:before or PORT.METHOD:after, any call of any port of ``model.ports`` (``twin.crashes``). Around a submission:

    log.commit:after            the order is durable, nothing was done yet (of the COUNT-th commit)
    scheduler.submit:before     the same, right before the orders of one decision are submitted
    scheduler.submit:after      they were submitted, no answer is logged
    scheduler.take_claim:after  a claim was taken, that is not logged
    collector.start:before      a run ended, its evidence was not asked for; collector.poll:after: it came and is not logged

Between two ``sbatch`` calls, and between one and its answer, a wrapper kills: ``deadly_sbatch``. After the claim, on the node, wait
for it (``schedulers.marks.read_marks``) and kill.
"""

from __future__ import annotations

import os
import shlex
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

CRASHING = [sys.executable, str(Path(__file__).absolute())]


def main(point: str, count: int, words: list[str]) -> None:
    """Run a command whose ports are mortal."""
    from shakedown.cli.main import main as command
    from shakedown.conductor import session
    from shakedown.conductor.driver import ports as real_ports
    from shakedown.twin.machine.crashes import CrashPlan, mortal

    open_ports = real_ports.open_ports
    plan = CrashPlan()

    def dies(name: str, _: int) -> bool:
        if name == point and plan.points[name] >= count:
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    plan.dies = dies

    @contextmanager
    def open_mortal_ports(*arguments: Any) -> Iterator[Any]:
        with open_ports(*arguments) as real:
            yield replace(real, ports=mortal(real.ports, plan))

    vars(session)["open_ports"] = open_mortal_ports
    sys.argv = ["shakedown", *words]
    command()


def deadly_sbatch(folder: Path, sbatch: str, campaign: Path, when: Literal["before", "after"], count: int) -> Path:
    """Purpose: an ``sbatch`` that kills whoever drives a campaign: before its COUNT-th call submits, or when it was accepted.

    ``folder`` goes first into PATH. After that, and before, it is the real one. Returns where each call left a directory of its
    number: several go on at once.
    """
    calls = folder / "calls"
    calls.mkdir(parents=True, exist_ok=True)
    lease, real, tally = shlex.quote(str(campaign / "lease")), shlex.quote(sbatch), shlex.quote(str(calls))
    kill = f"""kill -9 "$(cat {lease}/*.json | sed -n 's/.*"pid":\\([0-9]*\\).*/\\1/p' | tail -n 1)\""""
    deed = f"{kill}; exit 1" if when == "before" else f'{real} "$@" >/dev/null 2>&1; {kill}; exit 1'
    wrapper = folder / "sbatch"
    wrapper.write_text(
        f"#!/bin/sh\nnumber=1\nwhile ! mkdir {tally}/$number 2>/dev/null; do number=$((number + 1)); done\n"
        f'if [ $number -eq {count} ]; then {deed}; fi\nexec {real} "$@"\n'
    )
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    return calls


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
