"""Notes by people on a run that was judged: the class of its failure, a ticket. They change no verdict."""

from __future__ import annotations

from collections.abc import Mapping

from shakedown.conductor.commands.refusals import refusal
from shakedown.conductor.commands.rulings import WITHDRAWN, who_asked, why_not_judged
from shakedown.conductor.driver.conductor import Commands, Conductor
from shakedown.engine import State
from shakedown.model.errors import did_you_mean
from shakedown.model.events import Event
from shakedown.model.failures import UNCLASSIFIED
from shakedown.model.nouns import Document
from shakedown.model.ports import Command
from shakedown.model.said_words import shows_nothing

LONGEST_TICKET = 100  # characters


def note(conductor: Conductor, command: Command) -> Event:
    """Record a class of failures, a ticket, or both. A later note replaces an earlier one; the class ``none`` takes it back."""
    run, given, ticket = (str(command.value.get(key) or "").strip() for key in ("run", "class", "ticket"))
    families = families_of(conductor.state.index.document)
    why = why_not_note(conductor.state, families, run, given, ticket)
    if why:
        return refusal(command, why)
    said = {"class": given, "family": families.get(given, ""), "ticket": ticket}
    return Event(
        "noted", run=run, value={k: v for k, v in said.items() if v} | who_asked(command), reason=command.reason
    )


def families_of(document: Document) -> dict[str, str]:
    """Purpose: each class of failures that a run can be put down to -> its family: those of the package and those of the plan."""
    from shakedown.plans.failures import shipped_failures

    families = {one.name: one.family for one in shipped_failures()}
    return families | {one.name: one.family for one in document.failures}


def why_not_note(state: State, families: Mapping[str, str], run: str, given: str, ticket: str) -> str:
    """Purpose: why such a note cannot be recorded; "" where it can."""
    if not (given or ticket):
        return "it names neither a class of failures nor a ticket"
    if given and given not in (WITHDRAWN, UNCLASSIFIED) and given not in families:
        near = did_you_mean(given, families) or "'shakedown failures --catalogue' has them"
        return f"there is no class of failures '{given[:100]}'; {near}"
    if len(ticket) > LONGEST_TICKET:
        return f"the ticket is {len(ticket)} characters long; at most {LONGEST_TICKET} are kept"
    if ticket and shows_nothing(ticket):
        return "the ticket has no visible character: say it in words that can be read"
    return why_not_judged(state, run, "a note")


NOTING_COMMANDS: Commands = {"note": note}
