"""The words for how a wanted result is run: "" as any, ``isolated``, ``fill``, ``warm-up:MODE`` for what comes before either,
``filler`` for what takes the nodes that a mix leaves idle, ``set-up`` and ``clean-up`` for what goes before and after all else,
and ``drill:NAME`` for a test that is a drill.

Repeats are numbered in each of them from 1; together with the component and the case they name a wanted result.
"""

from __future__ import annotations

from typing import Any

WARM_UP = "warm-up"
FILLER = "filler"  # of a mix: takes what the mix leaves idle, and is no work of the contract
DRILL = "drill"  # of a component: a test that does something to the machine at its moment
SET_UP, CLEAN_UP = "set-up", "clean-up"  # of a component: they go before, and after, all of its other results


def warm_up(mode: str) -> str:
    return f"{WARM_UP}:{mode}"


def is_warm_up(mode: str) -> bool:
    return mode.startswith(WARM_UP)


def is_step(mode: str) -> bool:
    """Whether it is a set-up, a clean-up or a drill: outside of the component's mix, its modes and its clock."""
    return mode in (SET_UP, CLEAN_UP) or is_drill(mode)


def drill(name: str) -> str:
    return f"{DRILL}:{name}"


def is_drill(mode: str) -> bool:
    return mode.startswith(f"{DRILL}:")


def base(mode: str) -> str:
    """The mode itself, of a warm-up the mode that it belongs to."""
    return mode.removeprefix(f"{WARM_UP}:")


def mode_facts(mode: str) -> dict[str, str]:
    """What an event says of the mode: nothing, the mode, or that it is a warm-up and of which."""
    if not mode:
        return {}
    if is_drill(mode):
        return {"mode": DRILL, "of": mode.removeprefix(f"{DRILL}:")}
    return {"mode": WARM_UP, "of": base(mode)} if is_warm_up(mode) else {"mode": mode}


def mode_in(value: dict[str, Any]) -> str:
    """The mode that an event speaks of."""
    mode: str = value.get("mode", "")
    if mode == DRILL:
        return drill(value.get("of", ""))
    return warm_up(value.get("of", "")) if mode == WARM_UP else mode
