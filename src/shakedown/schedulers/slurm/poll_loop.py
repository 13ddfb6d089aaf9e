"""Looking at all jobs again and again: when, by which helper, and what to do if a helper hangs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shakedown.model.ports import JobReport, JobView, Survey, Wanted
from shakedown.processes.reactor import Reactor, Timer
from shakedown.schedulers.slurm.helper import Helper
from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.wire import Look, Seen, Setup

LONGEST_PAUSE_S = 300.0  # between two looks when one after the other hangs: each leaves a process behind
GLANCE_S = 1.0  # between two glances at end marks, while jobs come and go between two looks
EARLY_S = 2.0  # from the start of one look to that of the next, where a job has just ended


class Looking:
    """Runs at most one look at a time. ``count`` is told how often commands were run.

    Where jobs are shorter than the time between two looks, a glance in between checks for their end marks, which costs Slurm
    nothing. An end mark that is seen brings the next look forward. So does a look that finds a job ended while Slurm cannot tell
    how yet, since its nodes are still being cleared or accounting is late. A look that came early for that reason does not bring
    another one forward, so that with many ends in a row Slurm is asked less than one and a half times as often.
    """

    def __init__(
        self, setup: Setup, reactor: Reactor, poll_s: float, look_s: float, count: Callable[[Mapping[str, int]], None]
    ) -> None:
        """``poll_s``: from the start of one look to the start of the next; ``look_s``: how long one may take. In seconds."""
        self._setup, self._reactor, self._count = setup, reactor, count
        self._poll_s, self._look_s = poll_s, look_s
        self._helper: Helper | None = None
        self._jobs: Mapping[str, JobView] = {}
        self._reports: dict[tuple[str, str], JobReport] = {}  # by job and part, in the order in which they were said
        self._wanted: Wanted | None = None  # to be looked up at the next look
        self._survey: Survey | None = None
        self._asked: dict[str, Asked] = {}  # of the look under way, and not answered
        self._number = 0
        self._busy = False
        self._failures = 0  # in a row
        self._due = 0.0  # when the next look at everything is
        self._began = 0.0  # when the last one began
        self._early = False  # whether the last one, or the next one, was brought forward by the one before it
        self._glances = False  # whether a glance is under way, and no look
        self._short = False  # whether jobs were seen that are shorter than the time between two looks
        self._next: Timer | None = None
        self._limit: Timer | None = None

    def poll(self, jobs: Mapping[str, JobView]) -> list[JobReport]:
        """The reports since the last call. ``jobs``: what the next look will look at."""
        self._jobs = jobs
        self._begin()
        reports, self._reports = self._reports, {}
        return [report for report in reports.values() if (job := jobs.get(report.job)) and report.is_of(job.restart)]

    def survey(self, wanted: Wanted) -> Survey | None:
        """What was found since the last call. ``wanted`` is looked up by the next look; it must be asked for each time."""
        self._wanted = wanted if wanted.something else None
        self._begin()
        found, self._survey = self._survey, None
        return found

    def _begin(self) -> None:
        if not self._busy and self._next is None and (self._jobs or self._wanted):
            self._look()

    def close(self) -> None:
        for timer in (self._next, self._limit):
            if timer is not None:
                timer.cancel()
        if self._helper is not None:
            self._helper.close()
            self._helper = None

    # ---- one look ----

    def _look(self) -> object:
        """Begin a look or a glance, if there is anything to look at; else the next poll begins one."""
        self._next = None
        if not self._jobs and not self._wanted:
            return False
        now = self._reactor.now()
        glance = self._short and now < self._due - GLANCE_S / 2
        if not glance:
            self._due, self._began, self._short = now + self._poll_s, now, False
        self._number += 1
        self._glances = glance
        self._asked = {job.id: _asked(job) for job in self._jobs.values()}
        self._busy = True
        try:
            if self._helper is None:
                self._helper = Helper(self._setup, self._reactor, self._heard)
        except OSError as error:
            return self._failed(f"no process can be started to ask Slurm: {error.strerror}")
        wanted = None if glance else self._wanted
        self._wanted = self._wanted if glance else None
        self._helper.send(Look(self._number, list(self._asked.values()), glance, wanted))
        self._limit = self._reactor.call_later(self._look_s, self._too_late)
        return False

    def _heard(self) -> bool:
        """The helper sent something, or has ended. Returns True where there is something to poll."""
        helper = self._helper
        if helper is None:
            return False
        for message in helper.take():
            if isinstance(message, Seen) and message.number == self._number:
                self._take(message)
        if helper.has_ended:
            return self._failed(f"the process that asks Slurm ended unexpectedly ({helper.how_it_ended()})")
        return bool(self._reports or self._survey)

    def _take(self, seen: Seen) -> None:
        self._count(seen.calls)
        for report in seen.reports:
            if not report.run:
                self._asked.pop(report.job, None)
            self._reports.pop((report.job, report.run), None)
            self._reports[report.job, report.run] = report
            self._short |= report.elapsed_s is not None and report.elapsed_s < self._poll_s
        self._survey = seen.survey or self._survey
        if seen.last:
            self._failures = 0
            soon = seen.ended and (self._glances or not self._early)
            if soon:
                self._due = min(self._due, self._began + max(EARLY_S, self._poll_s / 5))
            if not self._glances:
                self._early = soon
            self._over()

    def _too_late(self) -> bool:
        self._limit = None
        return self._failed(f"asking Slurm or reading the jobs' files hung for {self._look_s:g} s")

    def _failed(self, why: str) -> bool:
        """There is no answer for the remaining jobs. The helper is replaced at the next look; after each failure that is later."""
        for job, asked in self._asked.items() if self._busy else ():
            self._reports[job, ""] = JobReport(
                job, "no_answer", "queue", asked.scheduler_id, asked.restart, message=why
            )
        if self._helper is not None:
            self._helper.close()
            self._helper = None
        if self._busy:
            self._failures += 1
            self._over()
        return bool(self._reports)

    def _over(self) -> None:
        """The look is over: work out when the next one is."""
        self._busy = False
        self._asked = {}
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
        if self._failures:
            pause = min(self._poll_s * 2.0 ** min(self._failures, 10), max(LONGEST_PAUSE_S, self._poll_s))
            self._due, self._short = self._reactor.now() + pause, False
        left = max(0.0, self._due - self._reactor.now())
        self._next = self._reactor.call_later(min(left, GLANCE_S) if self._short else left, self._look)


def _asked(job: JobView) -> Asked:
    since, parts, lost = getattr(job, "ordered", 0.0), tuple(getattr(job, "parts", ())), getattr(job, "lost", False)
    return Asked(job.id, job.scheduler_id, job.restart, since, parts, lost)
