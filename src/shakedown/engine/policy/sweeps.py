"""Sweeps: for each node that becomes idle, a job with everything that the component still wants on it.

``order_sweeps`` is the table of contents. The last survey tells which nodes are idle; a node is named by its number. ``end_sweeps``
ends sweeps that only have nodes left which cannot be used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from shakedown.engine.constraints.blocking import binding_reason, outlook
from shakedown.engine.constraints.left_out import due_again, well_first
from shakedown.engine.constraints.reason import Reason
from shakedown.engine.policy.submissions import Reservations, order_bundle, room_for
from shakedown.engine.state.bundles import Bundle
from shakedown.engine.state.jobs import PendingResult, Queue
from shakedown.engine.state.keys import SweepKey
from shakedown.engine.state.moments import moment
from shakedown.engine.state.needs import in_words, standing_of
from shakedown.engine.state.nodes_out import (
    excluded_numbers,
    first_names,
    is_about_nodes,
    node_names,
    numbers_of,
    numbers_out,
    out_in_words,
    said_out,
)
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.phases import NOT_BEGUN
from shakedown.engine.state.plan import QueueKey
from shakedown.engine.state.retirement import stopped
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.ports import Wanted
from shakedown.model.units import show_duration


@dataclass(frozen=True, slots=True)
class Left:
    """What a class of a sweep still wants. ``again``: repeat -> its retry, even if it is not due yet."""

    case: str
    queue: Queue
    again: dict[int, PendingResult]

    def on_node(self, node: int, nodes: int) -> PendingResult | None:
        """The first result that is still wanted on a node, None if none is; later rounds have higher repeats."""
        top = max((self.queue.top, *self.again))
        for repeat in range(node, top + 1, max(1, nodes)):
            entry = self.queue.entries.get((self.case, repeat)) or self.again.get(repeat)
            if entry is not None:
                return entry
        return None

    def nodes(self, nodes: int) -> Iterator[int]:
        """The nodes on which a result is still wanted, once for each such result."""
        for entry in (*self.again.values(), *self.queue):
            yield (entry.repeat - 1) % max(1, nodes) + 1


Classes = dict[QueueKey, Left]
_NOTHING = Queue()


def order_sweeps(state: State, decision: Decision, plan: Reservations, now: float) -> dict[QueueKey, Reason]:
    """Purpose: order jobs for idle nodes, up to the sweep's own limit. Returns why each class that got none waits."""
    reasons: dict[QueueKey, Reason] = {}
    waiting: dict[int, int] = {}  # the bound is of a component as a whole, on however many partitions it sees nodes
    for (number, pool), bundle in state.index.bundles.items():
        classes = _classes(state, number, pool) if bundle.kind == "sweep" else {}
        if not classes:
            continue
        bound = _bound(state, plan, classes, now)
        if not bound:
            there = waiting.get(number, _unbegun(state, number))
            waiting[number] = there + _order_nodes(state, decision, plan, bundle, _due(classes, now), now, there)
        reasons |= bound or dict.fromkeys(classes, _why_no_job(state, number, pool, bundle, classes, now))
    return reasons


def end_sweeps(state: State, decision: Decision, now: float) -> bool:
    """Purpose: end each sweep that only has nodes left which cannot be used: at once where all of them are excluded, otherwise
    after it has waited for those that are down, drained or left out. A sweep that goes on for a time ends only when that is over.

    Returns whether anything was recorded; then waiting results may have been taken away.
    """
    before = len(decision.orders)
    for (number, pool), bundle in state.index.bundles.items():
        component = state.index.components[number]
        if bundle.kind != "sweep" or component.sweep is None or component.duration_s or state.tallies[number].in_flight:
            continue
        out = numbers_out(state, pool)
        classes = _classes(state, number, pool) if out else {}
        left = (
            {node for found in classes.values() for node in found.nodes(bundle.nodes)}
            if _only(classes, bundle, out)
            else set()
        )
        if not left or _held_back(state, classes, now):
            continue
        words = f"component {component.name} has seen every other node of {pool}; {out_in_words(state, pool, left)}"
        value = {"component": component.name, "pool": pool, "nodes": sorted(left)[:_MOST_TOLD], "count": len(left)}
        since = state.pools.unseen.get(SweepKey(component.name, pool))
        if left <= excluded_numbers(state, pool):
            decision.record(Event("finding", value={"kind": "sweep_ends"} | value, reason=f"{words}; {_NOT_SEEN}"))
        elif since is None:
            until = f"they are waited for until {moment(now + component.sweep.wait_s)}; {_SOONER}"
            decision.record(Event("finding", value={"kind": "sweep_waits"} | value, reason=f"{words}; {until}"))
        elif now >= since + component.sweep.wait_s:
            waited = f"they were waited for {show_duration(component.sweep.wait_s)}"
            decision.record(
                Event("finding", value={"kind": "sweep_ends"} | value, reason=f"{words}; {waited}; {_NOT_SEEN}")
            )
        else:
            decision.wake(since + component.sweep.wait_s)
    return len(decision.orders) > before


