"""Facts in two columns: what something is called, and what it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shakedown.cli.output import printable

_WIDTH = 12


def facts(*known: tuple[str, str], indent: str = "") -> str:
    """Facts as 'name  text', those without text left out; further lines of a text are indented under its first."""
    under = "\n" + indent + " " * (_WIDTH + 2)
    shown = [(name, printable(text).replace("\n", under)) for name, text in known if text]
    return "\n".join(f"{indent}{name:<{_WIDTH}}  {text}" for name, text in shown)


def pairs(known: Iterable[tuple[str, Any]]) -> str:
    """Each as 'name = value', on a line of its own."""
    return "\n".join(f"{name} = {value}" for name, value in known)
