"""How the campaign of a command is named: by its place among the words, or with ``--campaign`` anywhere in the line."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from shakedown.model.errors import UsageError

Command = TypeVar("Command", bound=Callable[..., Any])
ABOUT = "The campaign; the newest one, if none is named."
_NAMED = "named_campaign"
_KEY = "shakedown.campaign.named"

campaign_option = click.option("--campaign", default=None, help=ABOUT)  # of commands that have no word for it


def campaign_argument(command: Command) -> Command:
    """Purpose: the word CAMPAIGN of a command, and ``--campaign`` in its place; the command gets one of them as ``campaign``."""
    return _in_its_place(click.argument("campaign", required=False, callback=_either)(command))


def names_after_campaign(metavar: str, required: bool = True) -> Callable[[Command], Command]:
    """Purpose: words of which the first may be a campaign, and ``--campaign`` in its place; ``campaign_of`` takes them apart.

    ``metavar``: the words as the usage shows them, such as ``[CAMPAIGN] NODES``. The command gets them as ``names``. Where it
    knows nothing by a name that is a campaign's, the error says so: a word is missing beside it.
    """

    def decorate(command: Command) -> Command:
        told: Command = _told_what_is_a_campaign(command, metavar)
        return _in_its_place(click.argument("names", nargs=-1, required=required, metavar=metavar)(told))

    return decorate


def campaign_of(names: Sequence[str], wanted: int, usage: str) -> tuple[str | None, tuple[str, ...]]:
    """Purpose: the campaign, or None, and the ``wanted`` names beside it. Errors: UsageError with the usage.

    A campaign that ``--campaign`` names is none of the names: a name that is missing is never taken from it.
    """
    named = campaign_option_given()
    if not wanted <= len(names) <= wanted + (named is None):
        given = {0: "no name is", 1: "1 name is"}.get(len(names), f"{len(names)} names are")
        beside = "" if named is None else " beside --campaign"
        form = usage if named is None else f"{usage.replace('[CAMPAIGN] ', '')} --campaign {shlex.quote(named)}"
        raise UsageError(f"{given} given{beside}", hint=f"shakedown {form}")
    first = names[0] if len(names) > wanted else None
    return (first if named is None else named), tuple(names[len(names) - wanted :])


def campaign_option_given() -> str | None:
    """Purpose: the campaign that ``--campaign`` of this command names; None where it does not."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(_KEY)


def said_with_option(campaign: Path, word: str) -> str:
    """Purpose: the way out where a word among runs or cases is another campaign of the site; "" where it is none."""
    other = "/" not in word and (campaign.parent / word / "log").is_dir()
    return f"'{word}' is a campaign; it is named so: --campaign {shlex.quote(word)}" if other else ""


def _told_what_is_a_campaign(command: Any, metavar: str) -> Any:
    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except UsageError as error:
            from shakedown.events.campaigns import has_campaign

            site = Path(options["site"]) if options.get("site") else None
            for word in options.get("names", ()):
                if f"'{word}'" in error.message and has_campaign(site, word):
                    usage = f"shakedown {click.get_current_context().info_name} {metavar}"
                    error.hint = f"'{word}' is a campaign, and what is meant of it is missing: {usage}"
            raise

    return run


def _in_its_place(command: Command) -> Command:
    # Eager: it is read before the words, wherever it stands in the line.
    option = click.option("--campaign", _NAMED, is_eager=True, expose_value=False, callback=_keep, help=ABOUT)
    return option(command)


def _keep(context: click.Context, option: click.Parameter, value: str | None) -> None:
    context.meta[_KEY] = value


def _either(context: click.Context, argument: click.Parameter, value: str | None) -> str | None:
    named = campaign_option_given()
    if value is not None and named is not None and value != named:
        raise UsageError(f"two campaigns are named: {value} and {named}", hint="name one of them")
    return value if named is None else named
