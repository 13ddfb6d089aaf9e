"""What a source of noise takes in a step, of whom: ranks that are listed, or a background that all ranks have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Hits:
    """``ranks`` lose ``delay_s``, a rank as often as it is named; all ranks lose ``common_s`` besides."""

    ranks: Ints
    delay_s: Floats
    common_s: float = 0.0

    def on(self, rank: int) -> float:
        return float(self.delay_s[self.ranks == rank].sum())


class Background(Protocol):
    """All ranks lose ``common_s``, and most of them more."""

    common_s: float

    def of(self, ranks: Ints) -> Floats:
        """What these ranks lose beyond ``common_s``."""

    def on(self, rank: int) -> float:
        """What one rank loses beyond ``common_s``."""

    def longest(self) -> tuple[float, int]:
        """The most that any rank loses beyond ``common_s``, and which rank."""


class Sampler(Protocol):
    """A source on its places."""

    def hits(self, clock_s: float, waited_s: float) -> Hits | Background:
        """What a step that begins at ``clock_s`` loses, after ranks that lost nothing have waited so long for the others."""


NOTHING = Hits(np.empty(0, dtype=np.int64), np.empty(0))


@dataclass(frozen=True, slots=True)
class Target:
    """``places``: the first rank of each place that has ``width`` ranks, among whom events choose at random."""

    places: Ints
    width: int
    processes: int
    synchronised: bool

    @property
    def all_ranks(self) -> bool:
        return self.width == 1 and len(self.places) == self.processes

    def spread(self, chosen: Ints, delay_s: Floats, rng: np.random.Generator) -> Hits:
        """One event at each of the chosen places."""
        ranks = self.places[chosen]
        return Hits(ranks if self.width == 1 else ranks + rng.integers(0, self.width, len(ranks)), delay_s)

    def everywhere(self, delay_s: float, rng: np.random.Generator) -> Hits:
        """The same event at every place at once."""
        if self.all_ranks:
            return Hits(NOTHING.ranks, NOTHING.delay_s, delay_s)
        return self.spread(np.arange(len(self.places)), np.full(len(self.places), delay_s), rng)
