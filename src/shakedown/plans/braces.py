"""Warn of ``{name}`` in places where names are not filled in: it would reach the program or the scheduler as written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from shakedown.plans.cases.needs import tests_needed
from shakedown.plans.files import CATALOGUE
from shakedown.plans.library import Definition
from shakedown.plans.schema.expressions import ExpressionError, names_in
from shakedown.plans.schema.plan import PLAN
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.records import Either, ListOf, MapOf, OneKey, OpenRecord, Record
from shakedown.plans.schema.scalars import Scalar
from shakedown.plans.schema.source_positions import place
from shakedown.plans.schema.tables import SYSTEM
from shakedown.plans.schema.test import TEST

CAMPAIGN_NAMES = ("build", "campaign")  # they have a value only once a campaign runs
_SHAPE = ("nodes", "tasks_per_node", "cpus_per_task", "gpus_per_node", "gpus_per_task", "ranks", "cores", "launch")
_PLACES = (
    "node.cores",
    "node.sockets",
    "node.numa",
    "node.threads_per_core",
    "node.memory",
    "node.peak",
    "node.gpus",
    "gpu.model",
    "gpu.memory",
    "gpu.numa",
    "system",
    "partition",
    "partition.nodes",
    "filesystems",
)
_TOOLCHAIN = ("toolchain", "toolchain.cc", "toolchain.cxx", "toolchain.fc")
KNOWN = frozenset((*CAMPAIGN_NAMES, *_SHAPE, *_PLACES, *_TOOLCHAIN))
_BRACES = re.compile(r"(?<![${])\{([^{}\n]*)\}(?!\})")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_PIECES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")  # as expressions take a text apart
_ESCAPED_PIECES = re.compile(rf"\\.|{_PIECES.pattern}", re.DOTALL)
_DOLLAR = re.compile(r"(?<!\\)\$\{(launch|container|build|campaign|toolchain(?:\.\w+)?|system|partition)\}(?!\})")
_BY_CASE = ("check", "check+")  # each case fills them in, or tells what is wrong
_OF_FIGURE = re.compile(r"figures\..+\.(?:regex|json|yaml|from|table\..+)")
_FILLED_IN = "names are filled in in parameters, build.run, loads, checks and figures, and in run, but for its files"


def tell_unfilled(test: Definition, told: Problems) -> None:
    """Purpose: warn of each name of a test's own that stands where nothing is filled in."""
    known = KNOWN | test.values.get("parameters", {}).keys()
    for node, label, name in unfilled(test.root, TEST, known):
        if not node.start_mark.name.startswith(CATALOGUE):
            told.at(node, f"{label}: '{{{name}}}' stays as it is: nothing is filled in here", _FILLED_IN)


def tell_dollars(test: Definition, told: Problems) -> None:
    """Purpose: warn of ``${launch}``, ``${build}`` and the like in shell lines: they become a '$' and the value, so the shell sees
    a variable that nobody has. Numbers may be meant, as in awk's ``${n}``, and are left alone.
    """
    for path in (("run", "command"), ("build", "run")):
        text = str(test.values.get(path[0], {}).get(path[1], "")) if isinstance(test.values.get(path[0]), dict) else ""
        names = dict.fromkeys(match[1] for match in _DOLLAR.finditer(text))
        node = place(test.root, *path) if names else None
        for name in names:
            if node is not None and not node.start_mark.name.startswith(CATALOGUE):
                hint = f"write {{{name}}} for the value, or ${{{{{name}}}}} for a variable of the shell"
                told.at(
                    node,
                    f"{'.'.join(path)}: ${{{name}}} puts a '$' before the value, which the shell takes for a variable",
                    hint,
                )


def tell_unused(test: Definition, tests: Mapping[str, Definition], told: Problems) -> None:
    """Purpose: warn of each parameter of a test that nothing in it uses: its cases differ in their names alone.

    It is used by an expression in braces, and by a formula. A parameter that a needed test has too chooses which of its cases
    comes first, so it is used.
    """
    used = list(_used(test.root))
    needed = [tests[other] for _, other in tests_needed(test) if other in tests]
    chosen_by = {name for other in needed for name in other.values.get("parameters", {})}
    for key, value in _parameters(test.root):
        name = str(key.value)
        if name in KNOWN or name in chosen_by or key.start_mark.name.startswith(CATALOGUE):
            continue
        if not any(name in named for at, named in used if at is not value):
            values = value.value if isinstance(value, SequenceNode) else [value]
            less = f": {len(values)} cases in place of one do the same" if len(values) > 1 else ""
            hint = f"write {{{name}}} where its value belongs, or leave it out; 'repeats' of a component runs a case several times"
            told.at(key, f"parameters.{name}: nothing in the test uses it{less}", hint)


def _parameters(root: MappingNode) -> list[tuple[Node, Node]]:
    found = [value for key, value in root.value if key.value == "parameters"]
    return [pair for node in found if isinstance(node, MappingNode) for pair in node.value]


def _used(node: Node, path: tuple[str, ...] = (), at: Node | None = None) -> Iterator[tuple[Node, set[str]]]:
    """Yield the names that the expressions of each value have, with the value of the parameter that they stand in, or their own."""
    if isinstance(node, ScalarNode):
        yield at or node, _words(node.value, path)
    elif isinstance(node, SequenceNode):
        for item in node.value:
            yield from _used(item, path, at)
    elif isinstance(node, MappingNode):
        for key, value in node.value:
            if path or key.value not in ("about", "tags", "test", "extends"):
                parameter = value if path == ("parameters",) else at
                yield from _used(value, (*path, str(key.value)), parameter)


