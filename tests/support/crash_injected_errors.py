"""A small campaign under an injected error or a kill, resumed until it is over, held against what its payloads wrote themselves.

``trial`` is the way in: sentences about what is wrong, none where all is well.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import warm_commands
from stories import SHAKEDOWN

from shakedown.checks.text import NOT_AS_WRITTEN
from shakedown.events.reader import read_events
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record, fold_runs

COUNT = 24  # results: a third of them are wrong, some fail
ERRORS = {
    "open": (errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOSPC, errno.EROFS),
    "write": (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS),
    "read": (errno.EIO, errno.ESTALE),
    "sync": (errno.EIO, errno.ENOSPC),
    "rename": (errno.EIO, errno.ENOSPC, errno.EROFS),
    "mkdir": (errno.ENOSPC, errno.EIO, errno.EROFS),
    "unlink": (errno.EIO, errno.EROFS),
    "truncate": (errno.EIO,),
    "pipe": (errno.EMFILE, errno.ENFILE),
    "fork": (errno.EAGAIN, errno.ENOMEM),
}
# What a network file system answers whose server was away: a handle that it does not know any more.
STALE = {
    "open": (errno.ESTALE, errno.EACCES),
    "stat": (errno.ESTALE, errno.EIO),
    "list": (errno.ESTALE, errno.EIO),
    "read": (errno.ESTALE,),
    "write": (errno.ESTALE,),
    "sync": (errno.ESTALE,),
    "rename": (errno.ESTALE,),
    "unlink": (errno.ESTALE,),
}
# What else a system may refuse, anywhere in the site: locks, links, times, half a write, an error that is told when a file is
# closed, a disk that drops what it was to make durable and says so once, processes that do not start or cannot be watched.
SIBLINGS = {
    "half": (errno.ENOSPC, errno.EIO, errno.EDQUOT),
    "pwrite": (errno.ENOSPC, errno.EIO, errno.EROFS),
    "lost": (errno.EIO,),
    "close": (errno.EIO, errno.ENOSPC, errno.EDQUOT),
    "lock": (errno.ENOLCK, errno.EIO, errno.EOPNOTSUPP, errno.EAGAIN),
    "link": (errno.EPERM, errno.EIO, errno.ENOSPC, errno.EMLINK),
    "touch": (errno.EIO, errno.EROFS, errno.EPERM),
    "entry": (errno.EIO, errno.ESTALE),
    "spawn": (errno.EAGAIN, errno.ENOMEM, errno.EMFILE),
    "watch": (errno.EMFILE, errno.ENFILE, errno.ENOMEM),
}
TESTS = {
    "truth": (
        "parameters: {n: [" + ", ".join(map(str, range(COUNT))) + "]}\n"
        "run:\n  time_limit: 60s\n  command: |\n"
        '    echo "begin $SHAKEDOWN_RUN {n}" >>"$TRUTH"\n'
        "    echo answer {n} >answer; sleep 0.02\n"
        "    if [ $(({n} % 3)) = 0 ]; then echo wrong; else echo right; fi\n"
        '    echo "end $SHAKEDOWN_RUN {n}" >>"$TRUTH"\n'
        "    exit $(({n} % 5 == 4 ? 3 : 0))\n"
        'check:\n  - output contains "right"\n  - file "answer" contains "answer"\n'
    )
}
# A call that fails forty times is asked for again in pauses that grow: the trouble of a real disk passes with time, not with calls.
PATIENCE_S = 40.0
BAD_WORDS = ("Traceback", "fault of Shakedown itself")


def right_verdict(number: int) -> str:
    """What the payload is, by its own word."""
    return "failed" if number % 5 == 4 else "incorrect" if number % 3 == 0 else "passed"


def wish(seed: int, errors: Mapping[str, Sequence[int]] = ERRORS) -> str:
    """Which call fails in this trial, from which on, how often, with what."""
    draw = random.Random(seed)
    call = draw.choice(list(errors))
    most = {
        "write": 60,
        "open": 120,
        "stat": 300,
        "list": 20,
        "read": 60,
        "mkdir": 30,
        "sync": 20,
        "pipe": 40,
        "fork": 3,
        "half": 60,
        "pwrite": 40,
        "lost": 40,
        "close": 200,
        "entry": 40,
        "spawn": 24,
        "watch": 24,
    }.get(call, 8)
    return f"{call}:{draw.randint(1, most)}:{draw.choice((1, 1, 3, 40))}:{draw.choice(errors[call])}"


def trial(site: Path, library: Path | None, trouble: str | int, kills: int = 0, under: Path | None = None) -> list[str]:
    """Purpose: what went wrong in one campaign that met errors, or was killed at random moments, and was then resumed.

    ``trouble``: what ``wish`` says; for kills the seed of their moments. ``under``: where the files are whose calls count.
    """
    environment = os.environ | {"TRUTH": str(site / "truth"), "COLUMNS": "200"}
    environment["XDG_CACHE_HOME"] = str(site / "cache")
    said: list[str] = []
    if library is not None:
        injected = {
            "LD_PRELOAD": str(library),
            "INJECT": str(trouble),
            "INJECT_UNDER": str(under or site / "campaigns"),
        }
        said.append(_drive(site, ("run", "p", "-q"), environment | injected, PATIENCE_S))
    else:
        said += _killed(site, environment, random.Random(trouble), kills)
    if not _has_begun(site):  # nothing was ordered of it: it is made anew
        _as_new(site)
        said.append(_go_on(site, ("run", "p", "-q"), environment))
    for _ in range(4):
        said.append(_go_on(site, ("resume", "-q", "--if-needed"), environment))
        if _is_over(site):
            break
    wrong = [text.strip()[-600:] for text in said if any(word in text for word in BAD_WORDS)]
    return wrong + _against_the_truth(site)


def _go_on(site: Path, words: Sequence[str], environment: dict[str, str]) -> str:
    """What a command says that meets no error and has to end by itself."""
    done = warm_commands.run(
        words, cwd=site, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
    )
    assert isinstance(done.stdout, str)
    return done.stdout


def _drive(site: Path, words: Sequence[str], environment: dict[str, str], patience_s: float) -> str:
    """What a command says that is told to leave after ``patience_s``, as a person would do."""
    process = subprocess.Popen(
        [*SHAKEDOWN, *words], cwd=site, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=patience_s)[0]
        process.terminate()
        return process.communicate(timeout=120)[0]
    finally:
        process.kill()


def _killed(site: Path, environment: dict[str, str], draw: random.Random, kills: int) -> list[str]:
    said, words = [], ("run", "p", "-q")
    for _ in range(kills):
        process = subprocess.Popen(
            [*SHAKEDOWN, *words], cwd=site, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        time.sleep(draw.uniform(0.1, 0.9))
        process.kill()
        said.append(process.communicate()[0])
        if _has_begun(site):
            words = ("resume", "-q", "--if-needed")
        else:
            _as_new(site)
    return said


def _as_new(site: Path) -> None:
    """A campaign that has not begun, and the register in which its name is used, are taken away."""
    shutil.rmtree(site / "campaigns/p-1", ignore_errors=True)
    (site / "register.jsonl").unlink(missing_ok=True)


def _has_begun(site: Path) -> bool:
    log = site / "campaigns/p-1/log"
    return log.exists() and any(event.event == "campaign_start" for event in read_events(log))


def _is_over(site: Path) -> bool:
    return any(event.event == "campaign_end" for event in read_events(site / "campaigns/p-1/log"))


def _against_the_truth(site: Path) -> list[str]:
    """Every run executed once at most, and judged as it ended; every result there; nothing left undetermined.

    What ran while the disk may have been full, or whose output the disk dropped, is judged for nobody, and attempted again; nothing
    else is.
    """
    lines = [line.split() for line in (site / "truth").read_text().splitlines()]
    begun = Counter(run for word, run, _ in lines if word == "begin")
    ended = {run: int(number) for word, run, number in lines if word == "end"}
    found = [f"{run} was executed {count} times" for run, count in begun.items() if count > 1]
    record = fold_runs(read_events(site / "campaigns/p-1/log"))
    if not _is_over(site):
        found.append("the campaign is not over")
    full = _full_spells(record)
    rows: dict[int, list[RunRow]] = defaultdict(list)
    for row in record.current():
        number = int(row.case.rpartition("=")[2])
        rows[number].append(row)
        allowed = {right_verdict(number)} if row.run in ended else set()
        if row.run not in begun:
            allowed |= {"submit_failed"}
        if row.retried and (NOT_AS_WRITTEN in row.reason or any(_at_once(row, *spell) for spell in full)):
            allowed |= {"undetermined"}
        if row.verdict not in allowed | {"interrupted"}:
            found.append(f"{row.run} of n={number} is {row.verdict}: {row.reason}")
    for number in range(COUNT):
        verdicts = [row.verdict for row in rows[number]]
        if verdicts.count(right_verdict(number)) != 1:
            found.append(f"n={number} came out {verdicts}, and is {right_verdict(number)}")
    return found


SEEN_LATE_S = 0.1  # a run is said to begin at most so long after it did


def _full_spells(record: Record) -> list[tuple[float, float]]:
    """From when to when the record says that a disk was full at most."""
    spells: list[tuple[float, float]] = []
    for note in record.of_kind("finding", "driver_start"):
        kind = note.value.get("kind", note.kind)
        if kind == "disk_full":
            spells.append((note.value["room_at"], float("inf")))
        elif kind in ("disk_has_room", "driver_start") and spells:
            spells[-1] = (spells[-1][0], min(spells[-1][1], note.time))
    return spells


def _at_once(row: RunRow, since: float, until: float) -> bool:
    began = row.started if row.started is not None else row.ordered
    return began is not None and began - SEEN_LATE_S < until and since < (row.over or row.time)
