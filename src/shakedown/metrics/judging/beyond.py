"""What results came to only because a plan allowed more than the one before it: further attempts, longer runs.

``hold_to`` is the way in, ``is_known`` says where that is all that a plan eases. Without an amendment that allowed more attempts
the further ones would not have been ordered; without one that lengthened a time limit a run that took longer would have been cut
off. That is known, whatever else the runs would have come to.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise

from msgspec.structs import replace

from shakedown.metrics.judging.asked_less import eases_runs
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model.events import COMPLETED
from shakedown.model.nouns import Case, Component, Document

_TIMEOUT = "timeout"
_OF_ITS_OWN = frozenset({"failed", _TIMEOUT})  # never attempted again unless the plan says so


def is_known(old: Document, new: Document) -> bool:
    """Purpose: whether no verdict hangs on what a plan eases, but by its attempts and time limits: how runs come out without it
    is known then. Words that move a clock, shares, evidence, an expected verdict and rows that judge no run change no verdict.
    """
    repeated = {retry.verdict for part in old.components for retry in part.retry}
    if _TIMEOUT in repeated:
        return False  # what would have been cut off would have been attempted again
    before, cases = {part.name: part for part in old.components}, {case.id: case for case in old.cases}
    judging = any(row.verdict for document in (old, new) for contract in document.contracts for row in contract.rows)
    left = replace(
        new,
        components=tuple(_as_was(part, before[part.name]) if part.name in before else part for part in new.components),
        cases=tuple(
            _case_as_was(case, cases[case.id], repeated, judging) if case.id in cases else case for case in new.cases
        ),
        contracts=new.contracts if judging else old.contracts,
    )
    return not eases_runs(old, left)


def _as_was(part: Component, before: Component) -> Component:
    was = {key: getattr(before, key) for key in ("retry", "clock", "fill", "mix", "sweep", "procedures")}
    return replace(part, **was)


def _case_as_was(case: Case, before: Case, repeated: set[str], judging: bool) -> Case:
    shape = replace(case.shape, time_limit_s=before.shape.time_limit_s)
    rows = {} if judging else {"rows": before.rows, "sides": before.sides}
    return replace(case, shape=shape, expect=case.expect if case.expect in repeated else before.expect, **rows)


def hold_to(record: Record, whole: Record, document_of: Callable[[str], Document]) -> None:
    """Purpose: hold the runs of a record without some acts to the plans that are left in force in it. ``whole``: with all acts.

    Attempts that only a plan without effect allows are taken out; a run that only such a plan let last longer timed out.
    """
    if record.documents == whole.documents:
        return
    mine, real = _Plans(record, document_of), _Plans(whole, document_of)
    beyond: set[str] = set()
    for rows in _results(record):
        beyond |= _not_ordered(rows, mine, real)
    record.beyond = {name: sum(row.run in beyond and row.component == name for row in record.current())
                     for name in {row.component for row in record.current() if row.run in beyond}}  # fmt: skip
    last = {row.result for row in record.current() if row.run in beyond}
    kept = (row for row in record.runs if row.run not in beyond)
    record.runs = [_cut_off(replace(row, retried=False) if row.result in last else row, mine, real) for row in kept]
    record.open = {run: row for run, row in record.open.items() if run not in beyond}
    record._place = {row.run: place for place, row in enumerate(record.runs) if not row.superseded_by}


class _Plans:
    """The plans of a record as they came into force."""

    def __init__(self, record: Record, document_of: Callable[[str], Document]) -> None:
        self.since = [epoch.seq for epoch in record.epochs if epoch.opened_by == "amended"]
        self.documents = [document_of(digest) for digest in record.documents if digest]
        self.parts = [{part.name: part for part in document.components} for document in self.documents]
        self.cases = [{case.id: case for case in document.cases} for document in self.documents]

    def _place(self, event: int) -> int:
        return min(bisect_right(self.since, event), len(self.documents) - 1)

    def times(self, row: RunRow, event: int) -> int | None:
        """How often the plan in force at an event attempts again what ended like this run; None where that is its usual number."""
        part: Component | None = self.parts[self._place(event)].get(row.component)
        said = {retry.verdict: retry.times for retry in part.retry} if part is not None else {}
        return said.get(row.verdict, 0 if row.verdict in _OF_ITS_OWN else None)

    def limit_s(self, row: RunRow) -> float | None:
        """The time limit of a run in the plan in force when it was ordered."""
        case = self.cases[self._place(row.ordered_by)].get(row.case)
        return case.shape.time_limit_s if case is not None else None


def _results(record: Record) -> Iterator[list[RunRow]]:
    """The attempts at each wanted result that has several, in their order."""
    found: dict[int, list[RunRow]] = {}
    for row in record.current():
        found.setdefault(row.result, []).append(row)
    yield from (sorted(rows, key=lambda row: row.attempt) for rows in found.values() if len(rows) > 1)


def _not_ordered(rows: list[RunRow], mine: _Plans, real: _Plans) -> set[str]:
    """The attempts after the first one that the plans left in force would not have had ordered, and the plans of the record did."""
    spent: dict[str, int] = {}
    for place, (row, after) in enumerate(pairwise(rows), 1):
        spent[row.verdict] = spent.get(row.verdict, 0) + 1
        allowed, did = mine.times(row, after.ordered_by), real.times(row, after.ordered_by)
        if allowed is not None and after.ordered_by and allowed < spent[row.verdict] <= (did or 0):
            return {later.run for later in rows[place:]}
    return set()


def _cut_off(row: RunRow, mine: _Plans, real: _Plans) -> RunRow:
    if row.verdict not in COMPLETED or row.elapsed_s is None or not row.ordered_by:
        return row
    limit, was = mine.limit_s(row), real.limit_s(row)
    if limit and was and limit < row.elapsed_s <= was:
        return replace(
            row, verdict=_TIMEOUT, figures={}, reason=f"{row.reason}; longer than the time limit that was agreed to"
        )
    return row
