"""Times of the week in their zone: whether a window is open at a moment, when that changes, when it is open in a span.

There is one meaning for everybody: the engine, the twin, the report and whoever tells how long something lasts ask here. A window
is said in wall time: "Mon 06:00" is what the clocks on the wall show there, in summer as in winter. An hour that clocks skip
is in no window; one that they show twice is in it both times. Moments are seconds since 1970.

The rules of a zone come from the machine that asks, as its clocks do: they are laws, which change while a campaign goes on. No
event depends on them: a log folds to the same state wherever it is read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

from shakedown.model.errors import UsageError

DAY_S, HOUR_S = 86400, 3600
WEEK_S = 7 * DAY_S
CHUNK_S = 28 * DAY_S  # changes are worked out for so long at a time
_AHEAD_S = 10 * DAY_S  # beyond a chunk: the next change of any window is nearer than that


class Weekly(Protocol):
    """A time of each week: from ``from_s`` to before ``to_s``, in seconds after Monday 00:00 on the wall; over the week's end where
    ``to_s`` is not above ``from_s``, and always where both are the same.
    """

    @property
    def from_s(self) -> float: ...
    @property
    def to_s(self) -> float: ...
    @property
    def zone(self) -> str: ...


class _Hours(NamedTuple):
    """The fields of a window that determine its open times, as a key: the changes are computed once for each key."""

    from_s: float
    to_s: float
    zone: str


def is_open(window: Weekly, now: float) -> bool:
    """Purpose: whether the window is open at ``now``, by the wall clock of its zone."""
    wall = time_of_week(now, window.zone)
    if window.to_s > window.from_s:
        return window.from_s <= wall < window.to_s
    return wall >= window.from_s or wall < window.to_s


def next_change(window: Weekly, now: float) -> float | None:
    """Purpose: the first time after ``now`` at which the window opens or closes; None if it is always open."""
    changes = _changes(_Hours(window.from_s, window.to_s, window.zone), int(now // CHUNK_S))
    place = bisect_right(changes, now)
    return changes[place] if place < len(changes) else None


def open_in(window: Weekly, begin: float, end: float) -> list[tuple[float, float]]:
    """Purpose: the intervals of a span in which the window is open, in order."""
    found: list[tuple[float, float]] = []
    at = begin
    while at < end:
        change = next_change(window, at)
        until = end if change is None else min(change, end)
        if is_open(window, at):
            found.append((at, until))
        at = until
    return found


def time_of_week(now: float, zone: str = "UTC") -> float:
    """Purpose: the wall time of a zone, in seconds after Monday 00:00."""
    local = datetime.fromtimestamp(now, zone_of(zone))
    return local.weekday() * DAY_S + local.hour * HOUR_S + local.minute * 60 + local.second + local.microsecond / 1e6


def next_time(now: float, wanted_s: float, zone: str = "UTC") -> float:
    """Purpose: when the wall clock next shows this time of the week, now included; where it skips it, when it has done so."""
    rules = zone_of(zone)
    day = datetime.fromtimestamp(now, rules).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    monday = day - timedelta(days=day.weekday() + 7)
    while True:
        wall = monday + timedelta(seconds=wanted_s)
        for fold in (0, 1):
            moment = wall.replace(tzinfo=rules, fold=fold).timestamp()
            if moment >= now and (fold == 0 or time_of_week(moment, zone) == wanted_s % WEEK_S):
                return moment
        monday += timedelta(days=7)


def show_local(window: Weekly, moment: float) -> str:
    """A time as text, in the wall time of the window's zone."""
    local = datetime.fromtimestamp(moment, zone_of(window.zone))
    return f"{local.strftime('%a %Y-%m-%d %H:%M')} {window.zone}"


@lru_cache(maxsize=64)
def zone_of(name: str) -> ZoneInfo:
    """Purpose: the rules of a zone. They are read once, and are the same for as long as we run.

    Errors: UsageError where this machine has none of that name.
    """
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        hint = "install the time zones of the operating system (tzdata), or amend the plan"
        raise UsageError(f"this machine knows no time zone '{name}', which a window of the plan is in", hint) from error


@lru_cache(maxsize=256)
def _changes(window: _Hours, chunk: int) -> tuple[float, ...]:
    """All changes from the chunk's begin until well after its end, in order."""
    begin, end = chunk * CHUNK_S, (chunk + 1) * CHUNK_S + _AHEAD_S
    moments = sorted({moment for moment in _possible(window, begin, end) if begin - DAY_S <= moment <= end})
    before = [
        (begin - DAY_S, is_open(window, begin - DAY_S)),
        *((moment, is_open(window, moment)) for moment in moments),
    ]
    return tuple(later for (_, was), (later, now) in pairwise(before) if was != now)


def _possible(window: _Hours, begin: float, end: float) -> Iterator[float]:
    """All times at which the window may open or close: its bounds on each day, and the clock changes of the zone."""
    zone = zone_of(window.zone)
    day = datetime.fromtimestamp(begin, zone).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    day -= timedelta(days=2)
    last = datetime.fromtimestamp(end, zone).replace(tzinfo=None)
    while day <= last:
        for bound in (window.from_s, window.to_s):
            at = day + timedelta(seconds=bound - day.weekday() * DAY_S)
            for fold in (0, 1):
                yield at.replace(tzinfo=zone, fold=fold).timestamp()
        day += timedelta(days=1)
    yield from _jumps(zone, int(begin) - 2 * DAY_S, int(end))


def _jumps(zone: ZoneInfo, begin: int, end: int) -> Iterator[float]:
    """The times at which the UTC offset of the zone changes, to the second."""

    def distance(second: int) -> timedelta | None:
        return datetime.fromtimestamp(second, UTC).astimezone(zone).utcoffset()

    for early, late in pairwise(range(begin, end + HOUR_S, HOUR_S)):
        if distance(early) == distance(late):
            continue
        while late - early > 1:
            middle = (early + late) // 2
            early, late = (middle, late) if distance(middle) == distance(early) else (early, middle)
        yield float(late)
