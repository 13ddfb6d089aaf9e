"""``shakedown acts``: what people did since the first order, and what the outcome would be without each act."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import emit, fitted, json_option, printable, site_option

if TYPE_CHECKING:
    from shakedown.metrics.judging.scorecard import Scorecard


@click.command()
@campaign_argument
@site_option
@json_option
def command(campaign: str | None, site: str | None, as_json: bool) -> int:
    """List what people did in a campaign: who, when, as of when, why, who agreed, and the outcome without it.

    The outcome without an act is the scorecard computed again from the log without it. What would have run without a pause or
    a cap is not known; where that decides, it says so. The number of an act is that of its event: agree and withdraw take it.

    Exit status: that of the outcome; 4 where it is disputed.
    """
    from shakedown.cli.record import find_whole_campaign
    from shakedown.conductor.workers.settling import settled
    from shakedown.metrics.judging.scorecard import exit_status
    from shakedown.model.layout import Layout

    scorecard = settled(Layout(find_whole_campaign(Path(site) if site else None, campaign)))
    emit(_data(scorecard), as_json, lambda: fitted(printable(_render(scorecard))))
    return exit_status(scorecard)


def _data(scorecard: Scorecard) -> dict[str, Any]:
    import msgspec

    from shakedown.engine.state.moments import iso_moment

    whole: dict[str, Any] = {
        "campaign": scorecard.campaign,
        "outcome": scorecard.outcome,
        "undisputed": scorecard.undisputed,
    }
    whole |= {"summary": scorecard.summary, "without_acts": scorecard.without_acts, "told": list(scorecard.told)}
    acts = [
        msgspec.to_builtins(act) | {"said_at": iso_moment(act.said), "as_of_at": iso_moment(act.as_of)}
        for act in scorecard.acts
    ]
    return whole | {"acts": acts}


def _render(scorecard: Scorecard) -> str:
    from shakedown.report.terminal import render_acts

    return render_acts(scorecard)
