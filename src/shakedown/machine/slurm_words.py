"""What Slurm's commands print, as plain data. Pure; odd lines are left out, fields that we do not know stay."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException
from ClusterShell.RangeSet import RangeSetException

_KEY = re.compile(r"(?:^|(?<=\s))([A-Z][A-Za-z0-9_]*)=")
_TIME = re.compile(r"(?:(\d{1,6})-)?(\d{1,6})(?::(\d{1,2}))?(?::(\d{1,2}))?")
_NOTHING = frozenset({"(null)", "N/A", "NONE", "n/a", "None"})
_MOST_NODES = 1_000_000


def records(text: str, first: str) -> list[dict[str, str]]:
    """Purpose: what ``scontrol -o show ...`` prints: a line for each thing, which begins with the key ``first``.

    Values may hold spaces. A key that comes again keeps its first value, since free texts (Reason, Comment) come last.
    """
    return [fields(line) for line in text.splitlines() if line.startswith(f"{first}=")]


def fields(line: str) -> dict[str, str]:
    """The ``Key=Value`` pairs of a line; "(null)" and the like read as "". Every value ends where the next key begins."""
    found: dict[str, str] = {}
    keys = list(_KEY.finditer(line))
    ends = [key.start() for key in keys[1:]] + [len(line)]
    for key, end in zip(keys, ends, strict=False):
        value = line[key.end() : end].strip()
        found.setdefault(key.group(1), "" if value in _NOTHING else value)
    return found


def settings(text: str) -> dict[str, str]:
    """The ``Key = Value`` lines of ``scontrol show config``; "(null)" reads as ""."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals:
            value = value.strip()
            found.setdefault(key.strip(), "" if value in _NOTHING else value)
    return found


def rows(text: str, columns: int) -> list[list[str]]:
    """The lines of a table with ``|`` between its columns; lines with another number of columns are no part of it."""
    split = [line.split("|") for line in text.splitlines()]
    return [[cell.strip() for cell in cells] for cells in split if len(cells) == columns]


def whole(text: str) -> int:
    """A whole number; 0 where the text is none, or too large to be meant."""
    return int(text) if re.fullmatch(r"[0-9]{1,15}", text) else 0


def seconds(text: str) -> float:
    """A limit of time in seconds; 0 where there is none. Formats: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S (man sbatch, --time)."""
    match = _TIME.fullmatch(text)
    if match is None:
        return 0.0
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    if days is not None:
        hours, minutes, rest = (*numbers, 0, 0)[:3]
    elif len(numbers) == 3:
        hours, minutes, rest = numbers
    else:
        hours, minutes, rest = 0, *(*numbers, 0)[:2]
    return float(int(days or 0) * 86400 + hours * 3600 + minutes * 60 + rest)


def mpi_types(text: str) -> tuple[str, ...]:
    """The types of ``srun --mpi=list``: one on each line below the heading, or, before Slurm 22, after "srun: "."""
    found: dict[str, None] = {}
    for line in text.splitlines():
        word = line.removeprefix("srun: ").strip()
        if re.fullmatch(r"[a-z][a-z0-9_]*", word):
            found[word] = None
        elif "specific pmix plugin" in word:
            found.update(dict.fromkeys(re.findall(r"pmix_v\d+", word)))
    return tuple(found)


def expand(text: str) -> list[str]:
    """The nodes of a folded set, in its order; none where it is not one, or holds too many to be one."""
    for low, high in re.findall(r"(\d+)-(\d+)", text):
        if len(low) > 15 or len(high) > 15 or int(high) - int(low) >= _MOST_NODES:
            return []
    try:
        return list(NodeSet(text, resolver=RESOLVER_NOGROUP))
    except (NodeSetException, RangeSetException):
        return []


def fold(names: Iterable[str]) -> str:
    """Names as a folded set: n[001-016]."""
    return str(NodeSet.fromlist(names, resolver=RESOLVER_NOGROUP))
