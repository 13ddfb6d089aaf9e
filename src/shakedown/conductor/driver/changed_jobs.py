"""Jobs that somebody changed at the scheduler: they may not have run as their cases ask.

Some changes affect what a run measures: other nodes, fewer nodes, cores or memory, other jobs beside it. Such a run is no result of
its case: it is interrupted and attempted again. Other changes (an account, a quality of service, a longer time limit that the run
does not need) are recorded, and the run counts.
"""

from __future__ import annotations

import math
from typing import Any

from msgspec import structs

from shakedown.conductor.driver.conductor import Conductor
from shakedown.engine.fold.first_looks import ordered_as
from shakedown.engine.policy.part_recovery import MOST_CUT_SHORT
from shakedown.engine.state.jobs import Job
from shakedown.engine.state.moments import moment
from shakedown.engine.state.state import State
from shakedown.model.job_terms import ALONE, BESIDE, ON_SHARED_CORES, Terms, altered, in_words, limit_in_words
from shakedown.model.nouns import Case, Partition
from shakedown.model.ports import NO_RESULT, OVERRAN, SEEN_HERE, JobReport
from shakedown.model.shared_nodes import names_in, names_of
from shakedown.model.units import show_bytes, show_duration

_OWN_END = frozenset({"completed", "failed"})
_WHO = "somebody changed it at the scheduler"
_MOST_NAMED = 8  # nodes in a sentence
_BEYOND_S = 30.0  # by which the scheduler is asked for more time than a test's own limit, in whole minutes
_LATE_S = 120.0  # after which a scheduler ends a job at its limit at the latest


def as_ordered(state: State, report: JobReport) -> JobReport:
    """Purpose: the report as it is, or "interrupted" where the job did not run as its case asks.

    Shakedown's own scheduler is used by nobody else. In a job of several runs, each run is checked by its nodes. If the same
    happens in the third attempt, it is a rule of the site and no accident: then the run counts, and the finding says so.
    """
    job = state.jobs.get(report.job)
    if job is None or report.source == SEEN_HERE or report.state not in (*_OWN_END, "timeout"):
        return report
    run = state.runs.get(report.run or job.run)
    case = state.index.cases[run.case if run is not None else job.case]
    place = state.index.places.get(case.partition)
    if place is None or (job.bundle and not report.run):
        return report
    before, now = job.terms, report.terms or job.terms_now
    if before is None and report.terms is not None and not report.run:
        before = ordered_as(state, job, report.terms)
    why = _why_nodes_differ(state, place, report, before, now)
    if not why and not job.bundle:
        often = run is not None and run.attempt >= MOST_CUT_SHORT
        why = _why_node_count_differs(case, report) or ("" if often else _why_terms_differ(case, before, now))
    return no_result(report, f"{why}: {_WHO}") if why else report


def no_result(report: JobReport, why: str) -> JobReport:
    """Purpose: the report on a run that ended but did not run as its case asks: it does not count."""
    return structs.replace(report, state="interrupted", cause=NO_RESULT, message=why)


def in_its_time(state: State, report: JobReport, told_s: float | None = None) -> JobReport:
    """Purpose: the report as it is, or "timeout" where the run came to its own end long after its time limit.

    The scheduler is asked for whole minutes and is late; only more than both explain is a longer limit. If the scheduler shows a
    longer limit, what counts is the limit it was asked for or first had. The time for which a run stood still does not count. Where
    that cannot be known, as nobody looked, the run is "interrupted". ``told_s``: for how many seconds the scheduler says it was
    suspended; None where it does not say.
    """
    job = state.jobs.get(report.job)
    if job is None or job.bundle or report.source == SEEN_HERE or report.state not in _OWN_END or not report.elapsed_s:
        return report
    case = state.index.cases[job.case]
    place, limit = state.index.places.get(case.partition), case.shape.time_limit_s
    if place is None or not limit:
        return report
    ran, asked = report.elapsed_s - (report.halted_s or 0.0), _asked_s(limit, place)
    seen, now = _limits(job, report.terms or job.terms_now)
    longer = now is not None and now > min(asked, seen or asked)
    if ran <= (max(limit, min(asked, seen or asked)) if longer else asked + _LATE_S):
        return report
    if not longer and told_s is None and (unseen := _may_have_stood_still(state, job, report)):
        why = f"{OVERRAN} of {show_duration(limit)}: it ran for {show_duration(ran)}, and the scheduler did not end it; {unseen}"
        return structs.replace(report, state="interrupted", message=why)
    who = "it was not ended there"
    if longer and now is not None:
        who = f"somebody gave it {limit_in_words(now)}" if seen != now else f"it has {limit_in_words(now)}"
    why = f"{OVERRAN} of {show_duration(limit)}: it ran for {show_duration(ran)}, for {who} at the scheduler"
    return structs.replace(report, state="timeout", exit_status=None, message=why)


def _may_have_stood_still(state: State, job: Job, report: JobReport) -> str:
    """A sentence, where no conductor looked during a part of the run, so that it may have stood still; "" otherwise. At the third
    such attempt it counts as a timeout, since it is no accident then.
    """
    run = state.runs.get(job.run)
    if job.halts or run is None or run.attempt >= MOST_CUT_SHORT:
        return ""
    seen = job.started if job.started is not None else job.ordered
    began = report.began if report.began is not None and report.began >= job.ordered else seen
    if state.driver.since <= began:
        return ""
    return (
        f"no conductor looked until {moment(state.driver.since)}, and nobody tells whether it was suspended before that, "
        "or had a longer limit"
    )


