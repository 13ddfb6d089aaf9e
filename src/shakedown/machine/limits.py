"""What control groups allow this process: processor time and memory, versions 1 and 2 of their files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from shakedown.machine.reading import Tree, whole

_NO_LIMIT = 2**60  # version 1 writes "no limit" as a number near 2^63


@dataclass(frozen=True, slots=True)
class Limits:
    """``processors``: how many processors' worth of time; ``memory_bytes``: how much memory; None: no limit."""

    processors: float | None = None
    memory_bytes: float | None = None


def read_limits(tree: Tree) -> Limits:
    """Purpose: the tightest limits of the process's control group and every group above it."""
    times: list[float] = []
    memories: list[float] = []
    for directory in _directories(tree):
        times += _time(tree, directory)
        memories += _memory(tree, directory)
    return Limits(min(times, default=None), min(memories, default=None))


def _directories(tree: Tree) -> list[str]:
    """The group's directories and those above it, under every controller that limits time or memory.

    A container without a name space of its own is told its path outside, which does not exist inside; walking up
    from there ends at the mount's root, which is the container's own group.
    """
    found: dict[str, None] = {}
    for line in tree.text("proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for mount in _mounts(controllers):
            inside = "" if ".." in path else path.lstrip("/")
            group = PurePosixPath("/", inside)
            for step in (group, *group.parents):
                found[f"{mount}{step}".rstrip("/")] = None
    return list(found)


def _mounts(controllers: str) -> list[str]:
    """Where the groups of a line of /proc/self/cgroup are mounted. An empty list of controllers is version 2."""
    base = "sys/fs/cgroup"
    if not controllers:
        return [base, f"{base}/unified"]
    wanted = {"cpu", "memory"} & set(controllers.split(","))
    return [f"{base}/{name}" for name in sorted({controllers, *wanted})] if wanted else []


def _time(tree: Tree, directory: str) -> list[float]:
    """Version 2: "200000 100000" or "max 100000". Version 1: two files, quota -1 for no limit."""
    words = tree.text(f"{directory}/cpu.max").split()
    if len(words) == 2:
        quota, period = whole(words[0]), whole(words[1])
    else:
        quota, period = tree.number(f"{directory}/cpu.cfs_quota_us"), tree.number(f"{directory}/cpu.cfs_period_us")
    return [quota / period] if quota and period and quota > 0 and period > 0 else []


def _memory(tree: Tree, directory: str) -> list[float]:
    sizes = (tree.number(f"{directory}/memory.max"), tree.number(f"{directory}/memory.limit_in_bytes"))
    return [float(size) for size in sizes if size is not None and 0 < size < _NO_LIMIT]
