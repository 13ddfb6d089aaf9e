"""From sources and processes to samplers: on which places each source is, and with which random numbers."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from shakedown.twin.models.noise_hits import Ints, Sampler, Target
from shakedown.twin.models.noise_periodic import WHOLE, PeriodicBackground, PeriodicHits
from shakedown.twin.models.noise_random import RandomHits
from shakedown.twin.models.noise_sources import Placement, Source

MANY = 0.01  # from this share of ranks hit in a step on, a source is worth being the background


def samplers_of(
    sources: Sequence[Source], placement: Placement, granularity_s: float, seed: int
) -> list[tuple[str, Sampler]]:
    """Purpose: what the sources do to these processes, by name; without those that hit nobody, because a core is idle for
    them or because they are on none of the nodes. At most one is a background: the one that hits most."""
    found: list[tuple[str, Sampler]] = []
    background = _background(sources, granularity_s)
    for source in sources:
        places = _places(source, placement)
        if not len(places):
            continue
        rng = np.random.default_rng([seed, zlib.crc32(source.name.encode())])
        target = Target(
            places, placement.per_node if source.on == "node" else 1, placement.processes, source.synchronised
        )
        found.append((source.name, _sampler(source, target, granularity_s, rng, source is background)))
    return found


def _sampler(
    source: Source, target: Target, granularity_s: float, rng: np.random.Generator, background: bool
) -> Sampler:
    if source.pattern == "random":
        return RandomHits(source, target, granularity_s, rng)
    phases = rng.integers(0, WHOLE, 1 if source.synchronised else len(target.places), dtype=np.uint64)
    if background:
        return PeriodicBackground(source, phases, granularity_s)
    return PeriodicHits(source, target, phases, granularity_s, rng)


def _background(sources: Sequence[Source], granularity_s: float) -> Source | None:
    def hit(source: Source) -> float:
        return (granularity_s + source.duration_s) / source.period_s

    able = [source for source in sources if (source.on, source.every, source.pattern) == ("core", 1, "periodic")]
    able = [source for source in able if not source.synchronised and hit(source) >= MANY]
    return max(able, key=hit, default=None)


def _places(source: Source, placement: Placement) -> Ints:
    """On cores: the ranks. On nodes: the first rank of each node that has no idle core."""
    if source.on == "node":
        return np.arange(source.at, placement.full_nodes, source.every) * placement.per_node
    if source.every == 1:
        return np.arange(placement.processes)
    nodes = np.arange(source.at, placement.nodes, source.every)
    ranks = (nodes[:, None] * placement.per_node + np.arange(placement.per_node)).ravel()
    return ranks[ranks < placement.processes]
