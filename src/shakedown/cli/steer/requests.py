"""Wishes to a driver: a file in the inbox, and a sentence on when it is carried out; and what options of such commands say."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from shakedown.cli.output import printable, say
from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout
from shakedown.model.said_words import shows_nothing, wrong_name
from shakedown.model.speakers import party_of

if TYPE_CHECKING:
    from shakedown.engine import State
    from shakedown.model.nouns import Party

Command = TypeVar("Command", bound=Callable[..., Any])
LONGEST_REASON, LONGEST_NAME, LONGEST_RESTRICTION = 2000, 100, 300  # characters; what is longer is refused, never cut
BEGINNING_S = 30.0  # how long we wait for a conductor that has a campaign, and has not begun it


def said_by(by: str, because: str, optional: bool = False) -> Callable[[Command], Command]:
    """Purpose: the options ``--by`` and ``--because`` of an act that is kept in the record; both are required, and no blanks.

    ``optional``: the reason may be left out.
    """

    def decorate(command: Command) -> Command:
        words = None if optional else _words
        about = because or "Why; it is kept in the record."
        command = click.option("--because", required=not optional, default="", callback=words, help=about)(command)
        return click.option("--by", "who", required=True, callback=_words, help=by)(command)

    return decorate


def evidence_option(command: Command) -> Command:
    """Purpose: the option ``--evidence`` of an act that files show; the command gets their names as ``files``."""
    about = "A file that shows it; may be given several times."
    return click.option("--evidence", "files", multiple=True, metavar="FILE", help=about)(command)


def one_of_two(yes: str, no: str, about: str) -> Callable[[Command], Command]:
    """Purpose: two options of which one must be given (``--met``, ``--not-met``); the command gets whether it is the first.

    Click passes None where neither is given, also for an option that is called required. Errors: UsageError where neither is given;
    where both are, ``refuse_repeated`` of the front door says so.
    """

    def chosen(context: click.Context, option: click.Parameter, value: bool | None) -> bool:
        if value is None:
            raise UsageError(f"neither --{yes} nor --{no} is given", hint=f"give one of them: --{yes} or --{no}")
        return value

    name = yes.replace("-", "_")
    return click.option(f"--{yes}/--{no}", name, default=None, required=True, callback=chosen, help=about)


def enough_evidence(what: str, wanted: int, files: Sequence[str]) -> None:
    """Purpose: refuse an act that is shown by fewer files than the plan asks for. ``what``: that asks for them, in words.

    Errors: UsageError with both numbers.
    """
    if len(files) < wanted:
        asked = f"{wanted} evidence file{'s' if wanted > 1 else ''}"
        named = f"{len(files)} {'is' if len(files) == 1 else 'are'} named"
        raise UsageError(f"{what} asks for {asked}, and {named}", hint="--evidence FILE")


def kept_lines(kept: Sequence[Mapping[str, Any]]) -> list[str]:
    """Purpose: a line for each file that is kept as evidence: its name, its size in bytes, the begin of its sha256."""
    return [f"kept {file['name']} ({file['bytes']} bytes, sha256 {file['sha256'][:12]})" for file in kept]


def _words(context: click.Context, option: click.Parameter, value: str) -> str:
    return kept_words("--by" if option.name == "who" else option.opts[0], value)


def kept_words(option: str, value: str | None) -> str:
    """Purpose: what an option that is required here says. Errors: UsageError where it is missing, empty or too long."""
    if value is None:
        raise UsageError(f"{option} is missing", hint="who and why are kept in the record")
    if not value.strip():
        raise UsageError(f"{option} is empty", hint="it is kept in the record: say it in words")
    if shows_nothing(value):
        raise UsageError(
            f"{option} has no visible character", hint="it is kept in the record: say it in words that can be read"
        )
    why = wrong_name(value.strip()) if option == "--by" else ""
    if why:
        raise UsageError(f"{option}: {why}")
    return kept_whole(option, value.strip(), LONGEST_NAME if option == "--by" else LONGEST_REASON)


def kept_if_said(option: str, value: str) -> str:
    """Purpose: what an option that may be left out says; "" where it does. Errors: as of ``kept_words`` where it is given."""
    return kept_words(option, value) if value else ""


def kept_whole(option: str, text: str, most: int) -> str:
    """Purpose: the text, if the record keeps all of it. Errors: UsageError where it is longer than that."""
    if len(text) > most:
        raise UsageError(f"{option} is {len(text)} characters long; at most {most} are kept")
    return text


def find_started(
    site: str | None, campaign: str | None, what: str, by: str = "", act: bool = True
) -> tuple[Layout, State]:
    """Purpose: a campaign that has started, and its state. ``what``: what else there would be nothing to do, in words. ``by``: who
    says so. ``act``: what follows is an act that parties stand by.

    Errors: UsageError where it has not started, or where that name looks like another one that its plan gives.
    """
    from shakedown.cli.record import find_whole_campaign

    layout = Layout(find_whole_campaign(Path(site) if site else None, campaign))
    state = _once_begun(layout)
    if state.plan is None:
        raise UsageError(f"{layout.root.name} has not started; there is nothing to {what}")
    refuse_alike(state, by)
    if act:
        tell_of_nobody(layout, state, by)
    return layout, state


def refuse_alike(state: State, by: str) -> None:
    """Purpose: say at once what a conductor would say later of a name. Errors: UsageError where it looks like one of the plan's."""
    from shakedown.conductor.driver.heard_words import people_of

    if by and (why := wrong_name(by, people_of(state))):
        raise UsageError(f"--by: {why}")


