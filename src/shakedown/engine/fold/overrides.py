"""Folding overrides, by people and by the plan, and the failures that lead to them: of nodes, and in a row.

Overrides by people have ``by``, ``who`` and a reason. An amendment keeps those whose subject is still in the plan, and takes drains
back.
"""

from __future__ import annotations

import re
from bisect import insort
from collections.abc import Sequence

from shakedown.engine.fold.bookkeeping import cap_test, doubt
from shakedown.engine.fold.drills import clock_began_anew
from shakedown.engine.fold.left_out import order_again
from shakedown.engine.state.jobs import PendingResult
from shakedown.engine.state.keys import CaseKey, LimitKey, NodeFailure, RunVerdict, SweepKey, YieldKey
from shakedown.engine.state.modes import is_step, mode_in
from shakedown.engine.state.moments import moment
from shakedown.engine.state.nodes_out import out_in_words
from shakedown.engine.state.phases import NOT_BEGUN
from shakedown.engine.state.records import ClockEvent, Observed, Pause, UnusedNodes
from shakedown.engine.state.retirement import lasts, why_unwanted
from shakedown.engine.state.state import State
from shakedown.model.events import Event

REMEMBERED = 20  # failures of one node, or of one case in a row, or as many as the plan asks for
IN_A_ROW = frozenset({"failed", "incorrect", "timeout"})  # what a case does wrong itself
ENDS_A_ROW = frozenset({"passed", "performance"})
AFTER_PAUSE = {"stops": "go on", "restarts": "restart"}  # what a pause does to the clock -> what its end does
_ONE_NODE = re.compile(r"[^\s,\[\]]+")


# ---- pauses, drains, clocks --------------------------------------------------------------------------------------------


def paused(state: State, event: Event) -> None:
    value = event.value
    name, clock = value["component"], value.get("clock", "")
    by, phase = value.get("by", ""), value.get("phase", "")
    state.overrides.paused[name] = Pause(event.reason, by, phase, value.get("cause", ""), clock, event.time)
    if phase:
        state.clocks.parts_over[name] = state.clocks.parts_over.get(name, 0) + 1
    if clock in AFTER_PAUSE:
        _add_clock_event(
            state, name, ClockEvent(value.get("from", event.time), "stop", value.get("cause", ""), event.reason)
        )


def continued(state: State, event: Event) -> None:
    name = event.value.get("component", "")
    if event.case:
        state.overrides.stopped.pop(CaseKey(name, event.case), None)
        state.failures.streaks.pop(CaseKey(name, event.case), None)
        return
    pause = state.overrides.paused.pop(name, None)
    if pause is not None and pause.clock in AFTER_PAUSE:
        _add_clock_event(state, name, ClockEvent(event.time, AFTER_PAUSE[pause.clock], pause.cause, event.reason))


def clock(state: State, event: Event) -> None:
    value = event.value
    spell = ClockEvent(value.get("from", event.time), value["act"], value.get("cause", ""), event.reason)
    _add_clock_event(state, value["component"], spell)


def stood_still(state: State, component: str, since: float, event: Event) -> None:
    """A component goes on that did nothing since ``since``: that time does not count on its clock."""
    for at, act in ((since, "stop"), (event.time, "go on")):
        _add_clock_event(state, component, ClockEvent(at, act, "", event.reason))


def _add_clock_event(state: State, component: str, spell: ClockEvent) -> None:
    """Add an act to the clock of a component, sorted by time. A restart sets its time, its parts, its drills and the shares of its
    mix to zero.
    """
    insort(state.clocks.events.setdefault(component, []), spell, key=lambda said: said.at)
    if spell.act == "restart":
        state.clocks.parts_over.pop(component, None)
        clock_began_anew(state, component)
        roll = state.clocks.mixes.get(component)
        if roll is not None:
            roll.work, roll.judged, roll.missed = {}, {}, {}


def drain_request(state: State, event: Event) -> None:
    component = event.value.get("component", "")
    of = f"component {component} was" if component else "the campaign was"
    state.overrides.draining[component] = f"{of} drained {_said_by(event)}"
    _put_aside(state)


def _put_aside(state: State) -> None:
    """Waiting results of which nothing new may be ordered are put aside to be judged cancelled."""
    for entry in state.waiting.every():
        entry.cancelled = why_unwanted(state, entry)
    state.waiting.to_cancel += state.waiting.set_aside(lambda entry: bool(entry.cancelled))


# ---- caps and budgets, nodes, other clusters ---------------------------------------------------------------------------


def capped(state: State, event: Event) -> None:
    test, copies = event.value["test"], event.value.get("copies")
    state.overrides.caps.pop(test, None)
    state.overrides.said_by.pop(LimitKey("cap", test), None)
    if copies is not None:
        cap_test(state, test)
        state.overrides.caps[test], state.overrides.said_by[LimitKey("cap", test)] = int(copies), _said_by(event)


