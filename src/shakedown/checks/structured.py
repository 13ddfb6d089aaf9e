"""Find numbers in JSON and YAML by their paths: in lines of output that are JSON records, or in a text that is one value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from shakedown.checks.numbers import Entry, number_in
from shakedown.checks.printed_units import in_keys_beside
from shakedown.checks.text import show
from shakedown.model import json_paths
from shakedown.model.json_paths import Step

# A line that begins a JSON value and does not end it. A bare bracket is nothing else; more may be a line of a log.
_BEGIN = re.compile(r"^[{\[](?:[ \t]*|[^\n]*[{\[,:][ \t]*)$", re.MULTILINE)
_DECODER = json.JSONDecoder()
_PLAIN_KEY = re.compile(r"[ !#-\[\]-~]+")  # ASCII that no JSON writer escapes
_LARGEST_YAML = 4 << 20  # characters; its reader is slow


class Lacking(str):
    """The entry that says that items of a list lack the number: of all of them nothing can be said then."""

    __slots__ = ()


class InUnits(float):
    """The entry of a number beside which its object says units: ``{"value": 3, "unit": "ms"}``."""

    units: tuple[str, ...] = ()


def json_entries(path: str, text: str) -> Iterator[Entry]:
    """Purpose: the entries at a path: in the text as one JSON value, in the only one that begins at a line of it, as behind a
    warning, or else in each line that is a JSON record.
    """
    steps = _steps(path)
    if isinstance(steps, str):
        yield steps
        return
    whole = _whole(text)
    if whole is not None:
        yield from _numbers(path, steps, whole)
        return
    begin, value, problem = _among_lines(path, text)
    records = _in_lines(path, steps, text if not problem else text[:begin])
    entries = _numbers(path, steps, value) if value is not None else records
    first = next(entries, None)
    if first is None and problem:
        yield problem
    elif first is None or problem:
        yield from _in_lines(path, steps, text)
    else:
        yield first
        yield from entries


def yaml_entries(path: str, text: str, unit: str = "") -> Iterator[Entry]:
    """Purpose: the entries at a path in each document of a YAML text.

    A text that is a number in ``unit`` counts as a number, because YAML readers leave 1e3 and 1m30s as text.
    """
    import yaml  # slow to import, and few tests need it

    steps = _steps(path)
    if isinstance(steps, str):
        yield steps
        return
    if len(text) > _LARGEST_YAML:
        yield f"a YAML text of {len(text)} characters is too large; {_LARGEST_YAML} are the most"
        return
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for document in yaml.load_all(text, loader):
            yield from _numbers(path, steps, document, unit)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        said = str(getattr(error, "problem", None) or error).partition("\n")[0]
        yield f"it is not YAML: {show(said, 80)}{_where(error, text)}; 'regex' takes a number from any text"


def _where(error: Exception, text: str) -> str:
    """The line at which a text is no YAML, as an end of a sentence; "" where the reader does not say it."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return ""
    lines = text.split("\n", mark.line + 1)
    line = lines[mark.line].strip() if mark.line < len(lines) else ""
    return f" in line {mark.line + 1}" + (f", {show(line, 60)}" if line else "")


def _steps(path: str) -> tuple[Step, ...] | str:
    try:
        return json_paths.parse(path)
    except ValueError as error:
        return str(error)


def _whole(text: str) -> Any:
    """The text as one JSON value that goes over several lines, or None. Lines of records are told apart by their first line."""
    stripped = text.strip()
    if not stripped or stripped[0] + stripped[-1] not in ("{}", "[]") or "\n" not in stripped:
        return None
    try:
        return _record(stripped)
    except (ValueError, RecursionError):
        return None


