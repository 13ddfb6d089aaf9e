"""What a printed word means as a unit, in the letters and spellings of programs: ``meanings`` is the entry point.

A word is a size, of a prefix and a thing, and what it is divided by: ``GB/s``, ``Tflops/sec``, ``GB per second``, ``ms/step``.
Letters of any case count where they leave one meaning. A small ``b`` behind a small prefix may be bits or bytes: that has both.
"""

from __future__ import annotations

import re
from functools import lru_cache

from shakedown.model.units import UNITS

_PREFIX_WORDS = {
    **{"kilo": "k", "mega": "M", "giga": "G", "tera": "T", "peta": "P", "exa": "E"},
    **{"kibi": "Ki", "mebi": "Mi", "gibi": "Gi", "tebi": "Ti", "pebi": "Pi", "exbi": "Ei"},
}
_TIMES = {
    **dict.fromkeys(("nsec", "nsecs", "nanosec", "nanosecs", "nanosecond", "nanoseconds", "nsecond", "nseconds"), "ns"),
    **dict.fromkeys(
        (
            "usec",
            "usecs",
            "µsec",
            "μsec",
            "microsec",
            "microsecs",
            "microsecond",
            "microseconds",
            "usecond",
            "useconds",
        ),
        "us",
    ),
    **dict.fromkeys(
        ("msec", "msecs", "millisec", "millisecs", "millisecond", "milliseconds", "msecond", "mseconds"), "ms"
    ),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("d", "day", "days"), "d"),
}
_THINGS = {
    **dict.fromkeys(("byte", "bytes"), "B"),
    **dict.fromkeys(("bit", "bits"), "bit"),
    **{"flop": "FLOP", "flops": "FLOP/s", "op": "ops", "ops": "ops", "iops": "ops/s"},
    **{"up": "UP", "update": "UP", "updates": "UP", "ups": "UP/s", "lup": "LUP", "lups": "LUP/s", "teps": "edge/s"},
    **{"hz": "Hz", "hertz": "Hz", "w": "W", "watt": "W", "watts": "W", "j": "J", "joule": "J", "joules": "J"},
}
_WATTS = ("w", "watt", "watts")
_SIZE = re.compile(
    rf"({'|'.join(_PREFIX_WORDS)}|[kmgtpe]i(?=b)|[kmgtpe]|) ?({'|'.join(sorted(_THINGS, key=len, reverse=True))}|bs?|bps)",
    re.I,
)
_DIVIDED = re.compile(r" *(?:/| per ) *")
_FLOPS_IN_SHORT = re.compile(r"([MGTPE])F")


@lru_cache(maxsize=5_000)
def meanings(word: str) -> tuple[str, ...]:
    """Purpose: the units in ``UNITS`` that a word of a program's output may mean: GBps is GB/s, msec is ms, gb/s is GB/s or
    Gbit/s; none where it is no unit.
    """
    if word in UNITS and word not in ("kb", "kb/s"):
        return (word,) if word else ()
    size, *divided_by = _DIVIDED.split(word)
    found = (_divided(one, [part.casefold() for part in divided_by]) for one in _sizes(size))
    return tuple(unit for unit in found if unit in UNITS and unit)


def _divided(size: str, by: list[str]) -> str:
    """The unit of a size divided by something; what is no time and no watt is no part of it: ``GB/s/node``, ``ms/step``."""
    if not by:
        return size
    per_watt = "/W" if any(part in _WATTS for part in by) else ""
    time = _TIMES.get(by[0], "")
    if UNITS[size][0] == "seconds":
        return "" if time else size
    if UNITS[size][0].endswith("/s"):
        return f"{size}{per_watt}" if time in ("s", "") else ""
    if time:
        return f"{size}/{time}{per_watt}"
    return "" if meanings(by[0]) else size


def _sizes(word: str) -> tuple[str, ...]:
    """The units that a word without a division may mean."""
    if (word in UNITS and word != "kb") or word.casefold() in _TIMES:
        sign = _TIMES.get(word.casefold(), word) if len(word) > 1 else word
        return (sign,) if sign in UNITS and sign else ()
    if short := _FLOPS_IN_SHORT.fullmatch(word):
        return (f"{short[1]}FLOP/s",)
    found = _SIZE.fullmatch(word)
    if found is None or (len(word) == 1):
        return ()
    prefix, thing = found[1], found[2]
    if thing[:1] in "bB" and thing.casefold() in ("b", "bs", "bps"):
        return _bytes_or_bits(_prefix(prefix), prefix, thing)
    unit = f"{_prefix(prefix)}{_THINGS[thing.casefold()]}"
    if prefix == "m" and _THINGS[thing.casefold()] in ("W", "J"):
        unit = "" if len(thing) == 1 else f"m{_THINGS[thing.casefold()]}"  # thousandths of a watt, as of no other thing
    return (unit,) if unit in UNITS else ()


def _bytes_or_bits(sign: str, prefix: str, thing: str) -> tuple[str, ...]:
    """The units of a ``B`` or ``b`` behind a prefix: a large one counts bytes, but not among capitals alone (``MBPS``)."""
    if thing.casefold() == "bps":
        return (f"{sign}Bps",) if thing == "Bps" else (f"{sign}Bps", f"{sign}bps")
    if not prefix and thing != "B":
        return ()
    return (f"{sign}B",) if thing[0] == "B" else (f"{sign}B", f"{sign}bit")


def _prefix(written: str) -> str:
    """The sign of a prefix in any letters."""
    small = written.casefold()
    if small in _PREFIX_WORDS:
        return _PREFIX_WORDS[small]
    letter = small[:1].upper()
    return f"{letter}i" if small.endswith("i") else "k" if letter == "K" else letter


def is_open(found: tuple[str, ...]) -> bool:
    """Whether these meanings leave bits or bytes open in a word such as ``gbps``, of which no usage decides."""
    return len(found) > 1 and found[0].endswith("ps")
