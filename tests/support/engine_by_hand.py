"""The engine driven by hand, event by event, without ports."""

from __future__ import annotations

from typing import Any

import msgspec
from stage import small_document

from shakedown.engine import State, decide, evolve, index_plan
from shakedown.model.events import Event
from shakedown.model.nouns import Document


class ByHand:
    """Plays events into a state and settles what the engine orders. ``log``: all of them, as a log keeps them."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.log: list[Event] = []

    def play(self, name: str, **fields: Any) -> None:
        """One event, a second later."""
        self._fold(Event(name, self.state.seq + 1, self.state.time + 1.0, **fields))

    def settle(self) -> list[str]:
        """Fold orders until there are no more; the names of their events."""
        done = []
        while orders := decide(self.state, self.state.time).orders:
            for order in orders:
                self._fold(msgspec.structs.replace(order.event, seq=self.state.seq + 1, time=self.state.time))
                done.append(order.event.event)
        return done

    def _fold(self, event: Event) -> None:
        evolve(self.state, event)
        self.log.append(event)


def begun(document: Document) -> ByHand:
    """A campaign whose builds are done and whose first jobs are ordered."""
    hand = ByHand(State(plan=index_plan(document)))
    hand.play("campaign_start")
    hand.play("driver_start")
    hand.settle()
    for build in hand.state.builds:
        hand.play("build_end", build=build, value={"state": "done"})
    hand.settle()
    return hand


def seen_running(source: str) -> ByHand:
    """A campaign of one test, of whose one job a source says that it runs."""
    hand = begun(small_document(tests=1, repeats=1))
    hand.play("submit_accepted", job="j000001", value={"id": "7"})
    hand.play("job_report", job="j000001", run="r000001", value={"state": "running", "source": source})
    return hand
