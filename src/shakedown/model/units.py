"""Quantities: a number with a unit, as people write them in plans ("256 GiB", "5.3 TFLOP/s", "2h", "98%").

Sizes: GB is 10^9 bytes and GiB is 2^30 bytes, never mixed. Durations are kept in seconds, shares as fractions of one.
Units that Shakedown does not know are kept as they are written (``years/day``): they compare only with themselves.
docs/reference/units.md lists those that it knows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from shakedown.model.errors import did_you_mean

_DECIMAL = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60}
_SMALL = {"m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6}  # the micro sign, and the Greek letter that looks like it
_SECONDS = {
    **{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86400.0},
    **{"µs": 1e-6, "μs": 1e-6},
}
_PER = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES, _BITS = ("B", "byte", "bytes", "Byte", "Bytes"), ("b", "bit", "bits")
_FLOPS, _OPS = ("FLOP", "Flop", "flop"), ("ops", "op")
_AT_ONCE = {"FLOPS": "flop/s", "Flops": "flop/s", "flops": "flop/s", "IOPS": "ops/s"}  # per second in one word

# Things that programs count with prefixes and divide by a time: updates of random memory (GUP/s), of lattice sites, of cells and of
# atoms, degrees of freedom; each compares only with itself.
_COUNTED = {
    "updates": ("UP", "up"),
    "lattice updates": ("LUP", "lup"),
    "cells": ("cell", "cells"),
    "zones": ("zone", "zones"),
    "atom steps": ("atom-step",),
    "degrees of freedom": ("DoF", "DOF", "dof"),
    "edges": ("edge", "edges"),
}
COUNTS = frozenset({"flop", "ops", *_COUNTED})  # dimensions without a time: their words are names of columns, too
_AT_ONCE |= {"UPS": "updates/s", "LUPS": "lattice updates/s", "TEPS": "edges/s"}
_PER_WATT = (*(f"{word}/s/W" for word in _FLOPS), *(f"{word}/J" for word in _FLOPS), "FLOPS/W", "Flops/W", "flops/W")

Unit = tuple[str, float]  # the dimension, and the factor to its base unit


def _usual() -> dict[str, Unit]:
    """The usual spellings of units, with which a misspelt unit is compared."""
    table: dict[str, Unit] = {"": ("number", 1.0), "%": ("share", 0.01)}
    for prefix, factor in {**_DECIMAL, **_BINARY}.items():
        table[f"{prefix}B"] = ("bytes", factor)
        table[f"{prefix}B/s"] = ("bytes/s", factor)
    for prefix, factor in _DECIMAL.items():
        table[f"{prefix}FLOP/s"] = ("flop/s", factor)
        table[f"{prefix}Hz"] = ("hertz", factor)
        table[f"{prefix}ops/s"] = ("ops/s", factor)
    for name, seconds in _SECONDS.items():
        table[name] = ("seconds", seconds)
    return table


def _others() -> dict[str, Unit]:
    """What else programs and people write for the same: bits, rates per minute, GFLOPS, IOPS; work without a time, what is counted
    besides, and power and energy.
    """
    table: dict[str, Unit] = {}
    for prefix, factor in {**_DECIMAL, **_BINARY}.items():
        for size, words in ((factor, _BYTES), (factor / 8, _BITS)):
            for word in words:
                table[f"{prefix}{word}"] = ("bytes", size)
                table |= {f"{prefix}{word}/{per}": ("bytes/s", size / seconds) for per, seconds in _PER.items()}
        table |= {f"{prefix}bps": ("bytes/s", factor / 8), f"{prefix}Bps": ("bytes/s", factor)}
    for prefix, factor in _DECIMAL.items():
        for word in (*_FLOPS, *_OPS):
            dimension = "flop/s" if word in _FLOPS else "ops/s"
            table |= {f"{prefix}{word}/{per}": (dimension, factor / seconds) for per, seconds in _PER.items()}
            table[f"{prefix}{word}"] = (dimension.removesuffix("/s"), factor)
        for thing, names in _COUNTED.items():
            table |= _counted(prefix, factor, thing, names)
        table |= {f"{prefix}{word}": ("flop/joule", factor) for word in _PER_WATT}
        table |= {f"{prefix}{word}": (dimension, factor) for word, dimension in _AT_ONCE.items()}
        table[f"{prefix}Wh"] = ("joules", factor * 3600)
    for prefix, factor in {**_DECIMAL, **_SMALL}.items():
        table |= {f"{prefix}W": ("watts", factor), f"{prefix}J": ("joules", factor)}
    return table


def _counted(prefix: str, factor: float, thing: str, words: Iterable[str]) -> dict[str, Unit]:
    """The units of a counted thing, alone and as rates."""
    table: dict[str, Unit] = {}
    for word in words:
        table[f"{prefix}{word}"] = (thing, factor)
        table |= {f"{prefix}{word}/{per}": (f"{thing}/s", factor / seconds) for per, seconds in _PER.items()}
    return table


USUAL = _usual()
UNITS = {**_others(), **USUAL}  # each known unit; the usual spelling of one that is in both decides
# What is known, in a line: errors name it, and docs/reference/units.md has all of it.
_SIZES = "B and b with k to E and Ki to Ei, also per s, min, h or d"
KNOWN_IN_WORDS = f"known are {_SIZES}; FLOP/s, ops/s, Hz, W, J and Wh with k to E; ns to d; %"
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(rf"^\s*({_NUMBER})\s*(\S.*?)?\s*$")
_DURATION_PART = re.compile(
    r"((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*(ns|us|µs|μs|ms|min|s|m|h|d)(?![a-zA-Z])\s*"
)


_COMMA = re.compile(r"\d+(?:,\d+)+(?:\.\d+)?")
_MARK = r"[_'’\s]"
_MARKED = re.compile(rf"\d+(?:{_MARK}\d{{3}}(?!\d))+")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and its unit as written. ``base`` is the value in the dimension's base unit."""

    value: float
    unit: str = ""

    @property
    def dimension(self) -> str:
        """The name of the dimension; for an unknown unit, the unit itself."""
        return UNITS[self.unit][0] if self.unit in UNITS else self.unit

    @property
    def base(self) -> float:
        return self.value * UNITS[self.unit][1] if self.unit in UNITS else self.value

    def to(self, unit: str) -> float:
        """The value in ``unit``. Raises ValueError where the two do not measure the same thing, or nobody knows whether."""
        if unit == self.unit:
            return self.value
        unknown = [name for name in (self.unit, unit) if name not in UNITS]
        if unknown:
            raise ValueError(f"'{unknown[0]}' is no unit that is known, and compares only with itself")
        if UNITS[unit][0] != UNITS[self.unit][0]:
            raise ValueError(f"'{self.unit}' and '{unit}' do not measure the same thing")
        return self.value if UNITS[unit][1] == UNITS[self.unit][1] else self.base / UNITS[unit][1]

    def __str__(self) -> str:
        number = f"{self.value:z.6g}"
        return f"{number}%" if self.unit == "%" else f"{number} {self.unit}".rstrip()


