"""The Scheduler port for Slurm. The conductor's loop never waits for Slurm or a file system for more than a few seconds.

Two helper processes do what may hang: one looks at all jobs; the other submits, cancels, releases and takes claims. What a look
finds arrives by itself and wakes the loop. Jobs outlive the conductor; the next one finds them by their names.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import structs

from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster, Document, Pairs
from shakedown.model.ports import (
    JobOrder,
    JobReport,
    JobView,
    LeftJobs,
    Opened,
    ReleaseOrder,
    SubmitAnswer,
    Survey,
    Wanted,
)
from shakedown.processes.reactor import Reactor
from shakedown.schedulers.cluster.job_places import campaign_token
from shakedown.schedulers.slurm.asked_terms import asked_of
from shakedown.schedulers.slurm.helper import Helper
from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.left_jobs import cancel_left
from shakedown.schedulers.slurm.poll_loop import Looking
from shakedown.schedulers.slurm.wire import Act, Acted, Answered, FromHelper, Setup, Stop, Stopped, Submit

COMMAND_S = 20.0  # that one of Slurm's commands may take
CLEAR_S = 10.0  # that a command may take at the end of a campaign, while nobody touches the lease
LOOK_S = 90.0  # that a look may take: three commands and some reading
PATIENCE_S = 5.0  # that the loop waits for a batch of submissions
ACT_S = 3.0  # and for anything else


def open_slurm(layout: Layout, document: Document, clusters: Sequence[Cluster], reactor: Reactor) -> Opened:
    """Purpose: open the port of a session on one or several Slurm clusters."""
    slurm = SlurmScheduler(layout, reactor, clusters, licence_names=document.system.licence_names)
    return Opened(slurm, slurm.close, clear=slurm.clear)


class SlurmScheduler:
    """The Scheduler port for one or several Slurm clusters."""

    poll_s = 0.0  # looks keep their own pace and wake the loop

    def __init__(
        self,
        layout: Layout,
        reactor: Reactor,
        clusters: Sequence[Cluster],
        command_s: float = COMMAND_S,
        look_s: float = LOOK_S,
        patience_s: float = PATIENCE_S,
        licence_names: Pairs = (),
        act_s: float = ACT_S,
    ) -> None:
        """``layout``: absolute. ``licence_names``: as in the system's file. ``patience_s``: how long a caller waits for the answers
        to a batch of submissions; ``act_s``: for any other order; a caller that can wait sets them higher. Raises CannotStart where
        the campaign's token can be neither read nor made.
        """
        root = str(layout.root.absolute()).encode("utf-8", "surrogateescape")
        token = campaign_token(layout)
        self._reactor, self.patience_s, self.act_s = reactor, patience_s, act_s
        self._token, self._clusters = token, tuple(clusters)
        self._calls: Counter[str] = Counter()
        self._act_setup = Setup("act", root, token, tuple(clusters), command_s, licence_names)
        self._why_held: dict[str, str] = {}  # jobs that were to be released, and could not be
        self._actor: Helper | None = None
        self._late: dict[str, JobReport] = {}  # answers to submissions that came after the loop had gone on
        self._number = 0
        self._jobs: Mapping[str, JobView] = {}  # those that are open: the engine's own, which it goes on changing
        self._known: dict[str, JobView] = {}  # jobs that were open at the last poll
        poll_s = min((cluster.patience.poll_s for cluster in clusters), default=5.0)
        look_setup = Setup("look", root, token, tuple(clusters), command_s)
        self._looking = Looking(look_setup, reactor, poll_s, look_s, self._calls.update)

    # ---- the port ----

    def submit(self, orders: Sequence[JobOrder]) -> Sequence[SubmitAnswer]:
        """Submit several jobs at a time. Those not begun within ``patience_s`` are refused for now; those begun and not answered
        may have been accepted.
        """
        if not orders:
            return []
        answers: dict[str, SubmitAnswer] = {}
        number = self._next_number()

        def take(message: FromHelper) -> bool:
            if isinstance(message, Answered) and message.number == number:
                answers[message.answer.job] = message.answer
            return len(answers) == len(orders)

        trouble = self._hire()
        if trouble:
            return [_unanswered(order.job, False, trouble) for order in orders]
        trouble = self._ask(Submit(number, list(orders)), take, self.patience_s)
        begun: set[str] = set()
        if trouble:
            begun = self._begun(number, take)
            if not begun and not answers:
                self._drop_actor()  # nobody got as far as sbatch in that time: the file system hangs
        asked = asked_of(orders, self._act_setup.clusters)
        told = (answers.get(order.job) or _unanswered(order.job, order.job in begun, trouble) for order in orders)
        return [one if one.outcome == "refused" else structs.replace(one, asked=asked[one.job]) for one in told]

    def poll(self, jobs: Mapping[str, JobView]) -> Sequence[JobReport]:
        """The reports that have arrived. Begins a look where none is under way."""
        self._hear_actor()
        if shut := self._shut(jobs):
            self._hire()
            if self._actor is not None:
                self._actor.send(shut)
        reports = self._looking.poll(jobs)
        seen = {report.job for report in reports}
        late, self._late = self._late, {}
        return [
            *(self._explained(report) for report in reports),
            *(r for job, r in late.items() if job in jobs and job not in seen and not jobs[job].scheduler_id),
        ]

    def cancel(self, jobs: Sequence[JobView]) -> Sequence[str]:
        """Cancel those jobs that are in the queue under our names. Their end is reported when it is seen."""
        return self._act("cancel", jobs)

    def release(self, orders: Sequence[ReleaseOrder]) -> Sequence[str]:
        """Let held jobs start, each once its place on its targets is made. Those whose place cannot be made yet are tried when
        asked again.
        """
        self._why_held = {}
        return self._act("release", orders)

    def take_parts(self, job: JobView, runs: Sequence[str]) -> Sequence[str] | None:
        """Make sure that parts can never begin. Those that have begun are left out. None: the file system does not show it."""
        asked = Asked(job.id, job.scheduler_id, job.restart, parts=tuple(runs))
        unknown: dict[str, str] = {}
        done = self._ask_act("parts", [asked], unknown=unknown)
        return None if unknown else done

    def survey(self, wanted: Wanted) -> Survey | None:
        """What the looks found besides jobs since the last call."""
        return self._looking.survey(wanted)

    def hold(self, jobs: Sequence[JobView]) -> Sequence[str]:
        """Keep jobs in the queue from starting until they are released."""
        return self._act("hold", jobs)

    def take_claim(self, job: JobView) -> bool | None:
        """Make sure that the job can never start. False where somebody has its claim; None where that cannot be told."""
        unknown: dict[str, str] = {}
        done = self._act("claim", [job], unknown)
        return None if unknown else done == [job.id]

    def calls(self) -> Mapping[str, int]:
        return dict(self._calls)

    def clear(self) -> LeftJobs:
        """Cancel what Slurm has of a campaign that is over. Nothing else is waited for by then, so this process asks by itself."""
        return cancel_left(self._token, self._clusters, CLEAR_S)

    def close(self) -> None:
        """End the helpers. The jobs go on; jobs that are done with can no longer start."""
        self._looking.close()
        if shut := self._shut(self._jobs):
            self._hire()
            self._ask(shut, lambda heard: isinstance(heard, Acted) and heard.number == shut.number, self.act_s)
        self._drop_actor()

    # ---- the one who acts ----

    def _shut(self, jobs: Mapping[str, JobView]) -> Act | None:
        """The order that makes sure jobs which are done with never start again, whoever requeues them; None where
        there are none.
        """
        self._jobs = jobs
        if self._known.keys() == jobs.keys():
            return None
        gone = [job for name, job in self._known.items() if name not in jobs and job.scheduler_id]
        self._known = dict(jobs)
        asked = [Asked(job.id, job.scheduler_id, job.restart) for job in gone]
        return Act(self._next_number(), "shut", asked) if asked else None

    def _act(self, what: str, jobs: Sequence[JobView], unknown: dict[str, str] | None = None) -> list[str]:
        releases = [job for job in jobs if isinstance(job, ReleaseOrder)]
        return self._ask_act(what, [Asked(job.id, job.scheduler_id, job.restart) for job in jobs], releases, unknown)

    def _ask_act(
        self,
        what: str,
        asked: list[Asked],
        releases: Sequence[ReleaseOrder] = (),
        unknown: dict[str, str] | None = None,
    ) -> list[str]:
        """The jobs for which it worked. ``unknown`` gets the jobs for which it could not be told; all of them where there was no
        answer.
        """
        done: list[str] = []
        number = self._next_number()

        def take(message: FromHelper) -> bool:
            if isinstance(message, Acted) and message.number == number:
                done.extend(message.jobs)
                (self._why_held if unknown is None else unknown).update(message.why_not)
                return True
            return False

        self._hire()
        silent = self._ask(Act(number, what, asked, list(releases)), take, self.act_s)
        if silent and unknown is not None:
            unknown.update({job.id: silent for job in asked})
        return done

    def _explained(self, report: JobReport) -> JobReport:
        """The report, with the reason why a job that was to be released still waits."""
        why = self._why_held.get(report.job, "") if report.state == "queued" and not report.run else ""
        return structs.replace(report, message=f"it is still held: {why}") if why else report

    def _hire(self) -> str:
        """Make sure that there is a process that acts. Returns why there is none, or ""."""
        try:
            self._actor = self._actor or Helper(self._act_setup, self._reactor, self._hear_actor)
        except OSError as error:
            return f"no process can be started to submit to Slurm: {error.strerror}"
        return ""

    def _begun(self, number: int, take: Callable[[FromHelper], bool]) -> set[str]:
        """Stop a batch, and return which of its orders were begun. If the process is gone, all of them may have been."""
        begun: set[str] = set()
        stopped = False

        def hear(message: FromHelper) -> bool:
            nonlocal stopped
            take(message)
            if isinstance(message, Stopped) and message.number == number:
                begun.update(message.begun)
                stopped = True
            return stopped

        if self._actor is not None:
            self._ask(Stop(number), hear, 1.0)
        if not stopped:
            self._drop_actor()
            return _Everything()
        return begun

    def _ask(self, message: Submit | Act | Stop, take: Callable[[FromHelper], bool], patience_s: float) -> str:
        """Purpose: send an order and take answers until ``take`` returns True. Returns why it did not, or ""."""
        actor = self._actor
        if actor is None:
            return "there is no process to act"
        until = time.monotonic() + patience_s
        actor.send(message)
        while self._waits(actor, until):
            enough = False
            for heard in actor.take():
                enough = self._hear(heard, take) or enough
            if enough:
                return ""
        if actor.has_ended:
            why = actor.how_it_ended()
            self._drop_actor()
            return f"the process that submits to Slurm ended unexpectedly ({why})"
        return f"Slurm did not answer within {patience_s:g} s"

    def _waits(self, actor: Helper, until: float) -> bool:
        """Wait for messages. That is no standing still of the loop, unless it takes longer than it was to."""
        began = time.monotonic()
        heard = actor.wait(until)
        self._reactor.waited_s += min(time.monotonic() - began, max(0.0, until - began))
        return heard

    def _hear(self, message: FromHelper, take: Callable[[FromHelper], bool]) -> bool:
        """Count commands, keep late answers, and pass the message on."""
        if isinstance(message, Answered | Acted):
            self._calls.update(message.calls)
        if isinstance(message, Answered) and message.number != self._number:
            self._keep_late(message.answer)
        return take(message)

    def _hear_actor(self) -> bool:
        """Take what arrives between orders: only late answers. Returns True where there is something to poll."""
        if self._actor is None:
            return False
        for message in self._actor.take():
            self._hear(message, lambda _: False)
            if isinstance(message, Answered):
                self._keep_late(message.answer)
        if self._actor.has_ended:
            self._drop_actor()
        return bool(self._late)

    def _keep_late(self, answer: SubmitAnswer) -> None:
        """Keep an answer to a submission that was already reported as "unknown". A refused one will be found absent."""
        if answer.outcome == "accepted":
            self._late[answer.job] = JobReport(answer.job, "queued", "queue", scheduler_id=answer.scheduler_id)

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _drop_actor(self) -> None:
        if self._actor is not None:
            self._actor.close()
            self._actor = None


class _Everything(set[str]):
    """A set that contains every job."""

    def __contains__(self, job: object) -> bool:
        return True

    def __bool__(self) -> bool:
        return True


def _unanswered(job: str, begun: bool, why: str) -> SubmitAnswer:
    if begun:
        return SubmitAnswer(job, "unknown", message=why)
    return SubmitAnswer(job, "refused", transient=True, message=f"it was not submitted yet: {why}")
