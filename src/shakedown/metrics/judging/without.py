"""The record without some acts of people: a pure function of the events.

``Variants`` is the way in. Statements (rulings, waivers, attestations, clocks) are removed from the record's rows; for other acts
the log is folded again without their events and the events that follow from them alone, all variants in one pass.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from shakedown.metrics.judging.ends import Ends, Undone, not_run_for
from shakedown.metrics.judging.people import ENDS_EARLY, Act
from shakedown.metrics.rows.facts import said_at
from shakedown.metrics.rows.overrides import take_back
from shakedown.metrics.rows.rows import NoteRow
from shakedown.metrics.rows.table import Record
from shakedown.model.events import Event

IN_THE_ROWS = frozenset({"rule", "waive", "attest", "drill", "clock", "pause", "agree"})
NO_ROWS = frozenset(
    {"resume", "cap", "budget", "exclude", "include", "stop", "again"}
)  # they move nothing that is judged
Acts = frozenset[int]  # numbers of acts


class Variants:
    """Records without some acts. ``reread`` gives the whole log again; ``prepare`` takes the variants that will be needed, so that
    the log is read once for all of them. ``ends``: what drains and cancellations ended; optional if only statements are removed.
    """

    def __init__(
        self, record: Record, acts: Sequence[Act], reread: Callable[[], Iterable[Event]], ends: Ends | None = None
    ) -> None:
        self.record, self.reread, self.ends = record, reread, ends
        self.acts = {act.number: act for act in acts}
        self._folded: dict[Acts, Record] = {}

    def prepare(self, wanted: Iterable[Acts]) -> None:
        """Purpose: fold the log once for all variants that need it."""
        heavy = {self.heavy(numbers) for numbers in wanted} - {frozenset(), *self._folded}
        if heavy:
            ordered = sorted(heavy, key=sorted)
            records = fold_without(self.reread(), [self._dropped(one) for one in ordered])
            self._folded |= dict(zip(ordered, records, strict=True))
            for numbers, record in zip(ordered, records, strict=True):
                self._go_on(record, numbers)

    def _dropped(self, numbers: Acts) -> frozenset[int]:
        """The events that the log lacks without some acts: their own events, and those that follow from them alone."""
        own = frozenset().union(*(self.acts[number].dropped for number in numbers))
        if self.ends is None:
            return own
        undone = self.ends.undone(numbers)
        verdicts = own | undone.events
        return verdicts | not_run_for(self.record, self.ends.plans, verdicts, undone.again)

    def _go_on(self, record: Record, numbers: Acts) -> None:
        """Continue what these acts ended: runs are attempted again, and components have more of their time."""
        undone = self.ends.undone(numbers) if self.ends is not None else Undone()
        record.cut_short = undone.cut_short
        if undone.again:
            record.runs = [replace(row, retried=True) if row.run in undone.again else row for row in record.runs]

    def without(self, numbers: Collection[int]) -> Record:
        """Purpose: a record without these acts; the original record does not change."""
        wanted = frozenset(numbers)
        heavy = self.heavy(wanted)
        if heavy not in self._folded and heavy:
            self.prepare([wanted])
        rest = [self.acts[number] for number in sorted(wanted - heavy) if not moves_nothing(self.acts[number])]
        record = copied(self._folded[heavy] if heavy else self.record)
        if rest:
            _take_out(record, rest)
        if self.go_on(wanted):
            record.ended = None
        return record

    def go_on(self, numbers: Collection[int]) -> bool:
        """Purpose: whether a finished campaign would go on without these acts, because they ended something or took further
        attempts from runs.
        """
        early = any(self.acts[number].kind in ENDS_EARLY for number in numbers)
        return early or (self.ends is not None and bool(self.ends.undone(numbers).again))

    def forget(self) -> None:
        """Purpose: free the memory of the records that were folded; each may be as large as the whole record."""
        self._folded.clear()

    def heavy(self, numbers: Collection[int]) -> Acts:
        """Purpose: of these acts, those that other events depend on. A record without them must be folded again from the log."""
        acts = [self.acts[number] for number in numbers]
        return frozenset(act.number for act in acts if _is_heavy(act))


def _is_heavy(act: Act) -> bool:
    return (act.kind not in IN_THE_ROWS or bool(act.follows)) and not moves_nothing(act)


def moves_nothing(act: Act) -> bool:
    """Purpose: whether the judgement stays the same when this act is taken out of the record."""
    return act.kind in NO_ROWS and not act.plain


def fold_without(events: Iterable[Event], dropped: Sequence[frozenset[int]]) -> list[Record]:
    """Purpose: a record for each set of events, folded without them. Up to the first event of a set all share one fold."""
    trunk, branches = Record(), dict[int, Record]()
    begins: dict[int, list[int]] = {}
    for place, gone in enumerate(dropped):
        begins.setdefault(min(gone, default=0), []).append(place)
    for event in events:
        for place in begins.pop(event.seq, ()):
            branches[place] = copied(trunk)
        trunk.add(event)
        for place, record in branches.items():
            if event.seq not in dropped[place]:
                record.add(event)
    return [branches.get(place, trunk) for place in range(len(dropped))]


def copied(record: Record) -> Record:
    """Purpose: a copy of a record to which events can be added without changing the original. Rows are shared: they are frozen."""
    fresh = copy.copy(record)
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if isinstance(value, list | dict):
            setattr(fresh, name, value.copy())
    return fresh


def _take_out(record: Record, acts: Sequence[Act]) -> None:
    held = {number: act for act in acts if act.moves_back for number in act.events}
    events = {number for act in acts if not act.moves_back for number in act.events}
    take_back(record, events)
    record.agreements = [row for row in record.agreements if row.seq not in events]
    record.standing = list(_standing(record.standing, events, held))


def _standing(rows: Iterable[NoteRow], events: Collection[int], held: Mapping[int, Act]) -> Iterator[NoteRow]:
    """The clock events without these acts. A pause did hold work back: it counts from when it was made, and a clock that it would
    have restarted counts as stopped in the meantime.
    """
    for row in rows:
        if row.seq in held:
            value = {**row.value, "from": said_at(row.value, row.time)}
            stood = row.kind == "paused" and row.value.get("component") in held[row.seq].restarts
            yield replace(row, value=value | {"clock": "stops"} if stood else value)
        elif row.seq not in events:
            yield row
