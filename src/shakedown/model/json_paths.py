"""Paths into JSON and YAML: ``results[0].bw``, ``runs[*].time``, ``["key with.dots"].value``.

``parse`` reads a path, ``find`` follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

ALL = "*"  # every item of a list, or every value of an object
Step = str | int | tuple[str]  # a key, a place in a list (from the end where negative), or (ALL,)

_STEP = re.compile(r"""\.?\[(?:(-?\d{1,9})|(\*)|"([^"]*)"|'([^']*)')\]|\.?([^.\[\]]+)""")
_MOST = 10_000  # values that one path may find


@lru_cache(maxsize=5_000)
def parse(path: str) -> tuple[Step, ...]:
    """Purpose: the steps of a path. Raises ValueError with a sentence."""
    steps: list[Step] = []
    end = 0
    while end < len(path):
        match = _STEP.match(path, end)
        if match is None or (end == 0 and path.startswith(".")):
            raise ValueError(f"'{path}' is not a path such as triad.gb_s, results[0].bw or runs[*].time")
        place, every, double, single, key = match.groups()
        if place is not None:
            steps.append(int(place))
        elif every is not None or key == ALL:
            steps.append((ALL,))
        else:
            steps.append(next(text for text in (double, single, key) if text is not None))
        end = match.end()
    if not steps:
        raise ValueError("an empty path")
    return tuple(steps)


def last_key(path: str) -> str:
    """The last key of a path, "" where it has none: only text that holds it can hold what the path leads to."""
    return next(iter(keys_up(path)), "")


def keys_up(path: str) -> list[str]:
    """Purpose: the keys of a path, the last one first."""
    return [step for step in reversed(parse(path)) if isinstance(step, str)]


def find(steps: tuple[Step, ...], value: Any) -> Iterator[Any]:
    """Purpose: every value that the path leads to, in their order; none where it leads nowhere."""
    if not steps:
        yield value
        return
    step, rest = steps[0], steps[1:]
    for inner in _inner(step, value):
        yield from find(rest, inner)


def lacking(steps: tuple[Step, ...], value: Any) -> tuple[int, int]:
    """Purpose: the number of items of a ``[*]``, and of those that lack what the path goes on with; 0 and 0 unless some do."""
    at = next((place for place, step in enumerate(steps) if isinstance(step, tuple)), len(steps))
    rest = steps[at + 1 :]
    until = next((place for place, step in enumerate(rest) if isinstance(step, tuple)), len(rest))
    for holder in find(steps[:at], value) if at < len(steps) else ():
        items = _inner(steps[at], holder)
        without = sum(not any(True for _ in find(rest[:until], item)) for item in items)
        if 0 < without < len(items):
            return len(items), without
        for item in items if until < len(rest) else ():
            if (found := lacking(rest, item)) != (0, 0):
                return found
    return 0, 0


def _inner(step: Step, value: Any) -> list[Any]:
    if isinstance(step, tuple):
        found = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
        return found[:_MOST]
    if isinstance(step, int):
        there = isinstance(value, list) and -len(value) <= step < len(value)
        return [value[step]] if there else []
    if not isinstance(value, dict):
        return []
    if step in value:
        return [value[step]]
    # keys of YAML may be numbers
    return [found for key, found in value.items() if not isinstance(key, str) and str(key) == step][:1]
