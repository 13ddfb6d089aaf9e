"""One record a job, as a table (.csv) or in the Standard Workload Format (.swf) with the waits of the schedule filled in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from shakedown.model.errors import UsageError
from shakedown.twin.production.columns import Schedule, Workload
from shakedown.twin.production.year import Year

SUFFIXES = (".csv", ".swf")
_CHUNK = 50_000
_HEADINGS = "job,submit_s,start_s,wait_s,held_s,processors,requested_s,user,queue,backfilled,killed"


def check_name(path: Path) -> None:
    """Raises UsageError where the name has no suffix that we write."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"--records {path}: no records are written as '{path.suffix}'", "end it in .csv or .swf")


def write_records(path: Path, jobs: Workload, made: Schedule, year: Year) -> None:
    """Purpose: all jobs in the order of submission; a few thousand lines are in memory at a time. Raises OSError."""
    lines = _swf_lines if path.suffix.lower() == ".swf" else _csv_lines
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for chunk in lines(jobs, made, year):
            file.write(chunk)


def _csv_lines(jobs: Workload, made: Schedule, year: Year) -> Iterator[str]:
    yield _HEADINGS + "\n"
    columns = (jobs.job, jobs.submit_s, made.start_s, made.start_s - jobs.submit_s, made.held_s, jobs.processors)
    more = (jobs.requested_s, jobs.user, jobs.queue, made.backfilled, made.killed)
    for begin in range(0, len(jobs), _CHUNK):
        rows = zip(*(column[begin : begin + _CHUNK].tolist() for column in (*columns, *more)), strict=True)
        yield "".join(
            f"{job},{submit:.12g},{start:.12g},{wait:.12g},{held:.12g},{size},{asked:.12g},{user},{queue},{back:d},{dead:d}\n"
            for job, submit, start, wait, held, size, asked, user, queue, back, dead in rows
        )


def _swf_lines(jobs: Workload, made: Schedule, year: Year) -> Iterator[str]:
    """Status 1: completed, 0: ended at its limit. What is not known is -1."""
    yield (
        "; Version: 2.2\n; Computer: simulated by shakedown twin production: the waits are a model's\n"
        f"; MaxJobs: {len(jobs)}\n; MaxRecords: {len(jobs)}\n; MaxNodes: {year.processors}\n; MaxProcs: {year.processors}\n"
        f"; Note: EASY backfill, depth {year.rules.depth}, order {year.rules.order}, cycle {year.rules.cycle_s:g} s\n"
    )
    columns = (jobs.job, jobs.submit_s, made.start_s - jobs.submit_s, made.held_s, jobs.processors, jobs.requested_s)
    more = (~made.killed, jobs.user, jobs.queue)
    for begin in range(0, len(jobs), _CHUNK):
        rows = zip(*(column[begin : begin + _CHUNK].tolist() for column in (*columns, *more)), strict=True)
        yield "".join(
            f"{job} {submit:.12g} {wait:.12g} {held:.12g} {size} -1 -1 {size} {asked:.12g} -1 {good:d} {user} -1 -1 {queue} "
            "-1 -1 -1\n"
            for job, submit, wait, held, size, asked, good, user, queue in rows
        )
