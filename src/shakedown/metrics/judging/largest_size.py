"""The measure ``largest size``: the size up to which a component's ladders hold; the round with the smallest such size counts."""

from __future__ import annotations

from shakedown.metrics.judging.populations import Population
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.ladders import LadderRow, ladders_of
from shakedown.model.judging import Criterion


def largest_size(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """Purpose: the largest size that holds in every round. While a ladder is climbed, it may still be any size below the smallest
    that fails. In a climb that can no longer be completed and was repeated, sizes that failed still count.
    """
    rows = ladders_of(around.component, around.document, around.record)
    rows = [row for row in rows if criterion.test in ("", row.test)]
    if not rows:
        why = "the component has no ladder" if around.component.ladder is None else "no size of it can run here"
        return Measured(None, 0, "", reason=why, restricted=around.component.ladder is not None)
    least = min(rows, key=_low)
    text = "; ".join(f"{row.label} {row.outcome}" for row in rows)
    newest = max(row.round for row in rows)
    if any(row.lost and row.round == newest for row in rows):
        return Measured(None, 0, text, reason="a size that is needed was spared; run the component again")
    low, high = _low(least), min(map(_high, rows))
    count = sum(rung.state in ("holds", "fails") for row in rows for rung in row.rungs)
    if all(row.over for row in rows):
        return Measured(low, count, text, low, low, whole=True)
    if not count:
        return Measured(None, 0, text, low, high, reason="no size has run yet", whole=True)
    return Measured(low, count, text, low, high, whole=True)


def _low(row: LadderRow) -> float:
    if row.lost:
        return max(
            (float(rung.size) for rung in row.rungs if not row.fails or float(rung.size) < float(row.fails)),
            default=0.0,
        )
    return float(row.holds) if row.holds else 0.0


def _high(row: LadderRow) -> float:
    """The largest size that may still turn out to hold."""
    if row.over:
        return _low(row)
    open_ones = [float(rung.size) for rung in row.rungs if rung.state == "to come"]
    return max([_low(row), *open_ones])
