"""The records that make up the state of a campaign. Each says what it holds and which events change it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from shakedown.engine.state.jobs import PendingResult, Queue
from shakedown.engine.state.keys import (
    CaseKey,
    Deadline,
    LimitKey,
    NeededKey,
    NodeFailure,
    ResultsKey,
    RunVerdict,
    SiteRule,
    Stage,
    SweepKey,
    TermKey,
    WantedKey,
    YieldKey,
)
from shakedown.engine.state.plan import QueueKey

STANDSTILL = "*"  # among the tests of ``MixProgress.stalled``: nothing of any of them begins


# ---- the campaign and its driver -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Campaign:
    """The campaign as a whole. ``campaign_start`` sets ``name``, ``seed`` and ``began``; every event may change the rest.

    ``last``: the time of the last event of the campaign itself; judging again and sealing afterwards do not count. ``fingerprint``:
    the digest of the machine as last found. ``cancelled``: why all of it was cancelled. ``doubted``: the number of the last event
    after which the outcome of a component may have changed. ``unknown_events``: how many events this version does not know.
    """

    name: str = ""
    seed: int = 0
    began: float = 0.0
    last: float = 0.0
    next_run: int = 1
    next_job: int = 1
    fingerprint: str = ""
    cancelled: str = ""
    doubted: int = 0
    unknown_events: int = 0


@dataclass(slots=True)
class Driver:
    """The driver of the campaign, and what it found. Changed by ``driver_start``, ``driver_stop``, ``stop_request``, ``asked`` and
    the findings ``stood_still``, ``conditions_changed``, ``disk_full`` and ``disk_has_room``.

    ``stopping``: why nothing new is submitted. ``no_room``: why nothing new is submitted until a disk has room again. ``full``:
    (from, to) of the times in which a disk had no room, under this and earlier drivers: from when it last had room, as far as is
    known, until room was seen again, infinity while it is full. ``environment``, ``inputs``: digests of its environment, and of
    input files and programs. ``since``: when it began. ``awake_since``: since when it has not stood still; what sources said before
    that was heard late. ``asked``: command of the scheduler -> how often this driver gave it, within ``asked_for_s`` seconds;
    ``asked_before``: the same for all drivers before it.
    """

    driven: bool = False
    stopping: str = ""
    no_room: str = ""
    full: list[tuple[float, float]] = field(default_factory=list)
    environment: str = ""
    inputs: str = ""
    since: float = 0.0
    awake_since: float = 0.0
    asked: dict[str, int] = field(default_factory=dict)
    asked_for_s: float = 0.0
    asked_before: dict[str, int] = field(default_factory=dict)
    asked_before_s: float = 0.0


# ---- what waits, and what is to be done ----------------------------------------------------------------------------------


@dataclass(slots=True)
class Waiting:
    """Wanted results that have no job. A result leaves by ``submit_order``, by a ``verdict`` without a job, or by ``requeued``.

    ``queues``: by class. ``delayed``: retries that are not due yet, soonest first. ``to_cancel``: results that are no longer wanted
    and have no verdict yet. ``unannounced``: (component, case) that are unavailable and not yet logged as such. ``needing``: case
    -> results that wait for others to pass, or for their ladder. ``unmet``: results whose needs did not pass, without a verdict
    yet.
    """

    queues: dict[QueueKey, Queue] = field(default_factory=dict)
    delayed: list[PendingResult] = field(default_factory=list)
    to_cancel: list[PendingResult] = field(default_factory=list)
    unannounced: list[tuple[int, str]] = field(default_factory=list)
    needing: dict[str, list[PendingResult]] = field(default_factory=dict)
    unmet: list[PendingResult] = field(default_factory=list)

    def every(self) -> Iterator[PendingResult]:
        """Every result that is still wanted."""
        for queue in self.queues.values():
            yield from queue
        yield from self.delayed
        for entries in self.needing.values():
            yield from entries
        yield from self.unmet

    def set_aside(self, meant: Callable[[PendingResult], bool]) -> list[PendingResult]:
        """Take away and return every result for which ``meant`` is true, wherever it waits, in the order of ``every``."""
        gone: list[PendingResult] = []
        for key, queue in list(self.queues.items()):
            mine = [entry for entry in queue if meant(entry)]
            for entry in mine:
                del queue.entries[entry.case, entry.repeat]
            if not queue:
                del self.queues[key]
            gone += mine
        self.delayed = _without(self.delayed, meant, gone)
        for case, entries in list(self.needing.items()):
            self.needing[case] = _without(entries, meant, gone)
            if not self.needing[case]:
                del self.needing[case]
        self.unmet = _without(self.unmet, meant, gone)
        return gone


def _without(
    entries: list[PendingResult], meant: Callable[[PendingResult], bool], gone: list[PendingResult]
) -> list[PendingResult]:
    """The entries for which ``meant`` is false; the others are added to ``gone``."""
    left: list[PendingResult] = []
    for entry in entries:
        (gone if meant(entry) else left).append(entry)
    return left


@dataclass(slots=True)
class Undetermined:
    """A run that ended and could not be judged: the event that says so, how often it was tried again, and when to try next."""

    seq: int
    tries: int
    again_at: float


@dataclass(slots=True)
class Agenda:
    """Jobs and runs that ``decide`` must look at, by id, oldest first. Every event about a job or a run may add or remove one.

    ``attention``: jobs in doubt, ended badly, or to be cancelled. ``to_collect``: runs that ended and whose output is not yet being
    collected. ``part_ends``: parts of jobs whose own end needs no collecting. ``undetermined``: runs to be judged again.
    ``to_settle``: runs with a verdict, of which it is to be decided whether another attempt follows. ``uncharged``: jobs that wait
    for their release or for another job's end. ``unreleased``: jobs whose release the scheduler has not taken yet. ``stale``: jobs
    to be ordered again if they have not begun. ``stuck``: jobs that cannot start before a person acts; ``said_stuck``: the pools
    and reasons of such jobs that were reported (the finding ``cannot_start``). ``deadlines``: when running jobs count as lost,
    soonest first.
    """

    attention: dict[str, None] = field(default_factory=dict)
    to_collect: dict[str, None] = field(default_factory=dict)
    part_ends: dict[str, None] = field(default_factory=dict)
    undetermined: dict[str, Undetermined] = field(default_factory=dict)
    to_settle: dict[str, None] = field(default_factory=dict)
    uncharged: dict[str, None] = field(default_factory=dict)
    unreleased: dict[str, None] = field(default_factory=dict)
    stale: dict[str, None] = field(default_factory=dict)
    stuck: dict[str, None] = field(default_factory=dict)
    said_stuck: list[str] = field(default_factory=list)
    deadlines: list[Deadline] = field(default_factory=list)


# ---- the machine ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Usage:
    """What live jobs take of the machine: counted up when a job is ordered or may start, down when it is known to be over.

    ``loads``: budget, or budget@target -> load of jobs that may be running. By pool: ``jobs``: how many may exist; ``units``: of
    jobs that may start; ``stages``: those that have the pool to themselves -> their live jobs; ``wide``: the job of more than one
    unit that has waited there longest. ``exclusive``: how many jobs have their nodes to themselves. ``allowed_at``: test -> when a
    run of it was last allowed to start.
    """

    loads: dict[str, float] = field(default_factory=dict)
    jobs: dict[str, int] = field(default_factory=dict)
    units: dict[str, int] = field(default_factory=dict)
    stages: dict[str, dict[Stage, int]] = field(default_factory=dict)
    wide: dict[str, str] = field(default_factory=dict)
    exclusive: int = 0
    allowed_at: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class SubmitBackoff:
    """A pool whose scheduler takes no jobs for now. ``strikes``: how often in a row, 0 = it takes some again. ``until``: when one
    job is tried. ``most``: how many submissions may be unanswered after that; one more for each job that is taken, so that a
    scheduler at its limit is not asked a hundred times for the one job that it has room for.
    """

    until: float
    strikes: int
    why: str
    most: int = 1


class InVain(NamedTuple):
    """A job that did not come to run: when that was heard, its case, and the one node that it ended on, "" = not exactly one."""

    when: float
    case: str
    node: str = ""


@dataclass(slots=True)
class VainRow:
    """Jobs that ended on one node of a pool, one after the other, before their claims -> when. ``why``: what was said of the last
    one.
    """

    pool: str
    jobs: dict[str, float] = field(default_factory=dict)
    why: str = ""


@dataclass(slots=True)
class LeftOut:
    """A node that launches nothing while others do. It gets no new job before ``until``; after that one job at a time may go there.

    ``why``: what was said of the last job that ended there before its claim. ``probe``: the job that may go there now. ``strikes``:
    how many probes failed there. ``proved``: a job that took its claim there.
    """

    pool: str
    since: float
    until: float
    why: str = ""
    probe: str = ""
    strikes: int = 0
    proved: str = ""


@dataclass(slots=True)
class Guard:
    """What protects the queue of a pool from jobs that all fail: see ``constraints/queue_guard.py``.

    ``row``: jobs that, one after the other, ended before their claims or were refused. ``what``: why submissions were refused,
    without ids and places, so that equal reasons compare equal; ``why``: the last reason in full. ``since``: since when the queue
    is held, 0 = it is not. ``until``: when the next job probes the queue. ``probe``: the job that probes now. ``strikes``: how many
    probes failed; ``tried``: their cases. ``proved``: the case of a probe that worked. ``suspects``: cases that failed where
    another case began -> when that was seen. ``before``: nodes on which launches failed for which the queue was held last, until a
    job takes its claim there. ``released``: when the queue was last released. ``avoids``: nodes that the probe must not get, since
    launches failed there. ``asked``: when the probe was released or ordered.
    """

    row: dict[str, InVain] = field(default_factory=dict)
    what: str = ""
    why: str = ""
    since: float = 0.0
    until: float = 0.0
    strikes: int = 0
    probe: str = ""
    proved: str = ""
    tried: dict[str, None] = field(default_factory=dict)
    suspects: dict[str, float] = field(default_factory=dict)
    before: dict[str, None] = field(default_factory=dict)
    released: float = 0.0
    avoids: list[str] = field(default_factory=list)
    asked: float = 0.0


@dataclass(slots=True)
class UnusedNodes:
    """A stretch in which nodes of a pool are idle although jobs that fit them wait: since when, and how many nodes at the last
    look. ``told``: whether a finding was recorded.
    """

    since: float
    nodes: int
    told: bool = False


@dataclass(slots=True)
class OtherTerm:
    """A value that jobs have for one term in place of what they ask for: at how many looks it was seen, and when last."""

    looks: int = 0
    at: float = 0.0


@dataclass(slots=True)
class FirstLook:
    """What jobs had for one term when they were first seen, for the jobs in one pool that ask for exactly the same.

    ``as_asked``: some job had what it asks for. ``others``: what others had instead, as text. ``jobs``: those that had something
    else, where it is not known whether that is a rule of the site: job -> its run, its case, what it asks for, what it had.
    """

    as_asked: bool = False
    others: dict[str, OtherTerm] = field(default_factory=dict)
    jobs: dict[str, list[Any]] = field(default_factory=dict)


@dataclass(slots=True)
class Observed:
    """What was observed of a budget, or of one target of it.

    ``number``: the last number, as it was read. ``beside``: what others take, in the budget's base unit, smoothed. ``at``: when the
    number was asked for, 0 = there is none yet. ``since``: from when on an amendment asks for it. ``trouble``: why there is no
    newer number. ``told``: whether a finding said that it is missing.
    """

    number: float = 0.0
    beside: float = 0.0
    at: float = 0.0
    since: float = 0.0
    trouble: str = ""
    told: bool = False


@dataclass(slots=True)
class Pools:
    """What is known of schedulers and their queues.

    ``backoffs``: pool -> why its scheduler takes nothing now (``submit_deferred``, ``submit_accepted``). ``guards``: pool -> what
    protects its queue (``job_report``, ``submit_*``, the findings ``queue_held`` and ``queue_released``).

    Changed by ``surveyed``: ``idle``: pool -> idle nodes that a sweep still wants, by number. ``pending``: cluster that is yielded
    to -> jobs that wait there. ``yielding``: yields that hold now. ``unused``: pool -> nodes that are idle while jobs wait for
    them. ``out``: pool -> what is said -> nodes that a sweep still wants and that are down or drained, by number. ``silent``: pool
    -> names of nodes on which jobs run and that do not answer.

    ``unseen``: sweep -> since when it has only nodes left that cannot be used (the finding ``sweep_waits``), until one is back or
    the sweep has a job. ``in_vain``: node -> jobs that ended there before their claims, one after the other. ``left_out``: nodes
    that launch nothing (the findings ``node_left_out`` and ``node_let_in``). ``first_looks``: the terms that jobs had when they
    were first seen (``job_report``, the finding ``changed_at_scheduler``). ``site_rules``: what the scheduler alters by rules of
    the site (the finding ``site_rule``). ``observed``: budget, or budget@target -> the number that narrows it (``observed``, the
    finding ``observed_silent``); ``driver_start`` forgets it.
    """

    backoffs: dict[str, SubmitBackoff] = field(default_factory=dict)
    guards: dict[str, Guard] = field(default_factory=dict)
    idle: dict[str, list[int]] = field(default_factory=dict)
    pending: dict[str, int] = field(default_factory=dict)
    yielding: list[YieldKey] = field(default_factory=list)
    unused: dict[str, UnusedNodes] = field(default_factory=dict)
    out: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    silent: dict[str, list[str]] = field(default_factory=dict)
    unseen: dict[SweepKey, float] = field(default_factory=dict)
    in_vain: dict[str, VainRow] = field(default_factory=dict)
    left_out: dict[str, LeftOut] = field(default_factory=dict)
    first_looks: dict[TermKey, FirstLook] = field(default_factory=dict)
    site_rules: list[SiteRule] = field(default_factory=list)
    observed: dict[str, Observed] = field(default_factory=dict)


# ---- what people and the plan's circuit breakers say ----------------------------------------------------------------------


@dataclass(slots=True)
class Pause:
    """Why a component orders nothing new. ``phase``: the part of its time that has ended, "" = a person paused it. ``clock``: what
    this does to the component's clock: "stops", "restarts" (it stands still, and begins at zero when the component goes on),
    "runs", or "". ``since``: when it was paused.
    """

    why: str
    by: str = ""
    phase: str = ""
    cause: str = ""
    clock: str = ""
    since: float = 0.0


@dataclass(slots=True)
class Overrides:
    """What holds until somebody says otherwise. Each override is set by one event and lifted by another; ``amended`` drops those
    whose subject is not in the new plan.

    ``paused``: component -> why (``paused``, ``continued``). ``draining``: component, "" = all -> why (``drain_request``).
    ``caps``: test -> most runs at once (``capped``). ``amounts``: budget, or budget@target -> amount (``budget_set``). ``said_by``:
    for the last two, who set it, when and why. ``excluded``: node's name -> why it gets no job (``excluded``, ``included``).
    ``stopped``: case -> why it is not ordered any more (``case_stopped``, ``continued``).
    """

    paused: dict[str, Pause] = field(default_factory=dict)
    draining: dict[str, str] = field(default_factory=dict)
    caps: dict[str, int] = field(default_factory=dict)
    amounts: dict[str, float] = field(default_factory=dict)
    said_by: dict[LimitKey, str] = field(default_factory=dict)
    excluded: dict[str, str] = field(default_factory=dict)
    stopped: dict[CaseKey, str] = field(default_factory=dict)


@dataclass(slots=True)
class Failures:
    """What fails repeatedly, so that a circuit breaker can act. Changed by ``verdict`` and by the findings of a restart.

    ``nodes``: node's name -> failures of that node (``included`` forgets them). ``streaks``: case -> its last verdicts in a row
    that are failures; a run that passes forgets them.
    """

    nodes: dict[str, list[NodeFailure]] = field(default_factory=dict)
    streaks: dict[CaseKey, list[RunVerdict]] = field(default_factory=dict)


# ---- components ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Tally:
    """How many wanted results of a component are where. Always: wanted = waiting + in_flight + closed + unavailable."""

    wanted: int = 0
    waiting: int = 0
    in_flight: int = 0
    closed: int = 0
    unavailable: int = 0
    verdicts: dict[str, int] = field(
        default_factory=dict
    )  # of every attempt; a later verdict on a run replaces the first

    @property
    def over(self) -> bool:
        """Whether no result is open."""
        return self.closed + self.unavailable == self.wanted


@dataclass(slots=True)
class MixProgress:
    """The progress of a component that runs a mix for a time.

    ``started``: when its first order was given. ``up``: its time is over; ``up_at``: when that was recorded; ``ended``: when the
    last of its judged runs ended. By test: ``work``: unit-seconds of judged runs; ``judged``: how many these are; ``longest``: the
    longest run time in seconds; ``live``: runs in flight; ``idle``: since when there is none; ``fallen``: when that was reported;
    ``begun``: when its last run began; ``missed``: unit-seconds that all other tests had since then; ``stalled``: when it was
    reported that none of its runs begins although some are submitted.
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
    up_at: float | None = None
    ended: float | None = None


