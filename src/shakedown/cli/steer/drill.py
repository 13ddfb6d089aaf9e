"""``shakedown drill``: a person says that a drill began or ended, with the files that show it."""

from __future__ import annotations

import time
from pathlib import Path

import click

from shakedown.cli.naming import campaign_of, names_after_campaign
from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.cli.steer.requests import evidence_option, one_of_two, said_by


@click.command()
@names_after_campaign("[CAMPAIGN] COMPONENT DRILL")
@one_of_two("begun", "ended", "Whether it began, or is over.")
@click.option("--at", "at", metavar="TIME", help="As of when, such as 2026-11-22T06:00+01:00; without it now.")
@said_by("Who says so.", "What was done and seen; it is kept in the record.")
@evidence_option
@site_option
@json_option
def command(
    names: tuple[str, ...],
    begun: bool,
    at: str | None,
    who: str,
    because: str,
    files: tuple[str, ...],
    site: str | None,
    as_json: bool,
) -> int:
    """Say that DRILL of COMPONENT began or ended; evidence files are copied into the campaign.

    A later word takes the place of an earlier one; both stay in the record. Without CAMPAIGN it is the newest one.
    """
    from shakedown.cli.steer.override import read_moment
    from shakedown.cli.steer.requests import enough_evidence, find_started, kept_lines
    from shakedown.conductor.commands.asking import record_wishes
    from shakedown.conductor.commands.registry import drill_of
    from shakedown.events.evidence import keep_evidence

    campaign, (component, name) = campaign_of(names, 2, "drill [CAMPAIGN] COMPONENT DRILL ...")
    moment = read_moment("--at", at)
    layout, state = find_started(site, campaign, "drill", who)
    _, wanted = drill_of(state.index.document, component, name)
    if not begun:
        enough_evidence(f"drill {name}", wanted.evidence, files)
    kept = keep_evidence(layout, [Path(file) for file in files])
    value = {"component": component, "drill": name, "act": "begun" if begun else "ended", "by": who, "evidence": kept}
    data = record_wishes(
        layout, "drill", [value | ({"from": moment} if moment is not None else {"asked": time.time()})], because
    )
    words = f"{who} says that drill {name} of component {component} {'began' if begun else 'ended'}; {data['said']}"
    told = data | {"act": value["act"], "evidence": kept}
    emit(told, as_json, lambda: printable("\n".join([*kept_lines(kept), words])))
    return 0
