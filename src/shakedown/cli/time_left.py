"""How much is left to do, as far as anybody can tell: from the clock where a plan runs for a time, from run times that were seen
elsewhere, and where nothing is known that is what is said.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from shakedown.engine import State
from shakedown.engine.constraints.blocking import stagger_of
from shakedown.engine.constraints.component_clock import acts_of, ends_at
from shakedown.engine.state.jobs import PendingResult
from shakedown.engine.state.modes import base
from shakedown.engine.state.nodes_out import numbers_out
from shakedown.engine.state.phases import RUN_OVER
from shakedown.metrics.words import plural, some
from shakedown.model.shared_nodes import names_in
from shakedown.model.units import show_duration


@dataclass(slots=True)
class Pace:
    """How long runs take, by test: that of one test says nothing of another."""

    sums: dict[str, float] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, test: str, elapsed_s: float) -> None:
        self.sums[test] = self.sums.get(test, 0.0) + elapsed_s
        self.counts[test] += 1

    def mean(self, test: str) -> float | None:
        return self.sums[test] / self.counts[test] if self.counts[test] else None


def time_left(state: State, pace: Pace, now: float) -> str:
    """Purpose: "about 12 min of work left and 14 runs of unknown length; 3 h 00 min of stability left"; "" = nothing is open.

    Runs of a sweep on nodes that are out take nobody knows how long: "5 runs wait for n003, which is out".
    """
    known, unknown = _work(state, pace, now)
    said = [f"about {show_duration(known)} of work left"] if known is not None and known >= 1 else []
    said += [f"{plural(unknown, 'run')} of unknown length"] if unknown else []
    parts = [" and ".join(said)] if said else []
    return "; ".join(parts + _out(state) + _clocks(state, now))


def _out(state: State) -> list[str]:
    """What sweeps want on nodes that are excluded, down or drained."""
    waits: Counter[str] = Counter()
    out = _nodes_out(state)
    for entry in _waiting(state) if out else ():
        pool, number = _node(state, entry)
        if number in out.get(pool, ()):
            waits[names_in(state.index.places[pool].nodes)[number - 1]] += 1
    if not waits:
        return []
    count, names = waits.total(), sorted(waits)
    verb, are = ("waits" if count == 1 else "wait"), ("is" if len(names) == 1 else "are")
    return [f"{plural(count, 'run')} {verb} for {some(names)}, which {are} out"]


def _nodes_out(state: State) -> dict[str, frozenset[int]]:
    """Of pools that sweeps see the nodes that are out, by number."""
    swept = {pool for (_, pool), bundle in state.index.bundles.items() if bundle.kind == "sweep"}
    found = {pool: numbers_out(state, pool) for pool in swept if pool in state.index.places}
    return {pool: numbers for pool, numbers in found.items() if numbers}


def _node(state: State, entry: PendingResult) -> tuple[str, int]:
    """The pool of a waiting result, and the node that a sweep wants it on, by number; 0 where any will do."""
    pool = state.index.class_of(entry.component, entry.case, entry.mode).pool
    bundle = state.index.bundles.get((entry.component, pool))
    if bundle is None or bundle.kind != "sweep":
        return pool, 0
    return pool, (entry.repeat - 1) % max(1, bundle.nodes) + 1


def _waiting(state: State) -> list[PendingResult]:
    return list(state.waiting.every())


def _work(state: State, pace: Pace, now: float) -> tuple[float | None, int]:
    """Seconds that the open runs of known tests still take, and how many runs there are of others.

    Components that come one after the other take their times together, and none is over before its own is; nor is all of it before
    what they share has done all of the work.
    """
    parts: dict[int, Work] = {}
    every, unknown = Work(), 0
    for one in _open_runs(state):
        mean = pace.mean(state.index.cases[one.case].test)
        if mean is None:
            unknown += 1
            continue
        left = mean if one.started is None else max(0.0, mean - max(0.0, now - one.started))
        for work in (parts.setdefault(one.component, Work()), every):
            work.add(state, one, left)
    return (max(every.seconds, *_paths(state, parts).values()) if parts else None), unknown


def _paths(state: State, parts: dict[int, Work]) -> dict[str, float]:
    """When each component is over, by those that must come before it."""
    found: dict[str, float] = {}

    def over(name: str, coming: tuple[str, ...] = ()) -> float:
        if name not in found and name not in coming and name in state.index.component_number:
            number = state.index.component_number[name]
            first = [over(other, (*coming, name)) for other in state.index.components[number].after]
            found[name] = max(first, default=0.0) + (parts[number].seconds if number in parts else 0.0)
        return found.get(name, 0.0)

    for component in state.index.components:
        over(component.name)
    return found


@dataclass(slots=True)
class Work:
    """How long a set of open runs takes at least.

    ``longest``: seconds that the longest run still takes. ``shared``: for each thing that they share (nodes of a pool, a budget,
    copies of a test, the stagger) the work that is left, and how much of it is done in a second.
    """

    longest: float = 0.0
    shared: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return max([self.longest, *(work / at_once for work, at_once in self.shared.values() if at_once > 0)])

    def add(self, state: State, one: OpenRun, left_s: float) -> None:
        """Add what one open run takes for ``left_s`` seconds: nodes of its pool (all of them if it runs alone), the budgets it
        loads, one of the copies of its test that may run at a time, and, before it starts, its turn in the stagger.
        """
        self.longest = max(self.longest, left_s)
        key = state.index.class_of(one.component, one.case, one.mode)
        pool, component = state.index.pools.get(key.pool), state.index.components[one.component]
        if pool is not None:
            alone = base(one.mode) == "isolated" or (key.exclusive and key.pool not in state.index.places)
            self._share(key.pool, left_s * (pool.capacity if alone else key.units), pool.capacity)
        test, own = state.index.cases[one.case].test, dict(component.limits.budgets)
        for name, load in key.loads:
            limit = min(state.index.budgets.get(name, 0.0), own.get(name, math.inf))
            self._share(f"budget {name}", left_s * load, limit * len(state.index.targets.get(name, "1")))
        if test in dict(component.limits.copies):
            self._share(f"copies {one.component} {test}", left_s, float(dict(component.limits.copies)[test]))
        if one.started is None:
            self._share(f"stagger {test}", stagger_of(state, key), 1.0)

    def _share(self, name: str, work: float, at_once: float) -> None:
        if work > 0 and at_once > 0:
            self.shared[name] = (self.shared.get(name, (0.0, 0.0))[0] + work, at_once)


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that is not judged. ``started``: None where it waits."""

    component: int
    case: str
    mode: str
    started: float | None


