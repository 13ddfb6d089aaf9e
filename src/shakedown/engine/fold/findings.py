"""Folding findings: a late mark, a deadline that passed, the time of a component that is over, a test that fell out of its mix, and
others.
"""

from __future__ import annotations

from shakedown.engine.fold import drills as fold_drills
from shakedown.engine.fold import first_looks as fold_first_looks
from shakedown.engine.fold import left_out as fold_left_out
from shakedown.engine.fold import observing as fold_observing
from shakedown.engine.fold import overrides as fold_overrides
from shakedown.engine.fold import queue_guard as fold_guard
from shakedown.engine.fold.bookkeeping import forget_job
from shakedown.engine.fold.campaign import opens_epoch
from shakedown.engine.state.full_disk import note_room
from shakedown.engine.state.jobs import PendingResult
from shakedown.engine.state.keys import SiteRule
from shakedown.engine.state.modes import CLEAN_UP
from shakedown.engine.state.phases import JobPhase, Step
from shakedown.engine.state.records import STANDSTILL, MixProgress
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.job_terms import with_altered


def finding(state: State, event: Event) -> None:
    """Fold a finding by its kind. Kinds that are not listed here change nothing, unless they concern a job."""
    kind = event.value.get("kind")
    if kind == "time_is_up":
        time_is_up(state, event.value["component"])
        state.clocks.mixes[event.value["component"]].up_at = event.time
    elif kind in ("fell_out", "stands_still"):
        _fell_out(state, event)
    elif kind == "stood_still":
        state.driver.awake_since = event.time
    elif kind == "conditions_changed":
        if not event.value.get("late"):
            opens_epoch(state, event)
        state.driver.inputs = event.value.get("inputs", state.driver.inputs)
    elif kind in ("queue_held", "queue_released"):
        fold_guard.finding(state, event)
    elif kind in ("node_left_out", "node_let_in"):
        fold_left_out.finding(state, event)
    elif kind in ("disk_full", "disk_has_room"):
        state.driver.no_room = event.reason if kind == "disk_full" else ""
        note_room(state, event.time, full=kind == "disk_full", room_at=event.value.get("room_at"))
    elif kind == "drill_due":
        fold_drills.due(state, event)
    elif kind == "changed_at_scheduler":
        _changed(state, event)
    elif kind == "site_rule":
        changes, pool = event.value["altered"], event.value["pool"]
        state.pools.site_rules += [SiteRule(pool, name, str(asked), str(has)) for name, (asked, has) in changes.items()]
    elif kind == "cannot_start":
        state.agenda.said_stuck.append(event.value["about"])
    elif kind == "idle_while_pending":
        if event.value["pool"] in state.pools.unused:
            state.pools.unused[event.value["pool"]].told = True
    elif kind == "observed_silent":
        fold_observing.silent(state, event)
    elif kind == "sweep_waits":
        fold_overrides.sweep_waits(state, event)
    elif kind == "sweep_ends":
        fold_overrides.sweep_ends(state, event)
    elif kind == "fill_short":
        state.results.said_short.append(event.value["stage"])
    elif kind in ("started_again", "unwanted_restart") and event.value.get("cause") == "node_fail":
        fold_overrides.count_nodes(state, event)
    _of_a_job(state, event)


def _changed(state: State, event: Event) -> None:
    """Somebody changed at the scheduler what a job asks for."""
    job = state.jobs.get(event.job)
    if event.value.get("before_seen"):
        fold_first_looks.changed_before(state, event)
    elif job is not None and job.terms_now is not None:
        job.terms_now = with_altered(job.terms_now, event.value["altered"])


def _of_a_job(state: State, event: Event) -> None:
    """A finding about one job: that it is dead, that it was seen alive, or that the scheduler started it again although it must
    not.
    """
    job = state.jobs.get(event.job)
    if job is not None and (job.phase == JobPhase.ORPHANED or (job.bundle and event.value.get("dead"))):
        if event.value.get("dead"):
            forget_job(state, job)
        else:
            job.report.facts = {"noted": event.value.get("seen", "")}
    elif job is not None and event.value.get("kind") == "unwanted_restart":
        job.phase, job.since, job.restart = JobPhase.ORPHANED, event.time, event.value["restart"]
        state.job_index.begin(job)
        job.requests.cancel, job.report.facts, job.report.state = Step.WANTED, {}, ""


def _fell_out(state: State, event: Event) -> None:
    """No run of a test, or of the whole mix, is under way or begins."""
    roll, value = state.clocks.mixes.get(event.value["component"]), event.value
    if roll is not None:
        said = roll.stalled if value["kind"] == "stands_still" or value.get("submitted") else roll.fallen
        said[STANDSTILL if value["kind"] == "stands_still" else value["test"]] = event.time


def time_is_up(state: State, component: str) -> None:
    """The time of a mix is over. What was never ordered is no longer wanted; what waits for another attempt gets none; live runs
    may end.
    """
    number = state.index.component_number[component]
    tally = state.tallies[number]
    state.clocks.mixes.setdefault(component, MixProgress()).up = True
    gone = state.waiting.set_aside(lambda entry: entry.component == number and entry.mode != CLEAN_UP)
    fresh = [entry for entry in gone if entry.fresh]
    tally.wanted -= len(fresh)
    tally.waiting -= len(fresh)
    state.waiting.to_cancel += [_unwanted(entry, component) for entry in gone if not entry.fresh]


def _unwanted(entry: PendingResult, component: str) -> PendingResult:
    entry.cancelled = f"the time of component {component} is over"
    return entry
