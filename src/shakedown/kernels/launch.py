"""Starting a kernel under mpiexec and reading its records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from shakedown.kernels.compilers import find_mpiexec

Record = dict[str, Any]

DEFAULT_RANKS = {"stream": 1}
OTHERWISE_RANKS = 2


def default_ranks(name: str) -> int:
    """Purpose: how many ranks show something on one machine: threads fill it for stream, the others need partners."""
    return DEFAULT_RANKS.get(name, OTHERWISE_RANKS)


def launch_kernel(program: Path, ranks: int, arguments: Sequence[str], capture: bool) -> tuple[int, str]:
    """Purpose: run the program to its end. Returns the exit status and, where captured, its standard output.

    An interrupt reaches the kernel too, which then stops and reports what it has: wait for that; a second one is final.
    """
    import subprocess

    command = [str(find_mpiexec()), "-n", str(ranks), str(program), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE if capture else None, text=True, errors="replace")
    try:
        output, _ = process.communicate()
    except KeyboardInterrupt:
        try:
            output, _ = process.communicate(timeout=15)
        except (KeyboardInterrupt, subprocess.TimeoutExpired):
            process.kill()
            raise
    return process.returncode, output or ""


def read_records(output: str) -> tuple[list[Record], list[str]]:
    """Purpose: the records of an output, and the lines that are none."""
    records: list[Record] = []
    others: list[str] = []
    for line in output.splitlines():
        record = _record(line)
        if record is not None:
            records.append(record)
        elif line.strip():
            others.append(line)
    return records, others


def is_complete(records: Iterable[Record]) -> bool:
    """Purpose: whether the last record says that everything was measured."""
    return any(r["record"] == "end" and r.get("complete") is True for r in records)


def _record(line: str) -> Record | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("record"), str) else None
