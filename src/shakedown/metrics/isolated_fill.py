"""Fill against isolated: how much worse a figure is when copies of its own case fill the machine (paper 004 IV.D).

Start reading at ``slowdown``. In both modes only those runs count that had the machine as their mode says (``overlap``).
"""

from __future__ import annotations

from msgspec import Struct

from shakedown.metrics import statistics
from shakedown.metrics.judging.populations import CaseRuns, Population, populations
from shakedown.metrics.judging.scope import MeasureContext, figures_of
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.overlap import most_at_once
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import plural, show_share, show_value
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Case, Document, FigureSpec, Mode


class Slowdown(Struct, frozen=True):
    """One figure of one case, isolated and fill. ``share``: how much worse fill is; 0.12 = 12 % (below 0: better).

    ``isolated`` and ``fill``: values of ``statistic``; ``slowest``: the worst copy; ``slowest_share``: how much worse than isolated
    the worst copy is. ``achieved`` of ``required`` copies ran at once. ``aside``: the number of correct runs that do not count.
    """

    component: str
    case: str
    figure: FigureSpec
    statistic: str
    isolated: float
    fill: float
    slowest: float
    isolated_count: int
    fill_count: int
    achieved: int
    required: int
    aside: int

    @property
    def share(self) -> float:
        return worse_by(self.isolated, self.fill, self.figure)

    @property
    def slowest_share(self) -> float:
        return worse_by(self.isolated, self.slowest, self.figure)

    def arithmetic(self, bound: float = 0.0) -> str:
        """The calculation in words: mean 11.2 s of 40 fill runs / mean 10 s of 3 isolated runs - 1 = 12.0%; the worst copy 12.1 s,
        21.0%; ...
        """
        unit, word = self.figure.unit, self.statistic
        fill = f"{word} {show_value(self.fill, unit)} of {plural(self.fill_count, 'fill run')}"
        alone = f"{word} {show_value(self.isolated, unit)} of {plural(self.isolated_count, 'isolated run')}"
        ratio = f"1 - {fill} / {alone}" if self.figure.better == "higher" else f"{fill} / {alone} - 1"
        worst = f"the worst copy {show_value(self.slowest, unit)}, {show_share(self.slowest_share)}"
        text = f"{ratio} = {show_share(self.share, bound)}; {worst}; {self.achieved} of {self.required} copies at once"
        return text + (f"; {plural(self.aside, 'run')} not counted" if self.aside else "")


def worse_by(isolated: float, fill: float, figure: FigureSpec) -> float:
    """How much worse fill is than isolated, as a share of isolated: the added part of a time, the lost part of a rate."""
    ratio = fill / isolated
    return 1 - ratio if figure.better == "higher" else ratio - 1


def slowdowns(document: Document, record: Record) -> tuple[Slowdown, ...]:
    """Purpose: the slowdown of the mean for every case and figure of each component that has both modes, where there are values."""
    people, figures = populations(document, record), figures_of(document)
    found = []
    for component in document.components:
        if {mode.name for mode in component.modes} >= {"isolated", "fill"}:
            around = MeasureContext(document, record, component, figures)
            for case in people[component.name].cases:
                names = ["elapsed", *(name for test, name in figures if test == case.case.test)]
                found += [slowdown(name, "mean", case, around) for name in names]
    return tuple(item for item in found if isinstance(item, Slowdown))


def slowdown(figure: str, statistic: str, case: CaseRuns, around: MeasureContext) -> Slowdown | str:
    """Purpose: isolated against fill for one case, or a sentence that says why the slowdown cannot be computed."""
    spec = around.figure(case.case.test, figure)
    values = {mode: [v for _, v in case.of_mode(mode).values(figure)] for mode in ("isolated", "fill")}
    trouble = _trouble(spec, values, case)
    if trouble:
        return trouble
    middle = {mode: statistics.take(statistic, values[mode]) for mode in values}
    if middle["isolated"] <= 0:
        return f"the {statistic} of {figure} is not positive in isolation"
    fills = [row for row in case.rows if row.mode == "fill"]
    return Slowdown(
        component=around.component.name,
        case=case.case.id,
        figure=spec,
        statistic=statistic,
        isolated=middle["isolated"],
        fill=middle["fill"],
        slowest=min(values["fill"]) if spec.better == "higher" else max(values["fill"]),
        isolated_count=len(values["isolated"]),
        fill_count=len(values["fill"]),
        achieved=most_at_once(fills),
        required=_required(case.case, around),
        aside=len(case.aside),
    )


def _trouble(spec: FigureSpec, values: dict[str, list[float]], case: CaseRuns) -> str:
    if not spec.better:
        return f"nobody says whether a higher or a lower {spec.name} is better: figures.{spec.name}.better in the test"
    for mode, found in values.items():
        if not found:
            reason = next((case.aside[row.run] for row in case.rows if row.mode == mode and row.run in case.aside), "")
            runs = f", such as {reason}" if reason else ""
            return f"no {mode} run gave a value of {spec.name} that counts{runs}"
    return ""


def _required(case: Case, around: MeasureContext) -> int:
    fill = next((mode for mode in around.component.modes if mode.name == "fill"), Mode("fill"))
    return around.document.system.copies(fill, case)


def fill_over_isolated(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``fill over isolated`` for one case; a criterion applies it to each case, and the worst decides."""
    found = slowdown(criterion.of, criterion.statistic, population.cases[0], around)
    if isinstance(found, str):
        reason = f"no value of {criterion.of} yet in both modes" if population.to_come else found
        return Measured(None, 0, "", reason=reason)
    text = found.arithmetic(criterion.bound)
    count = min(found.isolated_count, found.fill_count)
    if population.to_come:
        return Measured(found.share, count, f"{text}, {population.to_come} to come")
    return Measured(found.share, count, text, found.share, found.share)
