"""Turn YAML text into nodes that know their places. Errors in the text become sentences.

Tags create no objects, and scalars get no type here: the tables of keys assign types.
"""

from __future__ import annotations

import io
import re
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from shakedown.plans.credentials import tell_credentials
from shakedown.plans.files import LIMIT_BYTES
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.yaml_quotes import left_open, may_be_open
from shakedown.plans.schema.yaml_words import in_words

LIMIT_DEPTH = 50
LIMIT_NODES = 200_000  # after aliases are followed: a few lines can stand for billions
_OPENERS = (b"[", b"{", b"-", b":", b"?")  # whatever can nest one level deeper
_SAFE_OPENERS = 150  # the C composer recurses, and would crash tens of thousands of levels down
_SPECIAL = re.compile(rb"<<|[&*!]")
_ODD = {  # what looks like a blank, or like nothing
    **{"\u00a0": "a no-break space", "\u202f": "a narrow no-break space", "\u2007": "a figure space"},
    **{"\u3000": "an ideographic space", "\u2003": "an em space", "\u2002": "an en space", "\u2009": "a thin space"},
    **{"\u200b": "a space of no width", "\ufeff": "a byte order mark"},
}
_ODD_INDENT = re.compile(rf"[ \t]*([{''.join(_ODD)}])")
_ODD_BEHIND = re.compile(rf"[:,-]([{''.join(_ODD)}])")
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_nodes(data: bytes, name: str, problems: Problems, first: str = "about") -> MappingNode | None:
    """Purpose: the map in a file, or None after its faults were added to ``problems``.

    ``name`` is the file's name in messages; every node carries it. ``first``: the key that such a file begins with.
    """
    if len(data) > LIMIT_BYTES:
        problems.file(name, f"the file has more than {LIMIT_BYTES} bytes, the most that is read")
        return None
    text = decode_text(data, name, problems)
    if text is None:
        return None
    data = text.encode()
    try:
        if sum(map(data.count, _OPENERS)) > _SAFE_OPENERS and not _shallow(data, name, problems):
            return None
        root = _loader(data, name).get_single_node()
    except yaml.MarkedYAMLError as error:
        if not _tell_odd_blank(error, text, name, problems):
            _tell(left_open(_loader(data, name), text) or in_words(error, text), name, problems)
        return None
    if may_be_open(data) and (fault := left_open(_loader(data, name), text)):
        _tell(fault, name, problems)
        return None
    if root is not None and _SPECIAL.search(data) and not _Special(problems).check(root):
        return None
    if isinstance(root, MappingNode) and _tell_other_kind(root, name, problems, first):
        return None
    if root is not None:
        tell_credentials(root, data, problems)
    return _map(root, name, problems, first)


# what a file describes -> the keys of which it has one besides, and the directory for such files
_KINDS = {
    "test": (("run", "extends", "figures", "check"), "tests/"),
    "plan": (("components",), "plans/"),
    "contract": (("rows",), "contracts/"),
    "system": (("clusters", "node_types"), "systems/"),
}


def _tell_other_kind(root: MappingNode, name: str, problems: Problems, first: str) -> bool:
    """Whether a file in the directory of one kind describes another, such as a plan in tests/; it is told."""
    keys = {key.value: key for key, _ in root.value if isinstance(key, ScalarNode)}
    if first not in _KINDS or first in keys:
        return False
    for kind, (others, directory) in _KINDS.items():
        if kind in keys and not keys.keys().isdisjoint(others):
            mine = _KINDS[first][1]
            problems.at(keys[kind], f"this is a {kind}, and {mine} holds {mine[:-1]}", f"move it to {directory}")
            return True
    return False


def decode_text(data: bytes, name: str, problems: Problems) -> str | None:
    """Purpose: the text of a file, or None after the first byte that is not text was added to ``problems``."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        column = len(before) - (before.rfind(b"\n") + 1) + 1
        problems.file(name, "the file is not UTF-8 text", "save it as UTF-8", before.count(b"\n") + 1, column)
        return None
    bad = _UNPRINTABLE.search(text)
    if bad is None:
        return text
    line, column = text.count("\n", 0, bad.start()) + 1, bad.start() - text.rfind("\n", 0, bad.start())
    shown = f"the character U+{ord(bad.group()):04X} cannot stand in a file of text"
    problems.file(name, shown, "inside double quotes write it as \\x..", line, column)
    return None


class _Stream(io.BytesIO):
    """The text together with the file's name, which the parser adds to every mark."""

    name: str


def _shallow(data: bytes, name: str, problems: Problems) -> bool:
    """Whether the text is not nested too deeply; otherwise adds a fault. Walks the events, which needs no recursion."""
    loader, depth = _loader(data, name), 0
    while loader.check_event():
        event = loader.get_event()
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > LIMIT_DEPTH:
            mark = event.start_mark
            problems.file(name, f"nested more than {LIMIT_DEPTH} levels deep", None, mark.line + 1, mark.column + 1)
            return False
    return True


