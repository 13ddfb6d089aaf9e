"""What noise costs: at several sizes, on full nodes and with cores left idle, and what it would cost without each source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shakedown.twin.models.noise import Collective
from shakedown.twin.models.noise_estimate import Estimate, estimate
from shakedown.twin.models.noise_sources import Placement, Source


@dataclass(frozen=True, slots=True)
class Point:
    """A step at one size: without noise, with it, and their ratio with its standard error (None: not known) over ``steps``."""

    processes: int
    per_node: int
    nodes: int
    quiet_s: float
    step_s: float
    slowdown: float
    standard_error: float | None = None
    steps: int = 0


@dataclass(frozen=True, slots=True)
class Share:
    """``takes_s``: what a source takes in a step, in the mean, of the rank that all wait for. ``without``: the slowdown that
    is left when it alone is removed, and its standard error."""

    source: str
    takes_s: float
    without: float
    standard_error: float | None = None


@dataclass(frozen=True, slots=True)
class NoiseStudy:
    """``points``: for each number of processes a node, the sizes from small to large. ``shares``: at ``of_shares``.

    ``steps``: of each simulation, as asked for; None where each took as many as its precision needs."""

    granularity_s: float
    cores: int
    steps: int | None
    seed: int
    sources: tuple[Source, ...]
    points: tuple[Point, ...]
    of_shares: Point
    shares: tuple[Share, ...]

    def at(self, per_node: int) -> list[Point]:
        return [point for point in self.points if point.per_node == per_node]


def study_noise(
    processes: int,
    per_node: Sequence[int],
    cores: int,
    sources: Sequence[Source],
    granularity_s: float,
    steps: int | None = None,
    collective_s: Collective = 0.0,
    seed: int = 0,
) -> NoiseStudy:
    """Purpose: sizes up to so many processes, for each number of them a node; then each source removed at the full size and
    the most processes a node."""
    points: list[Point] = []
    for here in dict.fromkeys(per_node):
        Placement(processes, here, cores)  # wrong numbers are told before anything is computed
        for size in sizes(processes, here):
            found = estimate(Placement(size, here, cores), sources, granularity_s, steps, collective_s, seed)
            points.append(point_of(Placement(size, here, cores), found))
    most = max(point.per_node for point in points)
    full = [point for point in points if point.per_node == most][-1]
    place = Placement(processes, most, cores)
    shares = shares_of(place, sources, granularity_s, steps, collective_s, seed)
    return NoiseStudy(granularity_s, cores, steps, seed, tuple(sources), tuple(points), full, shares)


def shares_of(
    placement: Placement,
    sources: Sequence[Source],
    granularity_s: float,
    steps: int | None = None,
    collective_s: Collective = 0.0,
    seed: int = 0,
) -> tuple[Share, ...]:
    """Purpose: what each source takes, and what is left without it; the one whose removal gives most first."""
    blame = estimate(placement, sources, granularity_s, steps, collective_s, seed).blame_s
    found = []
    for source in sources:
        others = [other for other in sources if other is not source]
        left = estimate(placement, others, granularity_s, steps, collective_s, seed)
        found.append(Share(source.name, blame[source.name], left.slowdown, left.standard_error))
    return tuple(sorted(found, key=lambda share: (share.without, share.source)))


def point_of(placement: Placement, found: Estimate) -> Point:
    where = (placement.processes, placement.per_node, placement.nodes)
    return Point(*where, found.quiet_s, found.mean_s, found.slowdown, found.standard_error, found.steps)


def sizes(processes: int, per_node: int) -> list[int]:
    """From one full node up by factors of eight, and the size itself."""
    found = []
    size = per_node
    while size < processes:
        found.append(size)
        size *= 8
    return [*found, processes]
