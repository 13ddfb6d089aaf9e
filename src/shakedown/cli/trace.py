"""``shakedown trace``: what the ranks of a traced run did in MPI and in files, as tables, JSON or a figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import emit, json_option, printable, site_option, table
from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.kernels.traces import Row, Trace

MOST_ROWS = 10  # of ranks and of pairs


@click.command()
@click.argument("subject", metavar="RUN|PATH")
@campaign_argument
@click.option(
    "--figure",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw who sends to whom, and the time in MPI along the run, into this .svg, .pdf or .png.",
)
@site_option
@json_option
def command(subject: str, campaign: str | None, figure: Path | None, site: str | None, as_json: bool) -> int:
    """Show what the ranks of a run did in MPI and in files, whose test has run: {trace: yes}.

    RUN is a run of CAMPAIGN, or of the newest; PATH, with a '/' or '.' in it, is a trace or a directory with traces.
    """
    from shakedown.queries.traces import trace_at, traces_of

    if "/" in subject or "." in subject:
        traces = trace_at(Path(subject))
    else:
        from shakedown.cli.record import find_campaign
        from shakedown.model.layout import Layout

        traces = traces_of(Layout(find_campaign(Path(site) if site else None, campaign)), subject)
    if figure is not None:
        _draw(traces[0], subject, figure)
    emit(traces, as_json, lambda: printable("\n\n".join(map(_render, traces))))
    return 0


def _draw(trace: Trace, subject: str, file: Path) -> None:
    """The first program's, where the run started several."""
    from shakedown.report.figures.style import FORMATS
    from shakedown.report.figures.trace import draw_trace

    form = file.suffix.removeprefix(".").lower()
    if form not in FORMATS:
        raise UsageError(f"{file} cannot be drawn: its name says no format", f"end it in one of .{', .'.join(FORMATS)}")
    name = Path(subject).name
    try:
        file.write_bytes(draw_trace(trace, 1, name, name).in_format(form))
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}") from error


def _render(trace: Trace) -> str:
    ranks, time = len(trace.ranks), trace.wall_s * len(trace.ranks)
    share = f", {100 * trace.mpi_s / time:.0f} % of the time in MPI" if time > 0 else ""
    head = f"{trace.program}: {ranks} ranks, {trace.wall_s:.3g} s{share}; {trace.mpi}"
    waits = (
        "with waits measured"
        if trace.waits_measured
        else "waits are estimated: time over that of the rank with the least"
    )
    blocks = [head, _rows("MPI", trace.calls, time), waits]
    if trace.files:
        blocks.append(_rows("files", trace.files, time))
    blocks.append(_ranks(trace))
    if trace.pairs:
        blocks.append(_pairs(trace))
    return "\n\n".join(blocks)


def _rows(name: str, rows: list[Row], time: float) -> str:
    headings: tuple[str, ...] = (name, "calls", "MB", "seconds", "% of time", "least", "most", "of rank", "wait")
    lines: list[tuple[str, ...]] = [
        (
            row.name,
            str(row.calls),
            f"{1e-6 * row.bytes:.3f}",
            f"{row.seconds:.3f}",
            f"{100 * row.seconds / time:.1f}" if time > 0 else "",
            f"{row.least_s:.3f}",
            f"{row.most_s:.3f}",
            str(row.most_rank),
            "" if row.wait_s is None else f"{row.wait_s:.3f}",
        )
        for row in rows
    ]
    if all(row.wait_s is None for row in rows):
        headings, lines = headings[:-1], [line[:-1] for line in lines]
    return table(headings, lines, tuple(range(1, len(headings))))


def _ranks(trace: Trace) -> str:
    """Those with the most time in MPI."""
    order = sorted(zip(trace.ranks, trace.waits, strict=True), key=lambda pair: (-pair[0].mpi_s, pair[0].rank))
    headings = ("rank", "host", "MPI s", "wait s", "files s", "MB at most", "MB grown")
    lines = [
        (
            str(rank.rank),
            rank.host,
            f"{rank.mpi_s:.3f}",
            f"{wait:.3f}",
            f"{rank.files_s:.3f}",
            f"{rank.memory_mb.peak:.1f}",
            f"{rank.memory_mb.peak - rank.memory_mb.after_init:.1f}",
        )
        for rank, wait in order[:MOST_ROWS]
    ]
    return _with_rest(table(headings, lines, (0, 2, 3, 4, 5, 6)), len(order), "ranks")


def _pairs(trace: Trace) -> str:
    """Those with the most bytes."""
    lines = [
        (str(pair.sender), str(pair.to) if pair.to >= 0 else "outside", str(pair.messages), f"{1e-6 * pair.bytes:.3f}")
        for pair in trace.pairs[:MOST_ROWS]
    ]
    text = table(("from", "to", "messages", "MB"), lines, (0, 1, 2, 3))
    return _with_rest(text, len(trace.pairs) + trace.unlisted, "pairs")


def _with_rest(text: str, count: int, what: str) -> str:
    return f"{text}\n{MOST_ROWS} of {count} {what}; --json has more" if count > MOST_ROWS else text
