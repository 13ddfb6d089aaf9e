"""Rehearse a plan again with one thing loosened at a time, in parallel processes, to know what limits it.

``try_all`` is the table of contents. Each trial is a whole rehearsal with the same seed, in a directory that is gone afterwards;
run times are those of the first one, also where a trial changes what they would be derived from. What may be advised is rehearsed
on further seeds, beside the plan as it is on each of them, until its gain is clear.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec.structs import replace as changed

from shakedown.events.campaigns import create_campaign
from shakedown.events.reader import read_events
from shakedown.metrics.judging.criteria import score
from shakedown.metrics.limits import LEAST
from shakedown.metrics.rows.table import fold_runs
from shakedown.metrics.trials import (
    LEAST_GAIN,
    LEAST_SEEDS,
    MOST_SEEDS,
    Repeat,
    Trial,
    Verdict,
    falls_short,
    judged_of,
    to_repeat,
    verdict_of,
    with_gain,
)
from shakedown.model.errors import ShakedownError
from shakedown.model.frozen import freeze
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document
from shakedown.model.scenario import RunTime
from shakedown.rehearsal.levers import FURTHER, Lever, levers_of, together
from shakedown.rehearsal.rehearse import Rehearsed, rehearse
from shakedown.rehearsal.virtual_session import Rehearsal

CHEAP_EVENTS = 15_000  # what trials may have together, where nobody asked for them
_REFINED = 2  # of what helped most, other values are tried

Tell = Callable[[int, int], None]  # how many are over, of how many
_Job = tuple[Trial, Document, Rehearsal]


@dataclass(frozen=True, slots=True)
class Base:
    """The rehearsal that was made, and what it was made of."""

    layout: Layout
    document: Document
    rehearsal: Rehearsal
    outcome: Rehearsed


def try_all(base: Base, tell: Tell = lambda done, of: None, processes: int = 0) -> Verdict | None:
    """Purpose: what limits a plan, measured; None where it never had the machine. ``processes``: 0 = one for each core.

    Where all changes together gain much more than any alone, everything but one is rehearsed too; of what helps most,
    other values.
    """
    if base.outcome.limits is None:
        return None
    found = levers(base)
    first = _measured(Trial("", "", False), base.layout, base.outcome)
    whole = together(found)
    run = _Runner(base, first, tell, processes)
    tried = run.all([*found, *([whole] if whole is not None else [])])
    everything = tried.pop() if whole is not None else None
    mine = [lever for lever in found if lever.plan is not None]
    without: list[Trial] = []
    less: list[Lever] = []
    if falls_short(tried, everything):
        bare = [(lever, one) for lever in mine if (one := together(mine, lever)) is not None]
        less = [replace(one, cause=lever.cause, change=lever.change) for lever, one in bare]
        without = run.all(less)
    else:
        others = list(_other_values(found, tried))
        found, tried = [*found, *others], tried + run.all(others)
    made = [*zip(found, tried, strict=True), *zip(less, without, strict=True)]
    made += [(whole, everything)] if whole is not None and everything is not None else []
    chosen = to_repeat(first, tried, everything, without)
    again = _repeated(run, [pair for pair in made if any(pair[1] is one for one in chosen)])
    tried, without = [[again.get(id(one), one) for one in group] for group in (tried, without)]
    return verdict_of(first, tried, again.get(id(everything), everything), without)


def _repeated(run: _Runner, made: list[tuple[Lever, Trial]]) -> dict[int, Trial]:
    """Trials on further seeds, each beside the plan as it is, until their gains are clear: by the identity of each trial."""
    now = {id(trial): trial for _, trial in made}
    for number in range(1, MOST_SEEDS + 1):
        best = max((one.gain for one in now.values() if one.is_clear), default=0.0)
        open_ones = [pair for pair in made if number <= LEAST_SEEDS or not now[id(pair[1])].is_settled(best)]
        if not open_ones:
            break
        seed = run.base.rehearsal.seed + number
        before, *after = run.all([Lever("", ""), *(lever for lever, _ in open_ones)], seed)
        for (_, trial), one in zip(open_ones, after, strict=True):
            if not one.fault and not before.fault:
                repeat = Repeat(seed, before.worked, one.worked, before.met, one.met)
                known = now[id(trial)]
                now[id(trial)] = with_gain(run.first, changed(known, repeats=(*known.repeats, repeat)))
    return now


def levers(base: Base) -> list[Lever]:
    """Purpose: what would be loosened."""
    limits = base.outcome.limits
    assert limits is not None
    return levers_of(base.document, base.rehearsal, limits, base.outcome.longest, base.outcome.overran)


def is_cheap(base: Base) -> bool:
    """Purpose: whether trials cost so little that nobody need ask for them, by what happens in them: the same on every machine."""
    limits = base.outcome.limits
    events = base.outcome.state.seq
    if limits is None or limits.share >= 1 - LEAST or events > CHEAP_EVENTS:
        return False
    return events * (len(levers(base)) + 1) <= CHEAP_EVENTS


def _other_values(made: Sequence[Lever], tried: Sequence[Trial]) -> Iterator[Lever]:
    """Of the settings that helped most, more and less of each."""
    helped = [pair for pair in zip(made, tried, strict=True) if pair[1].gain >= LEAST_GAIN and pair[0].again]
    for lever, _ in sorted(helped, key=lambda pair: -pair[1].worked)[:_REFINED]:
        others = [lever.again(times) for times in FURTHER] if lever.again is not None else []
        yield from {one.change: one for one in others if one.change != lever.change}.values()


# ---- rehearsing them ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Runner:
    """Rehearses levers side by side and tells how far it is."""

    base: Base
    first: Trial
    tell: Tell
    processes: int
    done: int = 0
    asked: int = 0

    def all(self, made: Sequence[Lever], seed: int | None = None) -> list[Trial]:
        """Purpose: a trial for each, in their order. ``seed``: another one than the first rehearsal's."""
        self.asked += len(made)
        self.tell(self.done, self.asked)
        jobs = [self._job(lever, seed) for lever in made]
        count = min(self.processes or len(os.sched_getaffinity(0)), len(jobs))
        if count <= 1:
            return [self._over(_rehearse(*job)) for job in jobs]
        from concurrent.futures import ProcessPoolExecutor, as_completed  # slow to import
        from multiprocessing import get_context

        with ProcessPoolExecutor(count, get_context("fork"), _quietly) as pool:
            try:
                waiting = {pool.submit(_rehearse, *job): place for place, job in enumerate(jobs)}
                found = {waiting[one]: self._over(one.result()) for one in as_completed(waiting)}
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return [found[place] for place in range(len(jobs))]

    def _over(self, trial: Trial) -> Trial:
        self.done += 1
        self.tell(self.done, self.asked)
        return with_gain(self.first, trial)

    def _job(self, lever: Lever, seed: int | None) -> _Job:
        base = self.base
        document = lever.plan(base.document) if lever.plan is not None else base.document
        rehearsal = lever.machine or base.rehearsal
        times = _times(document, base.outcome.times)
        scenario = changed(rehearsal.scenario, times=times, times_from="")
        rehearsal = replace(rehearsal, troubles=replace(rehearsal.troubles, scenario=scenario))
        rehearsal = replace(rehearsal, seed=rehearsal.seed if seed is None else seed)
        trial = Trial(lever.cause, lever.change, lever.plan is not None, lever.times, thing=lever.thing)
        return trial, document, rehearsal


def _times(document: Document, known: dict[str, RunTime]) -> tuple[tuple[str, RunTime], ...]:
    """Run times of all cases as they were; what is new takes as long as the shortest."""
    shortest = min(known.values(), key=lambda time: time.mean_s)
    return tuple((case.id, known.get(case.id, shortest)) for case in document.cases)


def _quietly() -> None:
    """Whoever interrupts the rehearsal ends its trials; they have nothing to say about it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _rehearse(trial: Trial, document: Document, rehearsal: Rehearsal) -> Trial:
    """One trial, in a process of its own."""
    try:
        with tempfile.TemporaryDirectory(prefix="shakedown-trial-") as directory:
            layout = create_campaign(Path(directory), "trial", freeze(document))
            return _measured(trial, layout, rehearse(layout, rehearsal))
    except (ShakedownError, OSError, ValueError) as error:
        return changed(trial, fault=str(error))


def _measured(trial: Trial, layout: Layout, outcome: Rehearsed) -> Trial:
    limits = outcome.limits
    record = fold_runs(read_events(layout.log))
    worked, hours = (limits.share, limits.hours) if limits is not None else (0.0, 0.0)
    return changed(trial, worked=worked, hours=hours, criteria=judged_of(score(outcome.state.index.document, record)))
