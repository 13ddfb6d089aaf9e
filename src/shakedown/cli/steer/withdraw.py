"""``shakedown withdraw``: take back a waiver or a ruling."""

from __future__ import annotations

import click

from shakedown.cli.naming import names_after_campaign
from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.cli.steer.requests import said_by
from shakedown.model.errors import UsageError


@click.command()
@names_after_campaign("[CAMPAIGN] ACT...")
@said_by("Who takes it back.", "Why; it is kept in the record.")
@site_option
@json_option
def command(names: tuple[str, ...], who: str, because: str, site: str | None, as_json: bool) -> int:
    """Take back ACTs, waivers or rulings: numbers of events, as 'shakedown acts' shows them. Without CAMPAIGN it is the newest one.

    What was taken back has no effect on the outcome, and stays in the record and on the page, with who took it back and why.
    """
    from shakedown.cli.steer.agree import act_elsewhere, acts_named
    from shakedown.cli.steer.requests import find_started
    from shakedown.conductor.commands.agreeing import CAN_BE_WITHDRAWN, find_acts
    from shakedown.conductor.commands.asking import record_wishes
    from shakedown.queries.status import look_at_runs

    campaign, numbers = acts_named(names, "withdraw [CAMPAIGN] ACT... --by WHO --because WHY")
    layout, _ = find_started(site, campaign, "withdraw from", who)
    record = look_at_runs(layout)
    acts = find_acts(record, numbers, CAN_BE_WITHDRAWN, layout.root.name, act_elsewhere(layout))
    gone = next((act for act in acts if act.number in record.withdrawn), None)
    if gone is not None:
        raise UsageError(f"event {gone.number} is withdrawn already, by event {record.withdrawn[gone.number]}")
    events = sorted(number for act in acts for number in act.events)
    data = record_wishes(layout, "withdraw", [{"events": events, "by": who}], because)
    words = "; ".join(f"withdrawn: event {act.number}, {act.by} {act.what}" for act in acts)
    emit(data | {"acts": [act.number for act in acts]}, as_json, lambda: printable(f"{words}; {data['said']}"))
    return 0
