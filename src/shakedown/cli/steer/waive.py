"""``shakedown waive``: accept a criterion, a gate or a contract row as it is, with a restriction."""

from __future__ import annotations

import click

from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.cli.steer.requests import LONGEST_RESTRICTION, kept_whole, said_by
from shakedown.model.errors import UsageError


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="[CAMPAIGN] COMPONENT [CRITERION]")
@click.option("--gate", is_flag=True, help="Waive the gate: other components no longer wait until COMPONENT is met.")
@click.option("--row", default="", metavar="NAME", help="Waive this contract row, such as c5:3.")
@click.option("--restriction", required=True, metavar="TEXT", help="What the acceptance is restricted by, in words.")
@said_by("Who accepts it as it is.", "Why; it is kept in the record.")
@site_option
@json_option
def command(
    names: tuple[str, ...],
    gate: bool,
    row: str,
    restriction: str,
    who: str,
    because: str,
    site: str | None,
    as_json: bool,
) -> int:
    """Accept CRITERION of COMPONENT as it is, or its gate, or a contract row. The outcome stays visible beside the waiver.

    Without CAMPAIGN it is the newest one.
    """
    from shakedown.cli.steer.requests import find_started, record_wishes
    from shakedown.conductor.commands.rulings import why_not_waive

    campaign, component, what, name = _meant(names, gate, row)
    if not restriction.strip():
        raise UsageError("--restriction is empty", hint="say what the acceptance is restricted by")
    kept_whole("--restriction", restriction.strip(), LONGEST_RESTRICTION)
    layout, state = find_started(site, campaign, "waive")
    why = why_not_waive(state.index.document, what, component, name)
    if why:
        raise UsageError(why)
    value = {"what": what, "component": component, "name": name, "restriction": restriction, "by": who}
    data = record_wishes(layout, "waive", [value], because)
    words = f"{what} {name or 'of ' + component} is waived: {restriction}; {data['said']}"
    emit(data | {"what": what, "component": component, "name": name}, as_json, lambda: printable(words))
    return 0


def _meant(names: tuple[str, ...], gate: bool, row: str) -> tuple[str | None, str, str, str]:
    """Campaign or None, component, what is waived, and its name."""
    if gate and row:
        raise UsageError("--gate and --row are two waivers", hint="give one of them")
    most = 2 if gate or row else 3
    if not most - 1 <= len(names) <= most:
        usage = "[CAMPAIGN] COMPONENT " + ("--gate" if gate else "--row NAME" if row else "CRITERION")
        raise UsageError(f"{len(names)} names are given", hint=f"shakedown waive {usage} --restriction TEXT ...")
    campaign = names[0] if len(names) == most else None
    rest = names[-(most - 1) :]
    if gate:
        return campaign, rest[0], "gate", ""
    return (campaign, rest[0], "row", row) if row else (campaign, rest[0], "criterion", rest[1])
