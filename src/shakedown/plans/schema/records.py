"""Kinds that consist of other kinds: maps with known keys, maps with free keys, lists, and choices between shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from shakedown.model.errors import did_you_mean
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import Kind, Name, Text
from shakedown.plans.schema.yaml_nodes import shape


@dataclass(frozen=True, slots=True)
class Key:
    """One known key of a map: its kind, its description, and whether it is required."""

    kind: Kind
    about: str
    required: bool = False


def described(kind: Kind) -> dict[str, Any]:
    """Purpose: the schema of a kind with its description, for an editor to show where no key describes the value."""
    return {"description": kind.words, **kind.schema()}


def _of_key(key: Key) -> dict[str, Any]:
    """The schema of a key's value with the key's description. Where a value has several shapes, an editor shows the description of
    the shape that is used, so each shape gets the key's description too.
    """
    schema = key.kind.schema()
    if "anyOf" in schema:
        schema["anyOf"] = [_with_key_description(key.about, choice) for choice in schema["anyOf"]]
    return {**schema, "description": key.about}


def _with_key_description(about: str, choice: dict[str, Any]) -> dict[str, Any]:
    return {**choice, "description": f"{about}\n\nHere: {choice['description']}"} if "description" in choice else choice


class Record:
    """A map with known keys. It is read into a dictionary of the keys that are present.

    ``other_words``: other names that people use for these keys, and how to write each here.
    """

    def __init__(self, words: str, keys: Mapping[str, Key], other_words: Mapping[str, str] | None = None) -> None:
        self.words, self.keys, self.other_words = words, dict(keys), other_words or {}
        self.required = [name for name, key in keys.items() if key.required]

    def read(self, node: Node, label: str, problems: Problems) -> dict[str, Any] | None:
        if node.__class__ is not MappingNode:
            problems.at(node, f"{label or 'this'} is {self.words}, not {shape(node)}")
            return None
        values: dict[str, Any] = {}
        misspelt: set[str] = set()  # required keys that are there under nearly their names
        unknown = 0
        for key_node, value_node in node.value:
            name = _key_name(key_node, label, problems)
            if name is None:
                continue
            key = self.keys.get(name)
            if key is None:
                unknown += 1
                near = self.other_words.get(name) or did_you_mean(name, self.keys)
                problems.at(key_node, f"unknown key '{name}'{_within(label)}", near or self._all())
                misspelt.update(known for known in self.required if near and f"'{known}'" in near)
            elif name in values:
                _say_twice(key_node, name, node, problems)
            else:
                values[name] = key.kind.read(value_node, f"{label}.{name}" if label else name, problems)
        other = unknown > 0 and not values  # another map was meant: of which keys none is known
        for name in self.required:
            if name not in values and name not in misspelt and not other:
                problems.at(node, f"'{name}' is missing{_within(label)}", f"{name}: {self.keys[name].about}")
        return values

    def _all(self) -> str:
        return f"known here: {', '.join(self.keys)}"

    def schema(self) -> dict[str, Any]:
        properties = {name: _of_key(key) for name, key in self.keys.items()}
        required = {"required": self.required} if self.required else {}
        return {"type": "object", "properties": properties, "additionalProperties": False, **required}


class OpenRecord(Record):
    """A map with known keys, and free keys with text as values. It is read as text, so that all of it can be shown.

    A free key that is nearly a known one is a fault: the known one was meant.
    """

    def __init__(self, words: str, keys: Mapping[str, Key], free: Name) -> None:
        super().__init__(words, keys)
        self.free = free

    def read(self, node: Node, label: str, problems: Problems) -> dict[str, Any] | None:
        if node.__class__ is not MappingNode:
            problems.at(node, f"{label or 'this'} is {self.words}, not {shape(node)}")
            return None
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            name = _key_name(key_node, label, problems)
            if name is None:
                continue
            near = None if name in self.keys else did_you_mean(name, self.keys)
            if name in values:
                _say_twice(key_node, name, node, problems)
            elif near:
                problems.at(key_node, f"unknown key '{name}'{_within(label)}", near)
            elif self.free.read(key_node, label, problems) is not None:
                kind = self.keys[name].kind if name in self.keys else Text()
                kind.read(value_node, f"{label}.{name}", problems)
                values[name] = getattr(value_node, "value", "")
        return values

    def schema(self) -> dict[str, Any]:
        return {**super().schema(), "additionalProperties": described(Text())}


class MapOf:
    """A map whose keys are names that a person chooses."""

    def __init__(self, name: Name, value: Kind, words: str, called: str = "NAME") -> None:
        self.name, self.value, self.words, self.called = name, value, words, called

    def read(self, node: Node, label: str, problems: Problems) -> dict[str, Any] | None:
        if node.__class__ is not MappingNode:
            key = label.rpartition(".")[2]
            problems.at(
                node, f"{label} is {self.words}, not {shape(node)}", f"write it so: {key}: {{{self.called}: ...}}"
            )
            return None
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            name = _key_name(key_node, label, problems)
            if name is None:
                continue
            if name in values:
                _say_twice(key_node, name, node, problems)
            elif self.name.read(key_node, label, problems) is not None:
                values[name] = self.value.read(value_node, f"{label}.{name}", problems)
        return values

    def schema(self) -> dict[str, Any]:
        names = {"pattern": f"^{self.name.pattern.pattern}$", "description": self.name.words}
        return {"type": "object", "additionalProperties": described(self.value), "propertyNames": names}


class ListOf:
    """A list of one kind. ``least``: the fewest items; ``once``: a word that comes twice in it is a fault."""

    def __init__(self, item: Kind, words: str, least: int = 0, once: bool = False) -> None:
        self.item, self.words, self.least, self.once = item, words, least, once

    def read(self, node: Node, label: str, problems: Problems) -> list[Any] | None:
        if node.__class__ is not SequenceNode:
            way_out = (
                f"write it in brackets: [{node.value}]" if isinstance(node, ScalarNode) else "begin each item with '- '"
            )
            problems.at(node, f"{label} is {self.words}, not {shape(node)}", way_out)
            return None
        if len(node.value) < self.least:
            problems.at(node, f"{label} is empty", f"it is {self.words}")
        if self.once:
            _say_repeated(node, label, problems)
        return [self.item.read(item, label, problems) for item in node.value]

    def schema(self) -> dict[str, Any]:
        least = {"minItems": self.least} if self.least else {}
        return {"type": "array", "items": described(self.item), **least}


class Either:
    """A value that may be written in several shapes; the shape determines its kind."""

    def __init__(self, scalar: Kind | None = None, items: Kind | None = None, keys: Kind | None = None) -> None:
        self.by_shape = {ScalarNode: scalar, SequenceNode: items, MappingNode: keys}
        self.kinds = [kind for kind in (scalar, items, keys) if kind is not None]
        self.words = " or ".join(kind.words for kind in self.kinds)

    def read(self, node: Node, label: str, problems: Problems) -> Any:
        kind = self.by_shape.get(node.__class__)
        if kind is not None:
            return kind.read(node, label, problems)
        problems.at(node, f"{label} is {self.words}, not {shape(node)}")
        return None

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [described(kind) for kind in self.kinds]}


class OneKey:
    """A map with a single key, which determines the rest. It is read into the pair (key, value).

    ``called``: what the reference calls the key where all keys have the same kind of value.
    """

    def __init__(self, words: str, keys: Mapping[str, Key], called: str = "") -> None:
        self.words, self.keys, self.called = words, dict(keys), called

    def read(self, node: Node, label: str, problems: Problems) -> tuple[str, Any] | None:
        if not isinstance(node, MappingNode) or not node.value:
            problems.at(node, f"{label}: an item is {self.words}, not {shape(node)}")
            return None
        if len(node.value) > 1:
            second = node.value[1][0]
            problems.at(second, f"{label}: an item has one key, and this is a second", "is the indentation right?")
            return None
        key_node, value_node = node.value[0]
        name = _key_name(key_node, label, problems)
        if name is None:
            return None
        if name not in self.keys:
            known = did_you_mean(name, self.keys) or f"known here: {', '.join(self.keys)}"
            problems.at(key_node, f"unknown key '{name}'{_within(label)}", known)
            return None
        return name, self.keys[name].kind.read(value_node, name, problems)

    def schema(self) -> dict[str, Any]:
        properties = {name: _of_key(key) for name, key in self.keys.items()}
        return {
            "type": "object",
            "properties": properties,
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
        }


def documented(kind: Any, path: str = "") -> Iterator[tuple[str, Key]]:
    """Purpose: every known key below a kind as (dotted path, Key), for the reference and for JSON Schema."""
    if isinstance(kind, OneKey) and kind.called:
        yield from ((f"{path}.{name}", key) for name, key in kind.keys.items())
        yield from documented(next(iter(kind.keys.values())).kind, f"{path}.{kind.called}")
    elif isinstance(kind, Record | OneKey):
        for name, key in kind.keys.items():
            below = f"{path}.{name}" if path else name
            yield below, key
            yield from documented(key.kind, below)
    elif isinstance(kind, MapOf):
        yield from documented(kind.value, f"{path}.{kind.called}")
    elif isinstance(kind, ListOf):
        yield from documented(kind.item, f"{path}[]")
    elif isinstance(kind, Either):
        for choice in kind.kinds:
            if not any(isinstance(other, ListOf) and _may_hold(other.item, choice) for other in kind.kinds):
                yield from documented(choice, path)  # once, in its list


def _may_hold(item: Kind, choice: Kind) -> bool:
    """Whether the items of a list may have this kind."""
    return item is choice or (isinstance(item, Either) and any(kind is choice for kind in item.kinds))


def _key_name(node: Node, label: str, problems: Problems) -> str | None:
    if node.__class__ is ScalarNode:
        name: str = node.value
        return name
    problems.at(node, f"a key is a word, not {shape(node)}{_within(label)}")
    return None


def _say_twice(key_node: Node, name: str, node: MappingNode, problems: Problems) -> None:
    first: Any = next(key for key, _ in node.value if key.value == name).start_mark
    problems.at(key_node, f"key '{name}' is written twice", f"the first is on line {first.line + 1}; keep one")


def _say_repeated(node: SequenceNode, label: str, problems: Problems) -> None:
    first: dict[str, Node] = {}
    for item in node.value:
        if isinstance(item, ScalarNode) and first.setdefault(item.value, item) is not item:
            line = first[item.value].start_mark.line + 1
            problems.at(item, f"{label}: '{item.value}' is written twice", f"the first is on line {line}; keep one")


def _within(label: str) -> str:
    return f" in {label}" if label else ""
