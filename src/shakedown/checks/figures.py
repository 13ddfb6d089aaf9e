"""Take one figure of merit: by a regular expression with a group ``value``, or by a dotted path into JSON lines.

Every match is an entry in order: a number, or the sentence that says why it is none. ``pick`` chooses among them; where what
it chooses is no number, or may lie in what was not read, there is no figure but a problem. Missing is not zero.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from shakedown.checks.extract import compile_pattern, not_there
from shakedown.checks.text import Contents, Missing, Text, name_of, omission, show
from shakedown.model.nouns import FigureSpec

Entry = float | str

# A number as programs write it: Fortran's exponent letters too; inf and nan in all their spellings.
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdDqQ][+-]?\d+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:inf(?:inity)?|nan(?:\([^)]*\))?)", re.IGNORECASE)
_PLAIN_KEY = re.compile(r"[ !#-\[\]-~]+")  # ASCII that no JSON writer escapes


@dataclass(frozen=True, slots=True)
class Figure:
    """``value`` in the unit of its spec, None where there is none; ``problem`` then says why ("" for an optional one)."""

    name: str
    value: float | None = None
    problem: str = ""


def figure(spec: FigureSpec, contents: Contents) -> Figure:
    """Purpose: the value of one figure. Its problem begins with ``figure NAME:``."""
    if isinstance(contents, Missing):
        return missing(spec, contents.detail if spec.required or contents.held is None else "")
    pieces = contents.parts if spec.json else contents.pieces
    whole = len(pieces) == 1
    if not whole:
        if spec.pick not in ("first", "last"):
            return missing(spec, f"the {spec.pick} of all values cannot be known: {omission(contents)}")
        pieces = pieces[:1] if spec.pick == "first" else pieces[-1:]
    found = _pick(spec, _entries(spec, pieces[0], _cut(spec, contents)))
    if found is None:
        return missing(spec, _nowhere(spec, contents, whole) if spec.required or not whole else "")
    if isinstance(found, str):
        return missing(spec, found)
    return Figure(spec.name, found)


def _cut(spec: FigureSpec, text: Text) -> str:
    """Where the first or the last piece may have been cut within a line: at its "end", at its "begin"ning, or "" nowhere."""
    if spec.pick == "first":
        return "" if len(text.pieces[0]) == len(text.parts[0]) else "end"
    return "" if len(text.pieces[-1]) == len(text.parts[-1]) else "begin"


def missing(spec: FigureSpec, why: str) -> Figure:
    """A figure that is not there, and why; nothing is said where ``why`` is empty."""
    return Figure(spec.name, None, f"figure {spec.name}: {why}" if why else "")


def number(text: str) -> Entry:
    """Purpose: a finite number as programs write them (1.5E+03, 1.5D+03, .5), or the sentence that says why it is none."""
    text = text.strip()
    if _NUMBER.fullmatch(text) is None:
        if _NOT_FINITE.fullmatch(text):
            return f"{show(text)} is no finite number"
        return f"{show(text)} is not a number" if text else "what should be a number is empty"
    value = float(text.translate(_EXPONENTS))
    return value if math.isfinite(value) else f"{show(text)} is too large for a number"


_EXPONENTS = str.maketrans("dDqQ", "eeee")


def _nowhere(spec: FigureSpec, text: Text, whole: bool) -> str:
    what = f"a JSON line with {spec.json}" if spec.json else f"a match of {show(spec.regex)}"
    if whole:
        return f"{what} is missing: {not_there(text)}"
    end = "beginning" if spec.pick == "first" else "end"
    return f"{what} is not at the {end} of {name_of(text.subject)}, and {omission(text)}"


def _pick(spec: FigureSpec, entries: Iterator[Entry]) -> Entry | None:
    """The entry that counts, or None where there is none at all."""
    if spec.pick == "first":
        return next(entries, None)
    if spec.pick == "last":
        last = deque(entries, maxlen=1)
        return last[0] if last else None
    numbers: list[float] = []
    for entry in entries:
        if isinstance(entry, str):
            return f"the {spec.pick} of all values cannot be taken: {entry}"
        numbers.append(entry)
    return _combine(spec.pick, numbers) if numbers else None


def _combine(pick: str, numbers: list[float]) -> Entry:
    try:
        if pick == "min":
            return min(numbers)
        if pick == "max":
            return max(numbers)
        if pick == "median":
            return _median(sorted(numbers))
        total = math.fsum(numbers)
        return total if pick == "sum" else total / len(numbers)
    except OverflowError:
        return f"the {pick} of all values is too large for a number"


def _median(ordered: list[float]) -> float:
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else ordered[middle - 1] / 2 + ordered[middle] / 2


# ---- entries ---------------------------------------------------------------------------------------------------------


def _entries(spec: FigureSpec, text: str, cut: str) -> Iterator[Entry]:
    """``cut``: the end of the text where it may go on, "begin" or "end"; "" where all of it is there."""
    return _json_entries(spec.json.split("."), text) if spec.json else _regex_entries(spec.regex, text, cut)


def _regex_entries(regex: str, text: str, cut: str) -> Iterator[Entry]:
    pattern = compile_pattern(regex)
    if isinstance(pattern, str):
        yield pattern
    elif "value" not in pattern.groupindex:
        yield f"{show(regex)} has no group named 'value'"
    else:
        for match in pattern.finditer(text):
            if _may_go_on(match, text, cut):
                yield f"{show(match[0])} lies where a very long line was cut: its value may go on"
                continue
            value = match["value"]
            yield f"{show(match[0])} matches without its group 'value'" if value is None else number(value)


def _may_go_on(match: re.Match[str], text: str, cut: str) -> bool:
    """Whether the value touches a cut within a line: the rest of the number may lie beyond it."""
    begin, end = match.span("value")
    return (cut == "end" and end == len(text)) or (cut == "begin" and begin == 0)


def _json_entries(path: list[str], text: str) -> Iterator[Entry]:
    """Only lines that hold the last key are decoded: outputs are large and records few."""
    sought = f'"{path[-1]}"' if _PLAIN_KEY.fullmatch(path[-1]) else "{"
    end = 0
    place = text.find(sought)
    while place >= 0:
        begin = text.rfind("\n", end, place) + 1 or end
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        entry = _json_entry(path, text[begin:end].strip())
        if entry is not None:
            yield entry
        place = text.find(sought, end)


def _json_entry(path: list[str], line: str) -> Entry | None:
    """The number under the path in one line; None where the line is no record or has no such keys."""
    if not line.startswith("{"):
        return None
    try:
        value = _record(line)
    except (ValueError, RecursionError):
        return f"the line {show(line, 80)} is not JSON"
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return _json_number(".".join(path), value)


def _record(line: str) -> Any:
    """A JSON value. Python's own reader also takes NaN and Infinity, which many programs write."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeError):
        import json

        return json.loads(line)


def _json_number(path: str, value: Any) -> Entry:
    if isinstance(value, bool) or not isinstance(value, int | float):
        kind = {str: "text", dict: "an object", list: "a list", bool: "true or false"}.get(type(value), "null")
        return f"{path} is {kind}, not a number"
    try:
        result = float(value)
    except OverflowError:
        return f"{path} is too large for a number"
    return result if math.isfinite(result) else f"{path} is {result}, which is no finite number"
