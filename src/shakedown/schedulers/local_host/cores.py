"""Which hardware threads form a core, and which cores are free."""

from __future__ import annotations

import os
from pathlib import Path

from shakedown.schedulers.local_host.slots import FreeSlots

_TOPOLOGY = Path("/sys/devices/system/cpu")


class Cores(FreeSlots):
    """The core slots of this machine. A slot is the set of hardware threads that a job which has it may use."""

    def __init__(self, count: int | None = None, topology: Path = _TOPOLOGY) -> None:
        """``count``: how many cores the site's file names; None: all that this process may use."""
        self._slots = core_slots(sorted(os.sched_getaffinity(0)), count, topology)
        super().__init__(len(self._slots))
        self._sets: dict[tuple[int, ...], frozenset[int]] = {}

    def cpus(self, slots: tuple[int, ...]) -> frozenset[int]:
        """The hardware threads of these slots."""
        if slots not in self._sets:
            self._sets[slots] = frozenset().union(*(self._slots[slot] for slot in slots))
        return self._sets[slots]


def core_slots(cpus: list[int], count: int | None, topology: Path = _TOPOLOGY) -> list[frozenset[int]]:
    """Purpose: the hardware threads of each of ``count`` slots, out of the ``cpus`` that may be used.

    A slot is a whole core with all its threads, as long as there are enough. Otherwise a slot is one thread; threads are used more
    than once where the site's file names more cores than may be used.
    """
    cores = sorted({frozenset(_siblings(cpu, topology)) & frozenset(cpus) for cpu in cpus}, key=min)
    if count is None:
        return cores
    if count <= len(cores):
        return cores[:count]
    return [frozenset({cpus[slot % len(cpus)]}) for slot in range(count)]


def _siblings(cpu: int, topology: Path) -> set[int]:
    """The hardware threads of the core that ``cpu`` belongs to, from a list such as "0,64" or "0-1"."""
    try:
        text = (topology / f"cpu{cpu}/topology/thread_siblings_list").read_text()
        found: set[int] = set()
        for part in text.strip().split(","):
            first, _, last = part.partition("-")
            found.update(range(int(first), int(last or first) + 1))
    except (OSError, ValueError):
        return {cpu}
    return found | {cpu}