def tell_of_nobody(layout: Layout, state: State, by: str) -> None:
    """Purpose: say at once that a name speaks for no party of the plan. The act is recorded, and needs the word of all.

    Where a party has keys its word is a signature, so names say nothing.
    """
    from shakedown.cli.record import folds_of
    from shakedown.conductor.record.settling import consent_of

    if by and state.plan is not None and _speaks_for_none(state.plan.document.parties, by):
        tell_of_no_party(consent_of(layout, folds_of(layout.root).whole_record()).parties, by)


def tell_of_no_party(parties: Sequence[Party], by: str) -> None:
    """Purpose: as ``tell_of_nobody``, for the parties that count."""
    if _speaks_for_none(parties, by):
        named = "; ".join(f"{party.name}: {', '.join(party.people)}" for party in parties)
        say(
            printable(
                f"note: {by} speaks for no party of the plan ({named}): this is one-sided until each of them agrees"
            )
        )


def _speaks_for_none(parties: Sequence[Party], by: str) -> bool:
    return bool(parties) and not any(party.keys for party in parties) and party_of(parties, by) is None


def _once_begun(layout: Layout) -> State:
    """The state; where a conductor is about to begin the campaign, once it has, or after ``BEGINNING_S``."""
    from shakedown.cli.record import folds_of
    from shakedown.events.lease import holder
    from shakedown.queries.status import look

    until = time.monotonic() + BEGINNING_S
    folds = folds_of(layout.root)
    while (state := look(layout, folds)).plan is None and time.monotonic() < until:
        held = holder(layout)
        if held is None or held.gone:
            break
        time.sleep(0.05)
    return state


def leave_wish(layout: Layout, what: str, value: dict[str, Any], reason: str) -> dict[str, Any]:
    """Purpose: post a command; says whether a driver is there to carry it out."""
    from shakedown.events.inbox import post
    from shakedown.events.lease import holder

    request = post(layout, what, value, reason)
    held = holder(layout)
    if held is not None and not held.gone:
        said = f"request {request} is left for the conductor: {held}"
    else:
        said = f"request {request} waits: nobody drives {layout.root.name}; it is carried out by: shakedown resume"
    return {"request": request, "campaign": layout.root.name, "said": said}
