"""The grammar of a check: ``output contains "Completed"``, ``file result.nc exists``, ``exit is 0``."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Any, cast

from yaml.nodes import MappingNode, Node, ScalarNode

from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Check, CheckKind
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.records import Either, Key, OneKey, Record
from shakedown.plans.schema.scalars import InvalidValue, Parsed, Text

GOLDEN = "files match golden"
_FORMS = (
    'output contains "TEXT"',
    'output lacks "TEXT"',
    'output matches "REGULAR EXPRESSION"',
    "file PATH exists",
    'file PATH contains "TEXT"',
    "exit is N",
    "exit is any",
)
_OF_TEXT = ("contains", "lacks", "matches")
_HINT = f"a check is one of: {'; '.join(_FORMS)}"
_PATH = re.compile(r"""("[^"]+"|'[^']+'|[^\s"']+)\s*(.*)""", re.DOTALL)
_LONGEST_PATTERN = 10_000


@lru_cache(maxsize=20_000)
def parse_check(text: str) -> Check:
    """Purpose: one check from its words. Raises InvalidValue."""
    subject, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if subject == "exit":
        return _exit(text, rest)
    if subject == "output":
        return _of_text(text, "output", rest, _OF_TEXT)
    if subject == "file":
        match = _PATH.fullmatch(rest)
        if match is None:
            raise InvalidValue(f"'{text}' names no file", _HINT)
        return _of_text(text, inside(match.group(1).strip("\"'")), match.group(2), (*_OF_TEXT, "exists"))
    near = did_you_mean(subject, ("output", "file", "exit"))
    raise InvalidValue(f"'{text}' is not a check", near or _HINT)


def compile_pattern(text: str) -> re.Pattern[str]:
    """Purpose: a regular expression that works, or Wrong with what is wrong about it."""
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
    """A path inside the run's directory; raises Wrong for one that leads out of it."""
    if path.startswith("/") or ".." in path.split("/"):
        raise InvalidValue(f"'{path}' is not in the run's directory", "name the file from there, without '..'")
    return path


def _exit(text: str, rest: str) -> Check:
    match = re.fullmatch(r"is\s+(any|-?\d{1,3})", rest)
    if match is None:
        raise InvalidValue(f"'{text}' is not a check", "write 'exit is 0', another number, or 'exit is any'")
    return Check("exit", "exit", match.group(1), text)


def _of_text(text: str, subject: str, rest: str, verbs: tuple[str, ...]) -> Check:
    verb, _, argument = rest.partition(" ")
    argument = argument.strip()
    if verb not in verbs:
        raise InvalidValue(f"'{text}' is not a check", did_you_mean(verb, verbs) or _HINT)
    if verb == "exists":
        if argument:
            raise InvalidValue(f"'{text}': nothing can follow 'exists'")
        return Check("exists", subject, "", text)
    wanted = _unquoted(text, verb, argument)
    if verb == "matches":
        compile_pattern(wanted)
    return Check(cast(CheckKind, verb), subject, wanted, text)


def _unquoted(text: str, verb: str, argument: str) -> str:
    """What stands between the quotes, as it is written; only a backslash before the quote itself goes."""
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


class CheckItem(Either):
    """One item of ``check``: a line of words, or the map that golden files need."""

    def __init__(self) -> None:
        sums = "a file that sha256sum wrote, beside the test: what each file must be"
        golden = Record(
            "a map with glob and sums",
            {
                "glob": Key(Parsed("a pattern of files, such as RESTART/*.nc", inside), "which files of the run", True),
                "sums": Key(Text("a file"), sums, True),
            },
        )
        about = "the files of the run are, bit for bit, those that the sums were made of"
        super().__init__(
            scalar=Parsed("a check in words", parse_check),
            keys=OneKey(f"a map with the key '{GOLDEN}'", {GOLDEN: Key(golden, about)}),
        )

    def read(self, node: Node, label: str, problems: Problems) -> Any:
        if _torn_by_a_colon(node):
            problems.at(node, f"{label}: the ': ' makes a map of this check", "put the whole check in single quotes")
            return None
        return super().read(node, label, problems)


def _torn_by_a_colon(node: Node) -> bool:
    if not isinstance(node, MappingNode) or not node.value:
        return False
    key = node.value[0][0]
    return isinstance(key, ScalarNode) and bool(re.match(r"(output|file) .*[\"']", key.value))
