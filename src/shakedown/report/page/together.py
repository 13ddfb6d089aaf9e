"""Keep a number and its unit on one line of a page, with a no-break space between them."""

from __future__ import annotations

import re

_AS_IT_IS = r"<(pre|code|svg|style|script|title)\b[^>]*>.*?</\1>"  # what people copy, or what is no text
_UNIT = r"(?:[numµk]?s|min|h|d|pt|×|[KMGTPE]?i?B(?:/s)?|[kMGTPE]?FLOP/s|[kMG]?Hz|[kM]?W|°C)(?![\w/-])"
_PATTERN = re.compile(rf"{_AS_IT_IS}|(?<=\d) (?={_UNIT})", re.DOTALL)


def keep_together(page: str) -> str:
    """Purpose: the page with numbers and units kept together, in text but not in code or pictures."""
    return _PATTERN.sub(lambda found: found.group() if found.group(1) else "\N{NO-BREAK SPACE}", page)
