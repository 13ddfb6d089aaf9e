"""Runs that would not have been ordered: without some act, their component's time was up earlier. ``leave_out_late`` is the way in.

A component that runs for a time orders nothing once that time is up. Without a longer duration, or an act that held its clock,
the time was up earlier: runs ordered after that count nowhere, so that more runs cannot dilute the failures of the planned ones.
"""

from __future__ import annotations

import copy
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf

from msgspec import Struct

from shakedown.metrics.clock import time_is_up_at
from shakedown.metrics.rows.table import Record
from shakedown.model.nouns import Document

_MOVES = frozenset({"clock", "again", "amended", "paused", "continued"})  # event kinds that decide when a time is up
_LEAST_S = 1e-3  # shorter differences are rounding errors


class TimesUp(Struct, frozen=True):
    """When the time of a component was up, as known from each of some events on. ``since``: these events, in order; ``moments``:
    the times in seconds since 1970, ``inf`` if it was not up.
    """

    since: tuple[int, ...]
    moments: tuple[float, ...]

    def known_at(self, event: int) -> float:
        """When the time was up, or would be, according to the record at an event."""
        return self.moments[max(0, bisect_right(self.since, event) - 1)]


def times_up(record: Record, document_of: Callable[[str], Document]) -> dict[str, TimesUp]:
    """Purpose: component -> when its time was up, as known event by event; for components that run for a time in any plan."""
    documents = [document_of(digest) for digest in record.documents if digest]
    amended = [0, *(epoch.seq for epoch in record.epochs if epoch.opened_by == "amended")]
    names = dict.fromkeys(part.name for document in documents for part in document.components if part.duration_s)
    return {name: _of_component(name, record, documents, amended) for name in names}


def leave_out_late(record: Record, whole: Mapping[str, TimesUp], document_of: Callable[[str], Document]) -> None:
    """Purpose: remove from a record without some acts the runs that were ordered only because of these acts. ``whole``: the times
    of the record with all acts. A result that was ordered in time keeps its further attempts.
    """
    first: dict[int, tuple[str, float, int]] = {}  # result -> (component, time of its first order, event of that order)
    for result, order in _orders(record):
        if result not in first or order[2] < first[result][2]:
            first[result] = order
    mine = times_up(record, document_of)
    late = {result for result, order in first.items() if _is_late(*order, mine, whole)}
    if late:
        _take_out(record, late, mine)


def _orders(record: Record) -> Iterator[tuple[int, tuple[str, float, int]]]:
    for row in record.runs:
        yield row.result, (row.component, row.ordered or 0.0, row.ordered_by)
    for run in record.open.values():
        yield run.result, (run.component, run.ordered, run.seq)


def _is_late(
    component: str, moment: float, event: int, mine: Mapping[str, TimesUp], whole: Mapping[str, TimesUp]
) -> bool:
    """Whether an order came too late without these acts. One that is too late in the whole record as well does not count."""
    if not event or component not in mine:
        return False
    up = mine[component].known_at(event)
    return moment > up and up < whole[component].known_at(event) - _LEAST_S


def _take_out(record: Record, late: set[int], mine: Mapping[str, TimesUp]) -> None:
    gone = [row for row in record.current() if row.result in late]
    record.late = {name: sum(row.component == name for row in gone) for name in {row.component for row in gone}}
    record.runs = [row for row in record.runs if row.result not in late]
    record.open = {run: row for run, row in record.open.items() if row.result not in late}
    record._place = {row.run: place for place, row in enumerate(record.runs) if not row.superseded_by}
    for name, times in mine.items():
        if times.moments[-1] <= record.last:
            record.time_up = record.time_up | {name: min(times.moments[-1], record.time_up.get(name, inf))}


def _of_component(name: str, record: Record, documents: Sequence[Document], amended: Sequence[int]) -> TimesUp:
    words = [row.seq for row in record.standing if row.kind in _MOVES]
    since, moments = [], []
    for event in sorted({*amended, *words}):
        seen = copy.copy(record)
        seen.standing = [row for row in record.standing if row.seq <= event]
        document = documents[max(place for place, number in enumerate(amended[: len(documents)]) if number <= event)]
        part = next((part for part in document.components if part.name == name), None)
        moment = time_is_up_at(part, seen) if part is not None and part.duration_s else None
        since.append(event)
        moments.append(inf if moment is None else moment)
    return TimesUp(tuple(since), tuple(moments))
