"""The traces of a run, read from the directory where the run worked."""

from __future__ import annotations

from pathlib import Path

from shakedown.kernels.traces import Trace, read_trace, trace_files
from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout
from shakedown.queries.run_view import work_of_run


def traces_of(layout: Layout, run: str) -> list[Trace]:
    """Purpose: the traces of a run, one for each MPI program that it started. UsageError where there are none, or no such run."""
    work, is_traced = work_of_run(layout, run)
    files = trace_files(work)
    if not files:
        if not is_traced:
            raise UsageError(f"{run} was not traced", "write run: {trace: yes} into its test, and run it again")
        if not work.is_dir():
            raise UsageError(f"the directory of {run} is not there any more: {work}", "run its test again")
        way = "the tracer writes it when all ranks call MPI_Finalize; 'shakedown why' and the output say how the run ended"
        raise UsageError(f"{run} left no trace", way)
    return [read_trace(path) for path in files]


def trace_at(path: Path) -> list[Trace]:
    """Purpose: the trace in a file, or those in a directory. UsageError where there are none."""
    files = trace_files(path) if path.is_dir() else [path]
    if not files:
        raise UsageError(f"there is no trace in {path}", "the tracer's files are called shakedown-trace.jsonl")
    return [read_trace(file) for file in files]
