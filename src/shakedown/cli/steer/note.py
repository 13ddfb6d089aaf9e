"""``shakedown note``: put runs down to a class of failures, or attach a ticket to them."""

from __future__ import annotations

import click

from shakedown.cli.naming import campaign_option, said_with_option
from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.cli.steer.requests import said_by
from shakedown.model.errors import UsageError


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--class", "given", default="", metavar="CLASS", help="The class of failures; none takes it back.")
@click.option("--ticket", default="", metavar="TICKET", help="A ticket of yours; none takes it back.")
@said_by("Who says so.", "Why; it is kept in the record.")
@campaign_option
@site_option
@json_option
def command(
    runs: tuple[str, ...],
    given: str,
    ticket: str,
    who: str,
    because: str,
    campaign: str | None,
    site: str | None,
    as_json: bool,
) -> int:
    """Put RUNs down to a class of failures, attach a ticket to them, or both. No verdict and no outcome changes by it.

    What was found stays in the record; lists and tables go by what was said last.
    """
    from shakedown.cli.steer.requests import find_started
    from shakedown.conductor.commands.asking import record_wishes
    from shakedown.conductor.commands.noting import families_of, why_not_note

    layout, state = find_started(site, campaign, "note", who, act=False)
    wanted = list(dict.fromkeys(runs))
    families = families_of(state.index.document)
    for run in wanted:
        if why := why_not_note(state, families, run, given.strip(), ticket.strip()):
            raise UsageError(why, hint=said_with_option(layout.root, run))
    values = [{"run": run, "class": given, "ticket": ticket, "by": who} for run in wanted]
    data = record_wishes(layout, "note", values, because)
    said = [f"class {given}"] * bool(given) + [f"ticket {ticket}"] * bool(ticket)
    words = f"{', '.join(wanted)}: {', '.join(said)}; {data['said']}"
    emit(data | {"runs": wanted, "class": given, "ticket": ticket}, as_json, lambda: printable(words))
    return 0
