"""Caps, budgets and exclusions that were lifted before they held any work back: ``without_effect`` marks them as idle.

Usually nobody knows which runs there would have been without such an act. It is known if the same person lifted it within a
minute, nothing was ordered, let start or judged in between, and a run ended between the lifting and the next order: then everything
that could be ordered was ordered before, and nothing waited for the lifting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from msgspec.structs import replace

from shakedown.metrics.judging.people import Act
from shakedown.metrics.rows.table import Record

SOON_S = 60.0  # the most time between a mistaken act and its lifting
_LIFTED_BY = {"cap": "cap", "budget": "budget", "exclude": "include"}
_MATTERS = {"cap": "test", "budget": "budget"}


def without_effect(acts: Sequence[Act], record: Record) -> tuple[Act, ...]:
    """Purpose: the acts, with those marked idle that had no effect, and those that lifted them."""
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
    """Purpose: whether two acts lie within SOON_S, nothing was ordered, started or judged between them, and none waited for the
    second.
    """
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
    """Whether two acts concern the same test, budget, or nodes."""
    if one.kind not in (act.kind, _LIFTED_BY[act.kind]):
        return False
    if act.kind in _MATTERS:
        key = _MATTERS[act.kind]
        return bool(values[one.number].get(key) == values[act.number].get(key))
    return bool(_nodes(one, values) & _nodes(act, values))


def _is_lifted(act: Act, by: Act, values: Mapping[int, Mapping[str, Any]]) -> bool:
    """Whether the same person lifted the act completely."""
    return by.by == act.by and _lifts(by, values) and _nodes(by, values) == _nodes(act, values)


def _nodes(act: Act, values: Mapping[int, Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(str(node) for event in act.events for node in values[event].get("nodes") or ())


def _lifts(act: Act, values: Mapping[int, Mapping[str, Any]]) -> bool:
    if act.kind == "include":
        return True
    amount = {"cap": "copies", "budget": "amount"}.get(act.kind)
    return amount is not None and values[act.number].get(amount) is None
