"""Shorten a verdict until it fits into an event: details, problems and the excerpt, never figures; a problem says so.

``trim`` is the entry point. Parts left out are still in the kept output, where ``rejudge`` finds them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from shakedown.checks.text import cut
from shakedown.model.events import VALUE_LIMIT
from shakedown.model.ports import CheckResult, JobReport

OTHER_FACTS = 800  # bytes that the rest of a verdict's value takes, without node list and output
_BESIDE_FIGURES = 1000  # bytes that checks, problems and excerpt have where the figures take all the room
TRIMMED = "this verdict was shortened to fit the record; the whole evidence is in the output"


@dataclass(frozen=True, slots=True)
class _Measure:
    """How much of each part may stay, in characters and counts."""

    excerpt: int
    detail: int
    text: int
    problem: int
    problems: int
    checks: int


_MEASURES = (
    _Measure(excerpt=800, detail=200, text=200, problem=200, problems=12, checks=1000),
    _Measure(excerpt=400, detail=120, text=120, problem=150, problems=8, checks=40),
    _Measure(excerpt=200, detail=80, text=80, problem=120, problems=4, checks=12),
    _Measure(excerpt=0, detail=60, text=60, problem=100, problems=2, checks=4),
    _Measure(excerpt=0, detail=30, text=40, problem=60, problems=1, checks=1),
    _Measure(excerpt=0, detail=0, text=0, problem=0, problems=0, checks=0),
)


def room_for(report: JobReport) -> int:
    """The bytes that judging may use of an event's value; the facts of the report need the rest."""
    return max(0, VALUE_LIMIT - OTHER_FACTS - size(report.nodes) - size(report.output))


def size(value: Any) -> int:
    """Bytes as JSON."""
    return len(msgspec.json.encode(value))


def trim(
    value: dict[str, Any], checks: tuple[CheckResult, ...], problems: tuple[str, ...], excerpt: str, room: int
) -> tuple[tuple[CheckResult, ...], tuple[str, ...], str]:
    """Purpose: checks, problems and excerpt, shortened step by step until ``value`` with them takes at most ``room`` bytes."""
    if size(value) <= room:
        return checks, problems, excerpt
    fixed = size({key: part for key, part in value.items() if key not in ("checks", "problems", "excerpt")})
    if fixed > room:  # by its figures alone, which are kept: no less of the rest makes it fit
        room = fixed + _BESIDE_FIGURES
    for measure in _MEASURES:
        shorter = _apply(measure, checks, problems, excerpt)
        rows = [[check.text, check.held, check.detail] for check in shorter[0]]
        if fixed + size({"checks": rows, "problems": shorter[1], "excerpt": shorter[2]}) <= room:
            break
    return shorter


def _apply(
    measure: _Measure, checks: tuple[CheckResult, ...], problems: tuple[str, ...], excerpt: str
) -> tuple[tuple[CheckResult, ...], tuple[str, ...], str]:
    said = [TRIMMED]
    kept_checks = [_shorter(check, measure) for check in _most_telling(checks, measure.checks)]
    if len(kept_checks) < len(checks):
        said.append(f"{len(checks) - len(kept_checks)} of {len(checks)} checks are not listed")
    if len(problems) > measure.problems:
        said.append(f"{len(problems) - measure.problems} of {len(problems)} problems are not listed")
    kept_problems = [cut(problem, measure.problem) for problem in problems[: measure.problems]]
    kept_excerpt = excerpt[-measure.excerpt :] if measure.excerpt else ""
    return tuple(kept_checks), (*kept_problems, *said), kept_excerpt


def _most_telling(checks: tuple[CheckResult, ...], most: int) -> list[CheckResult]:
    """At most ``most`` checks in the order written; checks that hold are dropped first."""
    if len(checks) <= most:
        return list(checks)
    ranked = sorted(range(len(checks)), key=lambda i: (checks[i].held is True, i))
    return [checks[i] for i in sorted(ranked[:most])]


def _shorter(check: CheckResult, measure: _Measure) -> CheckResult:
    return CheckResult(cut(check.text, measure.text), check.held, cut(check.detail, measure.detail))