def show_amount(base: float, unit: str) -> str:
    """Purpose: an amount in base units, in the unit that it was written in: "40 GB/s", "8", "25%"."""
    return str(Quantity(base / UNITS[unit][1] if unit in UNITS else base, unit))


def parse_quantity(text: str) -> Quantity:
    """Purpose: read "4 GB/s", "98%", "3", "1.5 years/day". Raises ValueError with a sentence that says what is wrong."""
    refuse_marks(text)
    match = _QUANTITY.match(text)
    if match is None:
        raise ValueError(f"'{text}' is not a number with a unit")
    return Quantity(float(match.group(1)), match.group(2) or "")


def refuse_marks(text: str) -> None:
    """Purpose: refuse a number with a comma, which may be a decimal point or part of a thousand, and one with other marks between
    its digits, as 1_000, 1'000 and 1 000 have them. Raises ValueError.
    """
    match = _COMMA.search(text)
    if match is None:
        marked = _MARKED.search(text)
        if marked is not None:
            plain = re.sub(_MARK, "", marked[0])
            raise ValueError(f"'{text.strip()}' has something between the digits of a number; write {plain}")
        return
    number = match[0]
    if _THOUSANDS.fullmatch(number):
        way = f"{number.replace(',', '')}, or {number.replace(',', '.')} where the comma is a decimal point"
        way = number.replace(",", "") if number.count(",") > 1 else way
        raise ValueError(f"'{text.strip()}' has a comma in a number; write {way}")
    raise ValueError(f"'{text.strip()}' has a decimal comma; write {number.replace(',', '.')}")


