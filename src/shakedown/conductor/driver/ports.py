"""The ports of the real world: this machine's cores or a cluster's scheduler, builds, workers, the record, the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shakedown.conductor.driver.awake import Awake
from shakedown.events.inbox import FileInbox
from shakedown.events.lease import Lease
from shakedown.events.writer import LogWriter
from shakedown.model.dialects import call, dialects
from shakedown.model.errors import UsageError, did_you_mean
from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster, Document, Partition
from shakedown.model.ports import Builder, Clock, JobReport, LeftJobs, Opened, Ports
from shakedown.model.shared_nodes import place_of

if TYPE_CHECKING:
    from shakedown.conductor.driver.disk_room import PatientLog
    from shakedown.conductor.workers.collector import WorkerCollector
    from shakedown.processes.reactor import Reactor

BEAT_S = 2.0  # the longest wait: operators' wishes are seen at least so often
INBOX_PACE_S = 0.2
_FILES, _FILES_OF_A_RUN = (
    40,
    4,
)  # what we have open beside the runs, the shells that stand by included; and of each run or build
_PROCESSES = 16
_FILES_TO_COME = 8  # the record's own, before it is opened: lease, log, where the log ends, the register


@dataclass(slots=True)
class SessionClock:
    """The real clock. It waits in short slices, so that heartbeat, group commit, snapshots and display go on meanwhile.

    The heartbeat is in the loop's own wait and not in a thread, so that a loop that hangs does not look alive.
    """

    clock: Clock
    lease: Lease
    log: PatientLog
    idle: Callable[[], float] | None = None  # redraws; returns in how many seconds it wants to again
    at_rest: Callable[[], None] = lambda: None
    idle_look: Callable[[float], None] = lambda now: None
    next_show: float = 0.0
    awake: Awake = field(default_factory=Awake)

    def now(self) -> float:
        return self.clock.now()

    def wait(self, until: float | None) -> None:
        now = self.clock.now()
        self.lease.beat(now)
        self.at_rest()
        self.idle_look(now)
        limit = now + BEAT_S
        wanted = self.log.tick(now)
        if wanted is not None:
            limit = min(limit, wanted)
        if self.idle is not None:
            if now >= self.next_show:
                self.next_show = now + self.idle()
            limit = min(limit, self.next_show)
        until = limit if until is None else min(until, limit)
        self.awake.sleep(until - now, lambda: self.clock.wait(until))


@dataclass(frozen=True, slots=True)
class RealPorts:
    """The ports of one session. ``end_runs`` ends runs, where they cannot outlive the conductor; None where jobs go on without it.
    ``forsake``: called when another conductor has the campaign; after it nothing in the campaign's directory is tidied up.
    ``clear``: cancels what the scheduler has of a campaign that is over.
    """

    ports: Ports
    clock: SessionClock
    end_runs: Callable[[], Sequence[JobReport]] | None
    collector: WorkerCollector
    forsake: Callable[[], None]
    clear: Callable[[], LeftJobs]


@contextmanager
def open_ports(
    layout: Layout, document: Document, log: LogWriter, lease: Lease, idle: Callable[[], float] | None
) -> Iterator[RealPorts]:
    """Purpose: open everything that a session needs, and close it at the end. Workers are forked first, while this process is
    small.
    """
    from shakedown.builds.builder import LocalBuilder
    from shakedown.builds.choosing import with_builds_in_jobs
    from shakedown.conductor.driver.disk_room import PatientLog
    from shakedown.conductor.workers.collector import WorkerCollector
    from shakedown.machine.observer import ProcessObserver
    from shakedown.processes.reactor import Reactor

    clusters = clusters_of(document)
    refuse_small_limits(document, begun=True)
    with ExitStack() as closing:
        closing.callback(log.close)
        reactor = Reactor()
        closing.callback(reactor.close)
        collector = WorkerCollector(layout, reactor, failures=lambda: document.failures)
        closing.callback(collector.close)
        here = LocalBuilder(layout, reactor)
        closing.callback(here.close)
        opened = _open_scheduler(closing, layout, document, clusters, reactor)
        scheduler, end_runs, forsake = opened.scheduler, opened.end_runs, opened.forsake
        builder: Builder = here
        if end_runs is None:
            builder, scheduler = with_builds_in_jobs(layout, document.system, here, scheduler, reactor)
        patient = PatientLog(log, lease, reactor)
        opened.pause_while(lambda: patient.waits)
        log.before_sync = opened.sync
        clock = SessionClock(
            reactor, lease, patient, idle, awake=Awake(reactor.calendar.behind_s, waited_s=lambda: reactor.waited_s)
        )
        observer = ProcessObserver(reactor, layout.root.absolute().parent.parent)
        closing.callback(observer.close)
        inbox, root = FileInbox(layout, INBOX_PACE_S), str(layout.root.absolute())
        ports = Ports(clock, scheduler, builder, collector, patient, inbox, root, observer)

        def forsake_all() -> None:
            here.forsake()
            forsake()

        yield RealPorts(ports, clock, end_runs, collector, forsake_all, opened.clear)


def _open_scheduler(
    closing: ExitStack, layout: Layout, document: Document, clusters: Sequence[Cluster], reactor: Reactor
) -> Opened:
    """The port for these clusters' dialect."""
    refuse_cores_that_are_not_there(document)
    opened: Opened = call(dialects()[clusters[0].scheduler], "open", layout, document, clusters, reactor)
    closing.callback(opened.close)
    return opened


