"""What the fillers of a mix may take: idle nodes that nothing else uses, until a wide job that waits needs them.

``gap_of`` is the table of contents. Jobs that wait at the scheduler are served first come first served, as far as enough nodes are
idle. The first that needs more nodes than are idle is the *head*; no later job may take nodes that it waits for. A filler may use
nodes if it ends before enough of them can be expected to be idle for the head. Nodes that the head will not need even then may be
used for longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from shakedown.engine.constraints.blocking import Outlook, Starting
from shakedown.engine.constraints.budgets import waiting_for_licences
from shakedown.engine.constraints.reason import Reason
from shakedown.engine.state.job_limits import limit_s
from shakedown.engine.state.jobs import Job
from shakedown.engine.state.modes import FILLER
from shakedown.engine.state.phases import NOT_BEGUN
from shakedown.engine.state.state import State
from shakedown.model.units import show_duration

_STORE = 0.02  # of the busy units: what waits of a filler, for what falls idle before we hear of it
Expected = Callable[
    [str, float], float
]  # case, its job's time limit -> seconds that the job is expected to take at least


@dataclass(slots=True)
class Gap:
    """What fillers may take of a pool in one decision.

    ``left``: units, including a few fillers that may wait. ``head``: the job that waits for more nodes than are idle, in words; ""
    where there is none. ``starts``: when that job can be expected to begin. ``spare``: units that will still be idle then.
    """

    pool: str
    left: float
    head: str = ""
    starts: float = 0.0
    spare: float = 0.0

    def take(self, units: int, ends: float) -> None:
        """Count a filler that is ordered and ends by ``ends``."""
        self.left -= units
        if self.head and ends > self.starts:
            self.spare -= units

    def reason(self, units: int, now: float, longest_s: float) -> Reason | None:
        """Purpose: why a filler of ``units`` that takes up to ``longest_s`` seconds may not have the idle nodes;
        None where it may.
        """
        if not self.head or self.left <= 0 or units <= self.spare or now + longest_s <= self.starts:
            return None
        due = max(0.0, self.starts - now)
        when = (
            f"can be expected to have them in {show_duration(due)}"
            if due >= 1.0
            else "can be expected to have them soon"
        )
        text = f"{self.pool} drains for {self.head} and {when}; a run of this filler takes up to {show_duration(longest_s)}"
        return Reason(f"reserved:{self.pool}", text, notable=False)


def idle_beside_waiting(state: State, busy: dict[str, float]) -> bool:
    """Purpose: whether, in any pool, fewer units run than are to be busy. ``busy``: pool -> units that are to be busy."""
    waiting = state.job_index.waiting_units
    return any(state.usage.units.get(pool, 0) - waiting.get(pool, 0) < units for pool, units in busy.items())


def fillers_waiting(state: State, pool: str) -> int:
    """Purpose: units of fillers that wait at the scheduler for nodes."""
    return state.job_index.waiting_fillers.get(pool, 0)


def gap_of(state: State, ahead: Outlook, pool: str, busy: float, expected: Expected, now: float) -> Gap:
    """Purpose: what fillers may take of ``pool`` now. ``busy``: units that are to be busy there; ``expected``: how long jobs take
    at least.

    This is asked in each decision, and thousands of jobs can wait: it goes no further than until nothing is left for fillers.
    """
    store = max(1.0, _STORE * busy)
    running = state.usage.units.get(pool, 0) - state.job_index.waiting_units.get(pool, 0)
    idle = state.index.pools[pool].capacity - running
    wanted = state.usage.units.get(pool, 0) - running + sum(one.key.units for one in ahead.starting.get(pool, ()))
    wanted -= sum(state.job_index.noted.get(pool, {}).values())
    if wanted <= idle and not state.index.licensed:
        return Gap(pool, busy + store - running - wanted)  # all that waits has room
    taken, head, starting = float(running), None, list[Job | Starting]()
    for one in _wanted(state, ahead, pool, now):
        key = one.key
        assert key is not None
        if key.mode != FILLER and (head is not None or key.units > idle):
            head = head or one
            if taken >= busy:
                break
            continue
        idle -= key.units
        taken += key.units
        if taken >= busy + store:
            break
        starting.append(one)
    if head is None:
        return Gap(pool, busy + store - taken)
    name = head.id if isinstance(head, Job) else "a run"
    units = head.key.units if head.key is not None else 0
    gap = Gap(pool, busy - taken, f"{name} of {head.case}, which waits for {units} nodes")
    if gap.left > 0:
        gap.starts, gap.spare = _start_of(state, pool, units, idle, starting, expected, now)
    return gap


def _start_of(
    state: State, pool: str, units: int, idle: int, starting: list[Job | Starting], expected: Expected, now: float
) -> tuple[float, float]:
    """When ``units`` units can be expected to be idle, and how many more are idle then."""
    if units <= idle:
        return now, float(idle - units)
    ends = []
    for one in starting:
        limit = limit_s(state, one) if isinstance(one, Job) else one.limit_s
        ends.append((now + expected(one.case, limit), one.key.units if one.key is not None else 0))
    for job in state.jobs.values():
        if job.charged and job.key is not None and job.key.pool == pool and job.phase not in NOT_BEGUN:
            ends.append((max(now, (job.started or now) + expected(job.case, limit_s(state, job))), job.key.units))
    ends.sort()
    for when, freed in ends:
        idle += freed
        if idle >= units:
            return when, float(idle - units)
    return float("inf"), 0.0  # nodes of others, or such as are out, are in its way as well


# ---- what waits ----------------------------------------------------------------------------------------------------------


def _wanted(state: State, ahead: Outlook, pool: str, now: float) -> Iterable[Job | Starting]:
    """The jobs that may start and wait for nodes, first come first served. Jobs that wait for something else are left out: the
    scheduler says so of them, or they lack a licence.
    """
    jobs = _jobs_that_may_start(state, ahead, pool)
    lacking = _lacking(state, ahead, pool, now) if state.index.licensed else {}
    if not lacking:
        return (one for one in jobs if not _noted(one))
    found = []
    for one in reversed(list(jobs)):
        assert one.key is not None
        licence = next((name for name, _ in one.key.loads if lacking.get(name, 0.0) > 0), "")
        if licence:
            lacking[licence] -= dict(one.key.loads)[licence]
        elif not _noted(one):
            found.append(one)
    return found[::-1]


def _jobs_that_may_start(state: State, ahead: Outlook, pool: str) -> Iterator[Job | Starting]:
    """All jobs that may start: those that wait at the scheduler, and those that this decision orders or releases."""
    for name in state.job_index.waiting.get(pool, ()):
        job = state.jobs[name]
        if job.key is not None:
            yield job
    yield from ahead.starting.get(pool, ())


def _noted(one: Job | Starting) -> bool:
    """Whether the scheduler says that something other than nodes keeps a job waiting."""
    return isinstance(one, Job) and bool(one.report.note)


def _lacking(state: State, ahead: Outlook, pool: str, now: float) -> dict[str, float]:
    """Licence -> how much more of it is asked for than there is."""
    found: dict[str, float] = {}
    keys = [key for key in state.job_index.charged if key.pool == pool]
    for key in dict.fromkeys(keys + [one.key for one in ahead.starting.get(pool, ())]):
        name, runs = waiting_for_licences(state, key, ahead.loads, now)
        if runs > 0:
            found[name] = max(found.get(name, 0.0), runs * dict(key.loads)[name])
    return found
