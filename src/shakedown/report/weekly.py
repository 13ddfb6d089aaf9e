"""When a weekly window is open: as moments of the driver's clock, in the window's own time zone, over changes of summer time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shakedown.metrics.overlap import Span
from shakedown.model.filling import Window

DAY_S, WEEK_S = 86400.0, 604800.0
WEEKS_LIMIT = 520


def times_of(window: Window, span: Span) -> list[Span]:
    """Purpose: the stretches of ``span`` in which the window is open."""
    zone = _zone(window.zone)
    monday = datetime.fromtimestamp(span[0], zone).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    monday -= timedelta(days=monday.weekday() + 7)
    ends = window.to_s if window.to_s > window.from_s else window.to_s + WEEK_S
    found = []
    for week in range(WEEKS_LIMIT):
        first = monday + timedelta(weeks=week)
        low, high = (_moment(first, seconds, zone) for seconds in (window.from_s, ends))
        if low >= span[1]:
            break
        if high > span[0]:
            found.append((max(low, span[0]), min(high, span[1])))
    return found


def _moment(monday: datetime, seconds: float, zone: tzinfo) -> float:
    """What the clock on the wall shows so many seconds after Monday 00:00, were there no summer time."""
    return (monday + timedelta(seconds=seconds)).replace(tzinfo=zone).timestamp()


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
