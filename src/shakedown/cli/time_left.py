"""How much is left to do, as far as anybody can tell: from the clock where a plan runs for a time, from run times that were seen
elsewhere, and where nothing is known that is what is said.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from shakedown.engine import State
from shakedown.engine.constraints.component_clock import acts_of, ends_at
from shakedown.engine.state.phases import RUN_OVER
from shakedown.metrics.words import plural
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
    """Purpose: "about 12 min of work left and 14 runs of unknown length; 3 h 00 min of stability left"; "" = nothing is open."""
    known, unknown = _work(state, pace, now)
    said = [f"about {show_duration(known)} of work left"] if known is not None and known >= 1 else []
    said += [f"{plural(unknown, 'run')} of unknown length"] if unknown else []
    parts = [" and ".join(said)] if said else []
    return "; ".join(parts + _clocks(state, now))


def _work(state: State, pace: Pace, now: float) -> tuple[float | None, int]:
    """Seconds that the open runs of known tests still take, and how many runs there are of others.

    No pool is done before its work is spread over all of it, nor before the longest of its runs is over.
    """
    work: dict[str, float] = {}
    longest, unknown = 0.0, 0
    for name, started in _open_runs(state):
        case = state.index.cases[name]
        mean = pace.mean(case.test)
        if mean is None:
            unknown += 1
            continue
        left = mean if started is None else max(0.0, mean - max(0.0, now - started))
        longest = max(longest, left)
        work[case.partition] = work.get(case.partition, 0.0) + left * case.shape.units
    pools = state.index.pools
    spread = [units_s / max(1, pools[pool].capacity) for pool, units_s in work.items() if pool in pools]
    return (max([longest, *spread]) if work else None), unknown


def _open_runs(state: State) -> list[tuple[str, float | None]]:
    """Cases of runs that are not judged, with the start of those that run. A mix that runs for a time is over when its time is."""
    timed = set(state.index.rolling)
    waiting = [entry for queue in state.waiting.queues.values() for entry in queue] + state.waiting.delayed
    found: list[tuple[str, float | None]] = [(entry.case, None) for entry in waiting if entry.component not in timed]
    live = [run for run in state.runs.values() if run.phase not in RUN_OVER]
    return found + [
        (run.case, run.started) for run in live if run.component not in timed or _is_up(state, run.component)
    ]


def _is_up(state: State, number: int) -> bool:
    roll = state.clocks.mixes.get(state.index.components[number].name)
    return roll is not None and roll.up


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
