"""A quote or a bracket that somebody forgot to close: what is wrong shows lines below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import yaml

_OPEN = re.compile(rb"""(?m)(?:^|[\s\[{,(])'[^'\n]*$""")  # a single quote that may open, and none behind it in its line
_KEY = re.compile(r"\s*(?:- |[\w./-]+:(?:\s|$))")
_OPENING = (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken)
_CLOSING = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)
_WAY_OUT = "close it in the line in which it is opened"


def may_be_open(data: bytes) -> bool:
    """Whether an open quote is possible in a text that is valid YAML. A cheap check, which is often true without reason."""
    return data.count(b'"') % 2 == 1 or (data.count(b"'") % 2 == 1 and _OPEN.search(data) is not None)


def left_open(tokens: Any, text: str) -> tuple[str, str, Any] | None:
    """Purpose: (what is wrong, the way out, the mark where) of the first quote or bracket that swallows keys below it.

    ``tokens``: a loader at the beginning of the text. None where there is no such thing.
    """
    lines = text.split("\n")
    brackets: list[Any] = []
    unclosed = None
    try:
        while tokens.check_token():
            token = tokens.get_token()
            if isinstance(token, _OPENING):
                brackets.append(token)
            elif isinstance(token, _CLOSING) and brackets:
                brackets.pop()
            elif unclosed is None and isinstance(token, yaml.KeyToken | yaml.ValueToken):
                unclosed = _bracket(brackets, token, lines)
            if isinstance(token, yaml.ScalarToken) and token.style in ('"', "'") and _swallows(token, lines):
                closed = token.end_mark.line + 1
                said = f"the quote that is opened here is closed in line {closed} only"
                return unclosed or (said, _WAY_OUT, token.start_mark)
    except yaml.MarkedYAMLError as error:  # a quote that was left open comes before what is wrong, or holds it
        start, end = error.context_mark, error.problem_mark
        within = "quoted scalar" in (error.context or "") and "end of stream" not in (error.problem or "")
        if within and start is not None and end is not None and _keys_between(start.line, end.line, lines):
            return unclosed or (
                f"the quote that is opened here is not closed before line {end.line + 1}",
                _WAY_OUT,
                start,
            )
        return unclosed
    except yaml.YAMLError:
        pass
    return unclosed if brackets else None


def _bracket(brackets: Sequence[Any], token: Any, lines: list[str]) -> tuple[str, str, Any] | None:
    """The outermost bracket that is open at a key which begins a line and stands no deeper than the bracket's line."""
    line = token.start_mark.line
    if (
        not brackets
        or line <= brackets[0].start_mark.line
        or not _keys_between(line - 1, line, lines, brackets[0].start_mark.line)
    ):
        return None
    first = brackets[0]
    sign, other = ("[", "]") if isinstance(first, yaml.FlowSequenceStartToken) else ("{", "}")
    message = f"the '{sign}' that is opened here is not closed before line {line + 1}"
    return message, f"write the '{other}' that is missing", first.start_mark


def _swallows(token: yaml.ScalarToken, lines: list[str]) -> bool:
    """Whether one of the later lines of a quoted text looks like a key or list entry that is indented no deeper than its first
    line.
    """
    return _keys_between(token.start_mark.line, token.end_mark.line, lines)


def _keys_between(first: int, last: int, lines: list[str], outside: int | None = None) -> bool:
    """``outside``: the line whose indentation counts; without it the first."""
    own = _indentation(lines[first if outside is None else outside])
    return any(_KEY.match(line) is not None and _indentation(line) <= own for line in lines[first + 1 : last + 1])


def _indentation(line: str) -> int:
    """The indentation of a line's content, including the dashes of lists."""
    return len(line) - len(line.lstrip(" -"))
