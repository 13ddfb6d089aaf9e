"""Whether a machine has what its system file says: a run that is bound to cores which are not there measures its neighbour."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from shakedown.machine.limits import read_limits
from shakedown.machine.reading import Tree, size_bytes
from shakedown.model.nouns import NodeType
from shakedown.model.units import show_bytes

_ROUNDED = 0.95  # a file says "24 GB" of 23.5 GiB, and the kernel keeps some for itself


@dataclass(frozen=True, slots=True)
class Room:
    """What this process may use. ``threads``: hardware threads; ``processors``: processors' worth of time, None for no limit;
    ``memory_bytes`` 0 where nobody says.
    """

    online: int
    threads: int
    processors: float | None
    memory_bytes: float

    def lacking(self, node: NodeType) -> str:
        """Purpose: what of a node type is not there, as a sentence, or ""."""
        if self.threads < node.cores:
            return (
                f"it says {node.cores} cores, and of this machine's {self.online} processors this process may use {self.threads} "
                "(taskset, a cpuset, or a container narrows it)"
            )
        if self.processors is not None and max(1, int(self.processors)) < node.cores:
            return (
                f"it says {node.cores} cores, and the control group that this process is in may use the time of "
                f"{self.processors:g} processors"
            )
        if 0 < self.memory_bytes < _ROUNDED * node.memory_bytes:
            has, says = show_bytes(self.memory_bytes), show_bytes(node.memory_bytes)
            return f"it says {says} of memory, and this process may use {has} (a smaller machine, or a control group)"
        return ""


def room_here(root: Path = Path("/"), allowed: frozenset[int] | None = None) -> Room:
    """Purpose: what this process may use now. ``allowed``: the processors that it may run on, None asks the kernel."""
    tree = Tree(root)
    allowed = allowed if allowed is not None else frozenset(os.sched_getaffinity(0))
    limits = read_limits(tree)
    total = next(
        (
            size_bytes(line.partition(":")[2].strip())
            for line in tree.text("proc/meminfo", limit=4096).splitlines()
            if line.startswith("MemTotal:")
        ),
        0.0,
    )
    memory = min(total or limits.memory_bytes or 0.0, limits.memory_bytes or total)
    return Room(max(os.cpu_count() or 1, len(allowed)), len(allowed), limits.processors, memory)
