"""A System as the YAML a person would write, with comments that say what to look at."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from shakedown.model.nouns import Cluster, FileSystem, NodeType, Pairs, Partition, System, Toolchain
from shakedown.model.units import show_bytes

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./+-]*( [A-Za-z0-9_./+-]+)*")
_WORDS_OF_YAML = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_LONGEST = 300  # characters of a comment whose text comes from elsewhere
_TIMES = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


@dataclass(frozen=True, slots=True)
class Remarks:
    """What to say beside the values: at the head, on a cluster's jobs, a partition ("cluster:partition"), a node type."""

    head: tuple[str, ...] = ()
    clusters: dict[str, tuple[str, ...]] = field(default_factory=dict)
    partitions: dict[str, str] = field(default_factory=dict)
    node_types: dict[str, tuple[str, ...]] = field(default_factory=dict)


NO_REMARKS = Remarks()


def system_yaml(system: System, remarks: Remarks = NO_REMARKS) -> str:
    """Purpose: the text of ``systems/NAME.yaml``. Sizes are rounded to a tenth of their unit, as people write them."""
    local = all(cluster.embedded for cluster in system.clusters)
    lines = [
        f"# {system.about[:1].upper()}{system.about[1:]}.",
        "# Tests and plans take every number of a machine from here: correct what is wrong, and keep the file in git.",
        *map(_comment, remarks.head),
        f"system: {scalar(system.name)}",
        f"about: {scalar(system.about)}",
        "clusters:",
        *(line for cluster in system.clusters for line in _cluster(cluster, remarks)),
        "node_types:",
        *(
            line
            for kind in system.node_types
            for line in _node_type(kind, local, remarks.node_types.get(kind.name, ()))
        ),
        *_filesystems(system.filesystems),
        *_toolchains(system.toolchains, local),
        "# budgets: {scratch/bandwidth: 2 GB/s}   # what tests share and can use up; tests say what they load",
        "# with targets: {mdt: [mdt0, mdt1]} of file system scratch: {scratch/mdt: 8 per target}, and each run loads one",
        *_found(system.found),
    ]
    return "\n".join(lines) + "\n"


def scalar(text: str) -> str:
    """Text as one YAML scalar: plain where it cannot be read as anything else, else in double quotes."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS_OF_YAML:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _cluster(cluster: Cluster, remarks: Remarks) -> list[str]:
    """A cluster's lines. On a local one there is nothing to say but its partitions."""
    lines = [f"  {scalar(cluster.name)}:"]
    if cluster.embedded:
        lines.append(_said("    scheduler: local", "jobs are processes on this machine, bound to its cores"))
    else:
        lines += [
            f"    scheduler: {cluster.scheduler}",
            *_of_scheduler(cluster, remarks.clusters.get(cluster.name, ())),
        ]
    lines.append("    partitions:")
    if not cluster.embedded and len(cluster.partitions) > 1:
        lines.append("      # one whose nodes are all in an earlier one is only used where a test or a plan names it")
    for partition in cluster.partitions:
        lines.append(f"      {scalar(partition.name)}:{_partition(partition)}")
        remark = remarks.partitions.get(f"{cluster.name}:{partition.name}")
        if remark:
            lines[-1] += f"   {_comment(remark)}"
    return lines


def _of_scheduler(cluster: Cluster, on_jobs: tuple[str, ...]) -> list[str]:
    """What a scheduler is told and allows; what is not known stands there as a comment to be filled in."""
    lines = ["    # options: [--account=NAME, --qos=NAME]   # words for each submission"]
    if cluster.licences:
        amounts = ", ".join(f"{scalar(name)}: {total:g}" for name, total in cluster.licences)
        lines.append(f"    licences: {{{amounts}}}   # budgets too: tests say what they load, Slurm hands it out")
    if cluster.most_jobs:
        lines.append(f"    most_jobs: {cluster.most_jobs}   {_comment(f'queued and running at once: {on_jobs[0]}')}")
    else:
        lines.append("    # most_jobs: 1000   # queued and running at once; no limit is known")
    lines += [f"    {_comment(remark)}" for remark in on_jobs[1:]]
    lines.append("    # patience: {poll: 5s, grace: 60s, lost_after: 30min, no_answer: 1d, dead_after: 5min}")
    return lines


def _partition(partition: Partition) -> str:
    values = {"nodes": scalar(partition.nodes), "type": scalar(partition.type)}
    if partition.time_limit_s:
        values["time_limit"] = duration(partition.time_limit_s)
    if partition.most_nodes:
        values["most_nodes"] = str(partition.most_nodes)
    if partition.options:
        values["options"] = f"[{', '.join(map(scalar, partition.options))}]"
    return f" {{{', '.join(f'{key}: {value}' for key, value in values.items())}}}"


