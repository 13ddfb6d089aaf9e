"""Why idle nodes are idle, by the same rules that ``decide`` uses: causes, each with its share. Pure.

This is a first estimate. Where several causes hold at once, only a rehearsal without one of them shows what that one costs.

A cause is a word, often with its subject after a colon: ``budget:f2/mdt``, ``copies:cm4``, ``build:slots``, ``build:time``,
``stagger:cm4``, ``share:cm4``, ``queued`` (as many jobs as allowed are at the scheduler), ``ahead`` (enough is queued, as far as
the engine knows), ``licence:NAME`` (jobs at the scheduler wait for it), ``window:NAME`` and ``yield:NAME`` (of a component: it
orders nothing, or its budgets and copies are narrowed), ``wide`` (jobs at the scheduler need more nodes than are idle),
``walltime`` (they do not, and still may not start), ``held:POOL`` (the queue is held, since job after job did not come to run),
``says:WORD`` (the scheduler holds jobs and says why), ``ramp``, ``drain``, ``tail`` (nothing is left to order), and what people and
gates hold back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shakedown.engine.constraints.blocking import binding_reason, outlook
from shakedown.engine.constraints.observed import narrows
from shakedown.engine.constraints.overrides import narrowed_by
from shakedown.engine.constraints.queue_guard import is_held
from shakedown.engine.constraints.reason import Reason
from shakedown.engine.policy.mix import Mix, mixes
from shakedown.engine.policy.submissions import Reservations, room_for
from shakedown.engine.state.modes import FILLER
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.phases import JobPhase
from shakedown.engine.state.plan import QueueKey
from shakedown.engine.state.state import State

_NOTES = ("JobHeldUser", "Dependency")  # what the queue says of jobs that we hold back ourselves


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause of idle nodes in a pool at one moment. ``component``: whose work it holds back; ``weight``: its share of the idle
    nodes.
    """

    component: str
    cause: str
    weight: float


def why_idle(
    state: State, pool: str, idle: int, queued: int, now: float, licences: tuple[str, ...] = ()
) -> list[Cause]:
    """Purpose: why ``idle`` nodes of a pool are idle at ``now``, after all orders of the decision. The weights add up to 1.

    ``queued``: the units of the narrowest job that may start and waits for nodes there, 0 where none does. ``licences``: those that
    jobs at the scheduler wait for.
    """
    if is_held(state, pool):  # whatever else binds: nothing there may start but one job, to probe it
        return [Cause(_at_work(state), f"held:{pool}", 1.0)]
    ahead = outlook(state, now)
    rolling = mixes(state, Decision(), now)
    plan = Reservations(
        ahead, {name: limits.high - state.usage.jobs.get(name, 0) for name, limits in state.index.pools.items()}
    )
    found: dict[tuple[str, str], float] = {}
    for key, cause, weight in _classes(state, plan, rolling, pool, idle, now):
        at = (state.index.components[key.component].name, cause)
        found[at] = found.get(at, 0.0) + weight
    bound = {at: weight for at, weight in found.items() if at[1] not in ("ahead", "wide")}
    if fillers := _fillers(state, plan, rolling, pool, now):
        found = fillers
    elif bound and not (licences and all(at[1].startswith("share:") for at in bound)):
        found = bound
    elif noted := _noted(state, pool):
        found = noted
    elif licences and not 0 < queued <= idle:
        found = {(_at_work(state), f"licence:{name}"): 1.0 for name in licences}
    elif queued:
        found = {(_at_work(state), "wide" if queued > idle else "walltime"): 1.0}
    total = sum(found.values())
    if total <= 0:
        found, total = {(_at_work(state), _nothing_waits(state)): 1.0}, 1.0
    return [Cause(component, cause, weight / total) for (component, cause), weight in found.items()]


