"""Mark output that is made from a damaged record: the page at its top, each table in its first line."""

from __future__ import annotations

import html
import re

_BODY = re.compile(rb"<body[^>]*>")
_STYLE = "border: 4px solid #b00; color: #b00; background: #fff; font-weight: bold; padding: 1em; margin: 1em 0"


def sentence(damage: str) -> str:
    return f"DAMAGED: the record is not what was written, so no number here can be relied on. {damage}"


def marked_page(page: bytes, damage: str) -> bytes:
    """Purpose: the page, with a warning at its top where there is ``damage``."""
    if not damage:
        return page
    return above_all(page, f'<p role="alert" style="{_STYLE}">{html.escape(sentence(damage))}</p>'.encode())


def above_all(page: bytes, banner: bytes) -> bytes:
    """Purpose: the page with a piece of HTML at its top."""
    body = _BODY.search(page)
    at = body.end() if body else 0
    return page[:at] + banner + page[at:]


def marked_table(table: bytes, damage: str) -> bytes:
    """Purpose: a table of comma-separated values, with a warning as its first line where there is ``damage``."""
    return f"{sentence(damage)}\n".encode() + table if damage else table
