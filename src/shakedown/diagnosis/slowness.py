"""How slow each run was for its case, and which runs are slow: ranks inside a stratum, so that no shape of noise is assumed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

WINDOW = 33  # runs of the same case, neighbours in time, whose median is the usual time
CUTS = (
    1 / 3,
    1 / 10,
    1 / 30,
)  # a run is slow if it is in this upper share of its stratum: three questions, each corrected for
CUT_WORDS = ("third", "tenth", "thirtieth")


def slowness(logs: Floats, groups: Sequence[Ints]) -> Floats:
    """Purpose: the logarithm of what each run took over what is usual for its case, mode and epoch around its start.

    ``logs``: of what the runs took. ``groups``: places of the runs that are compared, in the order of their starts. Usual is the
    median of the 33 neighbours, of all where there are fewer: a machine that slows down for everybody makes nobody slow.
    """
    found = np.zeros(len(logs))
    for places in groups:
        found[places] = logs[places] - _usual(logs[places])
    return found


def ranks(value: Floats, stratum: Ints) -> Floats:
    """Purpose: where each value lies in its stratum, from 0 (the least) to 1; equal ones in the middle of their places."""
    found = np.full(len(value), 0.5)
    order = np.lexsort((value, stratum))
    for places in np.split(order, np.flatnonzero(np.diff(stratum[order])) + 1):
        own = value[places]
        low, high = np.searchsorted(own, own, side="left"), np.searchsorted(own, own, side="right")
        found[places] = (low + high) / (2 * max(1, len(own)))
    return found


def slow_marks(value: Floats, stratum: Ints, alive: Mask) -> list[Mask]:
    """Purpose: for each of CUTS the trials that are slow: those above all but the upper share of their stratum, ties left out."""
    places = np.flatnonzero(alive)
    order = places[np.lexsort((-value[places], stratum[places]))]
    begins = np.flatnonzero(np.diff(stratum[order], prepend=-1))
    sizes = np.diff(begins, append=len(order))
    marks = []
    for share in CUTS:
        mask = np.zeros(len(value), dtype=bool)
        many = (sizes * share + 1e-9).astype(np.int64)
        bounds = np.repeat(value[order[begins + np.minimum(many, sizes - 1)]], sizes)
        mask[order] = (value[order] > bounds + 1e-12) & np.repeat(many > 0, sizes)
        marks.append(mask)
    return marks


def _usual(logs: Floats) -> Floats:
    if len(logs) < 2 * WINDOW:
        return np.full(len(logs), np.median(logs))
    middle = np.median(np.lib.stride_tricks.sliding_window_view(logs, WINDOW), axis=1)
    return np.pad(middle, WINDOW // 2, mode="edge")
