"""``shakedown rule``: say whose failure a run was, beside its verdict."""

from __future__ import annotations

import click

from shakedown.cli.naming import campaign_option, said_with_option
from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.cli.steer.requests import said_by
from shakedown.model.errors import UsageError
from shakedown.model.events import PARTIES
from shakedown.model.layout import Layout
from shakedown.model.near_names import near_run


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--as",
    "party",
    required=True,
    type=click.Choice([*PARTIES, "none"]),
    help="Whose it was; none takes a ruling back.",
)
@said_by("Who rules.", "Why; it is kept in the record.")
@campaign_option
@site_option
@json_option
def command(
    runs: tuple[str, ...], party: str, who: str, because: str, campaign: str | None, site: str | None, as_json: bool
) -> int:
    """Say whose failure RUNs were. Verdicts stay as they are. Rates are shown before and after rulings; the last ruling counts."""
    from shakedown.cli.steer.requests import find_started
    from shakedown.conductor.commands.asking import record_wishes

    layout, _ = find_started(site, campaign, "rule on", who)
    wanted = list(dict.fromkeys(runs))
    _check(layout, wanted, party)
    data = record_wishes(layout, "rule", [{"run": run, "as": party, "by": who} for run in wanted], because)
    words = f"{', '.join(wanted)}: " + ("no ruling any more" if party == "none" else f"ruled {party}")
    emit(data | {"runs": wanted, "as": party}, as_json, lambda: printable(f"{words}; {data['said']}"))
    return 0


def _check(layout: Layout, runs: list[str], party: str) -> None:
    """Every run must have a verdict, and a ruling where one is taken back. Errors: UsageError; then nothing is recorded."""
    from shakedown.cli.record import folds_of

    record = folds_of(layout.root).whole_record()
    for run in runs:
        row = record.row_of(run)
        if row is None and run in record.open:
            raise UsageError(f"{run} is not judged yet; a ruling stands beside a verdict")
        if row is None:
            hint = (
                said_with_option(layout.root, run)
                or near_run(run, {row.run for row in record.runs})
                or "'shakedown runs' lists runs"
            )
            raise UsageError(f"{layout.root.name} has no run '{run}'", hint=hint)
        if party == "none" and not row.ruling:
            raise UsageError(f"{run} has no ruling that could be taken back")
