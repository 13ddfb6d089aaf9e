"""The hardware of a system's file into nouns: node types, file systems, what is printed of them and what is assumed."""

from __future__ import annotations

import re
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from shakedown.model.nouns import FileSystem, NodeType, Pairs, TargetClass
from shakedown.model.printed import Published, agreement, in_unit, parse_printed
from shakedown.model.resources import NO_GPUS, Gpus
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import near_or_all
from shakedown.plans.schema.source_positions import key_place, place

_CLASS = re.compile(r"\{([^{}]*)\}")
OF_A_NODE = "local"  # the kind of a file system that each node has for itself
IN_CAMPAIGN = "campaign"  # where tests work that name no file system


def node_type(name: str, entry: dict[str, Any]) -> NodeType:
    """Purpose: a node type as written. The peak is written, or what its cores do in a cycle, or not known."""
    return NodeType(
        name=name,
        sockets=entry.get("sockets", 1),
        cores=entry["cores"],
        threads_per_core=entry.get("threads_per_core", 1),
        numa=entry.get("numa", 1),
        memory_bytes=entry.get("memory", 0.0),
        peak_flop_per_s=entry.get("peak", _counted_peak(entry)),
        cpu=entry.get("cpu", ""),
        last_level_cache_bytes=entry.get("cache", 0.0),
        features=tuple(entry.get("features", ())),
        clock_hz=entry.get("clock", 0.0),
        flops_per_cycle=entry.get("flops_per_cycle", 0),
        fast_memory_bytes=entry.get("fast_memory", 0.0),
        memory_bandwidth_bytes_per_s=entry.get("memory_bandwidth", 0.0),
        gpus=_gpus(entry["gpus"]) if "gpus" in entry else NO_GPUS,
    )


def _gpus(entry: dict[str, Any]) -> Gpus:
    return Gpus(entry["count"], entry.get("model", ""), entry.get("memory", 0.0), tuple(entry.get("numa", ())))


def check_gpus(root: Node, types: dict[str, Any], problems: Problems) -> None:
    """Purpose: say where the memory domains of GPUs are not as many as the GPUs, or are none of the node's."""
    for name, entry in types.items():
        gpus = entry.get("gpus", {})
        domains, at = gpus.get("numa", []), ("node_types", name, "gpus", "numa")
        if domains and len(domains) != gpus["count"]:
            has = f"{len(domains)} memory domain{'' if len(domains) == 1 else 's'}"
            message = f"gpus.numa has {has}, and gpus.count is {gpus['count']}"
            problems.at(place(root, *at), message, "one for each GPU, in the order of their numbers")
        for number, domain in enumerate(domains):
            if domain >= entry.get("numa", 1):
                message = f"gpus.numa: there is no memory domain {domain}: the node has {entry.get('numa', 1)}, from 0"
                problems.at(place(root, *at, number), message, "numa of the node type says how many there are")


def _counted_peak(entry: dict[str, Any]) -> float:
    return float(entry["cores"] * entry.get("flops_per_cycle", 0) * entry.get("clock", 0.0))


def check_peaks(root: Node, types: dict[str, Any], problems: Problems) -> None:
    """Purpose: say where a peak is written and counted, and the two differ in the digits that are written."""
    for name, entry in types.items():
        counted = _counted_peak(entry)
        if "peak" not in entry or not counted:
            continue
        at = place(root, "node_types", name, "peak")
        written = parse_printed(at.value) if isinstance(at, ScalarNode) else None
        if written is not None and not agreement(written, counted):
            unit = written.quantity.unit
            product = (
                f"{entry['cores']} cores x {entry['flops_per_cycle']} flops a cycle x {entry['clock'] / 1e9:g} GHz"
            )
            message = f"peak is written as {at.value}, and {product} make {in_unit(counted, unit):.6g} {unit}"
            problems.at(at, message, "correct one of them, or leave peak out")


def filesystem(name: str, entry: dict[str, Any]) -> FileSystem:
    """Purpose: a file system as written; ``targets`` has those with names, ``classes`` those of which more is known."""
    targets = entry.get("targets", {})
    return FileSystem(
        name=name,
        kind=entry.get("kind", ""),
        path=entry.get("path", ""),
        targets=tuple((kind, tuple(names)) for kind, names in named_targets(entry).items()),
        capacity_bytes=entry.get("capacity", 0.0),
        bandwidth_bytes_per_s=entry.get("bandwidth", 0.0),
        classes=tuple(_target_class(kind, written) for kind, written in targets.items() if isinstance(written, dict)),
    )


