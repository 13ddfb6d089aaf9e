"""Periodic noise, exact: whom it hits in a step and for how long.

Each place has a phase, kept in 2^64 parts of the period: whole numbers that wrap round where the period does lose nothing,
however long the job. Places are sorted by phase, so that those hit in a step lie side by side.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from shakedown.twin.models.noise_hits import NOTHING, Background, Floats, Hits, Ints, Target
from shakedown.twin.models.noise_sources import Source

Phases = npt.NDArray[np.uint64]

WHOLE = 2**64  # parts of a period


class _Window:
    """A step's work in parts of a period, and what is lost of it.

    With u since the last event began, work g and an event's d of a period T: what is left of an event that runs is d - u; then
    T - d is free in each period, so that g holds ``whole`` = g // (T - d) events and one more where u > T - rest.
    """

    def __init__(self, source: Source, granularity_s: float) -> None:
        self.period_s, self.duration_s = source.period_s, source.duration_s
        free_s = source.period_s - source.duration_s
        self.whole = math.floor(granularity_s / free_s)
        self.event = max(1, _parts(source.duration_s, source.period_s))
        self.rest = min(_parts(granularity_s - self.whole * free_s, source.period_s), WHOLE - self.event)
        self.part_s = source.period_s / WHOLE

    def clock(self, clock_s: float) -> int:
        return _parts(math.fmod(clock_s, self.period_s), self.period_s) % WHOLE

    def more(self, since: Phases) -> Floats:
        """Seconds beyond the whole events, of places whose last event began so long ago."""
        struck = since > np.uint64(WHOLE - self.rest) if self.rest else np.zeros(len(since), dtype=bool)
        left = np.where(since < np.uint64(self.event), np.uint64(self.event) - since, np.uint64(0))
        found: Floats = struck * self.duration_s + left * self.part_s
        return found

    def more_at(self, clock: int, phase: int) -> float:
        """The same for one place: whole numbers of Python are quicker than arrays of one."""
        since = (clock - phase) % WHOLE
        struck = self.rest > 0 and since > WHOLE - self.rest
        return struck * self.duration_s + max(0, self.event - since) * self.part_s


def _parts(seconds: float, period_s: float) -> int:
    return int(seconds / period_s * WHOLE)


class PeriodicHits:
    """A periodic source by sorted phases: the places hit are a slice."""

    def __init__(
        self, source: Source, target: Target, phases: Phases, granularity_s: float, rng: np.random.Generator
    ) -> None:
        self._window, self._target, self._rng = _Window(source, granularity_s), target, rng
        self._order = np.argsort(phases, kind="stable")
        self._sorted = phases[self._order]

    def hits(self, clock_s: float, waited_s: float) -> Hits:
        window, clock = self._window, self._window.clock(clock_s)
        few = not window.whole or self._target.all_ranks
        chosen, phases = self._near(clock) if few else (self._order, self._sorted)
        if not len(chosen) and not window.whole:
            return NOTHING
        more = window.more(np.uint64(clock) - phases)
        if self._target.synchronised:
            lost = window.whole * window.duration_s + float(more.sum())
            return self._target.everywhere(lost, self._rng) if lost > 0 else NOTHING
        if few:
            common = window.whole * window.duration_s
            return replace(self._target.spread(chosen, more, self._rng), common_s=common)
        return self._many(chosen, more)

    def _near(self, clock: int) -> tuple[Ints, Phases]:
        """The places whose phase lies less than an event before the clock, or less than the work after it."""
        window, ordered = self._window, self._sorted
        if window.event + window.rest >= WHOLE:
            return self._order, ordered
        first, last = (clock - window.event + 1) % WHOLE, (clock + window.rest) % WHOLE
        low, high = ordered.searchsorted(np.array([first, last], dtype=np.uint64))
        if first <= last:
            return self._order[low:high], ordered[low:high]
        return np.concatenate((self._order[low:], self._order[:high])), np.concatenate((ordered[low:], ordered[:high]))

    def _many(self, chosen: Ints, more: Floats) -> Hits:
        """Several events at each place: each of them chooses its rank."""
        width, whole, duration = self._target.width, self._window.whole, self._window.duration_s
        if width == 1:
            return self._target.spread(chosen, more + whole * duration, self._rng)
        counts = self._rng.multinomial(np.full(len(chosen), whole), np.full(width, 1 / width))
        ranks = self._target.places[chosen][:, None] + np.arange(width)
        last = self._target.spread(chosen, more, self._rng)
        return Hits(
            np.concatenate((ranks.ravel(), last.ranks)), np.concatenate((counts.ravel() * duration, last.delay_s))
        )


class PeriodicBackground:
    """A periodic source on every core that hits many of them in a step: looked up where it is wanted, never listed.

    It is its own effect, until the next step.
    """

    def __init__(self, source: Source, phases: Phases, granularity_s: float) -> None:
        self._window, self._phases = _Window(source, granularity_s), phases
        self._order = np.argsort(phases, kind="stable")
        self._sorted = phases[self._order]
        self._clock = 0
        self.common_s = self._window.whole * source.duration_s

    def hits(self, clock_s: float, waited_s: float) -> Background:
        self._clock = self._window.clock(clock_s)
        return self

    def of(self, ranks: Ints) -> Floats:
        return self._window.more(np.uint64(self._clock) - self._phases[ranks])

    def on(self, rank: int) -> float:
        return self._window.more_at(self._clock, int(self._phases[rank]))

    def longest(self) -> tuple[float, int]:
        """Either the rank whose event began last has most of it before itself, or the one whose next comes first is hit."""
        place = int(self._sorted.searchsorted(np.uint64(self._clock), side="right"))
        near = (place - 1, place % len(self._order))
        lost = [self._window.more_at(self._clock, int(self._sorted[one])) for one in near]
        longer = lost[1] > lost[0]
        return lost[longer], int(self._order[near[longer]])
