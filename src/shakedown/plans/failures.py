"""Classes of failures out of YAML: those of the package, and those of a site, which extend or replace them."""

# paths are text in this room: a Path for each of thousands of files costs too much
# ruff: noqa: PTH118

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator
from typing import Any

from yaml.nodes import MappingNode, SequenceNode

from shakedown.model.failures import FailureClass, FailureLine
from shakedown.model.nouns import Source
from shakedown.plans.files import Found, read_bytes, scan
from shakedown.plans.finding import CATALOGUE_FAILURES
from shakedown.plans.schema.failures import FAILURES
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import place
from shakedown.plans.schema.yaml_nodes import read_nodes

PREFIX = "catalogue:failures/"  # before the names of the package's files


@functools.cache
def shipped_failures() -> tuple[FailureClass, ...]:
    """Purpose: the package's classes, read once. Raises FileProblems where the package itself is damaged."""
    problems = Problems()
    classes, _ = _read_all(scan(CATALOGUE_FAILURES, PREFIX, problems), problems, "")
    problems.stop()
    return classes


def site_failures(site: str, problems: Problems) -> tuple[tuple[FailureClass, ...], tuple[Source, ...]]:
    """Purpose: a site's own classes (``SITE/failures/*.yaml``) and the files they are from; what is wrong is in ``problems``."""
    return _read_all(scan(os.path.join(site, "failures"), "failures/", problems), problems, "the site")


def _read_all(
    files: list[Found], problems: Problems, source: str
) -> tuple[tuple[FailureClass, ...], tuple[Source, ...]]:
    """``source``: where lines were seen that do not say it."""
    classes: dict[str, FailureClass] = {}
    sources = []
    for file in files:
        data = read_bytes(file, problems)
        root = None if data is None else read_nodes(data, file.name, problems)
        if data is None or root is None:
            continue
        sources.append(Source(file.name, hashlib.sha256(data).hexdigest()))
        for one, node in _read(root, problems, source):
            first = classes.setdefault(one.name, one)
            if first is not one:
                problems.at(place(node, "class"), f"there is a class '{one.name}' already", f"it is in {first.place}")
    return tuple(classes.values()), tuple(sources)


def _read(root: MappingNode, problems: Problems, source: str) -> Iterator[tuple[FailureClass, MappingNode]]:
    """The classes of one file, if nothing is wrong with it."""
    before = len(problems)
    values = FAILURES.read(root, "", problems)
    if values is None or len(problems) > before:
        return
    nodes = place(root, "failures")
    assert isinstance(nodes, SequenceNode)
    for item, node in zip(values["failures"], nodes.value, strict=True):
        lines = tuple(_line(line, node, number, problems, source) for number, line in enumerate(item["lines"]))
        if len(problems) == before:
            yield _class(item, lines, node), node


def _class(item: dict[str, Any], lines: tuple[FailureLine, ...], node: MappingNode) -> FailureClass:
    mark: Any = node.start_mark
    return FailureClass(
        name=item["class"],
        family=item["family"],
        about=item["about"],
        hint=item.get("hint", ""),
        lines=lines,
        suspect=item.get("suspect", ""),
        examples=_several(item.get("examples")),
        unlike=_several(item.get("unlike")),
        place=f"{mark.name}:{mark.line + 1}",
    )


def _line(item: dict[str, Any], node: MappingNode, number: int, problems: Problems, source: str) -> FailureLine:
    texts, patterns = _several(item.get("texts")), _several(item.get("patterns"))
    if not texts and not patterns:
        at = place(node, "lines", number)
        problems.at(at, "these lines have neither texts nor patterns", "texts: [what such a line holds]")
    return FailureLine(item["weight"], item.get("source", source), texts, patterns)


def _several(value: Any) -> tuple[str, ...]:
    """One text, or a list of them, as it was written."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)
