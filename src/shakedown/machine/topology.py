"""Sockets, cores, memory domains and caches, from /sys, or from /proc/cpuinfo where /sys says nothing of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from shakedown.machine.reading import Tree, processors, size_bytes, whole

_CPU = "sys/devices/system/cpu"
_NODE = "sys/devices/system/node"
_LAST_LEVEL_TYPES = ("Unified", "Data")


@dataclass(frozen=True, slots=True)
class Topology:
    """What of a machine may be used. ``cores`` are physical, ``numa`` counts memory domains with processors of ours.

    ``online`` counts the processors (hardware threads) of the whole machine, ``usable`` those we may run on.
    ``threads`` says how many cores have how many threads each, most threads first.
    """

    sockets: int
    cores: int
    numa: int
    last_level_cache_bytes: float
    online: int
    usable: int
    threads: tuple[tuple[int, int], ...]

    @property
    def threads_per_core(self) -> int:
        return self.threads[0][0]


def read_topology(tree: Tree, allowed: frozenset[int] | None) -> Topology:
    """Purpose: the topology as far as ``allowed`` processors reach (None: all that are online)."""
    online = _online(tree) or allowed or frozenset({0})
    usable = (online & allowed if allowed else online) or online
    cores = _cores(tree, usable)
    threads = Counter(cores.values())
    return Topology(
        sockets=max(1, _sockets(tree, usable)),
        cores=len(cores),
        numa=max(1, sum(1 for domain in _domains(tree) if domain & usable)),
        last_level_cache_bytes=_last_level_cache(tree, usable),
        online=len(online),
        usable=len(usable),
        threads=tuple(sorted(threads.items(), reverse=True)),
    )


def _online(tree: Tree) -> frozenset[int]:
    """Processors that are switched on: by the kernel's list, else by the directories, else by /proc/cpuinfo."""
    listed = processors(tree.text(f"{_CPU}/online"))
    present = frozenset(int(name[3:]) for name in tree.names(_CPU, r"cpu\d{1,5}"))
    return listed or present or frozenset(_blocks(tree))


def _cores(tree: Tree, usable: frozenset[int]) -> dict[frozenset[int] | tuple[str, str], int]:
    """Each physical core, named by the processors it holds, and how many of them are usable."""
    blocks = {} if tree.has(f"{_CPU}/cpu{min(usable)}/topology") else _blocks(tree)
    cores: Counter[frozenset[int] | tuple[str, str]] = Counter()
    for cpu in sorted(usable):
        topology = f"{_CPU}/cpu{cpu}/topology"
        siblings = processors(tree.text(f"{topology}/core_cpus_list") or tree.text(f"{topology}/thread_siblings_list"))
        block = blocks.get(cpu, {})
        if siblings:
            cores[siblings] += 1
        elif "core id" in block:
            cores[(block.get("physical id", "0"), block["core id"])] += 1
        else:
            cores[frozenset({cpu})] += 1
    return dict(cores)


def _sockets(tree: Tree, usable: frozenset[int]) -> int:
    """Packages that usable processors sit in. A kernel that does not know the package says -1: one package then."""
    packages = {tree.number(f"{_CPU}/cpu{cpu}/topology/physical_package_id") for cpu in usable}
    if packages == {None}:
        blocks = _blocks(tree)
        return len({blocks[cpu].get("physical id", "0") for cpu in usable if cpu in blocks})
    return len(packages - {None})


def _domains(tree: Tree) -> list[frozenset[int]]:
    """The processors of each memory domain; domains of memory alone hold none and do not count."""
    return [processors(tree.text(f"{_NODE}/{name}/cpulist")) for name in tree.names(_NODE, r"node\d{1,5}")]


def _last_level_cache(tree: Tree, usable: frozenset[int]) -> float:
    """The sum of the last-level caches that usable processors can reach, each counted once, in bytes."""
    total, covered = 0.0, set[int]()
    for cpu in sorted(usable):
        if cpu in covered:
            continue
        size, shared = _highest_cache(tree, f"{_CPU}/cpu{cpu}/cache")
        total += size
        covered |= shared
    return total


def _highest_cache(tree: Tree, path: str) -> tuple[float, frozenset[int]]:
    """Size and sharing processors of a processor's highest cache for data; (0, none) where the kernel names none."""
    highest, index = 0, ""
    for name in tree.names(path, r"index\d{1,2}"):
        level = tree.number(f"{path}/{name}/level") or 0
        if level > highest and tree.text(f"{path}/{name}/type") in _LAST_LEVEL_TYPES:
            highest, index = level, f"{path}/{name}"
    if not index:
        return 0.0, frozenset()
    return size_bytes(tree.text(f"{index}/size")), processors(tree.text(f"{index}/shared_cpu_list"))


def _blocks(tree: Tree) -> dict[int, dict[str, str]]:
    """/proc/cpuinfo by processor number: the fallback where /sys is hidden, as in some containers and sandboxes."""
    blocks: dict[int, dict[str, str]] = {}
    current: dict[str, str] = {}
    for line in tree.text("proc/cpuinfo").splitlines():
        key, _, value = (part.strip() for part in line.partition(":"))
        number = whole(value)
        if key == "processor" and number is not None:
            current = blocks.setdefault(number, {})
        current[key] = value
    return blocks
