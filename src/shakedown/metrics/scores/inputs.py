"""The inputs of a score: for each part its value, the run of the value, and the reason if it is missing."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from shakedown.metrics import statistics
from shakedown.metrics.cases import in_order_of_record
from shakedown.metrics.judging.populations import CaseRuns, Population
from shakedown.metrics.judging.scope import ELAPSED
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.words import plural
from shakedown.model.figures import figure_of
from shakedown.model.nouns import FigureSpec
from shakedown.model.scores import Score, ScorePart
from shakedown.model.units import Quantity

Figures = Mapping[tuple[str, str], FigureSpec]


class Input(Struct, frozen=True):
    """One part with its value, in the part's unit; None if there is none, and ``missing`` tells why.

    ``values``: of all counting runs, in the order of record; ``run``: the run of record. ``to_come``: the number of results of its
    case that are still to come.
    """

    part: ScorePart
    value: float | None = None
    run: str = ""
    values: tuple[float, ...] = ()
    runs: tuple[str, ...] = ()
    to_come: int = 0
    missing: str = ""
    unavailable: bool = False

    @property
    def given(self) -> bool:
        return self.part.given is not None


def inputs_of(score: Score, people: Mapping[str, Population], figures: Figures) -> tuple[Input, ...]:
    """Purpose: the inputs of a score, in the order of its parts. ``people``: each component's population."""
    return tuple(_input(part, score, people, figures) for part in score.parts)


def _input(part: ScorePart, score: Score, people: Mapping[str, Population], figures: Figures) -> Input:
    if part.given is not None:
        return Input(part, part.given, values=(part.given,))
    population = people.get(part.component)
    found = next((case for case in population.cases if case.case.id == part.case), None) if population else None
    if population is None or found is None:
        return _absent(part, population)
    mine = found.of_mode(part.mode)
    coming = max(mine.to_come, int(mine.more))
    pairs, trouble = _values(part, mine, figures)
    if trouble or not pairs:
        return Input(part, to_come=coming, missing=trouble or _nothing(part, mine, coming))
    values, runs = tuple(value for _, value in pairs), tuple(row.run for row, _ in pairs)
    return Input(part, take(score.take, values), runs[0], values, runs, coming)


def take(rule: str, values: tuple[float, ...]) -> float:
    """Purpose: the value that stands for a case, by the plan's rule; the rule ``record`` takes the first value."""
    return values[0] if rule == "record" else statistics.take(rule, values)


def _absent(part: ScorePart, population: Population | None) -> Input:
    for row in population.unavailable if population else ():
        if row.case == part.case:
            return Input(part, missing=f"{part.case} is unavailable: {row.reason}", unavailable=True)
    if population and part.case in population.spared:
        return Input(part, missing=f"the ladder of {part.component} spared {part.case}")
    return Input(part, missing=f"component {part.component} of the plan in force has no case {part.case}")


def _nothing(part: ScorePart, case: CaseRuns, coming: int) -> str:
    names = " and ".join(name for name, _ in part.figures)
    if coming:
        return f"no value of {names} of {part.case} yet, {plural(coming, 'result')} to come"
    if any(row.run in case.aside for row in case.rows):
        return f"no run of {part.case} counts for its figures"
    return f"no run of {part.case} that completed correctly gave a value of {names}"


def _values(part: ScorePart, case: CaseRuns, figures: Figures) -> tuple[list[tuple[RunRow, float]], str]:
    """(each run that has every figure, with the weighted sum in the part's unit, in the order of record; what is wrong, or "")."""
    sums: dict[str, float] = {}
    rows: dict[str, RunRow] = {}
    for place, (name, weight) in enumerate(part.figures):
        unit = (
            ELAPSED.unit if name == ELAPSED.name else figures.get((part.test, figure_of(name)), FigureSpec(name)).unit
        )
        found = {row.run: (row, value) for row, value in case.values(name)}
        rows = {run: found[run][0] for run in found if place == 0 or run in rows}
        try:
            sums = {run: sums.get(run, 0.0) + weight * Quantity(found[run][1], unit).to(part.unit) for run in rows}
        except ValueError as error:
            return [], f"the values of {name} of {part.case} cannot be used: {error}"
    bad = [run for run, value in sums.items() if not value > 0]
    if bad:
        return [], f"{bad[0]} of {part.case} gave {sums[bad[0]]:g}, and a score needs values above 0"
    return [(row, sums[row.run]) for row in sorted(rows.values(), key=in_order_of_record)], ""
