"""Circuit breakers: nodes that fail too often are excluded, and cases that fail too often in a row are not run again.

``stand`` is the table of contents.
"""

from __future__ import annotations

from shakedown.engine.constraints.overrides import next_change
from shakedown.engine.fold.overrides import runs_in
from shakedown.engine.state.orders import BATCH, Decision
from shakedown.engine.state.retirement import lasts
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.shared_nodes import different_nodes

TOLD_EACH = 0.1  # share of the machine's nodes: that so many are excluded is a finding of its own


def stand(state: State, decision: Decision, now: float) -> bool:
    """Purpose: exclude nodes and stop cases that have failed often enough, and ask to be woken when a window changes. Returns
    whether anything was ordered.
    """
    before = len(decision.orders)
    _exclude(state, decision)
    _stop_cases(state, decision)
    change = next_change(state, now)
    if change is not None:
        decision.wake(change)
    return len(decision.orders) > before


def _exclude(state: State, decision: Decision) -> None:
    """Exclude each node that has failed as often as the plan allows, and name the runs that show it."""
    most = state.index.document.limits.exclude_after
    if not most:
        return
    due = [
        node
        for node, failures in state.failures.nodes.items()
        if len(failures) >= most and node not in state.overrides.excluded
    ]
    for node in due[:BATCH]:
        runs = runs_in(state.failures.nodes[node])
        times = "once" if len(runs) == 1 else f"{len(runs)} times"
        why = f"{node} failed {times} ({', '.join(runs)}), and the plan's exclude_after is {most}"
        why += f"; shakedown include {node} gives it work again"
        decision.record(Event("excluded", value={"nodes": [node], "runs": runs}, reason=why))
    if due:
        _say_many(state, decision, len(due[:BATCH]))


def _say_many(state: State, decision: Decision, more: int) -> None:
    """Record when a tenth of the machine is excluded, and each further tenth, so that nobody has to notice it by chance."""
    nodes, before = different_nodes(list(state.index.document.system.partitions())), len(state.overrides.excluded)
    step = TOLD_EACH * nodes
    if step and (before + more) // step > before // step:
        of = f"{before + more} of {nodes} nodes are excluded"
        why = f"{of}; shakedown status lists them, shakedown include NODES gives them work again"
        value = {"kind": "many_excluded", "excluded": before + more, "nodes": nodes}
        decision.record(Event("finding", value=value, reason=why))


def _stop_cases(state: State, decision: Decision) -> None:
    """Stop each case that has failed in a row as often as the plan allows."""
    for key, row in state.failures.streaks.items():
        name, case = key
        number = state.index.component_number.get(name)
        most = state.index.components[number].stop_after if number is not None else 0
        if number is None or not most or len(row) < most or key in state.overrides.stopped:
            continue
        then = f"; shakedown resume --case {case}" if lasts(state.index, number) else "; what waits of it is cancelled"
        failures = ", ".join(map(" ".join, row))
        why = (
            f"{case} did not pass {len(row)} times in a row ({failures}), and stop_after of component {name} is {most}"
        )
        value = {"component": name, "runs": runs_in(row)}
        decision.record(Event("case_stopped", case=case, value=value, reason=why + then))
        if len(decision.orders) >= BATCH:
            return
