"""Time in a rehearsal: who is on the stage, the clock that the loop waits by, and when there is nothing left to wait for."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from shakedown.conductor.driver.conductor import Conductor
from shakedown.engine import State, explain
from shakedown.engine.policy.explain import waits_for_people
from shakedown.events.lease import Lease
from shakedown.model.layout import Layout
from shakedown.model.scenario import Scenario
from shakedown.rehearsal.faults import Troubles
from shakedown.rehearsal.losses import Losses
from shakedown.rehearsal.people import RehearsedPeople
from shakedown.twin.machine.machine import Machine

SILENT_S = 400 * 86400.0  # a rehearsal in which nothing happens for so long will not end
OBSERVED_S = 8 * 86400.0  # where all wait for others to leave, who come and go by the hours of the week
SAME_INSTANT = 100_000  # and one that turns so often without an event is our fault


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What is rehearsed beside the plan. ``seed``: of the machine's draws."""

    troubles: Troubles
    seed: int = 0
    open_gates: bool = False

    @property
    def scenario(self) -> Scenario:
        return self.troubles.scenario


class ConductorDies(Exception):
    """The conductor is gone at this moment; everything it had logged before it waited is in the record."""


@dataclass(slots=True)
class Onlooker:
    """Whom a rehearsal shows how far it is: ``look`` is called with the state and the virtual seconds that have passed."""

    look: Callable[[State, float], None] = field(default=lambda state, passed_s: None)


@dataclass(slots=True)
class Stage:
    """What outlives a conductor: the machine, the people, the books, and when conductors die: (time, how long nobody drives)."""

    layout: Layout
    rehearsal: Rehearsal
    machine: Machine
    people: RehearsedPeople
    losses: Losses
    onlooker: Onlooker
    crashes: list[tuple[float, float]]
    began: float = 0.0


@dataclass(slots=True)
class RehearsalClock:
    """The machine's clock, which also lets people speak, looks up for whoever watches, and ends what would never end."""

    stage: Stage
    lease: Lease
    left: str = ""
    _seq: tuple[bool, int] = (False, 0)
    _since: float = 0.0
    _turns: int = 0

    def now(self) -> float:
        return self.stage.machine.clock.now()

    def wait(self, until: float | None) -> None:
        if self.stage.people.waiting:
            return
        self.lease.beat(time.monotonic())
        clock, dies = self.stage.machine.clock, self.stage.crashes[0][0] if self.stage.crashes else None
        if dies is None:
            clock.wait(until)
            return
        clock.wait(dies if until is None else min(until, dies))
        if clock.now() >= dies:
            raise ConductorDies

    def should_stop(self, conductor: Conductor) -> bool:
        """Called once a turn, when everything is decided: whether nothing will come any more."""
        state, now, stage = conductor.state, self.now(), self.stage
        stage.began = stage.began or now
        stage.losses.look(state)
        stage.onlooker.look(state, now - stage.began)
        if stage.people.attend(state):
            return False
        self.left = waits_for_people(state, now) or self._endless(state, now)
        return bool(self.left)

    def _endless(self, state: State, now: float) -> str:
        idle = bool(state.index.observed) and not (state.jobs or state.runs or state.builds_running())
        seen = idle, sum(tally.closed for tally in state.tallies) if idle else state.seq  # numbers come for ever
        if seen != self._seq:
            self._seq, self._since, self._turns = seen, now, 0
        self._turns += 1
        if now - self._since < (OBSERVED_S if idle else SILENT_S) and self._turns < SAME_INSTANT:
            return ""
        return what_it_waits_for(state)


def what_it_waits_for(state: State) -> str:
    """Purpose: a sentence on what a plan waits for that nothing will bring about."""
    count, shown = 0, dict[str, None]()
    for waiting in explain(state, now=state.time):
        count += waiting.count
        shown.setdefault(waiting.text)
    if not count:
        missing = [
            f"{component.name}: {', '.join(state.unattested(number))}"
            for number, component in enumerate(state.index.components)
            if state.unattested(number)
        ]
        return f"nothing more will happen, and it is not over: {'; '.join(missing) or 'no result is open'}"
    words = "; ".join(list(shown)[:3]) + (f"; and {len(shown) - 3} other reasons" if len(shown) > 3 else "")
    results = "1 result waits" if count == 1 else f"{count} results wait"
    return f"nothing more will happen: {results} for ever: {words}"