def _among_lines(path: str, text: str) -> tuple[int, Any, str]:
    """The place and the value of the only JSON value that goes over several lines, among others that are none of it, or why there
    is none to take; None and "" where no such value begins.
    """
    last = json_paths.last_key(path)
    if last and _PLAIN_KEY.fullmatch(last) and f'"{last}"' not in text:
        return 0, None, ""
    values: list[tuple[int, Any]] = []
    place = 0
    while found := _BEGIN.search(text, place):
        try:
            value, place = _DECODER.raw_decode(text, found.start())
            values.append((found.start(), value))
        except RecursionError:
            return found.start(), None, f"the JSON value that begins in line {_line(text, found.start())} is too deep"
        except json.JSONDecodeError as error:
            place = found.end()
            if found[0].strip() in ("{", "["):
                return (values[0][0] if values else found.start()), None, _broken(error, text, found.start())
    if len(values) == 1:
        return *values[0], ""
    lines = " and ".join(str(_line(text, begin)) for begin, _ in values[:2])
    more = f"there are {len(values)} JSON values, the first of which begin in lines {lines}: nobody can tell which one counts"
    return (values[0][0], None, more) if values else (0, None, "")


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _broken(error: json.JSONDecodeError, text: str, begin: int) -> str:
    """That a JSON value is cut off, or where it is damaged."""
    value = f"the JSON value that begins in line {_line(text, begin)}"
    if not text[error.pos :].strip() or error.msg.startswith("Unterminated"):
        return f"{value} is cut off: the text ends within it"
    line = text[text.rfind("\n", 0, error.pos) + 1 :].partition("\n")[0]
    return f"{value} is damaged in line {_line(text, error.pos)}, {show(line.strip(), 60)}"


def _in_lines(path: str, steps: tuple[Step, ...], text: str) -> Iterator[Entry]:
    """The entries in lines that are records. Only lines with the last key are decoded: outputs are large, records few."""
    last = json_paths.last_key(path)
    sought = f'"{last}"' if last and _PLAIN_KEY.fullmatch(last) else "{"
    if not isinstance(steps[0], str):  # a line that is a list
        sought = "["
    end = 0
    place = text.find(sought)
    while place >= 0:
        begin = text.rfind("\n", end, place) + 1 or end
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        yield from _in_line(path, steps, text[begin:end].strip())
        place = text.find(sought, end)


def _in_line(path: str, steps: tuple[Step, ...], line: str) -> Iterator[Entry]:
    """The numbers under the path in one line; none where the line is no record or has no such keys."""
    if not line.startswith("{" if isinstance(steps[0], str) else "["):
        return
    try:
        value = _record(line)
    except (ValueError, RecursionError):
        yield f"the line {show(line, 80)} is not JSON"
        return
    yield from _numbers(path, steps, value)


def _record(text: str) -> Any:
    """A JSON value. Python's own reader also takes NaN and Infinity, which many programs write."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError):
        return json.loads(text)


def _numbers(path: str, steps: tuple[Step, ...], value: Any, unit: str | None = None) -> Iterator[Entry]:
    """The entries at a path in a value. ``unit``: the unit of numbers in texts; None where texts do not count as numbers.

    Where some items of a ``[*]`` lack what the path goes on with, the last entry says so.
    """
    for holder in json_paths.find(steps[:-1], value):
        for found in json_paths.find(steps[-1:], holder):
            entry = number_in(unit, found) if unit is not None and isinstance(found, str) else _number(path, found)
            yield _in_units(entry, steps[-1], holder)
    items, without = json_paths.lacking(steps, value)
    if without:
        yield Lacking(f"{path} is missing in {without} of {items} items; 'pick: count' says in how many it is")


def _in_units(entry: Entry, key: Step, holder: Any) -> Entry:
    """The entry with the units that the other keys of its object say of it."""
    if isinstance(entry, str) or not isinstance(key, str) or not isinstance(holder, dict):
        return entry
    words = in_keys_beside(key, holder)
    if not words:
        return entry
    found = InUnits(entry)
    found.units = words
    return found


def _number(path: str, value: Any) -> Entry:
    if isinstance(value, bool) or not isinstance(value, int | float):
        kind = {str: "text", dict: "an object", list: "a list", bool: "true or false"}.get(type(value), "null")
        return f"{path} is {kind}, not a number"
    try:
        result = float(value)
    except OverflowError:
        return f"{path} is too large for a number"
    return result if math.isfinite(result) else f"{path} is {result}, which is no finite number"
