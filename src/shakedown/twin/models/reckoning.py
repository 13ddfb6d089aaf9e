"""Arithmetic with units over a machine's numbers: "knl.nodes * knl.peak", "31 GB / hopper.cores", "1 - 772 GiB/s / 806 GiB/s".

Names, numbers with or without a unit, + - * / and parentheses, and nothing else. What is added measures the same thing; what
is multiplied and divided multiplies and divides its units too. A minus between two names stands between blanks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from shakedown.model.errors import did_you_mean
from shakedown.model.units import USUAL

_LONGEST, _DEEPEST = 300, 40  # characters of an expression, and parentheses within each other
_UNIT = "|".join(re.escape(unit) for unit in sorted(filter(None, USUAL), key=len, reverse=True))
_TOKEN = re.compile(
    rf"\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d{{1,2}})?|\.\d+)(?:\s*(?P<unit>{_UNIT})(?![\w%]))?"
    r"|(?P<name>[A-Za-z_]\w*(?:[.+-]\w+)*)|(?P<sign>[-+*/()]))"
)
_PARTS: dict[str, dict[str, int]] = {  # what the dimensions of units are made of
    "number": {},
    "share": {},
    "bytes": {"bytes": 1},
    "bytes/s": {"bytes": 1, "s": -1},
    "flop/s": {"flop": 1, "s": -1},
    "ops/s": {"ops": 1, "s": -1},
    "hertz": {"s": -1},
    "seconds": {"s": 1},
    "joules": {"J": 1},
    "watts": {"J": 1, "s": -1},
}
Dimension = tuple[tuple[str, int], ...]  # of a product of units, in the order of their names; () is a plain number


class ReckoningError(ValueError):
    """What is wrong with an expression, and the way out."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in base units, what it measures, and the keys of the machine's file that it rests on and no source prints."""

    value: float
    dimension: Dimension = ()
    assumed: frozenset[str] = field(default_factory=frozenset)

    def __mul__(self, other: Amount) -> Amount:
        return Amount(_finite(self.value * other.value), _joined(self, other, 1), self.assumed | other.assumed)

    def __truediv__(self, other: Amount) -> Amount:
        if not other.value:
            raise ReckoningError("a division by zero")
        return Amount(_finite(self.value / other.value), _joined(self, other, -1), self.assumed | other.assumed)

    def __add__(self, other: Amount) -> Amount:
        if self.dimension != other.dimension:
            units = f"{unit_of(self.dimension)} and {unit_of(other.dimension)}"
            raise ReckoningError(f"{units} cannot be added: they do not measure the same thing")
        return Amount(_finite(self.value + other.value), self.dimension, self.assumed | other.assumed)

    def __neg__(self) -> Amount:
        return Amount(-self.value, self.dimension, self.assumed)


def amount(value: float, dimension: str = "number", assumed: frozenset[str] = frozenset()) -> Amount:
    """An amount in the base unit of a dimension as units have them: "bytes", "flop/s"; an unknown one is a unit of its own."""
    parts = _PARTS.get(dimension, {dimension: 1})
    return Amount(float(value), tuple(sorted(parts.items())), assumed)


def unit_of(dimension: Dimension) -> str:
    """A product of units in words: bytes/s, flop/s, 1/s; "number" for none."""
    over = [name if power == 1 else f"{name}^{power}" for name, power in dimension if power > 0]
    under = [name if power == -1 else f"{name}^{-power}" for name, power in dimension if power < 0]
    if not over and not under:
        return "number"
    return " ".join(over or ["1"]) + (f"/{'/'.join(under)}" if under else "")


def reckon(text: str, names: Mapping[str, Amount]) -> Amount:
    """Purpose: what an expression makes of these names. Raises ReckoningError."""
    if len(text) > _LONGEST:
        raise ReckoningError(f"an expression of {len(text)} characters", f"{_LONGEST} are the most")
    return _Reader(text, names).whole()


class _Reader:
    """One expression, read from left to right."""

    def __init__(self, text: str, names: Mapping[str, Amount]) -> None:
        self.text, self.names, self.at, self.depth = text, names, 0, 0
        self.token = self._next()

    def whole(self) -> Amount:
        total = self._sum()
        if self.token is not None:
            raise self._wrong()
        return total

    def _sum(self) -> Amount:
        total = self._product()
        while self._sign() in ("+", "-"):
            minus = self._take() == "-"
            term = self._product()
            total = total + (-term if minus else term)
        return total

    def _product(self) -> Amount:
        total = self._factor()
        while self._sign() in ("*", "/"):
            times = self._take() == "*"
            factor = self._factor()
            total = total * factor if times else total / factor
        return total

    def _factor(self) -> Amount:
        if self._sign() == "-":
            self._take()
            return -self._factor()
        if self._sign() == "(":
            return self._within()
        if self.token is None or self.token["sign"]:
            raise self._wrong()
        token, self.token = self.token, self._next()
        if token["name"]:
            return _look_up(token["name"], self.names)
        kind, factor = USUAL[token["unit"] or ""]
        return amount(_finite(float(token["number"]) * factor), kind)

    def _within(self) -> Amount:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ReckoningError(f"more than {_DEEPEST} parentheses within each other")
        self._take()
        total = self._sum()
        if self._sign() != ")":
            raise self._wrong()
        self._take()
        self.depth -= 1
        return total

    def _sign(self) -> str | None:
        return self.token["sign"] if self.token else None

    def _take(self) -> str | None:
        sign, self.token = self._sign(), self._next()
        return sign

    def _next(self) -> re.Match[str] | None:
        if not self.text[self.at :].strip():
            return None
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            raise self._wrong()
        self.at = match.end()
        return match

    def _wrong(self) -> ReckoningError:
        hint = "it may hold names, numbers with units such as 72 GB, + - * / and parentheses"
        return ReckoningError(f"'{self.text}' is not an expression", hint)


def _look_up(name: str, names: Mapping[str, Amount]) -> Amount:
    if name in names:
        return names[name]
    parts = re.split(r"[-+]", name)
    if len(parts) > 1 and all(part in names or part.isdigit() for part in parts):
        raise ReckoningError(f"unknown name '{name}'", "a minus between two names stands between blanks")
    near = did_you_mean(name, names)
    raise ReckoningError(f"unknown name '{name}', or the file does not say it", near or f"known: {_first(names)}")


def _first(names: Mapping[str, Amount]) -> str:
    shown = sorted(names)
    return ", ".join(shown[:12]) + (", ..." if len(shown) > 12 else "")


def _joined(one: Amount, other: Amount, sign: int) -> Dimension:
    powers = dict(one.dimension)
    for name, power in other.dimension:
        powers[name] = powers.get(name, 0) + sign * power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def _finite(value: float) -> float:
    if not math.isfinite(value) or abs(value) > 1e40:
        raise ReckoningError("a number too large to compute with")
    return value
