"""Jobs as columns: what was asked for, and what a schedule made of it; one record a job, nothing else is kept of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Workload:
    """Jobs in the order of their submission.

    ``submit_s``: seconds from the workload's own zero; ``processors``: what each takes (nodes, where the machine is counted in
    nodes); ``requested_s``: the time limit it asks for; ``run_s``: how long it needs; ``job``, ``user``, ``queue``: numbers, -1
    where not known. All arrays have the same shape (jobs,).
    """

    submit_s: Floats
    processors: Whole
    requested_s: Floats
    run_s: Floats
    job: Whole
    user: Whole
    queue: Whole

    def __len__(self) -> int:
        return len(self.submit_s)

    def __post_init__(self) -> None:
        """Raises ValueError for columns that no schedule can be made of."""
        columns = (self.processors, self.requested_s, self.run_s, self.job, self.user, self.queue)
        if any(len(column) != len(self) for column in columns):
            raise ValueError("the columns of a workload are of different lengths")
        times = (self.submit_s, self.requested_s, self.run_s)
        if not all(np.isfinite(column).all() for column in times):
            raise ValueError("a time of a workload is not a number")
        if len(self) and (self.processors.min() < 1 or self.run_s.min() < 0 or self.requested_s.min() < 0):
            raise ValueError("a job needs at least one processor, and times that are not negative")
        if (np.diff(self.submit_s) < 0).any():
            raise ValueError("jobs are not in the order of their submission")


@dataclass(frozen=True)
class Schedule:
    """What came of each job of a workload, in its order: ``start_s`` and ``held_s``, the time it held its processors;
    ``backfilled``: it started before a job of higher priority; ``killed``: it was ended at its time limit."""

    start_s: Floats
    held_s: Floats
    backfilled: Flags
    killed: Flags

    @property
    def end_s(self) -> Floats:
        return self.start_s + self.held_s


def workload_of(
    submit_s: Floats, processors: Whole, requested_s: Floats, run_s: Floats, user: Whole | None = None
) -> Workload:
    """Purpose: a workload of these columns, jobs numbered from 1, without queues."""
    unknown = np.full(len(submit_s), -1, dtype=np.int64)
    numbers = np.arange(1, len(submit_s) + 1, dtype=np.int64)
    return Workload(submit_s, processors, requested_s, run_s, numbers, unknown if user is None else user, unknown)
