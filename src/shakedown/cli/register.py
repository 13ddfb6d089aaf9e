"""``shakedown register``: the campaigns that a site ever had, and a new register where the old one is lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.output import emit, fitted, json_option, printable, say, site_option, table
from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.conductor.record.register_words import Standing
    from shakedown.queries.campaigns import CampaignsSeen


@click.command()
@click.option("--anew", is_flag=True, help="Begin another register, where this one is lost or damaged.")
@click.option("--by", "who", default=None, help="Who begins it anew.")
@click.option("--because", default=None, help="Why; it is kept in the register.")
@site_option
@json_option
def command(anew: bool, who: str | None, because: str | None, site: str | None, as_json: bool) -> None:
    """Show the campaigns that were begun in a site, also those that are gone, and how each ended.

    The register is written by 'run' and 'seal' alone; 'verify --register' checks it. Where it is lost for good, --anew begins
    another one with --by and --because: every later page says so.
    """
    from shakedown.cli.steer.requests import kept_words
    from shakedown.plans import find_site

    root = find_site(Path(site) if site else None)
    if not anew:
        if who is not None or because is not None:
            raise UsageError("--by and --because go with --anew", hint="without it the register is only shown")
        return show_campaigns(root, as_json)
    by, why = kept_words("--by", who), kept_words("--because", because)
    from shakedown.conductor.record.registering import begin_anew
    from shakedown.conductor.workers.settling import settle_campaign

    begin_anew(root, by, why, settle_campaign)
    say("the register was begun anew: every later page says so")
    return show_campaigns(root, as_json)


def show_campaigns(site: Path, as_json: bool) -> None:
    """Purpose: print every campaign of a site's register, and directories that are not in it."""
    from shakedown.queries.campaigns import campaigns_of

    found = campaigns_of(site)
    emit(found, as_json, lambda: fitted(printable(_render(found))))


def _render(found: CampaignsSeen) -> str:
    from shakedown.report.words import show_time

    lines = [f"THE REGISTER IS NOT WHAT IT WAS: {found.trouble}"] if found.trouble else []
    rows = [
        (one.campaign, one.plan, str(one.entry), show_time(one.entered), one.words, _note(one))
        for one in found.campaigns
    ]
    rows += [(name, "", "", "", "not in the register", "") for name in found.others]
    if rows:
        lines.append(table(("CAMPAIGN", "PLAN", "ENTRY", "ENTERED (UTC)", "ENDED", "NOTE"), rows, right=(2,)))
    lines.append(found.summary if found.register else "there is no register yet: 'shakedown run' opens one")
    return "\n".join(lines)


def _note(one: Standing) -> str:
    return ", ".join(["ad hoc"] * one.ad_hoc + ["found"] * one.found + [one.before_words] * bool(one.before))