_MOST_TOLD = 50  # nodes in one event
_NOT_SEEN = "what it wants there is judged cancelled"
_SOONER = "shakedown exclude NODES ends that sooner"


def _only(classes: Classes, bundle: Bundle, out: frozenset[int]) -> bool:
    """Whether everything that is still wanted is on these nodes."""
    return bool(classes) and all(node in out for left in classes.values() for node in left.nodes(bundle.nodes))


def _held_back(state: State, classes: Classes, now: float) -> bool:
    """Whether something else keeps the sweep from going on, so that it is not over. A queue held because of the remaining nodes
    does not.
    """
    ahead = outlook(state, now)
    reasons = [(key.pool, binding_reason(state, key, now, ahead) or _for_others(state, key)) for key in classes]
    return any(
        reason is not None
        and not reason.key.startswith("excluded:")
        and not (reason.key == f"held:{pool}" and is_about_nodes(state, pool))
        for pool, reason in reasons
    )


def wanted(state: State) -> Wanted:
    """Purpose: the pools whose idle nodes are to be looked up: a sweep wants nodes there, or has a job that waits for its node."""
    pools = [
        pool
        for (number, pool), bundle in state.index.bundles.items()
        if bundle.kind == "sweep" and (_classes(state, number, pool) or _unbegun(state, number))
    ]
    return Wanted(idle=tuple(dict.fromkeys(pools)))


def wants_node(state: State, pool: str) -> Callable[[int], bool]:
    """Purpose: a function that tells, by a node's number, whether a sweep still wants this node of the pool."""
    sweeps = [
        (bundle, list(_classes(state, number, pool).values()))
        for (number, place), bundle in state.index.bundles.items()
        if place == pool and bundle.kind == "sweep"
    ]
    return lambda node: any(left.on_node(node, bundle.nodes) for bundle, classes in sweeps for left in classes)


def nodes_awaited(state: State, pool: str) -> set[int]:
    """Purpose: the nodes of a pool, by number, for which a sweep has a job that, as far as is known, has not begun."""
    jobs = (job for job in state.jobs.values() if job.node and job.phase in NOT_BEGUN)
    return {job.node for job in jobs if job.key is not None and job.key.pool == pool}


def sweep_reason(state: State, key: QueueKey, now: float) -> Reason | None:
    """Purpose: why the nodes that a sweep still wants have no job yet; None for a class that is in no sweep, and where nothing of
    the sweep's own holds a job back.
    """
    bundle = state.index.bundles.get((key.component, key.pool))
    if bundle is None or bundle.kind != "sweep":
        return None
    if _idle(state, key.pool, now) and _unbegun(state, key.component) < bundle.queued:
        return None
    return _why_no_job(state, key.component, key.pool, bundle, _classes(state, key.component, key.pool), now)


def _classes(state: State, number: int, pool: str) -> Classes:
    """What a sweep still wants in a pool, by class. Cases that were stopped are left out, so they do not hold the others back."""
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
    """The same classes without retries that are not due yet."""
    return {
        key: Left(left.case, left.queue, {n: entry for n, entry in left.again.items() if entry.not_before <= now})
        for key, left in classes.items()
    }


def _bound(state: State, plan: Reservations, classes: Classes, now: float) -> dict[QueueKey, Reason]:
    """Class -> why it waits. What holds back one test of a sweep holds back all, since a node is seen once, by all tests."""
    found = {key: binding_reason(state, key, now, plan.ahead) or _for_others(state, key) for key in classes}
    first = next((reason for reason in found.values() if reason is not None), None)
    return {key: reason or first for key, reason in found.items()} if first is not None else {}


