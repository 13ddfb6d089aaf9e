"""Every case of every component in numbers, for the table rows of a report. Start reading at ``summarise``."""

from __future__ import annotations

from msgspec import Struct

from shakedown.metrics.judging.populations import CaseRuns, as_expected, count_verdicts, populations
from shakedown.metrics.judging.scope import ELAPSED
from shakedown.metrics.rows.rows import RunRow, UnavailableRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.statistics import Summary, describe, outlier_scores
from shakedown.model.figures import with_rows
from shakedown.model.nouns import Case, Document, FigureSpec

__all__ = ["ELAPSED", "CaseSummary", "FigureSummary", "Outlier", "in_order_of_record", "run_of_record", "summarise"]


class Outlier(Struct, frozen=True):
    """A run whose value lies far from its case's median: ``score`` is the distance in robust standard deviations, with sign."""

    run: str
    value: float
    score: float
    median: float


class FigureSummary(Struct, frozen=True):
    """A figure over those runs of one case, in one mode, that count: runs that completed correctly and had the machine as their
    mode says. ``summary`` includes outliers, ``without_outliers`` does not. ``missing``: the number of runs that would count but
    gave no value; ``unread``: of these, how many printed one that cannot be read. ``aside``: (run, why its figures do not count).
    ``run_of_record``: the run whose value stands for the case in a score of one run.
    """

    spec: FigureSpec
    values: tuple[float, ...]
    summary: Summary | None
    without_outliers: Summary | None
    outliers: tuple[Outlier, ...]
    missing: int
    mode: str = ""
    aside: tuple[tuple[str, str], ...] = ()
    run_of_record: str = ""
    unread: int = 0

    @property
    def shown(self) -> bool:
        """Whether there is something to show: values, or runs whose value cannot be read."""
        return self.summary is not None or self.unread > 0


class CaseSummary(Struct, frozen=True):
    """One case of one component. ``rows``: the verdicts in force, without those of ``warm_ups``. ``figures``: the run time first;
    each figure appears once for each mode of the component.
    """

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
    warm_ups: tuple[RunRow, ...] = ()


def run_of_record(case: CaseRuns, figure: str) -> RunRow | None:
    """Purpose: the run whose value stands for a case: the first run that counts, in the order in which results were first ordered.

    So nobody can choose the best run afterwards, and no later run changes it.
    """
    rows = [row for row, _ in case.values(figure)]
    return min(rows, key=in_order_of_record, default=None)


def in_order_of_record(row: RunRow) -> tuple[int, int]:
    """The sort key of runs of a case, of which the run of record is the first: result number, then attempt number."""
    return row.result, row.attempt


def summarise(document: Document, record: Record) -> tuple[CaseSummary, ...]:
    """Purpose: every case of every component, in the order of the plan, with unavailable cases at their places. Cases that a ladder
    spares are left out.
    """
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
            elif name in missing:  # otherwise the ladder spares this case
                found.append(_missing(component.name, cases.get(name) or Case(name, name, ""), missing[name]))
    return tuple(found)


def _summary(component: str, runs: CaseRuns, specs: tuple[FigureSpec, ...]) -> CaseSummary:
    shown = with_rows(specs, (name for row in runs.rows for name in row.figures))
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
        figures=tuple(_figure(spec, mode, runs) for spec in (ELAPSED, *shown) for mode, _ in runs.wanted),
        warm_ups=runs.warm_ups,
    )


def _missing(component: str, case: Case, row: UnavailableRow) -> CaseSummary:
    return CaseSummary(component, case, 0, 0, 0, 0, 0, 0, (), (), (), row)


def _figure(spec: FigureSpec, mode: str, runs: CaseRuns) -> FigureSummary:
    mine = runs.of_mode(mode)
    pairs = mine.values(spec.name)
    values = [value for _, value in pairs]
    summary = describe(values)
    flagged = set(summary.outliers) if summary else set()
    scores = outlier_scores(values) if flagged else []
    middle = summary.median if summary else 0.0
    right = [row for row in mine.rows if row.verdict in ("passed", "performance")]
    aside = tuple((row.run, runs.aside[row.run]) for row in right if row.run in runs.aside)
    record = run_of_record(mine, spec.name)
    return FigureSummary(
        spec=spec,
        values=tuple(values),
        summary=summary,
        without_outliers=describe([value for place, value in enumerate(values) if place not in flagged]),
        outliers=tuple(Outlier(pairs[i][0].run, values[i], scores[i], middle) for i in sorted(flagged)),
        missing=len(right) - len(aside) - len(values),
        mode=mode,
        aside=aside,
        run_of_record=record.run if record else "",
        unread=sum(_is_unread(row, spec.name) for row in right if row.run not in runs.aside),
    )


def _is_unread(row: RunRow, figure: str) -> bool:
    begins = f"figure {figure}: "
    return figure not in row.figures and any(problem.startswith(begins) for problem in row.problems)
