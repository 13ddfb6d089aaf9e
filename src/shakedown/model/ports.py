"""The ports: protocols for everything that the conductor loop needs from outside, and the data that they exchange.

The real machine and the twin supply different ports to the same loop. A port makes no decisions; it reports observations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from shakedown.model.events import Event
from shakedown.model.failures import Failure
from shakedown.model.job_terms import Terms
from shakedown.model.nouns import Build, Case, Pairs, Test
from shakedown.model.observing import NobodyObserves, Observer
from shakedown.model.recorded import Recorded

# What a source can say of a job. "absent": every source that can be reached was asked and does not know it.
# "no_answer": no source answered. Anything a scheduler says that we do not know is "unknown".
JOB_STATES = (
    "queued",
    "running",
    "completed",  # ended with exit status 0
    "failed",  # ended with another exit status or by a signal
    "timeout",
    "node_fail",
    "cancelled",
    "interrupted",  # ended with the conductor or by preemption, through no fault of its own
    "requeued",
    "void",  # it was started and did nothing, as it must not: what it was to do is done, or may not be done beside another job
    "refused",  # it was accepted but cannot be started: no room, no claim, no directory; it never ran
    "absent",
    "no_answer",
    "unknown",
)
RENAMED = "somebody renamed it"  # how the message of a job begins that the scheduler has under another name by now
ENDED = frozenset({"completed", "failed", "timeout", "node_fail", "cancelled", "interrupted"})
UNHEARD = "it ended while no conductor was there"  # so begins the message of an "interrupted" that nobody brought about
KILLED_FROM_OUTSIDE = "killed"  # as the cause of an end: somebody ended the job, and no source says who
NO_RESULT = "no_result"  # as the cause of an "interrupted": it came to its own end or its limit, and did not run as its case asks
NOT_BEGUN = (
    "nothing shows that it ran"  # so begins what is said of a job that the scheduler took, and that did not begin
)
AT_LIMIT = "it was ended at its time limit"  # so begins the message of a "timeout" that somebody brought about
OWN_DOING = "so that is taken for its own doing"  # so ends what is said of a trouble that came again with each attempt
OVERRAN = "it ran past its time limit"  # so begins the message of a "timeout" that nobody brought about


class JobView(Protocol):
    """The fields of one of our jobs that a scheduler port may use. The engine's job class satisfies this protocol.

    A job of several runs also has ``parts``: the parts whose end is not yet known.
    """

    @property
    def id(self) -> str: ...  # ours; it is also the job's name at the scheduler

    @property
    def run(self) -> str: ...

    @property
    def scheduler_id(self) -> str: ...  # "" while we do not know it

    @property
    def restart(self) -> int: ...


class Part(Struct, frozen=True):
    """One of several runs that a job holds."""

    run: str
    case: Case


class JobOrder(Struct, frozen=True):
    """One job to submit: our id, the run it holds and the case to run. ``held``: it may start only once it is released.

    A job of several runs has them in ``parts``, to be begun in this order, ``at_once`` of them side by side; ``run`` is then the
    first of them, and ``case`` says what the whole job takes. ``node``: the one it must have, as a number in the partition's order
    from 1, 0 = any; ``exclude``: names of nodes that it must not have. ``targets``: budget -> the target that the run loads.
    ``after``: it may start only when this job of ours, by its name and its scheduler's id, is over.
    """

    job: str
    run: str
    case: Case
    restart: int = 0
    held: bool = False
    parts: tuple[Part, ...] = ()
    at_once: int = 1
    node: int = 0
    exclude: tuple[str, ...] = ()
    targets: Pairs = ()
    after: tuple[str, str] = ("", "")


class ReleaseOrder(Struct, frozen=True):
    """The order to release a held job, with its targets. It satisfies ``JobView``.

    ``exclude``: names of all nodes that the job must avoid from now on; None: as submitted.
    """

    id: str
    run: str
    case: Case
    scheduler_id: str = ""
    restart: int = 0
    targets: Pairs = ()
    exclude: tuple[str, ...] | None = None


class SubmitAnswer(Struct, frozen=True):
    """The result of one submission. ``unknown``: the job may or may not have been accepted.

    ``transient``: it was refused for a temporary reason (nobody to take it, a limit on jobs, a full disk); nothing was
    attempted, and the submission is repeated later. ``never``: it was refused because the machine can never give what it asks for:
    another attempt would be refused as well. ``asked``: the terms that were asked for, by their names in ``Terms``, "" for a
    term that was not asked for; a name that is missing is not known.
    """

    job: str
    outcome: Literal["accepted", "refused", "unknown"]
    scheduler_id: str = ""
    transient: bool = False
    message: str = ""
    asked: dict[str, Any] = field(default_factory=dict)
    never: bool = False


SEEN_HERE: Literal["local"] = "local"  # the source of what the embedded scheduler says of its own processes


class JobReport(Struct, frozen=True):
    """The present report of one source on one job.

    ``exit_status`` is -N for signal N, None where not known. ``elapsed_s`` is between two readings of one clock on one host.
    ``output`` points to the kept output: {"pack", "offset", "bytes", "crc"} or {"file", "bytes"}; {} where there is none. The
    verdict adds the sums of a file that was read (``Evidence.sums``); of a run that was ended from outside, which nobody reads,
    the report has them. Of a part, "running" with an output says that its job is over and it has no end of its own.
    ``began`` and ``over``: when, in seconds since 1970; None where nobody says. ``began`` is by the clock of the file system, where
    the job wrote marks; otherwise, as ``over``, by the scheduler's.
    ``cause``: what ended the start before, of a requeued job: "node_fail", "interrupted"; "" not known. Of an interrupted one
    KILLED_FROM_OUTSIDE or NO_RESULT.
    ``run``: of a job of several runs, the one that this is about, "" = the job itself. Of a part only "running", "completed",
    "failed", "timeout" (ended at its own case's time limit, the others go on), "node_fail" (a node failed under it, and nothing
    of it lives) and "refused" are said, each once in a session, and all that is known of the parts comes before the word that the
    job is over.
    ``failed_nodes``: the names of those of its nodes that are known to have failed. ``launch_failure``: it was given its nodes, and
    its script, or its part of a step, was never started there; nothing of it lives or will. ``dead``: a node failed under it, and
    nothing of it lives. ``again``: of a job that came to its own end, the number of a later start of it by the scheduler, which
    does nothing. ``behind``: processes that had got away from it, by name, and were ended. ``unseen_s``: between which times from
    its start it ended, where nobody saw when; then ``elapsed_s`` is None. ``halted``: how it stands still while it runs:
    "suspended" by the scheduler, or "stopped" by a signal; "" where it does not. ``halted_s``: for how long it was suspended, of a
    job that is over; None where the scheduler does not say. ``stuck``: of a job that waits, what a person has to do before it can
    start, "" where patience is all; ``for_good``: without that it never does, else it may. ``terms``: what it asks for, as the
    scheduler has it now; None where it does not say. ``doubt``: why its marks, or those of its parts, are not believed; the run
    that is judged by them has it in ``output`` too. ``doubted``: of a job of several runs that is over, the runs whose marks are
    not believed, each with why.
    """

    job: str
    state: str
    source: Literal["marks", "queue", "accounting", "local"]
    scheduler_id: str = ""
    restart: int = 0
    exit_status: int | None = None
    elapsed_s: float | None = None
    nodes: str = ""
    message: str = ""
    output: dict[str, Any] = field(default_factory=dict)
    began: float | None = None
    over: float | None = None
    cause: str = ""
    run: str = ""
    failed_nodes: tuple[str, ...] = ()
    launch_failure: bool = False
    again: int = 0
    behind: tuple[str, ...] = ()
    unseen_s: tuple[float, float] | None = None
    dead: bool = False
    halted: str = ""
    halted_s: float | None = None
    stuck: str = ""
    for_good: bool = False
    doubt: str = ""
    doubted: dict[str, str] = field(default_factory=dict)
    terms: Terms | None = None

    def is_of(self, restart: int) -> bool:
        """Whether the report is about this start of the job or a later one. Older reports are out of date. A "requeued" report has
        the number of the new start, so its number must be larger.
        """
        return self.restart > restart if self.state == "requeued" else self.restart >= restart


class Wanted(Struct, frozen=True):
    """What a survey must look up: ``idle``: pools for their idle nodes; ``pending``: clusters for their number of waiting jobs.

    ``unused``: pools where our jobs wait, for the idle nodes that are not reserved. ``silent``: pools for the nodes that do
    not answer.
    """

    idle: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()

    @property
    def something(self) -> bool:
        return bool(self.idle or self.pending or self.unused or self.silent)


class Survey(Struct, frozen=True):
    """Result of a survey. ``idle``: pool -> idle nodes, as numbers in the partition's order from 1. ``pending``: cluster -> jobs
    that wait there, of anybody but us. ``unused``: pool -> idle nodes that are kept for nobody, as numbers. ``out``: pool whose
    idle nodes were wanted -> nodes that are down or drained, as numbers, by what is said of them. ``silent``: pool -> nodes that do
    not answer, or are down, as numbers. ``trouble``: pool or cluster -> why it could not be told.
    """

    idle: dict[str, tuple[int, ...]] = field(default_factory=dict)
    pending: dict[str, int] = field(default_factory=dict)
    unused: dict[str, tuple[int, ...]] = field(default_factory=dict)
    out: dict[str, dict[str, tuple[int, ...]]] = field(default_factory=dict)
    silent: dict[str, tuple[int, ...]] = field(default_factory=dict)
    trouble: dict[str, str] = field(default_factory=dict)


class Scheduler(Protocol):
    """A scheduler of jobs. A job that a poll does not report is unchanged since the last report on it."""

    poll_s: float  # how often to ask; 0 where it wakes the clock by itself

    def submit(self, orders: Sequence[JobOrder]) -> Sequence[SubmitAnswer]: ...

    def poll(self, jobs: Mapping[str, JobView]) -> Sequence[JobReport]: ...

    def cancel(self, jobs: Sequence[JobView]) -> Sequence[str]: ...  # ids of those whose cancellation was taken

    def release(
        self, orders: Sequence[ReleaseOrder]
    ) -> Sequence[str]: ...  # ids of held jobs that may start from now on

    def hold(self, jobs: Sequence[JobView]) -> Sequence[str]: ...  # ids of waiting jobs that are kept until released

    def take_claim(
        self, job: JobView
    ) -> bool | None: ...  # True: we hold it, the job can never run; None: nobody can tell

    def take_parts(
        self, job: JobView, runs: Sequence[str]
    ) -> Sequence[str] | None: ...  # parts that can never begin from now on; None: nobody can tell of all of them

    def survey(self, wanted: Wanted) -> Survey | None: ...  # what was found since the last call; None where nothing was

    def calls(self) -> Mapping[str, int]: ...  # how often each command of the scheduler was run in this session


class LeftJob(Struct, frozen=True):
    """A job of a campaign that the scheduler has. ``number``: the scheduler's own; ``job``: ours, "" where it runs no case.
    ``waits``: it has not begun, by what the scheduler says.
    """

    number: str
    cluster: str
    job: str
    waits: bool
    nodes: str = ""


class LeftJobs(Struct, frozen=True):
    """What a scheduler has of a campaign. ``kept``: numbers of those whose cancellation it did not take, where that was asked for.
    ``trouble``: why a cluster could not be asked. ``calls``: how often each of its commands was run for this.
    """

    jobs: tuple[LeftJob, ...] = ()
    kept: tuple[str, ...] = ()
    trouble: str = ""
    calls: dict[str, int] = field(default_factory=dict)


class Opened(Struct, frozen=True):
    """A scheduler's port for one session.

    ``close`` lets go of what it holds. ``end_runs`` ends what runs, where that cannot outlive the session; None: jobs go on without
    it. ``forsake``: the campaign is another conductor's by now, and nothing in its directory may be tidied up. ``pause_while``: is
    given a question; while its answer is yes the record cannot be written, and what is queued here may not be started. ``sync``:
    makes the outputs that were reported survive a loss of power, before the record that points to them does. Raises OSError.
    ``clear``: cancels what the scheduler has of a campaign that is over, and says what that was.
    """

    scheduler: Scheduler
    close: Callable[[], object]
    end_runs: Callable[[], Sequence[JobReport]] | None = None
    forsake: Callable[[], None] = lambda: None
    pause_while: Callable[[Callable[[], bool]], None] = lambda question: None
    sync: Callable[[], object] = lambda: None
    clear: Callable[[], LeftJobs] = LeftJobs


class BuildReport(Struct, frozen=True):
    """The state of a build. ``identity`` names its process; ``log`` is a path inside the campaign.

    ``transient``: it "failed" because it could not be carried out (disk full, no right to write), not because of the build itself.
    """

    key: str
    state: Literal["started", "done", "failed"]
    message: str = ""
    log: str = ""
    elapsed_s: float | None = None
    identity: str = ""
    transient: bool = False


class Builder(Protocol):
    """Carries out builds, several at once. A second start of the same key adopts the running build."""

    def start(self, builds: Sequence[Build]) -> None: ...

    def poll(self) -> Sequence[BuildReport]: ...


class CollectOrder(Struct, frozen=True):
    """An ended run whose evidence must be collected. ``handing``: patterns of its files that are handed to other runs."""

    run: str
    case: Case
    test: Test
    output: dict[str, Any]
    handing: tuple[str, ...] = ()


class CheckResult(Struct, frozen=True):
    """The result of one check: whether it held, and details. ``held`` None: undecided; ``detail`` says why."""

    text: str
    held: bool | None
    detail: str = ""


class Evidence(Struct, frozen=True):
    """The evidence that a worker read from a run's outputs, within its limits. Judging is a separate, pure step.

    ``figures``: name -> value in the unit of its spec; a figure that is not there is missing, not zero.
    ``problems``: sentences about what could not be read: too large, too slow, not text.
    ``lost_ranks``: the launcher's message in the output that ranks of a step were lost; "" if there is none.
    ``trouble``: why something could not be looked at although nothing is wrong with the run or its test (a disk that gives
    an error, a worker that was stopped); "" where there was no such trouble.
    """

    run: str
    checks: tuple[CheckResult, ...] = ()
    figures: tuple[tuple[str, float], ...] = ()
    problems: tuple[str, ...] = ()
    excerpt: str = ""  # the last lines of the output, printable, for reasons
    failure: Failure | None = (
        None  # what the most telling line says, should it be judged to have failed; None: not looked at
    )
    trouble: str = ""
    lost_ranks: str = ""
    sums: dict[str, Any] = field(
        default_factory=dict
    )  # of an output whose pointer has none: what is added to the pointer
    recorded: dict[str, Recorded] = field(default_factory=dict)  # pattern -> sums of the files that a check records
    left: dict[str, dict[str, str] | str] = field(
        default_factory=dict
    )  # pattern -> path of each file that may be handed on and its sha256, or why there is none


class Collector(Protocol):
    """Turns outputs into evidence in worker processes, under limits of bytes, time and lines."""

    def start(self, orders: Sequence[CollectOrder]) -> None: ...

    def poll(self) -> Sequence[Evidence]: ...


class Log(Protocol):
    """The append-only record. ``commit`` returns when everything appended is durable; it raises when we lost the lease."""

    def append(self, events: Sequence[Event]) -> None: ...

    def commit(self) -> None: ...


class Command(Struct, frozen=True):
    """An operator's command from the inbox. ``what`` is cancel, stop, amend; ``who`` owned the file. ``said``: when it was put
    there, in seconds since 1970; None if not reliably known.
    """

    request: str
    what: str
    who: str
    value: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    said: float | None = None


class Inbox(Protocol):
    """Operator commands. A poll returns all commands not yet acknowledged; they are acknowledged once durable in the log."""

    def poll(self) -> Sequence[Command]: ...

    def acknowledge(self, requests: Sequence[str]) -> None: ...


class Clock(Protocol):
    """Time and waiting. ``wait`` returns at ``until`` or earlier when a port has news; None waits for news alone."""

    def now(self) -> float: ...

    def wait(self, until: float | None) -> None: ...


class Ports(Struct):
    """All ports of the conductor loop. ``root``: the campaign's directory; "" if runs leave no files."""

    clock: Clock
    scheduler: Scheduler
    builder: Builder
    collector: Collector
    log: Log
    inbox: Inbox
    root: str = ""
    observer: Observer = field(default_factory=NobodyObserves)