def _loader(data: bytes, name: str) -> Any:
    stream = _Stream(data)
    stream.name = name
    return _Loader(stream)


class _Untyped:
    """A resolver that assigns no types: a tag stays "" unless one was written."""

    def descend_resolver(self, current_node: Any, current_index: Any) -> None: ...

    def ascend_resolver(self) -> None: ...

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        return ""


try:
    from yaml._yaml import CParser

    class _Loader(_Untyped, CParser):
        """PyYAML's parser and composer in C."""

except ImportError:  # PyYAML without libyaml
    from yaml.composer import Composer
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.scanner import Scanner

    class _Loader(_Untyped, Reader, Scanner, Parser, Composer):  # type: ignore[no-redef]
        """The same in Python: slower, and its errors read a little differently."""

        def __init__(self, stream: io.BytesIO) -> None:
            Reader.__init__(self, stream)
            Scanner.__init__(self)
            Parser.__init__(self)
            Composer.__init__(self)


def _map(root: Node | None, name: str, problems: Problems, first: str) -> MappingNode | None:
    if isinstance(root, MappingNode):
        return root
    if root is None or (isinstance(root, ScalarNode) and root.value == ""):
        problems.file(name, "the file is empty", "write it, or take it away")
    else:
        problems.at(
            root, f"the file holds {shape(root)}, not a map of keys", f"it starts with a key, such as '{first}: ...'"
        )
    return None


def _tell_odd_blank(error: yaml.MarkedYAMLError, text: str, name: str, problems: Problems) -> bool:
    """Whether a blank that YAML does not take for one is the likely cause of an error: it indents a line up to that of the error,
    or stands behind a colon of it or of the line before; it is told.
    """
    mark: Any = error.problem_mark or error.context_mark
    lines = text.split("\n")[: mark.line + 1 if mark else None]
    for number, line in enumerate(lines):
        found = _ODD_INDENT.match(line) or (_ODD_BEHIND.search(line) if number > len(lines) - 3 else None)
        if found:
            what = f"U+{ord(found[1]):04X}, {_ODD[found[1]]},"
            column = found.start(1) + 1
            problems.file(name, f"{what} is no blank to YAML", "write a space in its place", number + 1, column)
            return True
    return False


def _tell(fault: tuple[str, str | None, Any], name: str, problems: Problems) -> None:
    message, hint, mark = fault
    problems.file(name, message, hint, mark.line + 1 if mark else 0, mark.column + 1 if mark else 0)


def shape(node: Node) -> str:
    """The shape of a node, in words."""
    if isinstance(node, MappingNode):
        return "a map"
    return "a list" if isinstance(node, SequenceNode) else f"'{node.value}'"


class _Special:
    """Refuses tags, expands merge keys (``<<``), and limits aliases: they may neither expand too far nor contain themselves."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.sizes: dict[int, int] = {}  # id of a node -> nodes it stands for, aliases followed
        self.open: set[int] = set()

    def check(self, root: Node) -> bool:
        before = len(self.problems)
        size = self._size(root)
        if len(self.problems) == before and size > LIMIT_NODES:
            self.problems.at(root, f"its aliases stand for more than {LIMIT_NODES} entries")
        return len(self.problems) == before

    def _size(self, node: Node) -> int:
        known = self.sizes.get(id(node))
        if known is not None:
            return known
        if id(node) in self.open:
            self.problems.at(node, "an alias refers to a value that contains the alias itself")
            return 1
        if node.tag:
            shown = node.tag.replace("tag:yaml.org,2002:", "!!")
            self.problems.at(node, f"the tag '{shown}' has no meaning here", "put the text in quotes where it is meant")
        if isinstance(node, ScalarNode):
            return 1
        self.open.add(id(node))
        children = [child for pair in node.value for child in pair] if isinstance(node, MappingNode) else node.value
        size = 1 + sum(map(self._size, children))
        self.open.discard(id(node))
        self.sizes[id(node)] = size
        if isinstance(node, MappingNode):
            self._merge(node)
        return size

    def _merge(self, node: MappingNode) -> None:
        """Replace ``<<`` by the entries of the map that it names; the map's own entries win."""
        merges = [(k, v) for k, v in node.value if isinstance(k, ScalarNode) and k.value == "<<" and not k.style]
        if not merges:
            return
        for second, _ in merges[1:]:
            line = merges[0][0].start_mark.line + 1
            self.problems.at(second, "key '<<' is written twice", f"the first is on line {line}; write <<: [*a, *b]")
        kept = [pair for pair in node.value if not any(pair[0] is key for key, _ in merges)]
        names = {key.value for key, _ in kept if isinstance(key, ScalarNode)}
        for _, value in merges:
            for source in value.value if isinstance(value, SequenceNode) else [value]:
                if not isinstance(source, MappingNode):
                    self.problems.at(value, f"'<<' takes a map or a list of maps, not {shape(source)}")
                    continue
                for key, entry in source.value:
                    if isinstance(key, ScalarNode) and key.value not in names:
                        names.add(key.value)
                        kept.append((key, entry))
        node.value = kept