def _classes(
    state: State, plan: Reservations, rolling: dict[int, Mix | None], pool: str, idle: int, now: float
) -> Iterator[tuple[QueueKey, str, float]]:
    """The waiting classes that could use the idle nodes, each with what holds it back and its weight."""
    for key, queue in state.waiting.queues.items():
        if key.pool != pool or key.mode == FILLER:
            continue
        mix = rolling.get(key.component)
        if key.component in rolling:
            weight = _share(state, key)
        else:
            weight = float(max(1, len(queue)) * key.units)
        if key.component in rolling and _ramps(state, key.component, now):
            yield key, "ramp", weight
            continue
        if key.component in rolling and mix is None:
            yield key, "ahead", weight
            continue
        reason = mix.reason(state, key, now, plan.ahead) if mix else binding_reason(state, key, now, plan.ahead)
        yield key, _cause(state, plan, key, reason, now), weight


def _fillers(
    state: State, plan: Reservations, rolling: dict[int, Mix | None], pool: str, now: float
) -> dict[tuple[str, str], float]:
    """What holds back the fillers of a mix, where none of them may start. If one may start, nothing else explains idle nodes."""
    found: dict[tuple[str, str], float] = {}
    for key in state.waiting.queues:
        mix = rolling.get(key.component)
        if key.pool != pool or key.mode != FILLER or mix is None or _ramps(state, key.component, now):
            continue
        reason = mix.reason(state, key, now, plan.ahead)
        cause = _cause(state, plan, key, reason, now)
        if cause == "ahead":
            return {}
        at = (state.index.components[key.component].name, cause)
        found[at] = found.get(at, 0.0) + 1.0
    return found


def _share(state: State, key: QueueKey) -> float:
    """The share of the class's test in the node-hours of its mix; 1 where the component has no mix."""
    mix = dict(state.index.components[key.component].mix)
    return mix.get(state.index.cases[key.case].test, 0.0) if mix else 1.0


def _cause(state: State, plan: Reservations, key: QueueKey, reason: Reason | None, now: float) -> str:
    if reason is None:
        return "queued" if room_for(state, plan, key) <= 0 else "ahead"
    if reason.key.startswith("build:"):
        build = state.builds.get(key.build)
        return "build:slots" if build is None else "build:time"
    if reason.key.startswith("budget:") and (word := narrowed_by(state, key.component, reason.key[7:], now)):
        return f"{word}:{state.index.components[key.component].name}"
    if reason.key.startswith("budget:") and narrows(state, reason.key[7:], now):
        return f"observed:{reason.key[7:]}"
    if reason.key.startswith("budget:copies:"):
        return reason.key.removeprefix("budget:")
    if reason.key.startswith("budget:jobs:"):
        return "queued"
    return reason.key


def _ramps(state: State, number: int, now: float) -> bool:
    component = state.index.components[number]
    roll = state.clocks.mixes.get(component.name)
    if roll is None or roll.started is None:
        return False  # it begins with the first order: what keeps that back is something else
    return bool(component.fill.ramp_s) and now - roll.started < component.fill.ramp_s


def _noted(state: State, pool: str) -> dict[tuple[str, str], float]:
    """Causes from jobs that may start but that the scheduler keeps waiting for something other than nodes, as it says itself."""
    found: dict[tuple[str, str], float] = {}
    for job in state.jobs.values():
        if job.phase == JobPhase.QUEUED and job.key is not None and job.key.pool == pool and job.report.note:
            word = job.report.note.partition(",")[0]
            if word not in _NOTES:
                at = (state.index.components[job.component].name, f"says:{word}")
                found[at] = found.get(at, 0.0) + job.key.units
    return found


def _at_work(state: State) -> str:
    """The component that live jobs belong to, or else the first one that is not over."""
    for job in state.jobs.values():
        return state.index.components[job.component].name
    return next(
        (
            component.name
            for component, tally in zip(state.index.components, state.tallies, strict=True)
            if not tally.over
        ),
        "",
    )


def _nothing_waits(state: State) -> str:
    """The cause where nothing is left to order: "drain" where the time of a mix is over, "tail" where only the last runs go on."""
    name = _at_work(state)
    roll = state.clocks.mixes.get(name)
    return f"drain:{name}" if roll is not None and roll.up else "tail"
