"""Noise the slow way: every event of every source at every place on a time line, every rank walked along it on its own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

from shakedown.twin.models.noise_sources import Placement, Source

Event = tuple[float, float]  # begin, end


class TimeLine:
    """The events of one source at one place, in order; only looked at forwards."""

    def __init__(self, events: Iterator[Event]) -> None:
        self._events = events
        self._next = next(events)

    def losses(self, begin: float, work: float) -> list[float]:
        """What each event takes of a rank that begins so much work then."""
        found: list[float] = []
        now, left = begin, work
        while True:
            while self._next[1] <= now:
                self._next = next(self._events)
            start, end = self._next
            if start > now:
                free = start - now
                if free >= left:
                    return found
                left -= free
                now = start
            found.append(end - now)
            now = end


def periodic(phase: float, period: float, duration: float) -> Iterator[Event]:
    number = -1
    while True:
        yield phase + number * period, phase + number * period + duration
        number += 1


def on_and_off(period: float, duration: float, rng: random.Random) -> Iterator[Event]:
    """Exponential gaps and lengths, of those means; found as it is in the long run."""
    now = 0.0
    if rng.random() >= duration / period:
        now += rng.expovariate(1 / (period - duration))
    while True:
        end = now + rng.expovariate(1 / duration)
        yield now, end
        now = end + rng.expovariate(1 / (period - duration))


def brute_steps(
    placement: Placement, sources: list[Source], work: float, collective: float, steps: int, seed: int
) -> list[float]:
    """The time of each step, rank by rank."""
    rng = random.Random(seed)
    lines = [(_places(source, placement), _lines(source, placement, rng)) for source in sources]
    found: list[float] = []
    now = 0.0
    for _ in range(steps):
        lost = [0.0] * placement.processes
        for places, own in lines:
            for ranks, line in zip(places, own, strict=True):
                for loss in line.losses(now, work):
                    lost[rng.choice(ranks)] += loss
        found.append(work + max(lost) + collective)
        now += found[-1]
    return found


def _places(source: Source, placement: Placement) -> list[list[int]]:
    """The ranks at each place of the source."""
    nodes: dict[int, list[int]] = {}
    for rank in range(placement.processes):
        nodes.setdefault(rank // placement.per_node, []).append(rank)
    mine = [ranks for node, ranks in nodes.items() if node % source.every == source.at]
    if source.on == "core":
        return [[rank] for ranks in mine for rank in ranks]
    return [ranks for ranks in mine if len(ranks) == placement.cores]


def _lines(source: Source, placement: Placement, rng: random.Random) -> list[TimeLine]:
    common, found = rng.random(), []
    for _ in _places(source, placement):
        phase = (common if source.synchronised else rng.random()) * source.period_s
        if source.pattern == "random":
            found.append(TimeLine(on_and_off(source.period_s, source.duration_s, rng)))
        else:
            found.append(TimeLine(periodic(phase, source.period_s, source.duration_s)))
    return found


def exact_loss(clock: Fraction, work: Fraction, phase: Fraction, period: Fraction, duration: Fraction) -> Fraction:
    """What a periodic source takes of a rank, event by event, in exact fractions."""
    begin = phase + (clock - phase) // period * period
    now, left = max(clock, begin + duration), work
    begin += period
    while now + left > begin:
        left -= begin - now
        now, begin = begin + duration, begin + period
    return now + left - clock - work
