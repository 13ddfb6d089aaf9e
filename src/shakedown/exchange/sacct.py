"""Reads the output of ``sacct --parsable2``: any columns in any order, by their names in the first line.

Start reading at ``read_sacct``. Names of jobs may hold ``|`` and comments several lines: a record is put together so that
its times and its state are where they belong. What cannot be one is counted and told, never passed over in silence.
"""

from __future__ import annotations

import functools
import gzip
import itertools
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from shakedown.exchange.history import Floats, JobHistory
from shakedown.exchange.job_records import Gathered, history_of
from shakedown.metrics.words import so_many
from shakedown.model.errors import UsageError

MAKE = (
    "sacct --allusers --allocations --duplicates --parsable2 --starttime 2026-01-01 --endtime now"
    " --format JobIDRaw,Account,User,Submit,Start,End,ElapsedRaw,State,NNodes,NCPUS,JobName"
)
_REQUIRED = ("Submit", "Start", "End", "State")
_UNITS = (("AllocNodes", "nodes"), ("NNodes", "nodes"), ("AllocCPUS", "processors"), ("NCPUS", "processors"))
# Columns that people write into: a | or a new line there belongs to the text. It belongs to the first of them that it can be of.
_FREE = (
    *("jobname", "comment", "admincomment", "systemcomment", "submitline", "workdir", "stdout", "stderr", "stdin"),
    *("extra", "reason", "wckey", "container", "constraints", "flags", "licenses", "reservation"),
    *("account", "user", "qos", "partition"),
)
_STATES = frozenset(
    {
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "COMPLETING",
        "CONFIGURING",
        "DEADLINE",
        "EXPEDITING",
        "FAILED",
        "LAUNCH_FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PENDING",
        "POWER_UP_NODE",
        "PREEMPTED",
        "RECONFIG_FAIL",
        "REQUEUED",
        "REQUEUE_FED",
        "REQUEUE_HOLD",
        "RESIZING",
        "RESV_DEL_HOLD",
        "REVOKED",
        "RUNNING",
        "SIGNALING",
        "SPECIAL_EXIT",
        "STAGE_OUT",
        "STOPPED",
        "SUSPENDED",
        "TIMEOUT",
        "UPDATE_DB",
    }
)
_LIKE_A_STATE = re.compile(r"[A-Z][A-Z_]{2,29}\+?( by \d+)?")  # such as a newer Slurm may have
_UNKNOWN_TIMES = frozenset(("Unknown", "None", "NONE", "", "N/A"))
_ELAPSED = re.compile(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)")
_SUFFIXES = {"K": 1e3, "M": 1e6, "G": 1e9}
_LINES, _CHARACTERS = 200, 1_000_000  # of one record that is put together
_WAYS = 2_000  # to place its delimiters
_CHUNK = 50_000


@dataclass(frozen=True)
class _Columns:
    """The indices of the columns that are used; -1 for a missing column."""

    width: int
    submit: int
    start: int
    end: int
    state: int
    units: int
    unit: str
    elapsed: int
    raw: bool
    job: int
    account: int
    user: int
    free: tuple[int, ...]
    first: str  # the line that names them; it comes again where files were put together

    def fits(self, words: Sequence[str]) -> bool:
        """Whether these words may be a record: times and state are in their columns."""
        return _is_state(words[self.state]) and self._has_times(words)

    def fits_but_for_its_state(self, words: Sequence[str]) -> bool:
        """Whether they may be one with a state that nobody here knows: what else is known of a record must be there, too."""
        return _is_like_a_state(words[self.state]) and self._has_times(words) and self.begins(words)

    def begins(self, words: Sequence[str]) -> bool:
        """Whether a number of a job and a count of nodes are in their columns."""
        return (self.job < 0 or words[self.job][:1].isdecimal()) and _count(words[self.units]) is not None

    def _has_times(self, words: Sequence[str]) -> bool:
        return _is_time(words[self.submit]) and _is_time(words[self.start]) and _is_time(words[self.end])


def _is_state(word: str) -> bool:
    return word.split(" ", 1)[0].rstrip("+") in _STATES or _state_of(word) in _STATES


def _is_like_a_state(word: str) -> bool:
    return _LIKE_A_STATE.fullmatch(word) is not None


def _state_of(word: str) -> str:
    """The state without who cancelled the job. One that was cut off (OUT_OF_ME+) is the only one that begins so, if any is."""
    first = word.split(" ", 1)[0]
    state = first.rstrip("+")
    if state == first or state in _STATES or not state:
        return state
    begun = [known for known in _STATES if known.startswith(state)]
    return begun[0] if len(begun) == 1 else state


def _is_time(word: str) -> bool:
    return (len(word) == 19 and word[10] == "T" and word[0].isdigit()) or word in _UNKNOWN_TIMES


