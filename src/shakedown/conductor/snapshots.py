"""Snapshots join the engine's state and the record: resume, status and why read a snapshot and the tail after it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from shakedown.conductor.driving import fold
from shakedown.engine import State, index_plan
from shakedown.engine.snapshot import freeze_state, thaw_state
from shakedown.engine.state import FOLD_VERSION
from shakedown.events.reader import read_events
from shakedown.events.snapshots import load, save
from shakedown.events.writer import LogWriter
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document

EVERY = 100_000  # events between two snapshots


class Snapshots:
    """Loads the newest usable snapshot and folds the rest of the log; saves one every so many events."""

    def __init__(self, layout: Layout, documents: Callable[[str], Document], every: int = EVERY) -> None:
        self.layout, self.documents, self.every = layout, documents, every
        self.saved = 0

    def load_and_fold(self) -> State:
        """The state of the whole log, from the newest snapshot that fits; without one, from the beginning."""
        state = self._load()
        self.saved = state.seq
        return fold(read_events(self.layout.log, after=state.seq), self.documents, state=state)

    def _load(self) -> State:
        found = load(self.layout.log, FOLD_VERSION)
        if found is None:
            return State()
        _, data = found
        try:
            raw = msgspec.msgpack.decode(data)
            return thaw_state(raw["state"], index_plan(self.documents(raw["document"])))
        except (msgspec.MsgspecError, KeyError, TypeError, ValueError):
            return State()  # disposable: the log says it all

    def consider(self, state: State, log: LogWriter) -> None:
        """Save one when it is due: what it holds must be durable first. Cheap enough to be called at every wait."""
        if state.seq - self.saved < self.every or state.plan is None:
            return
        log.commit()
        self.saved = state.seq
        document = getattr(self.documents, "digest", "")
        data = msgspec.msgpack.encode({"document": document, "state": freeze_state(state)})
        save(self.layout.log, log.position(), FOLD_VERSION, data)


def read_state(layout: Layout, documents: Callable[[str], Document]) -> State:
    """Purpose: the state of a campaign as its log stands, for commands that only look."""
    return Snapshots(layout, documents).load_and_fold()
