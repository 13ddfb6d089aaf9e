"""Records of a scheduler's accounting as a history: which records are one job, which jobs ran, for how long, in which time zone.

Start reading at ``history_of``. Slurm keeps a record for each time that a job was started: a job that is put back into the
queue, or that goes on with fewer nodes, has the same number again and a submission of its own. A job that is cancelled before it
begins has its end as its start.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from shakedown.exchange.history import Flags, Floats, JobHistory, WordColumn, Words
from shakedown.metrics.words import so_many
from shakedown.model.errors import UsageError

_SUSPENDED = frozenset({"SUSPENDED"})
_LIVE = frozenset({"RUNNING", *_SUSPENDED})
_PENDING = "PENDING"
_ENDS_UNSTARTED = frozenset({"CANCELLED", "DEADLINE"})  # states that a job can come to in the queue
_PUT_BACK = frozenset(
    {"REQUEUED", "PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "LAUNCH_FAILED", "RECONFIG_FAIL", "RESIZING", *_LIVE}
)
_HOUR, _DAY = 3600.0, 86_400.0
_SOON = _HOUR / 2  # after the end of a record: a job that is put back is submitted again by then


@dataclass
class Gathered:
    """The columns of a file while they are read, and what is told of it. ``bad``: lines that are no records, 0 where unknown."""

    submit: list[Floats] = field(default_factory=list)
    start: list[Floats] = field(default_factory=list)
    end: list[Floats] = field(default_factory=list)
    elapsed: array[float] = field(default_factory=lambda: array("d"))
    units: array[float] = field(default_factory=lambda: array("d"))
    job: array[int] = field(default_factory=lambda: array("q"))
    state: WordColumn = field(default_factory=WordColumn)
    account: WordColumn = field(default_factory=WordColumn)
    user: WordColumn = field(default_factory=WordColumn)
    steps: int = 0
    bad: list[int] = field(default_factory=list)
    joined: int = 0


@dataclass
class _Times:
    """Of every record, in seconds; nan where it is not known. ``elapsed``: what the scheduler counted."""

    submit: Floats
    start: Floats
    end: Floats
    elapsed: Floats


def history_of(found: Gathered, unit: str, name: str, zone: str) -> JobHistory:
    """Purpose: the history from these records. ``unit``: what ``units`` count; ``name``: of the file; ``zone``: of its times.

    Errors: UsageError for an unknown zone.
    """
    times, told = _times(found, zone), _told(found, name)
    state = found.state.done()
    unstarted = _unstarted(times, state)
    times.start = np.where(unstarted, np.nan, times.start)
    order, again = _same_jobs(np.array(found.job), times, state)
    live = _live(times, state, told)
    _end_what_was_started_again(times, live, order, again, told)
    run = _run_times(times, live, told)
    early = times.start < times.submit
    if early.any():
        told.append(
            so_many(
                int(early.sum()),
                "record starts before it was submitted; its wait is not known",
                "records start before they were submitted; their waits are not known",
            )
        )
    if again.any():
        told.append(
            so_many(int(again.sum()), "record is", "records are")
            + " of jobs that were put back into the queue or resized: each counts as a job in the tables, and the first wait "
            "of a job alone counts"
        )
    first = np.ones(len(order), dtype=bool)
    first[order[again]] = False
    return JobHistory(
        source=name,
        unit=unit,
        submit_s=times.submit,
        start_s=times.start,
        run_s=run,
        units=np.array(found.units),
        state=state,
        account=found.account.done(),
        user=found.user.done(),
        waited=first & ~early & ~np.isnan(times.start) & ~np.isnan(times.submit),
        told=tuple(told),
    )


def _times(found: Gathered, zone: str) -> _Times:
    submit, start, end = (np.concatenate(parts) for parts in (found.submit, found.start, found.end))
    elapsed = np.array(found.elapsed)
    if zone:
        submit, _ = _in_zone(submit, zone)
        start, end = _in_order(submit, _in_zone(start, zone), _in_zone(end, zone), elapsed)
    return _Times(submit, start, end, elapsed)


def _told(found: Gathered, name: str) -> list[str]:
    told = []
    if found.steps:
        told.append(
            so_many(found.steps, "record of a step is", "records of steps are")
            + " left out; --allocations leaves them out of the file"
        )
    if found.joined:
        told.append(so_many(found.joined, "record has", "records have") + " '|' or new lines in a text")
    if found.bad:
        first = next((line for line in found.bad if line), 0)
        where = f", the first at line {first:,}" if first else ""
        what = so_many(len(found.bad), "record", "records")
        told.append(
            f"{what} of {name} cannot be read{where}, and {'counts' if len(found.bad) == 1 else 'count'} nowhere"
        )
    return told


def _is(state: Words, words: frozenset[str]) -> Flags:
    return np.isin(state.codes, [code for code, name in enumerate(state.names) if name in words])


# ---- which ran, and which are one job ----------------------------------------------------------------------------------


def _unstarted(times: _Times, state: Words) -> Flags:
    """Jobs that never began: for a job cancelled in the queue, accounting gives the end as the start."""
    nothing = np.where(np.isnan(times.elapsed), times.end - times.start, times.elapsed) <= 0
    return _is(state, frozenset({_PENDING})) | (_is(state, _ENDS_UNSTARTED) & nothing)


def _live(times: _Times, state: Words, told: list[str]) -> Flags:
    """Jobs that hold their nodes until the end of all that is looked at: those that run, and have no end.

    With --truncate accounting writes the end of its window as the end of what runs. What is suspended holds its nodes for as long
    as the scheduler counted, as it does once it is over.
    """
    said = _is(state, _LIVE)
    ended = said & ~np.isnan(times.end) & ~np.isnan(times.start)
    if ended.any():
        told.append(
            so_many(
                int(ended.sum()),
                "record says that it runs or is suspended, and has an end: it counts until then",
                "records say that they run or are suspended, and have an end: they count until then",
            )
        )
    return said & ~ended & ~(_is(state, _SUSPENDED) & ~np.isnan(times.elapsed))


def _same_jobs(job: np.ndarray, times: _Times, state: Words) -> tuple[np.ndarray, Flags]:
    """The records by job and submission, and which of these are of the same job as the one before.

    The same number alone does not say so, for numbers come again: it was submitted again soon after the record before ended, or
    within a day where that ended by what puts a job back.
    """
    order = np.lexsort((times.start, times.submit, job))
    sorted_job, submit, end = job[order], times.submit[order], times.end[order]
    patience = np.where(_is(state, _PUT_BACK)[order], _DAY, _SOON)
    again = np.zeros(len(order), dtype=bool)
    with np.errstate(invalid="ignore"):
        later = submit[1:] > np.fmax(end[:-1], submit[:-1]) + patience[:-1]
    again[1:] = (sorted_job[1:] == sorted_job[:-1]) & ~later
    return order, again


def _end_what_was_started_again(times: _Times, live: Flags, order: np.ndarray, again: Flags, told: list[str]) -> None:
    """End records that still say "running" although their job was submitted again, because accounting lost their end."""
    followed = np.zeros(len(order), dtype=bool)
    followed[order[:-1]] = again[1:]
    lost = live & followed
    if not lost.any():
        return
    next_submit = np.full(len(order), np.nan)
    next_submit[order[:-1]] = times.submit[order[1:]]
    times.end = np.where(lost, np.fmax(next_submit, times.start), times.end)
    times.elapsed = np.where(lost, np.nan, times.elapsed)
    live &= ~lost
    told.append(
        so_many(
            int(lost.sum()),
            "record says that it runs, and its job was submitted again: it is over by then",
            "records say that they run, and their jobs were submitted again: they are over by then",
        )
    )


def _run_times(times: _Times, live: Flags, told: list[str]) -> Floats:
    """How long each record held its nodes: the elapsed time of the scheduler, else end minus start."""
    started = ~np.isnan(times.start)
    between = times.end - times.start
    counted = ~np.isnan(times.elapsed) & started & ~live
    odd = counted & ~np.isnan(between) & (between != times.elapsed)
    if odd.any():
        told.append(
            so_many(int(odd.sum()), "record ends later or earlier than it", "records end later or earlier than they")
            + " ran for: suspended, or the clock was changed"
        )
    run = np.where(counted, times.elapsed, between)
    negative = run < 0
    if negative.any():
        told.append(
            so_many(
                int(negative.sum()),
                "record ends before it starts; it counts as a job without a run time",
                "records end before they start; they count as jobs without a run time",
            )
        )
        run = np.where(negative, 0.0, run)
    lost = started & ~live & np.isnan(run)
    if lost.any():
        told.append(
            so_many(int(lost.sum()), "record has a start and no end;", "records have a start and no end;")
            + " sacctmgr show runawayjobs lists such jobs"
        )
    return np.where(started, np.where(live, np.nan, run), 0.0)


# ---- time zones ------------------------------------------------------------------------------------------------------


def _in_zone(local: Floats, name: str) -> tuple[Floats, Floats]:
    """Seconds since 1970 of local times, and how much later each may be as well: 0 but for a time that comes twice."""
    known = local[~np.isnan(local)]
    if not len(known):
        return local, np.zeros(len(local))
    bounds, offsets = _offsets(float(known.min()), float(known.max()), name)
    times = np.nan_to_num(local, nan=0.0)
    before = np.searchsorted(bounds, times, side="right")
    # The clock that goes back by an hour shows the last hour before the bound again.
    back = np.append(np.maximum(offsets[:-1] - offsets[1:], 0.0), 0.0)
    twice = times >= np.append(bounds, np.inf)[before] - back[before]
    first: Floats = local - offsets[before]
    return first, np.where(twice, back[before], 0.0)


def _offsets(least: float, most: float, name: str) -> tuple[Floats, Floats]:
    """Local times from which on another offset holds, and the offsets: one more than bounds, in seconds east of UTC."""
    try:
        zone = ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise UsageError(
            f"there is no time zone '{name}'", "name one such as Europe/Berlin or America/Denver"
        ) from error

    def offset(moment: float) -> float:
        there = datetime.fromtimestamp(moment, UTC).astimezone(zone).utcoffset()
        return (there or timedelta()).total_seconds()

    day = 86400.0
    moment, last = least - 2 * day, most + 2 * day
    bounds, offsets = [], [offset(moment)]
    while moment < last:
        after = moment + day
        if offset(after) != offsets[-1]:
            low, high = moment, after
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if offset(middle) != offsets[-1] else (middle, high)
            bounds.append(high + max(offsets[-1], offset(high)))
            offsets.append(offset(high))
        moment = after
    return np.array(bounds), np.array(offsets)


def _in_order(
    submit: Floats, start: tuple[Floats, Floats], end: tuple[Floats, Floats], elapsed: Floats
) -> tuple[Floats, Floats]:
    """Starts and ends where one of them may be in either of two hours: the way in which a job is submitted, starts and ends in
    this order and ran for as long as the scheduler counted; of several the earliest.
    """
    starts, ends = start[0].copy(), end[0].copy()
    for at in np.flatnonzero((start[1] > 0) | (end[1] > 0)):
        ways = [
            (began, ended)
            for began in dict.fromkeys((starts[at], starts[at] + start[1][at]))
            for ended in dict.fromkeys((ends[at], ends[at] + end[1][at]))
        ]
        starts[at], ends[at] = min(ways, key=lambda way: _disorder(way, submit[at], elapsed[at]))
    return starts, ends


def _disorder(way: tuple[float, float], submit: float, elapsed: float) -> tuple[int, float]:
    """(Number of times in the wrong order, difference between the run time and the elapsed time of the scheduler)."""
    start, end = way
    odd = abs(end - start - elapsed)
    return (start < submit) + (end < start), 0.0 if np.isnan(odd) else odd
