"""``shakedown why RUN|CASE``: why it waits, failed, or was judged as it was."""

from __future__ import annotations

from pathlib import Path

import click

from shakedown.cli.output import emit, fitted, json_option, printable, site_option


@click.command()
@click.argument("subject", metavar="RUN|CASE")
@click.argument("campaign", required=False)
@site_option
@json_option
def command(subject: str, campaign: str | None, site: str | None, as_json: bool) -> int:
    """Why a run or a case waits, failed, or was judged as it was."""
    from shakedown.cli.record import find_campaign
    from shakedown.model.layout import Layout
    from shakedown.queries.status import why

    answer = why(Layout(find_campaign(Path(site) if site else None, campaign)), subject)
    emit(answer, as_json, lambda: fitted(printable("\n".join([f"{answer.kind} {answer.subject}", *answer.lines]))))
    return 0
