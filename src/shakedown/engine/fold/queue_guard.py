"""Folding what concerns queues that are held: jobs that end before their claims, jobs kept at the scheduler, the job that probes.

``count_report`` and ``count_answer`` keep count. ``constraints/queue_guard.py`` decides whether a queue is held, and ``finding``
folds that.
"""

from __future__ import annotations

import math
import re

from shakedown.engine.fold import left_out as fold_left_out
from shakedown.engine.fold import parts as fold_parts
from shakedown.engine.fold.bookkeeping import forget_job
from shakedown.engine.state.jobs import Job
from shakedown.engine.state.nodes_out import LAUNCH_FAILURE
from shakedown.engine.state.phases import Claim, JobPhase, Step
from shakedown.engine.state.records import Guard, InVain
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.ports import ENDED, SEEN_HERE
from shakedown.model.void_starts import PAYLOAD_CHANGED

PROBE_S, LONGEST_PROBE_S = 5.0, 300.0  # before a job probes a held queue; doubled each time
SUSPECT_S = 600.0  # for which a case that failed as a probe, while another one began, is judged by itself
KEEP_AGAIN_S = 5.0  # before a job that could not be kept from starting is kept again
CLAIM_AGAIN_S = 5.0  # before a claim of which nobody could tell is tried again
_PARTICULARS = re.compile(r"[a-z]*\d+|\(.*?\)")


def count_report(state: State, job: Job, event: Event) -> None:
    """Count what a source reports of a job, as far as it concerns the queue of its pool."""
    said, source = event.value["state"], event.value.get("source", "")
    if job.report.state == "no_answer" and job.report.source == "marks" and said not in ("no_answer", "unknown"):
        _look_again(state, job, event.time)
    broken = said == "no_answer" and source == "marks"  # nobody can read its files: nor may jobs write theirs
    if said == "refused" or broken or (said == "node_fail" and event.reason.startswith(LAUNCH_FAILURE)):
        nobody = broken or event.reason == PAYLOAD_CHANGED  # no node is at fault
        _count(state, job, event, "", "" if nobody else fold_left_out.node_of(event.value))
    elif (said in ENDED and event.value.get("elapsed_s") is not None) or (said == "running" and source == SEEN_HERE):
        _prove(state, job, event)


def _look_again(state: State, job: Job, now: float) -> None:
    """Files of jobs can be read again: a job may probe soon, however many probes failed before."""
    guard = state.pools.guards.get(pool_of(state, job))
    if guard is not None and guard.since:
        guard.until, guard.strikes = min(guard.until, now + PROBE_S), 0


def count_answer(state: State, job: Job, event: Event) -> None:
    """Count a submission that was refused for good (``submit_refused``) or taken."""
    if event.event == "submit_refused":
        job.not_taken = True
        _count(state, job, event, _PARTICULARS.sub("", event.reason) or "refused")
        return
    guard = state.pools.guards.get(pool_of(state, job))
    if guard is None or not guard.what:
        return
    if guard.since:
        guard.proved = job.case if guard.probe == job.id else guard.proved
    else:
        guard.row.clear()


def pool_of(state: State, job: Job) -> str:
    """The pool that a job goes to: "cluster:partition"."""
    return (job.key or state.index.class_of(job.component, job.case, job.mode)).pool


def _count(state: State, job: Job, event: Event, what: str, node: str = "") -> None:
    """Count one more job of a row that did not come to run. ``what``: why a submission was refused, without ids and places; "" for
    a job that ended before its claim. ``node``: where it ended, "" where that is not known.
    """
    if job.spared:  # counted before
        _name_node(state, job, event, node)
        return
    guard = state.pools.guards.setdefault(pool_of(state, job), Guard())
    suspected = not guard.since and event.time < guard.suspects.get(job.case, -math.inf) + SUSPECT_S
    again = node in guard.before and event.time <= guard.released + fold_left_out.ROW_S
    tells = (
        again or node in state.pools.left_out or not suspected
    )  # a case at fault says nothing of a node that nobody doubts
    if node and tells and fold_left_out.count(state, job, pool_of(state, job), node, event) and guard.probe != job.id:
        return
    if guard.since:
        job.spared = True
        guard.row[job.id] = InVain(event.time, job.case, node)
        if guard.probe == job.id:
            _probe_again(guard, event)
        return
    job.spared = again  # the queue was held for its node, and goes on: the node is in doubt, and soon left out
    if suspected:
        return
    guard.suspects.pop(job.case, None)
    if what != guard.what:
        guard.row.clear()
    guard.what, guard.why = what, event.reason
    guard.row[job.id] = InVain(event.time, job.case, node)
    guard.row = {name: one for name, one in guard.row.items() if event.time - one.when <= fold_left_out.ROW_S}


def _name_node(state: State, job: Job, event: Event, node: str) -> None:
    """A job of the row is reported again, now with the node that it ended on, so that the next probe avoids this node.

    While the files of jobs cannot be read, it is not known where a job ended. The job counts once. It does not count in the node's
    own row, since it may have ended because of the files.
    """
    guard = state.pools.guards.get(pool_of(state, job))
    before = guard.row.get(job.id) if guard is not None else None
    if guard is None or before is None or before.node or not node:
        return
    del guard.row[job.id]  # the row is in the order in which its nodes were heard
    guard.row[job.id] = InVain(event.time, before.case, node)


def _probe_again(guard: Guard, event: Event) -> None:
    guard.strikes += 1
    guard.why, guard.probe, guard.avoids = event.reason, "", []
    guard.until = event.time + min(PROBE_S * 2.0 ** min(guard.strikes, 10), LONGEST_PROBE_S)


