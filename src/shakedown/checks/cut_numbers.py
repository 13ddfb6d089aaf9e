"""Numbers that a regular expression took in part: ``1.5`` of ``1.5e+05``, ``4.3`` of ``4.3k``.

``cut_number`` is the entry point.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from shakedown.checks.numbers import Entry, number_in
from shakedown.checks.text import show
from shakedown.model.units import UNITS

_AROUND = 40  # characters looked at on either side
_TOUCHES_BEFORE, _TOUCHES_BEHIND = frozenset("0123456789.,:+-"), frozenset("0123456789.,:eEdDqQ")
_ENDS = frozenset("0123456789.")  # the last character of a number
_UNITS = frozenset("dhm")  # of run times: 1h 5m
_NUMBER = re.compile(
    r"(?<![\w.,)])[+-]?(?>(?:[1-9]\d{0,2}(?:,\d{3})+(?!\d)(?:\.\d*)?|\d+\.?\d*|\.\d+)(?:[eEdDqQ][+-]?\d+(?!\w))?)(?![.,]?\d)"
)
_DECIMAL_COMMA = re.compile(r"(?<![\w.,)])[+-]?(?>\d+,\d+)(?![.,]?\d)")
_MAGNITUDE = re.compile(r"([kKMGTP]i?)(?![\w/])")  # of 4.3k, 12.5M, 2.1Gi
_CLOCK = re.compile(r"(?<![\w.:])(?:\d+[-:](?=\d+:\d+:))?(?:\d+:)?(?>\d+:[0-5]\d(?:\.\d*)?)(?![\d:])")
_PARTS = re.compile(r"(?<![\w.:])(?>(?:\d+[dhm] ?)+\d+(?:\.\d*)?[hms])(?!\w)")


def cut_number(unit: str, match: re.Match[str], text: str) -> str:
    """Purpose: why the value of a match is no number of its own but a part of one, and what to write; "" where it is none.

    What lies beside it is no part of it where the expression itself says so: with a point, a colon or another such sign beside the
    group, or excluded from what the group takes. Where the whole is the same number nothing is wrong.
    """
    begin, end = match.span("value")
    if why := _magnitude(unit, match, text):
        return why
    of_time = unit in UNITS and UNITS[unit][0] == "seconds"
    if not _touched(text, begin, end, of_time):
        return ""
    first = max(text.rfind("\n", 0, begin) + 1, begin - _AROUND)
    last = text.find("\n", end, end + _AROUND)
    last = end + _AROUND if last < 0 else last
    own = number_in(unit, match["value"])
    for left, right in _wholes(unit, of_time, text[first:last]):
        left, right = left + first, right + first
        if not (left <= begin and end <= right and (left < begin or end < right)):
            continue
        if left == begin - 1 and text[left] == "+":
            left = begin
        before, behind = text[begin - 1] if left < begin else "", text[end] if end < right else ""
        if not _is_meant(match.re.pattern, before, behind) and _other(unit, text[left:right], own):
            return _refusal(match["value"], text[left:right])
    return ""


def _magnitude(unit: str, match: re.Match[str], text: str) -> str:
    """Why a value is no number of its own where thousands or millions are printed behind it, and what to write; "" for none.

    A figure whose unit begins with the same prefix is in that magnitude: ``12G`` in GB. One without a unit is, too, where the
    expression names the prefix.
    """
    end = match.end("value")
    if text[end - 1 : end] not in _ENDS:
        return ""
    found = _MAGNITUDE.match(text, end)
    if found is None and unit and unit not in UNITS:
        found = _before_unit(unit).match(text, end)
    if found is None:
        return ""
    prefix = found[1]
    if unit.startswith(prefix) or (prefix in "kK" and unit[:1] in ("k", "K")):
        return ""
    if not unit and _is_meant(match.re.pattern, "", prefix):
        return ""
    whole = show(f"{match['value']}{found[0]}")
    of = f"and the figure is in {unit}" if unit else "and the figure has no unit"
    return f"{show(match['value'])} is only a part of {whole}, {of}; say so with a unit that begins with {prefix}"


@lru_cache(maxsize=100)
def _before_unit(unit: str) -> re.Pattern[str]:
    """A prefix before a unit that is not known: ``12.5 Mreq/s`` of a figure in req/s."""
    return re.compile(rf"[ \t]*([kKMGTP]i?)[ \t]?{re.escape(unit)}(?![\w/])")


def _touched(text: str, begin: int, end: int, of_time: bool) -> bool:
    """Whether a character beside a value may be part of its number."""
    before, behind = text[begin - 1 : begin], text[end : end + 1]
    if before in _TOUCHES_BEFORE or behind in _TOUCHES_BEHIND:
        return True
    return of_time and (
        before in _UNITS or behind in _UNITS or (before == " " and text[begin - 2 : begin - 1] in _UNITS)
    )


def _wholes(unit: str, of_time: bool, line: str) -> Iterator[tuple[int, int]]:
    """The places of the numbers in a part of a line."""
    kinds = [_NUMBER, *([_DECIMAL_COMMA] if unit else []), *([_CLOCK, _PARTS] if of_time else [])]
    for kind in kinds:
        for found in kind.finditer(line):
            yield found.span()


def _other(unit: str, whole: str, own: Entry) -> bool:
    """Whether the whole is another number than its part, which is one."""
    return isinstance(own, float) and number_in(unit, whole) != own


def _refusal(value: str, whole: str) -> str:
    return f"{show(value)} is only a part of {show(whole)}; an expression such as (?P<value>\\S+) takes all of it"


@lru_cache(maxsize=5_000)
def _is_meant(pattern: str, before: str, behind: str) -> bool:
    """Whether an expression says itself that its value ends at these characters, "" on a side where nothing touches it."""
    head, _, rest = pattern.partition("(?P<value>")
    end = _end_of_group(rest)
    excluded = "".join(re.findall(r"\[\^((?:\\.|[^\]\\])*)\]", rest[:end]))
    head, tail = head.removesuffix("(?:"), rest[end + 1 :].removeprefix("(?:").removeprefix("(?=")
    ends = [f"\\{before}" if before in ".+" else before]
    ends += [f"{ends[0]}?", f"{ends[0]})", *(("[+-]?", "[-+]?") if before in "+-" else ())]
    left = not before or before in excluded or head.endswith(tuple(ends))
    right = not behind or behind in excluded or tail.lstrip(")").startswith(f"\\{behind}" if behind in ".+" else behind)
    return left and right


def _end_of_group(rest: str) -> int:
    """The place of the bracket that closes a group of which ``rest`` is the inside and what follows."""
    depth, place, in_class = 1, 0, False
    while place < len(rest):
        sign = rest[place]
        if sign == "\\":
            place += 1
        elif in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
            place += rest[place + 1 : place + 2] in ("]", "^")
        elif sign in "()":
            depth += 1 if sign == "(" else -1
            if not depth:
                return place
        place += 1
    return len(rest)
