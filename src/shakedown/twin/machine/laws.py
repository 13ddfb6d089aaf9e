"""The interface of the simulated machine for accidents, calendar, harness and parts of jobs: its state and operations.

``World`` implements it. ``World`` calls these modules, so they depend only on this class.
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
    """The machine as its laws see it. ``local``: jobs die with the conductor, because the embedded scheduler runs them.

    ``theirs``: tickets of other users' jobs -> their end. ``by_ticket``: jobs that wait for nodes or hold nodes.
    ``claims``: (job, restart), or (job, part). ``noticed`` is called at every change of a job, or with None at a change of nodes.
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
        """The random generator for one drawn thing; each thing has its own generator."""
        return random.Random(":".join(map(str, (self.seed, *what))))

    def chance(self, share: float, *what: object) -> bool:
        """Draw whether an event of this probability happens."""
        return share > 0 and self.draw(*what).random() < share

    @abstractmethod
    def enter(self, job: SimulatedJob) -> None:
        """Queue a job for nodes, unless it is held or must wait for the end of another job."""

    @abstractmethod
    def cancel(self, name: str) -> None:
        """Cancel every job of this name."""

    @abstractmethod
    def look_at(self, room: Room) -> None:
        """Start the jobs that can start now, after a change in this partition."""

    @abstractmethod
    def execute(self, job: SimulatedJob, run: str, case: str, part: bool = False) -> None:
        """Enter the start of a payload."""

    @abstractmethod
    def over(self, job: SimulatedJob, restart: int, run: str) -> None:
        """Enter the end of a payload, if it still runs."""

    @abstractmethod
    def end(self, job: SimulatedJob, state: str, status: int | None) -> None:
        """End a job in this state and free its nodes."""

    @abstractmethod
    def fate(self, job: SimulatedJob, run: str, case: Case, key: tuple[object, ...]) -> Fate:
        """The fate of a run on these nodes."""

    @abstractmethod
    def begins(self, job: SimulatedJob, run: str, case: Case, fate: Fate, finish: Callable[[], bool]) -> float | None:
        """Start a run; returns the seconds until its fate, or None if this depends on other runs: then ``finish`` is called."""

    @abstractmethod
    def at_its_limit(self, job: SimulatedJob) -> None:
        """Schedule the end of a job at its time limit; an earlier end takes precedence."""

    @abstractmethod
    def lose_node(self, job: SimulatedJob, left_s: float, node: str = "", repair_s: float | None = None) -> None:
        """End a running job because one of its nodes fails."""
