"""Jobs that stood still while they ran: somebody suspended them at the scheduler, or stopped them by a signal.

What such a run measured is not what its case asks for, and a failure may come from standing still. A run without figures that
passed counts as passed; its verdict says for how long it stood still.
"""

from __future__ import annotations

from typing import Any

from msgspec import structs

from shakedown.conductor.driver.changed_jobs import no_result
from shakedown.conductor.driver.conductor import Conductor
from shakedown.engine.state.jobs import Job
from shakedown.engine.state.state import State
from shakedown.model.contracts import rows_of
from shakedown.model.ports import JobReport
from shakedown.model.units import show_duration

_HOW = {"suspended": "scontrol suspend", "stopped": "a signal, as of scancel --signal=STOP"}
_OWN_END = frozenset({"completed", "failed", "timeout"})


def as_halted(state: State, report: JobReport, now: float) -> JobReport:
    """Purpose: the report with the time for which the run stood still; as "interrupted" where its result is worthless because of
    that.
    """
    job = state.jobs.get(report.job)
    if job is None or report.state not in _OWN_END or (job.bundle and not report.run):
        return report
    seen_s = halted_within(job, _began(state, job, report), now)
    halted_s = seen_s if report.halted_s is None else max(report.halted_s, seen_s if job.halts else 0.0)
    report = structs.replace(report, halted_s=round(halted_s, 3) or None)
    if not halted_s or (report.state == "completed" and not _measures(state, report, job)):
        return report
    why = f"it stood still for {show_duration(halted_s)} while it ran, suspended or stopped at the scheduler"
    what = {
        "completed": "what it measured is not what its case asks for",
        "failed": "that may be why it failed" + (f": {report.message}" if report.message else ""),
        "timeout": "so it did not have the time that its case asks for",
    }
    return no_result(report, f"{why}; {what[report.state]}")


def halted_within(job: Job, began: float, now: float) -> float:
    """Purpose: for how many seconds between two times a job was seen to stand still."""
    spans = ((halt[0], halt[1] if len(halt) > 1 else now) for halt in job.halts)
    return sum(max(0.0, min(end, now) - max(start, began)) for start, end in spans)


def say_halt(conductor: Conductor, report: JobReport) -> None:
    """Purpose: record a finding when a job is seen to stand still, when it goes on, or when this is known only after its end."""
    job = conductor.state.jobs.get(report.job)
    if job is None or report.run:
        return
    stands_still = bool(job.halts) and len(job.halts[-1]) == 1
    value: dict[str, Any] = {"kind": "halted"}
    if report.halted and not stands_still:
        how = f"it was {report.halted} at the scheduler ({_HOW[report.halted]})"
        why = f"{how}, which does not say by whom; what it holds stays held"
        value["state"] = report.halted
    elif stands_still and report.state == "running" and not report.halted:
        seconds = conductor.ports.clock.now() - job.halts[-1][0]
        why = f"it goes on, after it stood still for {show_duration(seconds)}"
        value |= {"kind": "goes_on", "halted_s": round(seconds, 3)}
    elif report.halted_s and not job.halts:
        why = f"it was suspended at the scheduler for {show_duration(report.halted_s)} while it ran, which was not seen then"
        value["halted_s"] = report.halted_s
    else:
        return
    conductor.log("finding", job=report.job, run=job.run, case=job.case, value=value, reason=why)


def _began(state: State, job: Job, report: JobReport) -> float:
    """When a run began. A time before its job was ordered comes from a wrong clock and is not used."""
    run = state.runs.get(report.run or job.run)
    seen = run.started if run is not None and run.started is not None else job.started
    if report.began is not None and report.began >= job.ordered:
        return report.began
    return seen if seen is not None else job.ordered


def _measures(state: State, report: JobReport, job: Job) -> bool:
    """Whether the run takes figures, or its run time is judged."""
    run = state.runs.get(report.run or job.run)
    case = state.index.cases[run.case if run is not None else job.case]
    return bool(state.index.test_of(case).figures) or bool(rows_of(state.index.document, case))
