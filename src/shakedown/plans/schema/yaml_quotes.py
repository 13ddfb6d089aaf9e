"""A quote that somebody forgot to close: the next one in the file closes it, and what is wrong shows lines below."""

from __future__ import annotations

import re
from typing import Any

import yaml

_OPEN = re.compile(rb"""(?m)(?:^|[\s\[{,(])'[^'\n]*$""")  # a single quote that may open, and none behind it in its line
_KEY = re.compile(r"\s*(?:- |[\w./-]+:(?:\s|$))")
_WAY_OUT = "close it in the line in which it is opened"


def may_be_open(data: bytes) -> bool:
    """Whether to look for a quote that was left open in a text that is YAML all the same: cheap, and true too often."""
    return data.count(b'"') % 2 == 1 or (data.count(b"'") % 2 == 1 and _OPEN.search(data) is not None)


def left_open(tokens: Any, text: str) -> tuple[str, str, Any] | None:
    """Purpose: (what is wrong, the way out, the mark where) of the first quote that is closed below keys which it swallows.

    ``tokens``: a loader at the beginning of the text. None where there is no such quote.
    """
    lines = text.split("\n")
    try:
        while tokens.check_token():
            token = tokens.get_token()
            if isinstance(token, yaml.ScalarToken) and token.style in ('"', "'") and _swallows(token, lines):
                closed = token.end_mark.line + 1
                return f"the quote that is opened here is closed in line {closed} only", _WAY_OUT, token.start_mark
    except yaml.MarkedYAMLError as error:  # a quote that was left open comes before what is wrong, or holds it
        start, end = error.context_mark, error.problem_mark
        within = "quoted scalar" in (error.context or "") and "end of stream" not in (error.problem or "")
        if within and start is not None and end is not None and _keys_between(start.line, end.line, lines):
            return f"the quote that is opened here is not closed before line {end.line + 1}", _WAY_OUT, start
    except yaml.YAMLError:
        pass
    return None


def _swallows(token: yaml.ScalarToken, lines: list[str]) -> bool:
    """Whether one of a quoted text's further lines is a key, or an entry of a list, that stands no deeper than its own line."""
    return _keys_between(token.start_mark.line, token.end_mark.line, lines)


def _keys_between(first: int, last: int, lines: list[str]) -> bool:
    own = _indentation(lines[first])
    return any(_KEY.match(line) is not None and _indentation(line) <= own for line in lines[first + 1 : last + 1])


def _indentation(line: str) -> int:
    """Of what a line holds, behind the dashes of lists."""
    return len(line) - len(line.lstrip(" -"))
