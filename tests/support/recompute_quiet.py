"""Caps, budgets and exclusions that were lifted before anything hung on them: part of ``recompute_acts.py``.

It shares no code with the package, on purpose.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
ABOUT = {"cap": ("test", "copies"), "budget": ("budget", "amount")}


def is_idle(act: Any, acts: list[Any], events: list[Json], began: list[float]) -> bool:
    """Whether it was lifted by who said it within a minute, or lifts such a word, and nothing came about meanwhile or by that.

    ``began``: when runs were let start.
    """
    if act.kind not in ("cap", "budget", "exclude", "include"):
        return False
    pairs = [(one, _next(one, acts)) for one in acts if one.kind != "include" and not _lifts(one)]
    return any(
        act in pair and pair[1] is not None and _is_quiet(*pair, acts, events, began) for pair in pairs if pair[1]
    )


def _things(act: Any) -> set[str]:
    if act.kind in ABOUT:
        return {f"{act.kind} {act.lines[0]['value'].get(ABOUT[act.kind][0])}"}
    nodes = {node for line in act.lines for node in line["value"].get("nodes", ())}
    return nodes if act.kind in ("exclude", "include") else set()


def _lifts(act: Any) -> bool:
    if act.kind == "include":
        return True
    return act.kind in ABOUT and act.lines[0]["value"].get(ABOUT[act.kind][1]) is None


def _next(act: Any, acts: list[Any]) -> Any:
    return next((one for one in acts if one.number > act.number and _things(one) & _things(act)), None)


def _is_quiet(act: Any, lifted: Any, acts: list[Any], events: list[Json], began: list[float]) -> bool:
    if _things(lifted) != _things(act) or not _lifts(lifted):
        return False
    before = [one for one in acts if one.number < act.number and _things(one) & _things(act)]
    if before and not _lifts(before[-1]):
        return False
    return came_nothing(act, lifted, events, began)


def came_nothing(act: Any, lifted: Any, events: list[Json], began: list[float]) -> bool:
    """One person said both within a minute; nothing was ordered, let start or judged meanwhile, nor because of the second."""
    begin, end = act.lines[0]["time"], lifted.lines[0]["time"]
    if lifted.by != act.by or end - begin > 60.0:
        return False
    orders = [line["seq"] for line in events if line["event"] in ("submit_order", "requeued")]
    judged = [line["seq"] for line in events if line["event"] == "verdict"]
    if any(act.number < seq < lifted.number for seq in orders + judged):
        return False
    if any(begin <= moment <= end for moment in began):
        return False
    after = [seq for seq in orders if seq > lifted.number]
    return not after or any(lifted.number < seq < min(after) for seq in judged)