def _open_runs(state: State) -> list[OpenRun]:
    """A mix that runs for a time is over when its time is."""
    timed = set(state.index.rolling)
    out = _nodes_out(state)
    found = [
        OpenRun(one.component, one.case, one.mode, None)
        for one in _waiting(state)
        if one.component not in timed and not (out and _is_out(state, one, out))
    ]
    live = [run for run in state.runs.values() if run.phase not in RUN_OVER]
    return found + [
        OpenRun(run.component, run.case, run.mode, run.started)
        for run in live
        if run.component not in timed or _is_up(state, run.component)
    ]


def _is_out(state: State, entry: PendingResult, out: Mapping[str, frozenset[int]]) -> bool:
    pool, number = _node(state, entry)
    return number in out.get(pool, ())


def _is_up(state: State, number: int) -> bool:
    roll = state.clocks.mixes.get(state.index.components[number].name)
    return roll is not None and roll.up


def clock_share(state: State, now: float) -> float | None:
    """Purpose: how much of its time the first component is through that is running for one, 0 to 1; None where none is."""
    for number in state.index.rolling:
        component, end = state.index.components[number], ends_at(state, number, now)
        if end is not None and not _is_up(state, number) and not state.tallies[number].over and component.duration_s:
            return min(1.0, max(0.0, 1 - (end - now) / component.duration_s))
    return None


def _clocks(state: State, now: float) -> list[str]:
    """What the clocks of components that run for a time leave."""
    said = []
    for number in state.index.rolling:
        component = state.index.components[number]
        if _is_up(state, number) or state.tallies[number].over:
            continue
        end = ends_at(state, number, now)
        if end is not None:
            said.append(f"{show_duration(max(0.0, end - now))} of {component.name} left")
        elif acts_of(state, number):
            said.append(f"the clock of {component.name} stands still")
        else:
            said.append(f"{component.name} has not begun ({show_duration(component.duration_s)})")
    return said
