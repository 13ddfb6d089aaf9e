"""``shakedown why SUBJECT``: why it waits, failed, or was judged as it was."""

from __future__ import annotations

from pathlib import Path

import click

from shakedown.cli.output import emit, fitted, json_option, printable, site_option
from shakedown.model.errors import UsageError


@click.command()
@click.argument("subject", metavar="RUN|CASE|COMPONENT|CRITERION|DRILL")
@click.argument("campaign", required=False)
@site_option
@json_option
def command(subject: str, campaign: str | None, site: str | None, as_json: bool) -> int:
    """Why a run or a case waits, failed, or was judged as it was; why a component, criterion or drill stands as it does."""
    from shakedown.cli.record import find_campaign
    from shakedown.model.layout import Layout
    from shakedown.queries.status import why

    layout = Layout(find_campaign(Path(site) if site else None, campaign))
    try:
        answer = why(layout, subject)
    except UsageError:
        from shakedown.queries.why_components import why_component

        other = why_component(layout, subject)
        if other is None:
            raise
        answer = other
    emit(answer, as_json, lambda: fitted(printable("\n".join([f"{answer.kind} {answer.subject}", *answer.lines]))))
    return 0
