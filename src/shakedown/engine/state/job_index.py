"""Counts and lists of jobs, so that the engine need not go through all of them. They can be made again from the jobs at any time.

The index holds no facts of its own, so snapshots leave it out. ``job_index_of`` defines what it must contain.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from shakedown.engine.state.jobs import Job
from shakedown.engine.state.modes import FILLER
from shakedown.engine.state.phases import NOT_BEGUN
from shakedown.engine.state.plan import QueueKey


@dataclass(slots=True)
class JobIndex:
    """``held``: class -> jobs that wait for their release, first come first. ``charged``: class -> how many may start or run.
    ``wide``: pool -> jobs of more than one unit that may start and have not begun. ``bundles``: component -> how many jobs of
    several runs; ``unbegun``: component -> those of them that have not begun. ``followers``: jobs that begin when another one is
    over. ``waiting``: pool -> jobs that may start and have not begun, with their units; ``waiting_units``: pool -> the sum of
    these; ``waiting_fillers``: pool -> the sum of those that are fillers; ``noted``: pool -> those of which the scheduler gives a
    reason why they wait, with their units.

    "Not begun" means: as far as was looked.
    """

    held: dict[QueueKey, dict[str, None]] = field(default_factory=dict)
    charged: dict[QueueKey, int] = field(default_factory=dict)
    wide: dict[str, dict[str, None]] = field(default_factory=dict)
    bundles: dict[int, int] = field(default_factory=dict)
    unbegun: dict[int, dict[str, None]] = field(default_factory=dict)
    followers: dict[str, None] = field(default_factory=dict)
    waiting: dict[str, dict[str, int]] = field(default_factory=dict)
    waiting_units: dict[str, int] = field(default_factory=dict)
    waiting_fillers: dict[str, int] = field(default_factory=dict)
    noted: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, job: Job) -> None:
        """Enter a new job."""
        if job.bundle:
            self.bundles[job.component] = self.bundles.get(job.component, 0) + 1
            if job.phase in NOT_BEGUN:
                self.unbegun.setdefault(job.component, {})[job.id] = None
        if job.charged:
            self.charge(job, 1)
        elif job.after:
            self.followers[job.id] = None
        elif job.key is not None:
            self.held.setdefault(job.key, {})[job.id] = None

    def charge(self, job: Job, sign: int) -> None:
        """A job may start from now on (``sign`` 1), or what it takes is given back (-1)."""
        key = job.key
        assert key is not None
        left = self.charged.get(key, 0) + sign
        if left:
            self.charged[key] = left
        else:
            self.charged.pop(key, None)
        self.release(job)
        if sign > 0 and job.phase in NOT_BEGUN:
            self.wait(job)
        else:
            self._waits_no_more(job)
        if key.units > 1:
            waiting = self.wide.setdefault(key.pool, {})
            if sign > 0 and job.phase in NOT_BEGUN:
                waiting[job.id] = None
            else:
                waiting.pop(job.id, None)

    def wait(self, job: Job) -> None:
        """A job that may start waits for nodes, perhaps not for the first time."""
        if job.bundle:
            self.unbegun.setdefault(job.component, {})[job.id] = None
        if job.key is not None:
            waiting = self.waiting.setdefault(job.key.pool, {})
            if job.id not in waiting:
                waiting[job.id] = job.key.units
                self._count_waiting(job.key, job.key.units)
            self.note(job)

    def _waits_no_more(self, job: Job) -> None:
        if job.key is not None:
            units = self.waiting.get(job.key.pool, {}).pop(job.id, 0)
            if units:
                self._count_waiting(job.key, -units)
                self.noted.get(job.key.pool, {}).pop(job.id, None)

    def _count_waiting(self, key: QueueKey, units: int) -> None:
        pool = key.pool
        self.waiting_units[pool] = self.waiting_units.get(pool, 0) + units
        if key.mode == FILLER:
            self.waiting_fillers[pool] = self.waiting_fillers.get(pool, 0) + units

    def note(self, job: Job) -> None:
        """What the scheduler says of a job that waits has changed."""
        if job.key is None or job.id not in self.waiting.get(job.key.pool, ()):
            return
        if job.report.note:
            self.noted.setdefault(job.key.pool, {})[job.id] = job.key.units
        elif job.key.pool in self.noted:
            self.noted[job.key.pool].pop(job.id, None)

    def release(self, job: Job) -> None:
        """The job no longer waits for its release, or for the end of another job."""
        self.followers.pop(job.id, None)
        key = job.key
        if key in self.held and job.id in self.held[key]:
            del self.held[key][job.id]
            if not self.held[key]:
                del self.held[key]

    def follows_no_more(self, job: Job) -> None:
        """The job that this one follows is over, so it is no follower any more."""
        if self.followers.pop(job.id, job) is None and not job.charged and job.key is not None:
            self.held.setdefault(job.key, {})[job.id] = None

    def begin(self, job: Job) -> None:
        """The job has its nodes, or is over, and waits no longer."""
        self._waits_no_more(job)
        if job.key is not None and job.key.units > 1:
            self.wide.get(job.key.pool, {}).pop(job.id, None)
        if job.bundle:
            self.unbegun.get(job.component, {}).pop(job.id, None)

    def forget(self, job: Job) -> None:
        """The job is over. What it was charged with has been given back already."""
        self.release(job)
        self.begin(job)
        if job.bundle:
            self.bundles[job.component] -= 1
            if not self.bundles[job.component]:
                del self.bundles[job.component]


def job_index_of(jobs: Iterable[Job]) -> JobIndex:
    """Purpose: the index of these jobs, in the order in which they were ordered."""
    job_index = JobIndex()
    for job in jobs:
        job_index.add(job)
    return job_index


def same(one: JobIndex, other: JobIndex) -> bool:
    """Purpose: whether two indexes agree, apart from jobs that have begun since they were last looked at."""
    if set(one.followers) != set(other.followers):
        return False
    exact = (one.charged, one.bundles, {key: list(jobs) for key, jobs in one.held.items()})
    if exact != (other.charged, other.bundles, {key: list(jobs) for key, jobs in other.held.items()}):
        return False
    if _waiting(one) != _waiting(other):
        return False
    wide = all(set(jobs) <= set(one.wide.get(pool, ())) for pool, jobs in other.wide.items())
    return wide and all(set(jobs) <= set(one.unbegun.get(number, ())) for number, jobs in other.unbegun.items())


def _waiting(job_index: JobIndex) -> list[dict[str, object]]:
    """What waits, without pools of which nothing does."""
    tables = (job_index.waiting, job_index.noted, job_index.waiting_units, job_index.waiting_fillers)
    return [{pool: found for pool, found in table.items() if found} for table in tables]
