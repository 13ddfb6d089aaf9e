"""Every case of every component in numbers: what a report's table rows are made of. ``summarise`` is the table of contents."""

from __future__ import annotations

from msgspec import Struct

from shakedown.metrics.populations import CaseRuns, as_expected, count_verdicts, measured_value, populations
from shakedown.metrics.rows import RunRow, UnavailableRow
from shakedown.metrics.statistics import Summary, describe, outlier_scores
from shakedown.metrics.table import Record
from shakedown.model.nouns import Case, Document, FigureSpec

ELAPSED = FigureSpec("elapsed", unit="s", better="lower")  # every run has it


class Outlier(Struct, frozen=True):
    """A run whose value lies far from its case's median: ``score`` robust standard deviations, with sign."""

    run: str
    value: float
    score: float
    median: float


class FigureSummary(Struct, frozen=True):
    """A figure over the runs of one case that completed correctly. ``missing``: such runs that gave no value."""

    spec: FigureSpec
    values: tuple[float, ...]
    summary: Summary | None
    without_outliers: Summary | None
    outliers: tuple[Outlier, ...]
    missing: int


class CaseSummary(Struct, frozen=True):
    """One case of one component. ``rows`` are the verdicts in force, ``figures`` the run time first."""

    component: str
    case: Case
    wanted: int
    passed: int
    judged: int
    attempts: int
    as_expected: int
    given_up: int
    verdicts: tuple[tuple[str, int], ...]
    rows: tuple[RunRow, ...]
    figures: tuple[FigureSummary, ...]
    unavailable: UnavailableRow | None = None


def summarise(document: Document, record: Record) -> tuple[CaseSummary, ...]:
    """Purpose: every case of every component, in the order of the plan, unavailable ones in their place."""
    people = populations(document, record)
    cases = {case.id: case for case in document.cases}
    specs = {test.name: test.figures for test in document.tests}
    found = []
    for component in document.components:
        available = {runs.case.id: runs for runs in people[component.name].cases}
        missing = {row.case: row for row in people[component.name].unavailable}
        for name in component.cases:
            if name in available:
                found.append(_summary(component.name, available[name], specs.get(available[name].case.test, ())))
            else:
                found.append(_missing(component.name, cases.get(name) or Case(name, name, ""), missing[name]))
    return tuple(found)


def _summary(component: str, runs: CaseRuns, specs: tuple[FigureSpec, ...]) -> CaseSummary:
    return CaseSummary(
        component=component,
        case=runs.case,
        wanted=runs.repeats,
        passed=runs.passed,
        judged=runs.judged,
        attempts=len(runs.rows),
        as_expected=sum(as_expected(row, runs.case) for row in runs.rows),
        given_up=runs.given_up,
        verdicts=tuple(count_verdicts(runs.rows).items()),
        rows=runs.rows,
        figures=tuple(_figure(spec, runs.rows) for spec in (ELAPSED, *specs)),
    )


def _missing(component: str, case: Case, row: UnavailableRow) -> CaseSummary:
    return CaseSummary(component, case, 0, 0, 0, 0, 0, 0, (), (), (), row)


def _figure(spec: FigureSpec, rows: tuple[RunRow, ...]) -> FigureSummary:
    name = spec.name
    counted = [row for row in rows if row.verdict in ("passed", "performance")]
    pairs = [(row.run, value) for row in counted if (value := measured_value(row, name)) is not None]
    values = [value for _, value in pairs]
    summary = describe(values)
    flagged = set(summary.outliers) if summary else set()
    scores = outlier_scores(values) if flagged else []
    middle = summary.median if summary else 0.0
    return FigureSummary(
        spec=spec,
        values=tuple(values),
        summary=summary,
        without_outliers=describe([value for place, value in enumerate(values) if place not in flagged]),
        outliers=tuple(Outlier(pairs[i][0], values[i], scores[i], middle) for i in sorted(flagged)),
        missing=len(counted) - len(values),
    )
