"""A job history from the Standard Workload Format, in which the twin's traces are written too.

Logs of the archive differ in what they know: some have no waits (their times of submission are starts), some have a record for each
part of a job that was checkpointed beside one for the whole job. What is done about it is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from shakedown.exchange.history import Flags, Floats, JobHistory, coded
from shakedown.metrics.words import so_many
from shakedown.model.errors import UsageError
from shakedown.twin.production.swf import read_records

_STATES = {0: "FAILED", 1: "COMPLETED", 2: "PARTIAL", 3: "PARTIAL", 4: "PARTIAL", 5: "CANCELLED"}
_PARTS, _CANCELLED = (2.0, 3.0, 4.0), 5.0


def read_swf(path: Path) -> JobHistory:
    """Purpose: all records of a file; -1 is what the file does not know.

    A job that ran and has no wait is taken to start when it was submitted. Parts of a job that is there as a whole are left out.
    Errors: UsageError for a file without any record, or of which none has a time of submission; OSError.
    """
    records = read_records(path, pass_over_bad=True)
    told = []
    if records.bad:
        what = so_many(len(records.bad), "line is no record", "lines are no records, the first")
        told.append(f"{what}: {records.bad[0]}")
    whole = _without_doubles(records.columns, told)
    again = _follow_on(whole, told)
    keep = _with_times(whole, told)
    if not keep.any():
        raise UsageError(f"{path}: no record has a time of submission", "field 2 of each line is that time")
    columns, again = {name: values[keep] for name, values in whole.items()}, again[keep]
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
        waited=started & ~np.isnan(wait) & ~again,
        capacity=float(records.count_of("MaxProcs") or records.count_of("MaxNodes") or 0),
        told=tuple(told),
    )


def _known(column: Floats) -> Floats:
    return np.where(column < 0, np.nan, column)


def _without_doubles(columns: Mapping[str, Floats], told: list[str]) -> dict[str, Floats]:
    """The records without the parts of jobs that are there as a whole, which is told."""
    status, job = columns["status"], columns["job"]
    part = np.isin(status, _PARTS)
    doubled = part & np.isin(job, job[~part])
    if doubled.any():
        told.append(
            so_many(
                int(doubled.sum()),
                "record is a part of a job that is there as a whole; it is left out",
                "records are parts of jobs that are there as a whole; they are left out",
            )
        )
    return {name: values[~doubled] for name, values in columns.items()}


def _follow_on(columns: dict[str, Floats], told: list[str]) -> Flags:
    """Which records are parts of a job after its first one: the job has waited once.

    Such a part may have no time of submission. Then its wait is since the part before it, and it was submitted when that ended.
    """
    again = np.zeros(len(columns["job"]), dtype=bool)
    ended: dict[float, float] = {}
    submit, wait, run = columns["submit"].copy(), columns["wait"], columns["run"]
    for at in np.flatnonzero(np.isin(columns["status"], _PARTS)):
        job = float(columns["job"][at])
        again[at] = job in ended
        if submit[at] < 0:
            submit[at] = ended.get(job, submit[at])
        if submit[at] >= 0:
            ended[job] = submit[at] + max(wait[at], 0.0) + max(run[at], 0.0)
    columns["submit"] = submit
    if again.any():
        told.append(
            so_many(int(again.sum()), "record is a later part", "records are later parts")
            + " of a job: each counts as a job in the tables, and the wait of the first part alone counts"
        )
    return again


def _with_times(columns: Mapping[str, Floats], told: list[str]) -> Flags:
    """Records that have a time; what is left out is told."""
    keep: Flags = columns["submit"] >= 0
    if not keep.all():
        told.append(
            so_many(
                int((~keep).sum()),
                "record has no time of submission, and counts nowhere",
                "records have no time of submission, and count nowhere",
            )
        )
    return keep


def _started(wait: Floats, run: Floats, status: Floats) -> Flags:
    """Jobs that ran: by their run time, or by a wait where the run time is not known or 0, unless they were cancelled."""
    ran = np.nan_to_num(run) > 0
    found: Flags = ran | (~np.isnan(wait) & (status != _CANCELLED))
    return found


def _tell_times(wait: Floats, run: Floats, started: Flags, told: list[str]) -> None:
    no_wait, no_run = started & np.isnan(wait), started & np.isnan(run)
    if no_wait.any():
        told.append(
            so_many(
                int(no_wait.sum()),
                "record has no wait: it is taken to start when it was submitted",
                "records have no wait: they are taken to start when they were submitted",
            )
        )
    if no_run.any():
        told.append(
            so_many(
                int(no_run.sum()),
                "record has a start and no run time; it holds nothing",
                "records have a start and no run time; they hold nothing",
            )
        )


def _units(columns: dict[str, Floats], told: list[str]) -> Floats:
    given = _known(columns["allocated"])
    asked = np.isnan(given) | (given == 0)
    if asked.any():
        told.append(
            so_many(
                int(asked.sum()),
                "record has no processors that it was given; those it asked for count",
                "records have no processors that they were given; those they asked for count",
            )
        )
    units: Floats = np.nan_to_num(np.where(asked, _known(columns["processors"]), given))
    return units
