"""Open issues of the ledger in the outcome: those of the plan's severities restrict it; accepted issues stay listed."""

from __future__ import annotations

from collections.abc import Sequence

from shakedown.metrics.issues import Issue
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import some


def restriction_of(one: Issue) -> str:
    """Purpose: an issue in words: "issue 41 (major, pause for vendor: the switch is replaced) is open"."""
    return f"issue {one.number} ({one.severity}, {one.kind}: {one.what}) is open"


def issues_beside(outcome: str, open_issues: Sequence[Issue]) -> str:
    """Purpose: the part of the summary about issues that restrict; "" if there are none or nothing is accepted."""
    if not open_issues or not outcome.startswith("accepted"):
        return ""
    count = len(open_issues)
    names = some([str(one.number) for one in open_issues])
    return f"; {count} open issue{'s restrict' if count > 1 else ' restricts'} it (event{'s' if count > 1 else ''} {names})"


def accepted_issues(record: Record) -> list[str]:
    """Purpose: a sentence for each issue that a person accepted as it is; these stay on the page."""
    return [
        f"issue {row.name} ({row.asked}) is accepted as it is by {row.by}, because {row.reason}"
        for row in record.waivers
        if row.what == "issue"
    ]
