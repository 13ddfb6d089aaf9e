"""Times of a week in UTC, on the virtual clock."""

from __future__ import annotations

DAY_S = 86_400.0
WEEK_S = 7 * DAY_S
_MONDAY_S = 4 * DAY_S  # 1970 began on a Thursday: the first Monday was the 5th of January


def time_of_week(now: float) -> float:
    """Purpose: seconds since Monday 00:00 UTC at a time in seconds since 1970."""
    return (now - _MONDAY_S) % WEEK_S


def next_time(now: float, wanted: float) -> float:
    """Purpose: when it is next this time of the week, now included; seconds since 1970."""
    return now + (wanted - time_of_week(now)) % WEEK_S


def lies_in(now: float, from_s: float, to_s: float) -> bool:
    """Whether a window of the week is open: from ``from_s`` to before ``to_s``, over the week's end where that is not later."""
    at = time_of_week(now)
    return from_s <= at < to_s if from_s < to_s else at >= from_s or at < to_s
