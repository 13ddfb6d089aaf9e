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
_OF_WHAT = r"(?: (?:total|rating|rate|value|result|mean|average|of|is)){0,2}"  # GFLOP/s rating of=, Mop/s total =
_BEFORE = re.compile(rf"(?<![A-Za-zµμ0-9/.])({_WORD})(?:{_OF_WHAT}[\"']?[ \t]*[:=]{_MARKS}|[ \t]+)$")
_HEADING = re.compile(rf"{_BRACKETS.pattern}[ \t]*[:|][ \t]*(?=[A-Za-z])")  # time (ms) | fwd: 12.3 | bwd: 23.4
_AT_THE_END = re.compile(
    rf"(?:(?<= in )|[ \t])({_WORD}):?$"
)  # the unit of a title without brackets: bandwidth GB/s, times in ms
_KEY_BEFORE = re.compile(rf"(?<![\w/.])([A-Za-z]\w*_\w+)[\"']?[ \t]*[:=]{_MARKS}$")
_RATE = re.compile(r"/s(?:ec(?:ond)?s?)?(?:/|$)", re.I)
_UNIT_BEHIND = rf"((?:(?i:kilo|mega|giga|tera|peta|exa) )?{_WORD})( per {_LETTERS}+)?(?![\w/^-])"
_OTHERS_BETWEEN = r"(?:/[+-]?\d[\d.]*(?:[eE][+-]?\d+)?)*"  # the other numbers of 0.1/32.7/98.0 ms
_BEHIND = re.compile(rf"{_OTHERS_BETWEEN}[ \t]*[(\[]?(?:(?:elapsed|wall|cpu|real|total) )?{_UNIT_BEHIND}")
_BEHIND_A_SIGN = re.compile(rf"[ \t]*[;,|:=_@*\"'<#]+[ \t]*{_UNIT_BEHIND}(?![\"']?[ \t]*(?:[:=]|\d))")
_OF_UNITS = re.compile(r"(?i)(?:^|[ _])units?$")  # the name of a column or key of units
_SAID = re.compile(  # unit = GB/s, (unit: GB/s), unit="ms", "time_unit": "ns", <unit>ms</unit>
    rf"(?<![A-Za-z])(?:([A-Za-z]\w*?)_)?(?i:units?)[\"']?(?:[ \t]*[:=>][ \t]*|[ \t]+)[\"'(\[]?{_UNIT_BEHIND}"
)
_IN_TAG, _REST_OF_TAG = re.compile(r"<[A-Za-z][\w:.-]*\s[^<>]*=\s*[\"']$"), re.compile(r"[^<>]*")
_IN_OBJECT, _REST_OF_OBJECT = re.compile(r"\{[^{}]*[\"']\s*:\s*[\"']?$"), re.compile(r"[^{}]*")
_BEHIND_TAG = re.compile(r"<[A-Za-z][^<>]*>[ \t]*$")
_WORDS = r"(?:</?\w+>|[^\d<>{}\n]|(?<=[A-Za-z_])\d)"  # no number of its own, and no other element
_WORDS_BEFORE, _WORDS_BEHIND = re.compile(rf"{_WORDS}*$"), re.compile(rf"{_WORDS}*")
_OTHER_UNITS = ("GB/s", "MB/s", "seconds", "milliseconds", "GFLOP/s", "MHz")  # for an expression that takes any word
_KEY = re.compile(r"([\w-]+)[\"']?\s*[:=]\s*[\"']?$")
_FIRST_LETTERS = "KMGTmun"  # of other sizes of a unit
_LOOKED_AROUND = 200  # characters on either side of a number
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


def in_keys_beside(key: str, value: Mapping[object, object]) -> tuple[str, ...]:
    """Purpose: the units that other keys of an object say of the number at ``key``: ``"time_unit": "ns"`` of ``real_time``."""
    found = []
    for name, word in value.items():
        said = _OF_UNITS.search(name) if isinstance(name, str) and isinstance(word, str) else None
        if said and _is_said_of(said.string[: said.start()], key) and meanings(str(word).strip()):
            found.append(str(word).strip())
    return tuple(found)


def _is_said_of(thing: str, key: str) -> bool:
    """Whether a unit that is said of a thing is that of the number at a key."""
    return thing.casefold() in key.casefold()


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


def behind(unit: str, match: re.Match[str], text: str) -> tuple[str, bool]:
    """Purpose: the unit behind a number that a regular expression took, "" for none, and whether a word there, a known unit or
    none, is meant: the expression names it.
    """
    found = _BEHIND.match(text, match.end("value"))
    if found is None:
        return _behind_a_sign(unit, match, text), False
    word = f"{found[1]}{found[2] or ''}"
    word = word if meanings(word) else found[1]
    if not meanings(word):
        return "", match.end() >= found.end(1)
    return word, _names(unit, match, text, found.start(1), word)


def _behind_a_sign(unit: str, match: re.Match[str], text: str) -> str:
    """The unit behind a number and a sign that parts fields: ``1001.23;msec;task-clock``; "" for none, and where the expression
    names it.
    """
    found = _BEHIND_A_SIGN.match(text, match.end("value"))
    known = found is not None and _says_a_unit(found[1])
    return found[1] if found and known and not _names(unit, match, text, found.start(1), found[1]) else ""


