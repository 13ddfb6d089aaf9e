"""The engine driven by hand, event by event, without ports."""

from __future__ import annotations

from typing import Any

import msgspec

from shakedown.engine import State, decide, evolve
from shakedown.model.events import Event


class ByHand:
    """Plays events into a state and settles what the engine orders."""

    def __init__(self, state: State) -> None:
        self.state = state

    def play(self, name: str, **fields: Any) -> None:
        """One event, a second later."""
        evolve(self.state, Event(name, self.state.seq + 1, self.state.time + 1.0, **fields))

    def settle(self) -> list[str]:
        """Fold orders until there are no more; the names of their events."""
        done = []
        while orders := decide(self.state, self.state.time).orders:
            for order in orders:
                evolve(self.state, msgspec.structs.replace(order.event, seq=self.state.seq + 1, time=self.state.time))
                done.append(order.event.event)
        return done
