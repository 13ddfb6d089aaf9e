"""End marks of jobs that Slurm still calls running: its controller has not heard of the end, or its memory was set back.

A job that runs has not ended for us, whatever is in its mark, since any payload can write there. So nothing is judged by it. But a
person is told, since such a job keeps its nodes until its time limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.cluster.marks import read_restart
from shakedown.schedulers.slurm.job_evidence import Asked

UNHEARD_S = 30.0  # for which Slurm may have been slow to hear of an end
_MOST = 1024  # jobs whose marks are looked for at once
_TELLS = "its end mark says that it is over, {how}; Slurm still calls it running and has not heard of that, or has lost it since"


@dataclass(slots=True)
class UnheardEnds:
    """``seen``: our id -> since when the job has an end mark (monotonic clock), and how it ended."""

    places: JobPlaces
    clock: Callable[[], float] = time.monotonic
    seen: dict[str, tuple[float, str]] = field(default_factory=dict)

    def words(self, job: Asked) -> str:
        """Purpose: what a person is told of a job that Slurm calls running; "" where there is nothing to tell (yet)."""
        since, how = self.seen.get(job.id, (0.0, ""))
        return _TELLS.format(how=how) if how and self.clock() - since >= UNHEARD_S else ""

    def look(self, running: Iterable[Asked]) -> None:
        """Purpose: check for end marks of all jobs that Slurm calls running now."""
        found: dict[str, tuple[float, str]] = {}
        for job in islice(running, _MOST):
            with suppress(OSError):
                if self.places.marks(job.id, job.restart).exists():
                    since, how = self.seen.get(job.id, (self.clock(), ""))
                    found[job.id] = (since, how or self._how(job))
        self.seen = found

    def _how(self, job: Asked) -> str:
        status = read_restart(self.places, job.id, job.restart).exit_status
        return "" if status is None else f"with exit status {status}"
