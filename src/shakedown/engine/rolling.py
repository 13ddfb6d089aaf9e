"""Components that run a mix of tests for a time: each test is to have its share of the node-hours.

One fresh result of each case always waits; when it is ordered the next one is wanted. Which test comes next is decided by what
each has had: unit-seconds of judged runs, and what the live ones can be expected to take.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from shakedown.engine.orders import Decision
from shakedown.engine.plan import ClassKey
from shakedown.engine.reasons import Outlook
from shakedown.engine.state import Entry, Queue, Roll, State
from shakedown.model.events import Event


def tell_time(state: State, decision: Decision, now: float) -> bool:
    """Purpose: say once that the time of a mix is up; until then be woken for it. Whether it was said."""
    said = False
    for number in state.index.rolling:
        component = state.index.components[number]
        roll = state.rolls.get(component.name)
        if roll is None or roll.started is None or roll.up:
            continue
        if now >= roll.started + component.duration_s:
            why = f"the {component.duration_s:g} s of component {component.name} have passed; nothing new of it is ordered"
            decision.record(Event("finding", value={"kind": "time_is_up", "component": component.name}, reason=why))
            said = True
        else:
            decision.wake(roll.started + component.duration_s)
    return said


@dataclass(slots=True)
class Mix:
    """One component's mix in one decision. ``expected``: test -> unit-seconds it has had or will have by what is live."""

    shares: dict[str, float]
    expected: dict[str, float]
    each: dict[str, float]  # test -> unit-seconds that one run of it is expected to take
    queues: dict[ClassKey, Queue]
    tests: dict[str, str]  # case -> its test
    topped: dict[str, int]  # pool -> units up to which it is topped up
    taken: dict[ClassKey, int] = field(default_factory=dict)

    def candidates(self) -> Iterator[tuple[ClassKey, Entry]]:
        """The next result of each case: the test furthest behind its share first, its case with the fewest results first."""
        ranked = sorted(
            ((self._behind(key), entry.repeat, place, key, entry) for place, (key, entry) in enumerate(self._next())),
            key=lambda item: item[:3],
        )
        return ((key, entry) for *_, key, entry in ranked)

    def _behind(self, key: ClassKey) -> float:
        test = self.tests[key.case]
        share = self.shares.get(test, 0.0)
        return self.expected[test] / share if share else float("inf")

    def _next(self) -> Iterator[tuple[ClassKey, Entry]]:
        """What waits, then the results that will be wanted once that is ordered."""
        for key, queue in self.queues.items():
            taken = self.taken.get(key, 0)
            if taken < len(queue.entries):
                yield key, queue.entries[taken]
            else:
                last = next((entry for entry in queue.entries if entry.fresh), None)
                beyond = taken - len(queue.entries) + 1
                if last is not None:
                    yield key, replace(last, repeat=last.repeat + beyond)

    def ordered(self, key: ClassKey) -> None:
        test = self.tests[key.case]
        self.expected[test] += self.each[test]
        self.taken[key] = self.taken.get(key, 0) + 1

    def full(self, state: State, ahead: Outlook, key: ClassKey) -> bool:
        units = state.units.get(key.pool, 0) + ahead.units.get(key.pool, 0)
        return units >= self.topped[key.pool]


def mixes(state: State, now: float) -> dict[int, Mix | None]:
    """Purpose: the mixes whose time is not over, by the number of their component; None for one with no room anywhere."""
    found: dict[int, Mix | None] = {}
    for number in state.index.rolling:
        component = state.index.components[number]
        roll = state.rolls.get(component.name) or Roll()
        if not roll.up:
            over = roll.started is not None and now >= roll.started + component.duration_s
            room = any(state.units.get(pool, 0) < units for pool, units in state.index.topped(number).items())
            found[number] = _mix(state, number, roll) if room and not over else None
    return found


def _mix(state: State, number: int, roll: Roll) -> Mix:
    component = state.index.components[number]
    cases = [state.index.cases[name] for name in component.cases]
    classes = (state.index.class_of(number, name) for name in component.cases)
    queues = {key: state.queues[key] for key in classes if key in state.queues}
    tests = {case.id: case.test for case in cases}
    each = {case.test: case.shape.units * case.shape.time_limit_s for case in reversed(cases)}
    each |= {test: roll.work.get(test, 0.0) / count for test, count in roll.judged.items() if count and test in each}
    expected = {test: roll.work.get(test, 0.0) + roll.live.get(test, 0) * each[test] for test in each}
    shares = dict(component.mix) or dict.fromkeys(each, 1.0 / len(each))
    return Mix(shares, expected, each, queues, tests, state.index.topped(number))