def _prove(state: State, job: Job, event: Event) -> None:
    """A job took its claim. This ends the row, unless it took the claim before the row began."""
    fold_left_out.prove(state, job, event.value, _began(job, event))
    guard = state.pools.guards.get(pool_of(state, job))
    if guard is None:
        return
    guard.suspects.pop(job.case, None)
    if guard.since:
        guard.proved = job.case if guard.probe == job.id else guard.proved
    elif guard.row and max(job.ordered, _began(job, event)) >= min(one.when for one in guard.row.values()):
        guard.row.clear()


def _began(job: Job, event: Event) -> float:
    """When the job took its claim, in seconds since 1970. A time before its order, or after the report, comes from a wrong clock:
    then it is the time of the order.
    """
    began: float | None = event.value.get("began")
    return began if began is not None and job.ordered <= began <= event.time else job.ordered


# ---- held, probed, let go ----------------------------------------------------------------------------------------------


def finding(state: State, event: Event) -> None:
    """Fold that the engine holds a queue, or releases it."""
    pool = event.value["pool"]
    guard = state.pools.guards.setdefault(pool, Guard())
    if event.value["kind"] == "queue_held":
        guard.since, guard.until = event.time, event.time + PROBE_S
        guard.strikes, guard.probe, guard.tried, guard.proved, guard.avoids = 0, "", {}, "", []
        if event.time > guard.released + fold_left_out.ROW_S:
            guard.before = {}
        _remember(guard)
        for node in _nodes(guard):
            fold_left_out.let_in(state, node)  # not they alone, it turns out
        for name in guard.row:
            if name in state.jobs:
                state.jobs[name].spared = True
        return
    if event.case:  # else it goes on since all that failed was on nodes that are left out: no case is at fault
        guard.suspects |= {case: event.time for case in guard.tried if case != event.case}
    _remember(guard)
    for node in _nodes(guard):
        state.pools.in_vain.pop(node, None)  # they count anew
    guard.since, guard.probe, guard.proved, guard.row, guard.tried, guard.avoids = 0.0, "", "", {}, {}, []
    guard.released = event.time
    for job in state.jobs.values():
        if job.requests.hold and pool_of(state, job) == pool:
            _let_go(state, job, event.time)


def _nodes(guard: Guard) -> dict[str, None]:
    """The nodes of the row, in the order in which launches failed there."""
    return {one.node: None for one in guard.row.values() if one.node}


def _remember(guard: Guard) -> None:
    """Nodes for which a queue is or was held stay in doubt until a job takes its claim there. They are sorted by their last
    failure, the latest at the end.
    """
    for node in _nodes(guard):
        guard.before.pop(node, None)
        guard.before[node] = None


def _let_go(state: State, job: Job, now: float) -> None:
    """Have a job that was kept from starting released, as after a release that the scheduler did not take."""
    job.requests.hold = Step.NONE
    if job.charged and job.phase == JobPhase.QUEUED:
        job.requests.release, job.requests.release_after = Step.WANTED, now
        state.agenda.unreleased[job.id] = None


def probes(state: State, job: Job, event: Event) -> None:
    """A job was ordered or released: in a held queue it becomes the probe. A probe that waited long may be
    released for more nodes.
    """
    guard = state.pools.guards.get(pool_of(state, job))
    if guard is None or not guard.since or (guard.probe in state.jobs and guard.probe != job.id):
        return
    if "avoids" in event.value or guard.probe != job.id:  # else it is let go again, for the scheduler did not take it
        guard.avoids = list(event.value.get("avoids", ()))
    if guard.probe == job.id:
        return
    guard.probe, guard.asked = job.id, event.time
    guard.tried[job.case] = None
    guard.until = event.time + PROBE_S
    if job.requests.hold:
        job.requests.hold = Step.NONE


def probe_is_gone(state: State, job: Job, now: float) -> None:
    """A job was put off, taken back or forgotten. If it was the probe, another job probes after a while."""
    guard = state.pools.guards.get(pool_of(state, job))
    if guard is not None and guard.since and guard.probe == job.id:
        guard.probe, guard.avoids, guard.until = "", [], max(guard.until, now + PROBE_S)


# ---- kept at the scheduler, given back ---------------------------------------------------------------------------------


def hold_order(state: State, event: Event) -> None:
    state.jobs[event.job].requests.hold = Step.ORDERED


def held(state: State, event: Event) -> None:
    """The scheduler keeps a job from starting, or could not be asked: then it is asked again after a while."""
    job = state.jobs.get(event.job)
    if job is None or job.requests.hold != Step.ORDERED:
        return
    if event.value.get("taken", True):
        job.requests.hold = Step.TAKEN
    else:
        job.requests.hold, job.requests.hold_after = Step.WANTED, event.time + KEEP_AGAIN_S


def claim_unknown(state: State, event: Event) -> None:
    """The file system did not show whether a claim is taken. It is tried again after a while, and then from time to time.

    For parts of a job the order stays as it is, and only this is noted.
    """
    job = state.jobs.get(event.job)
    if event.value.get("part"):
        if job is not None and job.bundle is not None:
            job.bundle.unknown = True
        return
    if job is not None and job.requests.claim == Claim.ORDERED:
        job.requests.claim, job.requests.claim_after = Claim.NONE, event.time + CLAIM_AGAIN_S
        job.requests.claim_unknown = True


def returned(state: State, event: Event) -> None:
    """The job is over and nothing of its payload ran. Its runs keep their names and wait again, before all others."""
    job = state.jobs[event.job]
    names = list(job.parts) if job.bundle else [job.run]
    probe_is_gone(state, job, event.time)
    for run in reversed([state.runs[name] for name in names if name in state.runs]):
        fold_parts.go_back(state, job, run)
    forget_job(state, job)
