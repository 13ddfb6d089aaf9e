"""The order of waiting jobs, and the times at which nodes are closed to all jobs."""

from __future__ import annotations

from dataclasses import dataclass

AGED_S = 7 * 86_400.0  # from here on age counts no more, as Slurm has it unless it is told otherwise


@dataclass(frozen=True, slots=True)
class Closing:
    """Nodes that are closed to all jobs between two times."""

    begin: float
    end: float
    nodes: int


@dataclass(frozen=True, slots=True)
class Turns:
    """Whose turn it is: the highest of size x (units / all) + age x (waiting / ``AGED_S``, at most 1); of equals, who came
    first."""

    size: float = 0.0
    age: float = 0.0

    def rank(self, ticket: int, units: int, count: int, waited_s: float) -> tuple[float, int]:
        """The sort key of a waiting job; jobs with smaller keys are considered first."""
        high = self.size * units / max(1, count) + self.age * min(1.0, waited_s / AGED_S)
        return -high, ticket
