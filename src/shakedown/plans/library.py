"""All tests that there are: the site's own, then those that come with the package."""

# paths are text in this room: a Path for each of thousands of files costs too much
# ruff: noqa: PTH118, PTH119, PTH120

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from yaml.nodes import MappingNode, ScalarNode

from shakedown.model.errors import did_you_mean
from shakedown.plans.extends import check_lists_joined, merged
from shakedown.plans.files import CATALOGUE, Found, read_bytes
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import place
from shakedown.plans.schema.test import TEST, TEST_NAME
from shakedown.plans.schema.yaml_nodes import read_nodes

_LONGEST_CHAIN = 50
_NAME = re.compile(TEST_NAME)
_NAMED = re.compile(
    rb"^[ \t]*test:\s*[\"']?([A-Za-z0-9][A-Za-z0-9_.+-]*)", re.MULTILINE
)  # in a file that cannot be read


@dataclass(slots=True)
class Definition:
    """One test as written. ``root`` holds what it extends too; each node still knows the file it came from."""

    name: str
    file: Found
    data: bytes
    root: MappingNode
    values: dict[str, Any] = field(default_factory=dict)
    extends: Definition | None = None
    whole: bool = True  # what it extends is there
    good: bool = False  # nothing is wrong with its keys

    @property
    def shipped(self) -> bool:
        return self.file.name.startswith(CATALOGUE)

    @property
    def abstract(self) -> bool:
        return bool(self.values.get("abstract"))

    def chain(self) -> Iterator[Definition]:
        """This test, then the test that it extends, and so on."""
        test: Definition | None = self
        while test is not None:
            yield test
            test = test.extends


@dataclass(slots=True)
class Library:
    """Tests by name. ``directories``: file name in messages -> the directory that paths in it are relative to."""

    tests: dict[str, Definition] = field(default_factory=dict)
    shipped: dict[str, Definition] = field(default_factory=dict)  # of the package, those hidden by the site's too
    broken: dict[str, str] = field(default_factory=dict)  # likely name of a test whose file cannot be read -> the file
    nameless: set[str] = field(default_factory=set)  # the site's files of tests without a name: it may be any
    doubtful: list[tuple[str, Any]] = field(default_factory=list)  # names that may be those of such files, and where
    directories: dict[str, str] = field(default_factory=dict)

    def beside(self, written_in: str, path: str) -> str:
        """The absolute path of a path that a file names."""
        return os.path.normpath(os.path.join(self.directories[written_in], path))

    def missing(self, name: str, problems: Problems, at: Any) -> None:
        """Report that there is no such test, unless its file exists but is broken."""
        if self.may_be_broken(name):
            self.doubtful.append((name, at))
        else:
            hint = did_you_mean(name, self.tests) or "'shakedown list tests' has them"
            problems.at(at, f"there is no test '{name}'", hint, f"test {name}")

    def may_be_broken(self, name: str) -> bool:
        """Whether the file of a test of this name may be there, with a mistake that is told at its own place."""
        return bool(self.nameless) or name in self.broken


def read_library(files: list[Found], problems: Problems) -> Library:
    """Purpose: every test of these files; what is wrong with any of them is in ``problems``."""
    library, tests = Library(), []
    for file in files:
        definition = _read(file, library, problems)
        if definition is not None:
            tests.append(definition)
    for test in tests:
        _add(test, library, problems)
    joined = _Joined(library, problems)
    for test in tests:
        joined.join(test)
    for test in tests:
        _values(test, problems)
    return library


def _read(file: Found, library: Library, problems: Problems) -> Definition | None:
    library.directories[file.name] = os.path.dirname(file.path)
    data = read_bytes(file, problems)
    root = None if data is None else read_nodes(data, file.name, problems, "test")
    if data is None or root is None:
        library.broken[os.path.basename(file.path)[:-5]] = file.name
        library.broken |= {name.decode(): file.name for name in _NAMED.findall(data or b"")}
        return None
    name = _text(root, "test")
    if not _NAME.fullmatch(name) and not file.name.startswith(CATALOGUE):
        library.nameless.add(file.name)
    return Definition(name, file, data, check_lists_joined(root))


def _text(root: MappingNode, key: str) -> str:
    """The text of a key, "" where there is none: the table of keys says what is wrong with it."""
    for key_node, value in root.value:
        if key_node.value == key:
            return str(value.value) if isinstance(value, ScalarNode) else ""
    return ""