def duration(seconds: float) -> str:
    """A duration as files hold it, to the second: 1d12h, 30min."""
    rest, words = round(seconds), ""
    for unit, length in _TIMES:
        count, rest = divmod(rest, length)
        words += f"{count}{unit}" if count else ""
    return words or "1s"


def _node_type(kind: NodeType, local: bool, remarks: tuple[str, ...]) -> list[str]:
    """The node type's lines; what is not known is left out rather than written as zero."""
    lines = [
        f"  {scalar(kind.name)}:",
        *(f"    {_comment(remark)}" for remark in remarks),
        f"    sockets: {kind.sockets}",
        _said(f"    cores: {kind.cores}", "physical ones; the only number that must be here"),
        f"    threads_per_core: {kind.threads_per_core}",
        _said(f"    numa: {kind.numa}", "memory domains")
        if local
        else _said("    # numa: 8", "memory domains: see lscpu on such a node; without it 1"),
    ]
    if kind.memory_bytes:
        lines.append(f"    memory: {_size(kind.memory_bytes) if local else _whole_size(kind.memory_bytes)}")
    if kind.last_level_cache_bytes:
        lines.append(_said(f"    cache: {_size(kind.last_level_cache_bytes)}", "last level, all of it together"))
    if kind.cpu:
        lines.append(_said(f"    cpu: {scalar(kind.cpu)}", "the architecture, in archspec's words"))
    elif not local:
        lines.append(_said("    # cpu: zen3", "the architecture, in archspec's words: see archspec cpu on such a node"))
    if kind.features:
        lines.append(f"    features: [{', '.join(map(scalar, kind.features))}]")
    if kind.gpus.count:
        model = f", model: {scalar(kind.gpus.model)}" if kind.gpus.model else ""
        lines.append(
            _said(f"    gpus: {{count: {kind.gpus.count}{model}}}", "memory and numa too, where you know them")
        )
    return [*lines, _said("    # peak: 1.2 TFLOP/s", "not measured; write it here and scores can use it")]


def _said(line: str, comment: str) -> str:
    return f"{line:<31} # {comment}"


def _comment(text: str) -> str:
    """Text from elsewhere as a comment: one line, nothing that a terminal or YAML would take for more than text."""
    flat = "".join(c if c.isprintable() else " " for c in text)
    return f"# {flat if len(flat) <= _LONGEST else flat[:_LONGEST] + '...'}".rstrip()


def _size(count: float) -> str:
    return show_bytes(count).replace(".0 ", " ")


def _whole_size(count: float) -> str:
    """A size without rounding: what a scheduler was told is what jobs may ask of it."""
    mib = round(count / 2**20)
    return f"{mib} MiB" if mib % 1024 else f"{mib // 1024} GiB"


def _filesystems(filesystems: tuple[FileSystem, ...]) -> list[str]:
    if not filesystems:
        return []
    return [
        "filesystems:   # shared ones that are mounted here; path: a directory in which tests may write",
        *(
            f"  {scalar(entry.name)}: {{kind: {scalar(entry.kind)}, path: {scalar(entry.path)}}}"
            for entry in filesystems
        ),
    ]


def _toolchains(toolchains: tuple[Toolchain, ...], local: bool) -> list[str]:
    if not toolchains:
        return ["# toolchains: {gcc: {cc: gcc, cxx: g++, fc: gfortran}}   # none is known; tests that build need one"]
    lines = ["toolchains:"]
    if not local:
        lines.append("  # as found on the path; with modules instead: {modules: [gcc/12.2, openmpi/4.1], cc: gcc, ...}")
    for toolchain in toolchains:
        mpi = f" mpi: {scalar(toolchain.mpi)}," if toolchain.mpi else ""
        lines.append(f"  {scalar(toolchain.name)}:")
        lines.append(
            f"    {{cc: {scalar(toolchain.cc)}, cxx: {scalar(toolchain.cxx)}, fc: {scalar(toolchain.fc)},{mpi}"
            f" environment: {_flow(toolchain.environment)}}}"
        )
    return lines


def _flow(pairs: Pairs) -> str:
    return "{" + ", ".join(f"{scalar(key)}: {scalar(value)}" for key, value in pairs) + "}"


def _found(found: Pairs) -> list[str]:
    if not found:
        return []
    return [
        _said("found:", "for the report; nothing is computed from it"),
        *(f"  {scalar(key)}: {scalar(value)}" for key, value in found),
    ]
