"""A line of an output as it is compared and shown, and the lines of a text that may tell of a failure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MATCHED = 2000  # characters of a line that are looked at: its first and last half of that
SHOWN = 300  # characters of a line in the record

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)|[()*+#][A-Za-z0-9]|[ -/]?[0-~])"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_END = re.compile(r"[\n\r]")

# Nearly every line that the catalogue knows holds one of these, in small letters; what others hold is added to them.
STEMS = (
    "error", "fail", "abort", "fault", "kill", "cancel", "terminat", "signal", "memory", "not found", "no such", "cannot",
    "can't", "can not", "unable", "denied", "invalid", "exceed", "exception", "assert", "illegal", "limit", "timeout",
    "timed out", "time out", "refused", "reset by", "unreachable", "not responding", "stale", "no space", "quota", "corrupt",
    "fatal", "panic", "licen", "traceback", "undefined", "unknown", "missing", "exit", "halted", "overflow",
    "core dump", "machine check", "mce:", "edac", "xid", "not allowed", "usage:", "broken pipe", "too many", "not enough",
    "insufficient", "preempt", "severe", "oom", "expired", "mismatch", "unsupported", "not supported", "incompatib", "wrong",
    "requeue", "bad ", "lost", "not available", "unavailable", "no route", "read-only", "is a directory",
    "not permitted", "not a directory", "unrecognized", "ill-formed", "disconnect", "out of", "replaying", "dead",
    "not configured", "full", "divi", "could not", "couldn't", "problem", "busy", "unresponsive", "warning",
    "end of file", "eof", "not a valid", "too long", "too large", "exhaust", "hang", "stuck", "not be", "nan", "unexpected",
    "already", "isn't", "must be", "down", "evict", "stopped", "closed", "not implemented", "truncated", "singleton",
    "mpi_", "gni_", "pmi", "hyd", "sig", "ecc", "errno", "ofi ", "psm", "nccl", "no ", "not ", "cuda", "short", "ibv_", "aprun",
    "apsched", "hint:", "stop ", "what():", "diverge", "requires", "ctrl-c", "cleaning up",
)  # fmt: skip


def clean(line: str) -> str:
    """Purpose: a line without escape codes, control characters and double blanks, and without the middle of very long ones."""
    if len(line) > 4 * MATCHED:
        line = f"{line[: 2 * MATCHED]} ... {line[-2 * MATCHED :]}"
    if "\x1b" in line:
        line = _ESCAPES.sub("", line)
    if not line.isprintable():
        line = _CONTROL.sub(" ", line)
    line = " ".join(line.split())
    return line if len(line) <= MATCHED else f"{line[: MATCHED // 2]} ... {line[-MATCHED // 2 :]}"


def shown(line: str, at: int = 0) -> str:
    """Purpose: a cleaned line as a person is shown it: printable, at most ``SHOWN`` characters, those around ``at``."""
    if len(line) > SHOWN:
        begin = 0 if at < SHOWN - 60 else min(at - 60, len(line) - SHOWN + 6)
        piece = line[begin : begin + SHOWN - 6]
        line = ("..." if begin else "") + piece + ("..." if begin + len(piece) < len(line) else "")
    return line if line.isprintable() else "".join(c if c.isprintable() else "?" for c in line)


def telling_lines(text: str, stems: Iterable[str], loose: Iterable[re.Pattern[str]] = ()) -> Iterator[str]:
    """Purpose: the lines that hold one of the stems, or that a ``loose`` pattern finds, in their order; cleaned.

    A text without any costs one search for each stem. Lines end at new lines and at carriage returns.
    """
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    low = text.lower()
    if len(low) != len(text):  # a few letters grow when they are made small
        low = text.translate(_SMALL)
    there = [stem for stem in stems if stem in low]
    words = [re.compile("|".join(map(re.escape, there)))] if there else []
    places = sorted(_places(low, [*words]) | _places(text, list(loose)))
    last_end = -1
    for place in places:
        if place < last_end:
            continue
        begin, end = _line_around(text, place)
        last_end = end + 1
        cleaned = clean(text[begin:end])
        if cleaned:
            yield cleaned


_SMALL = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def _places(text: str, patterns: list[re.Pattern[str]]) -> set[int]:
    """Where patterns are found: one place a line is enough."""
    places: set[int] = set()
    for pattern in patterns:
        at = 0
        while match := pattern.search(text, at):
            places.add(match.start())
            end = _END.search(text, match.start())
            if end is None:
                break
            at = end.end()
    return places


def _line_around(text: str, place: int) -> tuple[int, int]:
    begin = max(text.rfind("\n", 0, place), text.rfind("\r", max(0, place - 100_000), place)) + 1
    end = _END.search(text, place)
    return begin, end.start() if end else len(text)