def _asked_s(limit_s: float, place: Partition) -> float:
    """The time limit that the scheduler was asked for, in seconds: whole minutes, within the limit of the partition."""
    asked = 60.0 * math.ceil((limit_s + _BEYOND_S) / 60)
    return max(60.0, min(asked, 60.0 * math.floor(place.time_limit_s / 60))) if place.time_limit_s else asked


def say_changes(conductor: Conductor, report: JobReport) -> None:
    """Purpose: record a finding when a job has other terms than before. Its first terms are not a change."""
    job = conductor.state.jobs.get(report.job)
    if job is None or report.run or report.terms is None or job.terms_now is None or report.terms == job.terms_now:
        return
    changes = altered(job.terms_now, report.terms)
    if not changes:
        return
    why = f"somebody changed it at the scheduler, which does not say who: {in_words(changes)}"
    value: dict[str, Any] = {"kind": "changed_at_scheduler", "altered": changes}
    conductor.log("finding", job=report.job, run=job.run, case=job.case, value=value, reason=why)


def _limits(job: Job, now: Terms | None) -> tuple[float | None, float | None]:
    """The time limit that the scheduler first had for the job, and the one it has now; None where not known."""
    return (job.terms.time_limit_s if job.terms is not None else None), (now.time_limit_s if now is not None else None)


def _why_node_count_differs(case: Case, report: JobReport) -> str:
    wanted, nodes = case.shape.units, len(names_in(report.nodes)) if report.nodes else 0
    if nodes in (0, wanted) or report.state not in _OWN_END:
        return ""
    return f"it ran on {_count(nodes)} ({report.nodes}) and asks for {wanted}"


def _why_nodes_differ(
    state: State, place: Partition, report: JobReport, before: Terms | None, now: Terms | None
) -> str:
    """A sentence, where the job ran on nodes of another type, or, if it was sent elsewhere, on nodes outside of its own partition;
    else "". A partition that has grown since it was described is no change.
    """
    has, here = names_in(report.nodes) if report.nodes else (), names_of(place.nodes) if place.nodes else ()
    strange = [node for node in has if node not in here] if here and report.state in _OWN_END else []
    if not strange:
        return ""
    moved = altered(before, now) if before is not None and now is not None else {}
    known, names = strange, [str(moved["partition"][1])] if "partition" in moved else []
    if not moved.keys() & {"partition", "wants"}:
        others = [one for one in state.index.places.values() if one.cluster == place.cluster and one.type != place.type]
        theirs = {one.name: names_of(one.nodes) for one in others if one.nodes}
        known = [node for node in strange if any(node in nodes for nodes in theirs.values())]
        names = [name for name, nodes in theirs.items() if not nodes.isdisjoint(known)]
    if not known:
        return ""
    where = ", ".join(known[:_MOST_NAMED]) + (f" of {' and '.join(names)}" if names else "")
    return f"it ran on {where}, and asks for nodes of {place.name}"


def _why_terms_differ(case: Case, before: Terms | None, now: Terms | None) -> str:
    """Why the terms of the job are not those that its case asks for; "" where they are, or it is not known. ``before``: the terms
    with which the scheduler first had the job: what differs in those is a rule of the site; None: nobody saw that.
    """
    if now is None or before is None:
        return ""
    if case.shape.exclusive and before.sharing == ALONE and now.sharing in (BESIDE, ON_SHARED_CORES):
        return "other jobs could run on its nodes, and it asks to have them alone"
    if before.sharing in (ALONE, BESIDE) and now.sharing == ON_SHARED_CORES:
        return "other jobs could run on its cores, and it asks to have them alone"
    asked, changed = case.shape.resources, altered(before, now)
    wanted = {"features": asked.constraint, "gpus": asked.gpus_per_node, "reservation": asked.reservation}
    others = {name: changed[name] for name, wants in wanted.items() if wants and name in changed}
    return f"it ran on other terms ({in_words(others)})" if others else _smaller_share(case, before, now)


def _smaller_share(case: Case, before: Terms, now: Terms) -> str:
    """What the job has less of than its case asks for, unless it had no more when the scheduler took it."""
    shape, asked = case.shape, case.shape.resources
    tasks, memory = shape.nodes * shape.tasks_per_node, max(asked.memory_bytes, asked.memory_per_cpu_bytes)
    wanted = Terms(tasks=tasks, cpus=tasks * shape.cpus_per_task, memory_bytes=memory or None)
    for name, unit in (("tasks", "tasks"), ("cpus", "cores"), ("memory_bytes", "")):
        asks, has, had = getattr(wanted, name), getattr(now, name), getattr(before, name)
        if asks is None or has is None or has >= asks or (had is not None and had < has):
            continue
        if had is None or had > has:
            said = [f"{count} {unit}" if unit else f"{show_bytes(count)} of memory" for count in (has, asks)]
            return f"it ran with {said[0]}, and asks for {said[1]}"
    return ""


def _count(nodes: int) -> str:
    return "1 node" if nodes == 1 else f"{nodes} nodes"
