"""The house is built as its page says: rooms and parts, no circle of imports, no scheduler asked for by its name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/shakedown"
PAGE = ROOT / "docs/concepts/house.md"

LONGEST = 50  # lines of a function
Trees = dict[Path, ast.Module]


@pytest.fixture(scope="module")
def trees() -> Trees:
    """Every file of the source as Python reads it, which takes seconds: once for all tests that look at the code."""
    return {path: ast.parse(path.read_text()) for path in SOURCE.rglob("*.py")}


def modules() -> dict[str, Path]:
    """Every module by its dotted name."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(path: Path, tree: ast.Module, known: dict[str, Path]) -> set[str]:
    """Modules of ours that a file imports anywhere in it, for types too."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in known else node.module for name in names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name in known and known[name] != path}


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Modules on circles: what is left when those that import nothing left, or that nothing left imports, are taken away."""
    left = {name: set(targets) for name, targets in graph.items()}
    while True:
        leaves = [name for name, targets in left.items() if not targets & left.keys()]
        roots = [name for name in left if not any(name in targets for targets in left.values())]
        if not leaves and not roots:
            return [sorted(left)] if left else []
        for name in {*leaves, *roots}:
            del left[name]


def test_no_circle_of_imports(trees: Trees) -> None:
    known = modules()
    assert len(known) > 500
    assert circles({name: imports_of(path, trees[path], known) for name, path in known.items()}) == []


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]


def test_no_scheduler_is_asked_for_by_its_name(trees: Trees) -> None:
    """Outside the rooms of schedulers and machines, and their declarations, no code compares with "slurm" or "local"."""

    def comparisons() -> Iterator[str]:
        for path, tree in trees.items():
            place = path.relative_to(SOURCE)
            if place.parts[0] in ("schedulers", "machine") or place.name == "dialects.py":
                continue
            for node in ast.walk(tree):
                if not isinstance(node, ast.Compare):
                    continue
                words = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
                if "slurm" in words or "local" in words:
                    yield f"{place}:{node.lineno}"

    assert list(comparisons()) == []


def test_no_function_needs_scrolling(trees: Trees) -> None:
    """The longest function of the source fits a screen: 50 lines."""
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > LONGEST
    ]
    assert long == []


def test_the_page_names_every_room_and_part() -> None:
    picture = PAGE.read_text().split("```")[1]
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert {word.rstrip("/") for word in re.findall(r"^  ([a-z]+)/", picture, re.MULTILINE)} | {
        word.rstrip("/") for word in re.findall(r"  ([a-z]+)/  ", picture)
    } >= rooms
    parts = {path.parent.name for room in rooms for path in (SOURCE / room).glob("*/__init__.py")}
    named = set(re.findall(r"([a-z_]+)/", picture))
    assert parts - named == set()


def test_what_the_page_names_is_there() -> None:
    for path in re.findall(r"`((?:[a-z_]+/)+[a-z_]*(?:\.py)?)`", PAGE.read_text()):
        assert (SOURCE / path).exists() or path == "failures/", path


def test_every_room_and_part_says_what_it_is() -> None:
    for path in SOURCE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path
