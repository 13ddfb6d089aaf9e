"""The words for how a wanted result is run: "" as any, ``isolated``, ``fill``, ``warm-up:MODE`` for what comes before either, and
``filler`` for what takes the nodes that a mix leaves idle.

Repeats are numbered in each of them from 1; together with the component and the case they name a wanted result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shakedown.engine.plan import PlanIndex

WARM_UP = "warm-up"
FILLER = "filler"  # of a mix: takes what the mix leaves idle, and is no work of the contract


def warm_up(mode: str) -> str:
    return f"{WARM_UP}:{mode}"


def is_warm_up(mode: str) -> bool:
    return mode.startswith(WARM_UP)


def base(mode: str) -> str:
    """The mode itself, of a warm-up the mode that it belongs to."""
    return mode.removeprefix(f"{WARM_UP}:")


def mode_facts(mode: str) -> dict[str, str]:
    """What an event says of the mode: nothing, the mode, or that it is a warm-up and of which."""
    if not mode:
        return {}
    return {"mode": WARM_UP, "of": base(mode)} if is_warm_up(mode) else {"mode": mode}


def mode_in(value: dict[str, Any]) -> str:
    """The mode that an event speaks of."""
    mode: str = value.get("mode", "")
    return warm_up(value.get("of", "")) if mode == WARM_UP else mode


def wanted_results(index: PlanIndex, number: int) -> Iterator[tuple[str, str, int]]:
    """Purpose: what a component wants from its start, as (mode, case, repeat), in the order in which it is to begin.

    Without modes round by round, so that repeats are spread in time. Of a mix the next result of each case is wanted.
    """
    component = index.components[number]
    pools = {case: index.bundles.get((number, index.cases[case].partition)) for case in component.cases}
    if component.sweep and any(pools.values()):
        for case, bundle in pools.items():
            rounds = 1 if component.duration_s else component.sweep.rounds
            yield from (("", case, node + 1) for node in range(rounds * (bundle.nodes if bundle else 1)))
        return
    if component.duration_s:
        yield from (("", case, 1) for case in component.cases)
        yield from ((FILLER, case, 1) for case in component.fillers)
        return
    for mode in component.modes:
        for case in component.cases:
            copies = index.document.system.copies(mode, index.cases[case])
            yield from ((warm_up(mode.name), case, n + 1) for n in range(mode.warm_up * copies))
            yield from ((mode.name, case, n + 1) for n in range(mode.repeats * copies))
    if not component.modes:
        yield from (("", case, repeat + 1) for repeat in range(component.repeats) for case in component.cases)
