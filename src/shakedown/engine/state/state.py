"""The state of a campaign: what the log says, and nothing else. One owner, folded in place by ``evolve``.

Live things only: what is finished is folded into counters, so that a long campaign stays small in memory.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from shakedown.engine.state.job_index import JobIndex
from shakedown.engine.state.plan import PlanIndex, QueueKey

FOLD_VERSION = 9  # of what is folded; snapshots of another version are not used


@dataclass(slots=True)
class PendingResult:
    """One wanted result that waits for its next attempt. ``component`` is a number in the plan's order, ``mode`` a word of
    ``modes.py``."""

    component: int
    case: str
    repeat: int
    attempt: int = 1
    not_before: float = 0.0
    void_run: str = ""  # a run that was ordered but certainly never started: it is the one to start
    deferrals: int = 0  # how often the scheduler did not take it for now
    deferred: str = ""  # its words, the last time
    mode: str = ""
    cancelled: str = ""  # why nobody wants it any more, of an entry that is to be judged so

    def same(self, component: int, case: str, repeat: int, mode: str) -> bool:
        return self.case == case and self.repeat == repeat and self.component == component and self.mode == mode

    @property
    def fresh(self) -> bool:
        """Nothing was ever ordered for it."""
        return self.attempt == 1 and not self.void_run


@dataclass(slots=True)
class Queue:
    """The waiting entries of one class, first come first served, and the last reason that was logged for their waiting.

    ``entries``: by case and repeat, so that one of ten thousand is found at once. ``top``: no repeat is higher.
    """

    entries: OrderedDict[tuple[str, int], PendingResult] = field(default_factory=OrderedDict)
    reason: str = ""
    top: int = field(default=0, compare=False)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[PendingResult]:
        return iter(self.entries.values())

    def put(self, entry: PendingResult, first: bool = False) -> None:
        self.entries[entry.case, entry.repeat] = entry
        self.top = max(self.top, entry.repeat)
        if first:
            self.entries.move_to_end((entry.case, entry.repeat), last=False)


@dataclass(slots=True)
class SubmitBackoff:
    """A pool whose scheduler takes nothing for now. ``strikes``: how often in a row; one job is tried when it is time."""

    until: float
    strikes: int
    why: str


@dataclass(slots=True)
class Guard:
    """What keeps the queue of a pool from being burnt: see ``guard.py``.

    ``row``: jobs that ended before their claim, or were refused, one after the other: job -> (when, its case). ``what``: of
    refused submissions, why, without particulars; ``why``: the last of these words as they were. ``since``: since when the queue
    is held, 0 = it is not. ``until``: when the next job probes; ``probe``: the one that does; ``strikes``: how many did in vain;
    ``tried``: their cases; ``proved``: the case of one that did not. ``suspects``: cases that failed where another one began ->
    when that was seen.
    """

    row: dict[str, tuple[float, str]] = field(default_factory=dict)
    what: str = ""
    why: str = ""
    since: float = 0.0
    until: float = 0.0
    strikes: int = 0
    probe: str = ""
    proved: str = ""
    tried: dict[str, None] = field(default_factory=dict)
    suspects: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Run:
    """A live attempt. ``phase``: ordered, queued, running, ended (to be collected), checking, judged (only its verdict's
    consequence is open), undetermined (it ended and could not be judged; its ``facts`` are kept to judge it by)."""

    id: str
    case: str
    component: int
    repeat: int
    attempt: int
    job: str
    phase: str = "ordered"
    started: float | None = None
    verdict: str = ""
    cancelled: str = ""  # why a person wants no more of it
    deferrals: int = 0
    mode: str = ""
    seen: str = ""  # of a part of a job: the last thing a source said of it
    facts: dict[str, Any] = field(default_factory=dict)  # of a part of a job: what its end was reported with
    claim: str = ""  # of a part of a job: "", ordered, found
    part: int = 0  # which part of its job it is, from 1


@dataclass(slots=True)
class Job:
    """A job that may still exist at the scheduler.

    ``phase``: ordered (durable, no answer yet), ambiguous, refused, queued, running, ended, haunting (its run is judged,
    but it is not known to be dead). ``seen``: the last thing a source said. ``since``: when the present doubt began.
    ``held``: the class that it was counted under: an amendment must not change what is given back.
    ``charged``: it may start, and its units and ``loads`` are reserved; a job that waits for its release, or for another one to
    end (``after``), is not. ``parts``: the runs of a job of several that are not judged yet.
    """

    id: str
    run: str
    case: str
    component: int
    ordered: float
    phase: str = "ordered"
    scheduler_id: str = ""
    restart: int = 0
    seen: str = ""
    source: str = ""
    note: str = ""  # what the source adds while the job waits or runs: "JobHeldUser"
    since: float = 0.0
    started: float | None = None
    claim: str = ""  # "", ordered, taken, found
    cancelling: str = ""  # "", wanted, ordered, taken
    cancel_after: float = 0.0
    held: QueueKey | None = None
    message: str = ""
    mode: str = ""
    charged: bool = True
    loads: tuple[tuple[str, float], ...] = ()  # budgets that it loads, targets by their own names
    targets: dict[str, str] = field(default_factory=dict)  # budget -> the target that its run loads
    release: str = ""  # of a held job: "", wanted (again), ordered, taken
    release_after: float = 0.0
    after: str = ""  # the job that must end before it may start
    successor: str = ""  # the job that may start when this one is over
    parts: dict[str, None] = field(default_factory=dict)
    bundle: str = ""  # what holds several runs: sweep, pack
    size: int = 0  # how many it held when it was ordered
    at_once: int = 1  # of a job of several runs: how many go on side by side
    limit_s: float = 0.0  # of a job of several runs: its time limit
    overtaken: int = 0  # units of jobs ordered later that began before it
    hearsay: bool = False  # only accounting said that it runs
    lost_start: int = -1  # the last of its starts whose node was lost, and which may live on there; -1 = none
    lost: bool = False  # nothing is left of it but that start, which ``restart`` then is
    stale: str = ""  # why it is to be ordered again, if it has not begun: a node was excluded
    claim_after: float = 0.0  # before then its claim is not tried again
    kept: str = ""  # from starting, while its queue is held: "", wanted (again), ordered, taken
    keep_after: float = 0.0
    spared: bool = False  # it ended before its claim while its queue was held: no attempt is spent
    not_taken: bool = False  # its submission was refused
    allowed: float = 0.0  # since when it may start
    facts: dict[str, Any] = field(default_factory=dict)  # of the report that ended it: exit, elapsed_s, nodes, output


@dataclass(slots=True)
class BuildState:
    """``phase``: ordered, started, done, failed; held: it could not be carried out (no room...) and is tried again."""

    phase: str
    message: str = ""
    log: str = ""
    tries: int = 0
    not_before: float = 0.0


@dataclass(slots=True)
class Tally:
    """How many wanted results of a component are where. wanted = waiting + in_flight + closed + unavailable, always."""

    wanted: int = 0
    waiting: int = 0
    in_flight: int = 0
    closed: int = 0
    unavailable: int = 0
    verdicts: dict[str, int] = field(default_factory=dict)  # of every attempt; superseded ones are replaced

    @property
    def over(self) -> bool:
        return self.closed + self.unavailable == self.wanted


STANDSTILL = "*"  # among the tests of ``MixProgress.stalled``: nothing of any of them begins


@dataclass(slots=True)
class MixProgress:
    """A component that runs a mix for a time: since when, and what each test has had of the machine.

    ``up``: its time is over. By test: ``work`` in unit-seconds of judged runs, ``judged`` how many those are, ``longest`` the run
    time of the longest in seconds, ``live`` runs that are in flight, ``idle`` since when none is, ``fallen`` where that was said.
    ``begun``: when the last run of it began; ``missed``: what all other tests had since, in unit-seconds; ``stalled`` where it was
    said that nothing of it begins although something is submitted.
    """

    started: float | None = None
    up: bool = False
    work: dict[str, float] = field(default_factory=dict)
    judged: dict[str, int] = field(default_factory=dict)
    live: dict[str, int] = field(default_factory=dict)
    longest: dict[str, float] = field(default_factory=dict)
    idle: dict[str, float] = field(default_factory=dict)
    fallen: dict[str, float] = field(default_factory=dict)
    begun: dict[str, float] = field(default_factory=dict)
    missed: dict[str, float] = field(default_factory=dict)
    stalled: dict[str, float] = field(default_factory=dict)
    up_at: float | None = None  # when its time was said to be up
    ended: float | None = None  # when the last of its judged runs ended


@dataclass(slots=True)
class Undetermined:
    """A run that ended and could not be judged: by which event, how often it was tried again since, when that is next."""

    seq: int
    tries: int
    again_at: float


@dataclass(slots=True)
class Pause:
    """Why a component orders nothing new. ``phase``: it came to the end of this part of its time, "" = somebody paused it.

    ``clock``: what it does to the component's clock: stops, restarts (it stands still and starts anew when the component goes
    on), runs or "". ``since``: when it was said.
    """

    why: str
    by: str = ""
    phase: str = ""
    cause: str = ""
    clock: str = ""
    since: float = 0.0


@dataclass(slots=True)
class ClockEvent:
    """A word on a component's clock: ``act`` (start, stop, go on, restart) as of ``at``, seconds since 1970."""

    at: float
    act: str
    cause: str = ""
    why: str = ""


