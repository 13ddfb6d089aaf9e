"""The partitions on which cases can run, each with the names that expressions may use there."""

from __future__ import annotations

from dataclasses import dataclass

from shakedown.model.dialects import dialects
from shakedown.model.nouns import Loads, NodeType, Partition, System, Toolchain
from shakedown.plans.schema.expressions import ExpressionError, Value, fill
from shakedown.plans.system_parts import IN_CAMPAIGN, OF_A_NODE

FILESYSTEMS = "filesystems"  # as a parameter's value it stands for each of them


class Names(dict[str, Value]):
    """Names with values; ``pending`` ones are texts with expressions, filled in when they are first asked for."""

    __slots__ = ("pending",)

    def __init__(self, known: dict[str, Value], pending: dict[str, str | None]) -> None:
        super().__init__(known)
        self.pending = pending

    def __missing__(self, name: str) -> Value:
        text = self.pending[name]  # KeyError: an unknown name
        if text is None:
            raise ExpressionError(f"'{name}' depends on itself")
        self.pending[name] = None
        self[name] = value = fill(text, self)
        return value

    def used(self, name: str) -> bool:
        """Whether a pending name was asked for."""
        return dict.__contains__(self, name)

    def known(self) -> list[str]:
        return sorted({*self, *self.pending})


@dataclass(frozen=True, slots=True)
class Stage:
    """One partition. ``suffix`` ends the ids of cases where there are several partitions.

    ``within``: an earlier partition of the cluster that has all its nodes; it is then only used where it is named.
    """

    partition: Partition
    node: NodeType
    local: bool
    suffix: str
    names: dict[str, Value]
    launch: str
    licences: Loads = ()  # of its cluster
    within: str = ""

    @property
    def id(self) -> str:
        return f"{self.partition.cluster}:{self.partition.name}"


def stages_of(system: System) -> list[Stage]:
    """Purpose: the partitions of a system, in its order."""
    partitions = system.partitions()
    return [
        Stage(
            partition=partition,
            node=(node := system.node_type(partition.type)),
            local=cluster.embedded,
            suffix=_suffix(partition, partitions),
            names=_names(system, partition, node),
            launch=dialects()[cluster.scheduler].launch,
            licences=cluster.licences,
            within=_within(partition, cluster.partitions[:number]),
        )
        for cluster in system.clusters
        for number, partition in enumerate(cluster.partitions)
    ]


def named_only(system: System) -> dict[str, str]:
    """Purpose: the partitions that are only used where they are named, by id, with the partition that has their nodes."""
    return {
        f"{cluster.name}:{partition.name}": within
        for cluster in system.clusters
        for number, partition in enumerate(cluster.partitions)
        if (within := _within(partition, cluster.partitions[:number]))
    }


def toolchain_names(toolchain: Toolchain) -> dict[str, str]:
    """What expressions call a toolchain's compilers; as pending names, so that it shows which were used."""
    compilers = {"cc": toolchain.cc, "cxx": toolchain.cxx, "fc": toolchain.fc}
    return {f"toolchain.{name}": text.replace("{", "{{").replace("}", "}}") for name, text in compilers.items()}


def _suffix(partition: Partition, partitions: tuple[Partition, ...]) -> str:
    if len(partitions) == 1:
        return ""
    alike = sum(other.name == partition.name for other in partitions)
    return f"@{partition.name}" if alike == 1 else f"@{partition.cluster}:{partition.name}"


def _within(partition: Partition, earlier: tuple[Partition, ...]) -> str:
    """The first of the earlier partitions that has all the nodes of this one, or ""."""
    if not earlier:
        return ""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet  # only where there are several partitions

    own = NodeSet(partition.nodes, resolver=RESOLVER_NOGROUP)
    for other in earlier:
        same = other.nodes == partition.nodes
        if same or (partition.count <= other.count and own <= NodeSet(other.nodes, resolver=RESOLVER_NOGROUP)):
            return other.name
    return ""


def _names(system: System, partition: Partition, node: NodeType) -> dict[str, Value]:
    return {
        "node.cores": node.cores,
        "node.sockets": node.sockets,
        "node.numa": node.numa,
        "node.threads_per_core": node.threads_per_core,
        "node.memory": _whole(node.memory_bytes),
        "node.gpus": node.gpus.count,
        "gpu.model": node.gpus.model,
        "gpu.memory": _whole(node.gpus.memory_bytes),
        "gpu.numa": ",".join(map(str, node.gpus.numa)),
        **({"node.peak": node.peak_flop_per_s} if node.peak_flop_per_s else {}),
        "system": system.name,
        "partition": partition.name,
        "partition.nodes": min(partition.count, partition.most_nodes or partition.count),
        FILESYSTEMS: ",".join((IN_CAMPAIGN, *shared_filesystems(system))),
    }


def shared_filesystems(system: System) -> list[str]:
    """Purpose: the file systems that any test can work on: with a path, of no node alone, and without a target to be chosen."""
    return [
        entry.name for entry in system.filesystems if entry.path and entry.kind != OF_A_NODE and "{" not in entry.path
    ]


def _whole(count: float) -> Value:
    return int(count) if count == int(count) else count
