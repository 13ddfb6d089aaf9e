"""Nodes as Slurm describes them: which are alike, what each kind is called, and which are out of service. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from shakedown.machine.slurm_words import fold, whole
from shakedown.model.nouns import NodeType
from shakedown.model.resources import Gpus
from shakedown.model.units import show_bytes

_MOST_TYPES = 8  # more kinds than this come from features that say where a node stands, not what it is
_OUT = frozenset(
    {
        "DOWN",
        "DRAIN",
        "DRAINED",
        "DRAINING",
        "FAIL",
        "FAILING",
        "ERROR",
        "UNKNOWN",
        "INVAL",
        "INVALID_REG",
        "NOT_RESPONDING",
    }
)
_GPU = re.compile(r"gpu(?::(?!no_consume:)(?P<model>[^:,()]+))?(?::no_consume)?:(?P<count>\d{1,4})(?:\([^()]*\))?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")

_Member = tuple[tuple[int, str], "Make"]


@dataclass(frozen=True, slots=True)
class Make:
    """The properties by which nodes are alike. ``all_cores``: with cores reserved for the system; ``memory_mib`` 0: not known."""

    sockets: int
    cores: int
    all_cores: int
    threads: int
    memory_mib: int
    architecture: str = ""
    gres: str = ""
    features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """Nodes that are alike, as (number of the cluster, name). ``some``: features that only some of them have."""

    type: NodeType
    make: Make
    nodes: tuple[tuple[int, str], ...]
    some: tuple[str, ...] = ()


def kinds_of(clusters: Sequence[Sequence[dict[str, str]]]) -> list[Kind]:
    """Purpose: the kinds of nodes of all clusters, in the order they first come in, each with a name of its own.

    Nodes are alike where cores, memory and features are. Where that makes many kinds, features do not count.
    """
    made = [
        ((number, record["NodeName"]), make)
        for number, records in enumerate(clusters)
        for record in records
        if (make := make_of(record)) is not None
    ]
    gathered = _gather(made, lambda make: make)
    if len(gathered) > _MOST_TYPES:
        gathered = _gather(made, lambda make: replace(make, features=()))
    makes = [_common(members) for members in gathered]
    names = _names([make for make, _ in makes])
    return [
        Kind(_node_type(name, make), make, tuple(node for node, _ in members), some)
        for name, (make, some), members in zip(names, makes, gathered, strict=True)
    ]


def make_of(record: dict[str, str]) -> Make | None:
    """What a node is; None where Slurm says nothing of its processors.

    A processor of Slurm's is a thread or a core: a thread where it counts as many as there are. CPUEfctv leaves out
    those that are kept from jobs.
    """
    cpus = whole(record.get("CPUTot", ""))
    sockets, threads = max(1, whole(record.get("Sockets", ""))), max(1, whole(record.get("ThreadsPerCore", "")))
    all_cores = sockets * whole(record.get("CoresPerSocket", "")) or cpus
    if not all_cores:
        return None
    for_jobs = whole(record.get("CPUEfctv", "")) or cpus or all_cores
    cores = -(-for_jobs // threads) if cpus > all_cores else for_jobs
    memory = whole(record.get("RealMemory", ""))
    features = record.get("AvailableFeatures", "")
    return Make(
        sockets=sockets,
        cores=min(all_cores, cores),
        all_cores=all_cores,
        threads=threads,
        memory_mib=memory if memory > 1 else 0,  # 1 is what Slurm says where nobody told it
        architecture=record.get("Arch", ""),
        gres=record.get("Gres", ""),
        features=tuple(dict.fromkeys(filter(None, features.split(",")))),
    )


def gpus_in(gres: str) -> Gpus:
    """Purpose: the GPUs of ``Gres=gpu:a100:4(S:0-1),nvme:1``. The model is "" where a node has several, or Slurm knows none."""
    found = [match for match in map(_GPU.fullmatch, _entries(gres)) if match is not None]
    models = {match["model"] or "" for match in found}
    return Gpus(sum(int(match["count"]) for match in found), models.pop() if len(models) == 1 else "")


def _entries(gres: str) -> list[str]:
    """The entries of a list with commas; those in parentheses are part of an entry: gpu:2(S:0,2),nvme:1."""
    return re.findall(r"(?:[^,(]|\([^()]*\))+", gres)


def out_of_service(records: Iterable[dict[str, str]]) -> list[str]:
    """A sentence for each state and reason that keeps nodes from running jobs: "n[005,007]: idle+drain (test drain)"."""
    found: dict[tuple[str, str], list[str]] = {}
    for record in records:
        state = record.get("State", "")
        words = state.upper().split("+")
        if any(word.endswith("*") or word.rstrip("*~#!%$@^-") in _OUT for word in words):
            reason = re.sub(r"\s*\[[^\[\]]*@[^\[\]]*\]$", "", record.get("Reason", ""))
            found.setdefault((state.lower(), reason), []).append(record["NodeName"])
    return [f"{fold(nodes)}: {state} ({reason or 'no reason given'})" for (state, reason), nodes in found.items()]


def _gather(made: list[_Member], key: Callable[[Make], Make]) -> list[list[_Member]]:
    groups: dict[Make, list[_Member]] = {}
    for node, make in made:
        groups.setdefault(key(make), []).append((node, make))
    return list(groups.values())


def _common(members: list[_Member]) -> tuple[Make, tuple[str, ...]]:
    """What all of a kind are, and the features that only some of them have."""
    counts = Counter(feature for _, make in members for feature in make.features)
    shared = tuple(feature for feature, count in counts.items() if count == len(members))
    return replace(members[0][1], features=shared), tuple(feature for feature in counts if feature not in shared)


def _names(makes: list[Make]) -> list[str]:
    """A name for each: a feature that no other kind has, else cores and memory, numbered where that is not enough."""
    if len(makes) == 1:
        return ["node"]
    counts = Counter(feature for make in makes for feature in make.features)
    names: list[str] = []
    for make in makes:
        own = [feature for feature in make.features if counts[feature] == 1 and usable_name(feature)]
        name = own[0] if own else _by_size(make)
        number, whole_name = 2, name
        while whole_name in names:
            whole_name, number = f"{name}-{number}", number + 1
        names.append(whole_name)
    return names


def usable_name(text: str) -> bool:
    """Whether our files can use this text as a name."""
    return _NAME.fullmatch(text) is not None and len(text) <= 100


def _by_size(make: Make) -> str:
    memory = f"-{show_bytes(make.memory_mib * 2.0**20).replace('.0 ', '').replace(' ', '')}" if make.memory_mib else ""
    gpus = gpus_in(make.gres).count
    return f"{make.cores}-cores{memory}{f'-{gpus}-gpus' if gpus else ''}"


def _node_type(name: str, make: Make) -> NodeType:
    return NodeType(
        name=name,
        sockets=min(make.sockets, make.cores),
        cores=make.cores,
        threads_per_core=make.threads,
        memory_bytes=make.memory_mib * 2.0**20,
        features=make.features,
        gpus=gpus_in(make.gres),
    )
