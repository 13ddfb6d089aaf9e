"""Gather from the kept outputs what the report draws and quotes, within limits of bytes and runs.

``gather`` is the table of contents. Matrices and histograms are from the last completed run of a case; I/O rates are from all of
them (the last 50), because rates vary from run to run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from shakedown.conductor.workers.run_reader import run_directory
from shakedown.kernels.traces import Trace, read_trace, trace_files
from shakedown.metrics.cases import CaseSummary
from shakedown.metrics.rows.rows import RunRow
from shakedown.model.errors import RecordError
from shakedown.model.events import COMPLETED
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document
from shakedown.report.figures.records import Found, Histogram, IoRate, Matrix, NodeValues, find_pictures
from shakedown.report.outputs import read_output
from shakedown.report.words import one_line

OUTPUT_LIMIT = 32 * 2**20  # bytes read of one output
TOTAL_LIMIT = 512 * 2**20  # bytes read for one report
RATE_RUNS = 50


@dataclass(frozen=True, slots=True)
class CasePictures:
    """The data to draw from the outputs of one case. ``run`` is the run of everything except the rates."""

    case: str
    run: str
    matrices: tuple[Matrix, ...] = ()
    histograms: tuple[Histogram, ...] = ()
    rates: tuple[IoRate, ...] = ()
    rate_runs: int = 0
    nodes: tuple[NodeValues, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseTrace:
    """The trace of the last completed run of a case; of several programs, the one that ended first."""

    case: str
    run: str
    trace: Trace


@dataclass(slots=True)
class Gathered:
    """All pictures, and a sentence for each that could not be read. ``left``: how many bytes may still be read."""

    cases: list[CasePictures] = field(default_factory=list)
    traces: list[CaseTrace] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    left: int = TOTAL_LIMIT


def gather(root: Path, document: Document, cases: tuple[CaseSummary, ...]) -> Gathered:
    """Purpose: the pictures of every case whose test draws something, and the traces of traced cases. A case in several components
    is read once.
    """
    draws = {test.name: frozenset(test.draws) for test in document.tests if test.draws}
    rows: dict[str, list[RunRow]] = {}
    traced: dict[str, list[RunRow]] = {}
    for summary in cases:
        if "SHAKEDOWN_TRACE=" in summary.case.script:
            traced.setdefault(summary.case.id, []).extend(row for row in summary.rows if row.verdict in COMPLETED)
        if summary.case.test in draws:
            rows.setdefault(summary.case.id, []).extend(row for row in summary.rows if row.verdict in COMPLETED)
    tests = {case.id: case.test for case in document.cases}
    gathered = Gathered()
    for case, mine in rows.items():
        if mine:
            _case(gathered, root, case, sorted(mine, key=lambda row: row.seq), draws[tests[case]])
    for mine in traced.values():
        if mine:
            _trace(gathered, root, max(mine, key=lambda row: row.seq))
    return gathered


def _trace(gathered: Gathered, root: Path, row: RunRow) -> None:
    """Add the trace of a run, or a note that it cannot be read."""
    try:
        files = trace_files(run_directory(Layout(root), row.run, row.output))
        if files:
            trace = read_trace(files[0], OUTPUT_LIMIT)
            gathered.traces.append(CaseTrace(row.case, row.run, trace))
        else:
            gathered.troubles.append(f"{one_line(row.case)}, {row.run}: it left no trace")
    except RecordError as error:
        gathered.troubles.append(f"{one_line(row.case)}, {row.run}: {one_line(str(error))}")


def _case(gathered: Gathered, root: Path, case: str, rows: list[RunRow], wanted: frozenset[str]) -> None:
    last = _read(gathered, root, rows[-1], wanted)
    rates, runs = list(last.rates), 1
    if "io" in wanted:
        for row in rows[-RATE_RUNS:-1]:
            rates += _read(gathered, root, row, frozenset({"io"})).rates
            runs += 1
    if last.matrices or last.histograms or last.nodes or rates:
        pictures = (tuple(last.matrices), tuple(last.histograms), tuple(rates))
        gathered.cases.append(CasePictures(case, rows[-1].run, *pictures, runs, tuple(last.nodes)))
    elif not last.troubles:
        gathered.troubles.append(f"{one_line(case)}, {rows[-1].run}: nothing to draw is in its output")


def _read(gathered: Gathered, root: Path, row: RunRow, wanted: frozenset[str]) -> Found:
    """The pictures of one run. Notes what is wrong with its output, with the run's name."""
    if gathered.left <= 0:
        found = Found(troubles=["its output is not read: the report has read as much as it may"])
    else:
        output = read_output(root, row.output, min(OUTPUT_LIMIT, gathered.left))
        gathered.left -= len(output.data)
        found = find_pictures(output.data, wanted)
        if output.trouble:
            found.troubles.insert(0, output.trouble)
    gathered.troubles += [f"{one_line(row.case)}, {row.run}: {trouble}" for trouble in found.troubles]
    return found
