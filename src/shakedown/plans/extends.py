"""``extends``: maps merge deeply, lists and scalars replace. Nodes are kept, so errors point to the file they came from."""

from __future__ import annotations

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

_OWN = frozenset({"test", "abstract", "extends"})  # never taken over


def merged(test: MappingNode, base: MappingNode) -> MappingNode:
    """Purpose: the map of a test on top of the one it extends. ``check+`` adds to the checks taken over."""
    kept = [(key, value) for key, value in base.value if not (isinstance(key, ScalarNode) and key.value in _OWN)]
    return _joined(_merge(test, MappingNode("", kept, base.start_mark)))


def check_lists_joined(root: MappingNode) -> MappingNode:
    """A test that extends nothing: ``check+`` is then ``check``."""
    names = [key.value for key, _ in root.value]
    return _joined(root) if "check+" in names and "extends" not in names else root


def _merge(over: MappingNode, under: MappingNode) -> MappingNode:
    """Keys stay in the order of ``under``. A key that ``over`` writes twice stays there twice, to be complained about; one that
    ``under`` has twice is complained about at its own place.
    """
    pairs = _once(under)
    places = {key.value: number for number, (key, _) in enumerate(pairs) if isinstance(key, ScalarNode)}
    for key, value in over.value:
        number = places.pop(key.value, None) if isinstance(key, ScalarNode) else None
        if number is None:
            pairs.append((key, value))
        else:
            pairs[number] = (key, _on_top(value, pairs[number][1]))
    return MappingNode("", pairs, over.start_mark)


def _once(node: MappingNode) -> list[tuple[Node, Node]]:
    """The entries of a map, of each key the first."""
    seen: set[str] = set()
    pairs = []
    for key, value in node.value:
        if not isinstance(key, ScalarNode) or key.value not in seen:
            pairs.append((key, value))
        if isinstance(key, ScalarNode):
            seen.add(key.value)
    return pairs


def _on_top(value: Node, below: Node) -> Node:
    if isinstance(value, MappingNode) and isinstance(below, MappingNode):
        return _merge(value, below)
    return value


def _joined(root: MappingNode) -> MappingNode:
    names = [key.value for key, _ in root.value]
    if names.count("check") > 1 or names.count("check+") > 1:
        return root  # the table of keys says so
    lists = {key.value: value for key, value in root.value if key.value in ("check", "check+")}
    more = lists.get("check+")
    if not isinstance(more, SequenceNode) or not isinstance(lists.get("check", more), SequenceNode):
        return root
    before = lists["check"].value if "check" in lists else []
    both = SequenceNode("", [*before, *more.value], more.start_mark)
    rest = [(key, value) for key, value in root.value if key.value not in ("check", "check+")]
    name = next(key for key, _ in root.value if key.value in ("check", "check+"))
    return MappingNode("", [*rest, (ScalarNode("", "check", name.start_mark), both)], root.start_mark)
