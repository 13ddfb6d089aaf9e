"""Moments in words."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(seconds: float) -> str:
    """A time in seconds since 1970, to the second."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
