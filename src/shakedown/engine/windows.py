"""Windows of the week in their zone: whether one is open at a moment, and when that changes. Pure, whatever the clock does.

A window is said in wall time: "Mon 06:00" is what the clocks on the wall show there, in summer as in winter. An hour that
clocks skip is in no window; one that they show twice is in it both times.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from shakedown.model.errors import UsageError
from shakedown.model.filling import Window

DAY_S, HOUR_S = 86400, 3600
CHUNK_S = 28 * DAY_S  # changes are worked out for so long at a time
_AHEAD_S = 10 * DAY_S  # beyond a chunk: the next change of any window is nearer than that


def is_open(window: Window, now: float) -> bool:
    """Purpose: whether ``now`` lies in the window: the wall clock of its zone shows a time of it."""
    local = datetime.fromtimestamp(now, _zone(window.zone))
    wall = local.weekday() * DAY_S + local.hour * HOUR_S + local.minute * 60 + local.second + local.microsecond / 1e6
    if window.to_s > window.from_s:
        return window.from_s <= wall < window.to_s
    return wall >= window.from_s or wall < window.to_s


def next_change(window: Window, now: float) -> float | None:
    """Purpose: the first moment after ``now`` at which it opens or closes; None for one that is always open."""
    changes = _changes(window, int(now // CHUNK_S))
    place = bisect_right(changes, now)
    return changes[place] if place < len(changes) else None


def show_local(window: Window, moment: float) -> str:
    """A moment as the wall clock of the window's zone shows it."""
    local = datetime.fromtimestamp(moment, _zone(window.zone))
    return f"{local.strftime('%a %Y-%m-%d %H:%M')} {window.zone}"


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    """Rules of a zone come from the system's files; they are read once, and are the same for as long as we run.

    Errors: UsageError where this machine has none of that name.
    """
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        hint = "install the time zones of the operating system (tzdata), or amend the plan"
        raise UsageError(f"this machine knows no time zone '{name}', which a window of the plan is in", hint) from error


@lru_cache(maxsize=256)
def _changes(window: Window, chunk: int) -> tuple[float, ...]:
    """All changes from the chunk's begin until well after its end, in order."""
    begin, end = chunk * CHUNK_S, (chunk + 1) * CHUNK_S + _AHEAD_S
    moments = sorted({moment for moment in _possible(window, begin, end) if begin - DAY_S <= moment <= end})
    before = [
        (begin - DAY_S, is_open(window, begin - DAY_S)),
        *((moment, is_open(window, moment)) for moment in moments),
    ]
    return tuple(later for (_, was), (later, now) in pairwise(before) if was != now)


def _possible(window: Window, begin: float, end: float) -> Iterator[float]:
    """Every moment at which it might open or close: its bounds on each day, and whenever the zone's clocks are put on or back."""
    zone = _zone(window.zone)
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
    """The moments at which the zone's distance from UTC changes, to the second."""

    def distance(second: int) -> timedelta | None:
        return datetime.fromtimestamp(second, UTC).astimezone(zone).utcoffset()

    for early, late in pairwise(range(begin, end + HOUR_S, HOUR_S)):
        if distance(early) == distance(late):
            continue
        while late - early > 1:
            middle = (early + late) // 2
            early, late = (middle, late) if distance(middle) == distance(early) else (early, middle)
        yield float(late)
