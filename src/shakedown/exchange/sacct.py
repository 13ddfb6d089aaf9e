"""Reading what ``sacct --parsable2`` wrote: any columns in any order, by their names in the first line.

``read_sacct`` is the table of contents. Names of jobs may hold ``|`` and comments several lines: a record is put together so that
its times and its state are where they belong. What cannot be one is counted and told, never passed over in silence.
"""

from __future__ import annotations

import gzip
import itertools
import re
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TextIO
from zoneinfo import ZoneInfo

import numpy as np

from shakedown.exchange.history import Floats, JobHistory, WordColumn
from shakedown.model.errors import UsageError

MAKE = (
    "sacct --allusers --allocations --duplicates --parsable2 --starttime 2026-01-01 --endtime now"
    " --format JobIDRaw,Account,Submit,Start,End,ElapsedRaw,State,NNodes,NCPUS,JobName"
)
_REQUIRED = ("Submit", "Start", "End", "State")
_UNITS = (("AllocNodes", "nodes"), ("NNodes", "nodes"), ("AllocCPUS", "processors"), ("NCPUS", "processors"))
# Columns that people write into: a | or a new line there belongs to the text.
_FREE = frozenset(
    {
        "JobName",
        "Comment",
        "AdminComment",
        "SystemComment",
        "SubmitLine",
        "WorkDir",
        "StdOut",
        "StdErr",
        "StdIn",
        "Extra",
        "Reason",
        "Account",
        "User",
        "WCKey",
        "Container",
        "Constraints",
        "Flags",
        "Licenses",
        "QOS",
        "Partition",
        "Reservation",
    }
)
_STATES = frozenset(
    {
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "COMPLETING",
        "CONFIGURING",
        "DEADLINE",
        "FAILED",
        "LAUNCH_FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PENDING",
        "PREEMPTED",
        "RECONFIG_FAIL",
        "REQUEUED",
        "RESIZING",
        "REVOKED",
        "RUNNING",
        "SIGNALING",
        "SPECIAL_EXIT",
        "STAGE_OUT",
        "STOPPED",
        "SUSPENDED",
        "TIMEOUT",
    }
)
_UNKNOWN_TIMES = frozenset(("Unknown", "None", "NONE", "", "N/A"))
_ELAPSED = re.compile(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)")
_SUFFIXES = {"K": 1e3, "M": 1e6, "G": 1e9}
_LINES, _CHARACTERS, _WAYS = (
    200,
    1_000_000,
    2_000,
)  # of one record that is put together, and ways to place its delimiters
_CHUNK = 50_000
_HOUR = 3600.0


@dataclass(frozen=True)
class _Columns:
    """Where the columns that matter are; -1 where the file has none."""

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
    free: tuple[int, ...]

    def fits(self, words: Sequence[str]) -> bool:
        """Whether the words may be a record: times and a state where they belong."""
        state = words[self.state].split(" ", 1)[0].rstrip("+")
        return (
            state in _STATES
            and _is_time(words[self.submit])
            and _is_time(words[self.start])
            and _is_time(words[self.end])
        )


def _is_time(word: str) -> bool:
    return (len(word) == 19 and word[10] == "T" and word[0].isdigit()) or word in _UNKNOWN_TIMES


@dataclass
class _Gathered:
    """The columns while they are read, and what is told of the file."""

    submit: list[Floats] = field(default_factory=list)
    start: list[Floats] = field(default_factory=list)
    end: list[Floats] = field(default_factory=list)
    elapsed: array[float] = field(default_factory=lambda: array("d"))
    units: array[float] = field(default_factory=lambda: array("d"))
    job: array[int] = field(default_factory=lambda: array("q"))
    state: WordColumn = field(default_factory=WordColumn)
    account: WordColumn = field(default_factory=WordColumn)
    steps: int = 0
    bad: list[int] = field(default_factory=list)
    joined: int = 0


