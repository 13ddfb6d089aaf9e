"""Find the case of another test that a case needs, by the parameters that both have.

``check_needs`` looks at the tests alone; ``Joiner`` finds the cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Case, Need
from shakedown.plans.context import Context
from shakedown.plans.library import Definition, Library
from shakedown.plans.schema.expressions import ExpressionError, fill
from shakedown.plans.schema.needs import path_inside
from shakedown.plans.schema.scalars import InvalidValue, listed
from shakedown.plans.schema.source_positions import key_place, place

Path = tuple[str | int, ...]
CasesOf = Callable[[str], Sequence[Case]]

_SHOWN = 5  # cases or values that a message names


def written_needs(test: Definition) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Purpose: each need of a test as a map, with its path in the file."""
    written = test.values.get("needs", [])
    if not isinstance(written, list):
        yield ("needs",), _as_map(written)
        return
    for number, entry in enumerate(written):
        yield ("needs", number), _as_map(entry)


def _as_map(entry: str | dict[str, Any]) -> dict[str, Any]:
    return {"test": entry} if isinstance(entry, str) else entry


def tests_needed(test: Definition) -> list[tuple[Path, str]]:
    """Purpose: the tests that a test needs, with their paths in its file."""
    return [
        ((*path, "test") if isinstance(_value_at(test, path), dict) else path, entry["test"])
        for path, entry in written_needs(test)
        if "test" in entry
    ]


def _value_at(test: Definition, path: Path) -> Any:
    value: Any = test.values
    for step in path:
        value = value[step]
    return value


def programs_needed(test: Definition) -> list[dict[str, Any]]:
    """Purpose: the needs of a test for programs of the machine, each with how to get them."""
    return [entry for _, entry in written_needs(test) if "programs" in entry]


# ---- tests -----------------------------------------------------------------------------------------------------------------


def check_needs(test: Definition, context: Context) -> None:
    """Purpose: the tests that a test needs are there, and none of them needs it; what is wrong goes to the context's problems."""
    problems, tests = context.problems, context.library.tests
    for path, name in tests_needed(test):
        at = place(test.root, *path)
        if name == test.name:
            problems.at(at, f"test '{name}' needs itself", "name another test, or leave it out")
        elif name not in tests:
            context.library.missing(name, problems, at)
        elif tests[name].abstract:
            problems.at(at, f"test '{name}' is abstract and has no cases", "name a test that extends it")
        else:
            circle = _circle(test.name, name, context.library)
            if circle:
                message = f"tests need each other in a circle: {' -> '.join(circle)}"
                problems.at(at, message, "one of them has to begin without the others", f"circle {sorted(set(circle))}")


def _circle(start: str, first: str, library: Library) -> list[str]:
    """The path from a test through its need ``first`` back to the test, or an empty list."""
    ways, seen = [[start, first]], {first}
    while ways:
        way = ways.pop()
        test = library.tests.get(way[-1])
        for _, name in tests_needed(test) if test is not None and test.good else ():
            if name == start:
                return [*way, start]
            if name not in seen:
                seen.add(name)
                ways.append([*way, name])
    return []


# ---- cases -----------------------------------------------------------------------------------------------------------------


