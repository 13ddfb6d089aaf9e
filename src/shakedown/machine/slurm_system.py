"""What Slurm's commands said of one or several clusters, as a System with remarks for the person who keeps the file. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shakedown.machine.slurm_limits import job_limits
from shakedown.machine.slurm_nodes import Kind, kinds_of, out_of_service, usable_name
from shakedown.machine.slurm_partitions import Described, partitions_of
from shakedown.machine.slurm_words import expand, records, settings, whole
from shakedown.machine.writing import Remarks
from shakedown.model.errors import UsageError
from shakedown.model.nouns import Cluster, FileSystem, Pairs, System, Toolchain

# the type of srun's --mpi that ranks of an MPI find each other by
_WANTED = {"mpich": ("pmi2", "pmix"), "intel": ("pmi2", "pmix"), "openmpi": ("pmix",), "mvapich": ("pmi2", "pmix")}


@dataclass(frozen=True, slots=True)
class Said:
    """What the commands printed of one cluster; "" where accounting does not answer. ``account``: the person's default one."""

    config: str
    nodes: str
    partitions: str
    licences: str = ""
    associations: str = ""
    qos: str = ""
    account: str = ""


@dataclass(frozen=True, slots=True)
class Around:
    """What this host adds: compilers, MPI, file systems, the types of ``srun --mpi``, and clusters that accounting knows."""

    toolchains: tuple[Toolchain, ...] = ()
    filesystems: tuple[FileSystem, ...] = ()
    mpi_types: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    found: Pairs = ()


@dataclass(frozen=True, slots=True)
class Drafted:
    """A system to be written, what was found, and what a person has to look at; each a sentence."""

    system: System
    remarks: Remarks
    found: tuple[str, ...]
    look_at: tuple[str, ...]


def drafted(said: Sequence[Said], around: Around) -> Drafted:
    """Purpose: the system of these clusters, named after them. Errors: UsageError where one has no nodes or partitions."""
    configs = [settings(each.config) for each in said]
    names = [config.get("ClusterName", "") or "cluster" for config in configs]
    nodes = [records(each.nodes, "NodeName") for each in said]
    kinds = kinds_of(nodes)
    parts = [
        partitions_of(name, number, records(each.partitions, "PartitionName"), kinds)
        for number, (name, each) in enumerate(zip(names, said, strict=True))
    ]
    for name, described in zip(names, parts, strict=True):
        _check(name, described)
    limits = [
        job_limits(each.associations, each.qos, config.get("AccountingStorageEnforce", ""), each.account)
        for each, config in zip(said, configs, strict=True)
    ]
    licences = [_licences(each.licences) for each in said]
    clusters = tuple(
        Cluster(name, "slurm", described.partitions, licences=tuple(owned), most_jobs=limit.most)
        for name, described, (owned, _), limit in zip(names, parts, licences, limits, strict=True)
    )
    used = {partition.type for cluster in clusters for partition in cluster.partitions}
    kinds = [kind for kind in kinds if kind.type.name in used]
    out = [sentence for records_of_one in nodes for sentence in out_of_service(records_of_one)]
    notes = [note for described in parts for note in described.left_out] + [n for _, ns in licences for n in ns]
    system = _system(clusters, kinds, around, _facts(configs, names, around))
    remarks = Remarks(
        head=(*_on_service(out), *notes),
        clusters={name: (limit.why, *limit.remarks) for name, limit in zip(names, limits, strict=True)},
        partitions={
            f"{name}:{partition}": text
            for name, described in zip(names, parts, strict=True)
            for partition, text in described.remarks
        },
        node_types={kind.type.name: _on_kind(kind) for kind in kinds},
    )
    return Drafted(system, remarks, _found(system), tuple(_look_at(system, out, notes, parts, around)))


def _check(cluster: str, described: Described) -> None:
    if not usable_name(cluster):
        raise UsageError(f"cluster '{cluster}' has a name that systems cannot have", "describe it by hand in systems/")
    if not described.partitions:
        why = "; ".join(described.left_out) or "scontrol shows no partition"
        raise UsageError(f"cluster {cluster} has no partition that jobs can be sent to: {why}", "ask whoever runs it")


def _licences(text: str) -> tuple[list[tuple[str, float]], list[str]]:
    """The licences that can be charged, in the order of names, and those that are left out."""
    known: list[tuple[str, float]] = []
    left_out: list[str] = []
    for record in records(text, "LicenseName"):
        name, total = record["LicenseName"], whole(record.get("Total", ""))
        if not usable_name(name):
            left_out.append(f"licence {name} is left out: its name cannot be one of ours")
        elif not total:
            left_out.append(f"licence {name} is left out: there is none of it")
        else:
            known.append((name, float(total)))
    return known, left_out