def _words(text: str, path: tuple[str, ...]) -> set[str]:
    """The names between single braces, and all those of a formula. In checks and figures a backslash takes braces their meaning."""
    if path[:1] == ("figures",) and path[-1] == "formula":
        return set(_NAME.findall(text))
    pieces = _ESCAPED_PIECES if path[:1] in (("figures",), ("check",), ("check+",)) else _PIECES
    return {word for match in pieces.finditer(text) for word in _NAME.findall(match.group(1) or "")}


def tell_unfilled_in_system(root: MappingNode, told: Problems) -> None:
    """Purpose: the same of a system's file, where only paths and licences have names in braces: their targets."""
    for node, label, name in unfilled(root, SYSTEM, KNOWN):
        hint = "a system's file holds values; a test fills names in"
        told.at(node, f"{label}: '{{{name}}}' stays as it is: nothing is filled in here", hint)


def tell_unfilled_in_plan(root: MappingNode, told: Problems) -> None:
    """Purpose: the same of a plan, where only the parameters that cases are chosen by have names in braces."""
    for node, label, name in unfilled(root, PLAN, KNOWN):
        hint = "in a plan names are filled in only in where; a test fills them in"
        told.at(node, f"{label}: '{{{name}}}' stays as it is: nothing is filled in here", hint)


def unfilled(root: Node, kind: Any, known: Iterable[str]) -> Iterator[tuple[Node, str, str]]:
    """Purpose: (node, dotted path, expression) of each expression of known names in a value that is not filled in.

    The shell's ``${X}``, awk's ``{print}``, ``{a,b}`` and a regular expression's ``{3}`` name nothing that is known.
    """
    names = frozenset(known)
    for node, found, label in _scalars(root, kind, ""):
        if not getattr(found, "templated", False) and label not in _BY_CASE and not _OF_FIGURE.fullmatch(label):
            for match in _BRACES.finditer(node.value):
                if _all_known(match.group(0), names):
                    yield node, label, match.group(1)


def _all_known(text: str, known: frozenset[str]) -> bool:
    try:
        named = names_in(text)
    except ExpressionError:
        return False
    return bool(named) and named <= known


def _scalars(node: Node, kind: Any, label: str) -> Iterator[tuple[ScalarNode, Scalar, str]]:
    """Every value below a node, with its kind and its dotted path. What has the wrong shape is left to those who read it."""
    if isinstance(kind, Either):
        chosen = kind.by_shape.get(type(node))
        if chosen is not None:
            yield from _scalars(node, chosen, label)
    elif isinstance(node, MappingNode):
        for key, value in node.value:
            below = _kind_of(kind, str(key.value))
            if below is not None:
                yield from _scalars(value, below, f"{label}.{key.value}" if label else str(key.value))
    elif isinstance(node, SequenceNode) and isinstance(kind, ListOf):
        for item in node.value:
            yield from _scalars(item, kind.item, label)
    elif isinstance(node, ScalarNode) and isinstance(kind, Scalar):
        yield node, kind, label


def _kind_of(kind: Any, name: str) -> Any:
    if isinstance(kind, MapOf):
        return kind.value
    keys: Mapping[str, Any] = kind.keys if isinstance(kind, Record | OneKey) else {}
    if name in keys:
        return keys[name].kind
    return Scalar() if isinstance(kind, OpenRecord) else None


def names_used(text: str, parameters: Mapping[str, Any]) -> set[str]:
    """Purpose: the names that a text's expressions use, and those that its parameters have in their values. A parameter that
    may be 0 as it is written stands for itself alone.
    """
    try:
        named = names_in(text)
        for name in named & parameters.keys():
            written = parameters[name]
            values = [str(value) for value in (written if isinstance(written, list) else [written])]
            if "0" not in values:
                named = named.union(*(names_in(value) for value in values))
    except ExpressionError:
        return set()
    return named


def names_of_the_campaign(text: str) -> set[str]:
    """Purpose: which of ``build`` and ``campaign`` a text's expressions use."""
    try:
        return names_in(text) & set(CAMPAIGN_NAMES)
    except ExpressionError:
        return set()


def doubled(text: str) -> str:
    """Purpose: a literal ``{{build}}`` or ``{{campaign}}``, which a campaign would take for its directory, or ""."""
    return next((word for name in CAMPAIGN_NAMES if (word := f"{{{{{name}}}}}") in text), "")


def tell_alike(test: Definition, told: Problems) -> None:
    """Purpose: warn of values of a parameter that are one number in several spellings, whose cases are the same runs, and of
    parameters whose names differ in case alone.
    """
    names: dict[str, str] = {}
    for key, value in _parameters(test.root):
        if key.start_mark.name.startswith(CATALOGUE):
            continue
        other = names.setdefault(str(key.value).casefold(), str(key.value))
        if other != key.value:
            told.at(key, f"parameters.{key.value} and parameters.{other} differ in case alone", "is one of them meant?")
        numbers: dict[float, str] = {}
        for item in value.value if isinstance(value, SequenceNode) else []:
            number = _number(item)
            first = numbers.setdefault(number, str(item.value)) if number is not None else ""
            if first and first != item.value:
                said = f"parameters.{key.value}: {first} and {item.value} are one number, and two cases"
                told.at(item, said, "leave one of them out; 'repeats' of a component runs a case several times")


def _number(node: Node) -> float | None:
    try:
        return float(node.value) if isinstance(node, ScalarNode) and not node.style else None
    except ValueError:
        return None
