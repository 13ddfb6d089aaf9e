"""The results that a component wants, in the order in which they are to begin."""

from __future__ import annotations

from collections.abc import Iterator

from shakedown.engine.state.modes import CLEAN_UP, FILLER, SET_UP, drill, warm_up
from shakedown.engine.state.plan import PlanIndex


def wanted_results(index: PlanIndex, number: int) -> Iterator[tuple[str, str, int]]:
    """Purpose: what a component wants from its start, as (mode, case, repeat), in the order in which it is to begin.

    Without modes it goes round by round, so that repeats are spread over time. Of a mix, the first result of each case is wanted.
    """
    yield from steps_wanted(index, number, SET_UP)
    yield from _main_results(index, number)
    yield from ((drill(one.name), one.case, 1) for one in index.components[number].drills if one.case)
    yield from steps_wanted(index, number, CLEAN_UP)


def steps_wanted(index: PlanIndex, number: int, mode: str, rounds: int = 1) -> Iterator[tuple[str, str, int]]:
    """Purpose: the set-ups or the clean-ups of a component: each case once, in each of its rounds."""
    component = index.components[number]
    for case in component.set_up if mode == SET_UP else component.clean_up:
        yield from ((mode, case, round_ + 1) for round_ in range(rounds))


def _main_results(index: PlanIndex, number: int) -> Iterator[tuple[str, str, int]]:
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
        # A sweep of one machine, which has no nodes to tell apart, sees that machine in each of its rounds.
        rounds = component.sweep.rounds if component.sweep else component.repeats
        yield from (("", case, round_ + 1) for round_ in range(rounds) for case in component.cases)