def _target_class(name: str, written: dict[str, Any]) -> TargetClass:
    count = written.get("count") or len(written["names"])
    return TargetClass(name, count, written.get("capacity", 0.0), written.get("bandwidth", 0.0))


def named_targets(entry: dict[str, Any]) -> dict[str, list[str]]:
    """The names of a file system's targets by class; a class of which only the number is known is not among them."""
    targets = entry.get("targets", {})
    names = {kind: written.get("names") if isinstance(written, dict) else written for kind, written in targets.items()}
    return {kind: list(listed) for kind, listed in names.items() if listed}


def check_filesystems(root: Node, written: dict[str, Any], problems: Problems) -> None:
    """Names and targets mean one thing each; a path is absolute, and what stands in its braces is a class of targets."""
    for name, entry in written.items():
        if name == IN_CAMPAIGN:
            hint = "in a test it means the campaign's directory"
            problems.at(key_place(root, "filesystems", name), f"'{name}' is no name for a file system", hint)
        for kind, targets in entry.get("targets", {}).items():
            _check_targets(root, name, kind, targets, problems)
        _check_path(root, name, entry, problems)


def _check_targets(root: Node, name: str, kind: str, written: Any, problems: Problems) -> None:
    path: tuple[str | int, ...] = ("filesystems", name, "targets", kind)
    names = written
    if isinstance(written, dict):
        path, names = (*path, "names"), written.get("names", [])
        if not names and "count" not in written:
            problems.at(
                place(root, *path[:-1]), f"targets.{kind} has neither names nor a count", f"{kind}: {{count: 4}}"
            )
        elif names and written.get("count", len(names)) != len(names):
            many = "1 name" if len(names) == 1 else f"{len(names)} names"
            message = f"targets.{kind} has {many}, and its count is {written['count']}"
            problems.at(place(root, *path[:-1], "count"), message, "leave count out: the names are counted")
    for number, target in enumerate(names):
        if target in names[:number]:
            problems.at(place(root, *path, number), f"target '{target}' is written twice", "keep one")


def _check_path(root: Node, name: str, entry: dict[str, Any], problems: Problems) -> None:
    targets, path, at = named_targets(entry), entry.get("path", ""), place(root, "filesystems", name, "path")
    for word in _CLASS.findall(path):
        if word in targets or entry.get("targets", {}).get(word) == {}:
            continue  # of a class with nothing in it that is told
        if word in entry.get("targets", {}):
            message = f"'{{{word}}}': the targets of class {word} of file system {name} have no names"
            problems.at(at, message, f"targets: {{{word}: [{word}0, {word}1]}}")
        else:
            problems.at(at, f"'{{{word}}}' is no class of targets of file system {name}", near_or_all(word, targets))
    rest = _CLASS.sub("", path)
    if path and (not path.startswith("/") or ".." in path.split("/") or not path.isprintable()):
        problems.at(at, f"'{path}' is no absolute path", "write a path that begins with '/' and has no '..'")
    elif "{" in rest or "}" in rest:
        problems.at(
            at, f"'{path}' has a brace without its partner", "put braces around a class of targets, such as {mdt}"
        )


def published(root: Node, written: list[dict[str, Any]]) -> tuple[Published, ...]:
    """Purpose: the numbers that documents print of the machine, each with where its expression stands."""
    return tuple(_published(place(root, "published", number, "from"), entry) for number, entry in enumerate(written))


def _published(at: Node, entry: dict[str, Any]) -> Published:
    mark: Any = at.start_mark
    return Published(
        what=entry["what"],
        value=" ".join(entry["value"].split()),
        of=entry["from"],
        source=entry.get("source", ""),
        because=entry.get("because", ""),
        line=mark.line + 1,
        column=mark.column + 1,
    )


def assumed(root: Node, written: dict[str, str], problems: Problems) -> Pairs:
    """Purpose: which keys of this file hold what no source prints, and why; each of them is there."""
    for key in written:
        missing = _missing(root, key)
        if missing is not None:
            message = f"assumed: there is no key '{key}' in this file"
            problems.at(key_place(root, "assumed", key), message, near_or_all(missing[0], missing[1]))
    return tuple(written.items())


def _missing(node: Node, path: str) -> tuple[str, list[str]] | None:
    """Where a dotted path of keys leads nowhere: its rest, and the keys that are there. Names may have dots of their own."""
    keys = [(key.value, value) for key, value in node.value] if isinstance(node, MappingNode) else []
    for name, value in keys:
        if path == name:
            return None
        if path.startswith(f"{name}."):
            return _missing(value, path[len(name) + 1 :])
    return path, [name for name, _ in keys]