def budget_set(state: State, event: Event) -> None:
    name, amount = event.value["budget"], event.value.get("amount")
    state.overrides.amounts.pop(name, None)
    state.overrides.said_by.pop(LimitKey("budget", name), None)
    if amount is not None:
        state.overrides.amounts[name], state.overrides.said_by[LimitKey("budget", name)] = (
            float(amount),
            _said_by(event),
        )


def excluded(state: State, event: Event) -> None:
    """Nodes are excluded. Jobs that wait at a scheduler were ordered without knowing that: they are taken back and
    ordered again.
    """
    why = f"excluded {_said_by(event)}" if event.value.get("by") else event.reason
    state.overrides.excluded |= dict.fromkeys(event.value["nodes"], why)
    local = {one.name for one in state.index.document.system.clusters if one.embedded}
    for job in state.jobs.values():
        pool = job.key.pool if job.key is not None else ""
        if job.phase in NOT_BEGUN and pool.partition(":")[0] not in local:
            doubt(state, job, f"{', '.join(event.value['nodes'][:5])} may not be given to it any more")


def included(state: State, event: Event) -> None:
    """They count anew from here, and what waits at a scheduler may have them: it is ordered again without a word against them."""
    nodes = event.value["nodes"]
    avoided = [node for node in nodes if node in state.overrides.excluded or node in state.pools.left_out]
    order_again(state, avoided)
    state.pools.unseen = {}
    for node in nodes:
        state.overrides.excluded.pop(node, None)
        state.failures.nodes.pop(node, None)
        state.pools.left_out.pop(node, None)
        state.pools.in_vain.pop(node, None)


def surveyed(state: State, event: Event) -> None:
    """A look at idle nodes and waiting jobs. What it does not mention stays as it was: not known does not mean none."""
    state.pools.idle |= {pool: list(numbers) for pool, numbers in event.value.get("idle", {}).items()}
    state.pools.pending |= event.value.get("pending", {})
    for pool, out in event.value.get("out", {}).items():
        _note_nodes_out(state, pool, out)
    for pool, names in event.value.get("silent", {}).items():
        if names:
            state.pools.silent[pool] = list(names)
        else:
            state.pools.silent.pop(pool, None)
    for pool, nodes in event.value.get("unused", {}).items():
        if not nodes:
            state.pools.unused.pop(pool, None)
        else:
            state.pools.unused.setdefault(pool, UnusedNodes(event.time, nodes)).nodes = nodes
    _yield_again(state)


def _note_nodes_out(state: State, pool: str, out: dict[str, list[int]]) -> None:
    """Note which nodes of a pool are down or drained. Where one is back, sweeps that waited for it can go on."""
    before, after = _numbers(state.pools.out.get(pool, {})), _numbers(out)
    if before - after:
        state.pools.unseen = {key: since for key, since in state.pools.unseen.items() if key.pool != pool}
    _let_go_of(state, pool, after)
    state.pools.out[pool] = {why: list(numbers) for why, numbers in out.items()}


def _let_go_of(state: State, pool: str, out: set[int]) -> None:
    """The job that a sweep has waiting at the scheduler for a node that is down or drained is taken back. Its result waits in
    Shakedown for the node, only as long as the sweep does.
    """
    for job in state.jobs.values() if out else ():
        waits = job.node in out and job.phase in NOT_BEGUN and not job.stale
        if waits and job.key is not None and job.key.pool == pool:
            doubt(state, job, "the node that it is for is down or drained")


def _numbers(out: dict[str, list[int]]) -> set[int]:
    return {number for numbers in out.values() for number in numbers}


def sweep_waits(state: State, event: Event) -> None:
    """A sweep has only nodes left that are down or drained. It waits for them for a while and then ends."""
    state.pools.unseen[SweepKey(event.value["component"], event.value["pool"])] = event.time


def sweep_ends(state: State, event: Event) -> None:
    """The results that a sweep still wants, on nodes that are down or drained, are to be judged cancelled."""
    key = SweepKey(event.value["component"], event.value["pool"])
    state.pools.unseen.pop(key, None)
    number = state.index.component_number[key.component]

    def mine(entry: PendingResult) -> bool:
        return entry.component == number and state.index.class_of(number, entry.case, entry.mode).pool == key.pool

    state.waiting.to_cancel += [_not_seen(state, entry, key.pool) for entry in state.waiting.set_aside(mine)]


def _not_seen(state: State, entry: PendingResult, pool: str) -> PendingResult:
    nodes = state.index.bundles[entry.component, pool].nodes
    entry.cancelled = f"its node was not seen: {out_in_words(state, pool, [(entry.repeat - 1) % nodes + 1])}"
    return entry


def _yield_again(state: State) -> None:
    """Work out which yields hold. One begins when ``pending`` jobs wait on any of its clusters, and ends when no more than
    ``until`` wait on each of them.
    """
    before, state.pools.yielding = set(state.pools.yielding), []
    for component in state.index.components:
        for number, word in enumerate(component.yields):
            longest = max((state.pools.pending.get(cluster, 0) for cluster in word.clusters), default=0)
            name = YieldKey(component.name, number)
            if longest >= word.pending or (name in before and longest > word.until):
                state.pools.yielding.append(name)


