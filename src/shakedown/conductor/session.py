"""One driver's session with a campaign on this machine: lease, log, ports, loop, and leaving in good order.

``drive`` is the table of contents. What the twin replaces is made in ``_open_ports``; everything else is the same loop.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

from shakedown import __version__
from shakedown.conductor.driving import begin
from shakedown.conductor.loop import Conductor, act, hear, log_asked, log_reports, loop
from shakedown.conductor.operators import commands_for
from shakedown.conductor.snapshots import Snapshots
from shakedown.engine import State, index_plan
from shakedown.engine.explain import waits_for_people
from shakedown.events.campaigns import read_document
from shakedown.events.identity import user_name
from shakedown.events.inbox import FileInbox
from shakedown.events.lease import Lease
from shakedown.events.opening import Tail, open_log
from shakedown.events.reader import read_events
from shakedown.events.writer import DiskFull, LogWriter
from shakedown.model.errors import RecordError
from shakedown.model.events import Event
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document
from shakedown.model.ports import Clock, JobReport, Ports

if TYPE_CHECKING:
    from shakedown.processes.reactor import Reactor

BEAT_S = 2.0  # the longest wait: operators' wishes are seen at least so often
INBOX_PACE_S = 0.2
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HURRY, LEAVE = 1, 2  # Ctrl-C once: submit nothing new; twice: leave


@dataclass(slots=True)
class Interruptions:
    """What signals asked for. The first Ctrl-C lets runs end; the second, SIGTERM or a hang-up leave at once."""

    level: int = 0
    told: int = 0
    people: str = ""  # what was said that people have to do
    say: Callable[[str], None] = lambda text: None

    def signalled(self, number: int, frame: FrameType | None) -> None:
        self.level = self.level + 1 if number == signal.SIGINT else LEAVE

    def should_stop(self, conductor: Conductor) -> bool:
        """Called once a turn. Says what is going on, once, and whether the loop is to be left."""
        state = conductor.state
        if self.level >= LEAVE:
            return True
        if self.level == HURRY and self.told < HURRY:
            self.told = HURRY
            conductor.log("stop_request", value={"who": user_name(os.getuid())}, reason="Ctrl-C at the conductor")
            self.say(f"nothing new is submitted; {len(state.jobs)} jobs may end (Ctrl-C again to leave at once)")
        self._ask_people(state)
        return bool(state.stopping) and not state.jobs and not state.runs and not state.builds_running()

    def _ask_people(self, state: State) -> None:
        """Say once what nothing goes on without."""
        asked = "" if state.jobs else waits_for_people(state, state.time)
        if asked and asked != self.people:
            self.say(f"nothing goes on before people act: {asked}\nhint: Ctrl-C leaves; shakedown resume goes on later")
        self.people = asked


@dataclass(slots=True)
class Outcome:
    """How a session ended: the state it left, and whether a later one has something left to do."""

    state: State
    finished: bool
    left: str = ""


@dataclass(slots=True)
class SessionClock:
    """The real clock, in slices: heartbeat, group commit, snapshots and the display go on while the loop waits.

    The beat is here, in the loop's own wait, and not in a thread: a loop that hangs must not look alive.
    """

    clock: Clock
    lease: Lease
    log: LogWriter
    idle: Callable[[], float] | None = None  # redraws; returns in how many seconds it wants to again
    at_rest: Callable[[], None] = lambda: None
    next_show: float = 0.0

    def now(self) -> float:
        return self.clock.now()

    def wait(self, until: float | None) -> None:
        now = self.clock.now()
        self.lease.beat(now)
        self.at_rest()
        limit = now + BEAT_S
        wanted = self.log.tick(now)
        if wanted is not None:
            limit = min(limit, wanted)
        if self.idle is not None:
            if now >= self.next_show:
                self.next_show = now + self.idle()
            limit = min(limit, self.next_show)
        self.clock.wait(limit if until is None else min(until, limit))


@dataclass(slots=True)
class Watchers:
    """Whom a session tells: every event, every idle moment, and sentences for the person."""

    event: Callable[[State, Event], None] | None = None
    idle: Callable[[], float] | None = None
    say: Callable[[str], None] = field(default=lambda text: None)


def drive(layout: Layout, watchers: Watchers, take_over: bool = False) -> Outcome:
    """Purpose: take the lease of a campaign and drive it until it is over, or someone asks us to leave.

    Errors: LeaseHeld where someone else drives it; RecordError where the record is damaged or cannot be written.
    """
    from shakedown.conductor.fingerprints import Fingerprints, probe_of

    with Lease.acquire(layout, take_over=take_over) as lease:
        log, tail = open_log(layout.log, lease)
        documents = Documents(layout)
        snapshots = Snapshots(layout, documents)
        state = snapshots.load_and_fold()
        document = documents.newest(state)
        with _open_ports(layout, document, log, lease, watchers) as (ports, clock, end_runs):
            conductor = Conductor(state, ports, watchers.event, commands_for(documents))
            conductor.reread = lambda: read_events(layout.log)
            if state.plan is None:
                state.plan = index_plan(document)
            fingerprints = Fingerprints(layout, probe_of(document.system, cast("Reactor", clock.clock)))
            conductor.commands |= {"fingerprint": fingerprints.command}
            clock.at_rest = lambda: snapshots.consider(conductor.state, log)
            driver = _driver(layout, lease.epoch)
            with closing(fingerprints):
                start = documents.start_value(state)
                return _session(conductor, start, driver, tail, watchers, end_runs, fingerprints.take)


EndRuns = Callable[[], Sequence[JobReport]]


def _session(
    conductor: Conductor,
    start: dict[str, Any],
    driver: dict[str, Any],
    tail: Tail,
    watchers: Watchers,
    end_runs: EndRuns,
    look_around: Callable[[Conductor], None],
) -> Outcome:
    """The loop under signals; then the last words. ``look_around``: what is found out before the first order."""
    interruptions = Interruptions(say=watchers.say)
    with _signals(interruptions):
        try:
            begin(conductor, start, driver, conductor.state.index.document)
            if tail.cut_bytes:
                _say_torn(conductor, tail)
            look_around(conductor)
            loop(conductor, interruptions.should_stop)
            left = "" if conductor.state.phase == "ended" else _leave(conductor, interruptions, end_runs)
            log_asked(conductor)
            conductor.log("driver_stop", reason=left or "the campaign is over")
            conductor.commit()
        except DiskFull as full:
            left = _leave_on_full_disk(conductor, end_runs, full)
    return Outcome(conductor.state, conductor.state.phase == "ended", left)


def _say_torn(conductor: Conductor, tail: Tail) -> None:
    why = (
        f"the last driver left {tail.cut_bytes} bytes of an unfinished line in {tail.cut_from}; they were never durable"
    )
    conductor.log("finding", value={"kind": "torn_line", "bytes": tail.cut_bytes}, reason=why)


def _leave(conductor: Conductor, interruptions: Interruptions, end_runs: EndRuns) -> str:
    """Local runs do not outlive their conductor: they are ended, known dead, recorded as interrupted and tried again."""
    if not conductor.state.stopping:
        conductor.log(
            "stop_request", value={"who": user_name(os.getuid())}, reason="the conductor was told to leave at once"
        )
    if conductor.state.jobs:
        log_reports(conductor, end_runs())
        hear(conductor)
        act(conductor)
    return conductor.state.stopping


def _leave_on_full_disk(conductor: Conductor, end_runs: EndRuns, full: DiskFull) -> str:
    """Nothing new is started on a full disk. What ran is ended; the reserve is used to say why."""
    end_runs()
    conductor.log("finding", value={"kind": "disk_full"}, reason=full.message)
    with suppress(DiskFull):
        conductor.commit()
    return f"{full.message}; what ran was ended and is tried again"


@contextmanager
def _signals(interruptions: Interruptions) -> Iterator[None]:
    before = {number: signal.signal(number, interruptions.signalled) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _open_ports(
    layout: Layout, document: Document, log: LogWriter, lease: Lease, watchers: Watchers
) -> Iterator[tuple[Ports, SessionClock, EndRuns]]:
    """The real world's ports, for the machine we stand on. Workers are forked first, while this process is small."""
    from shakedown.builds.builder import LocalBuilder
    from shakedown.conductor.collector import WorkerCollector
    from shakedown.processes.reactor import Reactor
    from shakedown.schedulers.local import LocalScheduler

    with ExitStack() as after:
        after.callback(log.close)
        reactor = Reactor()
        after.callback(reactor.close)
        collector = WorkerCollector(layout, reactor)
        after.callback(collector.close)
        builder = LocalBuilder(layout, reactor)
        after.callback(builder.close)
        scheduler = LocalScheduler(layout, reactor, cores=_cores(document))
        after.callback(scheduler.close)
        clock = SessionClock(reactor, lease, log, watchers.idle)
        yield (
            Ports(clock, scheduler, builder, collector, log, FileInbox(layout, INBOX_PACE_S)),
            clock,
            scheduler.end_all,
        )


