"""Kinds of scalars: how each is written, read, and described in a JSON Schema. The tables of keys use them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from yaml.nodes import Node, ScalarNode

from shakedown.model.errors import did_you_mean
from shakedown.model.units import parse_duration, parse_known
from shakedown.plans.schema.expressions import ExpressionError, template
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.yaml_nodes import shape

_NAME = r"[A-Za-z0-9][A-Za-z0-9_.+-]*"
_NAME_RULE = "use letters, digits, '_', '-', '.' and '+', a letter or digit first"
_LONGEST_NAME = 100
_PRINTED_QUOTES = "\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb"
_NULLS = frozenset(("null", "Null", "NULL", "~"))  # what readers of YAML take for nothing
_ANY_SCALAR = {"type": ["string", "number", "boolean"]}
_TEMPLATE = {"type": "string", "pattern": r"\{.*\}"}


class Kind(Protocol):
    """How one value is written. ``read`` returns plain data, or None after it added what is wrong to ``problems``."""

    words: str

    def read(self, node: Node, label: str, problems: Problems) -> Any: ...

    def schema(self) -> dict[str, Any]: ...


class InvalidValue(ValueError):
    """A value that does not fit its kind. ``hint`` is the way out; ``about`` is the cause, as in ``Problems``."""

    def __init__(self, message: str, hint: str | None = None, about: str = "") -> None:
        super().__init__(message)
        self.hint, self.about = hint, about


def near_or_all(word: str, known: Iterable[str]) -> str:
    """A hint for an unknown word: the nearest known one, else all of them."""
    names = sorted(known)
    return did_you_mean(word, names) or f"there are: {', '.join(names) or 'none'}"


def listed(words: Sequence[str]) -> str:
    """Words as part of a sentence: a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


class Scalar:
    """A value of one word or line. ``templated``: it may contain ``{expressions}``, and is then kept as text."""

    words = "text"
    templated = False
    as_written = False  # whether words that mean something in YAML are text like all others

    def read(self, node: Node, label: str, problems: Problems) -> Any:
        if node.__class__ is not ScalarNode:
            problems.at(node, f"{label} is {self.words}, not {shape(node)}", _unquoted_expression(node))
            return None
        text: str = node.value
        if not text and not node.style:
            problems.at(node, f"{label} has no value", f"it is {self.words}")
            return None
        if text in _NULLS and not node.style and not self.as_written:
            hint = f"leave it out, or write '{text}' in quotes where the word is meant"
            problems.at(node, f"{label}: {text} is no value in YAML", hint)
            return None
        try:
            if self.templated and ("{" in text or "}" in text):
                template(text)
                return text
            return self.convert(text)
        except (InvalidValue, ExpressionError) as error:
            problems.at(node, f"{label}: {error}", error.hint)
        except ValueError as error:
            problems.at(node, *_split(f"{label}: {error}"))
        return None

    def convert(self, text: str) -> Any:
        """The value of the text. Raises ValueError."""
        return text

    def schema(self) -> dict[str, Any]:
        return dict(_ANY_SCALAR)


def _unquoted_expression(node: Node) -> str | None:
    """A hint for the usual reason why there is a map instead of text: ``{threads}`` without quotes. None where that is not the
    reason.
    """
    pairs = node.value if node.__class__ is not ScalarNode and node.value else []
    if len(pairs) == 1 and isinstance(pairs[0], tuple) and getattr(node, "flow_style", False):
        key, value = pairs[0]
        if isinstance(key, ScalarNode) and isinstance(value, ScalarNode) and not value.value:
            return f'an expression is put in quotes: "{{{key.value}}}"'
    return None


def _split(text: str) -> tuple[str, str | None]:
    """Message and hint of an error: errors about units end with a hint after a semicolon."""
    message, semicolon, hint = text.rpartition("; ")
    return (message, hint) if semicolon and hint.startswith(("did you mean", "write ")) else (text, None)


