"""The grammar of a check: ``output contains "Completed"``, ``file result.nc exists``, ``exit is 0``."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

from msgspec.structs import replace

from shakedown.model.checks import CheckKind, check_kinds, fits, kind_of
from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Check
from shakedown.plans.schema.scalars import InvalidValue

_PATH = re.compile(r"""("[^"]+"|'[^']+'|[^\s"']+)\s*(.*)""", re.DOTALL)
_LONGEST_PATTERN = 10_000


@lru_cache(maxsize=20_000)
def parse_check(text: str) -> Check:
    """Purpose: one check from its words, in the forms that ``model.checks`` declares. Raises InvalidValue."""
    subject, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if subject == "exit":
        number = re.fullmatch(r"is\s+(-?\d+)", rest)
        if number is not None and not -64 <= int(number[1]) <= 255:
            raise InvalidValue(f"'{text}': no program ends with {number[1]}", "exit statuses go from 0 to 255")
        if number is not None and int(number[1]) == -1:
            raise InvalidValue(f"'{text}': what returns -1 ends with 255", "write exit is 255")
        kind = next(kind for kind in check_kinds().values() if "exit" in kind.subjects)
        return Check(kind.name, "exit", _argument(kind, text, rest), text)
    if subject == "output":
        return _of_subject(text, "output", "output", rest)
    if subject == "file":
        match = _PATH.fullmatch(rest)
        if match is None:
            raise InvalidValue(f"'{text}' names no file", _hint())
        return _of_subject(text, "file", inside(match.group(1).strip("\"'")), match.group(2))
    near = did_you_mean(subject, ("output", "file", "exit"))
    raise InvalidValue(f"'{text}' is not a check", near or _hint())


def _hint() -> str:
    """All forms that are a line of words; the forms that are maps are not included."""
    forms = [form for kind in check_kinds().values() if kind.argument not in ("sums", "map") for form, _ in kind.forms]
    return f"a check is one of: {'; '.join(forms)}"


def _of_subject(text: str, sort: str, subject: str, rest: str) -> Check:
    """A check whose name follows its subject; ``sort`` is output or file."""
    name, _, argument = rest.partition(" ")
    known = {kind.name: kind for kind in check_kinds().values() if sort in kind.subjects}
    if name not in known:
        raise InvalidValue(f"'{text}' is not a check", did_you_mean(name, known) or _hint())
    return Check(name, subject, _argument(known[name], text, argument.strip()), text)


def _argument(kind: CheckKind, text: str, written: str) -> str:
    """The argument of a check, in the form that the check's function expects."""
    if kind.argument == "nothing":
        if written:
            raise InvalidValue(f"'{text}': nothing can follow '{kind.name}'")
        return ""
    if kind.argument == "words":
        return _words(kind, text, written)
    wanted = _unquoted(text, kind.name, written)
    if kind.argument == "pattern":
        compile_pattern(wanted)
    return wanted


def _words(kind: CheckKind, text: str, written: str) -> str:
    """Words that fit the declaration. Words with braces are kept until the names in them have values."""
    return written if "{" in written else _fitting(kind, text, written)


def _fitting(kind: CheckKind, text: str, written: str) -> str:
    fitting = fits(kind, written)
    if fitting is None:
        raise InvalidValue(f"'{text}' is not a check", f"write it as: {', or '.join(form for form, _ in kind.forms)}")
    return fitting


def with_argument(check: Check, argument: str) -> Check:
    """Purpose: the same check with names filled in; the result must be valid too. Raises InvalidValue."""
    kind = kind_of(check)
    if kind is not None and kind.argument == "pattern":
        compile_pattern(argument)
    if kind is not None and kind.argument == "words" and "{" in check.argument:
        argument = _fitting(kind, check.text, argument)
    return replace(check, argument=argument)


def compile_pattern(text: str) -> re.Pattern[str]:
    """Purpose: a compiled regular expression. Raises InvalidValue with what is wrong in it."""
    if len(text) > _LONGEST_PATTERN:
        raise InvalidValue(f"a regular expression of {len(text)} characters", f"{_LONGEST_PATTERN} are the most")
    return _compiled(text)


@lru_cache(maxsize=20_000)
def _compiled(text: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(text)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        raise InvalidValue(f"'{text}' is not a regular expression: {error}") from error


def inside(path: str) -> str:
    """A path inside the run's directory. Raises InvalidValue for one that leads out of it."""
    if path.startswith("/") or ".." in path.split("/"):
        raise InvalidValue(f"'{path}' is not in the run's directory", "name the file from there, without '..'")
    return path


def _unquoted(text: str, verb: str, argument: str) -> str:
    """The text between the quotes, unchanged except that a backslash before the quote character is removed."""
    quote = argument[:1]
    if quote not in ("'", '"'):
        raise InvalidValue(f"'{text}': what it {verb} is not in quotes", f'write {verb} "..."')
    if len(argument) < 2 or argument[-1] != quote:
        raise InvalidValue(
            f"'{text}': the quote is not closed", "put the whole check in single quotes where its text holds ' #'"
        )
    if len(argument) == 2:
        raise InvalidValue(f"'{text}': there is nothing between the quotes")
    return argument[1:-1].replace("\\" + quote, quote)
