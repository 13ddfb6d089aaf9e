"""``shakedown watch``: a campaign on a terminal, with streams of runs that can be filtered, and the detail of each run."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import site_option
from shakedown.model.errors import UsageError

EXTRA = "shakedown[watch]"


@click.command()
@campaign_argument
@site_option
def command(campaign: str | None, site: str | None) -> int:
    """Watch a campaign on a terminal (the newest one, if none is named).

    Failures, runs and events of note come as they happen. Each stream takes a filter. Enter shows why a run stands so, its output
    and its job script. It shows and never steers. Needs a terminal, and pip install 'shakedown[watch]'.
    """
    from shakedown.cli.record import find_campaign
    from shakedown.model.layout import Layout

    layout = Layout(find_campaign(Path(site) if site else None, campaign))
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "'shakedown watch' needs a terminal", hint="shakedown status --watch, or log --follow, write lines"
        )
    try:
        from shakedown.live.terminal import WatchApp
    except ImportError as error:
        message = f"'shakedown watch' needs packages that are not installed: {error.name}"
        raise UsageError(message, hint=f"pip install '{EXTRA}'") from error
    from shakedown.live.watched import Watched

    WatchApp(Watched(layout)).run()
    return 0
