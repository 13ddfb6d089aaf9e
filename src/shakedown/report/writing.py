"""Write the report of a campaign: one self-contained page, the same as PDF, every figure and table as files.

``make_report`` is the table of contents. The content depends only on the record and the kept outputs: no clock, path, user or
random number is used, so both sides of an acceptance can produce the same bytes.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.words import plural
from shakedown.model.errors import RecordError, UsageError
from shakedown.model.layout import Layout
from shakedown.report.damaged import marked_page, marked_table
from shakedown.report.evidence import Evidence, evidence_of
from shakedown.report.figures.style import FORMATS
from shakedown.report.junit import to_junit
from shakedown.report.page.site_templates import templates_of
from shakedown.report.reading import CampaignRead, read_campaign
from shakedown.report.tables.csv_files import Table
from shakedown.report.tables.parquet_files import library, to_parquet
from shakedown.report.words import one_line

PDF = "report.pdf"
SUMS = "report/SHA256SUMS"


@dataclass(frozen=True, slots=True)
class Written:
    """A report on disk. ``pdf`` is None where none was made, and ``why_no_pdf`` says why. ``damage``: as in ``CampaignRead``."""

    page: Path
    scorecard: Scorecard
    pdf: Path | None = None
    why_no_pdf: str = ""
    damage: str = ""


def make_report(
    campaign: Path,
    output: Path | None = None,
    site: Path | None = None,
    pdf: bool | None = False,
    tell: Callable[[str], None] = lambda text: None,
    junit: Path | None = None,
    parquet: bool = False,
) -> Written:
    """Purpose: write a campaign's report into its directory, or into ``output``. Returns what was written.

    ``site``: the site whose templates are used, instead of the campaign's own site. ``pdf``: None = where it can be made. ``tell``
    is called with a line on each step. ``junit``: a file for the same as JUnit XML. ``parquet``: write each table as a Parquet file
    too.

    Errors: UsageError where it is not a campaign, a given path cannot be written, or a PDF or Parquet files cannot be made;
    FileProblems in templates; RecordError where the record is damaged or the report cannot be written.
    """
    from shakedown.report.page.pdf import trouble

    if parquet:
        library()  # before anything is read: whoever asked for it is told at once
    why = trouble() if pdf is None else ""
    read = read_campaign(campaign)
    _look(output, junit)
    evidence = evidence_of(read)
    wanted = not why if pdf is None else pdf
    target = campaign if output is None else output
    _write(target, compose(read, evidence, templates_of(campaign, site), wanted, tell, parquet))
    if junit is not None:
        _write_beside(junit, to_junit(evidence.document, evidence.record, evidence.scorecard, read.damage))
    return Written(Layout(target).report, evidence.scorecard, target / PDF if wanted else None, why, read.damage)


def compose(
    campaign: CampaignRead,
    evidence: Evidence,
    templates: Path | None,
    pdf: bool,
    tell: Callable[[str], None] = lambda text: None,
    parquet: bool = False,
) -> dict[str, bytes]:
    """Purpose: every file of the report by its path inside the campaign directory."""
    from shakedown.report.figures.registry import draw_all
    from shakedown.report.page.page import render_page
    from shakedown.report.page.pdf import to_pdf
    from shakedown.report.tables.tables import make_tables

    pictures = draw_all(campaign.layout.root, evidence)
    tell(f"drawing {plural(len(pictures.all), 'figure')} ...")
    page = marked_page(render_page(campaign, evidence, pictures, templates), campaign.damage)
    files = {"report.html": page}
    for drawing in pictures.all if not campaign.damage else ():  # a figure alone could not say so
        files |= {f"report/figures/{drawing.file}.{name}": drawing.in_format(name) for name in FORMATS}
    tables = make_tables(evidence, pictures.nodes)
    files |= {f"report/tables/{name}": marked_table(data, campaign.damage) for name, data in tables.items()}
    if parquet and not campaign.damage:  # a file of columns has no line before it that could say so
        found = {name.removesuffix(".csv"): table for name, table in tables.items() if isinstance(table, Table)}
        files |= {f"report/tables/{name}.parquet": to_parquet(table, name) for name, table in found.items()}
    if pdf:
        tell("setting the PDF ...")
        files[PDF] = to_pdf(page)
    return files | {SUMS: _sums(files)}


def _sums(files: dict[str, bytes]) -> bytes:
    """The input of ``sha256sum --check report/SHA256SUMS``, run in the directory of report.html."""
    return "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)).encode()


def page_again(campaign: Path, through: int, there: str, templates: Path | None) -> bytes:
    """Purpose: report.html as it was made when the record had ``through`` events. ``there``: the text of an existing page.
    Signatures are not part of the log and later ones may exist, so only those on the existing page are used.
    """
    from shakedown.report.figures.registry import draw_all
    from shakedown.report.page.page import render_page, signatures_on_page

    read = read_campaign(campaign, through)
    evidence = evidence_of(read)
    pictures = draw_all(read.layout.root, evidence)
    flat = " ".join(there.split())
    signatures = [pair for pair in signatures_on_page(read) if one_line(pair[0], 300) in flat]
    return render_page(read, evidence, pictures, templates, signatures)


# ---- on disk ---------------------------------------------------------------------------------------------------------


def _look(output: Path | None, junit: Path | None) -> None:
    """Check, before anything is drawn, that the given paths can be written. Errors: UsageError."""
    if output is not None:
        try_to_write(output, f"the report cannot be written to {output}", "give another place with --output DIR")
    if junit is not None:
        try_to_write(junit.parent, f"{junit} cannot be written", "give another FILE after --junit")


def try_to_write(directory: Path, message: str, hint: str) -> None:
    """Purpose: create a directory where it is missing, and check that it accepts a file. Errors: UsageError with the message."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=directory):
            pass
    except FileExistsError as error:
        raise UsageError(f"{message}: {os.strerror(errno.ENOTDIR)}", hint=hint) from error
    except OSError as error:
        if error.errno not in (
            errno.ENOSPC,
            errno.EDQUOT,
        ):  # a full disk is no wrong use: it is told where it keeps a file away
            raise UsageError(f"{message}: {error.strerror or error}", hint=hint) from error


