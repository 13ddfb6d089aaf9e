"""The units that programs print beside their numbers: in the name of a column or a key, before a number, behind it.

``not_meant`` holds such a word against the unit of a figure. Words that are names as often as units (min, s, up) count only in
brackets or where a sign joins them to a name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from shakedown.checks.text import show
from shakedown.model.bounds import same
from shakedown.model.units import UNITS, unit_of_print

_FLOPS = r"[kKMGTPEmgtpe]?(?:FLOPS|[Ff]lops)"
_PLAIN = rf"[A-Za-z]+/[A-Za-z]+|{_FLOPS}|[kKMGTPE]i?B|[kKMGT]?IOPS|[KkMG]?[Bb]ytes|[munµμ]s|[mun]?secs?|seconds"
_BRACKETS = r"[(\[] *([A-Za-zµμ]+(?:/[A-Za-z]+)?) *[)\]]"
_IN_NAME = re.compile(rf"{_BRACKETS}$|(?:^|[ _])({_PLAIN})$")  # bw(MiB/s), Rate MB/s, Total Mflops
_IN_KEY = re.compile(
    r"(?:^|_)(?:([kmgtp])(flop|i?b)(_(?:per_)?s)?|(flop_s)|(s))$"
)  # gb_s, rank_gflop_s, memory_mb, load_s
_IN_CAMEL = re.compile(
    rf"(?<=[a-z0-9])({_FLOPS}|[KMGTPE]I?Bp?s?|[KMGTPE]iBp?s?|[MUN]s|(?:Micro|Milli|Nano)?[Ss]ec(?:ond)?s?)$"
)
_A_SECOND = re.compile(
    r"(?i:(?:^|_|(?<=[a-z0-9]))([kmgtp]?|kilo|mega|giga|tera)(bits?|bytes?|i?b)_?per_?s(?:ec(?:ond)?)?)$"
)
_CAMEL_SIGNS = {"Ms": "ms", "Us": "us", "Ns": "ns"}
_STATISTIC = re.compile(
    r"(?i:mean|average|avg|median|min|max|minimum|maximum|std_?dev|std|value|percentiles?|p?\d+(?:\.\d+)?)$"
)
_BEFORE = re.compile(rf"(?:{_BRACKETS}[ \t]*[:=]?|(?<![\w/.])(?:\w+_)?({_PLAIN})[ \t]*[:=])[ \t]*$")
_BEHIND = re.compile(r"[ \t]*[(\[]?([A-Za-zµμ]+(?:/[A-Za-z]+)?)(?![\w/^-])")
_LOOKED_BACK = 80  # characters before a number
_SIGNS = {"flop": "FLOP", "b": "B", "ib": "iB"}


def in_name(name: str, unit: str = "") -> str:
    """Purpose: the unit at the end of the name of a column or key, as printed: ``Best Rate MB/s``, ``t[usec]``; "" for none.

    ``unit``: of the figure. Where it counts bits, ``gb_s`` may mean them too.
    """
    if found := _A_SECOND.search(name):
        amount = _amount(found[1][:1], found[2].casefold(), unit)
        return f"{amount}/s" if amount else ""
    if found := _IN_NAME.search(name):
        return found[1] or found[2]
    return _in_key(name, unit)


def in_path(keys: Sequence[str], unit: str = "") -> tuple[str, str]:
    """Purpose: the key of a path that names a unit, and that unit, as ``in_name``; "" and "" for none. ``keys``: from the last one
    up; the key above a statistic says what it is a statistic of: ``clat_ns.mean``.
    """
    for key in keys:
        if word := in_name(key, unit):
            return key, word
        if not _STATISTIC.match(key):
            break
    return "", ""


def _in_key(name: str, unit: str) -> str:
    """The unit at the end of a key as programs write them: ``gb_s``, ``rank_gflop_s``, ``bwMeanMIB``, ``elapsedMs``."""
    if found := _IN_CAMEL.search(name):
        return _CAMEL_SIGNS.get(found[1], found[1].replace("IB", "iB"))
    key = _IN_KEY.search(name)
    if key is None or name == "s":
        return ""
    if not key[1]:
        return "FLOP/s" if key[4] else "s"
    amount = _amount(key[1], key[2], unit)
    return f"{amount}/s" if amount and key[3] else amount


def _amount(prefix: str, size: str, unit: str) -> str:
    """The unit of a prefix and a size in any case: ``g`` and ``b`` give GB; "" where they may be bits, as the figure's unit is."""
    if size in ("b", "ib") and _of_bits(unit):
        return ""
    sign = _SIGNS.get(size) or ("bit" if size.startswith("bit") else "B")
    return f"{'k' if prefix in ('k', 'K') and size != 'ib' else prefix.upper()}{sign}"


def behind(match: re.Match[str], text: str) -> tuple[str, bool]:
    """Purpose: the unit behind a number that a regular expression took, "" for none, and whether a word there, a known unit or
    none, is part of what matched.
    """
    found = _BEHIND.match(text, match.end("value"))
    if found is None:
        return "", False
    return found[1] if unit_of_print(found[1]) else "", match.end() >= found.end(1)


def before(match: re.Match[str], text: str) -> str:
    """Purpose: the unit before a number that a regular expression took, in its line: ``Mflops: 2004``; "" for none. A unit with
    a number before it is that number's.
    """
    start = match.start("value")
    line = text[max(text.rfind("\n", 0, start) + 1, start - _LOOKED_BACK) : start]
    found = _BEFORE.search(line)
    if found is None or line[: found.start()].rstrip()[-1:].isdigit():
        return ""
    return found[1] or found[2]


def not_meant(unit: str, word: str) -> str:
    """Purpose: the unit that a printed word means, where it is another one of the same kind than ``unit``; else ""."""
    other = unit_of_print(word)
    if unit not in UNITS or not word or not other or UNITS[other][0] != UNITS[unit][0]:
        return ""
    return "" if same(UNITS[unit][1], UNITS[other][1]) else other


def refusal(unit: str, word: str, said: str) -> str:
    """Purpose: why a number is not in its figure's unit where a name says another, and what to write; "" where nothing is wrong.

    An amount in a name is a rate where the figure is one: IOR calls MiB/s so, in the column ``Mean(MiB)``.
    """
    amount = unit_of_print(word)
    if amount and unit in UNITS and f"{UNITS[amount][0]}/s" == UNITS[unit][0]:
        word = f"{amount}/{unit.partition('/')[2] or 's'}"
    other = not_meant(unit, word)
    return f"{show(said)} is in {other}, and the figure is in {unit}; say so with 'unit: {other}'" if other else ""


def _of_bits(unit: str) -> bool:
    return unit in UNITS and UNITS[unit][0].startswith("bytes") and "B" not in unit and "byte" not in unit