def clusters_of(document: Document) -> tuple[Cluster, ...]:
    """Purpose: the clusters that a plan's cases run on; for a plan without cases, the first of the system. Raises UsageError where
    one campaign cannot use all of them.
    """
    used = {case.partition.partition(":")[0] for case in document.cases if not case.unavailable}
    known = document.system.clusters
    clusters = tuple(cluster for cluster in known if cluster.name in used) or known[:1]
    for cluster in clusters:
        if cluster.scheduler not in dialects():
            hint = did_you_mean(cluster.scheduler, dialects()) or f"there are {', '.join(dialects())}"
            raise UsageError(f"cluster {cluster.name} has an unknown scheduler: {cluster.scheduler}", hint=hint)
    if len({cluster.scheduler for cluster in clusters}) > 1:
        names = ", ".join(f"{cluster.name} ({cluster.scheduler})" for cluster in clusters)
        raise UsageError(
            f"plan {document.plan} runs on clusters of different schedulers: {names}",
            hint="make it one plan for each: a campaign has one kind of scheduler",
        )
    return clusters


def refuse_cores_that_are_not_there(document: Document) -> None:
    """Purpose: a plan for this machine needs the cores, memory and GPUs of its cases' partitions. Raises UsageError."""
    if not clusters_of(document)[0].embedded:
        return
    from shakedown.machine.room import room_here

    system, room = document.system.name, room_here()
    nodes = [document.system.node_type(place.type) for place in _places_here(document)]
    lacking = next(filter(None, map(room.lacking, nodes)), "") or _never_fits(document)
    if lacking:
        hint = "start it where all of that may be used, or correct "
        hint += f"systems/{system}.yaml (and amend a campaign that has begun)"
        if system == "here":
            hint = "go on with it where it was begun, or make a new campaign"
        raise UsageError(f"system {system} is not what is here: {lacking}", hint=hint)


def _places_here(document: Document) -> list[Partition]:
    """The partitions of the embedded scheduler that a plan's cases run on; of a plan without any, the first one."""
    used = {case.partition for case in document.cases if not case.unavailable}
    places = [place for cluster in clusters_of(document) for place in cluster.partitions]
    return [place for place in places if place_of(place) in used] or places[:1]


def _never_fits(document: Document) -> str:
    """Why a case can never start on this machine: its GPUs are fewer where our environment names those that we may use."""
    from shakedown.schedulers.local_host.machine_slots import slots_of

    slots = slots_of(document.system, clusters_of(document))
    return next(filter(None, (slots.never_fits(case) for case in document.cases if not case.unavailable)), "")


def refuse_small_limits(document: Document, begun: bool = False) -> None:
    """Purpose: check that there may be enough open files and processes for what the campaign does at once; otherwise runs could
    later not be started or judged. ``begun``: its record is open already, so fewer files are still to come. Raises UsageError.
    """
    from shakedown.processes.allowance import lacking_files, lacking_processes

    at_once, builds = _most_local_runs(document), document.limits.builds
    to_come = 0 if begun else _FILES_TO_COME
    lacking = lacking_files(_FILES + to_come + _FILES_OF_A_RUN * at_once + _FILES_OF_A_RUN * builds)
    lacking = lacking or lacking_processes(_PROCESSES + 2 * at_once + 2 * builds)
    if lacking:
        hint = "raise that limit (ulimit, or limits.conf) and start it again; with fewer runs at once it needs less"
        raise UsageError(f"plan {document.plan} cannot be driven here: {lacking}", hint=hint)


def _most_local_runs(document: Document) -> int:
    """The most runs that are alive on this machine at once. On a cluster none is a process of ours."""
    if not clusters_of(document)[0].embedded:
        return 0
    cores, most = document.system.capacities(), dict[str, int]()
    for case in document.cases:
        if not case.unavailable:
            fit = 1 if case.shape.exclusive else max(1, cores[case.partition] // max(1, case.shape.units))
            most[case.partition] = max(fit, most.get(case.partition, 0))
    return sum(most.values())
