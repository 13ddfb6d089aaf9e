"""Every table of the report as CSV, with every digit: what a reader needs to compute each number again.

``make_tables`` is the table of contents. Numbers are written as Python writes them (they read back to the same bits), times
are seconds since 1970 by the driver's clock, in UTC. Text that a spreadsheet would take for a formula gets an apostrophe.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from shakedown.metrics.cases import CaseSummary, FigureSummary
from shakedown.metrics.scorecard import Scorecard
from shakedown.metrics.table import Record
from shakedown.model.nouns import Document
from shakedown.report.draw_pairs import NodeMedian
from shakedown.report.words import harmless

Cell = str | float | int | None
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def make_tables(
    document: Document,
    record: Record,
    scorecard: Scorecard,
    cases: tuple[CaseSummary, ...],
    nodes: list[NodeMedian],
) -> dict[str, bytes]:
    """Purpose: every table by its file name, in the order a reader meets them."""
    return {
        "criteria.csv": _csv(_CRITERIA, _criteria(scorecard)),
        "criteria-by-case.csv": _csv(_BY_CASE, _by_case(scorecard)),
        "components.csv": _csv(_COMPONENTS, _components(scorecard)),
        "cases.csv": _csv(_CASES, _cases(cases)),
        "figures.csv": _csv(_FIGURES, _figures(cases)),
        "runs.csv": _csv(_RUNS, _runs(record)),
        "values.csv": _csv(_VALUES, _values(document, record)),
        "unavailable.csv": _csv(("component", "case", "reason", "event"), _unavailable(scorecard)),
        "builds.csv": _csv(_BUILDS, _builds(document, record)),
        "notes.csv": _csv(("event", "kind", "time", "run", "case", "reason"), _notes(record)),
        "sources.csv": _csv(("path", "sha256"), ((source.path, source.sha256) for source in document.sources)),
        "nodes.csv": _csv(_NODES, _nodes(nodes)),
    }


_CRITERIA = (
    "component", "criterion", "measure", "must", "outcome", "measured", "bound", "unit", "count", "enough",
    "interval_low", "interval_high", "worst_case", "arithmetic", "reason",
)  # fmt: skip
_BY_CASE = ("component", "criterion", "case", "outcome", "measured", "count", "arithmetic", "reason")
_COMPONENTS = (
    "component", "kind", "outcome", "wanted", "judged", "passed", "to_come", "attempts", "given_up", "as_expected",
    "unavailable",
)  # fmt: skip
_CASES = (
    "component", "case", "test", "partition", "toolchain", "wanted", "judged", "passed", "attempts", "given_up",
    "as_expected", "expected", "verdicts", "unavailable",
)  # fmt: skip
_FIGURES = (
    "component", "case", "figure", "unit", "better", "n", "missing", "mean", "sd", "median", "min", "max",
    "lower_quartile", "upper_quartile", "median_absolute_deviation", "mean_low_95", "mean_high_95", "outliers",
    "mean_without_outliers", "sd_without_outliers",
)  # fmt: skip
_RUNS = (
    "run", "component", "case", "repeat", "attempt", "verdict", "reason", "event", "supersedes", "superseded_by", "epoch",
    "started", "ended", "elapsed_s", "exit", "nodes", "job", "retried", "output",
)  # fmt: skip
_VALUES = ("run", "case", "figure", "value", "unit", "event", "superseded_by")
_BUILDS = ("key", "name", "state", "elapsed_s", "log", "reason", "event")
_NODES = ("case", "run", "matrix", "node", "median", "unit", "robust_deviations", "outlier")


def _csv(headings: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    for row in rows:
        writer.writerow([_cell(cell) for cell in row])
    return text.getvalue().encode("utf-8", "backslashreplace")


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str):
        text = harmless(cell)
        return f"'{text}" if text.startswith(_FORMULA) else text
    return repr(cell)


def _criteria(scorecard: Scorecard) -> Iterable[Sequence[Cell]]:
    for component in scorecard.components:
        for item in component.criteria:
            low, high = item.interval or (None, None)
            yield (
                component.name, item.name, item.measure, item.must, item.outcome, item.measured, item.bound, item.unit,
                item.count, item.enough, low, high, item.worst_case, item.arithmetic, item.reason,
            )  # fmt: skip


def _by_case(scorecard: Scorecard) -> Iterable[Sequence[Cell]]:
    for component in scorecard.components:
        for item in component.criteria:
            for case in item.cases:
                yield (
                    component.name, item.name, case.case, case.outcome, case.measured, case.count, case.arithmetic,
                    case.reason,
                )  # fmt: skip


def _components(scorecard: Scorecard) -> Iterable[Sequence[Cell]]:
    for one in scorecard.components:
        yield (
            one.name, one.kind, one.outcome, one.wanted, one.judged, one.passed, one.to_come, one.attempts, one.given_up,
            one.as_expected, len(one.unavailable),
        )  # fmt: skip


def _cases(cases: tuple[CaseSummary, ...]) -> Iterable[Sequence[Cell]]:
    for one in cases:
        verdicts = " ".join(f"{name}={count}" for name, count in one.verdicts)
        yield (
            one.component, one.case.id, one.case.test, one.case.partition, one.case.toolchain, one.wanted, one.judged,
            one.passed, one.attempts, one.given_up, one.as_expected, one.case.expect, verdicts,
            one.unavailable.reason if one.unavailable else "",
        )  # fmt: skip


def _figures(cases: tuple[CaseSummary, ...]) -> Iterable[Sequence[Cell]]:
    for case in cases:
        for figure in case.figures:
            if figure.summary is not None:
                yield (case.component, case.case.id, *_figure(figure))


def _figure(figure: FigureSummary) -> Sequence[Cell]:
    numbers, without, spec = figure.summary, figure.without_outliers, figure.spec
    assert numbers is not None
    low, high = numbers.interval or (None, None)
    return (
        spec.name, spec.unit, spec.better, numbers.count, figure.missing, numbers.mean, numbers.sd, numbers.median,
        numbers.lowest, numbers.highest, numbers.lower_quartile, numbers.upper_quartile, numbers.deviation, low, high,
        " ".join(outlier.run for outlier in figure.outliers), without.mean if without else None,
        without.sd if without else None,
    )  # fmt: skip


def _runs(record: Record) -> Iterable[Sequence[Cell]]:
    for row in record.runs:
        yield (
            row.run, row.component, row.case, row.repeat, row.attempt, row.verdict, row.reason, row.seq,
            row.supersedes or None, row.superseded_by or None, row.epoch, row.started, row.ended, row.elapsed_s, row.exit,
            row.nodes, row.job, row.retried, " ".join(f"{key}={value}" for key, value in row.output.items()),
        )  # fmt: skip


def _values(document: Document, record: Record) -> Iterable[Sequence[Cell]]:
    tests = {case.id: case.test for case in document.cases}
    units = {(test.name, figure.name): figure.unit for test in document.tests for figure in test.figures}
    for row in record.runs:
        for name, value in row.figures.items():
            unit = units.get((tests.get(row.case, ""), name), "")
            yield row.run, row.case, name, value, unit, row.seq, row.superseded_by or None


def _unavailable(scorecard: Scorecard) -> Iterable[Sequence[Cell]]:
    for component in scorecard.components:
        for row in component.unavailable:
            yield row.component, row.case, row.reason, row.seq or None


def _builds(document: Document, record: Record) -> Iterable[Sequence[Cell]]:
    names = {build.key: build.name for build in document.builds}
    for row in record.builds.values():
        yield row.key, names.get(row.key, ""), row.state, row.elapsed_s, row.log, row.reason, row.seq


def _notes(record: Record) -> Iterable[Sequence[Cell]]:
    for note in record.notes:
        yield note.seq, note.kind, note.time, note.run, note.case, note.reason


def _nodes(nodes: list[NodeMedian]) -> Iterable[Sequence[Cell]]:
    for node in nodes:
        yield node.case, node.run, node.matrix, node.node, node.value, node.unit, node.score, node.outlier
