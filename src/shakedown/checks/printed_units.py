"""The units that programs print beside their numbers: in the name of a column or a key, before a number, behind it.

``refusal`` and ``refusal_behind`` hold such a word against the unit of a figure. Words that are names as often as units (min, s,
up) count only in brackets or where a sign joins them to a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from shakedown.checks.text import show
from shakedown.checks.unit_words import is_open, meanings
from shakedown.model.bounds import same
from shakedown.model.units import COUNTS, UNITS

_LETTERS = r"[A-Za-zµμ]"
_WORD = rf"{_LETTERS}+(?:/{_LETTERS}+){{0,3}}"
_BRACKETS = re.compile(rf"[(\[] *(?:in )?({_WORD}(?: per {_LETTERS}+)?) *[)\]]")
_LAST_WORD = re.compile(rf"(?:^|[ _])({_WORD})$")  # Rate MB/s, Total Mflops, bw_gbs
_SECOND = r"s(?:ec(?:ond)?)?"
_IN_KEY = re.compile(
    rf"(?i:(?:^|_)([kmgtpe]?(?:flops?|ops|i?b|bits?|bytes?)|(?:kilo|mega|giga|tera)(?:bits?|bytes?))_(?:per_)?{_SECOND})$"
)  # gb_s, rank_gflop_s, bits_per_second
_TIME_IN_KEY = re.compile(r"(?:^|_)([mun]?s|[mun]?secs?|seconds?)_per_[a-z]+$")  # ms_per_step
_CAMEL_RATE = re.compile(
    r"(?<=[a-z0-9])([KMGTP]?(?:Bytes?|Bits?|I?B|iB)|(?:Kilo|Mega|Giga|Tera)(?:[Bb]its?|[Bb]ytes?))[Pp]er[Ss](?:ec(?:ond)?)?$"
)
_IN_CAMEL = re.compile(
    r"(?<=[a-z0-9])([kKMGTPEgtpem]?(?:FLOPS|[Ff]lops)|[KMGTPE]I?Bp?s?|[KMGTPE]iBp?s?|[KMGTP]bps|[kKM]?IOPS|[MUN]s"
    r"|(?:Micro|Milli|Nano)?[Ss]ec(?:ond)?s?)$"
)
_CAMEL_SIGNS = {"Ms": "ms", "Us": "us", "Ns": "ns"}
_STATISTIC = re.compile(
    r"(?i:mean|average|avg|median|min|max|minimum|maximum|std_?dev|std|value|percentiles?|p?\d+(?:\.\d+)?)$"
)
_NAMES = frozenset(("min", "mins", "cell", "cells", "zone", "zones", "edge", "edges", "op", "up", "update", "updates"))
_MARKS = r"[ \t!*~<>|\"']*"  # what programs print between a name and its number besides
_BRACKETS_BEFORE = re.compile(rf"{_BRACKETS.pattern}[\"']?[ \t]*[:=;,|]?{_MARKS}$")
_BEFORE = re.compile(rf"(?<![A-Za-zµμ0-9/.])({_WORD})(?:[\"']?[ \t]*[:=]{_MARKS}|[ \t]+)$")
_KEY_BEFORE = re.compile(rf"(?<![\w/.])([A-Za-z]\w*_\w+)[\"']?[ \t]*[:=]{_MARKS}$")
_RATE = re.compile(r"/s(?:ec(?:ond)?s?)?(?:/|$)", re.I)
_UNIT_BEHIND = rf"((?:(?i:kilo|mega|giga|tera|peta|exa) )?{_WORD})( per {_LETTERS}+)?(?![\w/^-])"
_OTHERS_BETWEEN = r"(?:/[+-]?\d[\d.]*(?:[eE][+-]?\d+)?)*"  # the other numbers of 0.1/32.7/98.0 ms
_BEHIND = re.compile(rf"{_OTHERS_BETWEEN}[ \t]*[(\[]?{_UNIT_BEHIND}")
_BEHIND_A_SIGN = re.compile(rf"[ \t]*[;,|:=_@*\"'<]+[ \t]*{_UNIT_BEHIND}(?![\"']?[ \t]*(?:[:=]|\d))")
_OF_UNITS = re.compile(r"(?i)(?:^|[ _])units?$")  # the name of a column of units
_LOOKED_BACK = 80  # characters before a number


def in_name(name: str) -> str:
    """Purpose: the unit in the name of a column or key, as printed: ``Best Rate MB/s``, ``t[usec]``, ``gflop_s``; "" for none."""
    for found in reversed(_BRACKETS.findall(name)):
        if meanings(found):
            return str(found)
    if found := _IN_KEY.search(name) or _CAMEL_RATE.search(name):
        return f"{found[1].replace('IB', 'iB')}/s"
    if found := _TIME_IN_KEY.search(name):
        return found[1]
    last = _LAST_WORD.search(name)
    if last and (_says_a_unit(last[1]) or last[0] == "_s"):
        return last[1]
    found = _IN_CAMEL.search(name)
    return _CAMEL_SIGNS.get(found[1], found[1].replace("IB", "iB")) if found else ""


def in_brackets(text: str) -> tuple[str, ...]:
    """Purpose: the units in brackets in a label or a title: ``Memory bandwidth [MBytes/s]``."""
    return tuple(str(word) for word in _BRACKETS.findall(text) if meanings(word))


def in_row(column: str, row: Mapping[str, str]) -> tuple[str, ...]:
    """Purpose: the units that a row gives its number in ``column``: in its column of units, in the cell behind the number, or in
    brackets in its labels; none where it gives none.
    """
    for name, text in row.items():
        if _OF_UNITS.search(name) and name != column and meanings(text.strip(" ()[]")):
            return (text.strip(" ()[]"),)
    names = list(row)
    behind_it = row.get(names[names.index(column) + 1], "").strip(" ()[]") if column in names[:-1] else ""
    if _says_a_unit(behind_it):
        return (behind_it,)
    return tuple(word for name, text in row.items() if name != column for word in in_brackets(text))


def all_unlike(unit: str, words: Sequence[str]) -> str:
    """Purpose: the first of several printed units that is another of the kind of ``unit``; "" where one of them is that unit."""
    other = [word for word in words if unlike(unit, word, of_bytes=False)]
    if not other or any(_is_of_kind(unit, word) for word in words if word not in other):
        return ""
    return other[0]


def _is_of_kind(unit: str, word: str) -> bool:
    return any(UNITS[one][0] == UNITS[unit][0] for one in meanings(word))


def in_path(keys: Sequence[str]) -> tuple[str, str]:
    """Purpose: the key of a path that names a unit, and that unit, as ``in_name``; "" and "" for none. ``keys``: from the last one
    up; the key above a statistic says what it is a statistic of: ``clat_ns.mean``.
    """
    for key in keys:
        if word := in_name(key):
            return key, word
        if not _STATISTIC.match(key):
            break
    return "", ""


def _says_a_unit(word: str) -> bool:
    """Whether a word without brackets is a unit rather than a name."""
    return len(word) > 1 and word.casefold() not in _NAMES and bool(meanings(word))


def behind(match: re.Match[str], text: str) -> tuple[str, bool]:
    """Purpose: the unit behind a number that a regular expression took, "" for none, and whether a word there, a known unit or
    none, is part of what matched.
    """
    found = _BEHIND.match(text, match.end("value"))
    if found is None:
        return _behind_a_sign(match, text), False
    word = f"{found[1]}{found[2] or ''}"
    word = word if meanings(word) else found[1]
    return word if meanings(word) else "", match.end() >= found.end(1)


def _behind_a_sign(match: re.Match[str], text: str) -> str:
    """The unit behind a number and a sign that parts fields: ``1001.23;msec;task-clock``; "" for none, and where the expression
    names it.
    """
    found = _BEHIND_A_SIGN.match(text, match.end("value"))
    return found[1] if found and _says_a_unit(found[1]) and found[1] not in match.re.pattern else ""


def before(match: re.Match[str], text: str) -> str:
    """Purpose: the unit before a number that a regular expression took, in its line: ``Mflops: 2004``; "" for none. A unit with
    a number before it is that number's. Without a sign between them only a rate is a unit: ``BW GB/s 12``.
    """
    start = match.start("value")
    line = text[max(text.rfind("\n", 0, start) + 1, start - _LOOKED_BACK) : start]
    found = _BRACKETS_BEFORE.search(line) or _KEY_BEFORE.search(line) or _BEFORE.search(line)
    if found is None or line[: found.start()].rstrip()[-1:].isdigit():
        return ""
    word = found[1]
    if found.re is _KEY_BEFORE:
        return in_name(word)
    if found.re is _BRACKETS_BEFORE:
        return word
    joined = found[0].rstrip()[-1] in ":="
    return word if _says_a_unit(word) and (joined or _RATE.search(word)) else ""


def unlike(unit: str, word: str, of_bytes: bool = True) -> tuple[str, ...]:
    """Purpose: the units that a printed word may mean, where they are others of the same kind than ``unit``; else none.

    An amount is a rate where the figure is one: IOR calls MiB/s so, in the column ``Mean(MiB)``; of bytes only with ``of_bytes``.
    """
    if unit not in UNITS or not word:
        return ()
    kind, size = UNITS[unit]
    time = unit.partition("/")[2] or "s"
    found = [
        f"{one}/{time}" if f"{UNITS[one][0]}/s" == kind and (of_bytes or UNITS[one][0] in COUNTS) else one
        for one in meanings(word)
    ]
    of_kind = tuple(one for one in found if one in UNITS and UNITS[one][0] == kind)
    if is_open(of_kind):
        return () if unit in of_kind else of_kind
    return () if any(same(size, UNITS[one][1]) for one in of_kind) else of_kind


def refusal(unit: str, word: str, said: str) -> str:
    """Purpose: why a number is not in its figure's unit where a name says another, and what to write; "" where nothing is wrong."""
    other = unlike(unit, word)
    if not other:
        return ""
    ways = " or ".join(f"'unit: {one}'" for one in other)
    return f"{_is_in(said, other)}, and the figure is in {unit}; say {'which' if other[1:] else 'so'} with {ways}"


def refusal_behind(unit: str, word: str, value: str) -> str:
    """Purpose: the same for a unit behind a number that a regular expression took."""
    other = unlike(unit, word, of_bytes=False)
    if not other:
        return ""
    said = _is_in(f"{value} {word}", other)
    return f"{said}, and the figure is in {unit}; an expression that takes '{word}' in says that {unit} is meant"


def _is_in(said: str, units: tuple[str, ...]) -> str:
    if is_open(units):
        return f"{show(said)} may count bits or bytes ({' or '.join(reversed(units))})"
    return f"{show(said)} is in {' or '.join(units)}"
