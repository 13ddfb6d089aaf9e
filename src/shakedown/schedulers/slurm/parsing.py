"""The output of Slurm's commands as rows. Pure. Lines that do not fit are skipped; unknown words are kept as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, structs

from shakedown.model.job_terms import ALONE, BESIDE, NO_LIMIT_S, ON_SHARED_CORES, Terms
from shakedown.schedulers.slurm.versions import ACCOUNT_FIELDS, FIRST_OF_TERMS, QUEUE_FIELDS, SEPARATOR

_LEAST_OF_A_RECORD = ACCOUNT_FIELDS.index(
    "Suspended"
)  # cells; the records of a job that never stood still may end there
_LONGEST = 300  # characters of a sentence of somebody else's
_NOTHING = frozenset({"", "(null)", "None", "none", "N/A", "n/a", "Unknown", "unknown", "None assigned"})
_KEY = re.compile(r"(?:^| )([A-Za-z][A-Za-z0-9_/:\[\]]*)=")
_OUT = re.compile(r"down|drain|fail|error|inval|unk|\S+\*$", re.IGNORECASE)  # states in which a node is given nothing
_DURATION = re.compile(r"(?:(\d{1,6})-)?(?:(\d{1,6}):)?(\d{1,2}):(\d{2})", re.ASCII)
_NO_VALUE = 2**32 - 2  # NO_VAL of slurm.h: nothing is set
_MEMORY = re.compile(r"(\d{1,12}(?:\.\d{1,3})?)([KMGTP]?)[nc]?", re.ASCII)
_SHARING = {"NO": ALONE, "OK": BESIDE, "YES": ON_SHARED_CORES}
_ID = re.compile(r"\d+(?:_\d+|\+\d+)?(?:;[\w.-]+)?")


class QueueRow(Struct, frozen=True):
    """A job as the controller knows it. ``exit``: an exit status, or -N for signal N. Times are in seconds since 1970. ``used_s``:
    how many seconds it ran, without the time for which it was suspended.
    """

    id: str
    name: str
    state: str
    reason: str = ""
    nodes: str = ""
    restart: int = 0
    exit: int | None = None
    start: float | None = None
    end: float | None = None
    cluster: str = ""
    used_s: float | None = None
    terms: Terms | None = None


class Record(Struct, frozen=True):
    """One start of a job as accounting, or the list of finished jobs, knows it. ``by``: the user id that cancelled it. ``began``:
    the list's text for the start time, which is local time and only used to tell starts apart. ``halted_s``: how many seconds it
    was suspended; None where that is not known.
    """

    id: str
    name: str
    state: str
    exit: int | None = None
    nodes: str = ""
    submit: float | None = None
    start: float | None = None
    end: float | None = None
    reason: str = ""
    by: str = ""
    began: str = ""
    halted_s: float | None = None


class NodeState(Struct, frozen=True):
    """A node, its state and the reason, in Slurm's words. ``reason_at``: since when it has that reason; None where Slurm does not
    say.
    """

    name: str
    state: str
    reason: str = ""
    reason_at: float | None = None


class NodeHistory(Struct, frozen=True):
    """A node: when it was booted, and why and since when it is out of work; None and "" where the controller does not say.
    ``silent``: it does not answer the controller, and was not switched off to save power.
    """

    name: str
    booted: float | None = None
    reason: str = ""
    reason_at: float | None = None
    silent: bool = False


def clean(text: str) -> str:
    """Text of another program as one printable line of limited length."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."