def read_sacct(path: Path | None, zone: str = "", tell: Callable[[int], None] = lambda records: None) -> JobHistory:
    """Purpose: all records of a file, plain or gzip, or of standard input (None).

    ``zone``: the time zone of its times, such as Europe/Berlin; without it every day has 24 hours. ``tell`` hears how many
    records are read. Errors: UsageError for a file without its columns or without any record; OSError.
    """
    name = "standard input" if path is None else str(path)
    found = Gathered()
    try:
        with _opened(path) as text:
            columns = _header(text.readline(_CHARACTERS), name)
            _gather(text, columns, found, tell)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UsageError(f"{name}: it cannot be unpacked: {error}", "is the file complete?") from error
    if not found.job:
        bad = "; " + so_many(len(found.bad), "line is none", "lines are none") if found.bad else ""
        raise UsageError(f"{name}: there is no record of a job in it{bad}", f"make it with: {MAKE}")
    return history_of(found, columns.unit, name, zone)


def _opened(path: Path | None) -> TextIO:
    if path is None:
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
        return sys.stdin
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if packed:
        return gzip.open(path, "rt", encoding="utf-8", errors="replace", newline="\n")
    return path.open(encoding="utf-8-sig", errors="replace", newline="\n")


def _header(line: str, name: str) -> _Columns:
    words = [word.strip().split("%")[0] for word in line.strip("\r\n").split("|")]
    if words and not words[-1]:
        words.pop()  # sacct --parsable ends each line with a |
    lower = {word.lower(): place for place, word in enumerate(words)}
    missing = [word for word in _REQUIRED if word.lower() not in lower]
    place, unit = next(((lower[key.lower()], unit) for key, unit in _UNITS if key.lower() in lower), (-1, ""))
    if missing or place < 0:
        wanted = ", ".join([*missing, *(["NNodes or NCPUS"] if place < 0 else [])])
        raise UsageError(
            f"{name}, line 1: no column {wanted}", f"the first line names the columns; make it with: {MAKE}"
        )
    return _Columns(
        width=len(words),
        submit=lower["submit"],
        start=lower["start"],
        end=lower["end"],
        state=lower["state"],
        units=place,
        unit=unit,
        elapsed=lower.get("elapsedraw", lower.get("elapsed", -1)),
        raw="elapsedraw" in lower,
        job=lower.get("jobidraw", lower.get("jobid", -1)),
        account=lower.get("account", -1),
        user=lower.get("user", -1),
        free=tuple(lower[word] for word in _FREE if word in lower),
        first=line.rstrip("\r\n"),
    )


# ---- records ---------------------------------------------------------------------------------------------------------


def _gather(text: TextIO, columns: _Columns, found: Gathered, tell: Callable[[int], None]) -> None:
    """Read every record into the columns; times are converted to numbers in chunks."""
    times: tuple[list[str], list[str], list[str]] = ([], [], [])
    units, elapsed, job = columns.units, columns.elapsed, columns.job
    account, user = columns.account, columns.user
    for words in _records(text, columns, found):
        name = words[job] if job >= 0 else ""
        if "." in name:
            found.steps += 1
            continue
        count = _count(words[units])
        if count is None:
            found.bad.append(0)
            continue
        times[0].append(words[columns.submit])
        times[1].append(words[columns.start])
        times[2].append(words[columns.end])
        found.units.append(count)
        found.elapsed.append(_elapsed(words[elapsed], columns.raw) if elapsed >= 0 else np.nan)
        found.job.append(int(name) if name.isdecimal() and len(name) < 18 else hash(name) if name else len(found.job))
        found.state.add(_state_of(words[columns.state]))
        found.account.add(words[account] if account >= 0 else "")
        found.user.add(words[user] if user >= 0 else "")
        if len(times[0]) == _CHUNK:
            _take_times(times, found)
            tell(len(found.job))
    _take_times(times, found)


def _records(text: TextIO, columns: _Columns, found: Gathered) -> Iterator[list[str]]:
    """Yield the fields of whole records. A line that is not a whole record is joined with the lines after it."""
    width, fits, pending, began = columns.width, columns.fits, "", 0
    trailing = width + 1
    for number, line in enumerate(text, 2):
        line = line.rstrip("\r\n")
        words = line.split("|")
        if len(words) == trailing and not words[-1]:
            words.pop()
        if len(words) == width and (fits(words) or columns.fits_but_for_its_state(words)):
            if pending:
                _take_leftover(pending, began, columns, found)
                pending = ""
            yield words
            continue
        if (not line and not pending) or line == columns.first:
            continue
        whole = _placed(line, columns)
        if pending and (whole is None or not columns.begins(whole)):
            line = f"{pending}\n{line}"
            whole = _placed(line, columns)
        elif pending:  # a record of its own, and no more of the text before it
            _take_leftover(pending, began, columns, found)
            pending = ""
        began = began if pending else number
        pending = line
        if whole is not None:
            found.joined += 1
            pending = ""
            yield whole
        elif pending.count("\n") > _LINES or len(pending) > _CHARACTERS:
            found.bad.append(began)
            pending = ""
    if pending:
        _take_leftover(pending, began, columns, found)


