"""Acts that cover each other: leaving out one of them changes nothing, and leaving out all of them changes something.

``taken_together`` finds acts that take something away only together; ``taken_beside`` finds acts that do so only together with acts
that are already reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

Acts = frozenset[int]
_MOST_STEPS = 64  # pieces into which the reported acts are divided, to find those that combine with another act


def taken_together(
    acts: Sequence[int], lost: Callable[[Acts], tuple[str, ...]], parts: Iterable[Sequence[int]] = ()
) -> dict[Acts, tuple[str, ...]]:
    """Purpose: the smallest sets of acts that take something away together, where no act does so alone: each set with the phrases
    that ``lost`` returns for it. No act is in two sets. ``acts``: in the order of the log; ``parts``: subsets of them that are
    tried separately, after all of them.
    """
    found: dict[Acts, tuple[str, ...]] = {}
    taken: set[int] = set()
    for some in (acts, *parts):
        left = tuple(act for act in some if act not in taken)
        while len(left) > 1 and lost(frozenset(left)):
            group = least(left, lost)
            found[frozenset(group)] = lost(frozenset(group))
            taken.update(group)
            left = tuple(act for act in left if act not in group)
    return found


def taken_beside(
    acts: Sequence[int], told: Acts, lost: Callable[[Acts, Acts], tuple[str, ...]]
) -> Iterator[tuple[Acts, Acts, tuple[str, ...]]]:
    """Purpose: the sets of acts that take something away only together with acts already reported for something else: the acts, the
    reported acts they need, and the phrases. ``lost``: what leaving out the first acts takes away if the second are left out too.
    No act is in two sets.
    """
    left = tuple(acts)
    while left and told and lost(frozenset(left), told):
        mine = frozenset(least(left, lambda some: lost(some, told)))
        beside = frozenset(least(tuple(sorted(told)), partial(lost, mine), _MOST_STEPS))
        yield mine, beside, lost(mine, beside)
        left = tuple(act for act in left if act not in mine)


def since_each(acts: Sequence[int], about: Mapping[int, tuple[str, frozenset[str]]]) -> Iterator[tuple[int, ...]]:
    """Purpose: for each act, the tuple of it and the later acts on the same matter, and the tuple of it and all later acts.

    Without all acts, less may be lost than without the later ones only: a drill that nobody did has lost nothing, and a failure
    that nobody ruled the vendor's is no interrupt. ``about``: act -> its kind and its matters, such as the runs that it rules. In a
    sequence of acts of one kind, each on a new matter, only the first starts a tuple, because there may be thousands of rulings.
    """
    on: dict[str, list[int]] = {}
    for act in acts:
        for matter in about[act][1]:
            on.setdefault(matter, []).append(act)
    seen: set[str] = set()
    before = ""
    for place, act in enumerate(acts):
        kind, matters = about[act]
        alike = sorted({one for matter in matters for one in on[matter] if one >= act})
        if len(alike) > 1:
            yield tuple(alike)
        if matters & seen or kind != before:
            yield tuple(acts[place:])
        seen |= matters
        before = kind


def least(group: tuple[int, ...], lost: Callable[[Acts], object], steps: int = 0) -> tuple[int, ...]:
    """Purpose: a smallest part of the acts for which ``lost`` still finds something. Later acts are dropped first, and halves
    before single acts, because most acts are irrelevant. ``steps``: the most pieces into which the acts are divided; 0: down to
    single acts.
    """
    size, smallest = len(group) // 2, max(1, len(group) // steps) if steps else 1
    while size >= smallest:
        for begin in range(len(group) - size, -size, -size):
            kept = group[: max(begin, 0)] + group[begin + size :]
            if kept and lost(frozenset(kept)):
                group = kept
        size //= 2
    return group
