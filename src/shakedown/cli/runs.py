"""``shakedown runs``: the runs of a campaign as a table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import emit, fitted, json_option, site_option, table
from shakedown.metrics.rows.frozen_rows import selected
from shakedown.metrics.words import show_number
from shakedown.model.errors import UsageError
from shakedown.model.events import VERDICTS

if TYPE_CHECKING:
    from shakedown.metrics.rows.frozen_rows import Key
    from shakedown.metrics.rows.rows import RunRow


@click.command()
@campaign_argument
@site_option
@click.option(
    "--verdict",
    multiple=True,
    type=click.Choice(list(VERDICTS)),
    metavar="VERDICT",
    help=f"Only runs judged so: {', '.join(VERDICTS)}.",
)
@click.option("--case", "case", default=None, metavar="REGEX", help="Only cases whose name matches.")
@click.option("--all", "everything", is_flag=True, help="Superseded verdicts too.")
@json_option
def command(
    campaign: str | None,
    site: str | None,
    verdict: tuple[str, ...],
    case: str | None,
    everything: bool,
    as_json: bool,
) -> int:
    """The runs of a campaign: judged ones by the order of their verdicts, then live ones."""
    from shakedown.cli.record import find_campaign, folds_of, tell_trouble
    from shakedown.model.layout import Layout
    from shakedown.queries.status import live_runs

    pattern = _pattern(case)
    layout = Layout(find_campaign(Path(site) if site else None, campaign))
    folds = folds_of(layout.root)

    def wanted(key: Key) -> bool:
        return bool(
            (everything or key.current) and (not verdict or key.verdict in verdict) and pattern.search(key.case)
        )

    rows: list[Any] = folds.checked(lambda record: selected(record, wanted))
    record = folds.record()
    live = [row for row in live_runs(layout, record, folds) if not verdict and pattern.search(row.case)]
    tell_trouble(folds)
    data = {"judged": [_with_end(row) for row in rows], "live": live, "events": record.seq}
    emit(data, as_json, lambda: fitted(f"{_render(rows, live)}\nas of event {record.seq}"))
    return 0


def _with_end(row: RunRow) -> RunRow:
    """The row with the time at which the run ended, which the log may say in two ways."""
    from msgspec.structs import replace

    return replace(row, ended=row.over)


def _pattern(text: str | None) -> re.Pattern[str]:
    try:
        return re.compile(text or "")
    except re.error as error:
        raise UsageError(f"--case '{text}' is not a regular expression: {error}") from error


def _render(rows: list[Any], live: list[Any]) -> str:
    """Modes, rulings, tickets and epochs are columns where there is any; epochs from the second on."""
    lines = []
    for row in rows:
        elapsed = "" if row.elapsed_s is None else f"{row.elapsed_s:.3f}"
        figures = " ".join(f"{name}={show_number(value)}" for name, value in list(row.figures.items())[:3])
        note = figures if row.verdict == "passed" else row.reason
        more = [row.mode, str(row.epoch), row.ruling, row.ticket, row.judged_by]
        lines.append([row.run, row.case, *more, str(row.attempt), row.verdict, elapsed, note])
    lines += [
        [row.run, row.case, row.mode, str(row.epoch), "", "", "", str(row.attempt), row.state, "", ""] for row in live
    ]
    if not lines:
        return "no runs"
    headings = [
        "run",
        "case",
        "mode",
        "epoch",
        "ruled",
        "ticket",
        "judged again by",
        "attempt",
        "verdict",
        "seconds",
        "figures or reason",
    ]
    usual = {2: "", 3: "1", 4: "", 5: "", 6: ""}
    shown = [place for place in range(len(headings)) if any(line[place] != usual.get(place) for line in lines)]
    right = [new for new, old in enumerate(shown) if headings[old] in ("epoch", "attempt", "seconds")]
    return table([headings[i] for i in shown], [[line[i] for i in shown] for line in lines], right=right)
