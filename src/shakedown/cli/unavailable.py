"""The option ``--unavailable`` of commands that put a plan into force, and what they say of cases that cannot run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from shakedown.cli.output import printable, say

if TYPE_CHECKING:
    from shakedown.model.nouns import Document

unavailable_option = click.option(
    "--unavailable",
    type=click.Choice(("refuse", "restrict")),
    default=None,
    help="Where cases cannot run: refuse the plan, or go on without them and restrict the acceptance; "
    "without it as the plan says, else refuse.",
)


def started(document: Document, wish: str | None, quiet: bool = False) -> Document:
    """Purpose: the document as it may start; says what it starts without.

    Errors: UsageError where cases cannot run and nobody said that it may start without them.
    """
    from shakedown.plans.unavailable import in_short, lines, lost_cases, started_with

    document = started_with(document, wish)
    lost = lost_cases(document)
    if lost and not quiet:
        said = f"this plan can at best be accepted with restrictions: {in_short(lost, document)}"
        say(printable("\n".join([said, *lines(lost)])))
    return document


def warn_of_refusal(document: Document) -> None:
    """Purpose: tell whoever rehearses a plan that ``run`` refuses it as it is."""
    from shakedown.plans.unavailable import RESTRICT, WAY, in_short, lines, lost_cases

    lost = lost_cases(document)
    if lost and document.unavailable != RESTRICT:
        said = f"warning: 'shakedown run' refuses this plan: {in_short(lost, document)}"
        say(printable("\n".join([said, *lines(lost), f"hint: {WAY}"])))