class Text(Scalar):
    """Text exactly as written, even where YAML would read a number or another type."""

    as_written = True

    def __init__(self, words: str = "text", templated: bool = False) -> None:
        self.words, self.templated = words, templated


class ShellLines(Text):
    """What a shell is given. Quotes of print are none to it."""

    as_written = False

    def __init__(self, words: str = "shell lines") -> None:
        super().__init__(words, templated=True)

    def read(self, node: Node, label: str, problems: Problems) -> Any:
        text = node.value if isinstance(node, ScalarNode) else ""
        if isinstance(node, ScalarNode) and node.style and not text.strip():
            problems.at(node, f"{label} is empty", f"it is {self.words}")
            return None
        if text[:1] in _PRINTED_QUOTES and text[:1]:
            said = f"{label} begins with {text[0]} (U+{ord(text[0]):04X}), which is no quote to YAML and to the shell"
            problems.at(node, said, "write ' or \" in its place")
            return None
        return super().read(node, label, problems)


class Name(Scalar):
    """A word for the names of files, commands and ids."""

    def __init__(
        self, words: str = "a name", pattern: str = _NAME, rule: str = _NAME_RULE, templated: bool = False
    ) -> None:
        self.words, self.pattern, self.rule, self.templated = words, re.compile(pattern), rule, templated

    def convert(self, text: str) -> str:
        if len(text) > _LONGEST_NAME:
            raise InvalidValue(f"a name of {len(text)} characters", f"{_LONGEST_NAME} are the most")
        if self.pattern.fullmatch(text) is None:
            foreign = next((sign for sign in text if not sign.isascii()), "")
            said = (
                f"'{foreign}' is U+{ord(foreign):04X}, and not of these: " if foreign and foreign.isprintable() else ""
            )
            raise InvalidValue(f"'{text}' cannot be {self.words}", said + self.rule)
        return text

    def schema(self) -> dict[str, Any]:
        word: dict[str, Any] = {"type": ["string", "number"], "pattern": f"^{self.pattern.pattern}$"}
        return {"anyOf": [word, dict(_TEMPLATE)]} if self.templated else word


class Identifier(Name):
    """A word that can be the name of a variable in expressions and shells."""

    def __init__(self, words: str) -> None:
        super().__init__(words, r"[A-Za-z_][A-Za-z0-9_]*", "use letters, digits and '_', no digit first")


class Word(Scalar):
    """Text that matches a pattern, which ``rule`` describes."""

    def __init__(self, words: str, pattern: str, rule: str, templated: bool = False) -> None:
        self.words, self.pattern, self.rule, self.templated = words, re.compile(pattern), rule, templated

    def convert(self, text: str) -> str:
        if self.pattern.fullmatch(text) is None:
            raise InvalidValue(f"'{text}' is not {self.words}", self.rule)
        return text

    def schema(self) -> dict[str, Any]:
        word: dict[str, Any] = {"type": ["string", "number"], "pattern": f"^{self.pattern.pattern}$"}
        return {"anyOf": [word, dict(_TEMPLATE)]} if self.templated else word


class Whole(Scalar):
    """A whole number of at least ``least``, and at most ``most`` where that is given."""

    _PATTERN = re.compile(r"[+-]?[0-9]{1,15}")
    _LEADING_ZERO = re.compile(r"[+-]?0[0-9]")

    def __init__(self, least: int = 0, templated: bool = False, most: int | None = None) -> None:
        self.least, self.templated, self.most = least, templated, most
        self.words = "a whole number" + (f", at least {least}" if least else "")

    def convert(self, text: str) -> int:
        if self._PATTERN.fullmatch(text) is None:
            raise InvalidValue(f"'{text}' is not a whole number")
        if self._LEADING_ZERO.match(text):
            octal = f", or {int(text, 8)} if base 8 is meant" if set(text) <= set("+-01234567") else ""
            why = f"'{text}' begins with 0, and some readers of YAML take that for base 8"
            raise InvalidValue(why, f"write {int(text)}{octal}")
        value = int(text)
        if value < self.least:
            raise InvalidValue(f"{value} is less than {self.least}, the least that is possible")
        if self.most is not None and value > self.most:
            raise InvalidValue(f"{value} is more than {self.most}, the most that is possible")
        return value

    def schema(self) -> dict[str, Any]:
        whole: dict[str, Any] = {"type": "integer", "minimum": self.least}
        whole |= {} if self.most is None else {"maximum": self.most}
        return {"anyOf": [whole, dict(_TEMPLATE)]} if self.templated else whole


