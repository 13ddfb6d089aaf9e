"""Keep a number and its unit on one line of a page, with a no-break space between them."""

from __future__ import annotations

import re

_AS_IT_IS = r"<(pre|code|svg|style|script|title)\b[^>]*>.*?</\1>|<[^>]*>"  # what people copy, or what is no text
_END = r"(?![\w/-])"
_RATE = rf"(?:[KMGTPE]?i?B|[kMGTPE]?FLOP|[kMGTPE]?(?:bit|b|ops|op|UP))/s{_END}"  # lines would break after the slash
_UNIT = rf"(?:[numµk]?s|min|h|d|pt|×|[KMGTPE]?i?B|[kMG]?Hz|[kM]?W|°C){_END}"
_NUMBER = r"[-+]?\d[\d,.]*(?:e[-+]?\d+)?"
_PATTERN = re.compile(rf"{_AS_IT_IS}|(?P<number>{_NUMBER}) (?P<rate>{_RATE})|(?<=\d) (?={_UNIT})", re.DOTALL)
_SPACE = "\N{NO-BREAK SPACE}"


def keep_together(page: str) -> str:
    """Purpose: the page with numbers and units kept together, in text but not in code or pictures."""
    return _PATTERN.sub(_kept, page)


def _kept(found: re.Match[str]) -> str:
    if found.group().startswith("<"):
        return found.group()
    number, rate = found.group("number"), found.group("rate")
    return f'<span class="unit">{number}{_SPACE}{rate}</span>' if rate else _SPACE