@dataclass(slots=True)
class ClockEvent:
    """One act on a component's clock (start, stop, go on, restart). ``at``: from when it holds, in seconds since 1970."""

    at: float
    act: str
    cause: str = ""
    why: str = ""


@dataclass(slots=True)
class DrillProgress:
    """How far a drill has come. ``due``: its moment, once that was recorded; ``begun``, ``ended``: as a person said."""

    due: float | None = None
    begun: float | None = None
    ended: float | None = None


@dataclass(slots=True)
class Clocks:
    """The clocks of components that run for a time. Changed by ``clock``, ``paused``, ``continued``, ``again`` and, for a mix, by
    every event of its runs.

    By component: ``events``: the acts on its clock, by time. ``parts_over``: how many parts of its time are over. ``mixes``: the
    progress of its mix. ``drills``: the progress of each drill.
    """

    events: dict[str, list[ClockEvent]] = field(default_factory=dict)
    parts_over: dict[str, int] = field(default_factory=dict)
    mixes: dict[str, MixProgress] = field(default_factory=dict)
    drills: dict[str, dict[str, DrillProgress]] = field(default_factory=dict)


@dataclass(slots=True)
class Outcome:
    """How a component came out, as recorded at event ``seq``: met, not met, undecided. ``why`` names the criterion."""

    outcome: str
    why: str
    seq: int