class Joiner:
    """Gives cases what they need. ``cases_of``: the cases of a test on the context's system, none where it is at fault."""

    def __init__(self, context: Context, cases_of: CasesOf) -> None:
        self.context, self.cases_of = context, cases_of
        self._joined: dict[str, Case] = {}

    def join(self, case: Case) -> Case:
        """Purpose: the case with the cases that it needs; unavailable where one of these is. What is wrong goes to the problems."""
        if case.id in self._joined:
            return self._joined[case.id]
        self._joined[case.id] = case  # where tests need each other in a circle this ends here; that is told elsewhere
        test = self.context.library.tests.get(case.test)
        needs, reasons = [], [case.unavailable] if case.unavailable else []
        for path, entry in written_needs(test) if test is not None and test.good else ():
            found = self._find(test, path, entry, case) if "test" in entry and test is not None else None
            if found is None or test is None:
                continue
            needs.append(self._need(test, path, entry, case, found))
            if self.join(found).unavailable:
                reasons.append(f"it needs {found.id}, which is unavailable: {self.join(found).unavailable}")
        self._check_names(test, case, needs)
        if needs:
            self._joined[case.id] = replace(case, needs=tuple(needs), unavailable="; ".join(reasons))
        return self._joined[case.id]

    def _need(self, test: Definition, path: Path, entry: dict[str, Any], case: Case, found: Case) -> Need:
        """The need with the names of its files filled in for this case."""
        written = [((*path, "files", number), text) for number, text in enumerate(entry.get("files", ()))]
        files = [self._path(test, at, text, case) for at, text in written]
        into = self._path(test, (*path, "into"), entry["into"], case) if "into" in entry else ""
        return Need(found.id, tuple(dict.fromkeys(files)), into)

    def _path(self, test: Definition, at: Path, text: str, case: Case) -> str:
        """A path within a run's directory, or "" where that is wrong."""
        try:
            return path_inside(fill(text, self._names(case)))
        except ExpressionError as error:
            self.context.problems.at(place(test.root, *at), f"{at[0]}.{at[-1]}: {error}", error.hint)
        except InvalidValue as error:
            self.context.problems.at(place(test.root, *at), str(error), error.hint)
        return ""

    def _names(self, case: Case) -> dict[str, Any]:
        names = next(stage.names for stage in self.context.stages if stage.id == case.partition)
        return {**names, **dict(case.parameters)}

    def _check_names(self, test: Definition | None, case: Case, needs: Sequence[Need]) -> None:
        """No two files may appear under one name; of patterns that is known only when there are files."""
        taken = {name: "run.files" for name, _ in case.files}
        for need in needs:
            for file in need.files:
                name = f"{need.into}/{file}" if need.into else file
                if name in taken and test is not None:
                    hint = "give each a directory of its own: into: NAME"
                    message = f"{taken[name]} and {need.case} both give {case.id} a file {name}"
                    self.context.problems.at(place(test.root, "needs"), message, hint, f"files of {test.name}")
                taken[name] = need.case

    def _find(self, test: Definition, path: Path, entry: dict[str, Any], case: Case) -> Case | None:
        """The one case of a needed test that goes with a case."""
        name, every = entry["test"], self.cases_of(entry["test"])
        asked = self._asked(test, (*path, "where"), entry.get("where", {}), case, every)
        if asked is None or not every or name == test.name:
            return None
        own = {key: value for key, value in _facts(case).items() if key not in asked}
        fits = [one for one in every if _fits(one, asked) and _agree(one, own)]
        if "partition" not in asked:
            fits = [one for one in fits if one.partition == case.partition] or fits
        if len(fits) == 1:
            return fits[0]
        if fits:
            self._ambiguous(test, path, case, name, fits)
        else:
            self._nothing(test, path, case, name, every, asked)
        return None

    def _asked(
        self, test: Definition, path: Path, where: Mapping[str, str], case: Case, every: Sequence[Case]
    ) -> dict[str, str] | None:
        """The parameters that a need's ``where`` selects for this case; None where it is faulty."""
        known = {"partition", *(_facts(every[0]) if every else ())}
        found = {}
        for name, text in where.items():
            if every and name not in known:
                near = did_you_mean(name, known) or f"it has: {', '.join(sorted(known))}"
                at = key_place(test.root, *path, name)
                message = f"test '{every[0].test}' has no parameter '{name}'"
                self.context.problems.at(at, message, near, f"name {name}")
                return None
            try:
                found[name] = fill(text, self._names(case))
            except ExpressionError as error:
                self.context.problems.at(place(test.root, *path, name), f"needs.where: {error}", error.hint)
                return None
        return found

    def _ambiguous(self, test: Definition, path: Path, case: Case, name: str, fits: Sequence[Case]) -> None:
        facts = [{**_facts(one), "partition": _partition(one)} for one in fits]
        differs = [key for key in facts[0] if len({one.get(key) for one in facts}) > 1]
        values = [f"{key}: {facts[0].get(key)}" for key in differs]
        hint = f"say which, such as 'where: {{{', '.join(values)}}}', or need each in an item of its own"
        only = f"which differ in {listed(differs)}, and test '{test.name}' has no such parameter"
        message = f"{len(fits)} cases of test '{name}' fit {case.id}: {_some([one.id for one in fits])}, {only}"
        at = place(test.root, *path)
        self.context.problems.at(at, message, hint, f"need of {test.name} {path} ambiguous")

    def _nothing(
        self,
        test: Definition,
        path: Path,
        case: Case,
        name: str,
        every: Sequence[Case],
        asked: dict[str, str],
    ) -> None:
        own = _facts(case) | asked
        there = [key for key in dict.fromkeys([*_facts(every[0]), *asked]) if key in own]
        wanted = _some([f"{key}={own[key]}" for key in there])
        has = [f"{key} is {_some(list(dict.fromkeys(_fact(one, key) for one in every)))}" for key in there]
        message = f"{case.id} needs the case of test '{name}' with {wanted}, and there is none"
        hint = f"in its cases {'; '.join(has)}; leave out such cases (exclude), or choose with where"
        self.context.problems.at(place(test.root, *path), message, hint, f"need of {test.name} {path}")


def _facts(case: Case) -> dict[str, str]:
    """The parameters by which cases are matched; the toolchain counts if it is a parameter."""
    return dict(case.parameters)


def _partition(case: Case) -> str:
    return case.partition.rpartition(":")[2]


def _fact(case: Case, name: str) -> str:
    return _partition(case) if name == "partition" else _facts(case).get(name, "")


def _fits(case: Case, asked: Mapping[str, str]) -> bool:
    return all(
        value in (_partition(case), case.partition) if name == "partition" else _facts(case).get(name) == value
        for name, value in asked.items()
    )


def _agree(case: Case, own: Mapping[str, str]) -> bool:
    """Whether the parameters that both have are equal."""
    return all(own.get(name, value) == value for name, value in case.parameters)


def _some(words: Sequence[str]) -> str:
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return f"{', '.join(words[:_SHOWN])}{more}"
