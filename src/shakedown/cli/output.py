"""The one place that prints: data on standard output, talk on standard error, JSON where it is asked for."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
site_option = click.option(
    "--site",
    type=click.Path(exists=True, file_okay=False),
    default=None,
    help="The site directory; without it the nearest one above here that holds site.yaml.",
)


def printable(text: str) -> str:
    """Text of unknown origin made harmless for a terminal: control characters become escapes, new lines stay."""
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" or (c.isprintable()) else c.encode("unicode_escape").decode() for c in text)


def say(text: str) -> None:
    """Talk to a person, on standard error. Nobody there to listen is no reason to stop what we are at."""
    if sys.stderr is None:
        return
    try:
        click.echo(text, err=True)
    except OSError:
        fall_silent(2)


def fall_silent(descriptor: int) -> None:
    """Nobody reads this descriptor any more: what is said there, and what is left in its buffer, goes nowhere."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


DAMAGED = "shakedown.damaged"  # in the context of a command: what is wrong with the record that it reads


def damage_noted() -> str:
    """What is wrong with the record that this command reads, "" where nothing is."""
    context = click.get_current_context(silent=True)
    return str(context.meta.get(DAMAGED, "")) if context is not None else ""


def emit(data: Any, as_json: bool, render: Callable[[], str], exact: bool = False) -> None:
    """Print ``data`` as JSON, or what ``render`` makes of it for people. That the record is damaged comes before it.

    ``exact``: it has lines of a script, a file or an output, which are never folded.
    """
    damage = damage_noted()
    if as_json:
        text = _as_json(data, damage)
    else:
        text = f"DAMAGED: {printable(damage)}\n{render()}" if damage else render()
        text = text if exact else fitted(text)
    try:
        click.echo(text)
    except BrokenPipeError:  # the reader has seen enough: the exit status still says how it came out
        fall_silent(1)


def _as_json(data: Any, damage: str) -> str:
    import msgspec

    from shakedown.events.lines import shown_json

    if damage:
        plain = msgspec.to_builtins(data, str_keys=True)
        data = {"damaged": damage} | (plain if isinstance(plain, dict) else {"data": plain})
    return shown_json(data).decode()


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Columns of text, as wide as their widest cell; the columns in ``right`` are aligned right."""
    cells = [list(map(str, headings)), *([printable(str(c)).replace("\n", " ") for c in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headings))]
    lines = [
        "  ".join(c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in cells
    ]
    return "\n".join(line.rstrip() for line in lines)


_GAP = re.compile(r"\S( {2,})(?=\S)")  # between two columns
_NARROWEST = 24  # that the last column of a line may be continued in


def fitted(text: str, width: int | None = None) -> str:
    """Purpose: the text with no line wider than the terminal; where standard output is none, as it is: programs read lines.

    A line that is too wide goes on below its last column, or four further in than it began. A word is never cut: it may be a path
    that somebody copies. ``width``: in characters; without it, the terminal's.
    """
    if width is None:
        width = _columns()
    if width <= 0 or all(len(line) <= width for line in text.split("\n")):
        return text
    return "\n".join(_folded(line, width) if len(line) > width else line for line in text.split("\n"))


def _columns() -> int:
    """How wide the terminal is; 0 where standard output is none."""
    return shutil.get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else 0


def _folded(line: str, width: int) -> str:
    import textwrap

    begin = len(line) - len(line.lstrip(" "))
    columns = [match.end() for match in _GAP.finditer(line[begin:])]
    hang = begin + columns[-1] if columns else begin + 4
    if hang > width - _NARROWEST:
        hang = min(begin + 4, width // 2)
    pieces = textwrap.wrap(
        line,
        width,
        subsequent_indent=" " * hang,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        expand_tabs=False,
    )
    return "\n".join(piece.rstrip() for piece in pieces)
