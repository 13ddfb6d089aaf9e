"""Evaluate one check on the text read of its subject. ``check`` is the entry point; the declarations name the functions.

Where the text that would decide a check may lie in a part that was not read, the check is undecided (None).
Checks of the exit status are in ``judge``, because the status comes with the job's report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from shakedown.checks.text import Missing, Text, name_of, omission, printable, show, uncut
from shakedown.model.checks import is_of_exit_status, kind_of
from shakedown.model.entry_points import function
from shakedown.model.nouns import Check, Test
from shakedown.model.ports import CheckResult


def check(check: Check, read: Any) -> CheckResult:
    """Purpose: the result of a check on the data read for it, by the function that its declaration names.

    ``read``: as the declaration's ``reads`` says. A subject whose text is missing is told without the function.
    """
    kind = kind_of(check)
    if kind is None or not kind.function:
        return CheckResult(label(check), None, f"this version does not know the check '{check.kind}'")
    if kind.reads == "text" and isinstance(read, Missing):
        return CheckResult(label(check), read.held, read.detail)
    result = function(kind.function)(check, read)
    if not isinstance(result, CheckResult):
        raise TypeError(f"{kind.function} returned {type(result).__name__}, no CheckResult")
    return result


def exists(check: Check, missing: Missing | None) -> CheckResult:
    """Purpose: whether a file is there; ``missing`` says why not."""
    if missing is None:
        return CheckResult(label(check), True)
    return CheckResult(label(check), missing.held, missing.detail)


def golden(check: Check, found: Mapping[str, str | Missing]) -> CheckResult:
    """Purpose: whether every golden sum is met, and every file that the glob finds has a golden sum.

    ``found``: path -> sha256 in hexadecimal, or why there is none, for the files that the glob finds and those with a sum.
    """
    try:
        wanted = golden_sums(check)
    except ValueError as error:
        return CheckResult(label(check), None, str(error))
    if not wanted:
        return CheckResult(label(check), False, "no golden sums are given, so nothing was compared")
    faults: list[str] = []
    undecided: list[str] = []
    for path in sorted({*wanted, *found}):
        _compare(path, wanted.get(path), found.get(path), faults, undecided)
    if faults:
        return CheckResult(label(check), False, _some(faults + undecided))
    return CheckResult(label(check), None if undecided else True, _some(undecided))


def recorded(check: Check, found: Mapping[str, str | Missing]) -> CheckResult:
    """Purpose: whether there are files whose sums can be kept; ``found`` as for ``golden``."""
    if not found:
        return CheckResult(label(check), False, f"the run left no file {printable(check.subject)}")
    missing = [one for one in found.values() if isinstance(one, Missing)]
    if missing:
        worst = next((one for one in missing if one.held is False), missing[0])
        return CheckResult(label(check), worst.held, _some(one.detail for one in missing))
    return CheckResult(label(check), True)


def golden_sums(check: Check) -> dict[str, str]:
    """The pairs of a golden check: path -> sha256. Raises ValueError where a line is no pair."""
    sums: dict[str, str] = {}
    for line in check.argument.splitlines():
        path, separator, digest = line.rpartition("=")
        if not separator or not path:
            raise ValueError(f"{show(line)} is no pair path=sha256")
        sums[path] = digest.strip().lower()
    return sums


def undecided(test: Test, why: str) -> tuple[CheckResult, ...]:
    """An undecided result for every check of a test whose evidence could not be read; checks of the exit status are left out."""
    return tuple(CheckResult(label(check), None, why) for check in test.checks if not is_of_exit_status(check))


def label(check: Check) -> str:
    """The check as the person wrote it."""
    return check.text or " ".join(filter(None, (check.subject, check.kind, check.argument)))


def compile_pattern(pattern: str) -> re.Pattern[str] | str:
    """A regular expression, ``^`` and ``$`` at every line; or the sentence that says why it is none."""
    try:
        return re.compile(pattern, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        return f"{show(pattern)} is not a regular expression: {error}"


def last_line(text: Text) -> str:
    """The last line that is not blank, or ""."""
    lines = [line for line in text.parts[-1][-4096:].split("\n") if line.strip()]
    return lines[-1].strip() if lines else ""


def not_there(text: Text) -> str:
    """A sentence on the text that was searched in vain."""
    line = last_line(text)
    if not line:
        return f"{name_of(text.subject)} is empty" if not any(text.parts) else f"{name_of(text.subject)} is blank"
    return f"it is nowhere in {name_of(text.subject)}, whose last line is {show(line)}"


def contains(check: Check, text: Text) -> CheckResult:
    """Purpose: whether the text holds the argument."""
    if any(check.argument in part for part in text.parts):
        return CheckResult(label(check), True)
    return _not_found(check, text, len(text.parts) > 1)


def lacks(check: Check, text: Text) -> CheckResult:
    """Purpose: whether the text does not hold the argument."""
    for part in text.parts:
        place = part.find(check.argument)
        if place >= 0:
            return CheckResult(
                label(check), False, f"{name_of(text.subject)} has the line {show(_line_at(part, place))}"
            )
    if len(text.parts) > 1:
        return CheckResult(
            label(check), None, f"it is not in what was read of {name_of(text.subject)}, but {omission(text)}"
        )
    return CheckResult(label(check), True)


def matches(check: Check, text: Text) -> CheckResult:
    """Purpose: whether the argument, a regular expression, fits a part of the text."""
    pattern = compile_pattern(check.argument)
    if isinstance(pattern, str):
        return CheckResult(label(check), None, pattern)
    whole = uncut(text)
    if any(pattern.search(piece) for piece in text.pieces) or (whole and pattern.search(whole)):
        return CheckResult(label(check), True)
    return _not_found(check, text, len(text.parts) > 1)


def _not_found(check: Check, text: Text, partly_read: bool) -> CheckResult:
    if partly_read:
        why = f"it is not in what was read of {name_of(text.subject)}, but {omission(text)}"
        return CheckResult(label(check), None, why)
    return CheckResult(label(check), False, not_there(text))


def _line_at(text: str, place: int) -> str:
    """The line at a position, at most a few hundred characters of it."""
    begin = max(text.rfind("\n", 0, place) + 1, place - 60)
    end = text.find("\n", place, place + 300)
    return text[begin : end if end >= 0 else place + 300].strip()


def _compare(
    path: str, wanted: str | None, found: str | Missing | None, faults: list[str], undecided: list[str]
) -> None:
    """Add what is wrong with one file: missing, without a golden sum, different, not readable."""
    name = printable(path)
    if isinstance(found, Missing):
        (undecided if found.held is None else faults).append(found.detail)
    elif found is None:
        faults.append(f"there is no file {name}")
    elif wanted is None:
        faults.append(f"file {name} has no golden sum")
    elif found != wanted:
        faults.append(f"file {name} differs: sha256 {found[:12]}, golden {printable(wanted)[:12]}")


def _some(sentences: Iterable[str], most: int = 3) -> str:
    listed = list(sentences)
    rest = f"; and {len(listed) - most} more" if len(listed) > most else ""
    return "; ".join(listed[:most]) + rest
