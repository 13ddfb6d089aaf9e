"""Numbers that a regular expression took in part: ``1.5`` of ``1.5e+05``. ``cut_number`` is the entry point."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from shakedown.checks.numbers import Entry, number_in
from shakedown.checks.text import show
from shakedown.model.units import UNITS

_AROUND = 40  # characters looked at on either side
_TOUCHES_BEFORE, _TOUCHES_BEHIND = frozenset("0123456789.,:+-"), frozenset("0123456789.,:eEdDqQ")
_UNITS = frozenset("dhm")  # of run times: 1h 5m
_NUMBER = re.compile(
    r"(?<![\w.,)])[+-]?(?>(?:[1-9]\d{0,2}(?:,\d{3})+(?!\d)(?:\.\d*)?|\d+\.?\d*|\.\d+)(?:[eEdDqQ][+-]?\d+(?!\w))?)(?![.,]?\d)"
)
_DECIMAL_COMMA = re.compile(r"(?<![\w.,)])[+-]?(?>\d+,\d+)(?![.,]?\d)")
_CLOCK = re.compile(r"(?<![\w.:])(?:\d+[-:](?=\d+:\d+:))?(?:\d+:)?(?>\d+:[0-5]\d(?:\.\d*)?)(?![\d:])")
_PARTS = re.compile(r"(?<![\w.:])(?>(?:\d+[dhm] ?)+\d+(?:\.\d*)?[hms])(?!\w)")


def cut_number(unit: str, match: re.Match[str], text: str) -> str:
    """Purpose: why the value of a match is no number of its own but a part of one, and what to write; "" where it is none.

    What lies beside it is no part of it where the expression itself says so: with a point, a colon or another such sign beside the
    group, or excluded from what the group takes. Where the whole is the same number nothing is wrong.
    """
    begin, end = match.span("value")
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
