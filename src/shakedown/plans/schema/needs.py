"""What a test needs: programs of the machine, and other tests that must pass before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yaml.nodes import Node

from shakedown.plans.schema.check_words import inside
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.records import Either, Key, ListOf, MapOf, Record
from shakedown.plans.schema.scalars import Identifier, InvalidValue, Kind, Parsed, Text
from shakedown.plans.schema.source_positions import key_place

_OF_PROGRAMS = ("programs", "get")


class _Need(Record):
    """Programs, or a test: one of the two, with its other keys."""

    def read(self, node: Node, label: str, problems: Problems) -> dict[str, Any] | None:
        before = len(problems)
        values = super().read(node, label, problems)
        if values is None or len(problems) > before:
            return values
        kind = "programs" if "programs" in values else "test"
        if kind not in values:
            problems.at(node, f"neither 'test' nor 'programs' in {label}", "test: the test that must pass first")
            return values
        if "into" in values and not values.get("files"):
            problems.at(
                key_place(node, "into"), f"'into' has no meaning without 'files' in {label}", "name the files too"
            )
        for key in values:
            if (key in _OF_PROGRAMS) != (kind == "programs"):
                hint = "write a list: one item for the programs, one for each test"
                problems.at(key_place(node, key), f"'{key}' has no meaning beside '{kind}' in {label}", hint)
                break
        return values

    def schema(self) -> dict[str, Any]:
        return {**super().schema(), "anyOf": [{"required": ["test"]}, {"required": ["programs"]}]}


def path_inside(text: str) -> str:
    """Purpose: a path or pattern within a run's directory. Raises InvalidValue for an invalid one, or one that leads out of it."""
    if not text or text.endswith("/") or "\0" in text or any(part in ("", ".") for part in text.split("/")[1:]):
        raise InvalidValue(f"'{text}' is no path of a file", "write it as out/mesh.txt")
    return inside(text)


def needs_of(test: Kind, value: Kind) -> Kind:
    """Purpose: the kind of ``needs``: a test's name, a map, or a list of both. ``value``: the kind of a parameter's value."""
    one = _Need("a test's name, or a map with test or programs", _keys(test, value))
    return Either(scalar=test, items=ListOf(Either(scalar=test, keys=one), "a list of needs", 1), keys=one)


def _keys(test: Kind, value: Kind) -> Mapping[str, Key]:
    return {
        "test": Key(test, "a test that must pass before this one begins"),
        "where": Key(
            MapOf(Identifier("a parameter"), value, "parameters and their values", "PARAMETER"),
            "which of its cases; without it the one with the same parameters, as far as both tests have them",
        ),
        "files": Key(
            ListOf(Parsed("a file", path_inside, templated=True), "a list of files", 1),
            "files of its run, by name or pattern, that are placed in the run's directory under the same paths",
        ),
        "into": Key(
            Parsed("a directory", path_inside, templated=True),
            "the directory, in the run's own, that they are placed in",
        ),
        "programs": Key(ListOf(Text("a program"), "a list of programs", 1), "programs that must be on the machine"),
        "get": Key(Text(), "how to get them; shown where one is missing"),
    }
