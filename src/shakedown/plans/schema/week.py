"""Times of a week in people's notation: 'Mon 06:00', '18:00', 'Mon-Fri', daily; and time zones."""

from __future__ import annotations

import re
from functools import lru_cache

from shakedown.model import windows
from shakedown.model.errors import did_you_mean
from shakedown.plans.schema.scalars import InvalidValue

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
DAY_S, WEEK_S = float(windows.DAY_S), float(windows.WEEK_S)
DAILY = "daily"
_FULL = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TIME = re.compile(r"(?:(?P<day>[A-Za-z]+)\s+)?(?P<hour>\d{1,2}):(?P<minute>\d{2})")
_OF_THE_MACHINE = ("localtime", "posixrules", "Factory")
_FORM = "write a day and a time, such as 'Mon 06:00'"


def time_of_week(text: str) -> tuple[int | None, float]:
    """Purpose: (the day from 0 = Monday, or None where there is none; seconds since midnight). Raises InvalidValue."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise InvalidValue(f"'{text}' is no time of a week", _FORM)
    hour, minute = int(match["hour"]), int(match["minute"])
    if minute > 59 or hour * 60 + minute > 24 * 60:
        raise InvalidValue(f"'{text}' is no time of a day", "it lies between 00:00 and 24:00")
    return (None if match["day"] is None else day(match["day"])), hour * 3600.0 + minute * 60.0


def days(text: str) -> tuple[int, ...]:
    """Purpose: 'daily', 'Mon', 'Mon-Fri' or 'Sat-Mon' as days from 0 = Monday, in order. Raises InvalidValue."""
    if text.strip().lower() == DAILY:
        return tuple(range(7))
    first, dash, last = text.partition("-")
    if not dash:
        return (day(first),)
    start = day(first)
    return tuple((start + step) % 7 for step in range((day(last) - start) % 7 + 1))


def day(word: str) -> int:
    """Purpose: a day of the week from its full name or first three letters, from 0 = Monday. Raises InvalidValue."""
    wanted = word.strip().capitalize()
    for known in (DAYS, _FULL):
        if wanted in known:
            return known.index(wanted)
    raise InvalidValue(
        f"'{word.strip()}' is no day of the week", did_you_mean(wanted, _FULL) or f"days are: {', '.join(DAYS)}"
    )


def show_time(day_number: int, seconds: float) -> str:
    """A time of the week in people's notation: Mon 06:00."""
    minutes = round(seconds / 60)
    return f"{DAYS[day_number]} {minutes // 60:02d}:{minutes % 60:02d}"


@lru_cache(maxsize=100)
def zone(text: str) -> str:
    """Purpose: the same text, checked to be a time zone that this machine knows. Raises InvalidValue."""
    if text == "UTC":
        return text
    if text in _OF_THE_MACHINE or text.startswith(("posix/", "right/")):
        raise InvalidValue(
            f"'{text}' is another zone on each machine, or counts other seconds", "such as UTC or Europe/Berlin"
        )
    from zoneinfo import ZoneInfo, available_timezones  # few plans name one

    try:
        ZoneInfo(text)
    except (KeyError, ValueError, OSError) as error:
        known = available_timezones()
        if not known:
            raise InvalidValue("this machine knows no time zone but UTC", "pip install tzdata") from error
        hint = did_you_mean(text, known) or "such as UTC or Europe/Berlin"
        raise InvalidValue(f"there is no time zone '{text}'", hint) from error
    return text
