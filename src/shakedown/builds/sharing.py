"""One look at the scheduler for both runs and builds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shakedown.model.ports import (
    JobOrder,
    JobReport,
    JobView,
    ReleaseOrder,
    Scheduler,
    SubmitAnswer,
    Survey,
    Wanted,
)

_PATIENT_PACES = 1.5  # the conductor asks for its runs at every pace; where it has none, builds ask a little later


@dataclass(slots=True)
class SharedScheduler:
    """The Scheduler port of the conductor. Jobs of builds are asked about together with those of runs.

    ``builds``: the views of the builds' jobs. Reports on them wait here until the builder takes them.
    """

    scheduler: Scheduler
    builds: Mapping[str, JobView] = field(default_factory=dict)
    poll_s: float = 0.0
    _of_builds: list[JobReport] = field(default_factory=list)
    _of_runs: list[JobReport] = field(default_factory=list)
    _asked: bool = False  # since the builder last looked
    _next: float = 0.0

    def __post_init__(self) -> None:
        self.poll_s = self.scheduler.poll_s

    def poll(self, jobs: Mapping[str, JobView]) -> Sequence[JobReport]:
        """The reports on the runs' jobs since the last call."""
        self._asked = True
        if not self.builds and not self._of_runs:
            return self.scheduler.poll(jobs)
        self._ask({**jobs, **self.builds})
        reports, self._of_runs = self._of_runs, []
        return reports

    def reports_of_builds(self, builds: Mapping[str, JobView], now: float) -> Sequence[JobReport]:
        """The reports on the builds' jobs. The scheduler is asked about builds alone only if the conductor does not ask about its
        runs.
        """
        self.builds = builds
        if self._asked or not self._next:
            self._asked, self._next = False, now + _PATIENT_PACES * self.poll_s
        elif now >= self._next:
            self._next = now + self.poll_s
            self._ask(builds)
        reports, self._of_builds = self._of_builds, []
        return reports

    def _ask(self, jobs: Mapping[str, JobView]) -> None:
        for report in self.scheduler.poll(jobs):
            (self._of_builds if report.job in self.builds else self._of_runs).append(report)

    def submit(self, orders: Sequence[JobOrder]) -> Sequence[SubmitAnswer]:
        return self.scheduler.submit(orders)

    def cancel(self, jobs: Sequence[JobView]) -> Sequence[str]:
        return self.scheduler.cancel(jobs)

    def release(self, orders: Sequence[ReleaseOrder]) -> Sequence[str]:
        return self.scheduler.release(orders)

    def take_parts(self, job: JobView, runs: Sequence[str]) -> Sequence[str] | None:
        return self.scheduler.take_parts(job, runs)

    def survey(self, wanted: Wanted) -> Survey | None:
        return self.scheduler.survey(wanted)

    def hold(self, jobs: Sequence[JobView]) -> Sequence[str]:
        return self.scheduler.hold(jobs)

    def take_claim(self, job: JobView) -> bool | None:
        return self.scheduler.take_claim(job)

    def calls(self) -> Mapping[str, int]:
        return self.scheduler.calls()
