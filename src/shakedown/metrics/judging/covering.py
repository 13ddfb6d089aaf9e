"""Acts that cover each other: without one of them nothing changes, and without all of them something does. ``taken_together``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Acts = frozenset[int]


def taken_together(acts: Sequence[int], lost: Callable[[Acts], tuple[str, ...]]) -> dict[Acts, tuple[str, ...]]:
    """Purpose: the sets of acts, none of which takes anything alone, that take something away together: each as small as it can be,
    with what ``lost`` says of it, a phrase each. No act is in two sets. ``acts``: in the order of the log.
    """
    found: dict[Acts, tuple[str, ...]] = {}
    left = tuple(acts)
    while len(left) > 1 and lost(frozenset(left)):
        group = _least(left, lost)
        found[frozenset(group)] = lost(frozenset(group))
        left = tuple(act for act in left if act not in group)
    return found


def _least(group: tuple[int, ...], lost: Callable[[Acts], tuple[str, ...]]) -> tuple[int, ...]:
    """Those that are needed. The later ones are left out first, halves before single ones: most acts have nothing to do with it."""
    size = len(group) // 2
    while size:
        for begin in range(len(group) - size, -size, -size):
            kept = group[: max(begin, 0)] + group[begin + size :]
            if kept and lost(frozenset(kept)):
                group = kept
        size //= 2
    return group
