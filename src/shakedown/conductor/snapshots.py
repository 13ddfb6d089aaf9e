"""Snapshots join the engine's state and the record: resume, status and why read a snapshot and the tail after it."""

from __future__ import annotations

import msgspec

from shakedown.conductor.documents import Documents
from shakedown.conductor.driving import fold
from shakedown.engine import State, index_plan
from shakedown.engine.plan import PlanIndex
from shakedown.engine.snapshot import freeze_state, thaw_state
from shakedown.engine.state import FOLD_VERSION
from shakedown.events.reader import read_events
from shakedown.events.snapshots import load, save
from shakedown.events.writer import LogWriter
from shakedown.model.layout import Layout

EVERY = 100_000  # events between two snapshots


class Snapshots:
    """Loads the newest usable snapshot and folds the rest of the log; saves one every so many events."""

    def __init__(self, layout: Layout, documents: Documents, every: int = EVERY) -> None:
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
            return thaw_state(raw["state"], self._index(raw["documents"]))
        except (msgspec.MsgspecError, KeyError, TypeError, ValueError):
            return State()  # disposable: the log says it all

    def _index(self, digests: list[str]) -> PlanIndex:
        """Every plan that came into force, one over the other: live runs may be of a case that only an older one has."""
        first, *others = digests
        index = index_plan(self.documents(first))
        for digest in others:
            index = index_plan(self.documents(digest), before=index)
        return index

    def consider(self, state: State, log: LogWriter) -> None:
        """Save one when it is due: what it holds must be durable first. Cheap enough to be called at every wait."""
        if state.seq - self.saved < self.every or state.plan is None:
            return
        log.commit()
        self.saved = state.seq
        data = msgspec.msgpack.encode({"documents": self.documents.digests, "state": freeze_state(state)})
        save(self.layout.log, log.position(), FOLD_VERSION, data)


def read_state(layout: Layout, documents: Documents) -> State:
    """Purpose: the state of a campaign as its log stands, for commands that only look."""
    return Snapshots(layout, documents).load_and_fold()
