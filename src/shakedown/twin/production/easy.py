"""Priority order with EASY backfill over jobs in columns: counts of processors, no identities, no events kept.

The rules (Lifka 1995; Mu'alem and Feitelson 2001). At every instant at which jobs end or are submitted: ends first, then
submissions, then

1. the first job by priority, the head, starts while it fits the free processors;
2. a head that does not fit gets a reservation: at the *shadow time*, the earliest requested end of running jobs at which enough is
   free for it. What is free then beyond its need, with all that ends by request until then, are the *spare* processors;
3. of the ``depth`` jobs behind the head, in order, each that fits now starts if by its request it ends by the shadow time, or takes
   no more than the spare processors. With ``cycle_s`` this step comes only at whole multiples of the cycle from the first
   submission on, and then looks at whatever waits.

A running job past its requested end (``kill`` off) counts as ended by its request: the shadow time may lie in the past, and then
only spare processors are given away. A head whose reservation was made is never started later than it, while no job of higher
priority comes in and no job runs over.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from shakedown.twin.production.columns import Floats, Schedule, Whole, Workload

ORDERS = ("fcfs", "shortest", "largest", "ageing")
AGEING_BONUS_S = 86400.0  # assumed: asking for the whole machine counts as a day of waiting, a part of it for a part
TELL_EVERY = 16384  # events between two words on progress
NEVER = float("inf")

Period = tuple[float, float]  # seconds: from, to
Tell = Callable[[int, int, float], None]  # jobs started, jobs in all, simulated time


@dataclass(frozen=True)
class Rules:
    """How the scheduler works. ``depth``: jobs looked at behind the head (0: none is backfilled); ``cycle_s``: seconds between two
    backfills, 0 for at every event; ``kill``: end jobs at their time limit."""

    order: str = "fcfs"
    depth: int = 100
    cycle_s: float = 0.0
    kill: bool = True


def schedule(
    jobs: Workload, processors: int, rules: Rules, tell: Tell | None = None, closed: Sequence[Period] = ()
) -> Schedule:
    """Purpose: the start of every job on a machine of so many processors. ``closed``: from when to when nothing may start, in order
    and apart from each other; what runs goes on, and when the time is over everything is looked at.

    Raises ValueError where a job asks for more than the machine has, or the rules make no sense.
    """
    _check(jobs, processors, rules)
    if not len(jobs):
        empty = np.zeros(0)
        return Schedule(empty, empty, np.zeros(0, dtype=bool), np.zeros(0, dtype=bool))
    ranked = _by_priority(jobs, processors, rules.order)
    held = np.minimum(jobs.run_s, jobs.requested_s) if rules.kill else jobs.run_s
    core = _Core(jobs, processors, rules, ranked, held[ranked])
    core.play(_places(ranked).tolist(), jobs.submit_s.tolist(), tell, closed)
    start, backfilled = np.empty(len(jobs)), np.empty(len(jobs), dtype=bool)
    start[ranked] = np.frombuffer(core.start)
    backfilled[ranked] = np.frombuffer(core.backfilled, dtype=np.uint8) > 0
    return Schedule(start, held, backfilled, held < jobs.run_s)


def _check(jobs: Workload, processors: int, rules: Rules) -> None:
    if rules.order not in ORDERS:
        raise ValueError(f"there is no order '{rules.order}'; there are {', '.join(ORDERS)}")
    if rules.depth < 0 or not 0 <= rules.cycle_s < NEVER:
        raise ValueError("the depth and the cycle of backfill cannot be negative")
    if len(jobs) and jobs.processors.max() > processors:
        raise ValueError(f"a job asks for {jobs.processors.max()} processors, the machine has {processors}")


def _by_priority(jobs: Workload, processors: int, order: str) -> Whole:
    """The places of the jobs, the one of highest priority first; equal ones in the order of submission.

    None of the orders changes while jobs wait: with linear ageing all that wait gain alike, so that the submission less the bonus
    orders them for ever.
    """
    keys: dict[str, Callable[[], Floats]] = {
        "fcfs": lambda: jobs.submit_s,
        "shortest": lambda: jobs.requested_s,
        "largest": lambda: -jobs.processors.astype(np.float64),
        "ageing": lambda: jobs.submit_s - AGEING_BONUS_S * jobs.processors / processors,
    }
    return np.argsort(keys[order](), kind="stable").astype(np.int64)


def _places(ranked: Whole) -> Whole:
    """The rank of each job: the inverse of the permutation."""
    ranks = np.empty_like(ranked)
    ranks[ranked] = np.arange(len(ranked), dtype=np.int64)
    return ranks


class _Core:
    """The machine and its queue. Jobs are known by their rank: the smaller goes first.

    ``window``: the head and the ``depth`` jobs behind it, sorted; ``beyond``: a heap of the others. ``tested``: so many places of
    the window could not start with what is free now, which only an end or another head can change: time makes no difference,
    for a job that would end too late now would end later still.
    ``ends``, ``sizes``: requested ends of what runs, sorted, and its processors.
    """

    def __init__(self, jobs: Workload, processors: int, rules: Rules, ranked: Whole, held: Floats) -> None:
        self.sizes_of: list[int] = jobs.processors[ranked].tolist()
        self.requested: list[float] = jobs.requested_s[ranked].tolist()
        self.held: list[float] = held.tolist()
        self.start = array("d", bytes(8 * len(ranked)))
        self.backfilled = bytearray(len(ranked))
        self.free, self.depth, self.cycle_s = processors, rules.depth, rules.cycle_s
        self.window: list[int] = []
        self.beyond: list[int] = []
        self.running: list[tuple[float, int]] = []  # a heap of (end, rank)
        self.ends: list[float] = []
        self.sizes: list[int] = []
        self.head, self.shadow, self.spare = -1, NEVER, 0  # whose reservation it is, if anybody's
        self.tested, self.begun = 0, 0

    def play(self, ranks: list[int], submitted: list[float], tell: Tell | None, closed: Sequence[Period]) -> None:
        """Purpose: everything from the first submission to the last start. ``ranks``: in the order of submission."""
        total, place, zero, events = len(ranks), 0, submitted[0], 0
        upcoming, pulse = submitted[0], NEVER
        running, later_closed = self.running, list(reversed(closed))
        while self.begun < total:
            now = min(upcoming, running[0][0] if running else NEVER, pulse)
            while running and running[0][0] <= now:
                self._end(heappop(running)[1])
            while upcoming <= now:
                self._submit(ranks[place])
                place += 1
                upcoming = submitted[place] if place < total else NEVER
            if later_closed and later_closed[-1][0] <= now:
                opens = later_closed[-1][1]
                if now < opens:
                    pulse = opens
                    continue
                later_closed.pop()
            self._start_heads(now)
            if not self.cycle_s or now == pulse or (now - zero) % self.cycle_s == 0:
                self._backfill(now)
            pulse = self._next_beat(now, zero) if self.cycle_s and self.tested < len(self.window) else NEVER
            events += 1
            if tell is not None and not events % TELL_EVERY:
                tell(self.begun, total, now)

    def _next_beat(self, now: float, zero: float) -> float:
        beat = zero + ((now - zero) // self.cycle_s + 1) * self.cycle_s
        return beat if beat > now else beat + self.cycle_s

    def _submit(self, rank: int) -> None:
        window = self.window
        if len(window) > self.depth and rank > window[-1]:
            heappush(self.beyond, rank)
            return
        place = bisect_left(window, rank)
        window.insert(place, rank)
        if len(window) > self.depth + 1:
            heappush(self.beyond, window.pop())
        self.tested = min(self.tested, place)

    def _end(self, rank: int) -> None:
        size, requested_end = self.sizes_of[rank], self.start[rank] + self.requested[rank]
        place = bisect_left(self.ends, requested_end)
        while self.sizes[place] != size:
            place += 1
        del self.ends[place], self.sizes[place]
        self.free += size
        if requested_end > self.shadow:
            self.spare += size
        self.tested = 0

    def _begin(self, place: int, now: float) -> None:
        """Start the job at a place of the window; the next one moves into it."""
        rank = self.window.pop(place)
        size, requested_end = self.sizes_of[rank], now + self.requested[rank]
        if self.beyond:
            self.window.append(heappop(self.beyond))
        self.start[rank] = now
        self.begun += 1
        self.free -= size
        if requested_end > self.shadow:
            self.spare -= size
        at = bisect_right(self.ends, requested_end)
        self.ends.insert(at, requested_end)
        self.sizes.insert(at, size)
        heappush(self.running, (now + self.held[rank], rank))

    def _start_heads(self, now: float) -> None:
        """Step 1, and step 2 for a head that stays: a new reservation, or an earlier time for the one it has."""
        window, sizes_of = self.window, self.sizes_of
        if not window:
            return
        if sizes_of[window[0]] <= self.free:
            self.head, self.shadow, self.tested = -1, NEVER, 0
            while window and sizes_of[window[0]] <= self.free:
                self._begin(0, now)
            if not window:
                return
        if window[0] != self.head:
            self.head, self.tested = window[0], 0
            self._reserve(sizes_of[self.head])
        elif not self.tested:
            self._reserve_earlier()

    def _reserve(self, need: int) -> None:
        ends, available, place = self.ends, self.free, 0
        for size in self.sizes:
            available += size
            place += 1
            if available >= need:
                break
        self.shadow = ends[place - 1]
        beyond = bisect_right(ends, self.shadow)
        self.spare = available - need + sum(self.sizes[place:beyond])

    def _reserve_earlier(self) -> None:
        """After ends: the head needs no longer wait for the last ones, as long as without them enough is spare."""
        ends, sizes = self.ends, self.sizes
        place = bisect_right(ends, self.shadow)
        while place:
            first = bisect_left(ends, ends[place - 1], 0, place)
            group = sizes[place - 1] if first == place - 1 else sum(sizes[first:place])
            if group > self.spare:
                self.shadow = ends[place - 1]
                break
            self.spare -= group
            place = first

    def _backfill(self, now: float) -> None:
        """Step 3, over the places that have not been tested since something ended. What moves up is for the next time."""
        window, sizes_of, requested = self.window, self.sizes_of, self.requested
        first, looked_at = max(self.tested, 1), len(window)
        if self.free and first < looked_at:
            free, spare, shadow = self.free, self.spare, self.shadow
            fitting = [
                rank
                for rank in (window[first:] if first > 1 else window)
                if sizes_of[rank] <= free and (sizes_of[rank] <= spare or now + requested[rank] <= shadow)
            ]
            for rank in fitting:  # less is free and spare after each
                size = sizes_of[rank]
                if size <= self.free and (size <= self.spare or now + requested[rank] <= shadow):
                    self.backfilled[rank] = 1
                    self._begin(bisect_left(window, rank), now)
                    looked_at -= 1
        self.tested = looked_at
