"""Results of the probes of a machine's nodes: the event's value, the file of facts, and the differences as text.

Pure. Start reading at ``describe_machine``. The file is named after the machine's digest, which can be computed from its content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from shakedown.machine.fingerprint import (
    MODULES,
    Facts,
    Group,
    differences,
    group_nodes,
    machine_digest,
    of_modules,
    read_facts,
    with_modules_of,
    with_settled_memory,
)

SHOWN_LINES = 12  # differences of a kind that stand in the event; the files say the rest
LINE_LIMIT = 160
VALUE_ROOM = 3300  # bytes of the event's value that groups and differences may take


class FactsFile(Struct, frozen=True):
    """The content of a file of facts, grouped by nodes with equal facts."""

    groups: tuple[Group, ...]


class Found(Struct, frozen=True):
    """A machine as found. ``unanswered``: lines on nodes that said nothing that can be used; ``nothing``: no node said any.

    ``first_seen``: nodes that the fingerprint before knew nothing of; ``first_modules``: others of whose default modules it
    knew nothing; ``silent``: how many nodes are unanswered.
    """

    digest: str
    groups: tuple[Group, ...]
    between_nodes: tuple[str, ...]
    since_last: tuple[str, ...]
    unanswered: tuple[str, ...]
    nothing: bool
    first_seen: tuple[str, ...] = ()
    silent: int = 0
    first_modules: tuple[str, ...] = ()

    @property
    def content(self) -> bytes:
        """The file of facts, one way to write it."""
        return msgspec.json.encode(FactsFile(self.groups), order="deterministic")


def describe_machine(
    texts: Mapping[str, str], silent: Mapping[str, str], before: Mapping[str, Facts] | None = None
) -> Found:
    """Purpose: nodes grouped by equality, differences between them and from ``before`` (node -> facts, the last time) in words.

    ``texts``: node -> the script's output; ``silent``: node -> why there is none. A node that does not answer is said, and taken
    as it was the last time; where it was not known then it is left out. A node that answers for the first time is no change, and
    neither is one that says its default modules for the first time: it had no time for them before, or was not asked.
    """
    nodes, unanswered = _read(texts, silent)
    nothing, known = not nodes, before or {}
    nodes = {node: with_modules_of(facts, known.get(node, {})) for node, facts in nodes.items()}
    nodes = with_settled_memory(nodes, known)
    nodes |= {node: known[node] for node in unanswered if node in known}
    groups = group_nodes(nodes)
    new = () if before is None else tuple(node for node in sorted(nodes) if node not in known)
    first = tuple(
        node for node in sorted(nodes) if node in known and MODULES in nodes[node] and MODULES not in known[node]
    )
    old = {node: _without_modules(nodes[node]) if node in first else nodes[node] for node in nodes if node in known}
    since = () if before is None else changes(before, old)
    return Found(
        machine_digest(groups),
        groups,
        between(groups),
        tuple(since),
        _unanswered_lines(unanswered, known),
        nothing,
        new,
        len(unanswered),
        first,
    )


def _without_modules(facts: Facts) -> dict[str, str]:
    return {key: value for key, value in facts.items() if not of_modules(key)}


def _unanswered_lines(unanswered: Mapping[str, str], known: Mapping[str, Facts]) -> tuple[str, ...]:
    """A line for each reason, with all nodes that have it: of those that were known before, and of others."""
    nodes_of: dict[tuple[str, bool], list[str]] = {}
    for node in sorted(unanswered):
        nodes_of.setdefault((unanswered[node], node in known), []).append(node)
    ends = {True: "taken as {} the last time", False: "nothing is known of {}"}
    pronouns = {True: ("it was", "it"), False: ("they were", "them")}
    return tuple(
        f"{fold_nodes(nodes)}: {why}; {ends[was_known].format(pronouns[len(nodes) == 1][0 if was_known else 1])}"
        for (why, was_known), nodes in nodes_of.items()
    )


def _read(texts: Mapping[str, str], silent: Mapping[str, str]) -> tuple[dict[str, Facts], dict[str, str]]:
    nodes: dict[str, Facts] = {}
    unanswered = dict(silent)
    for node, text in texts.items():
        try:
            nodes[node] = read_facts(text)
        except ValueError as error:
            unanswered[node] = str(error)
    return nodes, unanswered


def read_content(content: bytes) -> dict[str, Facts]:
    """Purpose: node -> facts, from a file of facts. Raises ValueError where it is none."""
    try:
        file = msgspec.json.decode(content, type=FactsFile)
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error
    return {node: group.facts for group in file.groups for node in group.nodes}


def digest_of_content(content: bytes) -> str:
    """Purpose: the name that a file of facts should have. Raises ValueError where it is not written as we write it."""
    groups = group_nodes(read_content(content))
    if msgspec.json.encode(FactsFile(groups), order="deterministic") != content:
        raise ValueError("it is not as it was written")
    return machine_digest(groups)


# ---- differences in words ----------------------------------------------------------------------------------------------


def between(groups: Sequence[Group]) -> tuple[str, ...]:
    """Purpose: the differences of each smaller group from the largest, one line for each fact."""
    if len(groups) < 2:
        return ()
    most = groups[0]
    lines = []
    for group in groups[1:]:
        who = fold_nodes(group.nodes)
        lines += [f"{who}: {line}" for line in unlike(most, group.facts)]
    return tuple(lines)


def unlike(most: Group, facts: Facts) -> list[str]:
    """Purpose: the differences from the facts of most nodes, one line for each fact."""
    count = len(most.nodes)
    others = f"{count} other nodes" if count > 1 else most.nodes[0]
    lines = []
    for key in sorted({*most.facts, *facts}):
        theirs, own = most.facts.get(key), facts.get(key)
        if theirs != own:
            there = "none there" if theirs is None else f"there it is {theirs}"
            lines.append(f"{key} differs from {others}: {'none here' if own is None else own}, {there}")
    return lines


def changes(before: Mapping[str, Facts], after: Mapping[str, Facts]) -> list[str]:
    """Purpose: the changes since the earlier fingerprint, each once with all its nodes."""
    nodes_of: dict[str, list[str]] = {}
    for node in sorted({*before, *after}):
        if node not in before:
            said = ["is new"]
        elif node not in after:
            said = ["is gone"]
        else:
            said = differences(before[node], after[node])
        for line in said:
            nodes_of.setdefault(line, []).append(node)
    return [f"{fold_nodes(nodes)}{' ' if line.startswith('is ') else ': '}{line}" for line, nodes in nodes_of.items()]


def fold_nodes(nodes: Iterable[str]) -> str:
    """Purpose: names of nodes as a folded node set."""
    names = list(nodes)
    if len(names) == 1:
        return names[0]
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

    try:
        return str(NodeSet.fromlist(names, resolver=RESOLVER_NOGROUP))
    except NodeSetException:
        return ",".join(names)


# ---- as an event says it -------------------------------------------------------------------------------------------------


def event_value(found: Found) -> dict[str, Any]:
    """Purpose: the value of the event: digests and the first differences, within the size limit of an event."""
    lists: dict[str, list[Any]] = {
        "groups": [{"nodes": _cut(fold_nodes(group.nodes)), "digest": group.digest} for group in found.groups],
        "between_nodes": [_cut(line) for line in found.between_nodes],
        "since_last": [_cut(line) for line in found.since_last],
        "unanswered": [_cut(line) for line in found.unanswered],
    }
    shown = SHOWN_LINES
    short = {name: _first(items, shown) for name, items in lists.items()}
    while len(msgspec.json.encode(short)) > VALUE_ROOM and shown > 1:
        shown -= 1
        short = {name: _first(items, shown) for name, items in lists.items()}
    first = (*found.first_seen, *found.first_modules)
    first_seen = {"first_seen": _cut(fold_nodes(first))} if first else {}
    return {"digest": found.digest} | first_seen | {name: items for name, items in short.items() if items}


def in_words(found: Found, before: bool) -> str:
    """Purpose: the machine as found in a sentence. ``before``: there was an earlier fingerprint to compare with."""
    count = sum(len(group.nodes) for group in found.groups)
    alike = f"{count} nodes are alike" if count > 1 else "1 node"
    if len(found.groups) > 1:
        most = len(found.groups[0].nodes)
        others = fold_nodes(node for group in found.groups[1:] for node in group.nodes)
        alike = f"{most} of {count} nodes are alike; {_cut(others)} {_differ(found)}"
    parts = [alike]
    if before:
        changed = len(found.since_last)
        what = f"{changed} {'change' if changed == 1 else 'changes'} since the last time: " if changed else ""
        what += _cut(found.since_last[0]) if changed else ""
        parts.append(what or "as it was the last time")
    if found.first_seen:
        parts.append(f"{_cut(fold_nodes(found.first_seen))} answered for the first time")
    if found.first_modules:
        parts.append(f"{_cut(fold_nodes(found.first_modules))} said the default modules for the first time")
    if found.silent:
        parts.append(f"{found.silent} {'node' if found.silent == 1 else 'nodes'} did not answer")
    return "; ".join(parts)


def _differ(found: Found) -> str:
    nodes, facts = sum(len(group.nodes) for group in found.groups[1:]), len(found.between_nodes)
    return f"{'differs' if nodes == 1 else 'differ'} in {facts} {'fact' if facts == 1 else 'facts'}"


def _first(items: list[Any], shown: int) -> list[Any]:
    if len(items) <= shown:
        return items
    more = f"and {len(items) - shown} more, in the file of facts"
    return [*items[:shown], {"nodes": more, "digest": ""} if isinstance(items[0], dict) else more]


def _cut(line: str) -> str:
    return line if len(line) <= LINE_LIMIT else f"{line[: LINE_LIMIT - 3]}..."
