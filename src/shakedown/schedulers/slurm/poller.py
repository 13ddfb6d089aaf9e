"""One look at all our jobs: one squeue for each cluster, files where they are needed, one sacct, and further queries for the rest.

It runs in a process of its own, which may hang with a file system or a command. What is already known is sent before anything that
may hang.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from shakedown.events.plain_files import open_plain
from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster
from shakedown.model.ports import ENDED, JobReport, Survey, Wanted
from shakedown.schedulers.claims import CONDUCTOR, CannotStart
from shakedown.schedulers.cluster.job_places import JobPlaces, job_label, job_of_label, read_small
from shakedown.schedulers.cluster.marks import NO_ROOM, Marks, read_marks, read_restart, read_robbed
from shakedown.schedulers.cluster.token_watch import TokenWatch
from shakedown.schedulers.output_sums import UNSURE, kept_unread
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.accounting import Accounting
from shakedown.schedulers.slurm.boots import Boots
from shakedown.schedulers.slurm.broken_steps import BrokenSteps
from shakedown.schedulers.slurm.cross_check import KILLED, contradicted_end
from shakedown.schedulers.slurm.ended_steps import EndedSteps
from shakedown.schedulers.slurm.evidence import is_plain, needs_accounting, weigh
from shakedown.schedulers.slurm.failed_nodes import FailedNodes
from shakedown.schedulers.slurm.job_evidence import Asked, Found
from shakedown.schedulers.slurm.job_questions import SETTLE_S
from shakedown.schedulers.slurm.parsing import QueueRow, babble, clean, last_words, queue_rows
from shakedown.schedulers.slurm.parts import Parts, naming, stage_of
from shakedown.schedulers.slurm.renamed import Numbers, Owners, found_by_number, is_ours
from shakedown.schedulers.slurm.runner import Run, WhileItAnswers
from shakedown.schedulers.slurm.second_starts import CLOCKS_DIFFER_S
from shakedown.schedulers.slurm.states import BEFORE_AND_DURING, OVER, meaning
from shakedown.schedulers.slurm.surveying import survey
from shakedown.schedulers.slurm.unheard_ends import UnheardEnds
from shakedown.schedulers.slurm.unknown_starts import without_unknown

_WORDS_BYTES = 8192  # at the end of what Slurm wrote of a job
_UNREAD = (ENDED - {"completed", "failed"}) | {"requeued"}  # ends of which nobody reads the output to judge it
_MOST_GLANCED = 1024  # files that are looked for at once
_MOST_RESTARTS = 16  # whose end marks are looked for
_ENDED_BY_SLURM = re.compile(r"^slurmstepd\S*: error: \*\*\* ", re.MULTILINE)
_GHOST_S = 60.0  # for which a job that is done with is seen running before it is cancelled: Slurm may be slow to clear its nodes
_MOST_SWEPT = 64  # jobs that nobody wants any more, in one look
Say = Callable[[list[JobReport]], None]


@dataclass(slots=True)
class Asker:
    """Asks Slurm and reads the job directories.

    ``doubts``: job -> since when it is not plainly alive (monotonic clock). ``others``: the user's jobs with other names, by id.
    ``ghosts``: id of a job that is done with and called running -> since when it is seen so. ``asked_after``: (id, name) of the
    user's jobs with other names that have an id of ours -> whether they are ours. ``where``: the nodes of running jobs.
    """

    layout: Layout
    token: str
    clusters: Sequence[Cluster]
    run: Run
    command_s: float
    clock: Callable[[], float] = time.monotonic
    doubts: dict[str, float] = field(default_factory=dict)
    others: dict[str, QueueRow] = field(default_factory=dict)
    asked_after: dict[tuple[str, str], bool] = field(default_factory=dict)
    ghosts: dict[str, float] = field(default_factory=dict)
    where: dict[str, str] = field(default_factory=dict)
    places: JobPlaces = field(init=False)
    watch: TokenWatch = field(init=False)
    accounting: Accounting = field(init=False)
    nodes: FailedNodes = field(init=False)
    parts: Parts = field(init=False)
    owners: Owners = field(init=False)
    numbers: Numbers = field(init=False)
    boots: Boots = field(init=False)
    steps: BrokenSteps = field(init=False)
    ended: EndedSteps = field(init=False)
    unheard: UnheardEnds = field(init=False)
    ask: WhileItAnswers = field(init=False)

    def __post_init__(self) -> None:
        self.ask = WhileItAnswers(self.run)
        self.places = JobPlaces(self.layout)
        self.numbers = Numbers(self.token, self.places)
        self.owners = Owners(self.token, self.places, self.clusters, self.ask, self.command_s)
        self.watch = TokenWatch(self.layout, self.token, self.clock)
        self.boots = Boots(self.ask, self.clusters, self.command_s, self.clock)
        self.parts = Parts(self.places, self.boots)
        self.accounting = Accounting(self.ask, self.clusters, self.command_s, self.clock, self.numbers.owns)
        self.steps = BrokenSteps(self.places, self.boots)
        self.ended = EndedSteps(self.places, self.clusters, self.ask, self.command_s)
        self.unheard = UnheardEnds(self.places, self.clock)
        self.nodes = FailedNodes(self.ask, self.clusters, self.command_s, self.clock)

    def look(
        self,
        jobs: Sequence[Asked],
        say: Say,
        wanted: Wanted | None = None,
        tell: Callable[[Survey], None] = lambda _: None,
    ) -> bool:
        """Purpose: report what became of each job, a few at a time; nothing is reported of jobs for which there is nothing to say.

        What is ``wanted`` besides is reported through ``tell`` as soon as it is known. Returns True where a job has just ended and
        Slurm has not said how, so that another look is soon useful.
        """
        self.watch.look()
        self.ask.begin()
        self.numbers.hear(jobs)
        rows, silent = self._queue(jobs)
        lost, jobs = [job for job in jobs if job.lost], [job for job in jobs if not job.lost]
        chosen = {job.id: _choose(rows.get(job.id, []), job) for job in jobs}
        plain = [job for job in jobs if len(rows.get(job.id, [])) < 2 and is_plain(job, chosen[job.id])]
        say([report for job in plain if (row := chosen[job.id]) and (report := weigh(self._alive(job, row)))])
        if wanted is not None:
            tell(survey(wanted, self.clusters, self.token, self.ask, self.command_s))
        self._forget(plain, jobs)
        self.where = {job.id: self.where.get(job.id, "") for job in jobs} | _where(plain, chosen)
        self.unheard.look(job for job in plain if (row := chosen[job.id]) and row.state == "RUNNING")
        begun = self._begun_parts(job for job in plain if (row := chosen[job.id]) and row.state != "PENDING")
        say(self._summed(begun))
        plain_ids = {job.id for job in plain}
        found = [self._read(job, rows.get(job.id, []), silent) for job in jobs if job.id not in plain_ids]
        found = self.accounting.ask(found, {f.job.id: self._label(f.job.id) for f in found if needs_accounting(f)})
        found = self.accounting.scripts([self._as_counted(f) for f in found])
        found = [self._last_words(f) for f in found]
        self._sweep(
            rows, {job.id: job for job in (*jobs, *lost)}, found
        )  # before anything is said: perhaps nobody looks again
        reports = [report for f in found if (report := weigh(f)) and self._will_never_run(report)]
        reports += [report for job in lost if (report := self._lost_start(job))]
        by_job = {f.job.id: f for f in found}
        news = self._news(reports, by_job)
        self.steps.look_at(reports, by_job)
        self.parts.want()
        self.boots.ask()
        reports = self.nodes.explain(self.steps.explain(reports, by_job))
        reports = self.ended.explain(reports, by_job)
        node_fails = {report.job: report for report in reports if report.state == "node_fail"}
        ready = self.parts.ready(self.steps.settled, node_fails, bool(silent))
        reports = self.watch.explained(self._with_parts(reports, [*news, *ready], by_job))
        say(self._summed(reports))
        told = {report.job for report in reports if not report.run and report.state in (*ENDED, "requeued")}
        return any(_is_ending(f) for f in found if f.job.id not in told)

    def glance(self, jobs: Sequence[Asked], say: Say) -> bool:
        """Purpose: report what the marks of parts say, without asking Slurm. Returns True where a job left an end mark, so that a
        look is useful: only Slurm can tell whether the job's script wrote that mark.
        """
        reports, ended = [], False
        for job in [job for job in jobs if not job.lost][:_MOST_GLANCED]:
            with contextlib.suppress(OSError):
                reports += self.parts.news(job)
                ended |= self.places.marks(job.id, job.restart).exists()
        say(self._summed(reports))
        return ended

    # ---- parts ----

    def _begun_parts(self, jobs: Iterable[Asked]) -> list[JobReport]:
        reports = []
        for job in jobs:
            with contextlib.suppress(OSError):
                reports += self.parts.news(job)
        return reports

    def _news(self, reports: Sequence[JobReport], found: Mapping[str, Found]) -> list[JobReport]:
        """What the marks of parts say, for jobs that are not plainly alive; or that they cannot be read."""
        news: list[JobReport] = []
        for report in reports:
            f = found.get(report.job)
            if f is None or not f.job.parts or report.state == "queued":
                continue
            try:
                news += self.parts.news(f.job, stage_of(report, f.marks))
            except OSError as error:
                why = f"the marks of its parts cannot be read: {error.strerror}"
                news.append(
                    JobReport(report.job, "no_answer", "marks", report.scheduler_id, f.job.restart, message=why)
                )
        return news

    def _with_parts(
        self, reports: Sequence[JobReport], news: Sequence[JobReport], found: Mapping[str, Found]
    ) -> list[JobReport]:
        """The reports, with everything known of parts before the report on their job. The end of a job is left out until that is
        complete.
        """
        unreadable = {report.job for report in news if not report.run}
        said = list(news)
        for report in reports:
            f = found.get(report.job)
            if report.job in unreadable:
                continue
            if f is not None and report.state in ENDED and not self.parts.are_complete(f.job, f.marks, f.doubt_s):
                continue
            if f is not None and report.state in (*ENDED, "requeued"):
                said += self.parts.cut_off(f.job)
                if f.job.parts:
                    report = naming(report, self.parts.in_doubt(f.job, stage_of(report, f.marks)))
            said.append(report)
        return said

    def _summed(self, reports: Sequence[JobReport]) -> list[JobReport]:
        """The reports. The output of a run that was ended from outside is not read to judge it, so its sums are taken here and it
        is synced.
        """
        summed = []
        for report in reports:
            if report.output and (report.state in _UNREAD or (report.run and report.state == "running")):
                output, unsure = kept_unread(self.layout, report.output)
                why = f"; {UNSURE}: {unsure}" if unsure else ""
                report = msgspec.structs.replace(
                    report, output=output, message=f"{report.message}{why}".removeprefix("; ")
                )
            summed.append(report)
        return summed

    def _label(self, job: str) -> str:
        return job_label(self.token, job)

    # ---- the queue ----

    def _alive(self, job: Asked, row: QueueRow) -> Found:
        """A job for which the queue's answer is enough."""
        unheard = self.unheard.words(job) if row.state == "RUNNING" else ""
        return Found(job, row=row, renamed=self._other_name(job, row), unheard=unheard)

    def _other_name(self, job: Asked, row: QueueRow | None) -> str:
        """The name that somebody gave a job; "" where it has its own."""
        return row.name if row is not None and row.name != self._label(job.id) else ""

    def _queue(self, jobs: Sequence[Asked]) -> tuple[dict[str, list[QueueRow]], dict[str, str]]:
        """Our id -> the queue's rows of that job; and for each cluster that does not answer, what it said instead."""
        rows: dict[str, list[QueueRow]] = {}
        silent: dict[str, str] = {}
        several = len(self.clusters) > 1
        self.others = {}
        for cluster in self.clusters:
            ran = self.ask(commands.squeue(cluster.name, os.getuid(), several), self.command_s)
            if ran.status != 0:
                silent[cluster.name] = ran.error.strip().split("\n")[0] or f"squeue ended with {ran.status}"
                continue
            if odd := babble(ran.output):
                silent[cluster.name] = f"it printed what nobody can read: {odd}"
            told = queue_rows(ran.output, cluster.name if several else "")
            self.others |= {row.id: row for row in told if job_of_label(self.token, row.name) is None}
            for job, row in self.owners.sort(told, jobs):
                rows.setdefault(job, []).append(row)
        return rows, silent

    def _forget(self, plain: Sequence[Asked], jobs: Sequence[Asked]) -> None:
        """Forget doubts about jobs that are plainly alive, or that are not asked about any more."""
        for job in plain:
            self.doubts.pop(job.id, None)
        self.parts.forget(jobs)
        if len(self.doubts) > len(jobs):
            wanted = {job.id for job in jobs}
            self.doubts = {job: since for job, since in self.doubts.items() if job in wanted}

    # ---- files ----

    def _read(self, job: Asked, rows: Sequence[QueueRow], silent: dict[str, str]) -> Found:
        """What is found of a job that is not plainly alive: its marks, and for how long it has been so."""
        now = self.clock()
        marks, again, trouble = self._marks(job)
        renamed = None if rows else self._renamed(job, marks)
        if renamed is not None:
            rows = [renamed]
            if renamed.state in ("PENDING", "RUNNING"):
                self.doubts[job.id] = now
        row = _choose(rows, job, marks.scheduler_id if marks else "")
        never_began = not trouble and self._never_began(job, marks)
        doubt = now - self.doubts.setdefault(job.id, now)
        quiet = not rows and bool(silent) and _home(job) in ("", *silent)
        return Found(
            job,
            marks=marks,
            marks_trouble=trouble,
            row=row,
            queue="silent" if quiet else "told",
            trouble="; ".join(f"squeue: {what}" for what in silent.values()) if quiet else "",
            doubt_s=doubt,
            output=self._output(job, marks),
            renamed=self._other_name(job, row),
            again=again,
            never_began=never_began,
            moved_from=self.places.moved_from(job.id) if never_began else "",
            nodes_now=self.where.get(job.id, ""),
            has_directory=marks is not None or self.places.control(job.id).is_dir(),
        )

    def _marks(self, job: Asked) -> tuple[Marks | None, int, str]:
        """The marks of the newest start that did anything; the number of a later start that did nothing, 0 = none; and why they
        cannot be read.
        """
        again = 0
        try:
            marks = read_marks(self.places, job.id)
            while marks is not None and marks.restart > job.restart and (marks.void or marks.holder == CONDUCTOR):
                again = max(again, marks.restart if marks.void else 0)
                marks = read_restart(self.places, job.id, marks.restart - 1)
            if marks is None or not marks.claimed or marks.holder == CONDUCTOR:
                marks = read_robbed(self.places, job.id, job.restart) or marks
        except OSError as error:
            return None, 0, error.strerror or str(error)
        return marks, again, ""

    def _as_counted(self, found: Found) -> Found:
        """What was found, without starts that Slurm does not know."""
        try:
            return without_unknown(found, self.places, self.accounting.lag)
        except OSError as error:
            return msgspec.structs.replace(found, marks=None, marks_trouble=error.strerror or str(error))

    def _never_began(self, job: Asked, newest: Marks | None) -> bool:
        """Whether this start never took its claim: nobody took it, or a later start of the job did in its place."""
        try:
            own = read_small(self.places.claim(job.id, job.restart))
            if own is None or newest is None or newest.restart <= job.restart:
                return own is None
            return own == read_small(self.places.claim(job.id, newest.restart))
        except OSError:
            return False

    def _renamed(self, job: Asked, marks: Marks | None) -> QueueRow | None:
        """The row of a job that somebody gave another name: it has the id that the claim gives, or that the job was accepted with.

        After a controller lost its memory, a foreign job may have that id too; but that one began later, and perhaps elsewhere. For
        a job that has not begun, the controller is asked once which directory it works in.
        """
        row = self.others.get(marks.scheduler_id) if marks and marks.scheduler_id else None
        if row is not None and marks is not None:
            known = row.start and marks.claimed_at and row.nodes == marks.nodes
            return row if known and row.start <= marks.claimed_at + CLOCKS_DIFFER_S else None  # type: ignore[operator]
        row = found_by_number(job, self.others)
        if row is None:
            return None
        key = (row.id, row.name)
        if key not in self.asked_after:
            self.asked_after[key] = is_ours(self.ask, self.clusters, row, self.places.control(job.id), self.command_s)
        return row if self.asked_after[key] else None

    def _output(self, job: Asked, marks: Marks | None) -> dict[str, Any]:
        """Where the job's output is, as paths inside the campaign."""
        if marks is None or not marks.claimed or marks.holder == CONDUCTOR:
            return {}
        if self.places.layout.part_marks(job.id).is_dir():  # each part has its own
            return {}
        root = self.places.layout.root
        file, place = self.places.output(job.id, job.restart), self.places.directory(job.id, job.restart)
        return {
            "file": str(file.relative_to(root)),
            "bytes": marks.output_bytes,
            "directory": str(place.relative_to(root)),
        } | ({"no_room": NO_ROOM} if marks.full else {})

    def _will_never_run(self, report: JobReport) -> bool:
        """Whether a failed launch may be reported. The claim of that start is taken first, so that nothing of it can come later."""
        if not report.launch_failure or report.state == "requeued":  # the next start takes the claims before its own
            return True
        try:
            return self.places.take_claim(report.job, report.restart)
        except (CannotStart, OSError):
            return False

    def _last_words(self, found: Found) -> Found:
        """What slurmstepd wrote into the job's own output, and the last line there, for jobs that the queue no longer explains."""
        contradicted = contradicted_end(found) is not None
        if found.row is not None and meaning(found.row.state).state not in OVER and not contradicted:
            return found
        if found.marks is not None and found.marks.exit_status is not None and not contradicted:
            return found
        words, last, told = "", "", False
        try:
            with open_plain(self.places.slurm_output(found.job.id)) as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _WORDS_BYTES))
                text = file.read(_WORDS_BYTES).decode("utf-8", "replace")
                told = bool(_ENDED_BY_SLURM.search(text))
                said, last = list(last_words(text)), clean(text.strip().rpartition("\n")[2])
                words = said[-1] if len(said) > found.job.restart else ""  # earlier restarts left theirs too
        except OSError:
            pass
        return msgspec.structs.replace(found, words=words, said=last, told_to_end=told)

    def _lost_start(self, job: Asked) -> JobReport | None:
        """The report on a start whose node was lost, of a job that went on elsewhere. It is over when it has an end mark or its
        nodes answer again.
        """
        try:
            marks = read_restart(self.places, job.id, job.restart)
        except OSError:
            return None
        state = "node_fail" if marks.elapsed_s is None else "failed" if marks.exit_status else "completed"
        source: Any = "marks" if marks.elapsed_s is not None else "queue"
        return JobReport(job.id, state, source, job.scheduler_id, job.restart, nodes=marks.nodes)

    # ---- jobs that must not run ----

    def _sweep(self, rows: dict[str, list[QueueRow]], jobs: dict[str, Asked], found: Iterable[Found]) -> None:
        """Cancel jobs in the queue that could only end at once, or whose work would be done twice.

        These are jobs whose claim the conductor took, restarts of jobs that came to their own end, and the second of two jobs with
        one name, which a lost answer of sbatch may leave.
        """
        holders = {f.job.id: f.marks.scheduler_id for f in found if f.marks and f.marks.scheduler_id}
        ended = {
            f.job.id: f.doubt_s
            for f in found
            if f.marks
            and f.marks.restart == f.job.restart
            and f.marks.exit_status is not None
            and f.marks.exit_status < KILLED
        }
        surplus: dict[str, list[str]] = {}
        before, self.ghosts = self.ghosts, {}
        for job, ours in rows.items():
            alive = [row for row in ours if meaning(row.state).state in BEFORE_AND_DURING]
            for row in self._seconds(job, ours, jobs.get(job), holders.get(job, "")):
                surplus.setdefault(row.cluster, []).append(row.id)
            if not alive or (job in jobs and job not in ended):
                continue
            for row in alive[:_MOST_SWEPT]:
                surplus_restart = job in ended and row.restart > jobs[job].restart
                if row.state == "COMPLETING" or (surplus_restart and row.state == "RUNNING" and ended[job] < SETTLE_S):
                    continue  # it is over, or may have taken its claim: then it is another run
                void = job not in jobs and (self._is_void(job, row) or self._is_ghost(job, row, before))
                if surplus_restart or void:
                    surplus.setdefault(row.cluster, []).append(row.id)
        for cluster, ids in surplus.items():
            self.ask(commands.scancel(cluster, bool(cluster), ids[:_MOST_SWEPT]), self.command_s)

    def _seconds(self, job: str, rows: Sequence[QueueRow], asked: Asked | None, holder: str) -> list[QueueRow]:
        """Of several jobs with one name, those that wait beside the one that has the claim, or whose number sbatch gave."""
        known = holder or (asked.scheduler_id.partition(";")[0] if asked is not None else "")
        if len(rows) < 2 or all(row.id != known for row in rows):
            return []
        others = [row for row in rows if row.id != known and row.state == "PENDING"]
        return [row for row in others if self.owners.owner(row) == job]

    def _is_ghost(self, job: str, row: QueueRow, before: Mapping[str, float]) -> bool:
        """Whether a job that is not asked about any more is called running although this start of it left its end mark long ago. A
        controller that came back with an older state keeps its nodes for it until its time limit.
        """
        try:
            own = self.places.claim_holder(job, row.restart) if row.state == "RUNNING" else None
            if own != row.id or read_restart(self.places, job, row.restart).exit_status is None:
                return False
        except OSError:
            return False
        now = self.clock()
        since = self.ghosts[row.id] = before.get(row.id, now)
        return now - since >= _GHOST_S

    def _is_void(self, job: str, row: QueueRow) -> bool:
        """Whether a job that is not asked about any more would find its claim taken by the conductor, or its work done."""
        try:
            first, own = self.places.claim_holder(job, 0), self.places.claim_holder(job, row.restart)
            if CONDUCTOR in (first, own) or (own not in (None, "", row.id) and self.owners.owner(row) == job):
                return True  # it would find its claim taken
            if own == row.id and row.state == "PENDING":
                return True  # this start has run: the controller came back with an older state
            ends = (
                read_restart(self.places, job, number).exit_status for number in range(min(row.restart, _MOST_RESTARTS))
            )
            return any(status is not None and status < KILLED for status in ends)
        except OSError:
            return False


def _choose(rows: Sequence[QueueRow], job: Asked, holder: str = "") -> QueueRow | None:
    """Of several jobs with one name: the one that has the claim or is known, else one that runs, else the oldest."""
    if len(rows) < 2:
        return rows[0] if rows else None
    known = holder or job.scheduler_id.split(";")[0]
    return min(
        rows, key=lambda row: (row.id != known, row.state == "CANCELLED", row.state == "PENDING", len(row.id), row.id)
    )


def _is_ending(found: Found) -> bool:
    """Whether a job left an end mark or is leaving the queue, so that its sources may soon agree on its end."""
    marked = found.marks is not None and found.marks.exit_status is not None
    leaves = found.row is not None and meaning(found.row.state).state in OVER
    return found.doubt_s < SETTLE_S and (marked or leaves)


def _where(plain: Sequence[Asked], chosen: Mapping[str, QueueRow | None]) -> dict[str, str]:
    rows = {job.id: chosen[job.id] for job in plain}
    return {job: row.nodes for job, row in rows.items() if row is not None and row.state == "RUNNING" and row.nodes}


def _home(job: Asked) -> str:
    """The cluster that a scheduler's id names; "" where there is only one, or it is not known."""
    return job.scheduler_id.partition(";")[2]
