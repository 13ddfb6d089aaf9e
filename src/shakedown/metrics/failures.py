"""Failures by class: the class of each failed run, the runs of each class, and unclassified runs grouped by similar lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from shakedown.checks.classify.ending import of_verdict
from shakedown.checks.classify.likeness import likeness
from shakedown.metrics.rows.rows import RunRow
from shakedown.model.events import SPARED, UNDETERMINED, Event
from shakedown.model.failures import UNCLASSIFIED, Failure

NO_FAILURE = frozenset({"passed", SPARED, UNDETERMINED})  # verdicts without a class of failure
_REASON_TELLS = frozenset(
    {"timeout", "node_fail", "interrupted", "cancelled", "submit_failed", "build_failed", "not_run", "lost"}
)


class FailureGroup(Struct, frozen=True):
    """Runs that failed in the same way. ``key``: "" for a class; for unclassified runs, the common form of their lines.

    ``tests`` and ``nodes``: names with their numbers of runs, the most frequent first. ``first``, ``last``: times of verdicts.
    """

    name: str
    family: str
    key: str
    runs: tuple[str, ...]
    tests: tuple[tuple[str, int], ...]
    nodes: tuple[tuple[str, int], ...]
    verdicts: tuple[tuple[str, int], ...]
    first: float
    last: float
    line: str

    @property
    def count(self) -> int:
        return len(self.runs)


def failure_fields(event: Event) -> dict[str, Any]:
    """Purpose: the fields of a run's row about its failure, taken from its verdict; empty strings if the run passed.

    A verdict that was given without output names no class: the class then follows from the verdict and the scheduler's message.
    """
    failure = failure_of(event)
    if failure is None:
        return {"failure_class": "", "failure_family": "", "failure_line": ""}
    return {"failure_class": failure.name, "failure_family": failure.family, "failure_line": failure.line}


def failure_of(event: Event) -> Failure | None:
    """Purpose: the class of failure of the run that a verdict is about; None if it passed."""
    value = event.value
    verdict = str(value.get("verdict", ""))
    said = value.get("failure")
    if verdict in NO_FAILURE:
        return None
    if isinstance(said, Mapping) and said.get("class"):
        return _said(said)
    status = value.get("exit")
    words = str(value.get("message") or value.get("words") or "")
    if not words and verdict in _REASON_TELLS:
        words = event.reason
    known = status if isinstance(status, int) and not isinstance(status, bool) else None
    return of_verdict(verdict, words, known) or Failure(UNCLASSIFIED, "unknown")


def _said(said: Mapping[str, Any]) -> Failure:
    return Failure(
        str(said["class"]), str(said.get("family", "")), str(said.get("line", "")), str(said.get("source", ""))
    )


def by_class(rows: Iterable[RunRow], tests: Mapping[str, str]) -> list[FailureGroup]:
    """Purpose: the failed runs grouped by class, the commonest first. ``tests``: case -> its test."""
    return _group([((row.cause, ""), row) for row in rows if row.cause], tests)


def by_likeness(rows: Iterable[RunRow], tests: Mapping[str, str]) -> list[FailureGroup]:
    """Purpose: the unclassified runs grouped by similar lines, the commonest first."""
    mine = [row for row in rows if row.cause == UNCLASSIFIED]
    return _group([((UNCLASSIFIED, likeness(row.failure_line)), row) for row in mine], tests)


def _group(keyed: Sequence[tuple[tuple[str, str], RunRow]], tests: Mapping[str, str]) -> list[FailureGroup]:
    groups: dict[tuple[str, str], list[RunRow]] = {}
    for key, row in keyed:
        groups.setdefault(key, []).append(row)
    found = [_one(key, rows, tests) for key, rows in groups.items()]
    return sorted(found, key=lambda group: (-group.count, group.name, group.key))


def _one(key: tuple[str, str], rows: Sequence[RunRow], tests: Mapping[str, str]) -> FailureGroup:
    name, alike = key
    times = [row.time for row in rows]
    return FailureGroup(
        name=name,
        family=rows[0].cause_family,
        key=alike,
        runs=tuple(row.run for row in rows),
        tests=_counted(tests.get(row.case, row.case) for row in rows),
        nodes=_counted(row.nodes for row in rows if row.nodes),
        verdicts=_counted(row.verdict for row in rows),
        first=min(times),
        last=max(times),
        line=next((row.failure_line for row in rows if row.failure_line), ""),
    )


def _counted(names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))
