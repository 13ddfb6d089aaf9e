"""A trace: the jobs of a workload file that count, what was left out and why, the machine, and the trace's own schedule."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shakedown.model.errors import UsageError
from shakedown.twin.production.columns import Flags, Floats, Whole, Workload
from shakedown.twin.production.measure import most_at_once
from shakedown.twin.production.swf import Records, read_records

PARTS = (2.0, 3.0, 4.0)  # status of one of several executions of a job
CANCELLED = 5.0
COUNTED_AS = ("allocated", "requested")


@dataclass(frozen=True)
class Trace:
    """``wait_s``: as recorded, nan where it is not; ``machine_from``: where the number of processors comes from; ``left_out``: why
    and how many; ``notes``: what a reader of the numbers must know."""

    jobs: Workload
    wait_s: Floats
    processors: int
    machine_from: str
    left_out: tuple[tuple[str, int], ...]
    notes: tuple[str, ...]

    @property
    def start_s(self) -> Floats:
        """The trace's own starts; a job without a recorded wait is taken to start when it is submitted."""
        return self.jobs.submit_s + np.nan_to_num(self.wait_s, nan=0.0)


def read_trace(
    path: Path, processors: int | None = None, counted_as: str = "allocated", pass_over_bad: bool = False
) -> Trace:
    """Purpose: a trace from a file in the Standard Workload Format. ``processors``: the machine's, instead of what the header says.

    ``counted_as``: a job holds the processors it was given (field 5) or those it asked for (field 8); the other one where one is
    missing. Raises UsageError for a file that cannot be made sense of.
    """
    records = read_records(path, pass_over_bad)
    sizes = _sizes(records, counted_as)
    keep, left_out = _which_count(records, sizes)
    machine, machine_from = _machine(path, records, sizes, keep, processors)
    larger = keep & (sizes > machine)
    left_out += [("larger than the machine", int(larger.sum()))]
    left_out += [("no record of a job (bad lines)", len(records.bad))]
    order = np.flatnonzero(keep & ~larger)
    if not len(order):
        raise UsageError(f"{path}: no job of it can be replayed", "; ".join(f"{why}: {n}" for why, n in left_out if n))
    submit = records.columns["submit"][order]
    order = order[np.argsort(submit, kind="stable")]
    jobs, wait = _workload(records, sizes, order)
    notes = _notes(records, sizes, order, bool((np.diff(submit) < 0).any()))
    told = tuple((why, count) for why, count in left_out if count)
    return Trace(jobs, wait, machine, machine_from, told, notes)


def _sizes(records: Records, counted_as: str) -> Floats:
    given, asked = records.columns["allocated"], records.columns["processors"]
    first, second = (given, asked) if counted_as == "allocated" else (asked, given)
    sizes: Floats = np.where(first > 0, first, second)
    return np.ceil(sizes)


def _which_count(records: Records, sizes: Floats) -> tuple[Flags, list[tuple[str, int]]]:
    """Which records are jobs that held processors; each that is not, under the first reason that holds."""
    status, run, job = (records.columns[name] for name in ("status", "run", "job"))
    part = np.isin(status, PARTS)
    reasons: list[tuple[str, Flags]] = [
        ("parts of jobs that are there as a whole", part & np.isin(job, job[~part])),
        ("without a time of submission", records.columns["submit"] < 0),
        ("cancelled before they started", (status == CANCELLED) & (run <= 0)),
        ("without a run time", run < 0),
        ("without processors", sizes < 1),
    ]
    keep = np.ones(len(records), dtype=bool)
    counts = []
    for why, those in reasons:
        counts.append((why, int((keep & those).sum())))
        keep &= ~those
    return keep, counts


def _machine(path: Path, records: Records, sizes: Floats, keep: Flags, processors: int | None) -> tuple[int, str]:
    """The size of the machine in what the jobs are counted in.

    MaxProcs counts processors, MaxNodes nodes, of which each may hold several. The records should count processors, but there are
    traces that count nodes: then all that ever ran at once fits the nodes.
    """
    if processors is not None:
        return processors, "as asked for"
    most_processors, most_nodes = records.count_of("MaxProcs"), records.count_of("MaxNodes")
    if most_processors is None and most_nodes is None:
        raise UsageError(
            f"{path}: its header has neither MaxProcs nor MaxNodes with a number, so the size of the machine is not known",
            "say it with --nodes",
        )
    if most_processors is None or most_nodes is None or most_nodes >= most_processors:
        name = "MaxNodes" if most_processors is None else "MaxProcs"
        return most_processors or most_nodes or 0, f"{name} of the header"
    busiest = _busiest(records, sizes, keep)
    if busiest <= most_nodes:
        text = f"MaxNodes of the header: at most {busiest} were held at once, MaxProcs is {most_processors}"
        return most_nodes, text
    return most_processors, "MaxProcs of the header"


def _busiest(records: Records, sizes: Floats, keep: Flags) -> int:
    start = (records.columns["submit"] + np.maximum(records.columns["wait"], 0))[keep]
    return most_at_once(start, start + records.columns["run"][keep], sizes[keep].astype(np.int64))


def _workload(records: Records, sizes: Floats, order: Whole) -> tuple[Workload, Floats]:
    column = {name: values[order] for name, values in records.columns.items()}
    requested = np.where(column["time"] > 0, column["time"], column["run"])
    whole = {name: column[name].astype(np.int64) for name in ("job", "user", "queue")}
    jobs = Workload(column["submit"], sizes[order].astype(np.int64), requested, column["run"], **whole)
    return jobs, np.where(column["wait"] >= 0, column["wait"], np.nan)


def _notes(records: Records, sizes: Floats, order: Whole, unsorted: bool) -> tuple[str, ...]:
    column = {name: values[order] for name, values in records.columns.items()}
    given, asked = column["allocated"], column["processors"]
    no_wait = column["wait"] < 0
    started = "the trace is taken to start them when they are submitted"
    counted = [
        (no_wait, f"have no recorded wait: {'nothing says when they ran' if no_wait.all() else started}"),
        (column["time"] <= 0, "ask for no time: their run time stands for it"),
        ((column["time"] > 0) & (column["run"] > column["time"]), "ran longer than they asked for"),
        ((given > 0) & (asked > 0) & (given != asked), "were given other numbers of processors than they asked for"),
        (sizes[order] != np.where(given > 0, given, asked), "are counted by what they asked for, not were given"),
        (np.isin(column["status"], PARTS), "are parts of jobs of which the whole is not there: each counts as a job"),
    ]
    notes = [f"{int(those.sum())} of {len(order)} jobs {what}" for those, what in counted if those.any()]
    if unsorted:
        notes.append("records are not in the order of submission: they were sorted")
    if records.wide:
        notes.append(f"{records.wide} records have more than 18 fields: the first 18 are read")
    return tuple(notes)
