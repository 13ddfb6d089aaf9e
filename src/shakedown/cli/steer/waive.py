"""``shakedown waive``: accept a criterion, a gate, a contract row, a change of conditions or an issue as it is."""

from __future__ import annotations

import click

from shakedown.cli.naming import campaign_of, campaign_option_given, names_after_campaign
from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.cli.steer.requests import LONGEST_RESTRICTION, kept_whole, said_by
from shakedown.model.errors import UsageError
from shakedown.model.said_words import restricts_nothing


@click.command()
@names_after_campaign("[CAMPAIGN] COMPONENT [CRITERION]", required=False)
@click.option("--gate", is_flag=True, help="Waive the gate: other components no longer wait until COMPONENT is met.")
@click.option("--row", default="", metavar="NAME", help="Waive this contract row, such as c5:3.")
@click.option(
    "--conditions",
    default=None,
    type=click.IntRange(1),
    metavar="EVENT",
    help="Accept that inputs, programs or settings of the runs changed, as the finding with this number says.",
)
@click.option(
    "--issue",
    default=None,
    type=click.IntRange(1),
    metavar="EVENT",
    help="Close the open issue of the ledger that this event opened: it is accepted as it is.",
)
@click.option(
    "--restriction",
    default="",
    metavar="TEXT",
    help="What the acceptance is restricted by; may be left out with --conditions or --issue.",
)
@said_by("Who accepts it as it is.", "Why; it is kept in the record.")
@site_option
@json_option
def command(
    names: tuple[str, ...],
    gate: bool,
    row: str,
    conditions: int | None,
    issue: int | None,
    restriction: str,
    who: str,
    because: str,
    site: str | None,
    as_json: bool,
) -> int:
    """Accept CRITERION of COMPONENT as it is, or its gate, or a contract row. The outcome stays visible beside the waiver.

    With --conditions EVENT and no COMPONENT: that inputs, programs or settings changed under the campaign, as that finding says. It
    restricts the acceptance no more; both stay on the page. With --issue EVENT: the open issue of the ledger that this event
    opened. Without CAMPAIGN it is the newest one.
    """
    from shakedown.cli.steer.requests import find_started
    from shakedown.conductor.commands.asking import record_wishes
    from shakedown.conductor.commands.rulings import (
        changes_in,
        issues_in,
        why_not_waive,
        why_not_waive_conditions,
        why_not_waive_issue,
    )
    from shakedown.events.reader import read_events

    campaign, component, what, name = _meant(names, gate, row, conditions, issue)
    _check_restriction(restriction, what)
    layout, state = find_started(site, campaign, "waive", who)
    if what == "conditions":
        why = why_not_waive_conditions(changes_in(read_events(layout.log)), name)
    elif what == "issue":
        why = why_not_waive_issue(issues_in(read_events(layout.log)), name)
    else:
        why = why_not_waive(state.index.document, what, component, name)
    if why:
        raise UsageError(why)
    value = {"what": what, "component": component, "name": name, "restriction": restriction, "by": who}
    data = record_wishes(layout, "waive", [value], because)
    thing = f"{what} {name or 'of ' + component} is waived"
    if what in ("conditions", "issue"):
        thing = f"{'issue' if what == 'issue' else 'the change of conditions in event'} {name} is accepted as it is"
    words = f"{thing}: {restriction or 'without a restriction'}; {data['said']}"
    emit(data | {"what": what, "component": component, "name": name}, as_json, lambda: printable(words))
    return 0


def _check_restriction(restriction: str, what: str) -> None:
    """Raise UsageError where a restriction is missing that is needed, shows nothing, or is too long."""
    said = restriction.strip()
    if not said and what not in ("conditions", "issue"):
        raise UsageError("--restriction is missing or empty", hint="say what the acceptance is restricted by")
    if said and restricts_nothing(restriction):
        hint = "say what the acceptance is restricted by" + (
            ", or leave it out" if what in ("conditions", "issue") else ""
        )
        raise UsageError("--restriction has no visible character, or says that there is none", hint=hint)
    kept_whole("--restriction", said, LONGEST_RESTRICTION)


def _meant(
    names: tuple[str, ...], gate: bool, row: str, conditions: int | None, issue: int | None
) -> tuple[str | None, str, str, str]:
    """Campaign or None, component, what is waived, and its name."""
    if gate + bool(row) + (conditions is not None) + (issue is not None) > 1:
        raise UsageError("--gate, --row, --conditions and --issue are different waivers", hint="give one of them")
    for what, event, thing in (("conditions", conditions, "a change of conditions"), ("issue", issue, "an issue")):
        if event is not None:
            named = campaign_option_given()
            if len(names) > (named is None):
                usage = f"shakedown waive [CAMPAIGN] --{what} EVENT ..."
                raise UsageError(f"{thing} is waived for the whole campaign; no component is named", hint=usage)
            return (names[0] if names else named), "", what, str(event)
    usage = "[CAMPAIGN] COMPONENT " + ("--gate" if gate else "--row NAME" if row else "CRITERION")
    campaign, rest = campaign_of(names, 1 if gate or row else 2, f"waive {usage} --restriction TEXT ...")
    if gate:
        return campaign, rest[0], "gate", ""
    return (campaign, rest[0], "row", row) if row else (campaign, rest[0], "criterion", rest[1])
