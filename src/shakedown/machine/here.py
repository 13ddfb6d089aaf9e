"""The machine this runs on, as a System named ``here``: what ``system: here`` in a plan means."""

from __future__ import annotations

import functools
import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

from shakedown.machine.facts import found_facts
from shakedown.machine.limits import Limits, read_limits
from shakedown.machine.reading import Tree, size_bytes
from shakedown.machine.software import ask_here, search_here, software_facts, toolchains_found
from shakedown.machine.topology import Topology, read_topology
from shakedown.model.nouns import Cluster, NodeType, Pairs, Partition, System, Toolchain

_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class Machine:
    """One node as probed: its type and what was found, in words."""

    node: NodeType
    found: Pairs


@functools.cache
def this_system() -> System:
    """Purpose: this machine as a System. It is looked at once: a command that asks again gets the same answer."""
    machine = probe(Path("/"), _affinity(), _cpu_name())
    host = host_name(platform.node())
    found = (
        ("host", host),
        ("architecture", platform.machine()),
        *machine.found,
        *software_facts(search_here, ask_here),
    )
    toolchains = toolchains_found(search_here)
    return local_system("here", host, machine.node, "the machine this runs on, as found", toolchains, found)


def probe(root: Path, allowed: frozenset[int] | None = None, cpu: str = "") -> Machine:
    """Purpose: what the files below ``root`` (/sys, /proc, /etc) say of a machine.

    ``allowed`` are the processors that we may run on, None for all. Control groups narrow cores and memory further.
    ``cpu`` is the name of the processor's architecture, which is not asked of files. Missing files never fail.
    """
    tree = Tree(root)
    topology, limits = read_topology(tree, allowed), read_limits(tree)
    return Machine(_node(topology, limits, _memory(tree), cpu), found_facts(tree, topology, limits))


def local_system(
    name: str, host: str, node: NodeType, about: str, toolchains: tuple[Toolchain, ...], found: Pairs
) -> System:
    """One node behind the local scheduler: cluster ``local``, partition ``all``."""
    partition = Partition("all", "local", host, 1, node.name)
    return System(
        name=name,
        clusters=(Cluster("local", "local", (partition,)),),
        node_types=(node,),
        about=about,
        toolchains=toolchains,
        found=found,
    )


def host_name(name: str) -> str:
    """A host's name where it can stand in a node set; ``localhost`` where it holds brackets, spaces and the like."""
    return name if _HOST.fullmatch(name) else "localhost"


def _node(topology: Topology, limits: Limits, memory_bytes: float, cpu: str) -> NodeType:
    """The node type ``host``. Half a processor's time still makes one core: less cannot be counted."""
    cores = topology.cores
    if limits.processors is not None:
        cores = max(1, min(cores, int(limits.processors)))
    if limits.memory_bytes is not None:
        memory_bytes = min(memory_bytes or limits.memory_bytes, limits.memory_bytes)
    return NodeType(
        name="host",
        sockets=min(topology.sockets, cores),
        cores=cores,
        threads_per_core=topology.threads_per_core,
        numa=min(topology.numa, cores),
        memory_bytes=memory_bytes,
        cpu=cpu,
        last_level_cache_bytes=topology.last_level_cache_bytes,
    )


def _memory(tree: Tree) -> float:
    """The machine's memory in bytes, by the kernel's own sum: domains may leave out what was plugged in later."""
    for line in tree.text("proc/meminfo", limit=4096).splitlines():
        key, _, value = line.partition(":")
        if key == "MemTotal":
            return size_bytes(value.strip())
    return 0.0


def _affinity() -> frozenset[int] | None:
    """The processors this process may run on; None on systems that cannot say."""
    try:
        return frozenset(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        count = os.cpu_count()
        return frozenset(range(count)) if count else None


def _cpu_name() -> str:
    """The name that archspec gives the processor's architecture (zen3, neoverse_v2), "" where it cannot tell.

    It reads files and instructions of processors that did not exist when it was written, and a guess without it is
    only a missing word; so whatever goes wrong in there must not stop a campaign.
    """
    try:
        import archspec.cpu

        return str(archspec.cpu.host().name)
    except Exception:  # noqa: BLE001 - see above
        return ""
