"""A job history from the Standard Workload Format, in which the twin's traces are written too."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from shakedown.exchange.history import Floats, JobHistory, coded
from shakedown.twin.production.swf import read_records

_STATES = {0: "FAILED", 1: "COMPLETED", 2: "PARTIAL", 3: "PARTIAL", 4: "PARTIAL", 5: "CANCELLED"}


def read_swf(path: Path) -> JobHistory:
    """Purpose: all records of a file; -1 is what the file does not know.

    Errors: UsageError for a file without any record; OSError.
    """
    records = read_records(path, pass_over_bad=True)
    columns = records.columns
    began = records.count_of("UnixStartTime") or 0
    submit, wait, run = (_known(columns[name]) for name in ("submit", "wait", "run"))
    submit = submit + began
    units = _known(columns["allocated"])
    asked = np.isnan(units) | (units == 0)
    units = np.nan_to_num(np.where(asked, _known(columns["processors"]), units))
    told = []
    if records.bad:
        told.append(f"{len(records.bad):,} lines are no records, the first: {records.bad[0]}")
    if asked.any():
        told.append(f"{asked.sum():,} records have no processors that they were given; those they asked for count")
    codes = columns["status"]
    started = ~np.isnan(wait) & ~((codes == 5) & (np.isnan(run) | (run == 0)))
    return JobHistory(
        source=str(path),
        unit="processors",
        submit_s=submit,
        start_s=np.where(started, submit + wait, np.nan),
        run_s=np.where(started, np.nan_to_num(run), 0.0),
        units=units,
        state=coded(_STATES.get(int(code), "UNKNOWN") for code in codes),
        account=coded("" if user < 0 else f"user {user:.0f}" for user in columns["user"]),
        waited=started & ~np.isnan(submit),
        capacity=float(records.count_of("MaxProcs") or 0),
        told=tuple(told),
    )


def _known(column: Floats) -> Floats:
    return np.where(column < 0, np.nan, column)