def _for_others(state: State, key: QueueKey) -> Reason | None:
    """That another test of the same sweep waits for results it needs; None where none does."""
    for case in state.index.components[key.component].cases:
        for entry in state.waiting.needing.get(case, ()):
            of = standing_of(state, entry).of
            if of and (entry.component, state.index.class_of(entry.component, case).pool) == (key.component, key.pool):
                return Reason(f"need:{of.key.case}", f"{case} of the same sweep needs {in_words(of)} first")
    return None


def _order_nodes(
    state: State, decision: Decision, plan: Reservations, bundle: Bundle, classes: Classes, now: float, waiting: int
) -> int:
    """Order jobs for idle nodes and return how many. ``waiting``: jobs of the component that wait at the scheduler already."""
    key, ordered = next(iter(classes)), 0
    for node in well_first(state, key.pool, _idle(state, key.pool, now, plan.ahead.probed)):
        if waiting + ordered >= bundle.queued or room_for(state, plan, key) <= 0:
            break
        found = [(own, entry) for own, left in classes.items() if (entry := left.on_node(node, bundle.nodes))]
        if found and not any(binding_reason(state, own, now, plan.ahead) for own, _ in found):
            order_bundle(state, decision, plan, bundle, found, now, node=node)
            ordered += 1
    return ordered


def _idle(state: State, pool: str, now: float, probed: Collection[str] = ()) -> list[int]:
    """Nodes, by number, that were idle at the last look. Left out are those that were excluded since, are down or drained, are left
    out and not due to be probed, or have a job of the sweep: the look may be older than the order of that job.
    """
    nodes = state.pools.idle.get(pool, [])
    if not nodes:
        return []
    again = due_again(state, pool, now, probed)
    left_out = numbers_of(state, pool, [name for name in state.pools.left_out if name not in again])
    away = excluded_numbers(state, pool) | said_out(state, pool) | left_out | _with_a_job(state, pool)
    return [node for node in nodes if node not in away]


def _with_a_job(state: State, pool: str) -> set[int]:
    """The nodes of a pool, by number, for which sweeps have live jobs."""
    found = set()
    for job in state.jobs.values():
        bundle = (
            state.index.bundles.get((job.component, pool)) if job.key is not None and job.key.pool == pool else None
        )
        if bundle is not None and bundle.kind == "sweep" and job.run in state.runs:
            found.add((state.runs[job.run].repeat - 1) % max(1, bundle.nodes) + 1)
    return found


def _unbegun(state: State, component: int) -> int:
    """How many jobs of a component wait at the scheduler, or may."""
    names = state.job_index.unbegun.get(component, ())
    return sum(state.jobs[name].phase in NOT_BEGUN for name in names)


def _busy_in_words(state: State, pool: str, bundle: Bundle, classes: Classes, out: Collection[int]) -> str:
    """The nodes for which a sweep waits because others use them, as ": it waits for n001, n004"; "" where there are none."""
    wanted = {node for left in classes.values() for node in left.nodes(bundle.nodes)}
    busy = sorted(wanted.difference(out, _with_a_job(state, pool), state.pools.idle.get(pool, ())))
    return f": it waits for {first_names(node_names(state, pool, busy))}" if busy else ""


def _why_no_job(state: State, number: int, pool: str, bundle: Bundle, classes: Classes, now: float) -> Reason:
    if pool not in state.pools.idle:
        return Reason(f"idle:{pool}", f"which nodes of {pool} are idle is being looked up")
    if _idle(state, pool, now):
        text = f"at most {bundle.queued} of its jobs wait at the scheduler; the next follow as these begin"
        return Reason("queued", text, notable=False)
    out = numbers_out(state, pool)
    wanted_there = [node for node in sorted(out) if any(left.on_node(node, bundle.nodes) for left in classes.values())]
    words = out_in_words(state, pool, wanted_there)
    if not words or not _only(classes, bundle, out):
        head, tail = (
            f"no node of {pool} that it still wants is idle",
            f"each is seen when it is{words and f'; {words}'}",
        )
        return Reason(
            f"busy:{pool}",
            lambda: f"{head}{_busy_in_words(state, pool, bundle, classes, out)}; {tail}",
            recorded=lambda: f"{head}; {tail}",
        )
    component = state.index.components[number]
    since = state.pools.unseen.get(SweepKey(component.name, pool))
    if since is not None and component.sweep is not None:
        words += f"; they are waited for until {moment(since + component.sweep.wait_s)}; {_SOONER}"
    return Reason(f"out:{pool}", f"it waits for nodes that are out: {words}")