def job_id(text: str) -> str:
    """Purpose: the id that ``sbatch --parsable`` printed, "" where it printed none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines and _ID.fullmatch(lines[-1]) else ""


def babble(text: str) -> str:
    """Purpose: the first line of an answer that has lines but no row at all, so that it answers nothing; else ""."""
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("CLUSTER: ")]
    return clean(lines[0]) if lines and not any(SEPARATOR in line for line in lines) else ""


def queue_rows(text: str, cluster: str = "") -> list[QueueRow]:
    """Purpose: the rows of squeue. Headers ("CLUSTER: x") and incomplete lines are skipped; if only the terms are incomplete, the
    row has none.
    """
    names = [name for name, _ in QUEUE_FIELDS]
    least = names.index(FIRST_OF_TERMS)
    rows = []
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.split(SEPARATOR)]
        if len(cells) < least or not cells[0]:
            continue
        value = dict(zip(names, cells, strict=False))
        rows.append(
            QueueRow(
                id=value["id"],
                name=value["name"],
                state=value["state"],
                reason=_word(value["reason"]),
                nodes=_word(value["nodes"]),
                restart=int(value["restart"]) if _is_number(value["restart"]) else 0,
                exit=wait_status(value["exit"]),
                start=seconds(value["start"]),
                end=seconds(value["end"]),
                cluster=cluster,
                used_s=duration(value["used"]),
                terms=_terms(value) if len(cells) > len(names) else None,
            )
        )
    return rows


def _terms(value: dict[str, str]) -> Terms:
    """What the job asks for. While it is completing, Slurm only counts the nodes and cores that are not clean yet, so these are
    left out.
    """
    completing = value["state"].startswith("COMPLETING")
    return Terms(
        partition=_word(value["partition"]),
        time_limit_s=NO_LIMIT_S if value["time_limit"] == "UNLIMITED" else duration(value["time_limit"]),
        nodes=None if completing else _count(value["node_count"]),
        tasks=_count(value["tasks"]),
        cpus=None if completing else _count(value["cpus"]),
        memory_bytes=memory(value["memory"]),
        sharing=_SHARING.get(value["sharing"], _word(value["sharing"]).lower()),
        wants=_word(value["wants"]),
        features=_word(value["features"]),
        gpus=_word(value["gpus"]),
        reservation=_word(value["reservation"]),
        qos=_word(value["qos"]),
        account=_word(value["account"]),
    )


def memory(word: str) -> float | None:
    """Purpose: bytes from "100M" or "1.50G"; None for 0, which asks for nothing or for all of a node."""
    match = _MEMORY.fullmatch(word)
    if match is None:
        return None
    return float(match[1]) * 1024 ** (1 + "KMGTP".index(match[2] or "M")) or None


def records(text: str, step: str = "") -> list[Record]:
    """Purpose: the records of sacct in the order in which it prints them: allocations only, or only the given ``step`` of each."""
    found = []
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.split(SEPARATOR)]
        number, _, part = cells[0].partition(".")
        if len(cells) < _LEAST_OF_A_RECORD or not number or part != step:
            continue
        _, name, state, code, nodes, submit, start, end, reason = cells[:_LEAST_OF_A_RECORD]
        halted = duration(cells[_LEAST_OF_A_RECORD]) if len(cells) > _LEAST_OF_A_RECORD else None
        word, by = cancelled_by(state)
        times = (seconds(submit), seconds(start), seconds(end))
        found.append(
            Record(number, name, word, exit_pair(code), _word(nodes), *times, _word(reason), by, halted_s=halted)
        )
    return found


def step_records(text: str) -> list[Record]:
    """Purpose: the numbered steps that sacct prints, each with its number as its name; batch scripts and shells are left out."""
    found = []
    for line in text.split("\n"):
        step = line.partition(SEPARATOR)[0].strip().partition(".")[2]
        if step.isdigit() and step.isascii():
            found += [structs.replace(record, name=step) for record in records(line, step)]
    return found


def finished(line: str) -> Record | None:
    """Purpose: one line of jobcomp/filetxt as a record; None for any other line. Its times are local time, as text.

    Each line is about a start that is over. For a start that was put back into the queue, it has the state that the job has after
    that: PENDING.
    """
    value = key_values(line)
    if not value.get("JobId") or "JobState" not in value:
        return None
    word, by = cancelled_by(value["JobState"])
    word = "REQUEUED" if word == "PENDING" else word
    code, nodes = exit_pair(value.get("ExitCode", "")), _word(value.get("NodeList", ""))
    return Record(value["JobId"], value.get("Name", ""), word, code, nodes, by=by, began=value.get("StartTime", ""))


def key_values(line: str) -> dict[str, str]:
    """Purpose: the ``Key=Value`` words of one line; a value extends to the next key. Of equal keys the first one counts."""
    value: dict[str, str] = {}
    keys = list(_KEY.finditer(line))
    for key, following in zip(keys, [*keys[1:], None], strict=False):
        end = len(line) if following is None else following.start()
        value.setdefault(key[1], line[key.end() : end].strip())
    return value


def settings(text: str) -> dict[str, str]:
    """Purpose: ``scontrol show config`` as name -> value."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name.strip(): value.strip() for name, _, value in pairs}


