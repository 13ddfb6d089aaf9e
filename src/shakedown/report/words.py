"""Format times, numbers and untrusted text for a report: UTC, only significant digits, no invisible characters."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from shakedown.metrics.words import show_number
from shakedown.model.units import show_duration

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_PERCENT = 10.0  # a change beyond this, as a share, is told as a factor
_MOST_WRITTEN_OUT = 1e4
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")  # terminal colours and movements


def show_time(seconds: float | None) -> str:
    """A time of the driver's clock in UTC, to the second; a dash where it is None."""
    if seconds is None:
        return "–"
    try:
        return (_EPOCH + timedelta(seconds=int(seconds))).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError):
        return f"{seconds:.0f} s"


def show_figure(value: float | None, digits: int = 4) -> str:
    return "–" if value is None else show_number(value, digits)


def show_elapsed(seconds: float | None) -> str:
    return "–" if seconds is None else show_duration(seconds)


def harmless(text: str) -> str:
    """Text of unknown origin without terminal colours, and with every other invisible character made visible."""
    plain = _ESCAPES.sub("", text.replace("\r\n", "\n"))
    return "".join(c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in plain)


def one_line(text: str, limit: int = 0) -> str:
    """Harmless text on one line, cut with an ellipsis where a limit is given."""
    line = " ".join(harmless(text).split())
    return line if not limit or len(line) <= limit else line[: limit - 1] + "…"


def show_change(value: float, digits: int = 1) -> str:
    """A number with its sign; a number that rounds to zero has no sign. One of ten thousand or more has three digits: no column is
    made for all of them.
    """
    text = f"{value:+.{digits}f}" if abs(value) < _MOST_WRITTEN_OUT else re.sub(r"e\+0*", "e", f"{value:+.2e}")
    return text if float(text) else text[1:]


def show_percent(share: float) -> str:
    """A change in per cent with its sign; a change of more than tenfold as a factor: x 12."""
    if share < _MOST_PERCENT:
        return f"{share * 100:+.1f}%"
    return f"x {show_number(1 + share, 3)}" if share < 1e9 else "beyond all"


def file_name(text: str, limit: int = 60) -> str:
    """A name that is valid in any file system and web page: letters, digits, dots, dashes."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:limit].rstrip("-.") or "x"


def ad_hoc_words(options: str) -> str:
    """A sentence that a campaign has no plan file, and what was run; "" where it has one."""
    return f"ad hoc, without a plan of the site: shakedown run {options}" if options else ""
