"""Contract rows proposed from history: per case and figure the median, its spread, and a bound around it.

Start reading at ``propose``. Only runs that passed, are in force, and count in their mode give values. The bound is one-sided
if the figure has a better direction, because a figure that is too good needs no bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from shakedown.metrics import statistics
from shakedown.metrics.cases import ELAPSED
from shakedown.metrics.judging.populations import CaseRuns, populations
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import plural, show_number, some, with_unit
from shakedown.model.figures import with_rows
from shakedown.model.nouns import Document, FigureSpec, Pairs

FEW = 5  # a row on fewer runs carries a warning
LEAST_SPREAD = 0.01  # of the median: a few equal values do not prove that the next is equal
_MAD_TO_SD = 1.4826  # of the normal distribution: its standard deviation over its median absolute deviation
_DIGITS = 6


class Tolerance(NamedTuple):
    """The allowed distance from the median: so many spreads or, with ``percent``, so many per cent of the median."""

    amount: float
    percent: bool = False

    def __str__(self) -> str:
        if self.percent:
            return f"{self.amount:g}% of the median"
        least = f"at least {LEAST_SPREAD:.0%} of the median"
        return f"{self.amount:g} spreads; a spread is {_MAD_TO_SD} times the median absolute deviation, {least}"


class Proposal(Struct, frozen=True):
    """A contract row that the history would meet. Numbers are in ``unit``; ``origins``: campaigns with their epochs.

    ``spread`` is 1.4826 times the median absolute deviation, which for normal values is their standard deviation.
    ``warnings`` are sentences.
    """

    test: str
    where: Pairs
    figure: str
    mode: str
    unit: str
    must: str
    count: int
    median: float
    spread: float
    lowest: float
    highest: float
    origins: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """The data behind the row, for its last column."""
        shown = [with_unit(show_number(value), self.unit) for value in (self.median, self.spread)]
        reach = f"{show_number(self.lowest)}..{with_unit(show_number(self.highest), self.unit)}"
        text = f"n {self.count}, median {shown[0]}, spread {shown[1]}, {reach}; {', '.join(self.origins)}"
        return "; ".join((text, *self.warnings))


class Proposed(Struct, frozen=True):
    """The proposed rows, and the cases without values, with the reason."""

    rows: tuple[Proposal, ...]
    without: tuple[str, ...]


class _Sample(Struct):
    """The values of one case and figure over all campaigns."""

    spec: FigureSpec
    values: list[tuple[str, RunRow, float]]  # campaign, run, value


_Key = tuple[str, Pairs, str, str, str]  # test, where, figure, mode, unit


def propose(history: Sequence[tuple[Document, Record]], tolerance: Tolerance) -> Proposed:
    """Purpose: a row for each case, mode and figure that these campaigns measured; equal cases of several campaigns are pooled."""
    samples: dict[_Key, _Sample] = {}
    without: dict[str, None] = {}
    for document, record in history:
        specs = {test.name: (ELAPSED, *test.figures) for test in document.tests}
        for mode, case in _cases(document, record):
            passed = [row for row in case.rows if row.verdict == "passed"]
            if not passed:
                without[f"{record.campaign}: no run of {case.case.id} passed"] = None
            seen = (name for row in passed for name in row.figures)
            for spec in with_rows(specs.get(case.case.test, (ELAPSED,)), seen):
                _collect(samples, document, record, mode, case, spec)
    rows = [_proposal(key, sample, tolerance) for key, sample in samples.items()]
    return Proposed(tuple(rows), tuple(without))


def _cases(document: Document, record: Record) -> Iterator[tuple[str, CaseRuns]]:
    for population in populations(document, record).values():
        for case in population.cases:
            for mode, _ in case.wanted:
                yield mode, case.of_mode(mode)


def _collect(
    samples: dict[_Key, _Sample], document: Document, record: Record, mode: str, case: CaseRuns, spec: FigureSpec
) -> None:
    values = [(record.campaign, row, value) for row, value in case.values(spec.name) if row.verdict == "passed"]
    if values:
        key = (case.case.test, _where(document, case), spec.name, mode, spec.unit)
        samples.setdefault(key, _Sample(spec, [])).values.extend(values)


def _where(document: Document, runs: CaseRuns) -> Pairs:
    """The properties that identify the case on any system."""
    case = runs.case
    where = [("system", document.system.name)]
    if len(document.system.partitions()) > 1:
        where.append(("partition", case.partition))
    names = [name for name, _ in case.parameters]
    if case.toolchain and "toolchain" not in names:
        where.append(("toolchain", case.toolchain))
    return (*where, *case.parameters)


# ---- one row ---------------------------------------------------------------------------------------------------------


def _proposal(key: _Key, sample: _Sample, tolerance: Tolerance) -> Proposal:
    test, where, figure, mode, unit = key
    values = [value for _, _, value in sample.values]
    median = statistics.median(values)
    spread = _MAD_TO_SD * statistics.median_deviation(values)
    return Proposal(
        test,
        where,
        figure,
        mode,
        unit,
        must=_must(median, spread, sample.spec, tolerance),
        count=len(values),
        median=median,
        spread=spread,
        lowest=min(values),
        highest=max(values),
        origins=_origins(sample),
        warnings=tuple(_warnings(sample, median, _width(median, spread, tolerance))),
    )


def _must(median: float, spread: float, spec: FigureSpec, tolerance: Tolerance) -> str:
    """The bound as a contract writes it: the median, and the allowed distance on the worse side, or on both sides."""
    sign = {"lower": " +", "higher": " -", "": " +-"}[spec.better]
    width = _width(median, spread, tolerance)
    if tolerance.percent:
        shown = f"{tolerance.amount:g}%"
    elif spec.unit == "%":  # a percentage in a bound is relative to the value
        shown = f"{show_number(100 * width / abs(median) if median else 0.0, _DIGITS)}%"
    else:
        shown = with_unit(show_number(width, 3), spec.unit)
    return with_unit(show_number(median, _DIGITS), spec.unit) + sign + shown


def _width(median: float, spread: float, tolerance: Tolerance) -> float:
    """The allowed distance from the median, in the figure's unit."""
    if tolerance.percent:
        return abs(median) * tolerance.amount / 100
    return tolerance.amount * max(spread, LEAST_SPREAD * abs(median))


def _origins(sample: _Sample) -> tuple[str, ...]:
    epochs: dict[str, set[int]] = {}
    for campaign, row, _ in sample.values:
        epochs.setdefault(campaign, set()).add(row.epoch)
    return tuple(f"{campaign} {_epochs(sorted(found))}" for campaign, found in epochs.items())


def _epochs(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers))
    return f"epoch {shown}" if len(numbers) == 1 else f"epochs {shown}"


def _warnings(sample: _Sample, median: float, width: float) -> Iterator[str]:
    values = [value for _, _, value in sample.values]
    if len(values) < FEW:
        yield f"only {plural(len(values), 'run')}"
    found = [sample.values[place] for place in statistics.outliers(values)]
    if found:
        several = len({campaign for campaign, _, _ in sample.values}) > 1  # each of them has a run r000001
        named = [
            f"{campaign + ' ' if several else ''}{row.run} {with_unit(show_number(value), sample.spec.unit)}"
            for campaign, row, value in found
        ]
        yield f"{plural(len(found), 'outlier')}: {some(named)}"
    if sample.spec.better != "lower" and 0 < median <= width:
        yield "so wide a spread that the least asked for is below 0"
