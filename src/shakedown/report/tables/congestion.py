"""The CSV file of congestion: a line for each quantity that was measured with and without a load on the network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shakedown.metrics.congestion import Congestion
from shakedown.report.tables.csv_files import Cell

CONGESTION = (
    "component", "case", "mode", "quantity", "unit", "better", "n", "isolated", "congested", "impact",
    "isolated_p99", "congested_p99", "impact_p99",
)  # fmt: skip


def congestion_rows(every: Iterable[Congestion]) -> Iterable[Sequence[Cell]]:
    """Purpose: the lines of congestion.csv; numbers with every digit."""
    for one in every:
        yield (
            one.component, one.case, one.mode, one.quantity, one.unit, one.better, one.count, one.isolated, one.congested,
            one.impact, one.isolated_p99, one.congested_p99, one.impact_p99,
        )  # fmt: skip
