"""``shakedown history``: one figure over all campaigns of a site, with its changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.compare import percent
from shakedown.cli.output import emit, json_option, printable, say, site_option, table
from shakedown.cli.twin.modelling import csv_option, figure_option, format_of
from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.metrics.comparing.history import Change, History, Line
    from shakedown.queries.histories import Looked


@click.command()
@click.argument("figure_name", metavar="FIGURE")
@click.argument("campaigns", nargs=-1, metavar="[CAMPAIGN]...")
@click.option("--test", "tests", multiple=True, metavar="TEST", help="Only cases of this test.")
@click.option("--case", "cases", multiple=True, metavar="CASE", help="Only this case, by its name.")
@click.option(
    "--least", metavar="PERCENT", default="2%", help="The smallest change that matters; 2% where nothing is said."
)
@click.option("--reference", is_flag=True, help="Print contract rows of these runs, as 'shakedown reference' does.")
@csv_option
@figure_option
@site_option
@json_option
def command(
    figure_name: str,
    campaigns: tuple[str, ...],
    tests: tuple[str, ...],
    cases: tuple[str, ...],
    least: str,
    reference: bool,
    csv_file: Path | None,
    figure: Path | None,
    site: str | None,
    as_json: bool,
) -> int:
    """FIGURE over all campaigns of a site, or those named, in the order in which they began.

    FIGURE is a figure of a test, a row of one such as 'lat[size=8]', or 'elapsed', the run time. Each campaign, epoch and case is a
    line with its median; below stand the changes of level that were found. Rehearsals are looked at only where they are named.
    """
    from shakedown.cli.record import note_damage
    from shakedown.queries.histories import look_back

    smallest = percent(least)
    suffix = format_of(figure) if figure is not None else ""
    lasting = bool(reference or csv_file or figure)
    looked = look_back(figure_name, _paths(campaigns, Path(site) if site else None, lasting), smallest, tests, cases)
    for words in looked.unreadable:
        note_damage(words)
    if reference:
        return _reference(looked, figure_name, as_json)
    emit(
        {
            "history": looked.history,
            "notes": looked.notes,
            "not_begun": looked.not_begun,
            "unreadable": looked.unreadable,
        },
        as_json,
        lambda: printable(_render(looked)),
    )
    if csv_file is not None:
        csv_file.write_bytes(_csv(looked.history))
        say(f"table: {csv_file}")
    if figure is not None:
        from shakedown.report.figures.comparison import draw_history

        figure.write_bytes(draw_history(looked.history, looked.rehearsed).in_format(suffix))
        say(f"figure: {figure}")
    return 0


def _paths(campaigns: tuple[str, ...], site: Path | None, lasting: bool) -> list[Path]:
    """The campaigns that are named, or all of the site. ``lasting``: a file is made of them, so none may be damaged."""
    from shakedown.cli.record import find_campaign, find_whole_campaign
    from shakedown.events.campaigns import CAMPAIGNS, campaigns_in
    from shakedown.plans import find_site

    find = find_whole_campaign if lasting else find_campaign
    if campaigns:
        return list(dict.fromkeys(find(site, name).resolve() for name in campaigns))
    found = [find(site, str(path)).resolve() for path in campaigns_in(find_site(site) / CAMPAIGNS)]
    if not found:
        raise UsageError(f"no campaign was started in {find_site(site)} yet", hint="start one: shakedown run PLAN")
    return found


# ---- as people read it ------------------------------------------------------------------------------------------------


def _render(looked: Looked) -> str:
    from shakedown.report.words import show_time

    history = looked.history
    parts: list[str] = []
    for subject, name in dict.fromkeys((one.subject, one.figure) for one in history.lines):
        mine = [one for one in history.lines if (one.subject, one.figure) == (subject, name)]
        rows = [_row(one, show_time(one.began)) for one in mine]
        parts += [f"{name} of {subject}" + (f", {mine[0].unit}" if mine[0].unit else "")]
        parts += [table(("  CAMPAIGN", "BEGAN (UTC)", "RUNS", "MEDIAN", "95 % INTERVAL"), rows, right=(2, 3))]
        parts += [_change(one) for one in history.changes if (one.subject, one.figure) == (subject, name)]
        parts.append("")
    marks = [one for one in history.epochs if one.epoch > 1]
    parts += [f"epoch {one.epoch} of {one.campaign} was opened by '{one.opened_by}': {one.reason}" for one in marks]
    parts += [f"{name} has not started: it is left out" for name in looked.not_begun]
    parts += looked.notes
    parts += [f"left out, for its record cannot be read: {words}" for words in looked.unreadable]
    count = len(history.changes)
    parts.append(f"{count} change{'' if count == 1 else 's'} of level of {history.least * 100:g}% or more")
    return "\n".join(parts)


def _row(line: Line, began: str) -> tuple[str, ...]:
    from shakedown.metrics.words import show_number

    low, high = line.interval or (line.lowest, line.highest)
    interval = (
        f"{show_number(low)} .. {show_number(high)}"
        if line.interval
        else f"({show_number(low)} .. {show_number(high)})"
    )
    campaign = f"{line.campaign}#{line.epoch}" if line.epoch > 1 else line.campaign
    return (f"  {campaign}", began, str(line.count), show_number(line.median), interval if line.count > 1 else "")


def _change(change: Change) -> str:
    from shakedown.metrics.words import show_value
    from shakedown.report.words import show_percent

    before, after = (show_value(value, change.unit) for value in (change.before_mean, change.after_mean))
    low, high = change.effect.interval
    campaign, run = change.after
    moved = f"{show_percent(change.effect.share)} ({show_percent(low)} .. {show_percent(high)})"
    return (
        f"  {change.verdict}: {moved}, {before} -> {after},\n"
        f"    between {run} of {campaign} and {change.run} of {change.campaign}"
    )


def _csv(history: History) -> bytes:
    from shakedown.report.tables.csv_files import to_csv

    columns = ("campaign", "epoch", "subject", "figure", "unit", "began", "runs", "median", "low", "high", "new_level")
    begun = {(one.campaign, one.epoch, one.subject, one.figure): one.run for one in history.changes}
    rows = [
        (
            one.campaign,
            one.epoch,
            one.subject,
            one.figure,
            one.unit,
            one.began,
            one.count,
            one.median,
            *(one.interval or (None, None)),
            begun.get((one.campaign, one.epoch, one.subject, one.figure), ""),
        )
        for one in history.lines
    ]
    return to_csv(columns, rows)


# ---- as a reference ----------------------------------------------------------------------------------------------------


def _reference(looked: Looked, figure: str, as_json: bool) -> int:
    from shakedown.cli.reference import contract_yaml, warn
    from shakedown.metrics.references import Tolerance
    from shakedown.queries.histories import proposed_rows

    tolerance = Tolerance(3)
    proposed = proposed_rows(looked, figure, tolerance)
    for change in looked.history.changes:
        words = "the rows rest on runs of both levels; name the campaigns that they should rest on"
        say(f"warning: {change.figure} of {change.subject} has a new level since {change.campaign}: {words}")
    warn(proposed)
    about = f"proposed from {', '.join(one.label for one in looked.sources)}: the median, and {tolerance}"
    emit(proposed, as_json, lambda: contract_yaml(proposed.rows, "history", "history", about), exact=True)
    return 0
