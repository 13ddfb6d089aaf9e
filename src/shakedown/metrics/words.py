"""Numbers as people read them in a scorecard: no more digits than are significant, and never rounded across a bound."""

from __future__ import annotations

from shakedown.model.bounds import same

_PLAIN_LEAST, _PLAIN_MOST = 1e-4, 1e9  # outside these a number is written with an exponent
SCORE_DIGITS = 7  # significant digits: lists print scores to two decimals, such as 36850.40


def show_number(value: float, digits: int = 4) -> str:
    """A number with ``digits`` significant digits; whole numbers without decimals: 3.412, 16384, 0.02, 1.2e-06."""
    if value == 0:
        return "0"
    if not _PLAIN_LEAST <= abs(value) < _PLAIN_MOST:
        return f"{value:.{digits}g}"
    text = f"{value:.{digits}g}"
    if "e" in text or abs(value) >= 10**digits:
        return f"{value:z.0f}"
    return text


def show_beside(value: float, bound: float, unit: str = "", digits: int = 4) -> str:
    """A number with ``digits`` significant digits, or as many as show correctly whether it is below, at or above a bound."""
    text = ""
    for more in range(digits, 18):
        text = show_number(value, more)
        if side(float(text), bound) == side(value, bound):
            break
    return with_unit(text, unit)


def show_share(share: float, bound: float = 1.0) -> str:
    """A share in per cent: one decimal, or as many as needed to show that it is not 0 or 1, and on which side of a bound it lies.

    95.0%, 99.98%, 100%; 94.96% beside a bound of 95%, 89.95% beside one of 89.95%.
    """
    if share in (0.0, 1.0):
        return f"{abs(share):.0%}"
    text = ""
    for decimals in range(1, 16):
        text = f"{share * 100:z.{decimals}f}"
        if all(side(float(text) / 100, other) == side(share, other) for other in (0.0, 1.0, bound)):
            break
    return f"{text}%"


def side(value: float, bound: float) -> int:
    """Purpose: -1 if a value is below a bound, 1 if it is above, 0 if both are equal (up to rounding)."""
    return 0 if same(value, bound) else -1 if value < bound else 1


def show_value(value: float, unit: str = "") -> str:
    """A number and its unit: 3.41 GB/s, 44.3 s, 2.1%."""
    return with_unit(show_number(value), unit)


def show_score(value: float, unit: str = "") -> str:
    """A score, or a part's number, with its unit: 52.12124 TFLOP/s; with more digits, because contracts depend on it."""
    return with_unit(show_number(value, SCORE_DIGITS), unit)


def with_unit(text: str, unit: str) -> str:
    return f"{text}%" if unit == "%" else f"{text} {unit}".rstrip()


def plural(count: int, one: str, many: str = "") -> str:
    """1 case, 3 cases."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def so_many(count: int, one: str, many: str = "") -> str:
    """Like ``plural``, with thousands separators, and for whole phrases: "1 record starts early", "2,310 records start early"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def some(names: list[str], most: int = 3) -> str:
    """The first few names of a list, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def side_by_side(was: str, now: str, room: int) -> tuple[str, str]:
    """Purpose: two texts, each cut to ``room`` characters; a long equal beginning is cut off shortly before they differ."""
    if max(len(was), len(now)) <= room:
        return was, now
    alike = next(
        (at for at, pair in enumerate(zip(was, now, strict=False)) if pair[0] != pair[1]), min(len(was), len(now))
    )
    begin = max(0, alike - room // 3)
    begin = was.rfind(" ", 0, begin) + 1 if begin else 0
    return _cut(was, begin, room), _cut(now, begin, room)


def _cut(text: str, begin: int, room: int) -> str:
    """At most ``room`` characters from a position on, with dots where text is left out."""
    if len(text) <= room:
        return text
    begin = min(begin, max(0, len(text) - room))
    before = "…" if begin else ""
    rest = text[begin:]
    left = room - len(before)
    return before + (rest if len(rest) <= left else f"{rest[: left - 1]}…")
