"""``shakedown clock``: start, stop, let go on or restart the clock of a component that runs for a time."""

from __future__ import annotations

from typing import Any

import click

from shakedown.cli.naming import campaign_of, names_after_campaign
from shakedown.cli.output import json_option, site_option
from shakedown.cli.steer.requests import said_by
from shakedown.model.errors import UsageError
from shakedown.model.filling import CAUSES

ACTS = {"start": "is started", "stop": "is stopped", "go-on": "goes on", "restart": "starts anew"}


@click.command()
@names_after_campaign("[CAMPAIGN] start|stop|go-on|restart")
@click.option("--component", required=True, metavar="NAME", help="Whose clock.")
@click.option("--cause", type=click.Choice(list(CAUSES)), default=None, help="What for; the report tells it.")
@click.option("--from", "since", metavar="TIME", help="As of when, such as 2026-11-22T06:00+01:00; without it now.")
@click.option("--until", metavar="TIME", help="Of stop: when it went on.")
@said_by("Who says so.", "")
@site_option
@json_option
def command(
    names: tuple[str, ...],
    component: str,
    cause: str | None,
    since: str | None,
    until: str | None,
    who: str,
    because: str,
    site: str | None,
    as_json: bool,
) -> int:
    """Start, stop or restart the clock of a component. It measures for how long the component has run.

    Work goes on while the clock stands still; 'shakedown pause' stops work. After a restart the whole time of the component, of its
    parts and of the shares of its tests begins again at zero.
    """
    from shakedown.cli.steer.override import give, read_moment

    usage = "clock [CAMPAIGN] start|stop|go-on|restart --component NAME --by WHO --because WHY"
    campaign, (act,) = campaign_of(names, 1, usage)
    if act not in ACTS:
        raise UsageError(f"a clock has no command '{act}'", hint=f"there are {', '.join(ACTS)}")
    value = {"component": component, "cause": cause}
    values: list[dict[str, Any]] = [value | {"act": act.replace("-", " "), "from": read_moment("--from", since)}]
    words = f"the clock of component {component} {ACTS[act]}" + (f" as of {since}" if since else "")
    if until is not None:
        _check_until(act, since, until)
        values.append(value | {"act": "go on", "from": read_moment("--until", until)})
        words += f" until {until}"
    return give(site, campaign, "clock", values, who, because, as_json, words)


def _check_until(act: str, since: str | None, until: str) -> None:
    """Errors: UsageError where an end of something else than a stop is given, or one before its begin."""
    from shakedown.cli.steer.override import read_moment

    if act != "stop":
        raise UsageError("--until says when a clock that was stopped went on", hint="it goes with: clock stop")
    begin, end = read_moment("--from", since), read_moment("--until", until)
    if begin is None:
        raise UsageError("--until without --from", hint="say from when to when it stood still")
    if end is not None and end <= begin:
        raise UsageError(f"--until {until} is not after --from {since}")