@dataclass(slots=True)
class Outcome:
    """How a component came out, said at ``seq``: met, not met, undecided; ``why`` names the criterion."""

    outcome: str
    why: str
    seq: int


@dataclass(slots=True)
class UnusedNodes:
    """A stretch in which nodes of a pool are idle although jobs that fit them wait: since when, and how many were idle at the
    last look. ``told``: a finding said so."""

    since: float
    nodes: int
    told: bool = False


@dataclass(slots=True)
class State:
    """Everything the engine knows. ``plan`` is derived from the frozen document, ``job_index`` from the jobs; neither is folded."""

    plan: PlanIndex | None = field(default=None, compare=False)
    job_index: JobIndex = field(default_factory=JobIndex, compare=False)  # counts of ``jobs``
    seq: int = 0
    time: float = 0.0
    last: float = 0.0  # the same, of events of the campaign proper: judging again and sealing take no time of it
    epoch: int = 0
    fingerprint: str = ""  # digest of the machine as it was last found
    environment: str = ""  # digest of what is kept of the last driver's
    inputs: str = ""  # digest of input files and programs as they were last found
    campaign: str = ""
    seed: int = 0
    began: float = 0.0  # when the campaign did
    phase: str = ""  # "", running, ended
    driven: bool = False
    stopping: str = ""  # why nothing new is submitted
    no_room: str = ""  # why nothing new is submitted until there is room on a disk
    cancelled: str = ""  # why the whole campaign is cancelled
    next_run: int = 1
    next_job: int = 1
    queues: dict[QueueKey, Queue] = field(default_factory=dict)
    delayed: list[PendingResult] = field(default_factory=list)  # retries that wait for their time, soonest first
    runs: dict[str, Run] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    attention: dict[str, None] = field(default_factory=dict)  # jobs that decide must look at, in order
    to_collect: dict[str, None] = field(default_factory=dict)  # runs that ended and are not being collected yet
    part_ends: dict[str, None] = field(default_factory=dict)  # parts of jobs whose own end needs no collecting
    undetermined: dict[str, Undetermined] = field(default_factory=dict)  # runs that are to be judged again
    to_settle: dict[str, None] = field(default_factory=dict)  # runs whose verdict asks for a retry or an end
    builds: dict[str, BuildState] = field(default_factory=dict)
    shut: dict[str, SubmitBackoff] = field(default_factory=dict)  # pool -> why its scheduler takes nothing for now
    guards: dict[str, Guard] = field(default_factory=dict)  # pool -> what keeps its queue from being burnt
    asked: dict[str, int] = field(default_factory=dict)  # commands of the scheduler -> how often, by this driver
    asked_for_s: float = 0.0  # how long it had driven by then
    asked_before: dict[str, int] = field(default_factory=dict)  # the same of all drivers before this one
    asked_before_s: float = 0.0
    driven_since: float = 0.0
    awake_since: float = 0.0  # since when the conductor has not stood still: before that it heard nobody
    used: dict[str, float] = field(default_factory=dict)  # budget -> load of runs that may be running
    live: dict[str, int] = field(default_factory=dict)  # pool -> jobs that may exist
    units: dict[str, int] = field(default_factory=dict)  # pool -> units of those jobs
    floor: dict[str, dict[str, int]] = field(
        default_factory=dict
    )  # pool -> stage that has it to itself -> its live jobs
    exclusive_live: int = 0
    rolls: dict[str, MixProgress] = field(default_factory=dict)  # component -> what its mix has had
    attested: dict[str, dict[str, bool]] = field(default_factory=dict)  # component -> procedure -> met
    outcomes: dict[str, Outcome] = field(default_factory=dict)  # component that was over -> how it came out
    waived: dict[str, str] = field(default_factory=dict)  # component whose gates a person opened -> why
    gates: dict[str, str] = field(
        default_factory=dict
    )  # of these components -> the digest of what the gate asked for then
    again: dict[str, int] = field(default_factory=dict)  # component -> how often it was told to run again
    doubted: int = 0  # the last event after which a component may come out differently
    said_short: list[str] = field(default_factory=list)  # stages whose copies do not fit, as was said
    tallies: list[Tally] = field(default_factory=list)
    closed: dict[str, list[int]] = field(
        default_factory=dict
    )  # "component mode case" -> repeats closed, for amendments
    unannounced: list[tuple[int, str]] = field(default_factory=list)  # unavailable cases not yet logged
    to_cancel: list[PendingResult] = field(
        default_factory=list
    )  # waiting entries that a person cancelled, not yet judged
    deadlines: list[tuple[float, str]] = field(default_factory=list)  # (when, job) past which a running job is lost
    paused: dict[str, Pause] = field(default_factory=dict)  # component -> why it orders nothing new
    draining: dict[str, str] = field(default_factory=dict)  # component, "" = all -> why it comes to its end
    caps: dict[str, int] = field(default_factory=dict)  # test -> the most runs at once, by a person's word
    amounts: dict[str, float] = field(default_factory=dict)  # budget, or budget@target -> amount by a person's word
    excluded: dict[str, str] = field(default_factory=dict)  # node's name -> why it is given nothing
    node_failures: dict[str, list[str]] = field(
        default_factory=dict
    )  # node's name -> "run job.restart" of what failed by it
    streaks: dict[str, list[str]] = field(
        default_factory=dict
    )  # "component case" -> "run verdict" of its last runs, that failed in a row
    stopped: dict[str, str] = field(default_factory=dict)  # "component case" -> why it is ordered no more
    clocks: dict[str, list[ClockEvent]] = field(
        default_factory=dict
    )  # component -> what was said of its clock, by time
    parts_over: dict[str, int] = field(default_factory=dict)  # component -> how many parts of its time are over
    said_by: dict[str, str] = field(default_factory=dict)  # "cap TEST", "budget NAME" -> who, since when, why
    idle: dict[str, list[int]] = field(default_factory=dict)  # pool -> idle nodes that a sweep still wants, by number
    unused: dict[str, UnusedNodes] = field(default_factory=dict)  # pool -> nodes that are idle while jobs wait for them
    pending: dict[str, int] = field(default_factory=dict)  # cluster that is yielded to -> jobs that wait there
    yielding: list[str] = field(
        default_factory=list
    )  # "component number" of its yields whose clusters' queues are too long, until they are short
    allowed_at: dict[str, float] = field(default_factory=dict)  # test -> when a run of it was last allowed to start
    uncharged: dict[str, None] = field(default_factory=dict)  # jobs that wait for their release or for another to end
    unreleased: dict[str, None] = field(default_factory=dict)  # jobs whose release the scheduler did not take yet
    stale: dict[str, None] = field(default_factory=dict)  # jobs that are to be ordered again if they have not begun
    wide: dict[str, str] = field(default_factory=dict)  # pool -> the job of more than one unit that waits there longest
    unknown_events: int = 0

    @property
    def index(self) -> PlanIndex:
        assert self.plan is not None, "a campaign starts with its document"
        return self.plan

    @property
    def over(self) -> bool:
        """Nothing is wanted, in flight, or possibly alive any more."""
        return all(tally.over for tally in self.tallies) and not self.jobs and not self.runs

    def unattested(self, number: int) -> list[str]:
        """Procedures of a component that nobody has attested yet."""
        component = self.index.components[number]
        said = self.attested.get(component.name, {})
        return [procedure.name for procedure in component.procedures if procedure.name not in said]

    def finished(self, name: str) -> bool:
        """Every wanted result of a component is judged or unavailable, and its procedures are attested."""
        number = self.index.component_number[name]
        return self.tallies[number].over and not self.unattested(number)

    @property
    def only_undetermined(self) -> bool:
        """Nothing is left to do but to judge runs that could not be judged so far."""
        if not self.undetermined or self.jobs or len(self.runs) > len(self.undetermined) or self.builds_running():
            return False
        held = {self.index.components[self.runs[run].component].name for run in self.undetermined}
        for component in self.index.components * len(
            self.index.components
        ):  # whoever waits for one that is held is held, too
            if held.intersection(component.after):
                held.add(component.name)
        names = [component.name for component in self.index.components]
        own = {self.runs[run].component for run in self.undetermined}
        return all(
            not tally.waiting or (names[number] in held and number not in own)
            for number, tally in enumerate(self.tallies)
        )

    def builds_running(self) -> int:
        return sum(build.phase in ("ordered", "started") for build in self.builds.values())


def run_name(number: int) -> str:
    return f"r{number:06d}"


def job_name(number: int) -> str:
    return f"j{number:06d}"
