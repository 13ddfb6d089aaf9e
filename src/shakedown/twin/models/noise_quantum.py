"""What noise does to a loop of fixed work on each core, as the kernel ``noise`` measures it: (mean - least) / least.

Nobody waits for anybody there. Work of g takes g / (1 - D) in the mean, D being the share of the core's time that its sources
take, and at the least g and every event that cannot miss it: floor(g / (period - duration)) of a periodic one (the kernel's own
definition of noise; D of several sources adds up, as in ``twin.models.noise``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from shakedown.model.errors import UsageError
from shakedown.twin.models.noise_sources import Placement, Source


def quantum_noise(sources: Sequence[Source], placement: Placement, granularity_s: float) -> tuple[float, float]:
    """Purpose: noise in %, of all cores in the mean and of the worst one. Raises UsageError where sources leave no time."""
    nodes = placement.nodes
    shares = [_percent(sources, placement, granularity_s, node) for node in range(min(nodes, _period(sources)))]
    count = [len(range(node, nodes, len(shares))) for node in range(len(shares))]
    mean = math.fsum(share * many for share, many in zip(shares, count, strict=True)) / nodes
    return mean, max(shares)


def _period(sources: Sequence[Source]) -> int:
    """After so many nodes the same sources come again."""
    return math.lcm(*(source.every for source in sources)) if sources else 1


def _percent(sources: Sequence[Source], placement: Placement, granularity_s: float, node: int) -> float:
    here = [source for source in sources if node % source.every == source.at]
    idle = placement.per_node < placement.cores
    duty = math.fsum(
        source.duty if source.on == "core" else 0.0 if idle else source.duty / placement.cores for source in here
    )
    if duty >= 1:
        raise UsageError("the sources take all of a core's time", "give shorter ones, or longer periods")
    least = granularity_s + math.fsum(
        math.floor(granularity_s / (source.period_s - source.duration_s)) * source.duration_s
        for source in here
        if source.on == "core" and source.pattern == "periodic"
    )
    return max(0.0, 100 * (granularity_s / (1 - duty) / least - 1))
