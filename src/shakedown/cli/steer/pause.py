"""``shakedown pause``: a component orders nothing new until it is resumed."""

from __future__ import annotations

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import json_option, site_option
from shakedown.cli.steer.requests import said_by
from shakedown.model.filling import CAUSES


@click.command()
@campaign_argument
@click.option("--component", required=True, metavar="NAME", help="Which part of the plan is paused.")
@click.option(
    "--cause",
    type=click.Choice(list(CAUSES)),
    default="other",
    show_default=True,
    help="Why, in a word; the plan says for each cause whether the component's clock runs on, stops, or starts anew.",
)
@click.option(
    "--from",
    "since",
    metavar="TIME",
    help="Since when, for its clock; such as 2026-11-22T06:00+01:00. Without it: now.",
)
@said_by("Who pauses it.", "")
@site_option
@json_option
def command(
    campaign: str | None,
    component: str,
    cause: str,
    since: str | None,
    who: str,
    because: str,
    site: str | None,
    as_json: bool,
) -> int:
    """Order nothing new of a component, until 'shakedown resume --component NAME' lifts it.

    Runs that have started go on to their end. Jobs that are queued and have not started are taken back.
    """
    from shakedown.cli.steer.override import give, read_moment

    value = {"component": component, "cause": cause, "from": read_moment("--from", since)}
    return give(site, campaign, "pause", [value], who, because, as_json, f"component {component} is paused ({cause})")
