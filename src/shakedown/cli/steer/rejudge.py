"""``shakedown rejudge``: judge kept outputs again, after a check was amended or could not be decided."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.naming import campaign_option
from shakedown.cli.output import emit, json_option, printable, site_option, table
from shakedown.cli.steer.requests import said_by

if TYPE_CHECKING:
    from shakedown.audit.rejudge import Outcome


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@campaign_option
@click.option(
    "--plan", default=None, help="Judge by this plan as its files are now; the plan in force, if none is named."
)
@said_by("Who has them judged again.", "")
@site_option
@json_option
def command(
    runs: tuple[str, ...],
    campaign: str | None,
    plan: str | None,
    who: str,
    because: str,
    site: str | None,
    as_json: bool,
) -> int:
    """Judge RUNs again, or all of them, by their kept outputs; the old verdicts stay in the record."""
    from shakedown.audit.rejudge import rejudge_campaign
    from shakedown.cli.record import find_whole_campaign

    root = Path(site) if site else None
    path = find_whole_campaign(root, campaign)
    document = None
    if plan is not None:
        from shakedown.conductor.record.baselines import past_of
        from shakedown.machine import this_system
        from shakedown.plans import find_site, read_plan

        found = find_site(root)
        document = read_plan(found, plan, this_system, past=past_of(found))
    outcome = rejudge_campaign(path, who, because, runs, document)
    emit(outcome, as_json, lambda: _render(outcome))
    return 0


def _render(outcome: Outcome) -> str:
    """What changed, what could not be judged again, and how many were looked at."""
    lines = []
    if outcome.changed:
        lines.append(table(["run", "was", "is now", "because"], outcome.changed))
    lines += [printable(reason) for _, reason in outcome.findings]
    kept = outcome.examined - len(outcome.changed)
    lines.append(f"{outcome.examined} verdicts looked at: {len(outcome.changed)} replaced, {kept} stand")
    return "\n".join(lines)
