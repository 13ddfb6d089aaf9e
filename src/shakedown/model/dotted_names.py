"""Names with dots in a parsed expression: ``node.cores`` in ``{node.cores * 2}``. Formulas and text with braces both read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def dotted(tree: ast.expr) -> str:
    """The name that this node is, with its dots; "" where it is something else."""
    if isinstance(tree, ast.Name):
        return tree.id
    if isinstance(tree, ast.Attribute):
        before = dotted(tree.value)
        return f"{before}.{tree.attr}" if before else ""
    return ""


def dotted_names_in(tree: ast.expr) -> Iterator[str]:
    """Every name of an expression, from left to right, as often as it stands there; functions that are called are none."""
    name = dotted(tree)
    if name:
        yield name
    elif isinstance(tree, ast.Call):
        for argument in tree.args:
            yield from dotted_names_in(argument)
    else:
        for child in ast.iter_child_nodes(tree):
            if isinstance(child, ast.expr):
                yield from dotted_names_in(child)
