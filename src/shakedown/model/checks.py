"""The checks that a test can ask for: one declaration each, in ``CHECKS``. Plans, evaluation and the reference read it here.

A new check is a function and a declaration: in this table, or in a package of a site, which names it as an entry point of the
group ``shakedown.checks``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from shakedown.model.entry_points import declared_in_packages
from shakedown.model.nouns import Check

GROUP = "shakedown.checks"


class CheckKind(Struct, frozen=True):
    """The declaration of one kind of check.

    - ``name``: its name in the record, and the word after the subject: *contains* in ``output contains "TEXT"``
    - ``forms``: how it is written, and when it holds: the lines of the reference and of hints
    - ``function``: "module:name" of ``(Check, what was read) -> CheckResult``; it is imported when it is first used
    - ``subjects``: what it may be about: ``output``, ``file`` (followed by a path), or ``exit``
    - ``argument``: what follows its name: ``quoted`` text, a quoted regular expression (``pattern``), ``nothing``, ``words`` that
      fit the regular expression in ``words``, or, for those of Shakedown alone, the file of golden ``sums`` or another ``map``
    - ``words``: for ``words`` alone; where it has groups, the first one is kept as the argument, else all of them
    - ``reads``: what the function gets: the ``text`` of the subject, its ``presence`` (None, or why it is not there), the ``sums``
      of files, the contents of the subject and of its ``reference``, or the exit ``status``, which the judge knows and no function
      gets
    """

    name: str
    forms: tuple[tuple[str, str], ...]
    function: str = ""
    subjects: tuple[Literal["output", "file", "exit"], ...] = ("output", "file")
    argument: Literal["quoted", "pattern", "nothing", "words", "sums", "map"] = "quoted"
    words: str = ""
    reads: Literal["text", "presence", "sums", "reference", "status"] = "text"


CHECKS: tuple[CheckKind, ...] = (
    CheckKind(
        "contains",
        (
            ('output contains "TEXT"', "the output holds the text"),
            ('file PATH contains "TEXT"', "the file holds it; the path is relative to the run's directory"),
        ),
        "shakedown.checks.extract:contains",
    ),
    CheckKind(
        "lacks",
        (
            ('output lacks "TEXT"', "the output does not hold the text"),
            ('file PATH lacks "TEXT"', "the file is there and does not hold it"),
        ),
        "shakedown.checks.extract:lacks",
    ),
    CheckKind(
        "matches",
        (
            ('output matches "REGULAR EXPRESSION"', "a part of the output fits"),
            ('file PATH matches "REGULAR EXPRESSION"', "a part of the file fits"),
        ),
        "shakedown.checks.extract:matches",
        argument="pattern",
    ),
    CheckKind(
        "exists",
        (("file PATH exists", "the run left this file"),),
        "shakedown.checks.extract:exists",
        subjects=("file",),
        argument="nothing",
        reads="presence",
    ),
    CheckKind(
        "recorded",
        (
            (
                "file PATTERN recorded",
                "the run left such files; their sums are kept with the verdict, for the measure `identical` and for "
                "`shakedown golden`",
            ),
        ),
        "shakedown.checks.extract:recorded",
        subjects=("file",),
        argument="nothing",
        reads="sums",
    ),
    CheckKind(
        "exit",
        (
            ("exit is N", "the exit status is N; several mean any of them. Without it: `exit is 0`"),
            ("exit is any", "whatever the exit status, and also where a launcher says that ranks were lost"),
        ),
        subjects=("exit",),
        argument="words",
        words=r"is\s+(any|-?\d{1,3})",
        reads="status",
    ),
    CheckKind(
        "golden",
        (
            (
                "files match golden: {glob: FILES, sums: FILE}",
                "the files have the sums that `sha256sum FILES > FILE` wrote; with `{toolchain}` in its name each toolchain has "
                "a file of its own",
            ),
        ),
        "shakedown.checks.extract:golden",
        subjects=(),
        argument="sums",
        reads="sums",
    ),
    CheckKind(
        "equal-within",
        (
            (
                "files equal within: {file: FILE, reference: FILE, absolute: 1e-9, relative: 1e-6}",
                "each number of the run's file equals that of the reference: they differ by no more than absolute + relative x the "
                "reference's number",
            ),
        ),
        "shakedown.checks.comparing:equal_within",
        subjects=(),
        argument="map",
        reads="reference",
    ),
    CheckKind(
        "curve",
        (
            (
                "curve within: {from: FILE, x: COLUMN, y: COLUMN, reference: FILE, within: 5%}",
                "each point of the run's curve lies within the band around the reference, which is interpolated linearly in x",
            ),
        ),
        "shakedown.checks.comparing:curve",
        subjects=(),
        argument="map",
        reads="reference",
    ),
)

_OURS = {kind.name: kind for kind in CHECKS}


@lru_cache(maxsize=1)
def check_kinds() -> Mapping[str, CheckKind]:
    """Purpose: every kind of check by its name: those of the package, then those of installed packages.

    Errors: UsageError where a package declares what is no check, a name that is taken, or what only ours can be.
    """
    return _OURS | declared_in_packages(GROUP, CheckKind, "check", _OURS, _fault)


def kind_of(check: Check) -> CheckKind | None:
    """The declaration of a check's kind; None where this version has none."""
    return _OURS.get(check.kind) or check_kinds().get(check.kind)


def is_of_exit_status(check: Check) -> bool:
    """Whether a check is about the exit status; the judge decides such a check without reading files."""
    return check.kind in _OURS and _OURS[check.kind].reads == "status"


def kinds_with_reference() -> frozenset[str]:
    """The names of the checks that compare a run with a reference file beside the test."""
    return frozenset(kind.name for kind in CHECKS if kind.reads == "reference")


def fits(kind: CheckKind, words: str) -> str | None:
    """Purpose: the argument that words after the name stand for, in a kind that takes ``words``; None where they do not fit."""
    match = re.fullmatch(kind.words, words)
    if match is None:
        return None
    return (match[1] or "") if match.re.groups else match[0]


def _fault(kind: CheckKind) -> str:
    """The error in the declaration of a package, as text."""
    if re.fullmatch(r"[a-z][a-z_-]*", kind.name) is None:
        return "has a name that is no single word of small letters"
    if not kind.function or not kind.forms or not kind.subjects:
        return "has no function, no form or no subject"
    if kind.reads not in ("text", "presence") or kind.argument in ("sums", "map") or "exit" in kind.subjects:
        return "asks for sums, a reference or the exit status, which only checks of Shakedown itself can"
    try:
        re.compile(kind.words)
    except re.error as error:
        return f"has words that are no regular expression: {error}"
    return ""
