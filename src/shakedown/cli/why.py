"""``shakedown why SUBJECT``: why it waits, failed, or was judged as it was."""

from __future__ import annotations

from pathlib import Path

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import emit, fitted, json_option, printable, site_option
from shakedown.model.errors import UsageError


@click.command()
@click.argument("subject", metavar="RUN|CASE|COMPONENT|CRITERION|DRILL")
@campaign_argument
@site_option
@json_option
def command(subject: str, campaign: str | None, site: str | None, as_json: bool) -> int:
    """Why a run or a case waits, failed, or was judged as it was; why a component, criterion or drill stands as it does."""
    from shakedown.cli.record import find_campaign, folds_of, tell_trouble
    from shakedown.model.layout import Layout
    from shakedown.queries.why import why

    root = Path(site) if site else None
    try:
        home = find_campaign(root, campaign)
    except UsageError as error:
        home, subject = _other_order(root, subject, campaign, error)
    layout, folds = Layout(home), folds_of(home)
    try:
        answer = why(layout, subject, folds)
    except UsageError:
        from shakedown.queries.why_components import why_component

        other = why_component(layout, subject, folds)
        if other is None:
            raise
        answer = other
    tell_trouble(folds)
    emit(answer, as_json, lambda: fitted(printable("\n".join([f"{answer.kind} {answer.subject}", *answer.lines]))))
    return 0


def _other_order(root: Path | None, first: str, second: str | None, error: UsageError) -> tuple[Path, str]:
    """The campaign and the subject where they are given as other commands have them: CAMPAIGN RUN. Errors: ``error`` where not."""
    from shakedown.cli.record import find_campaign

    if second is None:
        raise error
    try:
        return find_campaign(root, first), second
    except UsageError:
        raise error from None
