"""A system's file into the noun."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any

from yaml.nodes import MappingNode

from shakedown.model.dialects import EMBEDDED
from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Cluster, Pairs, Partition, Patience, System, Toolchain
from shakedown.model.printed import Published
from shakedown.plans.cases.containers import Settings, settings_from
from shakedown.plans.cases.software import spack_from
from shakedown.plans.components.budgets import read_budgets
from shakedown.plans.files import CATALOGUE
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import InvalidValue
from shakedown.plans.schema.source_positions import key_place, place
from shakedown.plans.schema.tables import SYSTEM
from shakedown.plans.system_parts import (
    assumed,
    check_filesystems,
    check_gpus,
    check_peaks,
    filesystem,
    node_type,
    published,
)

_RANGE = re.compile(r"(\d+)-(\d+)")
_NODE_SET = re.compile(r"[A-Za-z0-9_.,\[\]/-]+")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_WRITE_NAMES = "write names and ranges, such as n[001-128],login1"
_MOST_NODES = 1_000_000


@dataclass(frozen=True, slots=True)
class Machine:
    """A system, and what its file says beside: a campaign needs none of it.

    ``dimensions``: of each budget (bytes/s, number), which its numbers no longer show. ``published``: what documents print of the
    machine; ``assumed``: key of the file -> why it holds what no source prints. ``containers``: how they are started.
    """

    system: System
    dimensions: dict[str, str] = field(default_factory=dict)
    file: str = ""  # its name; "" for the machine as found
    sha256: str = ""
    published: tuple[Published, ...] = ()
    assumed: Pairs = ()
    containers: Settings = field(default_factory=Settings)

    @property
    def shipped(self) -> bool:
        return self.file.startswith(CATALOGUE)


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
    check_filesystems(root, values.get("filesystems", {}), problems)
    check_peaks(root, values["node_types"], problems)
    check_gpus(root, values["node_types"], problems)
    unprinted = assumed(root, values.get("assumed", {}), problems)
    if not any(cluster.partitions for cluster in clusters):
        problems.at(place(root, "clusters"), "the system has no partition", "jobs are sent to one")
    if len(problems) > before:
        return None
    budgets = read_budgets(root, values, clusters, problems)
    if len(problems) > before:
        return None
    system = System(
        name=values["system"],
        clusters=clusters,
        node_types=tuple(node_type(name, kind) for name, kind in values["node_types"].items()),
        about=values.get("about", ""),
        network=tuple(values.get("network", {}).items()),
        filesystems=tuple(filesystem(name, entry) for name, entry in values.get("filesystems", {}).items()),
        toolchains=tuple(_toolchain(name, entry) for name, entry in values.get("toolchains", {}).items()),
        budgets=budgets.amounts,
        found=tuple(values.get("found", {}).items()),
        fingerprint=tuple(values.get("fingerprint", {}).items()),
        targeted=budgets.targeted,
        licence_names=budgets.licence_names,
        budget_units=budgets.units,
    )
    printed = published(root, values.get("published", []))
    return Machine(
        system=system,
        dimensions=dict(budgets.dimensions),
        file=name,
        sha256=hashlib.sha256(data).hexdigest(),
        published=printed,
        assumed=unprinted,
        containers=settings_from(values.get("containers", {})),
    )


def count_nodes(text: str) -> int:
    """Purpose: how many nodes a folded node set holds. Raises InvalidValue."""
    if _NODE_SET.fullmatch(text) is None:
        raise InvalidValue(f"'{text}' is not a node set", _WRITE_NAMES)
    for low, high in _RANGE.findall(text):
        if len(low) > 15 or len(high) > 15 or int(high) - int(low) >= _MOST_NODES:
            raise InvalidValue(f"'{text}' holds more than {_MOST_NODES} nodes")
    if "[" not in text and "]" not in text and "," not in text:
        return 1
    return _count_folded(text)


def _count_folded(text: str) -> int:
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException
    from ClusterShell.RangeSet import RangeSetException

    try:
        count = len(NodeSet(text, resolver=RESOLVER_NOGROUP))
    except (NodeSetException, RangeSetException) as error:
        raise InvalidValue(f"'{text}' is not a node set", _WRITE_NAMES) from error
    if not count:
        raise InvalidValue(f"'{text}' holds no node")
    return count


def _clusters(root: MappingNode, values: dict[str, Any], problems: Problems) -> tuple[Cluster, ...]:
    clusters = []
    for name, entry in values["clusters"].items():
        partitions = [
            _partition(root, name, partition, values["node_types"], entry["scheduler"], problems)
            for partition in entry["partitions"].items()
        ]
        if entry["scheduler"] == EMBEDDED:
            _check_local(root, name, entry, problems)
        clusters.append(
            Cluster(
                name,
                entry["scheduler"],
                tuple(partitions),
                options=tuple(entry.get("options", ())),
                licences=tuple((licence, float(total)) for licence, total in entry.get("licences", {}).items()),
                most_jobs=entry.get("most_jobs", 0),
                patience=_patience(root, name, entry.get("patience", {}), problems),
            )
        )
    return tuple(clusters)


def _check_local(root: MappingNode, cluster: str, entry: dict[str, Any], problems: Problems) -> None:
    """The local scheduler is part of us: nobody is submitted to, nothing is handed out, nobody is waited for."""
    for key in ("options", "licences", "most_jobs", "patience"):
        if key in entry:
            at = key_place(root, "clusters", cluster, key)
            problems.at(at, f"'{key}' means nothing to the local scheduler", "leave it out, or scheduler: slurm")
    types: dict[str, tuple[str, str]] = {}  # node -> the first partition that names it, and its type
    for name, partition in entry["partitions"].items():
        first, kind = types.setdefault(partition["nodes"], (name, partition["type"]))
        if kind != partition["type"]:
            at = key_place(root, "clusters", cluster, "partitions", name, "type")
            message = (
                f"node {partition['nodes']} is of type {kind} in partition {first} and of type {partition['type']} here"
            )
            problems.at(at, message, "a node is of one type: give this partition's node a name of its own")
        for key in ("time_limit", "most_nodes", "options"):
            if key in partition:
                at = key_place(root, "clusters", cluster, "partitions", name, key)
                problems.at(at, f"'{key}' means nothing to the local scheduler", "leave it out, or scheduler: slurm")


def _patience(root: MappingNode, cluster: str, entry: dict[str, float], problems: Problems) -> Patience:
    """The waits in seconds. Nothing is believed before it could be asked for."""
    patience = Patience(**{f"{name}_s": seconds for name, seconds in entry.items()})
    for name in ("grace", "lost_after", "no_answer"):
        if getattr(patience, f"{name}_s") < patience.poll_s:
            at = place(root, "clusters", cluster, "patience", name if name in entry else "poll")
            problems.at(at, f"patience.{name} is shorter than patience.poll", "the scheduler is asked that often only")
    return patience


def _partition(
    root: MappingNode,
    cluster: str,
    written: tuple[str, dict[str, Any]],
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
        count = _count(entry["nodes"], scheduler)
    except InvalidValue as error:
        problems.at(place(root, *path, "nodes"), str(error), error.hint)
    return Partition(
        name,
        cluster,
        entry["nodes"],
        count,
        entry["type"],
        time_limit_s=entry.get("time_limit", 0.0),
        options=tuple(entry.get("options", ())),
        most_nodes=entry.get("most_nodes", 0),
    )


def _count(text: str, scheduler: str) -> int:
    """How many nodes a partition has. Raises InvalidValue."""
    if _NUMBER.fullmatch(text) is not None and scheduler != EMBEDDED:
        raise InvalidValue(f"'{text}' is a number, and no names of nodes", _WRITE_NAMES)
    count = count_nodes(text)
    if scheduler == EMBEDDED and (count > 1 or (text.isdecimal() and text != "1")):
        raise InvalidValue(
            f"the local scheduler runs on one node, not on {text if count == 1 else count}", "scheduler: slurm"
        )
    return count


def _toolchain(name: str, entry: dict[str, Any]) -> Toolchain:
    usual = Toolchain(name)
    return Toolchain(
        name=name,
        modules=tuple(entry.get("modules", ())),
        cc=entry.get("cc", usual.cc),
        cxx=entry.get("cxx", usual.cxx),
        fc=entry.get("fc", usual.fc),
        environment=tuple(entry.get("environment", {}).items()),
        mpi=entry.get("mpi", ""),
        initialise=tuple(entry.get("initialise", ())),
        spack=spack_from(entry.get("spack")),
    )
