"""The examination of a campaign's nodes, computed once for each state of its record."""

from __future__ import annotations

from shakedown.diagnosis.node_report import NodesExamined, examine_nodes
from shakedown.events.campaigns import read_document
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.queries.folds import Folds
from shakedown.report.reading import plan_in_force, refuse_no_log


def nodes_of(layout: Layout, folds: Folds) -> tuple[NodesExamined, int]:
    """Purpose: what all runs say about the nodes, and the last event that was read.

    Errors: UsageError where it is not a campaign, RecordError where its log or its frozen plan is damaged or missing.
    """
    refuse_no_log(layout)
    digest = plan_in_force(layout, folds.record())

    def work() -> NodesExamined:
        return examine_nodes(thaw(read_document(layout, digest)), folds.whole_record())

    return folds.answer("nodes", NodesExamined, work), folds.record().seq
