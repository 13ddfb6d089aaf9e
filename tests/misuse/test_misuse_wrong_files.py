"""Two hundred wrong files: every kind of mistake, spread over all that a site's files hold, and each is told once.

A mistake is made at one key or value of the site that has every key there is. Whatever comes of it, there is no traceback, and
at most one error: a value of another kind may be a fine one. What is no YAML is an error in any case, at its own line or the next.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from shakedown.model.nouns import System
from shakedown.plans.checking import check_site

EXAMPLE = Path(__file__).parents[1] / "plans/example"
KEYS = EXAMPLE.parent / "every_key.yaml"
WANTED = 200


class Place(NamedTuple):
    """A value in a file: where its key and the value stand. ``key`` is -1 in a list."""

    text: str
    key: int
    begin: int
    end: int

    def put(self, text: str) -> str:
        return self.text[: self.begin] + text + self.text[self.end :]

    def at_line(self, text: str) -> str:
        """Something at the beginning of the line of the key."""
        start = self.text.rfind("\n", 0, self.key) + 1
        return self.text[:start] + text + self.text[start:]


def _twice(place: Place) -> str:
    return place.text[: place.begin] + place.text[place.begin : place.end] + _behind(place) + place.text[place.end :]


def _behind(place: Place) -> str:
    start = place.text.rfind("\n", 0, place.key) + 1
    return "\n" + " " * (place.key - start) + place.text[place.key : place.end]


OTHER_VALUES: dict[str, Callable[[Place], str]] = {
    "a list": lambda place: place.put("[banana]"),
    "a map": lambda place: place.put("{a: 1}"),
    "a word": lambda place: place.put("banana"),
    "nothing": lambda place: place.put('""'),
    "a number": lambda place: place.put("-7"),
    "another unit": lambda place: place.put("3 parsecs"),
}
NO_YAML: dict[str, Callable[[Place], str]] = {
    "an open bracket": lambda place: place.put("[" + place.text[place.begin : place.end]),
    "a quote": lambda place: place.put('"' + place.text[place.begin : place.end]),
    "an alias": lambda place: place.put("*nobody"),
    "a tab": lambda place: place.at_line("\t"),
    "twice": _twice,
}


def _places(text: str) -> Iterator[Place]:
    """Every value of one line, in the order of the file."""

    def walk(node: Any, key: int) -> Iterator[Place]:
        begin, end = node.start_mark.index, node.end_mark.index
        written = text[begin:end].rstrip()
        if "\n" not in written and getattr(node, "style", None) not in ("|", ">"):
            yield Place(text, key, begin, begin + len(written))
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                yield from walk(value, name.start_mark.index)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                yield from walk(item, -1)

    yield from walk(yaml.compose(text), -1)


def _own_line(place: Place) -> bool:
    """Whether a block's key begins the line and its value ends it."""
    start = place.text.rfind("\n", 0, place.key) + 1
    return place.key >= 0 and not place.text[start : place.key].strip() and place.text[place.end] == "\n"


def _mistakes() -> list[tuple[str, str, str, int]]:
    """(file, what, the wrong text, the line) of all mistakes, every so many of them."""
    found = []
    files = {str(path.relative_to(EXAMPLE)): path for path in sorted(EXAMPLE.rglob("*.yaml"))}
    for name, path in (files | {"tests/keys.yaml": KEYS}).items():
        for place in _places(path.read_text()):
            makers = OTHER_VALUES | (NO_YAML if _own_line(place) else {})
            for what, make in makers.items():
                at = place.key if what == "a tab" else place.begin  # a list begins below its key
                found.append((name, what, make(place), place.text.count("\n", 0, at) + 1))
    step = len(found) // WANTED
    return found[step // 2 :: step][:WANTED]


MISTAKES = _mistakes()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wrong") / "site"
    shutil.copytree(EXAMPLE, path)
    shutil.copy(KEYS, path / "tests/keys.yaml")
    return path


def test_there_are_two_hundred() -> None:
    assert len(MISTAKES) == WANTED
    assert {what for _, what, *_ in MISTAKES} == {*OTHER_VALUES, *NO_YAML}


@pytest.mark.parametrize("one", MISTAKES, ids=[f"{name}:{line}-{what}" for name, what, _, line in MISTAKES])
def test_each_is_told_once(site: Path, here: System, one: tuple[str, str, str, int], monkeypatch: Any) -> None:
    name, what, wrong, line = one
    right = (site / name).read_text()
    monkeypatch.chdir(site)
    (site / name).write_text(wrong)
    try:
        problems = check_site(site, lambda: here).problems
    finally:
        (site / name).write_text(right)
    assert len(problems) <= 1, [str(problem) for problem in problems]
    if what in NO_YAML:
        (problem,) = problems
        assert (problem.path, problem.line in (line, line + 1)) == (name, True), str(problem)
