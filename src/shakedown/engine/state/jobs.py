"""What the state holds of a job, a run, a build, and a result that waits."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from shakedown.engine.state.phases import BuildPhase, Claim, JobPhase, RunPhase, Step
from shakedown.engine.state.plan import QueueKey
from shakedown.model.job_terms import Terms

_NO_PARTS: Mapping[str, None] = {}


@dataclass(slots=True)
class PendingResult:
    """A wanted result that waits for its next attempt.

    ``component``: its number in the plan's order. ``mode``: a word of ``modes.py``. ``not_before``: seconds since 1970. ``spent``:
    (verdict, how many of its attempts ended so).
    """

    component: int
    case: str
    repeat: int
    attempt: int = 1
    not_before: float = 0.0
    void_run: str = ""  # a run that was ordered but certainly never started: it is the one to start
    deferrals: int = 0  # how often the scheduler did not take it for now
    deferred: str = ""  # its words, the last time
    mode: str = ""
    cancelled: str = ""  # why the result is not wanted any more: the entry is to be judged ``cancelled``
    unmet: str = ""  # why what it needs will not be there: the entry is to be judged ``not_run``
    spared: bool = False  # ``unmet`` says why its ladder does not need it: the entry is to be judged ``spared``
    spent: tuple[tuple[str, int], ...] = ()

    def same(self, component: int, case: str, repeat: int, mode: str) -> bool:
        """Whether this entry is for the given wanted result."""
        return self.case == case and self.repeat == repeat and self.component == component and self.mode == mode

    @property
    def fresh(self) -> bool:
        """Whether nothing was ever ordered for it."""
        return self.attempt == 1 and not self.void_run


@dataclass(slots=True)
class Queue:
    """The waiting results of one class, first come first served, and the last reason for waiting that was recorded.

    ``entries``: by case and repeat, so that one of ten thousand is found at once. ``top``: the highest repeat that was ever put in.
    """

    entries: OrderedDict[tuple[str, int], PendingResult] = field(default_factory=OrderedDict)
    reason: str = ""
    top: int = field(default=0, compare=False)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[PendingResult]:
        return iter(self.entries.values())

    def put(self, entry: PendingResult, first: bool = False) -> None:
        """Add a result at the end, or before all others."""
        self.entries[entry.case, entry.repeat] = entry
        self.top = max(self.top, entry.repeat)
        if first:
            self.entries.move_to_end((entry.case, entry.repeat), last=False)


@dataclass(slots=True)
class Handed:
    """Files of one run that another run is given. ``directory``: where the first run worked, as its report says, "" = its usual
    place; ``files``: path in there -> sha256; ``into``: the directory, in the receiving run's work directory, where the files
    appear.
    """

    run: str
    directory: str
    files: dict[str, str]
    into: str = ""


@dataclass(slots=True)
class Run:
    """A live attempt at a wanted result.

    It is created by ``submit_order`` and ``requeued``, moved on by ``job_report`` and ``check_start``, and judged by ``verdict``.
    It is removed after ``given_up``, ``retry`` or a final verdict. A run that is one part of a job also has ``part`` (its number,
    from 1), ``seen`` (what a source last said of it), ``facts`` (from the report of its end) and ``claim``. ``spent``: as in
    ``PendingResult``. ``handed``: files of other runs that it was given. ``left``: pattern -> files that it may hand on with their
    sha256, or why there are none. ``directory``: where it worked, as the verdict says. ``measured``: the figure that its ladder
    goes by. ``home``: the name of the component that it was ordered for, if the plan in force does not want it.
    """

    id: str
    case: str
    component: int
    repeat: int
    attempt: int
    job: str
    phase: RunPhase = RunPhase.ORDERED
    started: float | None = None
    verdict: str = ""
    cancelled: str = ""  # why a person does not want it any more
    deferrals: int = 0
    mode: str = ""
    seen: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    claim: Claim = Claim.NONE
    part: int = 0
    spent: tuple[tuple[str, int], ...] = ()
    handed: list[Handed] = field(default_factory=list)
    left: dict[str, dict[str, str] | str] = field(default_factory=dict)
    directory: str = ""
    measured: float | None = None
    home: str = ""

    @property
    def times(self) -> int:
        """How many attempts at its result ended with the same verdict, including this one."""
        return dict(self.spent).get(self.verdict, 0) + 1


@dataclass(slots=True)
class JobReport:
    """What was last said of a job. It is changed by ``job_report`` and by the answers to a submission.

    ``state``: what the last source said (a word of ``model.ports``, "" = nothing since this driver started). ``source``: which
    source. ``note``: what it adds while the job waits or runs, such as "JobHeldUser". ``hearsay``: only accounting says that the
    job runs. ``message``: the reason of the last refusal, end or cancellation. ``facts``: from the report of its end (exit,
    elapsed_s, nodes, output) or of its restart. ``stuck``: what a person must do before it can start, "" = it only has to wait;
    ``stuck_since``: since when. ``for_good``: without that it never starts; otherwise it may. ``absent_s``: for how many seconds in
    earlier stretches all sources answered and none knew the job; between these stretches not all of them answered.
    """

    state: str = ""
    source: str = ""
    note: str = ""
    hearsay: bool = False
    message: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    stuck: str = ""
    for_good: bool = False
    stuck_since: float = 0.0
    absent_s: float = 0.0


@dataclass(slots=True)
class JobRequests:
    """What the scheduler is asked to do with a job, how far each request has come, and when it may be made again, in seconds since
    1970.

    ``claim``: keep the job from ever starting (``claim_*`` events). ``claim_unknown``: it could not be seen whether the claim is
    taken, and the record says so; the order stands and is carried out again without another event. ``cancel``: end the job
    (``cancel_*``). ``release``: let a held job start (``release_order``, ``released``). ``hold``: keep it in the scheduler's queue
    while that queue is held (``hold_order``, ``held``).
    """

    claim: Claim = Claim.NONE
    claim_after: float = 0.0
    claim_unknown: bool = False
    cancel: Step = Step.NONE
    cancel_after: float = 0.0
    release: Step = Step.NONE
    release_after: float = 0.0
    hold: Step = Step.NONE
    hold_after: float = 0.0


@dataclass(slots=True)
class JobBundle:
    """What only a job of several runs has. Set by its ``submit_order`` events, one for each run.

    ``size``: how many runs it was ordered with. ``at_once``: how many of them run side by side. ``limit_s``: the time limit of the
    whole job. ``parts``: its runs without a verdict; a verdict, or a claim that is taken, removes one. ``unknown``: claims of parts
    are ordered and it could not be seen whether they are taken; these orders stand and are carried out again.
    """

    kind: Literal["sweep", "pack"]
    size: int = 0
    at_once: int = 1
    limit_s: float = 0.0
    parts: dict[str, None] = field(default_factory=dict)
    unknown: bool = False


@dataclass(slots=True)
class Job:
    """A job that may still exist at the scheduler: from ``submit_order`` until it is known to be over, or never to have existed.

    Which job: ``id``, ``run`` (the first, if there are several), ``case``, ``component``, ``mode``, ``scheduler_id``, ``ordered``
    (when). Where it stands: ``phase``, ``since`` (when the present doubt began), ``started``, ``restart`` (how often the scheduler
    started it again), ``report``. What it takes: ``key`` (the class it was counted under, so that an amendment does not change what
    is given back), ``loads`` (of budgets, targets under their own names), ``targets`` (budget -> target), ``charged`` (it may
    start, and its units and loads are reserved). ``node``: the node that it must have, by its number in the pool from 1, 0 = any.
    ``after``: the job that must end before this one may start; ``successor``: the job that waits for this one. ``overtaken``: units
    of jobs that were ordered later and began earlier. ``terms``: what it asks for, as the scheduler had it when the job was first
    seen, without what somebody had changed before; ``terms_now``: the same with what somebody changed since. ``asked``: the terms
    that it was ordered with, by name. ``nodes``: where it runs, as was last said.
    """

    id: str
    run: str
    case: str
    component: int
    ordered: float
    phase: JobPhase = JobPhase.ORDERED
    scheduler_id: str = ""
    restart: int = 0
    since: float = 0.0
    started: float | None = None
    mode: str = ""
    key: QueueKey | None = None
    charged: bool = True
    loads: tuple[tuple[str, float], ...] = ()
    targets: dict[str, str] = field(default_factory=dict)
    node: int = 0
    after: str = ""
    successor: str = ""
    overtaken: int = 0
    lost_start: int = -1  # the last of its starts whose node was lost, and which may live on there; -1 = none
    lost: bool = False  # nothing is left of it but that start, whose number ``restart`` then is
    stale: str = ""  # why it is to be ordered again if it has not begun: a node was excluded, or taken back in
    spared: bool = (
        False  # it ended before its claim, in a held queue or on a node that launches nothing: no attempt is spent
    )
    not_taken: bool = False  # its submission was refused
    allowed: float = 0.0  # since when it may start
    halts: list[list[float]] = field(default_factory=list)  # [from, to] when it stood still; [from] while it does
    report: JobReport = field(default_factory=JobReport)
    requests: JobRequests = field(default_factory=JobRequests)
    bundle: JobBundle | None = None
    terms: Terms | None = None
    terms_now: Terms | None = None
    asked: dict[str, Any] = field(default_factory=dict)
    nodes: str = ""

    @property
    def parts(self) -> Mapping[str, None]:
        """Its runs without a verdict, if it is a job of several runs; else empty."""
        return self.bundle.parts if self.bundle is not None else _NO_PARTS

    @property
    def at_once(self) -> int:
        """How many of its runs go on side by side."""
        return self.bundle.at_once if self.bundle is not None else 1


@dataclass(slots=True)
class BuildState:
    """A build that was ordered. Changed by ``build_order``, ``build_start``, ``build_end``, and by ``driver_start``, which forgets
    builds that the last driver left unfinished. ``not_before``: when a build that is held is tried again, in seconds since 1970.
    """

    phase: BuildPhase
    message: str = ""
    log: str = ""
    tries: int = 0
    not_before: float = 0.0
