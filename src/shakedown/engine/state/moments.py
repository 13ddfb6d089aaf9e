"""Times in words."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(seconds: float) -> str:
    """A time in seconds since 1970 as text, to the second, in UTC."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def iso_moment(seconds: float | None) -> str:
    """The same for programs (ISO 8601, with its zone); "" where the time is not known."""
    return "" if seconds is None else datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