# ---- what fails --------------------------------------------------------------------------------------------------------


def case_stopped(state: State, event: Event) -> None:
    """A case failed too often in a row. In a component that runs for a time it waits for a person; in others its remaining results
    are to be judged cancelled.
    """
    name = event.value["component"]
    state.overrides.stopped[CaseKey(name, event.case)] = event.reason
    state.failures.streaks.pop(CaseKey(name, event.case), None)
    number = state.index.component_number.get(name)
    if number is not None and not lasts(state.index, number):
        _put_aside(state)


def count_failure(state: State, event: Event) -> None:
    """Count the first verdict on a run that had a job: for its nodes, where a node failed, and for its case."""
    verdict = event.value["verdict"]
    if verdict == "node_fail":
        count_nodes(state, event)
    number = state.index.component_number.get(event.value["component"])
    component = state.index.components[number] if number is not None else None
    if component is None or not component.stop_after or is_step(mode_in(event.value)):
        return
    if event.case not in (*component.cases, *component.fillers):
        return  # an amendment took it out, and its run goes on
    key = CaseKey(component.name, event.case)
    if verdict in ENDS_A_ROW:
        state.failures.streaks.pop(key, None)
    elif verdict in IN_A_ROW:
        row = state.failures.streaks.setdefault(key, [])
        row.append(RunVerdict(event.run, verdict))
        del row[: -max(REMEMBERED, component.stop_after)]


def count_nodes(state: State, event: Event) -> None:
    """Count a failure for each node that the event names as failed."""
    for node in _failed_nodes(event):
        _count_node(state, node, event)


def _failed_nodes(event: Event) -> list[str]:
    """The nodes that are known to have failed. Where the event names none and the run was on one node, that node."""
    named = event.value.get("failed_nodes")
    if named is not None:
        return [str(node) for node in named]
    nodes = event.value.get("nodes", "")
    return [nodes] if _ONE_NODE.fullmatch(nodes) else []


def _count_node(state: State, node: str, event: Event) -> None:
    """Count a failure of a node, once for each start of a job, however many runs of the job were on the node."""
    job = state.jobs.get(event.job)
    failure = NodeFailure(event.run, event.job, job.restart if job is not None else 0)
    failures = state.failures.nodes.setdefault(node, [])
    if failures and failures[-1][1:] == failure[1:]:
        return
    failures.append(failure)
    del failures[: -max(REMEMBERED, state.index.document.limits.exclude_after)]


def runs_in(failures: Sequence[NodeFailure | RunVerdict]) -> list[str]:
    """The runs of the failures that are remembered of a node, or of a case in a row."""
    return [failure.run for failure in failures]


# ---- amendments --------------------------------------------------------------------------------------------------------


def standing_orders_after(state: State) -> None:
    """What stays of overrides under a new plan. Those about something that the plan no longer has are gone, and drains are taken
    back.

    Excluded nodes and acts on clocks stay. A pause lasts until a person ends it, as its clock stands still until then; this is also
    so for a component that is not in the new plan, since it may be in a later one.
    """
    index = state.index
    state.overrides.draining = {}
    state.overrides.caps = {test: copies for test, copies in state.overrides.caps.items() if test in _tests(state)}
    state.overrides.amounts = {
        name: amount for name, amount in state.overrides.amounts.items() if _is_budget(state, name)
    }
    kept = {
        *(LimitKey("cap", test) for test in state.overrides.caps),
        *(LimitKey("budget", name) for name in state.overrides.amounts),
    }
    state.overrides.said_by = {name: words for name, words in state.overrides.said_by.items() if name in kept}
    wanted = {CaseKey(component.name, case) for component in index.components for case in component.cases}
    state.overrides.stopped = {key: why for key, why in state.overrides.stopped.items() if key in wanted}
    state.failures.streaks = {key: runs for key, runs in state.failures.streaks.items() if key in wanted}
    watched = {name for component in index.components for word in component.yields for name in word.clusters}
    state.pools.idle, state.pools.yielding = {}, []
    state.pools.out, state.pools.unseen = {}, {}
    state.pools.observed = {
        own: state.pools.observed.get(own, Observed(since=state.time))
        for name in index.observed
        for own in index.targets.get(name) or (name,)
    }
    state.pools.pending = {cluster: count for cluster, count in state.pools.pending.items() if cluster in watched}
    _yield_again(state)


def _tests(state: State) -> set[str]:
    return {test.name for test in state.index.document.tests}


def _is_budget(state: State, name: str) -> bool:
    document = state.index.document
    budget, _, target = name.partition("@")
    known = {name for name, _ in (*document.system.budgets, *document.limits.budgets)}
    return budget in known and (not target or target in dict(document.system.targeted).get(budget, ()))


def _said_by(event: Event) -> str:
    """Who said it, when and why, as words."""
    by = event.value.get("by") or event.value.get("who") or "somebody"
    return f"by {by} on {moment(event.time)}: {event.reason}"
