"""The CSV file of changes: a line for each case that a criterion on a change looks at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shakedown.metrics.judging.since import Asked
from shakedown.report.tables.csv_files import Cell

CHANGES = (
    "component", "criterion", "against", "case", "mode", "figure", "unit", "n_before", "before", "failed_before", "n_after",
    "after", "failed_after", "worse_by", "interval_low", "interval_high", "chance", "corrected", "compared", "smallest", "outcome",
    "reason", "runs_before", "runs_after",
)  # fmt: skip


def change_rows(changes: Iterable[Asked]) -> Iterable[Sequence[Cell]]:
    """Purpose: the lines of changes.csv; numbers with every digit. Where no comparison is possible, one line says why."""
    for asked in changes:
        looked = asked.looked
        head = (asked.component, asked.criterion, looked.against)
        if looked.trouble:
            yield (*head, *("",) * 4, *(None,) * 12, asked.least, "undecided", looked.trouble, "", "")
        for look in looked.looks:
            before, after = look.means or (None, None)
            failed: tuple[int | None, int | None] = (None, None)
            failed = failed if look.figure else (look.before.failed, look.after.failed)
            yield (
                *head, look.case, look.mode, look.figure, look.unit, look.before.count, before, failed[0], look.after.count, after,
                failed[1], look.worse_by, look.low, look.high, look.chance, look.corrected, looked.compared, asked.least,
                look.outcome, look.reason, " ".join(look.before.runs), " ".join(look.after.runs),
            )  # fmt: skip
