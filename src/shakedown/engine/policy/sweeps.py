"""Sweeps: a job for each node that falls idle, with all that its component still wants there.

``order_sweeps`` is the table of contents. Which nodes are idle is known from the last survey; a node is asked for by its number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shakedown.engine.constraints.blocking import binding_reason
from shakedown.engine.constraints.reason import Reason
from shakedown.engine.policy.submissions import Reservations, order_bundle, room_for
from shakedown.engine.state.bundles import Bundle
from shakedown.engine.state.jobs import PendingResult, Queue
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.phases import NOT_BEGUN
from shakedown.engine.state.plan import QueueKey
from shakedown.engine.state.retirement import stopped
from shakedown.engine.state.state import State
from shakedown.model.ports import Wanted
from shakedown.model.shared_nodes import names_in


@dataclass(frozen=True, slots=True)
class Left:
    """What a class of a sweep has left. ``again``: retries by repeat, those too whose time has not come."""

    case: str
    queue: Queue
    again: dict[int, PendingResult]

    def on_node(self, node: int, nodes: int) -> PendingResult | None:
        """The first result that is wanted on a node; later rounds have higher numbers."""
        top = max((self.queue.top, *self.again))
        for repeat in range(node, top + 1, max(1, nodes)):
            entry = self.queue.entries.get((self.case, repeat)) or self.again.get(repeat)
            if entry is not None:
                return entry
        return None


Classes = dict[QueueKey, Left]
_NOTHING = Queue()


def order_sweeps(state: State, decision: Decision, plan: Reservations, now: float) -> dict[QueueKey, Reason]:
    """Purpose: jobs for idle nodes, within the sweep's own bound; and why the classes that got none wait."""
    reasons: dict[QueueKey, Reason] = {}
    for (number, pool), bundle in state.index.bundles.items():
        classes = _classes(state, number, pool) if bundle.kind == "sweep" else {}
        if not classes:
            continue
        bound = _bound(state, plan, classes, now)
        if not bound:
            _order_nodes(state, decision, plan, bundle, _due(classes, now), now)
        reasons |= bound or dict.fromkeys(classes, _why_no_job(state, pool, bundle))
    return reasons


def wanted(state: State) -> Wanted:
    """Purpose: pools whose idle nodes a sweep waits for."""
    pools = [
        pool
        for (number, pool), bundle in state.index.bundles.items()
        if bundle.kind == "sweep" and _classes(state, number, pool)
    ]
    return Wanted(idle=tuple(dict.fromkeys(pools)))


def wants_node(state: State, pool: str) -> Callable[[int], bool]:
    """Purpose: whether a sweep still wants a node of a pool, by the node's number."""
    sweeps = [
        (bundle, list(_classes(state, number, pool).values()))
        for (number, place), bundle in state.index.bundles.items()
        if place == pool and bundle.kind == "sweep"
    ]
    return lambda node: any(left.on_node(node, bundle.nodes) for bundle, classes in sweeps for left in classes)


def sweep_reason(state: State, key: QueueKey) -> Reason | None:
    """Purpose: why the nodes that a sweep still wants have no job yet; None for what is no sweep's."""
    bundle = state.index.bundles.get((key.component, key.pool))
    if bundle is None or bundle.kind != "sweep":
        return None
    return _why_no_job(state, key.pool, bundle)


def _classes(state: State, number: int, pool: str) -> Classes:
    """What is wanted of each node. A case that was stopped is none of it: the others are not held back by it."""
    keys = [state.index.class_of(number, case) for case in state.index.components[number].cases]
    again: dict[QueueKey, dict[int, PendingResult]] = {}
    for entry in state.waiting.delayed:
        if entry.component == number:
            again.setdefault(state.index.class_of(number, entry.case), {})[entry.repeat] = entry
    left = {
        key: Left(key.case, state.waiting.queues.get(key, _NOTHING), again.get(key, {}))
        for key in keys
        if key.pool == pool
    }
    return {
        key: found
        for key, found in left.items()
        if (found.queue or found.again) and not stopped(state, number, key.case)
    }


def _due(classes: Classes, now: float) -> Classes:
    """Without retries whose time has not come."""
    return {
        key: Left(left.case, left.queue, {n: entry for n, entry in left.again.items() if entry.not_before <= now})
        for key, left in classes.items()
    }


def _bound(state: State, plan: Reservations, classes: Classes, now: float) -> dict[QueueKey, Reason]:
    """What holds any of the tests back holds all: a node is seen once, by all of them."""
    found = {key: binding_reason(state, key, now, plan.ahead) for key in classes}
    first = next((reason for reason in found.values() if reason is not None), None)
    return {key: reason or first for key, reason in found.items()} if first is not None else {}


def _order_nodes(
    state: State, decision: Decision, plan: Reservations, bundle: Bundle, classes: Classes, now: float
) -> None:
    key = next(iter(classes))
    waiting = _unbegun(state, key.component)
    for node in _idle(state, key.pool):
        if waiting >= bundle.queued or room_for(state, plan, key) <= 0:
            return
        found = [(own, entry) for own, left in classes.items() if (entry := left.on_node(node, bundle.nodes))]
        if found and not any(binding_reason(state, own, now, plan.ahead) for own, _ in found):
            order_bundle(state, decision, plan, bundle, found, now, node=node)
            waiting += 1


def _idle(state: State, pool: str) -> list[int]:
    """Idle nodes as they were last seen, without those that were excluded since."""
    nodes = state.pools.idle.get(pool, [])
    place = state.index.places.get(pool)
    names = names_in(place.nodes) if place is not None and state.overrides.excluded and nodes else ()
    return [node for node in nodes if not (node <= len(names) and names[node - 1] in state.overrides.excluded)]


def _unbegun(state: State, component: int) -> int:
    """How many of a component's jobs wait at the scheduler, or may."""
    names = state.job_index.unbegun.get(component, ())
    return sum(state.jobs[name].phase in NOT_BEGUN for name in names)


def _why_no_job(state: State, pool: str, bundle: Bundle) -> Reason:
    if pool not in state.pools.idle:
        return Reason(f"idle:{pool}", f"which nodes of {pool} are idle is being looked up")
    if _idle(state, pool):
        text = f"at most {bundle.queued} of its jobs wait at the scheduler; the next follow as these begin"
        return Reason("queued", text, notable=False)
    return Reason(f"busy:{pool}", f"no node of {pool} that it still wants is idle; each is seen when it is")
