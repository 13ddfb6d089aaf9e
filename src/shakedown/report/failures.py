"""What went wrong, told once: runs that failed alike are one entry, with the text of the first run."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shakedown.metrics.cases import CaseSummary
from shakedown.metrics.failures import FailureGroup, by_class, by_likeness
from shakedown.metrics.judging.populations import as_expected
from shakedown.metrics.rows.rows import RunRow
from shakedown.model.failures import UNCLASSIFIED
from shakedown.report.outputs import read_output
from shakedown.report.reading import CampaignRead
from shakedown.report.words import harmless

SHOWN_LIMIT = 60  # entries
EXCERPT_BYTES = 2048
EXCERPT_LINES = 12
_NUMBERS = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Failure:
    """Runs of one case that ended alike: the same verdict and class and, apart from numbers, the same reason.

    ``checks`` are the failed checks of the first run, which ``excerpt`` is from too. ``said_by``: the person who assigned the
    class, "" where it was found automatically; ``ticket``: the tickets that people attached, each with the person's name.
    """

    component: str
    case: str
    verdict: str
    reason: str
    rows: tuple[RunRow, ...]
    checks: tuple[tuple[str, str], ...]
    problems: tuple[str, ...]
    excerpt: str
    expected: str = ""
    failure_class: str = ""
    failure_line: str = ""
    said_by: str = ""
    ticket: str = ""


def find_failures(campaign: CampaignRead, cases: tuple[CaseSummary, ...]) -> tuple[list[Failure], int]:
    """Purpose: everything that did not pass, in groups, expected failures last; and how many groups are not shown."""
    groups: dict[tuple[str, ...], list[RunRow]] = {}
    by_name = {(case.component, case.case.id): case for case in cases}
    for summary in cases:
        for row in summary.rows:
            if row.verdict != "passed":
                alike = _NUMBERS.sub("#", row.reason)
                key = (summary.component, summary.case.id, row.verdict, row.cause, row.said_by, alike)
                groups.setdefault(key, []).append(row)
    found = [(by_name[component, case], rows) for (component, case, *_), rows in groups.items()]
    found.sort(key=lambda item: as_expected(item[1][0], item[0].case))
    shown = [_failure(campaign, summary, rows) for summary, rows in found[:SHOWN_LIMIT]]
    return shown, max(0, len(found) - SHOWN_LIMIT)


def failures_by_class(cases: tuple[CaseSummary, ...]) -> list[FailureGroup]:
    """Purpose: unexpected failures by class; unclassified ones grouped by similar lines.

    A run that counts in several components is in the group of each, as everywhere in the report.
    """
    rows = [row for one in cases for row in one.rows if row.failure_class and not as_expected(row, one.case)]
    tests = {one.case.id: one.case.test for one in cases}
    known = [group for group in by_class(rows, tests) if group.name != UNCLASSIFIED]
    return known + by_likeness(rows, tests)


def _failure(campaign: CampaignRead, summary: CaseSummary, rows: list[RunRow]) -> Failure:
    first = rows[0]
    return Failure(
        component=summary.component,
        case=summary.case.id,
        verdict=first.verdict,
        reason=harmless(first.reason),
        rows=tuple(rows),
        checks=tuple((text, detail) for text, held, detail in first.checks if held is not True)[:8],
        problems=first.problems[:8],
        excerpt=_excerpt(campaign, first),
        expected=summary.case.because if as_expected(first, summary.case) else "",
        failure_class=harmless(first.cause),
        failure_line=harmless(first.failure_line),
        said_by=harmless(first.said_by),
        ticket=harmless(", ".join(sorted({_ticket(row) for row in rows if row.ticket}))),
    )


def _ticket(row: RunRow) -> str:
    """A ticket and the person who attached it: "INC-17 (by Anna)"."""
    return f"{row.ticket} (by {row.ticket_by})" if row.ticket_by else row.ticket


def _excerpt(campaign: CampaignRead, row: RunRow) -> str:
    """The last lines of the output: from the verdict or, where it has none, from the kept output."""
    text = row.excerpt
    if not text and row.output:
        output = read_output(campaign.layout.root, row.output, EXCERPT_BYTES, tail=True)
        text = output.data.decode("utf-8", "replace") or (f"({output.trouble})" if output.trouble else "")
    lines = harmless(text.strip("\n"))[-2 * EXCERPT_BYTES :].split("\n")[-EXCERPT_LINES:]
    return "\n".join(line if len(line) <= 160 else line[:159] + "…" for line in lines).strip("\n")
