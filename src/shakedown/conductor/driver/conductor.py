"""The conductor of a campaign: its state, its ports, and how an event gets into the record and into the state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from shakedown.conductor.driver.asked_numbers import Asked
from shakedown.engine import State, evolve
from shakedown.model.events import Event
from shakedown.model.ports import Command, Ports

if TYPE_CHECKING:
    from shakedown.metrics.rows.table import Record
    from shakedown.model.nouns import Document

Commands = dict[str, Callable[["Conductor", Command], Event | None]]


@dataclass(slots=True)
class Conductor:
    """The state and the ports. All other fields are paces and caches, not facts of the campaign.

    ``watch`` is shown every event once it is in the state (progress on a terminal, checks in a test). ``reread`` gives the whole
    log again; ``noticed`` gives what was found of the loop itself since the last call. ``record`` holds the log's rows once a gate
    has needed them; ``weighed``: component -> the event up to which it was judged. ``documents``: a plan that was in force, by its
    digest. ``more_calls``: scheduler commands that were run outside of its port.
    """

    state: State
    ports: Ports
    watch: Callable[[State, Event], None] | None = None
    commands: Commands = field(default_factory=dict)
    documents: Callable[[str], Document] | None = None
    next_poll: float = 0.0
    next_claims: float = 0.0
    reread: Callable[[], Iterable[Event]] = tuple
    noticed: Callable[[], Sequence[Event]] = tuple
    record: Record | None = None
    weighed: dict[str, int] = field(default_factory=dict)
    next_asked: float = 0.0
    looked: int = -1  # the last look at nodes that are idle while jobs wait
    heard: int = -1  # the last look for nodes that do not answer
    more_calls: Counter[str] = field(default_factory=Counter)
    asked: dict[str, Asked] = field(default_factory=dict)  # numbers that narrow budgets, by budget or target
    next_number: float | None = None
    pending: list[Event] = field(default_factory=list)

    def log(self, event: str | Event, **fields: Any) -> Event:
        """Give an event its number and time, and fold it into the state. ``commit`` makes it durable."""
        bare = event if isinstance(event, Event) else Event(event, **fields)
        now = max(self.state.time, self.ports.clock.now())
        placed = msgspec.structs.replace(bare, seq=self.state.seq + 1, time=now)
        self.pending.append(placed)
        evolve(self.state, placed)
        if self.record is not None:
            self.record.add(placed)
        if self.watch is not None:
            self.watch(self.state, placed)
        return placed

    def flush(self) -> None:
        """Pass what was logged on to the record. It is durable at the next commit at the latest."""
        if self.pending:
            self.ports.log.append(self.pending)
            self.pending = []

    def commit(self) -> None:
        self.flush()
        self.ports.log.commit()