def _take_leftover(text: str, line: int, columns: _Columns, found: Gathered) -> None:
    """Lines between two whole records: more of the text that ended the first one, or a record that was cut off."""
    if found.job and "|" not in text and columns.width - 1 in columns.free:
        found.joined += 1
    else:
        found.bad.append(line)


def _placed(text: str, columns: _Columns) -> list[str] | None:
    """The fields of a record whose texts hold delimiters: the first way to place them in which times and state are right."""
    words = text.split("|")
    extra = len(words) - columns.width
    if extra < 0:
        return None
    if extra and not words[-1]:
        words.pop()
        extra -= 1
    found = _first_way(words, columns, extra, columns.fits, _is_state)
    if found is None and "\n" not in text:
        return _first_way(words, columns, extra, columns.fits_but_for_its_state, _is_like_a_state)
    return found


def _first_way(
    words: list[str],
    columns: _Columns,
    extra: int,
    fits: Callable[[Sequence[str]], bool],
    is_state: Callable[[str], bool],
) -> list[str] | None:
    if not extra:
        return words if fits(words) else None
    for counts in itertools.islice(_ways(words, columns, extra, is_state), _WAYS):
        fields = list(words)
        for place in sorted(counts):  # what stands before it is whole already
            fields[place : place + 1 + counts[place]] = ["|".join(fields[place : place + 1 + counts[place]])]
        if fits(fields):
            return fields
    return None


def _ways(words: list[str], columns: _Columns, extra: int, is_state: Callable[[str], bool]) -> Iterator[dict[int, int]]:
    """How many of the delimiters may belong to which text: those in which a state stands where it belongs, with the times that
    stand at a fixed distance from it. Most belong to the first of the texts.
    """
    state = columns.state
    before, after, beside = _around(state, columns.free, (columns.submit, columns.start, columns.end))
    order = range(extra + 1) if columns.free and columns.free[0] > state else range(extra, -1, -1)
    for moved in order:
        place = state + moved
        if is_state(words[place]) and all(_is_time(words[place + away]) for away in beside):
            for first in _shared_out(moved, before):  # one after the other: the first way is nearly always right
                for second in _shared_out(extra - moved, after):
                    yield first | second


@functools.cache
def _around(state: int, free: tuple[int, ...], times: tuple[int, ...]) -> tuple[list[int], list[int], list[int]]:
    """The columns of text before and after the state, and at which distance from the state times stand, whatever the texts hold."""
    before, after = ([at for at in free if (at < state) == first] for first in (True, False))
    beside = [at - state for at in times if not any(min(at, state) < text < max(at, state) for text in free)]
    return before, after, beside


def _shared_out(count: int, places: list[int]) -> Iterator[dict[int, int]]:
    """Every way to distribute a number over places; ways that give most to the first place come first."""
    if count == 0 or not places:
        yield from [{}] if count == 0 else []
    elif len(places) == 1:
        yield {places[0]: count}
    else:
        for own in range(count, -1, -1):
            for rest in _shared_out(count - own, places[1:]):
                yield {places[0]: own} | rest


def _count(word: str) -> float | None:
    """Parse a number of nodes or processors: 12, or 1.5K as older versions write."""
    try:
        value = float(word[:-1]) * _SUFFIXES[word[-1]] if word and word[-1] in _SUFFIXES else float(word or 0)
    except ValueError:
        return None
    return value if 0 <= value < 1e12 else None


def _elapsed(word: str, raw: bool) -> float:
    if raw and word.isdecimal():
        return float(word)
    match = _ELAPSED.fullmatch(word)
    if match is None:
        return np.nan
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(days * 86400 + hours * 3600 + minutes * 60 + seconds)


def _take_times(times: tuple[list[str], list[str], list[str]], found: Gathered) -> None:
    for words, column in zip(times, (found.submit, found.start, found.end), strict=True):
        column.append(_seconds(words))
        words.clear()


def _seconds(words: list[str]) -> Floats:
    """Local times as seconds, as if the zone were UTC; nan where there is none."""
    plain = ["NaT" if word in _UNKNOWN_TIMES else word for word in words]
    try:
        moments = np.array(plain, dtype="datetime64[s]")
    except ValueError:  # one of them is no time, though it looks like one
        moments = np.array([_moment(word) for word in plain], dtype="datetime64[s]")
    seconds = moments.astype(np.float64)
    seconds[np.isnat(moments)] = np.nan
    return seconds


def _moment(word: str) -> np.datetime64:
    try:
        return np.datetime64(word, "s")
    except ValueError:
        return np.datetime64("NaT", "s")
