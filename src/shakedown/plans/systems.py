"""A system's file into the noun."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any

from yaml.nodes import MappingNode

from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Cluster, FileSystem, NodeType, Partition, System, Toolchain
from shakedown.plans.kinds import Wrong
from shakedown.plans.places import place
from shakedown.plans.problems import Problems
from shakedown.plans.tables import SYSTEM

_RANGE = re.compile(r"(\d+)-(\d+)")
_NODE_SET = re.compile(r"[A-Za-z0-9_.,\[\]/-]+")
_MOST_NODES = 1_000_000


@dataclass(frozen=True, slots=True)
class Machine:
    """A system, and the dimension of each of its budgets (bytes/s, number), which its numbers no longer show."""

    system: System
    dimensions: dict[str, str] = field(default_factory=dict)
    file: str = ""  # its name; "" for the machine as found
    sha256: str = ""


def system_from(root: MappingNode, data: bytes, name: str, problems: Problems) -> Machine | None:
    """Purpose: the system that the file ``name`` with this content describes, or None where ``problems`` has grown."""
    before = len(problems)
    values = SYSTEM.read(root, "", problems)
    if values is None or len(problems) > before:
        return None
    if values["system"] == "here":
        at = place(root, "system")
        problems.at(at, "'here' is no name for a system: it always means the machine that a command runs on")
    clusters = _clusters(root, values, problems)
    _check_filesystems(root, values.get("filesystems", {}), problems)
    if not any(cluster.partitions for cluster in clusters):
        problems.at(place(root, "clusters"), "the system has no partition", "jobs are sent to one")
    if len(problems) > before:
        return None
    budgets = values.get("budgets", {})
    system = System(
        name=values["system"],
        clusters=clusters,
        node_types=tuple(_node_type(name, kind) for name, kind in values["node_types"].items()),
        about=values.get("about", ""),
        network=tuple(values.get("network", {}).items()),
        filesystems=tuple(_filesystem(name, entry) for name, entry in values.get("filesystems", {}).items()),
        toolchains=tuple(_toolchain(name, entry) for name, entry in values.get("toolchains", {}).items()),
        budgets=tuple((name, amount.base) for name, amount in budgets.items()),
        found=tuple(values.get("found", {}).items()),
        fingerprint=tuple(values.get("fingerprint", {}).items()),
    )
    dimensions = {name: amount.dimension for name, amount in budgets.items()}
    return Machine(system, dimensions, name, hashlib.sha256(data).hexdigest())


def count_nodes(text: str) -> int:
    """Purpose: how many nodes a folded node set holds. Raises Wrong."""
    if _NODE_SET.fullmatch(text) is None:
        raise Wrong(f"'{text}' is not a node set", "write names and ranges, such as n[001-128],login1")
    for low, high in _RANGE.findall(text):
        if len(low) > 15 or len(high) > 15 or int(high) - int(low) >= _MOST_NODES:
            raise Wrong(f"'{text}' holds more than {_MOST_NODES} nodes")
    if "[" not in text and "]" not in text and "," not in text:
        return 1
    return _count_folded(text)


def _count_folded(text: str) -> int:
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException
    from ClusterShell.RangeSet import RangeSetException

    try:
        count = len(NodeSet(text, resolver=RESOLVER_NOGROUP))
    except (NodeSetException, RangeSetException) as error:
        raise Wrong(f"'{text}' is not a node set", "write names and ranges, such as n[001-128],login1") from error
    if not count:
        raise Wrong(f"'{text}' holds no node")
    return count


def _clusters(root: MappingNode, values: dict[str, Any], problems: Problems) -> tuple[Cluster, ...]:
    clusters = []
    for name, entry in values["clusters"].items():
        partitions = [
            _partition(root, name, partition, values["node_types"], entry["scheduler"], problems)
            for partition in entry["partitions"].items()
        ]
        clusters.append(Cluster(name, entry["scheduler"], tuple(partitions)))
    return tuple(clusters)


def _partition(
    root: MappingNode,
    cluster: str,
    written: tuple[str, dict[str, str]],
    types: dict[str, Any],
    scheduler: str,
    problems: Problems,
) -> Partition:
    name, entry = written
    path, count = ("clusters", cluster, "partitions", name), 0
    if entry["type"] not in types:
        near = did_you_mean(entry["type"], types) or f"there are: {', '.join(types) or 'none'}"
        problems.at(place(root, *path, "type"), f"there is no node type '{entry['type']}'", near)
    try:
        count = count_nodes(entry["nodes"])
        if scheduler == "local" and count > 1:
            raise Wrong(f"the local scheduler runs on one node, not on {count}", "scheduler: slurm")
    except Wrong as error:
        problems.at(place(root, *path, "nodes"), str(error), error.hint)
    return Partition(name, cluster, entry["nodes"], count, entry["type"])


def _check_filesystems(root: MappingNode, written: dict[str, Any], problems: Problems) -> None:
    """What stands in braces in a path is a class of targets."""
    for name, entry in written.items():
        targets = entry.get("targets", {})
        for word in re.findall(r"\{([^{}]*)\}", entry.get("path", "")):
            if word not in targets:
                near = did_you_mean(word, targets) or f"there are: {', '.join(targets) or 'none'}"
                at = place(root, "filesystems", name, "path")
                problems.at(at, f"'{{{word}}}' is no class of targets of file system {name}", near)


def _node_type(name: str, entry: dict[str, Any]) -> NodeType:
    return NodeType(
        name=name,
        sockets=entry.get("sockets", 1),
        cores=entry["cores"],
        threads_per_core=entry.get("threads_per_core", 1),
        numa=entry.get("numa", 1),
        memory_bytes=entry.get("memory", 0.0),
        peak_flop_per_s=entry.get("peak", 0.0),
        cpu=entry.get("cpu", ""),
        last_level_cache_bytes=entry.get("cache", 0.0),
    )


def _filesystem(name: str, entry: dict[str, Any]) -> FileSystem:
    targets = tuple((kind, tuple(names)) for kind, names in entry.get("targets", {}).items())
    return FileSystem(name, entry.get("kind", ""), entry.get("path", ""), targets)


def _toolchain(name: str, entry: dict[str, Any]) -> Toolchain:
    usual = Toolchain(name)
    return Toolchain(
        name=name,
        modules=tuple(entry.get("modules", ())),
        cc=entry.get("cc", usual.cc),
        cxx=entry.get("cxx", usual.cxx),
        fc=entry.get("fc", usual.fc),
        environment=tuple(entry.get("environment", {}).items()),
    )
