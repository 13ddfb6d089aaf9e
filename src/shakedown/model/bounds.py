"""The unit that a person wrote a bound in: values that stand beside it are printed in the same one.

Bounds are kept and compared in the unit of what is measured (hours, the figure's own), which need not be the one that was written.
"""

from __future__ import annotations

import re
from functools import lru_cache

from shakedown.model.units import UNITS, Quantity

_AMOUNT = re.compile(r"(?<![\w.])[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*([A-Za-z%µμ][A-Za-z%/]*)")
_PARTS = re.compile(r"(?<=[A-Za-z])(?=\d)")  # 1h30m is two amounts


def same(value: float, bound: float) -> bool:
    """Equal to within a billionth: 95 % read as 0.95 and 57 / 60 are the same share whatever the last bit says, and a value on a
    bound that was written in another unit lies on it.
    """
    return value == bound or abs(value - bound) <= 1e-9 * max(abs(value), abs(bound)) < float("inf")


def written_unit(must: str, unit: str) -> str:
    """Purpose: the unit of a bound as written ("<= 30 s": s), where it measures the same as ``unit``; else ``unit``.

    Where it is written in several units (1h30m) there is none to print a value in, and it is ``unit`` too.
    """
    found = _units(must, unit)
    return found[0] if len(found) == 1 else unit


def is_in_parts(must: str, unit: str) -> bool:
    """Purpose: whether a bound is written in several units, such as 1h30m."""
    return len(_units(must, unit)) > 1


@lru_cache(maxsize=1024)  # a settlement prints the same bounds with and without each act
def _units(must: str, unit: str) -> tuple[str, ...]:
    if unit not in UNITS:
        return ()
    dimension, text = UNITS[unit][0], _PARTS.sub(" ", must.replace("..", " "))
    named = (found.group(1) for found in _AMOUNT.finditer(text))
    return tuple(dict.fromkeys(name for name in named if name in UNITS and UNITS[name][0] == dimension))


def converted(value: float, unit: str, other: str) -> float:
    """Purpose: a value of ``unit`` in another one of the same kind; as it is where that is none."""
    try:
        return Quantity(value, unit).to(other)
    except ValueError:
        return value
