"""``shakedown import``: the job history of a machine, from its scheduler's accounting or an archive, in numbers."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.output import printable, say, table
from shakedown.cli.twin.modelling import csv_option, figure_option, json_option, show_model
from shakedown.model.errors import UsageError
from shakedown.model.units import show_duration

if TYPE_CHECKING:
    from shakedown.exchange.history import JobHistory
    from shakedown.exchange.usage import Group, Usage, Waits
    from shakedown.report.figures.style import Drawing

_ROWS = 12  # of accounts and areas; JSON and CSV have all
_FIRST_WORD_S, _WORD_EVERY_S = 2.0, 5.0


@click.command("import")
@click.argument("kind", type=click.Choice(["sacct", "swf"]))
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--nodes", type=click.FloatRange(1, 1e8), default=None, help="Of the machine; processors of an swf file.")
@click.option("--from", "begin", default=None, metavar="DATE", help="Look at what was held from then on: 2026-01-31.")
@click.option("--to", "end", default=None, metavar="DATE", help="Until then, this day not included.")
@click.option("--zone", default="", metavar="NAME", help="Time zone of sacct's times, such as Europe/Berlin.")
@click.option(
    "--areas",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=None,
    metavar="FILE",
    help="Lines ACCOUNT,AREA: work by area of science too.",
)
@csv_option
@figure_option
@json_option
def command(
    kind: str,
    file: Path,
    nodes: float | None,
    begin: str | None,
    end: str | None,
    zone: str,
    areas: Path | None,
    csv_file: Path | None,
    figure: Path | None,
    as_json: bool,
) -> None:
    """The history of a machine in numbers: utilisation, jobs by size, account and state, waits, failures of nodes.

    FILE is what sacct --parsable2 printed, with any columns, or a workload in the Standard Workload Format; .gz too, '-' is
    standard input. Without --nodes the machine is as large as the most that was held at once.
    """
    from shakedown.exchange.usage import usage

    there = _zone(zone, kind)
    history = _read(kind, file, zone)
    found = usage(history, nodes, _moment(begin, "--from", there), _moment(end, "--to", there), _areas(areas))

    def draw() -> Drawing:
        from shakedown.report.figures.models.history import draw_history

        return draw_history(found)

    show_model(found, as_json, lambda: printable(_render(found, there)), figure, draw)
    if csv_file is not None:
        csv_file.write_bytes(_csv(found))
        say(f"table: {csv_file}")


def _read(kind: str, file: Path, zone: str) -> JobHistory:
    if kind == "swf":
        from shakedown.exchange.swf import read_swf

        if str(file) == "-":
            raise UsageError("a workload is not read from standard input", "name its file")
        return read_swf(file)
    from shakedown.exchange.sacct import read_sacct

    began = said = time.monotonic()

    def tell(records: int) -> None:
        nonlocal said
        now = time.monotonic()
        if (now - began > _FIRST_WORD_S and now - said > _WORD_EVERY_S) or (
            said == began and now - began > _FIRST_WORD_S
        ):
            said = now
            say(f"{records:,} records read ...")

    return read_sacct(None if str(file) == "-" else file, zone, tell)


def _zone(name: str, kind: str) -> tzinfo:
    if not name:
        return UTC
    if kind == "swf":
        raise UsageError("--zone means something only with sacct", "times of a workload are seconds")
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise UsageError(
            f"there is no time zone '{name}'", "name one such as Europe/Berlin or America/Denver"
        ) from error


def _moment(text: str | None, option: str, zone: tzinfo) -> float | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{option} '{text}' is no date", "write 2026-01-31 or 2026-01-31T12:00") from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp()


def _areas(file: Path | None) -> dict[str, str] | None:
    """Account -> area; a line that is none is told with its place."""
    if file is None:
        return None
    found: dict[str, str] = {}
    text = file.read_text(encoding="utf-8-sig", errors="replace")
    for number, row in enumerate(csv.reader(io.StringIO(text)), 1):
        if not row or row[0].lstrip().startswith("#"):
            continue
        if len(row) != 2 or not row[0].strip():
            raise UsageError(f"{file}, line {number}: {len(row)} fields", "each line is ACCOUNT,AREA")
        found[row[0].strip()] = row[1].strip()
    return found


# ---- in words --------------------------------------------------------------------------------------------------------


def _render(found: Usage, zone: tzinfo) -> str:
    from shakedown.metrics.words import so_many

    unit = found.unit
    lines = [
        f"{so_many(found.records, 'record', 'records')} of {found.source}",
        f"from {_time(found.begin_s, zone)} to {_time(found.end_s, zone)} ({show_duration(found.end_s - found.begin_s)})",
        f"machine: {found.capacity:,.0f} {unit}, {found.counted}",
        f"utilisation: {found.utilisation:.1%} of its {unit[:-1]}-hours ({_hours(found.work)})",
        f"waits: {_waits(found.waits)}",
    ]
    if found.never_started:
        lines.append(f"never started: {found.never_started:,}")
    if found.between_failures_s is not None:
        lines.append(f"between failures of nodes under jobs: {show_duration(found.between_failures_s)} on average")
    parts = ["\n".join(lines), _groups(found.sizes, unit.upper(), unit)]
    parts.append(_groups(found.states, "STATE", unit))
    if found.areas:
        parts.append(_groups(found.areas, "AREA", unit))
    if any(one.name for one in found.accounts):
        parts.append(_groups(found.accounts, "ACCOUNT", unit))
    if any(one.name for one in found.users):
        parts.append(_groups(found.users, "USER", unit))
    if found.told:
        parts.append("\n".join(f"note: {text}" for text in found.told))
    return "\n\n".join(parts)


def _hours(work: float) -> str:
    """Whole hours; of fewer than a hundred three digits, so that little is not nothing."""
    from shakedown.metrics.words import show_number

    return show_number(work, 3) if work < 100 else f"{work:,.0f}"


def _groups(groups: Sequence[Group], heading: str, unit: str) -> str:
    from shakedown.exchange.usage import widest

    rows = [
        (
            (one.name or "(none)")[:28],
            f"{one.jobs:,}",
            _hours(one.work),
            f"{one.share:.1%}",
            _short(one.waits.median_s),
            _short(one.waits.ninetieth_s),
        )
        for one in (groups if heading in ("NODES", "PROCESSORS") else widest(groups, _ROWS))
    ]
    return table((heading, "JOBS", f"{unit[:-1].upper()}-HOURS", "SHARE", "WAIT, MEDIAN", "90 %"), rows, range(1, 6))


def _short(seconds: float | None) -> str:
    return "-" if seconds is None else show_duration(seconds)


def _waits(waits: Waits) -> str:
    if waits.median_s is None or waits.ninetieth_s is None or waits.longest_s is None:
        return "none is known"
    median, ninetieth, longest = map(show_duration, (waits.median_s, waits.ninetieth_s, waits.longest_s))
    return f"median {median}, 90 % below {ninetieth}, longest {longest} ({waits.jobs:,} known)"


def _time(seconds: float, zone: tzinfo) -> str:
    try:
        return datetime.fromtimestamp(seconds, zone).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return f"second {seconds:.0f}"


def _csv(found: Usage) -> bytes:
    from shakedown.report.tables.csv_files import to_csv

    headings = (
        "by",
        "name",
        "jobs",
        f"{found.unit[:-1]}_hours",
        "share",
        "waits",
        "median_s",
        "ninetieth_s",
        "longest_s",
    )
    kinds = (
        ("size", found.sizes),
        ("state", found.states),
        ("area", found.areas),
        ("account", found.accounts),
        ("user", found.users),
    )
    rows = [
        (kind, one.name, one.jobs, one.work, one.share, one.waits.jobs, one.waits.median_s, one.waits.ninetieth_s,
         one.waits.longest_s)
        for kind, groups in kinds
        for one in groups
    ]  # fmt: skip
    return to_csv(headings, rows)