def _write(target: Path, files: dict[str, bytes]) -> None:
    """Write each file completely or not at all; then delete files of an earlier report that this one does not have.

    The sums come last: a process that is killed before leaves sums that do not match, and the next report still knows what to
    delete.
    """
    try:
        stale = _written_before(target) - set(files)
        for name, data in sorted(files.items(), key=lambda item: _TURNS.get(item[0], 0)):
            if name == SUMS:
                for old in stale:
                    (target / old).unlink(missing_ok=True)
            replace_file(target / name, data)
    except OSError as error:
        raise RecordError(
            f"the report cannot be written to {target}: {error.strerror or error}",
            hint="give another place with --output DIR",
        ) from error


def _write_beside(path: Path, data: bytes) -> None:
    """Write a file that a person named, completely or not at all; it is not part of the report."""
    try:
        replace_file(path, data)
    except OSError as error:
        raise RecordError(
            f"{path} cannot be written: {error.strerror or error}", hint="give another FILE after --junit"
        ) from error


_TURNS = {"report.html": 1, SUMS: 2}


def replace_file(path: Path, data: bytes) -> None:
    """Purpose: write a file, completely or not at all. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(data)
    os.replace(beside, path)  # noqa: PTH105 - the same, and it says what it does


def _written_before(target: Path) -> set[str]:
    """The files of an earlier report according to its own list: figures, tables and the PDF; never files of anybody else."""
    try:
        lines = (target / SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return set()
    names = {line.partition("  ")[2] for line in lines}
    places = ("report/figures/", "report/tables/")
    return {
        name for name in names if name == PDF or (name.startswith(places) and name.count("/") == 2 and ".." not in name)
    }
