"""``shakedown report``: write the report of a campaign, print its scorecard. The exit status is the outcome's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import emit, fitted, json_option, say, site_option
from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.metrics.judging.scorecard import Scorecard
    from shakedown.model.layout import Layout
    from shakedown.report.writing import Written


@click.command()
@campaign_argument
@site_option
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    metavar="DIR",
    help="Write report.html, report.pdf and report/ there instead of into the campaign.",
)
@click.option(
    "--pdf/--no-pdf", default=None, help="Make report.pdf, or not. Without either it is made where that is possible."
)
@click.option(
    "--junit",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    metavar="FILE",
    help="Write criteria, contract rows and results there too, as JUnit XML.",
)
@click.option(
    "--live",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    metavar="FILE",
    help="Write the page alone into FILE, and again every minute in which something happened, until the campaign is over.",
)
@click.option("--parquet", is_flag=True, help="Write each table as a Parquet file too, beside its CSV file.")
@json_option
def command(
    campaign: str | None,
    site: str | None,
    output: Path | None,
    pdf: bool | None,
    junit: Path | None,
    live: Path | None,
    parquet: bool,
    as_json: bool,
) -> int:
    """Write the report: scorecard, figures, tables; as HTML and PDF.

    CAMPAIGN is the id of a campaign of the site, or the path of its directory; without it the newest is taken.
    A site's own templates/report.html and templates/report.css change how it looks.

    Exit status: 0 accepted, 1 rejected, 3 the record is not what was written, or kept outputs that a seal covers are gone or cut
    short ('verify' reads them whole), 4 undecided or not finished.
    """
    from shakedown.cli.record import find_campaign, note_damage
    from shakedown.metrics.judging.scorecard import exit_status
    from shakedown.report.writing import make_report

    home = Path(site) if site else None
    if live is not None:
        if output is not None or pdf is not None or junit is not None or parquet or as_json:
            raise UsageError("--live writes one page and nothing else", hint="leave the other options out")
        return exit_status(_keep_written(find_campaign(home, campaign), live, home))
    written = make_report(find_campaign(home, campaign), output, home, pdf, say, junit, parquet)
    if written.damage:
        note_damage(f"the record is not what was written: {written.damage}")
    if written.why_no_pdf:
        say(f"no report.pdf: {written.why_no_pdf}")
    if junit is not None:
        say(f"junit: {junit}")
    emit(_data(written), as_json, lambda: _render(written))
    return exit_status(written.scorecard)


def _keep_written(campaign: Path, file: Path, home: Path | None) -> Scorecard:
    """Write the page until the campaign is over; Ctrl-C ends it, too."""
    import time

    from shakedown.report.live_page import EVERY_S, keep_written
    from shakedown.report.terminal import render_scorecard

    def wait(layout: Layout) -> None:
        length = _length(layout)
        time.sleep(EVERY_S)
        while _length(layout) == length:
            time.sleep(1.0)

    say(f"writing {file} until the campaign is over ...")
    scorecard = keep_written(campaign, file, home, wait)
    click.echo(fitted(f"{render_scorecard(scorecard)}\n\nreport: {file}"))
    return scorecard


def _length(layout: Layout) -> int:
    """How long the log is: it grows with everything that happens."""
    return sum(path.stat().st_size for path in layout.log.glob("0*.jsonl"))


def _data(written: Written) -> dict[str, Any]:
    import msgspec

    data: dict[str, Any] = msgspec.to_builtins(written.scorecard)
    return data | {"report": str(written.page), "pdf": str(written.pdf) if written.pdf else None}


def _render(written: Written) -> str:
    from shakedown.report.terminal import render_scorecard

    pdf = f"\npdf:    {written.pdf}" if written.pdf else ""
    return f"{render_scorecard(written.scorecard)}\n\nreport: {written.page}{pdf}"