def _cores(document: Document) -> int:
    partition = document.system.partitions()[0]
    return document.system.node_type(partition.type).cores


def _driver(layout: Layout, epoch: int) -> dict[str, Any]:
    """Who drives, for the log: enough to find the process, and to see that two sessions ran under the same version."""
    from shakedown.conductor.showing import keep_environment

    environment = keep_environment(layout, dict(os.environ))
    driver = {"host": socket.gethostname(), "user": user_name(os.getuid()), "pid": os.getpid()}
    driver |= {"version": __version__, "python": sys.version.split()[0]}
    return {"epoch": epoch, "driver": driver, "environment": environment}


class Documents:
    """The frozen documents of a campaign, by digest; each is checked against its digest when it is read."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._known: dict[str, Document] = {}
        self.digest = ""

    def __call__(self, digest: str) -> Document:
        if digest not in self._known:
            self._known[digest] = thaw(read_document(self.layout, digest))
        self.digest = digest
        return self._known[digest]

    def newest(self, state: State) -> Document:
        """The document in force: what the log names, or the only one there is before the log begins."""
        if state.plan is not None:
            return state.plan.document
        names = sorted(path.stem for path in self.layout.documents.glob("*.json"))
        if len(names) != 1:
            raise RecordError(
                f"{self.layout.documents}: one frozen plan is expected before a campaign starts, not {len(names)}"
            )
        return self(names[0])

    def start_value(self, state: State) -> dict[str, Any]:
        document = self.newest(state)
        return {
            "document": self.digest,
            "campaign": self.layout.root.name,
            "plan": document.plan,
            "seed": document.seed,
        }
