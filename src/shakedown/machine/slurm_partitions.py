"""Partitions as Slurm describes them, each of one kind of nodes: one that mixes kinds becomes several. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shakedown.machine.slurm_nodes import Kind, usable_name
from shakedown.machine.slurm_words import expand, fold, seconds, whole
from shakedown.model.nouns import Partition

_OPEN = frozenset({"", "ALL"})


@dataclass(frozen=True, slots=True)
class Described:
    """Partitions with a word on each, and sentences about what could not be taken over."""

    partitions: tuple[Partition, ...]
    remarks: tuple[tuple[str, str], ...]  # partition's name -> what to know of it
    left_out: tuple[str, ...]


def partitions_of(cluster: str, number: int, records: Sequence[dict[str, str]], kinds: Sequence[Kind]) -> Described:
    """Purpose: the partitions of the cluster of this name and number, the default one first, else in Slurm's order."""
    kind_of = {node: place for place, kind in enumerate(kinds) for home, node in kind.nodes if home == number}
    partitions: list[Partition] = []
    remarks: list[tuple[str, str]] = []
    left_out: list[str] = []
    for record in sorted(records, key=lambda record: record.get("Default") != "YES"):
        name, nodes = record["PartitionName"], expand(record.get("Nodes", ""))
        parts = _parts(nodes, kind_of)
        if not usable_name(name):
            left_out.append(f"partition {name} is left out: its name cannot be one of ours")
        elif not parts:
            left_out.append(f"partition {name} is left out: it has no nodes that Slurm describes")
        elif unknown := [node for node in nodes if node not in kind_of]:
            said = "Slurm does not say what processors they have"
            left_out.append(f"partition {name} is written without {fold(unknown)}: {said}")
        for place, members in parts.items() if usable_name(name) else ():
            made = _partition(cluster, record, kinds[place], members, nodes if len(parts) > 1 else [])
            partitions.append(made)
            remarks.append((made.name, "; ".join(_remarks(record, len(parts)))))
    return Described(tuple(partitions), tuple(remarks), tuple(left_out))


def _parts(nodes: Iterable[str], kind_of: dict[str, int]) -> dict[int, list[str]]:
    """The nodes by kind, in the order of the nodes; those that nothing is known of are left out."""
    parts: dict[int, list[str]] = {}
    for node in nodes:
        if node in kind_of:
            parts.setdefault(kind_of[node], []).append(node)
    return parts


def _partition(cluster: str, record: dict[str, str], kind: Kind, members: list[str], mixed: list[str]) -> Partition:
    """One partition, or the part of a ``mixed`` one that is of one kind: Slurm is then told which nodes are not meant."""
    name, most = record["PartitionName"], whole(record.get("MaxNodes", ""))
    options: tuple[str, ...] = ()
    if mixed:
        meant = set(members)
        options = (f"--partition={name}", f"--exclude={fold(node for node in mixed if node not in meant)}")
        name = f"{name}-{kind.type.name}"
    return Partition(
        name=name,
        cluster=cluster,
        nodes=fold(members),
        count=len(members),
        type=kind.type.name,
        time_limit_s=seconds(record.get("MaxTime", "")),
        most_nodes=most if most < len(members) else 0,
        options=options,
    )


def _remarks(record: dict[str, str], parts: int) -> list[str]:
    """Remarks on a partition that a person must know before jobs are sent there."""
    said = ["the default"] if record.get("Default") == "YES" else []
    if parts > 1:
        said.append(f"{record['PartitionName']} mixes {parts} types of nodes: this is one of them")
    state = record.get("State", "UP")
    if state != "UP":
        said.append(f"it is {state.lower()}")
    for key, words in (("AllowAccounts", "accounts"), ("AllowGroups", "groups"), ("AllowQos", "QOS")):
        if record.get(key, "") not in _OPEN:
            said.append(f"only for {words} {record[key]}")
    if record.get("RootOnly") == "YES":
        said.append("only for root")
    if record.get("ReqResv") == "YES":
        said.append("only with a reservation")
    if whole(record.get("MinNodes", "")) > 1:
        said.append(f"jobs take at least {record['MinNodes']} nodes")
    for key, words in (("MaxCPUsPerNode", "processors"), ("MaxMemPerNode", "MB of memory")):
        if whole(record.get(key, "")):
            said.append(f"jobs get at most {record[key]} {words} of a node")
    return said
