"""A ladder: the sizes of a test, of which only those run that tell from which size on it fails or slows down.

``rungs_of`` finds the sizes of each test, ``climb`` says which of them is needed next. The engine orders by it, and judging
says by it how a ladder came out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

Word = Literal["open", "holds", "fails", "spared"]


class Ladder(Struct, frozen=True):
    """A component's word that its tests are run as ladders.

    ``along``: the parameter that grows. ``figure``: a size also fails where the median of this figure is worse than at the smallest
    size by more than ``within``, a share of that (0.25 is 25 %); "" where only verdicts count. ``higher``: more of the figure
    is better.
    """

    along: str
    figure: str = ""
    within: float = 0.0
    higher: bool = False

    def in_words(self) -> str:
        """ "along nodes; a size also fails where rate is worse than at the smallest by more than 20%"."""
        slower = (
            f"; a size also fails where {self.figure} is worse than at the smallest by more than {100 * self.within:g}%"
        )
        return f"along {self.along}{slower if self.figure else ''}"


def easier(old: Ladder, new: Ladder) -> bool:
    """Purpose: whether the later ladder, along the same parameter, may let more sizes hold: larger tolerance or another figure."""
    if not old.figure:
        return False
    return (old.figure, old.higher) != (new.figure, new.higher) or new.within > old.within


class Sized(Protocol):
    """A case, as far as a ladder looks at it."""

    @property
    def id(self) -> str: ...

    @property
    def test(self) -> str: ...

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]: ...

    @property
    def partition(self) -> str: ...

    @property
    def toolchain(self) -> str: ...

    @property
    def unavailable(self) -> str: ...


class Rung(Struct, frozen=True):
    """One size of a ladder: the case that has it, and the size as it was written."""

    case: str
    size: str


class Climb(Struct, frozen=True):
    """The state of a ladder. ``holds``: the largest size that is known to hold; ``fails``: the smallest that is known to fail,
    of those that were needed. ``next``: the size that is needed now, None where the ladder has come to its end. ``between``:
    sizes that may still be needed, by their cases; what is neither known nor among them is spared. ``lost``: the ladder needs
    a size that an earlier one spared, so that nobody can say more.
    """

    holds: Rung | None = None
    fails: Rung | None = None
    next: Rung | None = None
    between: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    lost: Rung | None = None


def rungs_of(ladder: Ladder, cases: Iterable[Sized]) -> tuple[tuple[Rung, ...], ...]:
    """Purpose: the ladders that these cases make, each from its smallest size to its largest. Cases that differ only in the
    parameter ``along`` are one ladder; cases that this system cannot run are in none.
    """
    found: dict[tuple[str, ...], list[tuple[float, Rung]]] = {}
    for case in cases:
        size = size_of(ladder, case)
        if size is None or case.unavailable:
            continue
        others = tuple(f"{name}={value}" for name, value in case.parameters if name != ladder.along)
        place = (case.test, case.partition, case.toolchain, *others)
        found.setdefault(place, []).append((size, Rung(case.id, dict(case.parameters)[ladder.along])))
    return tuple(tuple(rung for _, rung in sorted(rungs, key=lambda one: one[0])) for rungs in found.values())


def size_of(ladder: Ladder, case: Sized) -> float | None:
    """Purpose: the size of a case; None if the case lacks the parameter or its value is not a number."""
    try:
        return float(dict(case.parameters)[ladder.along])
    except (KeyError, ValueError):
        return None


def word_of(
    ladder: Ladder, good: Sequence[bool], spared: bool, wanted: int, value: float | None, smallest: float | None
) -> Word:
    """Purpose: how one size came out. ``good``: of each of its results that is closed, whether it passed, or ended as its case
    expects; ``wanted``: how many there are to be. ``value``: the median of the ladder's figure, ``smallest``: that at the
    smallest size.
    """
    if spared:
        return "spared"
    if not all(good):
        return "fails"
    if len(good) < wanted:
        return "open"
    return "fails" if ladder.figure and is_slower(ladder, value, smallest) else "holds"


def is_slower(ladder: Ladder, value: float | None, smallest: float | None) -> bool:
    """Purpose: whether a size measures worse than the smallest one by more than the ladder allows. Without a value it cannot
    hold.
    """
    if value is None or smallest is None:
        return True
    worse = smallest - value if ladder.higher else value - smallest
    return worse > ladder.within * abs(smallest) * (1 + 1e-9)


def climb(rungs: Sequence[Rung], word: Callable[[Rung], Word]) -> Climb:
    """Purpose: where a ladder stands. ``word`` says of a size how it came out, and is asked only of sizes that are needed.

    The smallest comes first, then the largest; where the one holds and the other fails, the one in the middle of those that
    left, until a size that holds and one that fails stand side by side. Sizes between two that hold, or above one that
    fails, are taken to do the same: so where the size that is needed was spared, another one that ran may tell.
    """
    known: set[str] = set()
    low, high = -1, len(rungs)  # the largest that holds, the smallest that fails
    at = 0 if rungs else None
    while at is not None:
        said = word(rungs[at])
        if said == "spared":
            told = _told_by_another(rungs, low, at, high, word)
            if told is None:
                return _standing(rungs, low, high, known, lost=rungs[at])
            at, said = told
        if said == "open":
            return _standing(rungs, low, high, known, next=rungs[at])
        known.add(rungs[at].case)
        low, high = (at, high) if said == "holds" else (low, at)
        at = _after(low, high, len(rungs))
    return _standing(rungs, low, high, known)


def _told_by_another(
    rungs: Sequence[Rung], low: int, at: int, high: int, word: Callable[[Rung], Word]
) -> tuple[int, Word] | None:
    """The smallest of those below a spared size that fails, else the largest above it that holds."""
    for place in range(low + 1, at):
        if word(rungs[place]) == "fails":
            return place, "fails"
    for place in range(high - 1, at, -1):
        if word(rungs[place]) == "holds":
            return place, "holds"
    return None


def _after(low: int, high: int, count: int) -> int | None:
    """The size that is needed after these; None where the smallest fails, the largest holds, or the two stand side by side."""
    if low < 0 or low == count - 1:
        return None
    if high == count:
        return count - 1
    return (low + high) // 2 if high - low > 1 else None


def _standing(
    rungs: Sequence[Rung], low: int, high: int, known: set[str], next: Rung | None = None, lost: Rung | None = None
) -> Climb:
    open_ones = rungs[low + 1 : high] if next is not None else ()
    return Climb(
        holds=rungs[low] if low >= 0 else None,
        fails=rungs[high] if high < len(rungs) else None,
        next=next,
        between=frozenset(rung.case for rung in open_ones if rung.case not in known),
        known=frozenset(known),
        lost=lost,
    )
