"""A job history from the Standard Workload Format, in which the twin's traces are written too.

Logs of the archive differ in what they know: some have no waits (their times of submission are starts), some have a record for each
part of a job that was checkpointed beside one for the whole job. What is done about it is told.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from shakedown.exchange.history import Flags, Floats, JobHistory, coded
from shakedown.model.errors import UsageError
from shakedown.twin.production.swf import Records, read_records

_STATES = {0: "FAILED", 1: "COMPLETED", 2: "PARTIAL", 3: "PARTIAL", 4: "PARTIAL", 5: "CANCELLED"}
_PARTS, _CANCELLED = (2.0, 3.0, 4.0), 5.0


def read_swf(path: Path) -> JobHistory:
    """Purpose: all records of a file; -1 is what the file does not know.

    A job that ran and has no wait is taken to start when it was submitted. Parts of a job that is there as a whole are left out.
    Errors: UsageError for a file without any record, or of which none has a time of submission; OSError.
    """
    records = read_records(path, pass_over_bad=True)
    told = [f"{len(records.bad):,} lines are no records, the first: {records.bad[0]}"] if records.bad else []
    keep = _which_count(records, told)
    if not keep.any():
        raise UsageError(f"{path}: no record has a time of submission", "field 2 of each line is that time")
    columns = {name: values[keep] for name, values in records.columns.items()}
    wait, run = (_known(columns[name]) for name in ("wait", "run"))
    submit = columns["submit"] + (records.count_of("UnixStartTime") or 0)
    started = _started(wait, run, columns["status"])
    _tell_times(wait, run, started, told)
    return JobHistory(
        source=str(path),
        unit="processors",
        submit_s=submit,
        start_s=np.where(started, submit + np.nan_to_num(wait), np.nan),
        run_s=np.where(started, np.nan_to_num(run), 0.0),
        units=_units(columns, told),
        state=coded(_STATES.get(int(code), "UNKNOWN") for code in columns["status"]),
        account=coded("" if user < 0 else f"user {user:.0f}" for user in columns["user"]),
        waited=started & ~np.isnan(wait),
        capacity=float(records.count_of("MaxProcs") or records.count_of("MaxNodes") or 0),
        told=tuple(told),
    )


def _known(column: Floats) -> Floats:
    return np.where(column < 0, np.nan, column)


def _which_count(records: Records, told: list[str]) -> Flags:
    """Records that are jobs and have a time; what is left out is told."""
    status, job = records.columns["status"], records.columns["job"]
    part = np.isin(status, _PARTS)
    doubled = part & np.isin(job, job[~part])
    timeless = ~doubled & (records.columns["submit"] < 0)
    if doubled.any():
        told.append(f"{doubled.sum():,} records are parts of jobs that are there as a whole; they are left out")
    if timeless.any():
        told.append(f"{timeless.sum():,} records have no time of submission, and count nowhere")
    keep: Flags = ~doubled & ~timeless
    return keep


def _started(wait: Floats, run: Floats, status: Floats) -> Flags:
    """Jobs that ran: by their run time, or by a wait where the run time is not known or 0, unless they were cancelled."""
    ran = np.nan_to_num(run) > 0
    found: Flags = ran | (~np.isnan(wait) & (status != _CANCELLED))
    return found


def _tell_times(wait: Floats, run: Floats, started: Flags, told: list[str]) -> None:
    no_wait, no_run = started & np.isnan(wait), started & np.isnan(run)
    if no_wait.any():
        told.append(f"{no_wait.sum():,} records have no wait: they are taken to start when they were submitted")
    if no_run.any():
        told.append(f"{no_run.sum():,} records started and have no run time; they hold nothing")


def _units(columns: dict[str, Floats], told: list[str]) -> Floats:
    given = _known(columns["allocated"])
    asked = np.isnan(given) | (given == 0)
    if asked.any():
        told.append(f"{asked.sum():,} records have no processors that they were given; those they asked for count")
    units: Floats = np.nan_to_num(np.where(asked, _known(columns["processors"]), given))
    return units
