"""The words for how a wanted result is run.

"": in no mode. ``isolated`` and ``fill``: the modes of the plan. ``warm-up:MODE``: before either. ``filler``: takes nodes that a
mix leaves idle. ``set-up`` and ``clean-up``: before and after everything else of a component. ``drill:NAME``: a test that is a
drill.

Repeats are numbered from 1 in each mode. Component, mode, case and repeat together name a wanted result.
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
    """Whether it is a set-up, a clean-up or a drill, which are outside of the component's mix, modes and clock."""
    return mode in (SET_UP, CLEAN_UP) or is_drill(mode)


def drill(name: str) -> str:
    return f"{DRILL}:{name}"


def is_drill(mode: str) -> bool:
    return mode.startswith(f"{DRILL}:")


def base(mode: str) -> str:
    """The mode itself; for a warm-up the mode that it belongs to."""
    return mode.removeprefix(f"{WARM_UP}:")


def mode_facts(mode: str) -> dict[str, str]:
    """What an event records of the mode: nothing, the mode, or that it is a warm-up or a drill, and of what."""
    if not mode:
        return {}
    if is_drill(mode):
        return {"mode": DRILL, "of": mode.removeprefix(f"{DRILL}:")}
    return {"mode": WARM_UP, "of": base(mode)} if is_warm_up(mode) else {"mode": mode}


def mode_in(value: dict[str, Any]) -> str:
    """The mode that an event records."""
    mode: str = value.get("mode", "")
    if mode == DRILL:
        return drill(value.get("of", ""))
    return warm_up(value.get("of", "")) if mode == WARM_UP else mode
