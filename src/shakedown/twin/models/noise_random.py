"""Random noise, exact in distribution: a source that is off for an exponential time, then on for one.

Being off has no memory: the events that begin in a step's work are Poisson, and whether one runs as the step begins depends on
how long the rank has waited for the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from shakedown.twin.models.noise_hits import NOTHING, Floats, Hits, Ints, Target
from shakedown.twin.models.noise_sources import Source

FEW = 4.0  # events at one place in a step, up to which they are drawn one by one


@dataclass(frozen=True, slots=True)
class _Begun:
    places: Ints
    ranks: Ints
    delay_s: Floats


_NONE = _Begun(NOTHING.ranks, NOTHING.ranks, NOTHING.delay_s)


class RandomHits:
    """A source that is off for an exponential time and on for one, at each place on its own."""

    def __init__(self, source: Source, target: Target, granularity_s: float, rng: np.random.Generator) -> None:
        self._target, self._rng, self._mean_s = target, rng, source.duration_s
        self._places = 1 if target.synchronised else len(target.places)
        self._expected = granularity_s / (source.period_s - source.duration_s)  # events in a step's work at a place
        self._duty = source.duration_s / source.period_s
        self._rate = 1 / source.duration_s + 1 / (source.period_s - source.duration_s)
        self._lost = np.zeros(self._places)  # in the last step, by place: who lost time has waited less
        self._last = NOTHING.ranks

    def hits(self, clock_s: float, waited_s: float) -> Hits:
        on, on_s = self._on_already(waited_s)
        self._lost[self._last] = 0.0
        begun = self._every_place() if self._expected > FEW else self._some_places()
        if not len(on) + len(begun.places):
            self._last = NOTHING.ranks
            return NOTHING
        places, delay_s = np.concatenate((on, begun.places)), np.concatenate((on_s, begun.delay_s))
        np.add.at(self._lost, places, delay_s)
        self._last = places
        if self._target.synchronised:
            return self._target.everywhere(float(delay_s.sum()), self._rng)
        running = self._target.spread(on, on_s, self._rng)
        return Hits(np.concatenate((running.ranks, begun.ranks)), delay_s)

    def _on_already(self, waited_s: float) -> tuple[Ints, Floats]:
        """The places where an event runs as the step begins, and what is left of it."""
        most = self._chance(waited_s)
        if most <= 0:
            return NOTHING.ranks, NOTHING.delay_s
        count = int(self._rng.binomial(self._places, most))
        if not count:
            return NOTHING.ranks, NOTHING.delay_s
        chosen = self._rng.choice(self._places, count, replace=False, shuffle=False)
        if waited_s < math.inf:
            waited = np.maximum(waited_s - self._lost[chosen], 0.0)
            chances = self._duty * -np.expm1(-self._rate * waited)
            chosen = chosen[self._rng.random(count) * most < chances]
        return chosen, self._rng.exponential(self._mean_s, len(chosen))

    def _chance(self, waited_s: float) -> float:
        """That a source that was off is on so long after: a process of two states."""
        return self._duty * -math.expm1(-self._rate * waited_s)

    def _some_places(self) -> _Begun:
        """The events that begin during the work, one by one."""
        count = int(self._rng.poisson(self._expected * self._places))
        if not count:
            return _NONE
        places, delay_s = self._rng.integers(0, self._places, count), self._rng.exponential(self._mean_s, count)
        return _Begun(places, self._target.spread(places, delay_s, self._rng).ranks, delay_s)

    def _every_place(self) -> _Begun:
        """Where there are many events at each place: their sum for each rank, which has its independent share of them."""
        width = self._target.width
        counts = self._rng.poisson(self._expected / width, self._places * width)
        places = np.repeat(np.arange(self._places), width)
        ranks = self._target.places[places] + np.tile(np.arange(width), self._places)
        return _Begun(places, ranks, self._rng.standard_gamma(counts) * self._mean_s)
