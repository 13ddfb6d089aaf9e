"""What the loop does at the scheduler besides submitting: releases, claims of parts, looking for idle nodes and others' jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from shakedown.conductor.driver.handing import Stranger, with_handed
from shakedown.engine import Order, State
from shakedown.engine.constraints.left_out import barred
from shakedown.engine.constraints.overrides import clusters_watched
from shakedown.engine.policy.idle_while_pending import look_number, pending_beside, pools_watched
from shakedown.engine.policy.sweeps import nodes_awaited, wanted, wants_node
from shakedown.engine.state.jobs import Job
from shakedown.engine.state.phases import CampaignPhase, Claim, JobPhase
from shakedown.engine.state.silent_nodes import EVERY_S, pools_followed
from shakedown.model.ports import Survey, Wanted
from shakedown.model.shared_nodes import names_in

if TYPE_CHECKING:
    from shakedown.conductor.driver.conductor import Conductor

_MOST_IDLE = 256  # nodes of a pool that are told at once: more than a sweep's jobs may wait


def release(conductor: Conductor, orders: Sequence[Order]) -> None:
    """Purpose: let held jobs start. Jobs for which this did not work are released again later."""
    if not orders:
        return
    wanted = []
    for order in orders:
        with suppress(Stranger):  # it is not taken, and asked for again
            wanted.append(with_handed(conductor.state, conductor.ports.root, order.payload))
    taken = set(conductor.ports.scheduler.release(wanted))
    for order in orders:
        value = {} if order.event.job in taken else {"taken": False}
        conductor.log("released", job=order.event.job, run=order.event.run, value=value)


def hold(conductor: Conductor, orders: Sequence[Order]) -> None:
    """Purpose: keep waiting jobs from starting while their queue is held. Jobs for which this did not work are
    tried again later.
    """
    if not orders:
        return
    taken = set(conductor.ports.scheduler.hold([order.payload for order in orders]))
    for order in orders:
        value = {} if order.event.job in taken else {"taken": False}
        conductor.log("held", job=order.event.job, run=order.event.run, value=value)


def take_parts(conductor: Conductor, orders: Sequence[Order]) -> None:
    """Purpose: keep parts of jobs from beginning. Parts that have begun are decided by their marks and their job's end.

    If it cannot be seen which have begun, that is recorded once: see ``take_parts_again``.
    """
    by_job: dict[str, list[Order]] = {}
    for order in orders:
        by_job.setdefault(order.event.job, []).append(order)
    for mine in by_job.values():
        runs = [order.event.run for order in mine]
        if not _take_parts(conductor, mine[0].payload, runs):
            conductor.log("claim_unknown", job=mine[0].event.job, run=runs[0], value={"part": True})


def take_parts_again(conductor: Conductor, job: Job) -> bool:
    """Purpose: try again to take the claims of parts, by an order that is in the record already. Returns whether
    it could be seen.
    """
    runs = [name for name in job.parts if conductor.state.runs[name].claim == Claim.ORDERED]
    return _take_parts(conductor, job, runs)


def _take_parts(conductor: Conductor, job: Job, runs: Sequence[str]) -> bool:
    taken = conductor.ports.scheduler.take_parts(job, runs)
    if taken is None:
        return False
    known = set(taken)
    for run in runs:
        name = "claim_taken" if run in known else "claim_found"
        conductor.log(name, job=job.id, run=run, value={"part": True})
    return True


def look_around(conductor: Conductor) -> None:
    """Purpose: record what was found of idle nodes and others' jobs, where it may change a decision."""
    state = conductor.state
    if state.plan is None or state.phase != CampaignPhase.RUNNING:
        return
    now = conductor.ports.clock.now()
    due = conductor.looked != look_number(now)
    watched = pools_watched(state, now) if due else ()
    heard = int(now // EVERY_S)  # which look for silent nodes it is time for
    followed = pools_followed(state) if conductor.heard != heard else ()
    asked = Wanted(wanted(state).idle, clusters_watched(state), watched, followed)
    survey = conductor.ports.scheduler.survey(asked) if asked.something else Survey()
    if survey is None:
        return
    value = _news(state, asked, survey)
    if due and survey.unused.keys() | survey.trouble.keys() >= set(watched):
        conductor.looked = look_number(now)
        value |= _unused(state, survey, now)
    if followed and survey.silent.keys() | survey.trouble.keys() >= set(followed):
        conductor.heard = heard
        value |= _silent(state, survey)
    if value:
        conductor.log("surveyed", value=value)


def _unused(state: State, survey: Survey, now: float) -> dict[str, Any]:
    """How many nodes are idle beside jobs of ours that would fit on them, where that has changed; 0 ends an earlier state."""
    found = {}
    for pool, numbers in survey.unused.items():
        nodes = len(_without_excluded(state, pool, numbers))
        found[pool] = nodes if pending_beside(state, pool, nodes, now) else 0
    before = {pool: stretch.nodes for pool, stretch in state.pools.unused.items()}
    found = dict.fromkeys(before, 0) | found
    news = {pool: nodes for pool, nodes in found.items() if nodes != before.get(pool, 0)}
    return {"unused": news} if news else {}


def _silent(state: State, survey: Survey) -> dict[str, Any]:
    """The nodes that do not answer and on which jobs of ours run, where that has changed."""
    running = [
        job for job in state.jobs.values() if job.phase == JobPhase.RUNNING and job.nodes and job.key is not None
    ]
    found: dict[str, list[str]] = {}
    for pool, numbers in survey.silent.items():
        place = state.index.places.get(pool)
        names = names_in(place.nodes) if place is not None and numbers else ()
        silent = {names[number - 1] for number in numbers if number <= len(names)}
        used = {name for job in running if silent and job.key.pool == pool for name in names_in(job.nodes)}  # type: ignore[union-attr]
        found[pool] = sorted(silent & used)
    news = {pool: nodes for pool, nodes in found.items() if nodes != state.pools.silent.get(pool, [])}
    return {"silent": news} if news else {}


def _without_excluded(state: State, pool: str, numbers: Sequence[int]) -> list[int]:
    place = state.index.places.get(pool)
    away = barred(state)
    names = names_in(place.nodes) if place is not None and away else ()
    return [number for number in numbers if not (number <= len(names) and names[number - 1] in away)]


def _news(state: State, asked: Wanted, survey: Survey) -> dict[str, Any]:
    value: dict[str, Any] = {}
    idle = {pool: _still_wanted(state, pool, nodes) for pool, nodes in survey.idle.items() if pool in asked.idle}
    idle = {pool: nodes for pool, nodes in idle.items() if nodes != state.pools.idle.get(pool)}
    out = {pool: _wanted_of(state, pool, found) for pool, found in survey.out.items() if pool in asked.idle}
    out = {pool: found for pool, found in out.items() if found != state.pools.out.get(pool, {})}
    pending = {name: count for name, count in survey.pending.items() if count != state.pools.pending.get(name)}
    if idle:
        value["idle"] = idle
    if out:
        value["out"] = out
    if pending:
        value["pending"] = pending
    if value and survey.trouble:
        value["trouble"] = {name: why[:200] for name, why in survey.trouble.items()}
    return value


def _wanted_of(state: State, pool: str, out: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """By reason, the nodes that are down or drained and that a sweep still wants, or for which it has a job waiting."""
    if not out:
        return {}
    wants, awaited = wants_node(state, pool), nodes_awaited(state, pool)
    found = {why: [node for node in nodes if node in awaited or wants(node)] for why, nodes in out.items()}
    return {why: nodes for why, nodes in found.items() if nodes}


def _still_wanted(state: State, pool: str, nodes: Sequence[int]) -> list[int]:
    """The idle nodes that a sweep still wants and that are not excluded."""
    place, wants = state.index.places.get(pool), wants_node(state, pool)
    names = names_in(place.nodes) if place is not None and state.overrides.excluded else ()
    found = []
    for node in nodes:
        excluded = names and node <= len(names) and names[node - 1] in state.overrides.excluded
        if not excluded and wants(node):
            found.append(node)
            if len(found) >= _MOST_IDLE:
                break
    return found
