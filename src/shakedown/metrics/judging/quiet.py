"""Caps, budgets and exclusions that were lifted before they held anything back: ``without_effect`` marks them as idle.

What would have run without one of them nobody knows, as a rule. It is known where who said it lifted it within a minute, nothing
was ordered, let start or judged meanwhile, and a run ended before the next order after that: whatever could be ordered had been
ordered before, and nothing waited for the lifting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from msgspec.structs import replace

from shakedown.metrics.judging.people import Act
from shakedown.metrics.rows.table import Record

SOON_S = 60.0  # between what was said by mistake and its lifting
_LIFTED_BY = {"cap": "cap", "budget": "budget", "exclude": "include"}
_MATTERS = {"cap": "test", "budget": "budget"}


def without_effect(acts: Sequence[Act], record: Record) -> tuple[Act, ...]:
    """Purpose: the acts, with those marked that left nothing behind, and those that lifted them."""
    values = {row.seq: row.value for row in record.acts}
    idle: set[int] = set()
    for act in acts:
        if act.kind not in _LIFTED_BY or act.number in idle or _lifts(act, values):
            continue
        same = [one for one in acts if one is not act and _is_on(one, act, values)]
        later = [one for one in same if one.number > act.number]
        before = [one for one in same if one.number < act.number]
        first = not before or _lifts(before[-1], values)
        if first and later and _is_lifted(act, later[0], values) and is_quiet(act, later[0], record):
            idle |= {act.number, later[0].number}
    return tuple(replace(act, idle=True) if act.number in idle else act for act in acts)


def is_quiet(act: Act, lifted: Act, record: Record) -> bool:
    """Purpose: whether nothing came about from one act until the other soon after it, nor because of the other."""
    if lifted.said - act.said > SOON_S:
        return False
    orders = [row.ordered_by for row in record.runs] + [run.seq for run in record.open.values()]
    began = [row.charged if row.charged is not None else row.started for row in record.runs]
    began += [run.charged if run.charged is not None else run.started for run in record.open.values()]
    judged = [row.seq for row in record.runs]
    if any(act.number < event < lifted.number for event in (*orders, *judged)):
        return False
    if any(moment is not None and act.said <= moment <= lifted.said for moment in began):
        return False
    ordered = min((event for event in orders if event > lifted.number), default=inf)
    return ordered == inf or any(lifted.number < event < ordered for event in judged)


def _is_on(one: Act, act: Act, values: Mapping[int, Mapping[str, Any]]) -> bool:
    """Whether two acts speak of the same test, budget, or nodes."""
    if one.kind not in (act.kind, _LIFTED_BY[act.kind]):
        return False
    if act.kind in _MATTERS:
        key = _MATTERS[act.kind]
        return bool(values[one.number].get(key) == values[act.number].get(key))
    return bool(_nodes(one, values) & _nodes(act, values))


def _is_lifted(act: Act, by: Act, values: Mapping[int, Mapping[str, Any]]) -> bool:
    """By who said it, and all of it."""
    return by.by == act.by and _lifts(by, values) and _nodes(by, values) == _nodes(act, values)


def _nodes(act: Act, values: Mapping[int, Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(str(node) for event in act.events for node in values[event].get("nodes") or ())


def _lifts(act: Act, values: Mapping[int, Mapping[str, Any]]) -> bool:
    if act.kind == "include":
        return True
    amount = {"cap": "copies", "budget": "amount"}.get(act.kind)
    return amount is not None and values[act.number].get(amount) is None