@dataclass(slots=True)
class Gates:
    """What opens the gates between components.

    By component: ``attested``: procedure -> met (``attested``). ``outcomes``: how it came out (``component_outcome``). ``waived``:
    why people opened its gate (``waived``, ``agreed``, ``withdrawn``). ``digests``: what the gate asked for when it was waived.
    """

    attested: dict[str, dict[str, bool]] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    waived: dict[str, str] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Given:
    """How a result that others need came out: its run and its verdict. ``left``, ``directory``, ``measured``: as in ``Run``."""

    run: str
    verdict: str
    left: dict[str, dict[str, str] | str] = field(default_factory=dict)
    directory: str = ""
    measured: float | None = None


class CutOff(NamedTuple):
    """The last attempt at a result that the plan in force does not want: its number, its verdict ("" if the next attempt was
    already to follow), and how many attempts ended with which verdict.
    """

    attempt: int
    verdict: str
    spent: tuple[tuple[str, int], ...]


@dataclass(slots=True)
class Results:
    """What is closed, for amendments and later rounds. Changed by final verdicts, ``given_up``, ``again`` and ``amended``.

    ``closed``: case in a mode -> closed repeats. ``again``: component -> how often it was told to run again. ``said_short``: stages
    whose copies do not all fit, as was reported (the finding ``fill_short``). ``given``: for cases that others need and for
    set-ups, repeat -> how it came out; a later verdict on its run changes it. ``begun``: components with clean-ups of which
    anything was ordered in this round. ``cut_off``: results that the plan in force does not want although another attempt was or
    might have been due -> the last one.
    """

    closed: dict[ResultsKey, list[int]] = field(default_factory=dict)
    again: dict[str, int] = field(default_factory=dict)
    said_short: list[str] = field(default_factory=list)
    given: dict[NeededKey, dict[int, Given]] = field(default_factory=dict)
    begun: dict[str, None] = field(default_factory=dict)
    cut_off: dict[WantedKey, CutOff] = field(default_factory=dict)