def node_states(text: str) -> list[NodeState]:
    """Purpose: each node of ``sinfo --Node`` once, although it is printed for every partition that has it."""
    found: dict[str, NodeState] = {}
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.split(SEPARATOR)]
        if len(cells) >= 3 and cells[0]:
            since = seconds(cells[3]) if len(cells) > 3 else None
            found.setdefault(cells[0], NodeState(cells[0], cells[1], _word(cells[2]), since))
    return list(found.values())


def node_histories(text: str) -> list[NodeHistory]:
    """Purpose: the lines of ``scontrol --oneliner show node``, with times as seconds since 1970."""
    found = []
    for line in text.split("\n"):
        value = key_values(line)
        if not value.get("NodeName"):
            continue
        reason, _, since = value.get("Reason", "").partition(" [")
        when = seconds(since.rpartition("@")[2].rstrip("] "))
        booted, silent = seconds(value.get("BootTime", "")), _is_silent(value.get("State", ""))
        found.append(NodeHistory(value["NodeName"], booted, _word(reason), when, silent))
    return found


def _is_silent(state: str) -> bool:
    """Whether the node does not answer: ``IDLE*`` or ``IDLE+NOT_RESPONDING``, by release. Nodes that save power have POWER in their
    state.
    """
    return ("*" in state or "NOT_RESPONDING" in state) and "POWER" not in state


def out_of_work(text: str) -> list[tuple[str, float | None, str, str]]:
    """Purpose: (state, since when, why, folded set) for nodes that are down, drained or about to be; each set of nodes once."""
    found: dict[str, tuple[str, float | None, str, str]] = {}
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.split(SEPARATOR)]
        if len(cells) == 4 and cells[3] and _OUT.match(cells[0]):
            found.setdefault(cells[3], (clean(cells[0].lower()), seconds(cells[1]), _word(cells[2]), cells[3]))
    return list(found.values())


def states_of_nodes(text: str) -> list[tuple[str, str]]:
    """Purpose: (state, folded set of nodes) from lines that begin with a state and end with a set."""
    cells = (line.split(SEPARATOR) for line in text.split("\n"))
    return [(row[0].strip().lower(), row[-1].strip()) for row in cells if len(row) > 1 and row[-1].strip()]


def kept_for_database(text: str) -> int | None:
    """Purpose: how many messages the controller keeps for its database, from the output of sdiag; None where it does not say."""
    match = re.search(r"^DBD Agent queue size:\s*(\d{1,9})\s*$", text, re.MULTILINE)
    return int(match[1]) if match else None


def cancelled_by(state: str) -> tuple[str, str]:
    """Purpose: ("CANCELLED", "1000") for "CANCELLED by 1000"; other states as they are."""
    word, _, by = state.partition(" by ")
    return word.strip().rstrip("+"), by.strip()


def wait_status(word: str) -> int | None:
    """Purpose: an exit status from a raw wait status (51200 is 200; 9 is -9, for signal 9), or from a pair as 24.11 prints it."""
    if ":" in word:
        return exit_pair(word)
    if not _is_number(word):
        return None
    raw = int(word)
    return -(raw & 0x7F) if raw & 0x7F else raw >> 8


def exit_pair(word: str) -> int | None:
    """Purpose: an exit status from "7:0", -9 from "0:9"."""
    code, _, signal = word.partition(":")
    if not _is_number(code) or not _is_number(signal or "0"):
        return None
    return -int(signal) if signal and int(signal) else int(code)


def seconds(word: str) -> float | None:
    return float(word) if _is_number(word) and int(word) > 0 else None


def duration(word: str) -> float | None:
    """Purpose: seconds from "2:03", "1:02:03" or "4-01:02:03"; None for anything else."""
    match = _DURATION.fullmatch(word)
    if match is None:
        return None
    days, hours, minutes, rest = (int(part or 0) for part in match.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + rest)


def last_words(text: str) -> Iterator[str]:
    """Purpose: what slurmstepd wrote into the job's own output about its end, in order."""
    for line in text.splitlines():
        match = re.search(r"\*\*\* JOB \d+ ON \S+ (.*?) \*\*\*", line)
        if match:
            yield clean(match[1])


def _word(text: str) -> str:
    return "" if text in _NOTHING else clean(text)


def _count(word: str) -> int | None:
    """A number of nodes, tasks or cores; None where there is none, for which Slurm may print the number NO_VAL."""
    return int(word) if _is_number(word) and int(word) < _NO_VALUE else None


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 19
