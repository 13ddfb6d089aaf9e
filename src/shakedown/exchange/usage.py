"""Statistics of a machine's history: utilisation, job sizes, users, failures, waiting times.

Start reading at ``usage``. Work is units x time held, inside the interval that is looked at; a job that still runs holds
its units until the end of it. Utilisation is work over capacity x interval (paper 002, section 3: hours used over 24 hours a day,
time down included).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import Struct

from shakedown.exchange.history import Floats, JobHistory, Words
from shakedown.model.errors import UsageError

HOUR_S, DAY_S, WEEK_S = 3600.0, 86_400.0, 7 * 86_400.0
FEW_WEEKS = 6  # below so many weeks the time is cut into days
FAILED_OF_NODES = frozenset({"NODE_FAIL", "BOOT_FAIL", "LAUNCH_FAILED"})


class Waits(Struct, frozen=True):
    """Waiting times in seconds of the ``jobs`` starts inside the interval with a known wait; None if there are none."""

    jobs: int
    median_s: float | None
    ninetieth_s: float | None
    longest_s: float | None


class Group(Struct, frozen=True):
    """Some of the records. ``work``: unit-hours inside the interval; ``share`` of all work."""

    name: str
    jobs: int
    work: float
    share: float
    waits: Waits


class Period(Struct, frozen=True):
    """A day or week; times in seconds since 1970."""

    begin_s: float
    end_s: float
    utilisation: float


class Usage(Struct, frozen=True):
    """``counted``: where the capacity is from. ``records``: those that touch the interval; ``never_started`` of them never did.

    ``sizes``: by units of a job, classes of powers of two; ``users``: none where the source has no such column.
    ``between_failures_s``: mean time between failures of nodes that ended jobs inside the interval, None below two. ``told``: what
    to know.
    """

    source: str
    unit: str
    begin_s: float
    end_s: float
    capacity: float
    counted: str
    records: int
    never_started: int
    work: float
    utilisation: float
    waits: Waits
    sizes: tuple[Group, ...]
    accounts: tuple[Group, ...]
    areas: tuple[Group, ...]
    users: tuple[Group, ...]
    states: tuple[Group, ...]
    between_failures_s: float | None
    periods: tuple[Period, ...]
    told: tuple[str, ...]


@dataclass(frozen=True)
class _Held:
    """The part of each record inside the interval: from, to (seconds) and unit-hours."""

    begin: Floats
    end: Floats
    work: Floats


def usage(
    history: JobHistory,
    capacity: float | None = None,
    begin_s: float | None = None,
    end_s: float | None = None,
    areas: Mapping[str, str] | None = None,
) -> Usage:
    """Purpose: the measures of a history, in the interval from ``begin_s`` to ``end_s`` (without them: all that it covers).

    ``capacity``: units of the machine; without it what the source says, else the most that were ever held at once. ``areas``:
    account -> area of science. Errors: UsageError where nothing is inside the interval, or the capacity is less than is held.
    """
    first, last = _interval(history, begin_s, end_s)
    held = _held(history, first, last)
    inside = _touches(history, held, first, last)
    if not inside.any():
        raise UsageError(f"{history.source}: no job is inside the interval that is asked for")
    most = _most_at_once(held, history.units)
    size, counted = _capacity(history, capacity, most)
    work = float(held.work.sum())
    told = list(history.told)
    if size < most:
        told.append(
            f"up to {most:,.0f} {history.unit} are held at once, more than the {size:,.0f} of the machine: jobs share "
            f"{history.unit}, or the machine was larger"
        )
    selected = _Selection(history, held, inside, _within(history.start_s, first, last), work)
    return Usage(
        source=history.source,
        unit=history.unit,
        begin_s=first,
        end_s=last,
        capacity=size,
        counted=counted,
        records=int(inside.sum()),
        never_started=int((inside & np.isnan(history.start_s)).sum()),
        work=work,
        utilisation=work * HOUR_S / (size * (last - first)) if size and last > first else 0.0,
        waits=selected.waits(np.flatnonzero(inside)),
        sizes=selected.by_size(),
        accounts=selected.by_words(history.account),
        areas=selected.by_words(_areas(history.account, areas)) if areas else (),
        users=selected.by_words(history.user) if history.user.names else (),
        states=selected.by_words(history.state),
        between_failures_s=_between_failures(history, first, last),
        periods=_periods(held, history.units, size, first, last),
        told=tuple(told),
    )


# ---- the interval ----------------------------------------------------------------------------------------------------


def _interval(history: JobHistory, begin_s: float | None, end_s: float | None) -> tuple[float, float]:
    """All that the history covers, or what is asked for of it: from the first start to the last end that is known."""
    ends = history.start_s + np.nan_to_num(history.run_s)
    known = [column[~np.isnan(column)] for column in (history.submit_s, history.start_s, ends)]
    moments = np.concatenate(known)
    if not len(moments):
        raise UsageError(f"{history.source}: no record has a time")
    first = float(moments.min()) if begin_s is None else begin_s
    last = float(moments.max()) if end_s is None else end_s
    if first > last:
        raise UsageError(f"{history.source}: the interval ends before it begins", "look at --from and --to")
    return first, last


def _held(history: JobHistory, first: float, last: float) -> _Held:
    start = history.start_s
    end = np.where(np.isnan(history.run_s), last, start + history.run_s)
    begin = np.clip(np.nan_to_num(start, nan=last), first, last)
    end = np.clip(np.nan_to_num(end, nan=last), begin, last)
    end = np.where(np.isnan(start), begin, end)
    return _Held(begin, end, history.units * (end - begin) / HOUR_S)


def _touches(history: JobHistory, held: _Held, first: float, last: float) -> np.ndarray:
    """Records that held something inside, or that started, or were submitted and never started, inside."""
    moment = np.where(np.isnan(history.start_s), history.submit_s, history.start_s)
    found: np.ndarray = (held.work > 0) | _within(moment, first, last)
    return found


def _within(moments: Floats, first: float, last: float) -> np.ndarray:
    """Which times are in the interval, including its ends; unknown times are not."""
    with np.errstate(invalid="ignore"):
        found: np.ndarray = (moments >= first) & (moments <= last)
    return found


def _most_at_once(held: _Held, units: Floats) -> float:
    """The largest number of units held at one time; units are released before others are taken at the same time."""
    real = held.end > held.begin
    moments = np.concatenate([held.end[real], held.begin[real]])
    changes = np.concatenate([-units[real], units[real]])
    order = np.argsort(moments, kind="stable")
    return float(np.cumsum(changes[order]).max(initial=0.0))


def _capacity(history: JobHistory, given: float | None, most: float) -> tuple[float, str]:
    if given is not None:
        return given, "as given"
    if history.capacity:
        return history.capacity, "as the file says"
    return most, "the most that were held at once"


# ---- groups ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Selection:
    """``inside``: the records that touch the interval; ``started``: those that started in it."""

    history: JobHistory
    held: _Held
    inside: np.ndarray
    started: np.ndarray
    total: float

    def group(self, name: str, those: np.ndarray) -> Group:
        """``those``: places of records, all of them inside."""
        work = float(self.held.work[those].sum())
        return Group(name, len(those), work, work / self.total if self.total else 0.0, self.waits(those))

    def waits(self, those: np.ndarray) -> Waits:
        known = those[self.history.waited[those] & self.started[those]]
        waits = self.history.start_s[known] - self.history.submit_s[known]
        if not len(waits):
            return Waits(0, None, None, None)
        median, ninetieth = np.percentile(waits, (50, 90))
        return Waits(len(waits), float(median), float(ninetieth), float(waits.max()))

    def by_words(self, words: Words) -> tuple[Group, ...]:
        """A group for each word, the group with the most work first."""
        there = np.flatnonzero(self.inside)
        order = there[np.argsort(words.codes[there], kind="stable")]
        bounds = np.searchsorted(words.codes[order], np.arange(len(words.names) + 1))
        groups = [self.group(name, order[bounds[code] : bounds[code + 1]]) for code, name in enumerate(words.names)]
        return tuple(sorted((one for one in groups if one.jobs), key=lambda one: (-one.work, -one.jobs, one.name)))

    def by_size(self) -> tuple[Group, ...]:
        units = self.history.units
        classes = np.where(units >= 1, np.floor(np.log2(np.maximum(units, 1.0))), -1).astype(int)
        found = []
        for one in np.unique(classes[self.inside]).tolist():
            found.append(self.group(_size_class(one), np.flatnonzero(self.inside & (classes == one))))
        return tuple(found)


def _size_class(power: int) -> str:
    """The sizes from 2^power up to the next power of two; below 0 those of jobs that were never given anything."""
    if power < 0:
        return "none"
    least, most = 2**power, 2 ** (power + 1) - 1
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _areas(accounts: Words, areas: Mapping[str, str]) -> Words:
    names: dict[str, int] = {}
    codes = [names.setdefault(areas.get(name, "(no area)"), len(names)) for name in accounts.names]
    return Words(tuple(names), np.array(codes, dtype=np.int32)[accounts.codes])


def _between_failures(history: JobHistory, first: float, last: float) -> float | None:
    """Mean time between moments inside the interval at which nodes failed under jobs; jobs that ended together are one failure."""
    kinds = [at for at, name in enumerate(history.state.names) if name in FAILED_OF_NODES]
    ends = history.start_s + history.run_s  # where they are known, and not where the interval cuts them
    moments = np.unique(ends[_within(ends, first, last) & np.isin(history.state.codes, kinds)])
    return float((moments[-1] - moments[0]) / (len(moments) - 1)) if len(moments) > 1 else None


# ---- over time -------------------------------------------------------------------------------------------------------


def _periods(held: _Held, units: Floats, capacity: float, first: float, last: float) -> tuple[Period, ...]:
    """Utilisation day by day, or week by week where there are many; the last one may be shorter."""
    if last <= first or not capacity:
        return ()
    wide = DAY_S if last - first < FEW_WEEKS * WEEK_S else WEEK_S
    count = int(np.ceil((last - first) / wide))
    edges = np.minimum(first + wide * np.arange(count + 1), last)
    busy = np.diff(_held_until(held.begin, units, edges) - _held_until(held.end, units, edges))
    return tuple(
        Period(float(a), float(b), float(work / (capacity * (b - a))))
        for a, b, work in zip(edges[:-1], edges[1:], busy, strict=True)
        if b > a
    )


def _held_until(moments: Floats, units: Floats, edges: Floats) -> Floats:
    """Sum of units x max(0, edge - moment) for every edge, in one pass."""
    order = np.argsort(moments, kind="stable")
    sorted_moments, weights = moments[order], units[order]
    total = np.concatenate([[0.0], np.cumsum(weights)])
    shifted = np.concatenate([[0.0], np.cumsum(weights * (sorted_moments - edges[0]))])
    places = np.searchsorted(sorted_moments, edges, side="right")
    found: Floats = total[places] * (edges - edges[0]) - shifted[places]
    return found


def widest(groups: Sequence[Group], count: int) -> tuple[Group, ...]:
    """Purpose: the first groups, and all remaining groups merged into one."""
    if len(groups) <= count:
        return tuple(groups)
    rest = groups[count:]
    work, share = sum(one.work for one in rest), sum(one.share for one in rest)
    others = Group(f"({len(rest)} others)", sum(one.jobs for one in rest), work, share, Waits(0, None, None, None))
    return (*groups[:count], others)
