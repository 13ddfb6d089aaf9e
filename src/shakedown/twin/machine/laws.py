"""What accidents, the calendar, the harness and the parts of jobs see of the simulated machine: its state, and what it can do.

``World`` is the machine. It calls these modules, so they know only this class.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable

from shakedown.model.nouns import Case, Document
from shakedown.twin.machine.clock import VirtualClock
from shakedown.twin.machine.jobs import SimulatedJob
from shakedown.twin.machine.nodes import Room
from shakedown.twin.machine.outcomes import Fate, Fates, Lies, Others


class SimulatedMachine(ABC):
    """The machine as its laws see it. ``local``: jobs die with the conductor, as on the machine one stands on.

    ``theirs``: tickets of other people's jobs -> until when they stay. ``by_ticket``: jobs that wait for nodes or have some.
    ``claims``: (job, restart), or (job, part). ``noticed`` is told of every change of a job; None: of nodes.
    """

    document: Document
    seed: int
    clock: VirtualClock
    local: bool
    fates: Fates
    lies: Lies
    others: Others
    began: float
    rooms: dict[str, Room]
    claims: set[tuple[str, int | str]]
    by_ticket: dict[int, SimulatedJob]
    theirs: dict[int, float]
    noticed: Callable[[SimulatedJob | None], None]
    node_failures: int

    def draw(self, *what: object) -> random.Random:
        """A generator of its own for each thing that is drawn."""
        return random.Random(":".join(map(str, (self.seed, *what))))

    def chance(self, share: float, *what: object) -> bool:
        """Whether something happens that has this share of one."""
        return share > 0 and self.draw(*what).random() < share

    @abstractmethod
    def enter(self, job: SimulatedJob) -> None:
        """Let a job wait for nodes, unless it is held or another must be over first."""

    @abstractmethod
    def cancel(self, name: str) -> None:
        """Someone ends every job of this name."""

    @abstractmethod
    def look_at(self, room: Room) -> None:
        """Something changed there: start what may start now."""

    @abstractmethod
    def execute(self, job: SimulatedJob, run: str, case: str, part: bool = False) -> None:
        """A payload begins."""

    @abstractmethod
    def over(self, job: SimulatedJob, restart: int, run: str) -> None:
        """A payload is over, where it still ran."""

    @abstractmethod
    def end(self, job: SimulatedJob, state: str, status: int | None) -> None:
        """A job ends in this state; its nodes are free."""

    @abstractmethod
    def fate(self, job: SimulatedJob, run: str, case: Case, key: tuple[object, ...]) -> Fate:
        """What becomes of a run on these nodes."""

    @abstractmethod
    def begins(self, job: SimulatedJob, run: str, case: Case, fate: Fate, finish: Callable[[], bool]) -> float | None:
        """After how many seconds its fate comes; None: ``finish`` is called when it does, where that depends on others."""

    @abstractmethod
    def at_its_limit(self, job: SimulatedJob) -> None:
        """The scheduler ends a job at its time limit, if nothing else does before."""

    @abstractmethod
    def lose_node(self, job: SimulatedJob, left_s: float, node: str = "", repair_s: float | None = None) -> None:
        """A node of a job that runs dies."""
