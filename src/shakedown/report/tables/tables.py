"""Every table of the report as CSV, with every digit: what a reader needs to recompute each number.

``make_tables`` is the table of contents. Times are seconds since 1970 by the driver's clock, in UTC. ``recipes`` says in words what
each table holds and how to recompute its numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shakedown.metrics.cases import CaseSummary, FigureSummary
from shakedown.metrics.judging.populations import counts_as_passed
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.judging.wording import left_out_text
from shakedown.metrics.requirements import Requirement, requirements
from shakedown.metrics.rows.table import Record
from shakedown.model.figures import figure_of
from shakedown.model.nouns import Document
from shakedown.report.evidence import Evidence, counted_values
from shakedown.report.figures.pairs import NodeMedian
from shakedown.report.tables.csv_files import Cell, to_csv
from shakedown.report.tables.recipes import TABLES


def make_tables(evidence: Evidence, nodes: list[NodeMedian]) -> dict[str, bytes]:
    """Purpose: every table by its file name, in the order of ``recipes.TABLES``, and a README.txt that describes them."""
    from shakedown.report.tables.changes import CHANGES, change_rows
    from shakedown.report.tables.congestion import CONGESTION, congestion_rows
    from shakedown.report.tables.issues import issue_tables
    from shakedown.report.tables.judging import judging_tables
    from shakedown.report.tables.nodes import node_tables
    from shakedown.report.tables.scaling import SCALING, scaling_rows
    from shakedown.report.tables.scores import SCORES, score_rows
    from shakedown.report.tables.stability import stability_tables
    from shakedown.report.tables.time_spent import time_tables
    from shakedown.report.tables.toolchains import TOOLCHAINS, toolchain_rows

    document, record, scorecard = evidence.document, evidence.record, evidence.scorecard
    tables: dict[str, bytes] = {
        "criteria.csv": to_csv(_CRITERIA, _criteria(scorecard)),
        "criteria-by-case.csv": to_csv(_BY_CASE, _by_case(scorecard)),
        "scores.csv": to_csv(SCORES, score_rows(scorecard)),
        "deadlines.csv": to_csv(
            ("component", "planned", "kept", "late_s", "state", "first", "late_of_first_s"), _deadlines(evidence)
        ),
        "requirements.csv": to_csv(_REQUIREMENTS, _requirements(requirements(document, record, scorecard))),
        "ladders.csv": to_csv(_LADDERS, _ladders(scorecard)),
        "scaling.csv": to_csv(SCALING, scaling_rows(evidence.scaling)),
        "changes.csv": to_csv(CHANGES, change_rows(evidence.changes)),
        "toolchains.csv": to_csv(TOOLCHAINS, toolchain_rows(evidence.toolchains)),
        "congestion.csv": to_csv(CONGESTION, congestion_rows(evidence.congestion)),
        "components.csv": to_csv(_COMPONENTS, _components(scorecard)),
        "cases.csv": to_csv(_CASES, _cases(evidence.cases)),
        "figures.csv": to_csv(_FIGURES, _figures(evidence.cases)),
        "runs.csv": to_csv(_RUNS, _runs(evidence)),
        "values.csv": to_csv(_VALUES, _values(evidence)),
        "unavailable.csv": to_csv(("component", "case", "reason", "event"), _unavailable(scorecard)),
        "builds.csv": to_csv(_BUILDS, _builds(document, record)),
        "notes.csv": to_csv(("event", "kind", "time", "run", "case", "reason"), _notes(record)),
        "sources.csv": to_csv(("path", "sha256"), ((source.path, source.sha256) for source in document.sources)),
        "nodes.csv": to_csv(_NODES, _nodes(nodes)),
    }
    tables |= judging_tables(evidence) | stability_tables(evidence) | node_tables(evidence.nodes)
    tables |= time_tables(evidence.spent, evidence.availability) | issue_tables(evidence.issues)
    return {name: tables[name] for name in TABLES} | {"README.txt": _readme()}


def _readme() -> bytes:
    return "".join(f"{name}\n    {about}\n\n" for name, about in TABLES.items()).encode()


_CRITERIA = (
    "component", "criterion", "measure", "must", "outcome", "measured", "bound", "unit", "count", "enough",
    "interval_low", "interval_high", "worst_case", "arithmetic", "reason", "basis", "clause", "mode", "left_out",
    "measured_before", "without_waiver", "restriction", "waived_by",
)  # fmt: skip
_REQUIREMENTS = (
    "clause", "text", "kind", "component", "name", "what", "must", "measured", "count", "margin", "margin_to_lower",
    "margin_to_upper", "points", "outcome", "waiver", "reason", "first_text", "changed_by",
)  # fmt: skip
_LADDERS = (
    "component", "test", "ladder", "along", "size", "case", "state", "runs", "value", "figure", "within", "why", "over",
)  # fmt: skip
_BY_CASE = ("component", "criterion", "case", "outcome", "measured", "unit", "count", "arithmetic", "reason")
_COMPONENTS = (
    "component", "kind", "outcome", "wanted", "judged", "passed", "to_come", "attempts", "given_up", "as_expected",
    "unavailable", "warm_ups", "undetermined",
)  # fmt: skip
_CASES = (
    "component", "case", "test", "partition", "toolchain", "nodes", "ranks", "cores_per_rank", "wanted", "judged",
    "passed", "attempts", "given_up",
    "as_expected", "expected", "verdicts", "unavailable",
)  # fmt: skip
_FIGURES = (
    "component", "case", "mode", "figure", "unit", "better", "n", "missing", "mean", "sd", "median", "min", "max",
    "lower_quartile", "upper_quartile", "median_absolute_deviation", "mean_low_95", "mean_high_95", "median_low_95",
    "median_high_95", "outliers", "mean_without_outliers", "sd_without_outliers", "run_of_record",
)  # fmt: skip
_RUNS = (
    "run", "component", "test", "case", "mode", "repeat", "attempt", "result", "verdict", "reason", "event", "supersedes",
    "superseded_by", "epoch", "counted", "good", "ruling", "aside", "started", "ended", "elapsed_s", "exit", "nodes", "job",
    "retried", "output", "failure_class", "failure_family", "failure_line", "judged_by", "judged_because",
    "classified_by", "ticket", "ticket_by",
)  # fmt: skip
_VALUES = (
    "run", "component", "test", "case", "mode", "epoch", "figure", "value", "unit", "event", "superseded_by", "counts",
    "outlier",
)  # fmt: skip
_BUILDS = ("key", "name", "state", "elapsed_s", "log", "reason", "event")
_NODES = ("case", "run", "matrix", "node", "median", "unit", "robust_deviations", "outlier")


def _criteria(scorecard: Scorecard) -> Iterable[Sequence[Cell]]:
    for component in scorecard.components:
        for item in component.criteria:
            low, high = item.interval or (None, None)
            yield (
                component.name, item.name, item.measure, item.must, item.outcome, item.measured, item.bound, item.unit,
                item.count, item.enough, low, high, item.worst_case, item.arithmetic, item.reason, item.basis,
                item.clause, item.mode, left_out_text(item.left_out), item.measured_before, item.beneath, item.waiver,
                item.waived_by,
            )  # fmt: skip


def _by_case(scorecard: Scorecard) -> Iterable[Sequence[Cell]]:
    for component in scorecard.components:
        for item in component.criteria:
            for case in item.cases:
                yield (
                    component.name, item.name, case.case, case.outcome, case.measured, item.unit, case.count,
                    case.arithmetic, case.reason,
                )  # fmt: skip


def _deadlines(evidence: Evidence) -> Iterable[Sequence[Cell]]:
    for one in evidence.deadlines:
        yield one.component, one.planned, one.kept, one.late_s, one.state, one.first, one.late_of_first_s


def _requirements(every: Iterable[Requirement]) -> Iterable[Sequence[Cell]]:
    for one in every:
        sides = dict(one.margins)
        yield (
            one.clause, one.text, one.kind, one.component, one.name, one.what, one.must, one.measured, one.count, one.margin,
            sides.get("lower"), sides.get("upper"), one.points, one.outcome, one.waiver, one.reason,
            one.first_text, one.changed_by,
        )  # fmt: skip


def _ladders(scorecard: Scorecard) -> Iterable[Sequence[Cell]]:
    for row in [row for component in scorecard.components for row in component.ladders]:
        for rung in row.rungs:
            yield (
                row.component, row.test, row.label, row.along, rung.size, rung.case, rung.state, rung.runs, rung.value,
                row.figure, row.within or None, rung.why, row.over,
            )  # fmt: skip


def _components(scorecard: Scorecard) -> Iterable[Sequence[Cell]]:
    for one in scorecard.components:
        yield (
            one.name, one.kind, one.outcome, one.wanted, one.judged, one.passed, one.to_come, one.attempts, one.given_up,
            one.as_expected, len(one.unavailable), one.warm_ups, len(one.undetermined),
        )  # fmt: skip


def _cases(cases: tuple[CaseSummary, ...]) -> Iterable[Sequence[Cell]]:
    for one in cases:
        verdicts = " ".join(f"{name}={count}" for name, count in one.verdicts)
        yield (
            one.component, one.case.id, one.case.test, one.case.partition, one.case.toolchain,
            one.case.shape.nodes, one.case.shape.ranks, one.case.shape.cpus_per_task, one.wanted, one.judged,
            one.passed, one.attempts, one.given_up, one.as_expected, one.case.expect, verdicts,
            one.unavailable.reason if one.unavailable else "",
        )  # fmt: skip


def _figures(cases: tuple[CaseSummary, ...]) -> Iterable[Sequence[Cell]]:
    for case in cases:
        for figure in case.figures:
            if figure.shown:
                yield (case.component, case.case.id, figure.mode, *_figure(figure))


def _figure(figure: FigureSummary) -> Sequence[Cell]:
    numbers, without, spec = figure.summary, figure.without_outliers, figure.spec
    if numbers is None:
        return (spec.name, spec.unit, spec.better, 0, figure.missing, *[None] * 16)
    low, high = numbers.interval or (None, None)
    middle = numbers.median_interval or (None, None)
    return (
        spec.name, spec.unit, spec.better, numbers.count, figure.missing, numbers.mean, numbers.sd, numbers.median,
        numbers.lowest, numbers.highest, numbers.lower_quartile, numbers.upper_quartile, numbers.deviation, low, high,
        *middle, " ".join(outlier.run for outlier in figure.outliers), without.mean if without else None,
        without.sd if without else None, figure.run_of_record,
    )  # fmt: skip


def _runs(evidence: Evidence) -> Iterable[Sequence[Cell]]:
    """Every verdict, and how the report counted it."""
    cases = {(case.component, case.case.id): case for case in evidence.cases}
    counted = {row.seq for case in evidence.cases for row in case.rows}
    aside = {run: why for case in evidence.cases for figure in case.figures for run, why in figure.aside}
    for row in evidence.record.runs:
        case = cases.get((row.component, row.case))
        yield (
            row.run, row.component, case.case.test if case else "", row.case, row.mode, row.repeat, row.attempt,
            row.result, row.verdict, row.reason, row.seq, row.supersedes or None, row.superseded_by or None, row.epoch,
            row.seq in counted, case is not None and counts_as_passed(row, case.case), row.ruling, aside.get(row.run, ""),
            row.started, row.over, row.elapsed_s, row.exit, row.nodes, row.job, row.retried,
            " ".join(f"{key}={value}" for key, value in row.output.items() if not isinstance(value, dict | list)),
            row.cause, row.cause_family, row.failure_line, row.judged_by, row.judged_because, row.said_by, row.ticket,
            row.ticket_by,
        )  # fmt: skip


def _values(evidence: Evidence) -> Iterable[Sequence[Cell]]:
    """Every value of every verdict, including the run time, and whether it is in the summary of its figure and is an outlier."""
    tests = {case.id: case.test for case in evidence.document.cases}
    units = {(test.name, spec.name): spec.unit for test in evidence.document.tests for spec in test.figures}
    counts: dict[tuple[int, str], bool] = {}
    for case in evidence.cases:
        for figure in case.figures:
            far = {outlier.run for outlier in figure.outliers}
            counts |= {(row.seq, figure.spec.name): row.run in far for row, _ in counted_values(case, figure)}
    for row in evidence.record.runs:
        own = {"elapsed": row.elapsed_s} if row.elapsed_s is not None else {}
        for name, value in {**own, **row.figures}.items():
            unit = "s" if name == "elapsed" else units.get((tests.get(row.case, ""), figure_of(name)), "")
            mine = (row.run, row.component, tests.get(row.case, ""), row.case, row.mode, row.epoch, name, value, unit)
            key = (row.seq, name)
            yield (*mine, row.seq, row.superseded_by or None, key in counts, counts.get(key, False))


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
