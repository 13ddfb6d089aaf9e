"""The text of a page as lines in sections, and the differences between two pages."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from html.parser import HTMLParser

_INLINE = frozenset({"a", "b", "i", "em", "code", "span", "small", "sup", "sub", "wbr"})
_SILENT = frozenset({"style", "script", "svg", "title"})
COVER = "the cover"
_LONGEST = 200


class _Lines(HTMLParser):
    """Lines of text, each with the heading above it; ignores style sheets and drawings."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[tuple[str, str]] = []
        self.section = COVER
        self._text: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent += 1
        elif tag not in _INLINE:
            self.end_line()

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag not in _INLINE:
            self.end_line(heading=tag == "h2")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._text.append(data)

    def end_line(self, heading: bool = False) -> None:
        line = " ".join("".join(self._text).split())
        self._text = []
        if heading and line:
            self.section = f"'{line}'"
        if line:
            self.lines.append((self.section, line))


def lines_of_page(page: str) -> list[tuple[str, str]]:
    """Purpose: every line of a page with its section, in order."""
    reader = _Lines()
    reader.feed(page)
    reader.close()
    reader.end_line()
    return reader.lines


def differences(wanted: list[tuple[str, str]], there: list[tuple[str, str]]) -> Iterator[str]:
    """Purpose: where a page (``there``) differs from what the record gives (``wanted``), in sentences, in the order of the page."""
    matcher = difflib.SequenceMatcher(None, wanted, there, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            continue
        gives, says = _joined(wanted[first:last]), _joined(there[start:end])
        section = (wanted[first:last] or there[start:end])[0][0]
        if not says:
            yield f"in {section}: the page lacks: {gives}"
        elif not gives:
            yield f"in {section}: only the page says: {says}"
        else:
            yield f"in {section}: the record gives: {gives}; the page says: {says}"


def _joined(lines: list[tuple[str, str]]) -> str:
    text = " / ".join(line for _, line in lines)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
