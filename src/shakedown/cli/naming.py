"""How the campaign of a command is named: by its place among the words, or with ``--campaign`` anywhere in the line."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from shakedown.model.errors import UsageError

Command = TypeVar("Command", bound=Callable[..., Any])
ABOUT = "The campaign; the newest one, if none is named."
_NAMED = "named_campaign"
_KEY = "shakedown.campaign.named"


def campaign_argument(command: Command) -> Command:
    """Purpose: the word CAMPAIGN of a command, and ``--campaign`` in its place; the command gets one of them as ``campaign``."""
    return _campaign_option(click.argument("campaign", required=False, callback=_either)(command))


def names_after_campaign(metavar: str, required: bool = True) -> Callable[[Command], Command]:
    """Purpose: words of which the first may be a campaign; a campaign named with ``--campaign`` is put before them.

    ``metavar``: the words as the usage shows them, such as ``[CAMPAIGN] NODES``. The command gets them as ``names``.
    """

    def decorate(command: Command) -> Command:
        argument = click.argument("names", nargs=-1, required=required, metavar=metavar, callback=_before)
        return _campaign_option(argument(command))

    return decorate


def said_with_option(campaign: Path, word: str) -> str:
    """Purpose: the way out where a word among runs or cases is another campaign of the site; "" where it is none."""
    other = "/" not in word and (campaign.parent / word / "log").is_dir()
    return f"'{word}' is a campaign; it is named so: --campaign {shlex.quote(word)}" if other else ""


def _campaign_option(command: Command) -> Command:
    # Eager: it is read before the words, wherever it stands in the line.
    option = click.option("--campaign", _NAMED, is_eager=True, expose_value=False, callback=_keep, help=ABOUT)
    return option(command)


def _keep(context: click.Context, option: click.Parameter, value: str | None) -> None:
    context.meta[_KEY] = value


def _either(context: click.Context, argument: click.Parameter, value: str | None) -> str | None:
    named: str | None = context.meta.get(_KEY)
    if value is not None and named is not None and value != named:
        raise UsageError(f"two campaigns are named: {value} and {named}", hint="name one of them")
    return value if named is None else named


def _before(context: click.Context, argument: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    named: str | None = context.meta.get(_KEY)
    return value if named is None else (named, *value)