def read_sacct(path: Path | None, zone: str = "", tell: Callable[[int], None] = lambda records: None) -> JobHistory:
    """Purpose: all records of a file, plain or gzip, or of standard input (None).

    ``zone``: the time zone of its times, such as Europe/Berlin; without it every day has 24 hours. ``tell`` hears how many
    records are read. Errors: UsageError for a file without its columns or without any record; OSError.
    """
    name = "standard input" if path is None else str(path)
    with _opened(path) as text:
        columns = _header(text.readline(_CHARACTERS), name)
        found = _Gathered()
        _gather(text, columns, found, tell)
    if not found.job:
        bad = f"; {len(found.bad)} lines are none" if found.bad else ""
        raise UsageError(f"{name}: there is no record of a job in it{bad}", f"make it with: {MAKE}")
    return _history(found, columns, name, zone)


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
        free=tuple(at for at, word in enumerate(words) if word in _FREE),
    )


# ---- records ---------------------------------------------------------------------------------------------------------


def _gather(text: TextIO, columns: _Columns, found: _Gathered, tell: Callable[[int], None]) -> None:
    """Take every record into the columns; times become numbers in chunks."""
    times: tuple[list[str], list[str], list[str]] = ([], [], [])
    units, elapsed, job, account = columns.units, columns.elapsed, columns.job, columns.account
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
        found.state.add(words[columns.state].split(" ", 1)[0].rstrip("+"))
        found.account.add(words[account] if account >= 0 else "")
        if len(times[0]) == _CHUNK:
            _take_times(times, found)
            tell(len(found.job))
    _take_times(times, found)


def _records(text: TextIO, columns: _Columns, found: _Gathered) -> Iterator[list[str]]:
    """Whole records, each as its fields. A line that is no record alone is put together with those after it."""
    width, fits, pending, began = columns.width, columns.fits, "", 0
    trailing = width + 1
    for number, line in enumerate(text, 2):
        line = line.rstrip("\r\n")
        words = line.split("|")
        if len(words) == trailing and not words[-1]:
            words.pop()
        if len(words) == width and fits(words):
            if pending:
                found.bad.append(began)  # it was cut off before this whole record
                pending = ""
            yield words
            continue
        if not line and not pending:
            continue
        began = began if pending else number
        pending = f"{pending}\n{line}" if pending else line
        whole = _placed(pending, columns)
        if whole is not None:
            found.joined += 1
            pending = ""
            yield whole
        elif pending.count("\n") > _LINES or len(pending) > _CHARACTERS:
            found.bad.append(began)
            pending = ""
    if pending:
        found.bad.append(began)


def _placed(text: str, columns: _Columns) -> list[str] | None:
    """The fields of a record whose texts hold delimiters: the first way to place them in which times and state are right."""
    words = text.split("|")
    extra = len(words) - columns.width
    if extra < 0:
        return None
    if extra and not words[-1]:
        words.pop()
        extra -= 1
    if not extra:
        return words if columns.fits(words) else None
    ways = itertools.combinations_with_replacement(columns.free, extra)
    for way in itertools.islice(ways, _WAYS):
        fields, at = [], 0
        for place in range(columns.width):
            wide = 1 + way.count(place)
            fields.append("|".join(words[at : at + wide]))
            at += wide
        if columns.fits(fields):
            return fields
    return None


def _count(word: str) -> float | None:
    """Nodes or processors: 12, or 1.5K as older versions write."""
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


def _take_times(times: tuple[list[str], list[str], list[str]], found: _Gathered) -> None:
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


# ---- as a history ----------------------------------------------------------------------------------------------------


def _history(found: _Gathered, columns: _Columns, name: str, zone: str) -> JobHistory:
    submit, start, end = (np.concatenate(parts) for parts in (found.submit, found.start, found.end))
    elapsed, told = np.array(found.elapsed), _told(found, name)
    if zone:
        begin = _in_zone(submit, zone)
        start, end = _after(_in_zone(start, zone), begin), _in_zone(end, zone)
        submit = begin
    state = found.state.done()
    live = np.isin(state.codes, [at for at, word in enumerate(state.names) if word in ("RUNNING", "SUSPENDED")])
    run = _run_times(start, end, elapsed, live, told)
    early = start < submit
    if early.any():
        told.append(f"{early.sum():,} records start before they were submitted; their wait is not known")
    return JobHistory(
        source=name,
        unit=columns.unit,
        submit_s=submit,
        start_s=start,
        run_s=run,
        units=np.array(found.units),
        state=state,
        account=found.account.done(),
        waited=_first_starts(np.array(found.job), submit, start) & ~early,
        told=tuple(told),
    )


