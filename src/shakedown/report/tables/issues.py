"""The CSV files of the issue ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shakedown.metrics.issues import Issue, by_month
from shakedown.report.tables.csv_files import Cell, to_csv

Rows = Iterable[Sequence[Cell]]
_ISSUES = (
    "kind", "what", "severity", "state", "ticket", "opened", "opened_by", "closed", "closed_by", "restricts", "events",
)  # fmt: skip


def issue_tables(issues: Sequence[Issue]) -> dict[str, bytes]:
    """Purpose: the tables by their file names."""
    months = ((one.month, one.opened, one.closed, one.open) for one in by_month(issues))
    return {
        "issues.csv": to_csv(_ISSUES, _issues(issues)),
        "issues-by-month.csv": to_csv(("month", "opened", "closed", "open_at_its_end"), months),
    }


def _issues(issues: Sequence[Issue]) -> Rows:
    for one in issues:
        events = " ".join(map(str, one.events))
        yield (
            one.kind, one.what, one.severity, one.state, one.ticket, one.opened, one.opened_by, one.closed, one.closed_by,
            one.restricts, events,
        )  # fmt: skip
