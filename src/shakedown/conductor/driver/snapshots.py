"""Snapshots of the engine's state: resume, status and why read a snapshot and only the events after it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from shakedown.conductor.driver.startup import fold
from shakedown.conductor.record.documents import Documents
from shakedown.engine import State, index_plan
from shakedown.engine.state.plan import PlanIndex
from shakedown.engine.state.snapshot import freeze_state, thaw_state
from shakedown.engine.state.state import FOLD_VERSION
from shakedown.events.lease import Lease
from shakedown.events.opening import Tail, open_log
from shakedown.events.reader import read_events
from shakedown.events.segments import Position
from shakedown.events.snapshots import load, read_snapshot, save, snapshot_files
from shakedown.events.writer import LogWriter
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout
from shakedown.model.nouns import SCHEMA

Say = Callable[[str, dict[str, Any]], None]
EVERY = 100_000  # events between two snapshots


class Snapshots:
    """Loads the newest usable snapshot and folds the rest of the log; saves a new one every so many events."""

    def __init__(self, layout: Layout, documents: Documents, every: int = EVERY) -> None:
        self.layout, self.documents, self.every = layout, documents, every
        self.saved = 0
        self.position = Position()  # in the log, of what was loaded
        self.refused: list[Path] = []  # snapshots that the log speaks against

    def load_and_fold(self) -> State:
        """The state after the whole log, from the newest snapshot that fits, else from the beginning."""
        state = self.load()
        self.saved = state.seq
        return fold(read_events(self.layout.log, after=state.seq), self.documents, state=state)

    def open_and_fold(
        self, lease: Lease, refuse: Callable[[State], object] = lambda state: None
    ) -> tuple[LogWriter, Tail, State]:
        """The log, opened to append to it, and the state after all of it. The log is folded before a segment is begun, so that
        nothing is added to one that makes no sense, or about which ``refuse`` raises an error. Errors: those of ``open_log``.
        """
        state = State()

        def read() -> None:
            nonlocal state
            state = self.load_and_fold()
            refuse(state)

        log, tail = open_log(self.layout.log, lease, read_first=read)
        if tail.seq != state.seq:  # the driver before us wrote in between
            read()
        return log, tail, state

    def load(self) -> State:
        """Purpose: the state of the newest snapshot that fits, which is at ``position`` in the log; without one, an empty state."""
        self.refused = []
        found = load(self.layout.log, FOLD_VERSION, refused=self.refused)
        state = self.thaw(found[1]) if found is not None else None
        if found is None or state is None:
            return State()  # disposable: the log says it all
        self.position = found[0]
        return state

    def thaw(self, data: bytes) -> State | None:
        """Purpose: the state from bytes that have the digests of its plans too; None where the bytes are not such a state."""
        try:
            raw = msgspec.msgpack.decode(data)
            return thaw_state(raw["state"], self._index(raw["documents"]))
        except (msgspec.MsgspecError, KeyError, TypeError, ValueError):
            return None

    def _index(self, digests: list[str]) -> PlanIndex:
        """The index of every plan that was in force, one over the other: live runs may be of a case that only an older plan has."""
        first, *others = digests
        index = index_plan(self.documents(first))
        for digest in others:
            index = index_plan(self.documents(digest), before=index)
        return index

    def consider(self, state: State, log: LogWriter, say: Say) -> None:
        """Save a snapshot when one is due; what it holds must be durable first. Cheap enough to be called at every wait. ``say``
        logs an event and makes it durable, so that the log vouches for the snapshot.
        """
        if state.seq - self.saved < self.every or state.plan is None:
            return
        log.commit()
        self.saved = state.seq
        data = frozen(state, self.documents.digests)
        if data is None:
            return
        digest = save(self.layout.log, log.position(), FOLD_VERSION, data)
        if digest:
            say("snapshot", {"digest": digest, "through": self.saved})

    def take_away(self) -> list[str]:
        """Purpose: remove snapshots that contradict the log, so that they are made again. Returns their names."""
        names = [path.name for path in self.refused]
        for path in self.refused:
            with suppress(OSError):
                path.unlink()
        self.refused = []
        return names

    def do_not_follow(self) -> list[str]:
        """Purpose: the names of snapshots that do not match the log. The log is folded up to each of them."""
        found: list[str] = []
        state = State()
        for path in reversed(snapshot_files(self.layout.log)):
            read = read_snapshot(path)
            if read is None:
                found.append(path.name)
                continue
            head, data = read
            if head.fold != FOLD_VERSION or head.schema != SCHEMA:
                continue
            try:
                raw = msgspec.msgpack.decode(data)
                kept = thaw_state(raw["state"], self._index(raw["documents"]))
            except (msgspec.MsgspecError, KeyError, TypeError, ValueError, RecordError):
                found.append(path.name)
                continue
            until = (event for event in read_events(self.layout.log, after=state.seq) if event.seq <= head.position.seq)
            state = fold(until, self.documents, state=state)
            if kept != state:
                found.append(path.name)
        return found


def frozen(state: State, digests: list[str]) -> bytes | None:
    """Purpose: a state as bytes, with the digests of its plans. None where it has a number of more than 64 bits: no program of ours
    writes one, but a record that was changed may hold one. Such a state is folded from the log each time.
    """
    try:
        return msgspec.msgpack.encode({"documents": digests, "state": freeze_state(state)})
    except OverflowError:
        return None


def read_state(layout: Layout, documents: Documents) -> tuple[State, list[str]]:
    """Purpose: the state of a campaign by its log, for commands that only look; and the names of snapshots that
    were not believed.
    """
    snapshots = Snapshots(layout, documents)
    state = snapshots.load_and_fold()
    return state, [path.name for path in snapshots.refused]
