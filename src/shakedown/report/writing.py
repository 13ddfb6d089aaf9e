"""Write the report of a campaign: one self-contained page, every figure as SVG and PDF, every table as CSV.

``make_report`` is the table of contents. What is written depends on the record and the kept outputs alone: no clock, no place,
no user, no random number gets in, so both sides of an acceptance can make the very same bytes.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from shakedown.metrics.cases import summarise
from shakedown.metrics.criteria import score
from shakedown.metrics.scorecard import Scorecard
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout
from shakedown.report.reading import CampaignRead, read_campaign

SUMS = "report/SHA256SUMS"


@dataclass(frozen=True, slots=True)
class Written:
    """A report on disk."""

    page: Path
    scorecard: Scorecard


def make_report(campaign: Path, output: Path | None = None) -> Written:
    """Purpose: write a campaign's report into its directory, or into ``output``.

    Errors: UsageError where it is no campaign; RecordError where the record is damaged or the report cannot be written.
    """
    read = read_campaign(campaign)
    scorecard = score(read.document, read.record)
    target = campaign if output is None else output
    _write(target, compose(read, scorecard))
    return Written(Layout(target).report, scorecard)


def compose(campaign: CampaignRead, scorecard: Scorecard) -> dict[str, bytes]:
    """Purpose: every file of the report by its path inside the campaign directory."""
    from shakedown.report.draw_machine import draw_machine
    from shakedown.report.draw_pairs import node_medians
    from shakedown.report.draw_times import draw_times
    from shakedown.report.drawing import style
    from shakedown.report.gathering import gather
    from shakedown.report.page import render_page
    from shakedown.report.tables import make_tables

    cases = summarise(campaign.document, campaign.record)
    gathered = gather(campaign.layout.root, campaign.document, cases)
    with style():
        times, said_of_times = draw_times(cases, campaign.record.started or 0.0)
        machine, said_of_machine = draw_machine(gathered.cases)
    nodes = node_medians(gathered.cases)
    tables = make_tables(campaign.document, campaign.record, scorecard, cases, nodes)
    troubles = [*gathered.troubles, *said_of_times, *said_of_machine]
    page = render_page(campaign, scorecard, cases, times, machine, nodes, tuple(tables), troubles)
    files = {"report.html": page}
    for drawing in (*times, *machine):
        files[f"report/figures/{drawing.file}.svg"] = drawing.svg
        files[f"report/figures/{drawing.file}.pdf"] = drawing.pdf
    files |= {f"report/tables/{name}": data for name, data in tables.items()}
    return files | {SUMS: _sums(files)}


def _sums(files: dict[str, bytes]) -> bytes:
    """What ``sha256sum --check report/SHA256SUMS`` reads, in the directory of report.html."""
    return "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)).encode()


# ---- on disk ---------------------------------------------------------------------------------------------------------


def _write(target: Path, files: dict[str, bytes]) -> None:
    """Each file whole or not at all; then what an earlier report left and this one does not have is taken away."""
    try:
        stale = _written_before(target) - set(files)
        for name, data in sorted(files.items(), key=lambda item: item[0] == "report.html"):  # the page comes last
            _replace(target / name, data)
        for name in stale:
            (target / name).unlink(missing_ok=True)
    except OSError as error:
        raise RecordError(
            f"the report cannot be written to {target}: {error.strerror or error}",
            hint="give another place with --output DIR",
        ) from error


def _replace(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(data)
    os.replace(beside, path)  # noqa: PTH105 - the same, and it says what it does


def _written_before(target: Path) -> set[str]:
    """The files of an earlier report, as its own list names them: figures and tables only, nothing of anyone else."""
    try:
        lines = (target / SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return set()
    names = {line.partition("  ")[2] for line in lines}
    places = ("report/figures/", "report/tables/")
    return {name for name in names if name.startswith(places) and name.count("/") == 2 and ".." not in name}
