"""``shakedown resume``: go on with a campaign whose conductor left, was killed, or lost its machine; or with a part of one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import json_option, site_option
from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.model.layout import Layout


@click.command()
@campaign_argument
@site_option
@click.option(
    "--if-needed",
    is_flag=True,
    help="For cron: do and say nothing if the campaign is over or driven already. A driver that does not answer is replaced.",
)
@click.option("--take-over", is_flag=True, help="Take the lease although its holder on another host may be alive.")
@click.option("--detach", is_flag=True, help="Drive it in the background; ends once it is driven.")
@click.option("--report", is_flag=True, help="Write the report at the end, without its PDF.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing while it runs.")
@click.option("--component", default=None, metavar="NAME", help="Let a paused component go on, and drive nothing.")
@click.option("--case", default=None, metavar="CASE", help="Let a case that was stopped go on, and drive nothing.")
@click.option("--by", "who", default=None, help="Who says that it goes on.")
@click.option("--because", default=None, help="Why; it is kept in the record.")
@click.option("--begun-fd", type=int, hidden=True, help="Where a conductor in the background says that it drives.")
@json_option
def command(
    campaign: str | None,
    site: str | None,
    component: str | None,
    case: str | None,
    who: str | None,
    because: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Go on with a campaign (the newest one, if none is named).

    Jobs that went on meanwhile on a cluster are picked up: those that ended are judged, those that run are watched. A campaign
    that is over and sealed stays as it is. A campaign with events that this version does not know is not driven.

    With --component or --case the command lifts a standing order instead. It needs --by and --because, which are recorded. It
    drives nothing.

    Exit status: that of the scorecard (0 met, 1 not met, 4 undecided or not finished). With --if-needed 0, too, if it is over
    or driven by another conductor; with --detach 0 once it is driven. 2: another conductor drives it, or there is no such
    campaign; 3: its record is damaged, or cannot be read or written.
    """
    from shakedown.cli.detached import drive_detached
    from shakedown.cli.driving import driver_needed, how_to_name
    from shakedown.cli.record import find_whole_campaign
    from shakedown.model.layout import Layout

    if component or case:
        return _lift(site, campaign, component, case, who, because, as_json, options)
    if who or because:
        raise UsageError("--by and --because go with --component or --case", hint="resume drives a campaign as it is")
    wishes = Wishes(as_json=as_json, **options)
    layout = Layout(find_whole_campaign(Path(site) if site else None, campaign))
    if wishes.if_needed and not wishes.take_over:
        needed = driver_needed(layout)
        if not needed:
            return 0
        wishes = replace(wishes, take_over=needed == "take over")
    if wishes.detach:
        return drive_detached(layout, how_to_name(layout), wishes.for_the_background(), as_json)
    return _drive(layout, wishes)


def _lift(
    site: str | None,
    campaign: str | None,
    component: str | None,
    case: str | None,
    who: str | None,
    because: str | None,
    as_json: bool,
    options: dict[str, Any],
) -> int:
    """A paused component goes on, or a case that was stopped: in one component, or in all where it was."""
    from shakedown.cli.steer.override import give
    from shakedown.cli.steer.requests import find_started, kept_words

    strange = [name for name, value in options.items() if value]
    if strange:
        option = f"--{strange[0].replace('_', '-')}"
        raise UsageError(f"{option} drives a campaign; --component and --case do not", hint="give two commands")
    by, why = kept_words("--by", who), kept_words("--because", because)
    if not case:
        words = f"component {component} goes on"
        return give(site, campaign, "continue", [{"component": component}], by, why, as_json, words)
    _, state = find_started(site, campaign, "continue")
    found = [key.component for key in state.overrides.stopped if key.case == case]
    if not component and not found:
        stopped = ", ".join(key.case for key in list(state.overrides.stopped)[:10])
        raise UsageError(f"case {case} is not stopped", hint=f"stopped are: {stopped}" if stopped else "no case is")
    values = [{"component": name, "case": case} for name in ([component] if component else found)]
    words = f"case {case} goes on in {', '.join(str(value['component']) for value in values)}"
    return give(site, campaign, "continue", values, by, why, as_json, words)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line asks for."""

    if_needed: bool
    take_over: bool
    detach: bool
    report: bool
    quiet: bool
    begun_fd: int | None
    as_json: bool

    def for_the_background(self) -> list[str]:
        """The options that a conductor in the background is given."""
        wanted = {"--take-over": self.take_over, "--report": self.report, "--quiet": self.quiet}
        wanted["--if-needed"] = self.if_needed
        return [option for option, is_wanted in wanted.items() if is_wanted]


def _drive(layout: Layout, wishes: Wishes) -> int:
    """Drive it in this process. With --if-needed it is all right that another one was faster, but not that it was replaced."""
    from shakedown.cli.detached import announcer
    from shakedown.cli.driving import drive_and_show
    from shakedown.model.errors import LeaseHeld

    announce = announcer(wishes.begun_fd)
    has_begun = False

    def begun() -> None:
        nonlocal has_begun
        has_begun = True
        announce()

    options = {"quiet": wishes.quiet, "as_json": wishes.as_json, "report": wishes.report}
    try:
        return drive_and_show(layout, **options, take_over=wishes.take_over, begun=begun)
    except LeaseHeld:
        if wishes.if_needed and not has_begun:
            return 0
        raise