def _names(unit: str, match: re.Match[str], text: str, begin: int, word: str) -> bool:
    """Whether an expression names the unit that it found, another than the figure's: with another size of it in its place the
    number is not found.

    One that takes any unit (``[A-Z]B/s``, ``\\S+``) says nothing about this one.
    """
    if not unlike(unit, word, of_bytes=False):
        return False
    first = text.rfind("\n", 0, match.start()) + 1
    first = text.rfind("\n", 0, max(first - 1, 0)) + 1  # an expression may look at the end of the line before
    last = text.find("\n", max(match.end(), begin + len(word)))
    last = len(text) if last < 0 else last + 1
    others = [f"{letter}{rest}" for letter in (*_FIRST_LETTERS, "") for rest in (word, word[1:])]
    for other in (*others, *_OTHER_UNITS):
        if not meanings(other) or meanings(other) == meanings(word):
            continue
        line = text[first:begin] + other + text[begin + len(word) : last]
        again = match.re.match(line, match.start() - first)
        if again is not None and again["value"] == match["value"]:
            return False
    return True


def said_of(unit: str, match: re.Match[str], text: str) -> tuple[str, ...]:
    """Purpose: the units that are said of a number in words, ``1.25 (unit: GB/s)``, or in its XML element or JSON object,
    ``<bw unit="MB/s">1.25</bw>``. One that the expression names is meant and not among them.
    """
    begin, end = match.span("value")
    head, tail = text[max(begin - _LOOKED_AROUND, 0) : begin], text[end : end + _LOOKED_AROUND]
    if "nit" not in head.casefold() and "nit" not in tail.casefold():
        return ()
    left, right = _said_around(head, tail)
    found = [(one, begin - len(head)) for one in _SAID.finditer(head, len(head) - left)]
    found += [(one, end) for one in _SAID.finditer(tail, 0, right)]
    key = _KEY.search(head)
    found = [(one, offset) for one, offset in found if not one[1] or (key and _is_said_of(one[1], key[1]))]
    words = [(f"{one[2]}{one[3] or ''}", one.start(2) + offset) for one, offset in found]
    return tuple(word for word, place in words if meanings(word) and not _names(unit, match, text, place, word))


def _said_around(head: str, tail: str) -> tuple[int, int]:
    """How many characters before a number and behind it are of the same tag or object, or are parted from it by no other number."""
    for inside, rest in ((_IN_TAG, _REST_OF_TAG), (_IN_OBJECT, _REST_OF_OBJECT)):
        if opened := inside.search(head):
            ended = rest.match(tail)
            return len(opened[0]), ended.end() if ended else 0
    before_it = [found for kind in (_BEHIND_TAG, _WORDS_BEFORE) if (found := kind.search(head))]
    behind_it = _WORDS_BEHIND.match(tail)
    return max((len(one[0]) for one in before_it), default=0), behind_it.end() if behind_it else 0


def before(match: re.Match[str], text: str) -> str:
    """Purpose: the unit before a number that a regular expression took, in its line: ``Mflops: 2004``; "" for none. A unit with
    a number before it is that number's. Without a sign between them only a rate is a unit: ``BW GB/s 12``.
    """
    start = match.start("value")
    line = text[max(text.rfind("\n", 0, start) + 1, start - _LOOKED_BACK) : start]
    found = _BRACKETS_BEFORE.search(line) or _KEY_BEFORE.search(line) or _BEFORE.search(line)
    of_another = found is not None and line[: found.start()].rstrip()[-1:].isdigit()
    if found is None or (of_another and not meanings(found[1])):
        return _of_heading(text, start)
    if of_another:
        return ""
    word = found[1]
    if found.re is _KEY_BEFORE:
        return in_name(word)
    if found.re is _BRACKETS_BEFORE:
        return word
    joined = found[0].rstrip()[-1] in ":="
    if _says_a_unit(word) and (joined or _RATE.search(word)):
        return word
    return _of_heading(text, start)


def other_magnitude(unit: str, match: re.Match[str], text: str) -> str:
    """Purpose: why a number is not in thousands or millions of a unit that is not known, as its figure is, or the other way round:
    ``(tok/s): 4380`` of a figure in ktok/s; "" where nothing is wrong, and where the expression names the printed one.
    """
    start = match.start("value")
    line = text[max(text.rfind("\n", 0, start) + 1, start - _LOOKED_BACK) : start]
    found = _BEHIND.match(text, match.end("value")) or _BRACKETS_BEFORE.search(line) or _BEFORE.search(line)
    word = found[1] if found else ""
    alike = len(min(unit, word, key=len)) > 2 and (_of_prefix(unit, word) or _of_prefix(word, unit))
    if not alike or word in match.re.pattern:
        return ""
    said = show(f"{match['value']} {word}")
    return f"{said} is in {word}, and the figure is in {unit}; say so with 'unit: {word}'"


def _of_prefix(larger: str, unit: str) -> bool:
    return larger[:1] in tuple("kKMGTP") and larger[1:] == unit


def _of_heading(text: str, place: int) -> str:
    """The unit of the heading of a line with several numbers, each behind its own name; "" for none."""
    found = _HEADING.findall(text, text.rfind("\n", 0, place) + 1, place)
    return str(found[-1]) if found else ""


def in_title(title: str) -> tuple[str, ...]:
    """Purpose: the units in the line before a table: in brackets, or a rate, or what stands behind "in", at its end."""
    found = _AT_THE_END.search(title)
    at_end = (
        found is not None
        and _says_a_unit(found[1])
        and (_RATE.search(found[1]) or title[: found.start(1)].endswith(" in "))
    )
    return in_brackets(title) or ((found[1],) if found and at_end else ())


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
    return f"{said}, and the figure is in {unit}; an expression that names '{word}' says that {unit} is meant"


def _is_in(said: str, units: tuple[str, ...]) -> str:
    if is_open(units):
        return f"{show(said)} may count bits or bytes ({' or '.join(reversed(units))})"
    return f"{show(said)} is in {' or '.join(units)}"
