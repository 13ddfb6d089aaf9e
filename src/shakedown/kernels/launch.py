"""Starting a kernel under mpiexec and reading its records."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shakedown.kernels.compilers import find_mpiexec

Record = dict[str, Any]

DEFAULT_RANKS = {"stream": 1}
OTHERWISE_RANKS = 2
STOPS_WITHIN_S = 15.0  # a kernel that was interrupted
_LOOK_S = 0.5


def default_ranks(name: str) -> int:
    """Purpose: how many ranks show something on one machine: threads fill it for stream, the others need partners."""
    return DEFAULT_RANKS.get(name, OTHERWISE_RANKS)


def launch_kernel(program: Path, ranks: int, arguments: Sequence[str], capture: bool) -> tuple[int, str]:
    """Purpose: run the program to its end. Returns the exit status and, where captured, its standard output.

    An interrupt reaches the kernel too, which then stops and reports what it has: wait for that; a second one is final, and raises
    KeyboardInterrupt, as does a kernel that does not stop.
    """
    import subprocess

    command = [str(find_mpiexec()), "-n", str(ranks), str(program), *arguments]
    with _counted_interrupts() as interrupts:
        process = subprocess.Popen(command, stdout=subprocess.PIPE if capture else None, text=True, errors="replace")
        while True:
            try:
                output, _ = process.communicate(timeout=_LOOK_S)
                break
            except subprocess.TimeoutExpired:
                if len(interrupts) > 1 or (interrupts and time.monotonic() > interrupts[0] + STOPS_WITHIN_S):
                    process.kill()
                    process.communicate()
                    raise KeyboardInterrupt from None
    return process.returncode, output or ""


@contextmanager
def _counted_interrupts() -> Iterator[list[float]]:
    """When Ctrl-C came, instead of KeyboardInterrupt.

    That may be raised between any two lines of ``subprocess``, also when a child was collected and its status not noted yet: then
    it is lost, and a kernel that crashed would pass for one that ended with status 0.
    """
    times: list[float] = []
    try:
        before = signal.signal(signal.SIGINT, lambda number, frame: times.append(time.monotonic()))
    except ValueError:  # not the main thread: nothing is raised here
        yield times
        return
    try:
        yield times
    finally:
        signal.signal(signal.SIGINT, before)


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


def ended_early(records: Sequence[Record]) -> bool:
    """Purpose: whether the kernel says that its budget or a signal ended it; not so where it refused or failed."""
    return not is_complete(records) and any(r["record"] == "end" and "reason" in r for r in records)


def _record(line: str) -> Record | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("record"), str) else None
