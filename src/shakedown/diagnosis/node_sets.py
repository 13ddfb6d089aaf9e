"""The nodes of many runs as numbers. Each node set is read once, however many runs had it, and a node has one number in all.

100,000 runs on a hundred nodes each are ten million names: as text they take minutes, as arrays of numbers a moment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from shakedown.diagnosis.node_names import unfold

Numbers = npt.NDArray[np.int32]

# A part of a set that is read here: a prefix with a letter in it, one list of ranges, and what follows. Others are unfolded.
_PART = re.compile(r"([A-Za-z0-9_.:-]*[A-Za-z_.:-])\[([0-9,-]+)\]((?:[A-Za-z_.:-][A-Za-z0-9_.:-]*)?)(?:,|$)")
_DIGITS = 6  # of a number: more are unfolded
_NONE = np.empty(0, dtype=np.int32)


class NodeSets:
    """``names``: the nodes by their numbers, in the order in which they were first met."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._tables: dict[tuple[str, str, int, str], Numbers] = {}
        self._read: dict[tuple[str, str], Numbers | None] = {}
        self._bits: dict[str, int] = {}

    def number(self, name: str) -> int:
        """The number of a node."""
        known = self._numbers.setdefault(name, len(self.names))
        if known == len(self.names):
            self.names.append(name)
        return known

    def of_names(self, names: Iterable[str], cluster: str = "") -> Numbers:
        """The numbers of some nodes, of a cluster where there are several."""
        before = f"{cluster}:" if cluster else ""
        return np.array([self.number(before + name) for name in names], dtype=np.int32)

    def numbers(self, text: str, cluster: str = "") -> Numbers | None:
        """Purpose: the nodes of a set, each once; None where it cannot be read, as in ``unfold``."""
        key = (text, cluster)
        if key not in self._read:
            self._read[key] = self._unfolded(text, cluster)
        return self._read[key]

    def bits(self, text: str) -> int:
        """Purpose: a set as the bits of one number, 0 where it cannot be read: two sets have no node in common where ``&`` is 0."""
        if text not in self._bits:
            numbers = self.numbers(text)
            self._bits[text] = 0 if numbers is None else _as_bits(numbers)
        return self._bits[text]

    def _unfolded(self, text: str, cluster: str) -> Numbers | None:
        parts = self._ranges(text, cluster) if "[" in text else None
        if parts is not None:
            return parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts)).astype(np.int32)
        names = unfold(text)
        return None if names is None else self.of_names(names, cluster)

    def _ranges(self, text: str, cluster: str) -> list[Numbers] | None:
        """The nodes of a set of plain ranges, part by part; None where it has anything else."""
        found: list[Numbers] = []
        at = 0
        while at < len(text):
            part = _PART.match(text, at)
            if part is None or (part.end() == len(text) and text.endswith(",")):
                return None
            prefix, ranges, suffix = part.groups()
            bounds = _bounds(ranges)
            if bounds is None:
                return None
            found.append(self._of_ranges((cluster, prefix, _width(ranges), suffix), bounds))
            at = part.end()
        return found

    def _of_ranges(self, key: tuple[str, str, int, str], bounds: Sequence[tuple[int, int]]) -> Numbers:
        """The numbers of nodes whose names are alike but for a number of so many digits; ``bounds``: the first and the last."""
        most = bounds[-1][1]
        table = self._tables.get(key)
        if table is None or len(table) <= most:
            grown = np.full(max(1024, 2 * most + 1), -1, dtype=np.int32)
            if table is not None:
                grown[: len(table)] = table
            table = self._tables[key] = grown
        found = np.concatenate([table[low : high + 1] for low, high in bounds])
        if found.min() >= 0:
            return found
        cluster, prefix, width, suffix = key
        before = f"{cluster}:{prefix}" if cluster else prefix
        for low, high in bounds:
            for number in (np.flatnonzero(table[low : high + 1] < 0) + low).tolist():
                table[number] = self.number(f"{before}{number:0{width}d}{suffix}")
        return np.concatenate([table[low : high + 1] for low, high in bounds])


def _width(ranges: str) -> int:
    return len(ranges.partition(",")[0].partition("-")[0])


def _bounds(ranges: str) -> list[tuple[int, int]] | None:
    """The first and the last of each range. None where one is none, where they do not rise, or where their numbers have several
    widths: nobody can say here whether these are padded.
    """
    found, width, before = list[tuple[int, int]](), _width(ranges), ""
    if not 0 < width <= _DIGITS:
        return None
    for one in ranges.split(","):
        low, dash, high = one.partition("-")
        high = high if dash else low
        if not (before < low <= high and len(low) == len(high) == width) or "-" in high:
            return None
        found.append((int(low), int(high)))
        before = high
    return found


def together(parts: Sequence[Numbers]) -> Numbers:
    """Purpose: arrays one after the other; an empty one of none."""
    return np.concatenate(parts) if parts else _NONE


def _as_bits(numbers: Numbers) -> int:
    if len(numbers) == 1:
        return 1 << int(numbers[0])
    mask = np.zeros(int(numbers.max(initial=0)) + 1, dtype=bool)
    mask[numbers] = True
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little") if len(numbers) else 0
