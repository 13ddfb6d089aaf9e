"""Whether a ladder needs a waiting result now: ``turn_of``. ``model.ladders`` says what a ladder is."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any, NamedTuple

from shakedown.engine.state.jobs import PendingResult
from shakedown.engine.state.keys import NeededKey
from shakedown.engine.state.records import Given
from shakedown.engine.state.state import State
from shakedown.model.events import SPARED
from shakedown.model.ladders import Climb, Ladder, Rung, Word, climb, word_of


class Turn(NamedTuple):
    """What a ladder wants of one size: it is ``needed`` now; or the size ``first`` comes before it, in its result ``repeat``; or it
    is spared, and ``why`` says the reason.
    """

    needed: bool
    first: str = ""
    repeat: int = 0
    why: str = ""


_NEEDED = Turn(True)


def turn_of(state: State, entry: PendingResult) -> Turn | None:
    """Purpose: what its ladder wants of a waiting result now; None for a result on no ladder. Each round of a component that is run
    again is a ladder of its own.
    """
    rungs = state.index.ladders.get((entry.component, entry.case))
    component = state.index.components[entry.component]
    if entry.mode or rungs is None or component.ladder is None:
        return None
    first = 1 + (entry.repeat - 1) // component.repeats * component.repeats
    repeats = range(first, first + component.repeats)
    found = _Results(state, component.name, component.ladder, rungs[0], repeats)
    climbed = climb(rungs, found.word)
    if entry.case in climbed.known or (climbed.next is not None and climbed.next.case == entry.case):
        return _NEEDED
    if climbed.next is not None and entry.case in climbed.between:
        return Turn(False, climbed.next.case, found.open_repeat(climbed.next))
    return Turn(False, why=_why_spared(component.name, component.ladder, climbed, found))


def figure_of(ladder: Ladder, verdict: Mapping[str, Any]) -> float | None:
    """Purpose: the value, in a verdict, of the figure that a ladder goes by; None where it goes by none or there is no value."""
    if not ladder.figure:
        return None
    value = verdict.get("elapsed_s") if ladder.figure == "elapsed" else verdict.get("figures", {}).get(ladder.figure)
    return float(value) if value is not None else None


class _Results:
    """How the sizes of one ladder came out in one round."""

    def __init__(self, state: State, component: str, ladder: Ladder, smallest: Rung, repeats: range) -> None:
        self._given, self._component, self._cases = state.results.given, component, state.index.cases
        self._ladder, self._smallest, self._repeats = ladder, smallest, repeats

    def of(self, rung: Rung) -> list[Given]:
        """The closed results of a size."""
        given = self._given.get(NeededKey(self._component, "", rung.case), {})
        return [given[repeat] for repeat in self._repeats if repeat in given]

    def open_repeat(self, rung: Rung) -> int:
        given = self._given.get(NeededKey(self._component, "", rung.case), {})
        return next((repeat for repeat in self._repeats if repeat not in given), self._repeats.start)

    def word(self, rung: Rung) -> Word:
        """How a size came out."""
        results = self.of(rung)
        return word_of(
            self._ladder,
            [self._good(rung, one) for one in results],
            any(one.verdict == SPARED for one in results),
            len(self._repeats),
            self._median(rung),
            self._median(self._smallest),
        )

    def ended(self, rung: Rung) -> str:
        """Why a size did not hold: "r000012 was judged failed", or what it measured."""
        for one in self.of(rung):
            if not self._good(rung, one):
                return f"{one.run} was judged {one.verdict}"
        value = self._median(rung)
        return f"{self._ladder.figure} is worse than at {self._smallest.size}" if value is not None else "no value"

    def _good(self, rung: Rung, given: Given) -> bool:
        return given.verdict in ("passed", self._cases[rung.case].expect or "passed")

    def _median(self, rung: Rung) -> float | None:
        values = [one.measured for one in self.of(rung) if one.measured is not None]
        return median(values) if values else None


def _why_spared(component: str, ladder: Ladder, climbed: Climb, found: _Results) -> str:
    """Why a size is not needed, from what is known of the others."""
    if climbed.lost is not None:
        size = f"{ladder.along}={climbed.lost.size}"
        return (
            f"its ladder was decided by results that changed since, and {size} was spared; shakedown again {component}"
        )
    said = []
    if climbed.holds is not None:
        said.append(f"{climbed.holds.case} holds")
    if climbed.fails is not None:
        said.append(f"{climbed.fails.case} does not ({found.ended(climbed.fails)})")
    return f"its ladder does not need it: {' and '.join(said)}"
