"""``shakedown amend``: put a changed plan into force in a running campaign, with who and why."""

from __future__ import annotations

from pathlib import Path

import click

from shakedown.cli.naming import campaign_option
from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.cli.steer.requests import said_by
from shakedown.cli.unavailable import unavailable_option


@click.command()
@click.argument("plan")
@campaign_option
@said_by("Who decided it.", "Why; it is kept in the record.")
@unavailable_option
@site_option
@json_option
def command(
    plan: str,
    campaign: str | None,
    who: str,
    because: str,
    unavailable: str | None,
    site: str | None,
    as_json: bool,
) -> int:
    """Put a changed PLAN into force: results so far stay, a new epoch opens, the difference is recorded."""
    from shakedown.cli.record import find_whole_campaign
    from shakedown.cli.steer.requests import refuse_alike, tell_of_nobody
    from shakedown.cli.unavailable import started
    from shakedown.conductor.commands.amend import keep_document
    from shakedown.conductor.commands.asking import record_wishes
    from shakedown.conductor.record.baselines import past_of
    from shakedown.events.lease import holder
    from shakedown.machine import this_system
    from shakedown.model.layout import Layout
    from shakedown.plans import find_site, read_plan
    from shakedown.queries.status import look

    root = Path(site) if site else None
    layout = Layout(find_whole_campaign(root, campaign))
    found = find_site(root)
    document = started(read_plan(found, plan, this_system, past=past_of(found)), unavailable)
    state = look(layout)
    refuse_alike(state, who)
    tell_of_nobody(layout, state, who)
    held = holder(layout)
    digest, difference = keep_document(layout, state, document, driven=held is not None and not held.gone)
    if not difference:
        emit({"difference": []}, as_json, lambda: "nothing differs from the plan in force; nothing to amend")
        return 0
    data = record_wishes(layout, "amend", [{"document": digest, "by": who}], because)
    lines = [*difference, data["said"]]
    lines += [f"go on with: shakedown resume {layout.root.name}"] if data["recorded"] else []
    emit(data | {"difference": difference}, as_json, lambda: printable("\n".join(lines)))
    return 0
