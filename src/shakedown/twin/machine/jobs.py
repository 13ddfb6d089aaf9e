"""A job as the simulated machine knows it, and the ground truth of what really ran."""

from __future__ import annotations

from dataclasses import dataclass, field

from shakedown.model.nouns import Case
from shakedown.model.ports import JobOrder
from shakedown.twin.machine.allocator import Need

IN_QUEUE = ("queued", "running")


@dataclass(slots=True)
class Execution:
    """Ground truth: the actual execution of a payload. ``end``: None while it runs. ``nodes``: its nodes, as bits of the pool.

    ``run``: as the job was ordered; a restarted job's later runs are known to the log alone. ``part``: it is one of several runs
    of its job, and ``run`` is its own name. ``healthy_s``: its run time on a healthy machine, 0 = not known.
    """

    job: str
    restart: int
    run: str
    case: str
    start: float
    end: float | None = None
    nodes: int = 0
    part: bool = False
    healthy_s: float = 0.0


@dataclass(slots=True)
class PartMarks:
    """The marks of a part of a job: its begin; its end as (time, exit status, elapsed seconds). None: not written.

    ``timed_out``: the job's script ended it at its own time limit.
    """

    began: float
    ended: float | None = None
    status: int = 0
    elapsed: float = 0.0
    timed_out: bool = False


@dataclass(slots=True)
class SimulatedJob:
    """``history``: (time, state, restart), oldest first: what the queue would show. ``nodes``: its nodes, as bits.

    ``held``: it may start only after its release. ``after``: the scheduler's id of the job that must end first. ``targets``:
    budget -> the target that it loads. ``next_part``: the first of its parts that no lane has taken yet.
    """

    id: str
    order: JobOrder
    submitted: float
    restart: int = 0
    state: str = "queued"
    started: float = 0.0
    exit_status: int | None = None
    history: list[tuple[float, str, int]] = field(default_factory=list)
    end_mark: tuple[float, int, float] | None = None  # when it was written, exit status, elapsed
    void: bool = False
    void_at: float | None = None  # when its script found that the job before it may still run, and did nothing
    incarnation: int = 0  # what was scheduled for an earlier life of the job is out of date
    held: bool = False
    delayed: str = ""  # why somebody in front of the scheduler keeps it, "" = nobody does
    after: str = ""
    ticket: int = 0  # of its place in the queue, 0 = it is in none
    need: Need | None = None
    nodes: int = 0
    targets: dict[str, str] = field(default_factory=dict)
    failed_nodes: tuple[str, ...] = ()
    launch_failure: bool = False
    live: dict[tuple[int, str], Execution] = field(default_factory=dict)  # (restart, run) -> what runs
    marks: dict[str, PartMarks] = field(default_factory=dict)  # run -> what it wrote as a part
    next_part: int = 0
    lanes: int = 0

    @property
    def name(self) -> str:
        return self.order.job

    @property
    def case(self) -> Case:
        return self.order.case

    @property
    def pool(self) -> str:
        return self.order.case.partition

    def becomes(self, state: str, now: float) -> None:
        self.state = state
        self.history.append((now, state, self.restart))