class YesNo(Scalar):
    """true or false; also yes, no, on and off."""

    words = "true or false"
    _MEANING = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}

    def __init__(self, templated: bool = False) -> None:
        self.templated = templated

    def convert(self, text: str) -> bool:
        meaning = self._MEANING.get(text.lower())
        if meaning is None:
            raise InvalidValue(f"'{text}' is neither true nor false")
        return meaning

    def schema(self) -> dict[str, Any]:
        yes_no: dict[str, Any] = {"type": "boolean"}
        return {"anyOf": [yes_no, dict(_TEMPLATE)]} if self.templated else yes_no


class Choice(Scalar):
    """One of a few words. ``other_words``: words that people use for these, and the one that it is here."""

    def __init__(
        self, choices: Iterable[str], templated: bool = False, other_words: Mapping[str, str] | None = None
    ) -> None:
        self.choices, self.templated, self.other_words = tuple(choices), templated, other_words or {}
        self.words = f"one of {', '.join(self.choices)}" if len(self.choices) > 1 else f"'{self.choices[0]}'"

    def convert(self, text: str) -> str:
        if text not in self.choices:
            other = self.other_words.get(text.casefold())
            near = f"here it is '{other}'" if other in self.choices else did_you_mean(text, self.choices)
            raise InvalidValue(f"'{text}' is not {self.words}", near)
        return text

    def schema(self) -> dict[str, Any]:
        words: dict[str, Any] = {"enum": list(self.choices)}
        return {"anyOf": [words, dict(_TEMPLATE)]} if self.templated else words


class Duration(Scalar):
    """A time with its units; read into seconds."""

    words = "a duration such as 90s, 2h or 1h30m"

    def __init__(self, templated: bool = False) -> None:
        self.templated = templated

    def convert(self, text: str) -> float:
        value = parse_duration(text)
        if not 0 < value < 1e9:
            raise InvalidValue(f"'{text}' is no time to wait", "write a duration such as 90s, 2h or 1h30m")
        return value

    def schema(self) -> dict[str, Any]:
        duration = {"type": "string", "pattern": r"^\s*(\d+(\.\d+)?\s*(ns|us|ms|min|s|m|h|d)\s*)+$"}
        return {"anyOf": [duration, dict(_TEMPLATE)]} if self.templated else duration


class Known(Scalar):
    """A quantity of one dimension (bytes, flop/s); read into base units."""

    def __init__(self, dimension: str, example: str) -> None:
        self.dimension, self.words = dimension, f"a number with its unit, such as {example}"

    def convert(self, text: str) -> float:
        value = parse_known(text, self.dimension)
        if not 0 < value < 1e30:
            raise InvalidValue(f"'{text}' is no amount", "write an amount above zero")
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": r"^\s*[+-]?[\d.]"}


class Parsed(Scalar):
    """Text with a grammar of its own, read by a function that raises InvalidValue."""

    def __init__(self, words: str, parse: Callable[[str], Any], templated: bool = False) -> None:
        self.words, self.parse, self.templated = words, parse, templated

    def convert(self, text: str) -> Any:
        return self.parse(text)

    def schema(self) -> dict[str, Any]:
        return {"type": ["string", "number"]}
