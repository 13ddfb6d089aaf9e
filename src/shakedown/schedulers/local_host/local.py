"""The scheduler of this machine: core slots, a queue, binding, time limits. There is no daemon.

Jobs are children of the conductor and do not outlive it: ``end_all`` ends them when it stops. If the conductor is killed, they lose
their output pipe. The next conductor finds them by the marker in their environment, ends what is left of them, and then reports
that they were interrupted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster, Document
from shakedown.model.ports import (
    ENDED,
    JobOrder,
    JobReport,
    JobView,
    Opened,
    ReleaseOrder,
    SubmitAnswer,
    Survey,
    Wanted,
)
from shakedown.processes.identity import identity
from shakedown.processes.orphans import Orphans
from shakedown.processes.reactor import Reactor, Timer
from shakedown.processes.table import Process
from shakedown.processes.tree import name_of
from shakedown.processes.witness import Witness
from shakedown.schedulers.claims import CannotStart, Workplace, is_full
from shakedown.schedulers.local_host.capture import KEEP_BYTES
from shakedown.schedulers.local_host.launch import Launch, Launcher
from shakedown.schedulers.local_host.leftovers import Leftovers
from shakedown.schedulers.local_host.machine_slots import MachineSlots, Taken, gpus_of, slots_of
from shakedown.schedulers.local_host.reports import end_report, never_started, say_loss
from shakedown.schedulers.local_host.running import Running
from shakedown.schedulers.local_host.script import CLAIM_TAKEN
from shakedown.schedulers.local_host.standby import DEPTH, Standby
from shakedown.schedulers.local_host.waiting import Waiting
from shakedown.schedulers.made_directories import is_away
from shakedown.schedulers.output_archive import PackWriter

_HOLD_S = 0.5  # between two tries to start what could not be started
_RUNNING_AFTER_S = 0.01  # a job that lives this long is reported as running and listened to; a shorter one only ends
_TELL_S = 0.005  # while enough is queued, ends are told of this often at most: many ends, one waking
_FORGET_FROM = 4096  # ids of jobs that are over are forgotten when they are this many


def open_local(layout: Layout, document: Document, clusters: Sequence[Cluster], reactor: Reactor) -> Opened:
    """Purpose: the port of a session on the cores and GPUs that the system's partitions have."""
    local = LocalScheduler(layout, reactor, slots=slots_of(document.system, clusters))
    return Opened(local, local.close, local.end_all, local.forsake, local.pause_while, local.sync)