def _told(found: _Gathered, name: str) -> list[str]:
    told = []
    if found.steps:
        told.append(f"{found.steps:,} records of steps are left out; --allocations leaves them out of the file")
    if found.joined:
        told.append(f"{found.joined:,} records have '|' or new lines in their texts")
    if found.bad:
        first = next((line for line in found.bad if line), 0)
        where = f", the first at line {first:,}" if first else ""
        told.append(f"{len(found.bad):,} records of {name} cannot be read{where}, and count nowhere")
    return told


def _run_times(start: Floats, end: Floats, elapsed: Floats, live: np.ndarray, told: list[str]) -> Floats:
    """For how long each held its nodes: what the scheduler counted, else from its start to its end."""
    started = ~np.isnan(start)
    between = end - start
    counted = ~np.isnan(elapsed) & started & ~live
    odd = counted & ~np.isnan(between) & (between != elapsed)
    if odd.any():
        told.append(
            f"{odd.sum():,} records end later or earlier than they ran for: suspended, or the clock was changed"
        )
    run = np.where(counted, elapsed, between)
    negative = run < 0
    if negative.any():
        told.append(f"{negative.sum():,} records end before they start; they count as jobs without a run time")
        run = np.where(negative, 0.0, run)
    lost = started & ~live & np.isnan(run)
    if lost.any():
        told.append(f"{lost.sum():,} records started and have no end; sacctmgr show runawayjobs lists such jobs")
    return np.where(started, np.where(live, np.nan, run), 0.0)


def _first_starts(job: np.ndarray, submit: Floats, start: Floats) -> np.ndarray:
    """Which records' waits count: of those of one job with one submission only the first that started."""
    order = np.lexsort((start, submit, job))
    same = (job[order][1:] == job[order][:-1]) & (submit[order][1:] == submit[order][:-1])
    first = np.ones(len(job), dtype=bool)
    first[order[1:][same]] = False
    return first & ~np.isnan(start) & ~np.isnan(submit)


# ---- time zones ------------------------------------------------------------------------------------------------------


def _in_zone(local: Floats, name: str) -> Floats:
    """Seconds since 1970 of local times; an hour that comes twice is taken for its first."""
    known = local[~np.isnan(local)]
    if not len(known):
        return local
    bounds, offsets = _offsets(float(known.min()), float(known.max()), name)
    moved: Floats = local - offsets[np.searchsorted(bounds, np.nan_to_num(local, nan=0.0), side="right")]
    return moved


def _offsets(least: float, most: float, name: str) -> tuple[Floats, Floats]:
    """Local times from which on another offset holds, and the offsets: one more than bounds, in seconds east of UTC."""
    try:
        zone = ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise UsageError(
            f"there is no time zone '{name}'", "name one such as Europe/Berlin or America/Denver"
        ) from error

    def offset(moment: float) -> float:
        there = datetime.fromtimestamp(moment, UTC).astimezone(zone).utcoffset()
        return (there or timedelta()).total_seconds()

    day = 86400.0
    moment, last = least - 2 * day, most + 2 * day
    bounds, offsets = [], [offset(moment)]
    while moment < last:
        after = moment + day
        if offset(after) != offsets[-1]:
            low, high = moment, after
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if offset(middle) != offsets[-1] else (middle, high)
            bounds.append(high + max(offsets[-1], offset(high)))
            offsets.append(offset(high))
        moment = after
    return np.array(bounds), np.array(offsets)


def _after(start: Floats, submit: Floats) -> Floats:
    """A start in the hour that comes twice, which would lie before its submission, is in the second of both."""
    again = (start < submit) & (start + _HOUR >= submit)
    return np.where(again, start + _HOUR, start)
