"""Decode an output or a file into text for checks and figures, with sentences on the parts that could not be read.

``decode`` is the way in. Lines end at a line feed, at a carriage return, or at both; a mark of the byte order at the beginning is
dropped. Nothing here fails on what a program may write: binary, escape codes, one line of a gigabyte.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass

from shakedown.model.units import show_bytes

LINE_LIMIT = 2**20  # characters of one line that a regular expression is given at first
EXCERPT_LINES, EXCERPT_LINE, EXCERPT_TOTAL = 12, 200, 1500  # lines, characters a line, characters in all


@dataclass(frozen=True, slots=True)
class Text:
    """What was read of one subject (``output`` or a file's path).

    ``parts``: text, two of them where the middle of a very large subject was not read. ``pieces``: the same without the
    middles of very long lines, where regular expressions are tried first: on all of it one may take very long. ``problems``:
    sentences about all of that.
    """

    subject: str
    parts: tuple[str, ...]
    pieces: tuple[str, ...]
    problems: tuple[str, ...] = ()


NOT_AS_WRITTEN = (
    "the output is gone: what is there is not what was written"  # a disk dropped it, or somebody changed it
)


@dataclass(frozen=True, slots=True)
class Missing:
    """A subject that cannot be read. ``held`` False: it does not exist; None: it may exist, but cannot be read.

    ``trouble``: the reason lies outside the run, as a disk error or a directory that is not mounted.
    """

    subject: str
    detail: str
    held: bool | None = None
    trouble: bool = False


Contents = Text | Missing


def decode(
    subject: str, head: bytes, tail: bytes = b"", skipped: int = 0, limit: int = LINE_LIMIT, *, absent: bool = False
) -> Text:
    """Purpose: the text of the bytes read: all in ``head``, or the beginning and the end with ``skipped`` bytes between them.

    ``absent``: there never was any output, which is worth a sentence. ``limit``: characters a line, see ``LINE_LIMIT``.
    """
    name = name_of(subject)
    problems = [f"{name} is empty: the run wrote nothing"] if absent else []
    read = (head, tail) if skipped else (head,)
    if skipped:
        problems.append(_skipped_sentence(name, len(head), len(tail), skipped))
    raw = [_in_lines(_without_colours(data)) for data in (read[0].removeprefix(codecs.BOM_UTF8), *read[1:])]
    if skipped:
        raw = list(_whole_lines(*raw))
    parts = tuple(_decode_one(name, data, problems) for data in raw)
    pieces, long_lines = _without_long_lines(parts, limit)
    if long_lines:
        lines = "a line" if long_lines == 1 else f"{long_lines} lines"
        size = show_bytes(limit)
        seen = "see only the beginning and the end" if skipped else "see the middle only where nothing else fits"
        problems.append(f"{name} has {lines} longer than {size}: regular expressions {seen}")
    return Text(subject, parts, pieces, tuple(problems))


def joined(subject: str, texts: Sequence[Text]) -> Text:
    """Purpose: one text of several files that one pattern names, in their order."""
    problems = tuple(dict.fromkeys(problem for text in texts for problem in text.problems))
    pieces = tuple(piece for text in texts for piece in text.pieces)
    if all(len(text.parts) == 1 for text in texts):
        whole = "\n".join(text.parts[0].removesuffix("\n") for text in texts) + "\n"
        return Text(subject, (whole,), (whole,) if len(pieces) == len(texts) else pieces, problems)
    return Text(subject, tuple(part for text in texts for part in text.parts), pieces, problems)


def name_of(subject: str) -> str:
    """The name of a subject in a sentence."""
    return "the output" if subject == "output" else f"file {printable(subject)}"


def printable(text: str) -> str:
    """Text of unknown origin with every character that is not printable, also new lines, as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def cut(text: str, limit: int) -> str:
    """The first ``limit`` characters at most; three dots mark a text that was longer."""
    return text if len(text) <= limit else text[: max(0, limit - 3)] + "..."


def show(text: str, limit: int = 120) -> str:
    """Text of unknown origin for use in a sentence: quoted, printable, short."""
    return f"'{cut(printable(text[: limit + 1]), limit)}'"


def excerpt(text: Text) -> str:
    """The last lines, printable and short, joined by new lines."""
    lines = [line for line in text.parts[-1][-2 * EXCERPT_TOTAL :].split("\n") if line.strip()]
    kept: list[str] = []
    room = EXCERPT_TOTAL
    for line in reversed(lines[-EXCERPT_LINES:]):
        short = cut(printable(line[: EXCERPT_LINE + 1].rstrip()), EXCERPT_LINE)
        room -= len(short) + 1
        if room < 0:
            break
        kept.append(short)
    return "\n".join(reversed(kept))


def uncut(text: Text) -> str:
    """Purpose: the whole text, where its long lines were cut for regular expressions; "" if nothing was cut or not all was read."""
    return text.parts[0] if len(text.parts) == 1 and len(text.pieces) > 1 else ""


def omission(text: Text) -> str:
    """A phrase on the parts that regular expressions were not applied to; "" where there are none."""
    if len(text.parts) > 1:
        return "its middle was not read"
    return "very long lines were cut" if len(text.pieces) > 1 else ""


def _skipped_sentence(name: str, head: int, tail: int, skipped: int) -> str:
    total = show_bytes(head + tail + skipped)
    return f"{name} has {total}: only its first {show_bytes(head)} and last {show_bytes(tail)} were read"


def _whole_lines(head: bytes, tail: bytes) -> tuple[bytes, bytes]:
    """Drop the lines that the gap cuts in two; where one line fills a part, drop only a character that is cut in two."""
    head_end, tail_start = head.rfind(b"\n"), tail.find(b"\n")
    head = head[: head_end + 1] if head_end >= 0 else _drop_half_character(head)
    tail = tail[tail_start + 1 :] if 0 <= tail_start < len(tail) - 1 else tail.lstrip(bytes(range(0x80, 0xC0)))
    return head, tail


def _drop_half_character(data: bytes) -> bytes:
    """UTF-8 bytes without an incomplete character at the end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            wanted = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if wanted > back else data
        if byte < 0x80:
            break
    return data


def _decode_one(name: str, data: bytes, problems: list[str]) -> str:
    """The bytes as UTF-8 text; invalid bytes are replaced, and one sentence goes to ``problems``."""
    if b"\0" in data:
        _once(problems, f"{name} holds NUL bytes; they are kept as they are")
    if b"\x1b" in data:
        _once(problems, f"{name} holds terminal escape codes; they are kept, and escaped wherever they are shown")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        byte = data[error.start]
        _once(problems, f"{name} is not all UTF-8 text (0x{byte:02x} is one such byte): what is not was replaced")
        return data.decode(errors="replace")


# Select Graphic Rendition (ECMA-48, 8.3.117): colours, bold; and "erase in line", which colouring programs and those that show
# progress add. "Cursor to the first column" is how some of these begin a line again.
_COLOURS = re.compile(rb"\x1b\[[0-9;:]{0,40}m|\x1b\[[012]?K")
_FIRST_COLUMN = re.compile(rb"\x1b\[[01]?G")


def _without_colours(data: bytes) -> bytes:
    """The bytes without colour codes, because a code may stand between a name and its number."""
    return _FIRST_COLUMN.sub(b"\r", _COLOURS.sub(b"", data)) if b"\x1b" in data else data


def _in_lines(data: bytes) -> bytes:
    """The bytes with every end of a line as a line feed: what a carriage return alone ends a terminal writes over, as progress is
    shown, and its newest line is the last one.
    """
    if b"\r" not in data:
        return data
    return data.replace(b"\r\n", b"\n").replace(b"\r\n", b"\n").replace(b"\r", b"\n")  # \r\r\n is one end, too


def _once(problems: list[str], sentence: str) -> None:
    start = sentence.partition("(")[0]
    if not any(known.startswith(start) for known in problems):
        problems.append(sentence)


def _without_long_lines(parts: tuple[str, ...], limit: int) -> tuple[tuple[str, ...], int]:
    """The parts, split at each line longer than ``limit``, of which the first and the last ``limit`` / 2 characters are kept."""
    if all(len(part) <= limit for part in parts):
        return parts, 0
    pieces: list[str] = []
    long_lines = 0
    for part in parts:
        begin = position = 0
        while len(part) - position > limit:
            end_of_line = part.rfind("\n", position, position + limit + 1)
            if end_of_line >= 0:
                position = end_of_line + 1
                continue
            long_lines += 1
            line_end = part.find("\n", position)
            line_end = len(part) if line_end < 0 else line_end
            pieces.append(part[begin : position + limit // 2])
            begin, position = line_end - limit // 2, line_end
        pieces.append(part[begin:])
    return tuple(pieces), long_lines
