"""Acts that cover each other: without one of them nothing changes, and without all of them something does.

``taken_together`` says which acts take something only together, ``taken_beside`` which do so with acts that are told already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

Acts = frozenset[int]
_MOST_STEPS = (
    64  # pieces into which acts that are told already are divided, to find those that have to do with another one
)


def taken_together(
    acts: Sequence[int], lost: Callable[[Acts], tuple[str, ...]], parts: Iterable[Sequence[int]] = ()
) -> dict[Acts, tuple[str, ...]]:
    """Purpose: the sets of acts, none of which takes anything alone, that take something away together: each as small as it can be,
    with what ``lost`` says of it, a phrase each. No act is in two sets. ``acts``: in the order of the log; ``parts``: some of them
    that are asked about by themselves, after all of them.
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
    """Purpose: the sets of acts that take something away only together with acts that are told for something else: the acts, those
    with which they do so, and what. ``lost``: what some acts take away where others are left out of account. No act is in two sets.
    """
    left = tuple(acts)
    while left and told and lost(frozenset(left), told):
        mine = frozenset(least(left, lambda some: lost(some, told)))
        beside = frozenset(least(tuple(sorted(told)), partial(lost, mine), _MOST_STEPS))
        yield mine, beside, lost(mine, beside)
        left = tuple(act for act in left if act not in mine)


def since_each(acts: Sequence[int], about: Mapping[int, tuple[str, frozenset[str]]]) -> Iterator[tuple[int, ...]]:
    """Purpose: for each act, it and the later ones on the same matter, and it and all later ones.

    Without all acts, less may count than without the later ones: a drill that nobody did has lost nothing, and a failure that
    nobody ruled the vendor's is no interrupt. ``about``: act -> its kind and its matters, such as the runs that it rules. Of acts
    of one kind in a row, each on a new matter, only the first begins a part: there may be thousands of rulings.
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
    """Purpose: those of some acts that are needed for ``lost`` to find something. The later ones are left out first, halves
    before single ones: most acts have nothing to do with it.
    ``steps``: into how many pieces they are divided at most; 0: into single ones.
    """
    size, smallest = len(group) // 2, max(1, len(group) // steps) if steps else 1
    while size >= smallest:
        for begin in range(len(group) - size, -size, -size):
            kept = group[: max(begin, 0)] + group[begin + size :]
            if kept and lost(frozenset(kept)):
                group = kept
        size //= 2
    return group