def _add(test: Definition, library: Library, problems: Problems) -> None:
    """The site's tests hide the package's of the same name; two of the site's cannot have one name."""
    if not test.name:
        return
    names = library.shipped if test.shipped else library.tests
    first = names.get(test.name)
    if first is not None:
        where = place(first.root, "test").start_mark
        problems.at(
            place(test.root, "test"),
            f"there is a test '{test.name}' already",
            f"it is in {where.name}:{where.line + 1}",
        )
        return
    names[test.name] = test
    if test.shipped:
        library.tests.setdefault(test.name, test)


class _Joined:
    """Follows ``extends``, each test once."""

    def __init__(self, library: Library, problems: Problems) -> None:
        self.library, self.problems = library, problems
        self.done: set[int] = set()
        self.open: list[Definition] = []

    def join(self, test: Definition) -> None:
        if id(test) in self.done or not any(key.value == "extends" for key, _ in test.root.value):
            return
        self.open.append(test)
        base = self._base(test)
        test.whole = False
        if base is not None:
            self.join(base)
            test.extends, test.whole = base, base.whole
            test.root = merged(test.root, base.root)
        self.open.pop()
        self.done.add(id(test))

    def _base(self, test: Definition) -> Definition | None:
        name, at = _text(test.root, "extends"), place(test.root, "extends")
        own = name == test.name and not test.shipped  # a site's test may build on the one it hides
        base = (self.library.shipped if own else self.library.tests).get(name)
        if base is None and name and not own:
            if _NAME.fullmatch(name):  # the table of keys says of another text that it is no name
                self.library.missing(name, self.problems, at)
        elif base is None and name:
            self.problems.at(at, f"test '{name}' extends itself")
        elif base is not None and any(base is other for other in self.open):
            names = [other.name for other in self.open]
            circle = [*names[names.index(base.name) :], base.name]
            self.problems.at(at, f"tests extend each other in a circle: {' -> '.join(circle)}")
            return None
        elif len(self.open) > _LONGEST_CHAIN:
            self.problems.at(at, f"more than {_LONGEST_CHAIN} tests extend each other in a row")
            return None
        return base


def _values(test: Definition, problems: Problems) -> None:
    before = len(problems)
    values = TEST.read(test.root, "", problems)
    if values is None or len(problems) > before or not test.whole:
        return
    test.values = values
    if not test.abstract and "command" not in values.get("run", {}):
        missing = "'command' is missing in run" if "run" in values else "'run' is missing"
        hint = "say what is run, or 'abstract: true' where the test is only there to be extended"
        problems.at(place(test.root, "run"), missing, hint)
        return
    test.good = True


def forget_sources(library: Library, site: str, problems: Problems) -> None:
    """Purpose: drop the problems of files that are no tests and that one names: as its source, its input, sums or a reference."""
    theirs = {*_sources(library), *_data(library)}
    if not theirs:
        return
    named = {test.file.name for test in library.tests.values()} | {test.file.name for test in library.shipped.values()}

    def of_a_test(name: str) -> bool:
        path = os.path.join(site, name)
        places = [path, *(path[:end] for end, letter in enumerate(path) if letter == os.sep)]
        return name not in named and not theirs.isdisjoint(places)

    problems.found = [problem for problem in problems.found if not of_a_test(problem.path)]
    library.nameless = {file for file in library.nameless if not of_a_test(file)}
    library.broken = {name: file for name, file in library.broken.items() if not of_a_test(file)}
    doubtful, library.doubtful = library.doubtful, []
    for name, at in doubtful:
        library.missing(name, problems, at)


def _sources(library: Library) -> Iterator[str]:
    for test in library.tests.values():
        build = test.values.get("build")
        if isinstance(build, dict) and "source" in build:
            written: Any = place(test.root, "build", "source").start_mark
            yield library.beside(written.name, build["source"])


def _data(library: Library) -> Iterator[str]:
    """The files and directories that tests read or give to their runs. Of a name with braces nobody knows yet what it is. A
    directory that the test itself lies in has tests beside it.
    """
    for test in library.tests.values():
        run = test.values.get("run")
        files = run.get("files", ()) if isinstance(run, dict) else ()
        written: list[tuple[tuple[str | int, ...], str]]
        written = [(("run", "files", number), file) for number, file in enumerate(files)]
        for number, check in enumerate(test.values.get("check", ())):
            word, values = check if isinstance(check, tuple) else ("", {})
            written += [(("check", number, word, key), values[key]) for key in ("sums", "reference") if key in values]
        for steps, file in written:
            mark: Any = place(test.root, *steps).start_mark
            path, own = library.beside(mark.name, file), library.directories[mark.name]
            if not f"{own}/".startswith(f"{path}/"):
                yield path
