"""Fold a campaign's log up to now without reading all of it again: use what was kept, and fold only the new events.

``Folds`` is the main class. The state and the record (runs as rows) of a long log are kept below ``~/.cache`` after a read-only
command. The results are exactly those of folding the whole log; a kept file that cannot be trusted is mentioned in ``trouble`` and
replaced by folding the log.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import msgspec

from shakedown.conductor.driver.snapshots import Snapshots, frozen
from shakedown.conductor.driver.startup import fold_one
from shakedown.conductor.record.documents import Documents
from shakedown.engine import State
from shakedown.engine.state.phases import CampaignPhase
from shakedown.events.follower import Follower
from shakedown.events.kept_folds import KeptFolds
from shakedown.events.looks import Looks
from shakedown.events.segments import Position
from shakedown.metrics.rows.frozen_rows import RUNS, UNFIT, Unreadable, freeze_record, thawed, with_plain_rows
from shakedown.metrics.rows.table import Record
from shakedown.model.events import Event
from shakedown.model.layout import Layout

WORTH = 5_000  # events: to fold so many takes a tenth of a second
PART = 20  # one in so many events is folded again before what is kept is made anew

T = TypeVar("T")


class Folds:
    """The folds of one campaign. ``looks``: the cache for its log; None: nothing is read from a cache and nothing is kept.

    ``damaged``: the record is damaged, so only the log is read. ``worth``: the number of events from which on folds are kept.
    ``trouble``: sentences on kept files that were not used.
    """

    def __init__(
        self, layout: Layout, looks: Looks | None = None, damaged: bool = False, worth: int | None = None
    ) -> None:
        self.layout, self.worth = layout, WORTH if worth is None else worth
        self._kept = KeptFolds(layout, looks) if looks is not None and not damaged else None
        self._record: tuple[Record, Position] | None = None

    @property
    def keeps(self) -> bool:
        """Whether results are kept for the next command."""
        return self._kept is not None

    @property
    def trouble(self) -> list[str]:
        return self._kept.trouble if self._kept is not None else []

    # ---- the state

    def state(self) -> tuple[State, list[str]]:
        """Purpose: the state at the end of the log, and the names of snapshots that the log contradicts. Errors: RecordError."""
        while True:
            documents = Documents(self.layout)
            state, follower, refused = self._nearest(documents)
            before = state.seq
            if _follow(follower, partial(fold_one, state, documents=documents)):
                break
        if state.plan is not None and self._is_worth(before, state.seq, state.phase == CampaignPhase.ENDED):
            data = frozen(state, documents.digests)
            if data is not None:
                self._keep("state", follower.position, {"state": data})
        return state, refused

    def _nearest(self, documents: Documents) -> tuple[State, Follower, list[str]]:
        """The latest state among the record's own snapshots and the kept state; and a follower that continues from there."""
        snapshots = Snapshots(self.layout, documents)
        state = snapshots.load()
        refused = [path.name for path in snapshots.refused]
        kept = self._kept.load("state") if self._kept is not None else None
        if kept is not None and kept.position.seq > state.seq:
            documents.digests.clear()
            try:
                nearer = snapshots.thaw(bytes(kept.parts["state"]))
            except UNFIT:
                nearer = None
            if nearer is not None:
                return nearer, Follower(self.layout.log, kept.position), refused
            self._not_believed("state")
            documents.digests.clear()
            state = snapshots.load()
        return state, Follower(self.layout.log, snapshots.position), refused

    # ---- the record

    def record(self) -> Record:
        """Purpose: the record at the end of the log. Its runs may be loaded lazily, and it may have no notes; ``whole_record`` has
        everything. Errors: RecordError; Unreadable when a row is loaded, see ``checked``.
        """
        if self._record is None:
            self._record = self._folded(in_full=False)
        return self._record[0]

    def whole_record(self) -> Record:
        """Purpose: as ``record``, with all rows and notes loaded."""
        self._record = self._folded(in_full=True)
        return self.checked(with_plain_rows)

    def followed(self) -> tuple[Record, Follower]:
        """Purpose: the whole record, and a follower that continues from there, for a caller that adds new events."""
        record = self.whole_record()
        assert self._record is not None
        return record, Follower(self.layout.log, self._record[1])

    def checked(self, work: Callable[[Record], T]) -> T:
        """Purpose: the result of ``work`` for the record. Where a kept row is damaged, the work is repeated on a record folded from
        the log.
        """
        try:
            return work(self.record())
        except Unreadable:
            self._not_believed()
            self._record = self._fold_all()
            return work(self._record[0])

    def _not_believed(self, name: str = "record") -> None:
        if self._kept is not None:
            self._kept.not_believed(name)

    def _folded(self, in_full: bool) -> tuple[Record, Position]:
        kept = self._kept.load("record") if self._kept is not None else None
        if kept is None:
            return self._fold_all()
        follower = Follower(self.layout.log, kept.position)
        events = follower.new_events()
        try:
            record = thawed(kept.parts, kept.parts.with_own_sums(RUNS), in_full or bool(events))
            while events and not follower.rewound:
                for event in events:
                    record.add(event)
                events = follower.new_events()
            if self._is_worth(kept.position.seq, record.seq, record.ended is not None) and not follower.rewound:
                self._keep_record(with_plain_rows(record), follower.position)
        except UNFIT:
            self._not_believed()
            return self._fold_all()
        return (record, follower.position) if not follower.rewound else self._fold_all()

    def _fold_all(self) -> tuple[Record, Position]:
        while True:
            record, follower = Record(), Follower(self.layout.log)
            if _follow(follower, record.add):
                break
        if self._is_worth(0, record.seq, record.ended is not None):
            self._keep_record(record, follower.position)
        return record, follower.position

    def _keep_record(self, record: Record, position: Position) -> None:
        if self._kept is not None:
            try:
                parts = freeze_record(record)
            except UNFIT:
                return
            self._keep("record", position, parts)

    # ---- answers that take long

    def answer(self, name: str, kind: type[T], work: Callable[[], T]) -> T:
        """Purpose: the result of ``work``, kept until the record changes."""
        known = self.kept_answer(name, kind)
        if known is not None:
            return known
        found = work()
        assert self._record is not None
        position = self._record[1]
        if self._is_worth(0, position.seq, over=False):
            self._keep(name, position, {"answer": msgspec.msgpack.encode(found)})
        return found

    def kept_answer(self, name: str, kind: type[T]) -> T | None:
        """Purpose: the kept result, if the record has not changed since; else None."""
        self.record()
        assert self._record is not None
        kept = self._kept.load(name) if self._kept is not None else None
        if kept is None or kept.position != self._record[1]:
            return None
        try:
            return msgspec.msgpack.decode(kept.parts["answer"], type=kind)
        except UNFIT:
            self._not_believed(name)
            return None

    # ---- parts

    def _is_worth(self, kept: int, seq: int, over: bool) -> bool:
        """Whether a newer fold replaces the kept one."""
        new = seq - kept
        return (
            self._kept is not None and seq >= self.worth and new > 0 and (over or new >= max(self.worth, kept // PART))
        )

    def _keep(self, name: str, position: Position, parts: dict[str, bytes]) -> None:
        if self._kept is not None:
            self._kept.keep(name, position, parts)


def _follow(follower: Follower, use: Callable[[Event], object]) -> bool:
    """Call ``use`` for every event; False where the log was cut back meanwhile, so that some of those events may be gone."""
    while events := follower.new_events():
        if follower.rewound:
            return False
        for event in events:
            use(event)
    return not follower.rewound
