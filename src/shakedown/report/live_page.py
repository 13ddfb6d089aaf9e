"""The report's page as one file that is rewritten while its campaign runs, for sites where no server may run.

``keep_written`` is the main function. The file is replaced in one step, so no reader sees half a page. It asks the browser to
reload it, names the event that it was made from, and is not changed any more when the campaign is over.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.rows.table import Record
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout
from shakedown.report.damaged import above_all, marked_page
from shakedown.report.evidence import evidence_of
from shakedown.report.page.site_templates import templates_of
from shakedown.report.reading import read_campaign
from shakedown.report.words import show_time
from shakedown.report.writing import replace_file, try_to_write

EVERY_S = 60
_EMPTY = b"<!doctype html><html lang=en><meta charset=utf-8><title>Shakedown</title><body></body></html>"
_AGAIN = f'<meta http-equiv="refresh" content="{EVERY_S}">'.encode()


def keep_written(campaign: Path, file: Path, site: Path | None, wait: Callable[[Layout], None]) -> Scorecard:
    """Purpose: write the page now, and again each time ``wait`` returns, until the campaign is over. Returns the last scorecard.

    ``site``: the site whose templates are used. Errors: those of ``make_report``; where a record cannot be read, the page says so
    before the error is raised.
    """
    try_to_write(file.parent, f"{file} cannot be written", "give another FILE after --live")
    while True:
        try:
            page, scorecard, record = _page(campaign, site)
        except RecordError as error:
            _write(file, marked_page(_EMPTY, str(error)))
            raise
        _write(file, above_all(page, _sentence(record)))
        if record.ended is not None:
            return scorecard
        wait(Layout(campaign))


def _page(campaign: Path, site: Path | None) -> tuple[bytes, Scorecard, Record]:
    from shakedown.report.figures.registry import draw_all
    from shakedown.report.page.page import render_page

    read = read_campaign(campaign)
    evidence = evidence_of(read)
    page = render_page(read, evidence, draw_all(read.layout.root, evidence), templates_of(campaign, site))
    if read.record.ended is None:
        page = page.replace(b"<head>", b"<head>" + _AGAIN, 1)
    return marked_page(page, read.damage), evidence.scorecard, read.record


def _sentence(record: Record) -> bytes:
    then = "It is written again while the campaign runs." if record.ended is None else "The campaign is over."
    said = f"As of event {record.seq}, {show_time(record.last)} UTC. {then}"
    return f'<p role="status">{html.escape(said)}</p>'.encode()


def _write(file: Path, page: bytes) -> None:
    try:
        replace_file(file, page)
    except OSError as error:
        why = f"{file} cannot be written: {error.strerror or error}"
        raise RecordError(why, hint="give another FILE after --live") from error
