"""The CSV file of scores: one line per part, with every input, so that the number can be recomputed by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.scores.results import PartResult
from shakedown.report.tables.csv_files import Cell

SCORES = (
    "score", "kind", "value", "unit", "interval_low", "interval_high", "must", "settled", "reason", "mean", "part", "place",
    "group", "component", "test", "case", "mode", "figures", "run", "runs", "given", "part_value", "part_unit", "result", "share",
    "if_faster", "faster_by", "needs_factor", "to_come", "missing", "tflop", "reference", "law", "n", "nodes", "tasks", "threads",
    "baseline_value", "baseline_n", "baseline_nodes", "baseline_tasks", "baseline_threads", "system_nodes", "rule", "formula",
    "proposed", "over_proposed", "score_proposed",
)  # fmt: skip


def score_rows(scorecard: Scorecard) -> Iterable[Sequence[Cell]]:
    """Purpose: the lines of scores.csv; numbers with every digit."""
    for score in scorecard.scores:
        low, high = score.interval or (None, None)
        nodes = dict(score.nodes)
        for one in score.parts:
            yield (
                score.name, score.kind, score.value, score.unit, low, high, score.must, score.settled, score.reason, score.mean,
                *_part(one), score.faster, one.needs, one.to_come, one.missing, *_asked(one), nodes.get(one.part.place),
                score.rule, score.formula, one.part.proposed or None, one.over, score.proposed,
            )  # fmt: skip


def _part(one: PartResult) -> Sequence[Cell]:
    part = one.part
    figures = " ".join(f"{name}={weight:g}" for name, weight in part.figures)
    return (
        one.label, part.place, part.group, part.component, part.test, part.case, part.mode, figures, one.run, one.runs,
        one.given, one.value, one.unit, one.result, one.share, one.if_faster,
    )  # fmt: skip


def _asked(one: PartResult) -> Sequence[Cell]:
    """What the part ran on, and what it is compared with; None where nothing is given."""
    part, old = one.part, one.part.baseline
    load = (part.load.size, part.load.nodes, part.load.tasks, part.load.threads)
    before = (part.baseline_value, old.size, old.nodes, old.tasks, old.threads) if old else (None,) * 5
    return (part.tflop or None, part.reference or None, part.law, *(value or None for value in load), *before)
