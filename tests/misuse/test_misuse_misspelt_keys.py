"""Every key of every file, misspelt one at a time: the key, its line and what was meant are told, and the command ends with 2.

Another site directory is tried by adding it to ``SITES``.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from shakedown.model.errors import WRONG_USE, FileProblems
from shakedown.plans import finding
from shakedown.plans.checking import check_site
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.records import Either, ListOf, MapOf, OneKey, Record
from shakedown.plans.schema.tables import TABLES
from shakedown.plans.schema.yaml_nodes import read_nodes

ROOT = Path(__file__).parents[2]
SITES = {
    "example": ROOT / "tests" / "plans" / "example",  # it has every key there is
    "laptop": ROOT / "examples" / "laptop",
}
KINDS = {"systems": "system", "tests": "test", "plans": "plan", "rehearsals": "rehearsal"}


@dataclass(frozen=True)
class Misspelling:
    """A file with one key misspelt. ``text`` is the whole file then."""

    line: int
    key: str
    misspelt: str
    text: str


def misspell_every_key(path: Path, kind: str) -> Iterator[Misspelling]:
    """Each known key of a file, misspelt in turn; ``kind`` is the kind of file: site, system, test, plan or rehearsal."""
    text = path.read_text()
    root = read_nodes(text.encode(), str(path), Problems())
    for node in _keys(root, TABLES[kind]):
        mark: Any = node.start_mark
        lines = text.splitlines(keepends=True)
        line, end = lines[mark.line], mark.column + len(node.value)
        assert line[mark.column : end] == node.value, "a key in quotes cannot be misspelt by this"
        misspelt = misspell(node.value)
        lines[mark.line] = line[: mark.column] + misspelt + line[end:]
        yield Misspelling(mark.line + 1, node.value, misspelt, "".join(lines))


def misspell(word: str) -> str:
    """As fingers do: the last letter but one is lost; short words get one too many."""
    return word[:-2] + word[-1] if len(word) > 3 else word + word[-1]


def _keys(node: Any, kind: Any) -> Iterator[ScalarNode]:
    """The nodes of the keys that the tables know. Keys of a person's own choosing are not among them."""
    if isinstance(kind, Either):
        kind = kind.by_shape[type(node)]
    if isinstance(kind, Record | OneKey) and isinstance(node, MappingNode):
        for key, value in node.value:
            if key.value in kind.keys:  # free ones may stand beside them
                yield key
                yield from _keys(value, kind.keys[key.value].kind)
    elif isinstance(kind, MapOf) and isinstance(node, MappingNode):
        for _, value in node.value:
            yield from _keys(value, kind.value)
    elif isinstance(kind, ListOf) and isinstance(node, SequenceNode):
        for item in node.value:
            yield from _keys(item, kind.item)


def _files() -> Iterator[Any]:
    for name, site in SITES.items():
        yield pytest.param(site, Path("site.yaml"), "site", id=f"{name}-site.yaml")
        for path in sorted(site.glob("*/**/*.yaml")):
            relative = path.relative_to(site)
            kind = KINDS.get(relative.parts[0])
            if kind:
                yield pytest.param(site, relative, kind, id=f"{name}-{relative}")


@pytest.mark.parametrize(("site", "name", "kind"), list(_files()))
def test_a_misspelt_key_is_told(
    site: Path, name: Path, kind: str, tmp_path: Path, here: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "site"
    shutil.copytree(site, copy, ignore=shutil.ignore_patterns("campaigns"))
    monkeypatch.chdir(copy)
    count = 0
    for wrong in misspell_every_key(site / name, kind):
        (copy / name).write_text(wrong.text)
        checked = check_site(copy, lambda: here)
        assert FileProblems(checked.problems).status == WRONG_USE
        told = [p for p in checked.problems if (p.path, p.line) == (str(name), wrong.line)]
        assert any(
            f"unknown key '{wrong.misspelt}'" in p.message and p.hint == f"did you mean '{wrong.key}'?" for p in told
        ), f"{wrong.key} misspelt as {wrong.misspelt} gave {[str(p) for p in checked.problems]}"
        count += 1
    assert count > 0


def test_the_package_has_its_tests_where_they_are_looked_for() -> None:
    """The catalogue is left out above; it must not have been missing all along."""
    assert (Path(finding.__file__).parents[1] / "catalogue" / "tests").is_dir()