class LocalScheduler:
    """The Scheduler port for the cores of this machine. First come, first served: see ``Waiting``."""

    poll_s = 0.0

    def __init__(
        self,
        layout: Layout,
        reactor: Reactor,
        cores: int | None = None,
        grace_s: float = 5.0,
        patience_s: float = 30.0,
        keep_bytes: int = KEEP_BYTES,
        gpus: int = 0,
        slots: MachineSlots | None = None,
    ) -> None:
        """``slots``: what there is; else ``cores`` and ``gpus`` say it. ``grace_s``: between asking a job to end and killing it.

        ``patience_s``: how long a start that fails for want of room is tried again, and how long a killed process may take
        to die. ``keep_bytes``: the most output that is kept of one run.
        """
        self._reactor, self._grace_s, self._patience_s = reactor, grace_s, patience_s
        self._slots = slots or MachineSlots(cores, gpus, {})
        self._workplace = Workplace(layout)
        self._is_paused: Callable[[], bool] = lambda: False
        self._disks = (os.fspath(layout.root), os.fspath(layout.work))
        self._launcher = Launcher(layout, self._workplace, keep_bytes, gpus=self._slots.described_gpus > 0)
        self._packs = PackWriter(layout.packs)
        self._orphans = Orphans()
        self._witness = Witness(reactor)
        self._queue = Waiting(self._slots)
        self._held_since: float | None = None  # since when the first of the queue cannot be started for want of room
        self._held_timer: Timer | None = None
        self._running: dict[str, Running] = {}
        self._pids: set[int] = set()  # of every process that we started and did not collect
        self._standby = Standby(self._launcher, self._workplace, reactor, self._pids)
        self._filler: Timer | None = None
        self._fresh: list[Running] = []  # started, and not yet reported as running
        self._ended: list[Running] = []  # over, and not yet written up
        self._sweeping: set[str] = set()  # over, but for what they left behind
        self._known: set[str] = set()  # every job that we can answer for
        self._reports: list[JobReport] = []
        self._leftovers = Leftovers(
            layout, reactor, self._workplace, self._launcher.marker, self._say_of_leftover, grace_s, patience_s
        )
        self._unwritten: list[Running] = []  # over, and the disk does not take their large outputs
        self._room_timer: Timer | None = None
        self._leaving = False
        self._void: set[str] = set()  # jobs that ended before they had their claim: they never ran and never will
        self._fresh_timer: Timer | None = None
        self._told = 0.0
        self._teller: Timer | None = None
        self._node = os.uname().nodename

    # ---- the port ----

    def submit(self, orders: Sequence[JobOrder]) -> Sequence[SubmitAnswer]:
        """Start the jobs that fit now, and queue the others."""
        answers = [self._submit_one(order) for order in orders]
        self._fill_soon()
        return answers

    def poll(self, jobs: Mapping[str, JobView]) -> Sequence[JobReport]:
        """The changes since the last poll; and for jobs that are new here, what became of them under an earlier conductor."""
        for job in jobs.keys() - self._known:
            self._known.add(job)
            self._leftovers.adopt(jobs[job])
        self._report_running()
        self._write_up()
        self._packs.flush()
        reports, self._reports = self._kept_reports()
        self._told = time.monotonic()
        if len(self._known) > _FORGET_FROM:
            self._known &= jobs.keys() | self._running.keys() | set(self._queue)
        return [say_loss(report) for report in reports]

    def _kept_reports(self) -> tuple[list[JobReport], list[JobReport]]:
        """The reports whose outputs are on disk, and those that wait until there is room for theirs."""
        waiting = [report for report in self._reports if report.output == {} and self._packs.holds(report.output)]
        if waiting or self._unwritten:
            self._look_for_room()
        if not waiting:
            return self._reports, []
        held = {id(report) for report in waiting}
        kept = [report for report in self._reports if id(report) not in held]
        return kept, [self._as_it_began(report) for report in waiting]

    def _as_it_began(self, report: JobReport) -> JobReport:
        """The report with its start time filled in. It is worked out now, since the report waits and its own time would make it
        later.
        """
        if report.began is not None or report.elapsed_s is None:
            return report
        return replace(report, began=self._reactor.now() - report.elapsed_s)

    def _look_for_room(self) -> None:
        if self._room_timer is None:
            self._room_timer = self._reactor.call_later(_HOLD_S, self._room_again)

    def _room_again(self) -> bool:
        """Try again, at the next poll, to write outputs that the disk did not take."""
        self._room_timer = None
        self._ended += self._unwritten
        self._unwritten = []
        return self._has_news()

    def cancel(self, jobs: Sequence[JobView]) -> Sequence[str]:
        """End these jobs. Their reports say so when they are known to be dead."""
        return [job.id for job in jobs if self._cancel_one(job.id)]

    def release(self, orders: Sequence[ReleaseOrder]) -> Sequence[str]:
        """All of them: no job is held here, so each may start already."""
        return [order.id for order in orders]

    def hold(self, jobs: Sequence[JobView]) -> Sequence[str]:
        """None of them: this scheduler cannot hold jobs. A waiting job is taken back by its claim."""
        return []

    def take_parts(self, job: JobView, runs: Sequence[str]) -> Sequence[str]:
        """Empty: jobs have no parts here, since a job for each run costs next to nothing."""
        return []

    def survey(self, wanted: Wanted) -> Survey | None:
        """None: there is only one node, and no queue of other users."""
        return None

    def calls(self) -> Mapping[str, int]:
        """Empty: no scheduler commands are run on this machine."""
        return {}

    def take_claim(self, job: JobView) -> bool | None:
        """Make sure that the job can never start. None where the disk does not show it.

        A started job is left alone, even if its shell has not taken its claim yet: it runs to its end, and its report follows.
        """
        if job.id in self._running or job.id in self._sweeping or self._is_unreported(job.id):
            return False
        try:
            taken = job.id in self._void or self._workplace.take_claim(job.id, job.restart)
        except CannotStart:
            if job.id not in self._queue:
                return None
            taken = True  # it waits at a gate of ours, which never opens now: nobody else can start it
        self._void.discard(job.id)
        if taken:
            self._unqueue(job.id)
        else:
            self._known.discard(job.id)  # it is not absent after all: the next poll looks again
        return taken

    def end_all(self) -> Sequence[JobReport]:
        """End all jobs, wait until they are known to be over, and report that they were interrupted. Jobs that only waited are
        forgotten.
        """
        self._known.difference_update(self._queue)
        for job in list(self._queue):
            self._unqueue(job)
        for running in list(self._running.values()):
            running.end("interrupted", "it was ended with the conductor", self._grace_s, self._patience_s)
        self._leaving = True  # what the disk does not take now is lost
        self._room_again()
        self._write_up()
        while self._running or self._sweeping or self._standby.is_waiting:
            self._reactor.wait(self._reactor.now() + 0.05)
            self._write_up()
        self._packs.give_up()
        return self.poll({})

    def pause_while(self, question: Callable[[], bool]) -> None:
        """Start no queued jobs while ``question`` answers True: the record cannot be written then, and the start would not be
        recorded.
        """
        self._is_paused = question

    def forsake(self) -> None:
        """Another conductor has the campaign and its directories now. Only the processes of this one are still to be ended."""
        self._workplace.forsaken = True

    def close(self) -> None:
        """Close all files. Jobs that still run are ended first; their reports are lost."""
        if self._running or self._sweeping or self._queue:
            self.end_all()
        self._packs.close()
        self._workplace.tidy_up()
        self._workplace.close()
        self._orphans.close()
        self._witness.close()

    def sync(self) -> None:
        """Make sure that reported outputs survive a loss of power. Raises OSError."""
        self._packs.sync()

    def _is_unreported(self, job: str) -> bool:
        """Whether a job is over and its report has not been given yet."""
        return any(running.order.job == job for running in self._ended) or any(
            report.job == job and report.state in ENDED for report in self._reports
        )

    # ---- the queue ----

    def _submit_one(self, order: JobOrder) -> SubmitAnswer:
        if order.job in self._queue or order.job in self._running:
            return SubmitAnswer(order.job, "accepted")
        never = self._slots.never_fits(order.case)
        if never:
            return SubmitAnswer(order.job, "refused", message=never, never=True)
        try:
            self._launcher.check(order)
            full = self._disk_is_full()
            if self._queue.is_before(order) or full or not self._start(order):
                self._queue.add(order)
            if full:
                self._hold(lasting=True)
        except CannotStart as error:
            return SubmitAnswer(order.job, "refused", transient=error.transient, message=error.message)
        self._known.add(order.job)
        return SubmitAnswer(order.job, "accepted")

    def _unqueue(self, job: str) -> JobOrder | None:
        """Take a job out of the queue, if it is there."""
        order = self._queue.remove(job)
        if order is not None:
            self._standby.dismiss(order)
            self._fill_soon()
        return order

    def _start_waiting(self) -> None:
        """Start from the head of the queue as long as there are slots."""
        while self._queue:
            if self._disk_is_full() or self._is_paused():
                self._hold(lasting=True)
                return
            order = self._queue.first()
            if order is None:
                return
            try:
                if not self._start(order):
                    return
            except CannotStart as error:
                if error.transient:  # what stands by holds descriptors and processes that it may need
                    for other in self._queue.orders(DEPTH + 2):
                        if other is not order:
                            self._standby.dismiss(other)
                if error.transient and self._hold(
                    error.no_room or bool(self._running)
                ):  # what runs gives back what it took
                    return
                self._say(never_started(order, "refused", error.message))
            self._held_since = None
            self._queue.remove(order.job)

    def _hold(self, lasting: bool) -> bool:
        """Try the head of the queue again in a moment. Returns False once it has been tried for too long, unless the reason is
        ``lasting``.
        """
        now = time.monotonic()
        if self._held_since is None:
            self._held_since = now
        if now - self._held_since >= self._patience_s and not lasting:
            return False
        if self._held_timer is None:
            self._held_timer = self._reactor.call_later(_HOLD_S, self._try_again)
        return True

    def _disk_is_full(self) -> bool:
        """Whether a job could not write its claim, or would have no directory or no room in it."""
        return is_away(self._disks[0]) or any(is_full(place) for place in self._disks)

    def _try_again(self) -> object:
        self._held_timer = None
        self._start_waiting()
        return self._has_news()

    def _start(self, order: JobOrder) -> bool:
        """Start a job if its cores and its GPUs are free. Raises CannotStart. What another conductor left may be on any GPU."""
        if gpus_of(order.case) and self._leftovers.ending:
            return False
        taken = self._slots.take(order.case)
        if taken is None:
            return False
        try:
            launch = self._release(order, taken)
        except CannotStart:
            self._slots.give_back_cores(order.case, taken.cores)
            self._slots.give_back_gpus(order.case, taken.gpus)
            raise
        running = Running(order, taken.cores, taken.gpus, launch, self._reactor, self._over, self._witness)
        self._running[order.job] = running
        running.watch()
        limit = order.case.shape.time_limit_s
        if limit > 0:
            running.timer = self._reactor.call_later(limit, partial(self._time_is_up, running))
        self._fresh.append(running)
        if self._fresh_timer is None:
            self._fresh_timer = self._reactor.call_later(_RUNNING_AFTER_S, self._look_at_fresh)
        return True

    def _release(self, order: JobOrder, taken: Taken, again: bool = True) -> Launch:
        """Let a job begin. Where its shell was killed while it stood by, another one is launched."""
        launch = self._standby.get(order)
        self._workplace.note_let_go(
            order.job, order.restart
        )  # before it: the shell that is woken may run before we go on
        try:
            launch.release(self._slots.cores.cpus(taken.bound), self._slots.gpus.names(taken.gpus))
        except OSError as error:
            self._standby.dismiss(order, launch)
            if again:
                return self._release(order, taken, again=False)
            raise self._launcher.cannot_start(order, error) from error
        return launch

    def _fill_soon(self) -> None:
        """Start shells to stand by, but only after all other events that are due: jobs that wait for cores come first."""
        if self._queue and self._filler is None:
            self._filler = self._reactor.call_later(0.0, self._fill_standby)

    def _fill_standby(self) -> bool:
        self._filler = None
        self._standby.fill(self._queue.orders(DEPTH))
        return False

    # ---- the end of a job ----

    def _time_is_up(self, running: Running) -> object:
        left = running.time_left()
        if left > 0:
            running.timer = self._reactor.call_later(left, partial(self._time_is_up, running))
            return False
        return running.end("timeout", running.limit_in_words(), self._grace_s, self._patience_s)

    def _cancel_one(self, job: str) -> bool:
        order = self._unqueue(job)
        if order is not None:
            self._say(never_started(order, "cancelled", "it was cancelled before it started"))
            self._reactor.poke()
            return True
        running = self._running.get(job)
        if running is None:
            return False
        running.end("cancelled", "it was cancelled", self._grace_s, self._patience_s)
        return running.why == "cancelled"

    def _over(self, running: Running) -> object:
        """A job's process group is over: the next job may start. The report is written at the next poll."""
        del self._running[running.order.job]
        self._pids.discard(running.launch.child.pid)
        self._slots.give_back_cores(running.order.case, running.slots)
        self._ended.append(running)
        self._start_waiting()
        self._fill_soon()
        return self._news()

    def _write_up(self) -> None:
        """Report the jobs that are over, after making sure that no process of them is left outside of their process groups."""
        ended, self._ended = self._ended, []
        known = self._pids | {self._witness.pid}
        escaped = self._orphans.markers(known) if ended else ()
        nameless = self._orphans.nameless(known) if ended else ()
        for running in ended:
            strays = self._strays(running, nameless) if nameless and not running.strays else []
            running.strays = tuple(name_of(process) for process in strays) or running.strays
            if strays or (running.launch.marker in escaped and running.ending is None):
                self._sweeping.add(running.order.job)
                running.sweep(partial(self._swept, running), strays=strays)
            elif running.launch.capture.is_held() and not self._leaving:
                self._unwritten.append(running)
            else:
                self._file(running)

    def _strays(self, running: Running, nameless: Sequence[Process]) -> list[Process]:
        """The orphans that are this job's and cannot be those of another that still runs."""
        found = running.strays_among(nameless, self._slots.cores.cpus(running.slots))
        for other in self._running.values() if found else ():
            others = other.strays_among(found, self._slots.cores.cpus(other.slots))
            found = [process for process in found if process not in others]
        return found

    def _swept(self, running: Running) -> bool:
        self._sweeping.discard(running.order.job)
        self._ended.append(running)
        return True

    def _file(self, running: Running) -> None:
        """Keep the output of a job that is over, and report it. Its GPUs become free only now, when no process of it is left."""
        order, launch = running.order, running.launch
        if running.gpus:
            self._slots.give_back_gpus(order.case, running.gpus)
            running.gpus = ()
            self._start_waiting()
        output, note = launch.capture.finish(self._packs)
        self._reactor.close_watched(launch.capture.descriptor)
        self._workplace.tidy(launch.place, order.case.files)
        if launch.script_file:
            self._workplace.remove_script(order.job, order.restart)
        if running.exit_status == CLAIM_TAKEN and not self._held_claim(running):
            self._without_claim(running)
        else:
            self._say(end_report(running, output, note, self._node, self._reactor.now))

    def _without_claim(self, running: Running) -> object:
        """Handle a script that did not get its claim, and so did not run. If only the disk prevented it, the run goes back to wait,
        unless it was reported as running already.
        """
        order = running.order
        if running.told or self._workplace.claim_holder(order.job, order.restart):
            return self._leftovers.claim_was_taken(order)
        self._void.add(order.job)
        message = "its claim could not be written, so it did not run"
        return self._say(JobReport(order.job, "absent", "local", restart=order.restart, message=message))

    def _held_claim(self, running: Running) -> bool:
        """Whether the script got its claim. Exit status 97 alone does not tell: the payload may end with it too."""
        order = running.order
        return self._workplace.claim_holder(order.job, order.restart) == str(running.launch.child.pid)

    # ---- saying so ----

    def _say(self, report: JobReport) -> bool:
        self._reports.append(report)
        return True

    def _say_of_leftover(self, report: JobReport) -> bool:
        """Report a job of an earlier conductor, all of whose processes are gone: its GPUs are free."""
        self._say(report)
        self._start_waiting()
        return True

    def _report_running(self) -> None:
        """Report jobs that have been running for a moment and were not reported yet. For a shorter job its end is enough."""
        fresh, self._fresh = self._fresh, []
        before = time.monotonic() - _RUNNING_AFTER_S
        for running in fresh:
            if running.has_ended:
                continue
            if running.launch.child.started > before:
                self._fresh.append(running)
                continue
            running.listen()
            if not self._held_claim(running):  # until then it may turn out that it never ran
                self._fresh.append(running)
                continue
            if running.ending is None:
                running.told = True
                order, process = running.order, identity(running.launch.child.pid)
                self._say(JobReport(order.job, "running", "local", process, order.restart, nodes=self._node))

    def _look_at_fresh(self) -> bool:
        self._fresh_timer = None
        self._report_running()
        if self._fresh:
            self._fresh_timer = self._reactor.call_later(_RUNNING_AFTER_S, self._look_at_fresh)
        return self._has_news()

    def _news(self) -> bool:
        """Whether to wake the conductor now. As long as enough is queued it is told of many ends at once."""
        if len(self._queue) <= self._slots.cores.count or time.monotonic() - self._told > _TELL_S:
            return True
        if self._teller is None:
            self._teller = self._reactor.call_later(_TELL_S, self._tell)
        return False

    def _tell(self) -> bool:
        self._teller = None
        return self._has_news()

    def _has_news(self) -> bool:
        return bool(self._reports or self._ended)
