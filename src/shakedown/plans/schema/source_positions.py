"""Find the node that a value was read from, in order to report a fault at its place."""

from __future__ import annotations

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode


def place(root: Node, *path: str | int) -> Node:
    """Purpose: the node at a path of keys and positions below ``root``; the nearest one above it where the path does not exist."""
    node = root
    for step in path:
        below = _child(node, step)
        if below is None:
            return node
        node = below[1]
    return node


def key_place(root: Node, *path: str | int) -> Node:
    """The node of the path's last key, not of its value."""
    above = place(root, *path[:-1])
    below = _child(above, path[-1])
    return above if below is None else below[0]


def _child(node: Node, step: str | int) -> tuple[Node, Node] | None:
    if isinstance(node, MappingNode):
        return next(((k, v) for k, v in node.value if isinstance(k, ScalarNode) and k.value == step), None)
    if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step], node.value[step]
    return None
