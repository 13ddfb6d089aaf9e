"""The reports of jobs that ended on this machine."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from shakedown.model.ports import KILLED_FROM_OUTSIDE, OVERRAN, JobOrder, JobReport
from shakedown.model.units import show_duration
from shakedown.schedulers.local_host.leftovers import stuck_words
from shakedown.schedulers.local_host.running import Running

_LOOKS = 3  # at two clocks together


def end_report(running: Running, output: dict[str, Any], note: str, node: str, now: Callable[[], float]) -> JobReport:
    """Purpose: the report of a job that is known to be over. ``note``: what is to be said about its output; ``now``: the record's
    clock.
    """
    state, message = (running.why, running.message) if running.why else _outcome(running.exit_status)
    cause = ""
    if running.overran_s():
        state, message = "timeout", _overran(running)
    elif running.shell_killed and not running.why:  # its script goes on where only its payload is killed
        state, cause = "interrupted", KILLED_FROM_OUTSIDE
        message = f"its job script was ended by {_signal(running.exit_status)}, and how its payload ended is not known"
    ending = running.ending
    if ending is not None:
        behind = (
            "" if running.why or ending.found <= 0 else f"it left processes behind, which were ended: {ending.found}"
        )
        message = "; ".join(filter(None, (message, note, behind))) + stuck_words(ending)
    elif note:
        message = f"{message}; {note}" if message else note
    return JobReport(
        running.order.job,
        state,
        "local",
        restart=running.order.restart,
        exit_status=running.exit_status,
        began=_began(running, now),
        elapsed_s=running.elapsed_s,
        nodes=node,
        message=message,
        output=output,
        behind=running.strays,
        unseen_s=running.unseen_s,
        cause=cause,
    )


def _began(running: Running, now: Callable[[], float]) -> float | None:
    """When the job began, by the record's clock, so that two runs do not seem to have had the same cores at once. None where the
    time of its end is not known, since no time is known exactly then.
    """
    if running.elapsed_s is None:
        return None
    return round(running.launch.child.started + min(_clock_difference(now) for _ in range(_LOOKS))[1], 6)


def _clock_difference(now: Callable[[], float]) -> tuple[float, float]:
    """How long it took to read both clocks (the process may be suspended in between), and by how much the record's
    clock is ahead.
    """
    before = time.monotonic()
    there = now()
    took = time.monotonic() - before
    return took, there - before


def _overran(running: Running) -> str:
    """The sentence for a job that exceeded its time limit while nobody could end it."""
    limit = show_duration(running.order.case.shape.time_limit_s)
    after = show_duration(running.over_within[1] if running.over_within is not None else 0.0)
    after = f"at most {after}" if running.unseen_s else after
    how = "with exit status 0" if running.exit_status == 0 else _outcome(running.exit_status)[1]
    why = "the conductor stood still and could not end it"
    return f"{OVERRAN} of {limit}: {why}; it ended by itself after {after}, {how.removeprefix('it ended ')}"


def never_started(order: JobOrder, state: str, message: str) -> JobReport:
    """The report of a job that never ran: it was refused or cancelled while it waited."""
    return JobReport(order.job, state, "local", restart=order.restart, message=message)


def say_loss(report: JobReport) -> JobReport:
    """The report; if its output could not be kept, with a message that says so, so that it is not taken for an empty output."""
    if "lost" not in report.output:
        return report
    message = f"its output could not be kept: {report.output['lost']}"
    return replace(report, message=f"{report.message}; {message}" if report.message else message)


def _outcome(exit_status: int | None) -> tuple[str, str]:
    """State and message of a job that ended by itself."""
    if exit_status == 0:
        return "completed", ""
    if exit_status is None:
        return "failed", "how it ended is not known"
    if exit_status > 0:
        return "failed", f"it ended with exit status {exit_status}"
    return "failed", f"it was ended by {_signal(exit_status)}"


def _signal(exit_status: int | None) -> str:
    """A signal in words, for instance "signal 9 (SIGKILL)". ``exit_status``: minus the number of the signal."""
    number = -(exit_status or 0)
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = "a real-time signal"
    return f"signal {number} ({name})"
