"""Write bandwidth of a parallel file system against the number of streams: it saturates, then seeks cost.

    B(W) = B_max x / (1 + x^4)^(1/4) / (1 + a s),   x = W b / B_max,   s = W / OSTs

W streams of rate b each on s streams per OST. The sharpness of 4 is assumed. B_max, a and the two rates are set so that the
two peaks of paper 000 (figure 3: place and height, nothing else is printed) come out: at a peak x^4 = 1/(a s) and
B = B_max (1 + a s)^(-5/4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from shakedown.model.errors import UsageError

SHARPNESS = 4
GIB = 2.0**30


@dataclass(frozen=True, slots=True)
class Peak:
    """Where writing was fastest: so many streams, so fast."""

    streams: int
    bytes_per_s: float


@dataclass(frozen=True, slots=True)
class StreamLaw:
    """A file system and one kind of node that writes to it."""

    name: str
    targets: int
    most_bytes_per_s: float
    seek_share: float  # what each stream on an OST costs all of them
    stream_bytes_per_s: float

    def bytes_per_s(self, streams: float) -> float:
        """Purpose: what so many streams write together. Raises UsageError for none."""
        if not 0 < streams < 1e12:
            raise UsageError(f"{streams} streams", "write with at least one")
        x = streams * self.stream_bytes_per_s / self.most_bytes_per_s
        saturated: float = (x**-SHARPNESS + 1) ** (-1 / SHARPNESS)
        return self.most_bytes_per_s * saturated / (1 + self.seek_share * streams / self.targets)


TRINITY_TARGETS = 216  # OSTs of one of Trinity's two file systems
HASWELL_PEAK, KNL_PEAK = Peak(1944, 772 * GIB), Peak(3456, 738 * GIB)


def from_peaks(targets: int, one: Peak, other: Peak, names: tuple[str, str]) -> tuple[StreamLaw, StreamLaw]:
    """Purpose: the laws of two kinds of nodes on one file system from the peak of each (``other`` at more streams)."""
    ratio = (one.bytes_per_s / other.bytes_per_s) ** (SHARPNESS / (SHARPNESS + 1))
    crowd, more = one.streams / targets, other.streams / targets
    seek = (ratio - 1) / (more - ratio * crowd)
    most = one.bytes_per_s * (1 + seek * crowd) ** (1 + 1 / SHARPNESS)

    def law(name: str, peak: Peak) -> StreamLaw:
        x = (seek * peak.streams / targets) ** (-1 / SHARPNESS)
        return StreamLaw(name, targets, most, seek, x * most / peak.streams)

    return law(names[0], one), law(names[1], other)


HASWELL, KNL = from_peaks(TRINITY_TARGETS, HASWELL_PEAK, KNL_PEAK, ("haswell", "knl"))
_BEFORE = (
    806 / 772
)  # figure 2: 806 GiB/s from Haswell nodes before the software was renewed; that all scales is assumed
HASWELL_BEFORE = replace(
    HASWELL,
    name="haswell-before",
    most_bytes_per_s=_BEFORE * HASWELL.most_bytes_per_s,
    stream_bytes_per_s=_BEFORE * HASWELL.stream_bytes_per_s,
)
LAWS = {law.name: law for law in (HASWELL, KNL, HASWELL_BEFORE)}


def best_streams(law: StreamLaw) -> int:
    """How many streams write fastest, from the condition above."""
    # x^4 = 1/(a s) with x = s * targets * b / B_max
    scale = law.targets * law.stream_bytes_per_s / law.most_bytes_per_s
    crowd: float = (law.seek_share * scale**SHARPNESS) ** (-1 / (SHARPNESS + 1))
    return math.floor(law.targets * crowd + 0.5)
