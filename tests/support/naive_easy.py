"""EASY backfill as it is told in a text book, written apart from ours: every instant looks at everything again."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Job:
    """``bound`` is the reservation it was given when it first was the head; ``promises`` all that it was given."""

    number: int
    submit: float
    size: int
    request: float
    run: float
    priority: tuple[float, int] = (0.0, 0)
    start: float | None = None
    backfilled: bool = False
    promises: list[float] = field(default_factory=list)

    @property
    def end(self) -> float:
        assert self.start is not None
        return self.start + self.run


def play(jobs: list[Job], processors: int, depth: int, cycle: float = 0.0) -> None:
    """Set the start of each job; O(n^2) and more. ``run`` is what it really takes; the smallest priority goes first."""
    zero = min(job.submit for job in jobs)
    now: float = zero
    while any(job.start is None for job in jobs):
        before = {job.number for job in jobs if job.start is None}
        running = [job for job in jobs if job.start is not None and job.end > now]
        _pass(jobs, running, processors, depth, now, not cycle or (now - zero) % cycle == 0)
        if any(job.number in before and job.start is not None and job.run == 0 for job in jobs):
            continue  # it has ended at the same instant: what it held is free again
        moments = [job.submit for job in jobs] + [job.end for job in jobs if job.start is not None]
        moments += [zero + ((now - zero) // cycle + 1) * cycle] if cycle else []
        now = min((moment for moment in moments if moment > now), default=now)


def _pass(jobs: list[Job], running: list[Job], processors: int, depth: int, now: float, backfill: bool) -> None:
    running = list(running)

    def free() -> int:
        return processors - sum(job.size for job in running)

    def begin(job: Job) -> None:
        job.start = now
        running.append(job)

    waiting = sorted((job for job in jobs if job.start is None and job.submit <= now), key=lambda job: job.priority)
    while waiting and waiting[0].size <= free():
        begin(waiting.pop(0))
    if not waiting:
        return
    head, behind = waiting[0], waiting[1 : 1 + depth]
    shadow = min(at for at in {_asked(job) for job in running} if _free_by(running, processors, at) >= head.size)
    head.promises.append(shadow)
    for job in behind if backfill else []:
        spare = _free_by(running, processors, shadow) - head.size
        if job.size <= free() and (now + job.request <= shadow or job.size <= spare):
            job.backfilled = True
            begin(job)


def _asked(job: Job) -> float:
    """When it ends by its request."""
    assert job.start is not None
    return job.start + job.request


def _free_by(running: list[Job], processors: int, at: float) -> int:
    return processors - sum(job.size for job in running if _asked(job) > at)