def parse_known(text: str, dimension: str) -> float:
    """Purpose: a quantity of one dimension ("bytes", "bytes/s", "flop/s", "share", "number", "seconds"), in base units.

    Errors: ValueError whose text ends with a did-you-mean where the unit is nearly right.
    """
    if dimension == "seconds":
        return parse_duration(text)
    quantity = parse_quantity(text)
    fitting = [unit for unit, (kind, _) in USUAL.items() if kind == dimension and unit]
    # A size in bits is more likely a slip for one in bytes; a rate in bits is how links are sold.
    bits = dimension == "bytes" and quantity.unit.endswith(_BITS)
    if quantity.unit in UNITS and UNITS[quantity.unit][0] == dimension and not bits:
        return quantity.base
    if not quantity.unit and fitting:
        if dimension == "share" and 0 < abs(quantity.value) <= 1:  # who writes 0.95 of a share hardly means 0.95 %
            raise ValueError(
                f"'{text}' needs a unit: '{quantity.value * 100:g}%', or '{text.strip()}%' where that is meant"
            )
        raise ValueError(f"'{text}' needs a unit, such as '{text.strip()} {example_unit(dimension)}'")
    near = near_unit(quantity.unit, fitting)
    known = near or (f"write it in {example_unit(dimension)}" if fitting else "write a plain number")
    raise ValueError(f"'{text}': '{quantity.unit}' is not a unit of {dimension}; {known}")


def near_unit(word: str, units: Iterable[str]) -> str | None:
    """Purpose: "did you mean" for a misspelt unit; None where the nearest one is of another size, as kB is beside B.

    The hint must not make another amount of the number that stands before the unit.
    """
    alike = [unit for unit in units if unit and unit[0].casefold() == word[:1].casefold()]
    return did_you_mean(word, alike)


def example_unit(dimension: str) -> str:
    """A usual unit of a dimension, for error messages."""
    usual = {"bytes": "GiB", "bytes/s": "GB/s", "flop/s": "TFLOP/s", "share": "%", "hertz": "GHz"}
    usual |= {"watts": "kW", "joules": "kJ", "seconds": "s"}
    return usual.get(dimension, dimension)


def parse_duration(text: str) -> float:
    """Purpose: "90 s", "2h", "1h30m", "10d" in seconds. A bare number or a clock time is refused: it says no unit."""
    refuse_marks(text)
    rest, total = text.strip(), 0.0
    while rest:
        match = _DURATION_PART.match(rest)
        if match is None:
            raise ValueError(f"'{text}' is not a duration; write it with its units, such as 90s, 2h or 1h30m")
        total += float(match.group(1)) * _SECONDS[match.group(2)]
        rest = rest[match.end() :]
    if not math.isfinite(total):
        raise ValueError(f"'{text}' is too long a duration")
    if not text.strip():
        raise ValueError("an empty duration; write it with its units, such as 90s, 2h or 1h30m")
    return total


def show_duration(seconds: float) -> str:
    """A duration as text: 45 ms, 3.2 s, 4 min 05 s, 2 h 10 min, 3 d 4 h."""
    if seconds < 0:
        text = show_duration(-seconds)
        return text if text == "0 ms" else f"-{text}"
    if seconds < 0.9995:
        return f"{seconds * 1000:z.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = int(seconds + 0.5)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def show_bytes(count: float) -> str:
    """A size in binary units: 512 B, 4.0 KiB, 2.3 GiB."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(count) < 1024 or unit == "TiB":
            return f"{count:z.0f} B" if unit == "B" else f"{count:z.1f} {unit}"
        count /= 1024
    raise AssertionError("unreachable")
