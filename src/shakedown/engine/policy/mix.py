"""Components that run a mix of tests for a time: each test is to get its share of the node-hours, and the machine is to be full.

One fresh result of each case always waits; when it is ordered, the next one is wanted. The test that comes next is the one furthest
behind its share. What a test has had is counted in unit-seconds: those of judged runs, and those that its live runs are expected to
take. Fillers come after all tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from shakedown.engine.constraints.blocking import Outlook, binding_reason
from shakedown.engine.constraints.budgets import waiting_for_licences
from shakedown.engine.constraints.component_clock import ends_at
from shakedown.engine.constraints.reason import Reason
from shakedown.engine.policy.fillers import Gap, fillers_waiting, gap_of, idle_beside_waiting
from shakedown.engine.state.jobs import PendingResult, Queue
from shakedown.engine.state.modes import FILLER
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.plan import QueueKey
from shakedown.engine.state.records import MixProgress
from shakedown.engine.state.silent_nodes import silent_node
from shakedown.engine.state.state import State


@dataclass(slots=True)
class Mix:
    """The mix of one component, in one decision.

    ``expected``: test -> unit-seconds that it has had, or will have had when its live runs are over. ``each``: test -> unit-seconds
    that one run is expected to take; ``seconds``: test -> its expected run time. ``busy``: pool -> units that are to be busy;
    ``topped``: pool -> units up to which jobs are ordered, so that some always wait. ``ends``: when the time of the mix is over,
    None where that is not known. ``filled``: fillers take what is left, so no test has to exceed its share. ``now``: the time of
    the decision, which may be later than the last event.
    """

    number: int
    shares: dict[str, float]
    expected: dict[str, float]
    each: dict[str, float]
    seconds: dict[str, float]
    longest: dict[str, float]
    queues: dict[QueueKey, Queue]
    tests: dict[str, str]  # case -> its test
    busy: dict[str, float]
    topped: dict[str, float]
    ends: float | None = None
    drain: bool = True
    filled: bool = False
    now: float = 0.0
    limits: dict[str, float] = field(default_factory=dict)  # case -> its time limit
    gaps: dict[str, Gap] = field(
        default_factory=dict
    )  # pool -> what fillers may take, once the mix has ordered its own
    feelers: dict[str, int] = field(default_factory=dict)  # pool -> units of fillers that wait
    taken: dict[QueueKey, int] = field(default_factory=dict)
    total: float = 0.0  # of ``expected``, of the tests that have a share

    def __post_init__(self) -> None:
        self.total = sum(self.expected.get(name, 0.0) for name in self.shares)

    def candidates(self) -> Iterator[tuple[QueueKey, PendingResult]]:
        """The next result of each case: first the test furthest behind its share, and within a test the case with the fewest
        results.
        """
        ranked = sorted(
            ((self.behind(key), entry.repeat, place, key, entry) for place, (key, entry) in enumerate(self.next())),
            key=lambda item: item[:3],
        )
        return ((key, entry) for *_, key, entry in ranked)

    def fillers(self) -> Iterator[tuple[QueueKey, PendingResult]]:
        """The next result of each filler."""
        return self.next(FILLER)

    def behind(self, key: QueueKey) -> float:
        """A sort key: the smaller it is, the further the test of this class is behind its share."""
        test = self.tests[key.case]
        share = self.shares.get(test, 0.0)
        return self.expected[test] / share if share else float("inf")

    def next(self, mode: str = "") -> Iterator[tuple[QueueKey, PendingResult]]:
        """For each class of a mode: its next waiting result, or the result that will be wanted once all waiting
        ones are ordered.
        """
        for key, queue in self.queues.items():
            if key.mode != mode:
                continue
            taken = self.taken.get(key, 0)
            if taken < len(queue):
                yield key, next(islice(queue, taken, None))
            else:
                last = next((entry for entry in reversed(queue.entries.values()) if entry.fresh), None)
                beyond = taken - len(queue) + 1
                if last is not None:
                    yield key, replace(last, repeat=last.repeat + beyond)

    def ordered(self, key: QueueKey) -> None:
        """Count one more run of this class, which is ordered and may start at once."""
        if key.mode == FILLER and key.pool in self.gaps:
            self.gaps[key.pool].take(key.units, self.now + self._longest(key.case))
        self.released(key)
        self.stored(key)

    def stored(self, key: QueueKey) -> None:
        """Count one more run of this class, which is ordered and waits at the scheduler until it is released."""
        self.taken[key] = self.taken.get(key, 0) + 1

    def released(self, key: QueueKey) -> None:
        """Count the release of a run of this class that was ordered before: it may start now."""
        if key.mode != FILLER:
            self.gaps.pop(key.pool, None)
        test = self.tests[key.case]
        self.expected[test] += self.each[test]
        if test in self.shares:
            self.total += self.each[test]

    def full(self, state: State, ahead: Outlook, key: QueueKey) -> bool:
        """Whether enough jobs are at the scheduler in the pool of this class. A run may be ordered that needs more nodes than are
        free; the machine then drains for it.
        """
        return self._units(state, ahead, key) >= self.topped[key.pool]

    def full_for_fillers(self, state: State, ahead: Outlook, key: QueueKey) -> bool:
        """Whether no nodes are left for fillers. A few fillers may wait, to take nodes at once that become idle."""
        return self.gap(state, ahead, key.pool).left <= 0

    def gap(self, state: State, ahead: Outlook, pool: str) -> Gap:
        """What fillers may take of a pool, after everything that was ordered so far."""
        found = self.gaps.get(pool)
        if found is None:
            found = self.gaps[pool] = gap_of(state, ahead, pool, self.busy[pool], self._expected, self.now)
        return found

    def _expected(self, case: str, limit_s: float) -> float:
        """How long a run of this case takes at least, in seconds: the mean less the amount by which the longest run exceeded it.
        For a test that never ran, only the time limit is known.
        """
        test = self.tests.get(case, "")
        return max(0.0, 2 * self.seconds[test] - self.longest[test]) if self.longest.get(test) else limit_s

    def _longest(self, case: str) -> float:
        return self.longest.get(self.tests[case], 0.0) or self.limits[case]

    def _units(self, state: State, ahead: Outlook, key: QueueKey) -> float:
        """Units of jobs at the scheduler that have nodes or take them as soon as some are idle. Waiting fillers do not count."""
        units = state.usage.units.get(key.pool, 0) + ahead.units.get(key.pool, 0) - self.feelers.get(key.pool, 0)
        return units - self._waiting(state, ahead, key.pool) if state.index.licensed else units

    def _waiting(self, state: State, ahead: Outlook, pool: str) -> float:
        """Units of jobs at the scheduler that wait for a licence and so cannot use idle nodes."""
        found: dict[str, float] = {}
        for key in self.queues:
            if key.pool == pool and key.loads:
                name, runs = waiting_for_licences(state, key, ahead.loads, self.now)
                found[name] = max(found.get(name, 0.0), runs * state.index.cases[key.case].shape.units)
        return sum(found.values())

    def reason(self, state: State, key: QueueKey, now: float, ahead: Outlook) -> Reason | None:
        """Purpose: what holds a class of the mix back, apart from a full machine; None where nothing does."""
        found = binding_reason(state, key, now, ahead) or self._too_late(state, key, now) or self._too_far_ahead(key)
        if found is None and key.mode == FILLER:
            found = self.gap(state, ahead, key.pool).reason(key.units, now, self._longest(key.case))
        return found or (self._licensed(state, key, now, ahead) if state.index.licensed else None)

    def _licensed(self, state: State, key: QueueKey, now: float, ahead: Outlook) -> Reason | None:
        """As many jobs as are to wait at the scheduler already wait for a licence, so other tests come first."""
        name, runs = waiting_for_licences(state, key, ahead.loads, now)
        stored = max(1.0, (self.topped[key.pool] - self.busy[key.pool]) / state.index.cases[key.case].shape.units)
        if runs < stored:
            return None
        text = f"all of {name} is in use, and runs wait for it at the scheduler as long as the plan wants"
        return Reason(f"licence:{name}", text, notable=False)

    def _too_far_ahead(self, key: QueueKey) -> Reason | None:
        """In a mix with fillers, a test that is two runs ahead of its share waits until the others catch up."""
        test = self.tests[key.case]
        if not self.filled or not self.is_ahead(test):
            return None
        text = f"{test} is ahead of its share of the mix; a filler takes what is idle"
        return Reason(f"share:{test}", text, notable=False)

    def is_ahead(self, test: str) -> bool:
        """Whether a test has had, or will have had with its live runs, at least two runs more than its share."""
        if test not in self.shares:
            return False
        return self.expected[test] - self.shares[test] * self.total > 2 * self.each[test]

    def is_behind(self, test: str) -> bool:
        """Whether a test is at least one run short of its share."""
        return self.shares[test] * self.total - self.expected[test] >= self.each[test]

    def in_time(self, test: str, now: float, wait_s: float) -> bool:
        """Whether a run that begins in ``wait_s`` seconds would end before the time of the component is over."""
        return self.ends is None or now + wait_s + self.longest.get(test, 0.0) <= self.ends

    def _too_late(self, state: State, key: QueueKey, now: float) -> Reason | None:
        """Near the end, only runs that will end in time are ordered. A test that never ran is ordered too: how long it takes is not
        known.
        """
        longest = self.longest.get(self.tests[key.case], 0.0)
        if not self.drain or self.ends is None or not longest or now + longest <= self.ends:
            return None
        name = state.index.components[self.number].name
        text = f"it would not be over in time: its longest run took {longest:.0f} s, and component {name} ends sooner"
        return Reason(f"drain:{name}", text)


def mixes(state: State, decision: Decision, now: float) -> dict[int, Mix | None]:
    """Purpose: the mixes whose time is not over, by the number of their component. None stands for a mix that has no room in any
    pool.
    """
    found: dict[int, Mix | None] = {}
    for number in state.index.rolling:
        component = state.index.components[number]
        roll = state.clocks.mixes.get(component.name) or MixProgress()
        if roll.up or any(at[0] == number and bundle.kind == "sweep" for at, bundle in state.index.bundles.items()):
            continue
        ends = ends_at(state, number, now)
        over = ends is not None and now >= ends
        mix = None if over else _mix(state, number, roll, ends, now)
        if mix is not None:
            _ramp(state, decision, mix, roll, now)
        crowded = mix is not None and all(state.usage.units.get(pool, 0) >= units for pool, units in mix.topped.items())
        crowded = crowded and not state.index.licensed  # not all of these units take nodes
        crowded = crowded and not (mix is not None and mix.filled and idle_beside_waiting(state, mix.busy))
        found[number] = None if crowded and not component.fill.survive_s else mix
    return found


@dataclass(frozen=True, slots=True)
class Terms:
    """The part of a mix that comes from the plan and is the same in every decision. ``limits``: test -> unit-seconds at its time
    limit.
    """

    classes: tuple[QueueKey, ...]
    tests: dict[str, str]
    units: dict[str, int]
    limits: dict[str, float]
    own: tuple[str, ...]
    shares: dict[str, float]
    widest: int


def _terms(state: State, number: int) -> Terms:
    """Worked out once and kept, since a mix is weighed in every decision."""
    found = state.index.terms.get(number)
    if found is None:
        component = state.index.components[number]
        cases = [state.index.cases[name] for name in state.index.all_cases(number)]
        classes = [state.index.class_of(number, name) for name in component.cases]
        classes += [state.index.class_of(number, name, FILLER) for name in component.fillers]
        own = tuple(dict.fromkeys(state.index.cases[name].test for name in component.cases))
        found = state.index.terms[number] = Terms(
            classes=tuple(classes),
            tests={case.id: case.test for case in cases},
            units={case.test: case.shape.units for case in reversed(cases)},
            limits={case.test: case.shape.units * case.shape.time_limit_s for case in reversed(cases)},
            own=own,
            shares=dict(component.mix) or dict.fromkeys(own, 1.0 / len(own)),
            widest=max((case.shape.units for case in cases), default=0),
        )
    terms: Terms = found
    return terms


def _mix(state: State, number: int, roll: MixProgress, ends: float | None, now: float) -> Mix:
    component, terms = state.index.components[number], _terms(state, number)
    queues = {key: state.waiting.queues[key] for key in terms.classes if key in state.waiting.queues}
    each = dict(terms.limits)
    for test, count in roll.judged.items():
        if count and test in each:
            each[test] = roll.work.get(test, 0.0) / count
    held = _held(state, number, _on_silent_nodes(state, number))
    expected = {
        test: roll.work.get(test, 0.0) + (roll.live.get(test, 0) - held.get(test, 0)) * one
        for test, one in each.items()
    }
    seconds = {test: work / max(1, terms.units[test]) for test, work in each.items()}
    busy = {pool: component.fill.target * _capacity(state, pool) for pool in state.index.topped(number)}
    typical = sum([terms.shares.get(test, 0.0) * seconds[test] for test in terms.own])
    bridged = max(component.fill.queue_ahead_s, component.fill.survive_s)
    topped = {pool: units + _units_to_wait(terms, bridged, units, typical) for pool, units in busy.items()}
    mix = Mix(number, terms.shares, expected, each, seconds, roll.longest, queues, terms.tests, busy, topped, ends)
    mix.drain, mix.filled, mix.now = component.fill.drain, bool(component.fillers), now
    if mix.filled:
        mix.limits = {name: state.index.cases[name].shape.time_limit_s for name in component.fillers}
        mix.feelers = {pool: fillers_waiting(state, pool) for pool in busy}
    return mix


def _on_silent_nodes(state: State, number: int) -> dict[str, int]:
    """Test -> how many of its runs are on nodes that do not answer. Nothing is expected of these, so their test
    goes on elsewhere.
    """
    counts: dict[str, int] = {}
    for job in state.jobs.values() if state.pools.silent else ():
        if job.component == number and not job.mode and silent_node(state, job):
            test = state.index.cases[job.case].test
            counts[test] = counts.get(test, 0) + 1
    return counts


def _held(state: State, number: int, counts: dict[str, int]) -> dict[str, int]:
    """Test -> how many of its runs wait for their release, added to ``counts``. It is not known when these will run."""
    for jobs in state.job_index.held.values():
        first = state.jobs[next(iter(jobs))]  # a class of a mix is one case of one component
        if first.component == number:
            test = state.index.cases[first.case].test
            counts[test] = counts.get(test, 0) + len(jobs)
    return counts


def _capacity(state: State, pool: str) -> float:
    return float(state.index.pools[pool].capacity)


def _units_to_wait(terms: Terms, bridged_s: float, busy: float, typical_s: float) -> float:
    """How many units are to wait beside the busy ones: one run of the widest case, or as much as will end in the time to be
    bridged.
    """
    return max(float(terms.widest), busy * bridged_s / typical_s if typical_s > 0 else 0.0)


def _ramp(state: State, decision: Decision, mix: Mix, roll: MixProgress, now: float) -> None:
    """During the ramp, the units that may be taken grow with the time since the first order."""
    ramp_s = state.index.components[mix.number].fill.ramp_s
    since = now - roll.started if roll.started is not None else 0.0
    if not ramp_s or since >= ramp_s:
        return
    for pool, units in mix.busy.items():
        allowed = max(1.0, units * since / ramp_s)
        mix.busy[pool] = mix.topped[pool] = min(allowed, units)
        if units > 0:
            decision.wake(now + ramp_s / units)
