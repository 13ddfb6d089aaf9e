"""The CSV files on nodes, computed from the runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shakedown.diagnosis.node_report import NodesExamined
from shakedown.report.tables.csv_files import Cell, to_csv

Rows = Iterable[Sequence[Cell]]

_FINDINGS = (
    "kind", "figure", "nodes", "p", "hits", "count", "elsewhere_hits", "elsewhere_count", "ratio", "sentence", "advice", "runs",
)  # fmt: skip
_NODES = (
    "node", "runs", "counted", "failed", "node_fail", "failure_rate", "timed", "slowness", "hours", "excluded", "findings",
    "left_out",
)  # fmt: skip


def node_tables(nodes: NodesExamined) -> dict[str, bytes]:
    """Purpose: the tables by their file names."""
    return {
        "node-findings.csv": to_csv(_FINDINGS, _findings(nodes)),
        "node-runs.csv": to_csv(_NODES, _nodes(nodes)),
    }


def _findings(nodes: NodesExamined) -> Rows:
    for one in nodes.findings:
        yield (
            one.kind, one.figure, one.nodes, one.p, one.on_it.hits, one.on_it.of, one.elsewhere.hits, one.elsewhere.of, one.ratio,
            one.sentence, one.advice, " ".join(one.evidence),
        )  # fmt: skip


def _nodes(nodes: NodesExamined) -> Rows:
    for row in nodes.nodes:
        yield (
            row.node, row.runs, row.counted, row.failed, row.node_fail, row.failure_rate, row.timed, row.slowness,
            row.hours, row.excluded, " ".join(row.findings), row.left_out,
        )  # fmt: skip
