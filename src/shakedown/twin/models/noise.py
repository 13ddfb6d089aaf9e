"""Bulk-synchronous steps on a machine whose operating system takes time: each step is as long as its unluckiest rank.

A step is ``granularity`` of work on every rank, then a collective that waits for all: max over ranks of (granularity + noise)
+ collective (Petrini, Kerbyson and Pakin 2003 on what paper 003 shows; Ferreira, Bridges and Brightwell 2008). Noise is exact
for each source: an event that began before the step still costs what is left of it, one that comes while all wait costs
nobody. What several sources take of one rank adds up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shakedown.model.errors import UsageError
from shakedown.twin.models.noise_hits import Background, Hits, Sampler
from shakedown.twin.models.noise_samplers import samplers_of
from shakedown.twin.models.noise_sources import Placement, Source

Floats = npt.NDArray[np.float64]
Collective = float | Callable[[int], float]  # seconds, or seconds of so many processes

MOST_STEPS = 10_000_000
MOST_EVENTS = 1e9  # of one source at one place in one step


@dataclass(frozen=True, slots=True)
class NoiseRun:
    """``step_s``: of every step, with noise and collective. ``quiet_s``: a step without noise.

    ``blame_s``: of each source, the mean it took in a step from the rank that all waited for.
    """

    step_s: Floats
    quiet_s: float
    blame_s: dict[str, float]

    @property
    def mean_s(self) -> float:
        return math.fsum(self.step_s) / len(self.step_s)

    @property
    def slowdown(self) -> float:
        return self.mean_s / self.quiet_s


def simulate(
    placement: Placement,
    sources: Sequence[Source],
    granularity_s: float,
    steps: int,
    collective_s: Collective = 0.0,
    seed: int = 0,
    warm_up: int = 0,
) -> NoiseRun:
    """Purpose: so many steps of ``granularity_s`` each. The same seed gives the same numbers; a source has its own stream of
    them by its name, so that leaving one out does not change what the others do.

    ``warm_up``: steps before them that are not counted. The first step of a job pays for what is under way when it starts."""
    collective = collective_s(placement.processes) if callable(collective_s) else collective_s
    _check_run(sources, granularity_s, steps, collective)
    samplers = samplers_of(sources, placement, granularity_s, seed)
    machine = _Machine(placement.processes, [sampler for _, sampler in samplers])
    quiet = granularity_s + collective
    step_s, blame = np.empty(steps), np.zeros(len(samplers))
    clock, waited = 0.0, math.inf  # before the first step all wait for the start of the job
    for number in range(-warm_up, steps):
        if number == 0:
            blame[:] = 0.0
        delay = machine.step(clock, waited, blame)
        if number >= 0:
            step_s[number] = quiet + delay
        clock += quiet + delay
        waited = delay + collective
    shares = {name: float(seconds) / steps for (name, _), seconds in zip(samplers, blame, strict=True)}
    return NoiseRun(step_s, quiet, {source.name: shares.get(source.name, 0.0) for source in sources})


class _Machine:
    """What every rank lost in the step at hand, kept only where something hit."""

    def __init__(self, processes: int, samplers: list[Sampler]) -> None:
        self._lost = np.zeros(processes)
        self._samplers = samplers

    def step(self, clock_s: float, waited_s: float, blame: Floats) -> float:
        """The longest delay of a rank, in seconds; what each sampler took of it is added to ``blame``."""
        effects = [sampler.hits(clock_s, waited_s) for sampler in self._samplers]
        hits = [effect for effect in effects if isinstance(effect, Hits) and len(effect.ranks)]
        background = next((effect for effect in effects if not isinstance(effect, Hits)), None)
        for effect in hits:
            np.add.at(self._lost, effect.ranks, effect.delay_s)
        longest, rank = self._longest(hits, background)
        common = sum(effect.common_s for effect in effects)
        if longest + common > 0:
            blame += [effect.common_s + effect.on(rank) for effect in effects]
        for effect in hits:
            self._lost[effect.ranks] = 0.0
        return longest + common

    def _longest(self, hits: list[Hits], background: Background | None) -> tuple[float, int]:
        """A rank that is not listed loses to the background alone, and none of them more than the background's longest."""
        longest, rank = background.longest() if background else (0.0, 0)
        for effect in hits:
            lost = self._lost[effect.ranks]
            if background:
                lost += background.of(effect.ranks)
            place = int(lost.argmax())
            if lost[place] > longest:
                longest, rank = float(lost[place]), int(effect.ranks[place])
        return longest, rank


def _check_run(sources: Sequence[Source], granularity_s: float, steps: int, collective_s: float) -> None:
    if not (math.isfinite(granularity_s) and 0 < granularity_s <= 1e9):
        raise UsageError(f"a granularity of {granularity_s:g} s: it must be more than nothing, and a number")
    if not (math.isfinite(collective_s) and 0 <= collective_s <= 1e9):
        raise UsageError(f"a collective of {collective_s:g} s: it must be a time")
    if not 1 <= steps <= MOST_STEPS:
        raise UsageError(f"{steps} steps: from 1 to {MOST_STEPS:,} can be modelled")
    names = [source.name for source in sources]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"two sources are called '{twice[0]}'", "give each a name of its own")
    for source in sources:
        if granularity_s > MOST_EVENTS * (source.period_s - source.duration_s):
            raise UsageError(f"source {source.name}: more than {MOST_EVENTS:g} events in one step cannot be modelled")