def _facts(configs: list[dict[str, str]], names: list[str], around: Around) -> Pairs:
    """What the report tells of the scheduler, and what this host adds."""
    facts: list[tuple[str, str]] = []
    for name, config in zip(names, configs, strict=True):
        prefix = f"{name}: " if len(names) > 1 else ""
        facts += [
            (f"{prefix}slurm", config.get("SLURM_VERSION", "")),
            (f"{prefix}accounting", config.get("AccountingStorageType", "").rpartition("/")[2]),
            (f"{prefix}finished jobs are remembered for", config.get("MinJobAge", "")),
            (f"{prefix}jobs the controller holds at most", config.get("MaxJobCount", "")),
        ]
    facts.append(("mpi types of srun", ", ".join(around.mpi_types)))
    return (*((key, value) for key, value in facts if value), *around.found)


def _system(clusters: tuple[Cluster, ...], kinds: list[Kind], around: Around, found: Pairs) -> System:
    names = [cluster.name for cluster in clusters]
    plural, them = ("s", "them") if len(names) > 1 else ("", "it")
    return System(
        name="-".join(names),
        clusters=clusters,
        node_types=tuple(kind.type for kind in kinds),
        about=f"Slurm cluster{plural} {', '.join(names)}, as scontrol described {them}",
        filesystems=around.filesystems,
        toolchains=around.toolchains,
        found=found,
    )


def _on_service(out: list[str]) -> list[str]:
    """The head of the file on nodes that cannot run jobs now."""
    if not out:
        return []
    more = [f"  and {len(out) - 20} more states and reasons"] if len(out) > 20 else []
    said = "Out of service when this was written, and part of the machine all the same:"
    return [said, *(f"  {sentence}" for sentence in out[:20]), *more]


def _on_kind(kind: Kind) -> tuple[str, ...]:
    said = []
    if kind.make.cores < kind.make.all_cores:
        said.append(f"{kind.make.all_cores} cores, of which Slurm gives {kind.make.cores} to jobs")
    if kind.make.architecture:
        said.append(f"Arch={kind.make.architecture}")
    if kind.make.gres:
        said.append(f"Gres={kind.make.gres}")
    if kind.some:
        said.append(f"features that only some of them have: {', '.join(kind.some)}")
    return tuple(said)


def _found(system: System) -> tuple[str, ...]:
    """A sentence on each cluster."""
    lines = []
    for cluster in system.clusters:
        nodes = {node for partition in cluster.partitions for node in expand(partition.nodes)}
        types = {partition.type for partition in cluster.partitions}
        parts = ", ".join(partition.name for partition in cluster.partitions)
        line = f"cluster {cluster.name}: {_many(len(nodes), 'node')} of {_many(len(types), 'type')}; partitions {parts}"
        if cluster.licences:
            line += f"; licences {', '.join(f'{name} ({total:g})' for name, total in cluster.licences)}"
        if cluster.most_jobs:
            line += f"; at most {cluster.most_jobs} jobs at once"
        lines.append(line)
    return tuple(lines)


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _look_at(system: System, out: list[str], notes: list[str], parts: list[Described], around: Around) -> list[str]:
    """Points that a person should check before the first campaign."""
    look = [f"out of service now: {sentence}" for sentence in out[:5]]
    look += [f"and {len(out) - 5} more states and reasons"] if len(out) > 5 else []
    look += notes
    look += [f"partition {name}: {text}" for each in parts for name, text in each.remarks if "mixes" in text]
    look.append("numa, cpu, cache and peak of the node types: Slurm does not say")
    look += [
        f"gpus of node type {kind.name}: Slurm does not say their memory"
        + ("" if kind.gpus.model else ", nor what they are")
        for kind in system.node_types
        if kind.gpus.count
    ]
    if system.toolchains:
        look.append("modules of the toolchains: their compilers are those that are on the path now")
    else:
        look.append("toolchains: no compiler is on the path now")
    look += [_unstartable(tool, around.mpi_types) for tool in _without_type(system.toolchains, around.mpi_types)][:1]
    if system.filesystems:
        look.append("path of each file system: a directory that you may write to")
    others = [name for name in around.clusters if name not in {cluster.name for cluster in system.clusters}]
    if others:
        look.append(f"accounting knows other clusters too: {', '.join(others)} (init --clusters NAME,NAME)")
    return look


def _without_type(toolchains: Sequence[Toolchain], types: Sequence[str]) -> list[Toolchain]:
    return [tool for tool in toolchains if types and tool.mpi in _WANTED and not set(_WANTED[tool.mpi]) & set(types)]


def _unstartable(tool: Toolchain, types: Sequence[str]) -> str:
    wanted = " or ".join(_WANTED[tool.mpi])
    return f"srun cannot start {tool.mpi}: it needs --mpi={wanted}, and srun has {', '.join(types)}"
