"""Every key of a file of failure classes."""

from __future__ import annotations

import re
import warnings

from shakedown.model.failures import FAMILIES, SUSPECTS
from shakedown.plans.schema.records import Either, Key, ListOf, Record
from shakedown.plans.schema.scalars import Choice, InvalidValue, Name, Parsed, Text, Whole

LONGEST_TEXT = 300  # characters of a text or a pattern
LONGEST_EXAMPLE = 2000
_NAME = Name(
    "a class's name",
    r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*",
    "use small letters, digits and '-', a letter first: out-of-memory",
)
_FEWEST = 4  # characters, below which a text is in every other line


def _text(text: str) -> str:
    """A text to search for, with at least one part that is distinctive enough. Raises InvalidValue."""
    if len(text) > LONGEST_TEXT:
        raise InvalidValue(
            f"a text of {len(text)} characters", f"{LONGEST_TEXT} are the most; the telling part is enough"
        )
    parts = [part.strip() for part in text.split("...")]
    if max(map(len, parts)) < _FEWEST:
        raise InvalidValue(
            f"'{text}' would match too many lines",
            f"write at least {_FEWEST} characters in a row; '...' stands for anything",
        )
    return text


def _pattern(text: str) -> str:
    """A regular expression that matches something, but not an empty line. Raises InvalidValue."""
    if len(text) > LONGEST_TEXT:
        raise InvalidValue(
            f"a regular expression of {len(text)} characters", f"{LONGEST_TEXT} are the most; write several"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(text, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise InvalidValue(f"'{text}' is not a regular expression: {error}") from None
    if compiled.search(""):
        raise InvalidValue(f"'{text}' matches an empty line", "write a part that must be there")
    return text


def _example(text: str) -> str:
    if "\n" in text.strip("\n"):
        raise InvalidValue("an example is one line", "one item for each line")
    if len(text) > LONGEST_EXAMPLE:
        raise InvalidValue(f"an example of {len(text)} characters", f"{LONGEST_EXAMPLE} are the most")
    return text.strip("\n")


def _list(kind: Parsed, words: str) -> Either:
    return Either(scalar=kind, items=ListOf(kind, words, 1))


LINES = Record(
    "a map with weight, and texts or patterns",
    {
        "weight": Key(
            Whole(1, most=100),
            "how telling such a line is, 1 to 100: the heaviest line wins; below 20 it only repeats that something ended",
            True,
        ),
        "texts": Key(
            _list(Parsed("a text", _text), "a list of texts"),
            "what a line holds, whatever stands around it; `...` stands for anything, case is no matter",
        ),
        "patterns": Key(
            _list(Parsed("a regular expression", _pattern), "a list of regular expressions"),
            "regular expressions on one line, case is no matter; where texts do not do",
        ),
        "source": Key(Text(), "where the line was seen; without it the site"),
    },
)

FAILURE = Record(
    "a map that describes a class of failures",
    {
        "class": Key(_NAME, "the class's name; the package's class of the same name is replaced", True),
        "family": Key(Choice(FAMILIES), f"what it is a kind of: {', '.join(FAMILIES)}", True),
        "about": Key(Text(), "what happened, in a sentence", True),
        "hint": Key(Text(), "what a person does next"),
        "suspect": Key(Choice(SUSPECTS), f"whom to ask first, a hint and no ruling: {', '.join(SUSPECTS)}"),
        "lines": Key(ListOf(LINES, "a list of lines with their weight", 1), "the lines that tell it", True),
        "examples": Key(
            _list(Parsed("an example", _example), "a list of lines"),
            "whole lines that must be classified so; each is a test",
        ),
        "unlike": Key(
            _list(Parsed("an example", _example), "a list of lines"),
            "whole lines that look like it and must not be; each is a test",
        ),
    },
)

FAILURES = Record(
    "a map of keys",
    {
        "failures": Key(ListOf(FAILURE, "a list of classes", 1), "classes of failures", True),
        "about": Key(Text(), "a sentence for people"),
    },
)
