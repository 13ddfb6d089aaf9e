"""The sums of files that a check ``file PATTERN recorded`` keeps with the verdict on a run, small enough for one event."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from shakedown.model.nouns import Check, Test

KIND = "recorded"
MOST_PATTERNS = 4  # of one test
MOST_EACH, EACH_CHARACTERS = 16, 200  # files of a pattern whose own sums are kept, and what their names may take
_BEGINNING = 12


class Recorded(Struct, frozen=True, array_like=True):
    """What one pattern found: the sha256 of the list that ``sha256sum`` would print, how many files, and of few files each sum's
    first digits. Two runs left the same files where ``sum`` is the same.
    """

    sum: str
    count: int
    each: dict[str, str] = {}


def listing(sums: Mapping[str, str]) -> str:
    """Purpose: path -> sha256 as the lines of ``sha256sum``, sorted by path."""
    return "".join(f"{sums[path]}  {path}\n" for path in sorted(sums))


def summed(sums: Mapping[str, str]) -> Recorded:
    """Purpose: what is kept of path -> sha256."""
    whole = hashlib.sha256(listing(sums).encode("utf-8", "surrogateescape")).hexdigest()
    each = {path: sums[path][:_BEGINNING] for path in sorted(sums)}
    small = len(each) <= MOST_EACH and sum(map(len, each)) <= EACH_CHARACTERS
    return Recorded(whole, len(sums), each if small else {})


def read_recorded(value: Any) -> dict[str, Recorded]:
    """Purpose: pattern -> what was kept, of an event's value; {} of what is no such thing."""
    try:
        return msgspec.convert(value, dict[str, Recorded])
    except msgspec.ValidationError:
        return {}


def recorded_checks(test: Test) -> list[Check]:
    """The checks of a test that keep sums."""
    return [check for check in test.checks if check.kind == KIND]


def differing(one: Recorded, other: Recorded) -> list[str]:
    """Purpose: the files in which two differ, by name; [] where nobody can tell."""
    if not one.each or not other.each:
        return []
    return sorted(path for path in {*one.each, *other.each} if one.each.get(path) != other.each.get(path))
