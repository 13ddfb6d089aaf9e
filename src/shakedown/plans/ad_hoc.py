"""A campaign without a plan's file: tests that are named on the command line, made into a plan and frozen like any other.

``ad_hoc_document`` is the table of contents. The plan has one component and asks that every result passes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from msgspec.structs import replace

from shakedown.model.errors import UsageError, did_you_mean
from shakedown.model.nouns import Case, Document
from shakedown.plans.cases.cases import resolve
from shakedown.plans.cases.needs import Joiner
from shakedown.plans.components.components import named_only_of
from shakedown.plans.context import Context
from shakedown.plans.documents import document_of
from shakedown.plans.finding import Here, steady_memory
from shakedown.plans.library import Definition
from shakedown.plans.schema.plan import MOST_RESULTS
from shakedown.plans.schema.scalars import near_or_all
from shakedown.plans.site import Site, read_site

COMPONENT = "tests"  # the name of its only component
_TEXT = "the plan of these options"  # what messages call the text that is made here
_LONGEST_NAME = 60  # characters of a plan's name; a campaign's adds a number
_SHOWN = 10  # values or cases that a hint names


@dataclass(frozen=True, slots=True)
class Failed:
    """The cases of an earlier campaign whose last result did not pass: (case, test), in the order of its plan."""

    campaign: str
    system: str
    cases: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Wish:
    """The options that a person gave. Tests: ``tests`` and all with one of ``tags``; without both, the tests of ``failed``.

    ``parameters``: (name, value); several values of one name mean any of them. ``failed`` leaves only its cases. ``system``
    ``here`` is the machine this runs on, and so is None where the site's own files describe no cluster.
    """

    tests: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    partitions: tuple[str, ...] = ()
    system: str | None = None
    repeats: int = 1
    failed: Failed | None = None

    @property
    def words(self) -> str:
        """The options again, each once, in one order: the command that they make does the same. What failed knows its system."""
        words = [f"--test {shlex.quote(','.join(self.tests))}"] if self.tests else []
        words += [f"--tag {shlex.quote(tag)}" for tag in self.tags]
        words += [f"--last-failed {shlex.quote(self.failed.campaign)}"] if self.failed else []
        words += [f"--param {shlex.quote(f'{name}={value}')}" for name, value in self.parameters]
        words += [f"--partition {shlex.quote(name)}" for name in self.partitions]
        words += [f"--system {shlex.quote(self.system)}"] if self.system and not self.failed else []
        return " ".join([*words, *([f"--repeats {self.repeats}"] if self.repeats != 1 else [])])


@dataclass(slots=True)
class _Chosen:
    """A test with ``every`` case on the system, the chosen cases (``kept``), and the cases that other chosen cases need."""

    test: Definition
    every: Sequence[Case]
    kept: list[Case] = field(default_factory=list)
    needed: list[Case] = field(default_factory=list)


def ad_hoc_document(site: Path, wish: Wish, here: Here, kernels: Path | None = None) -> Document:
    """Purpose: the document for the tests that a person chose.

    Errors: UsageError where a name or a value is none, or nothing is left; FileProblems with what is wrong in the site's tests and
    systems.
    """
    _check_repeats(wish.repeats)
    with steady_memory():
        reading = read_site(site)
        reading.problems.found = [p for p in reading.problems.found if not p.path.startswith("plans/")]
        found = here()
        system = _system(wish, reading)
        context = reading.context(reading.machine(system, lambda: found), kernels)
        _check_partitions(wish.partitions, context)
        chosen = [_Chosen(test, _cases(test, context, wish)) for test in _tests(reading, wish)]
        reading.stop()
        _narrow(chosen, wish)
        _add_needed(chosen, context, wish)
        text = yaml.safe_dump(_plan(chosen, wish, system), sort_keys=False, allow_unicode=True)
        document = document_of(reading, text.encode(), _TEXT, lambda: found, kernels)
        reading.stop()
        if document is None:
            raise AssertionError("a plan without problems makes a document")
        return replace(document, ad_hoc=wish.words)


def _check_repeats(repeats: int) -> None:
    if repeats < 1:
        raise UsageError(f"--repeats {repeats} is less than 1, the least that is possible")
    if repeats > MOST_RESULTS:
        raise UsageError(f"--repeats {repeats} is more than {MOST_RESULTS}, the most that is possible")


def _system(wish: Wish, reading: Site) -> str:
    """The name of the system to use: that of the failed cases, if ``wish`` has some."""
    if wish.failed is None:
        return reading.system_meant(wish.system)
    if wish.system not in (None, wish.failed.system):
        raise UsageError(
            f"campaign {wish.failed.campaign} ran on system {wish.failed.system}, not on {wish.system}",
            "leave --system out: what failed is run again where it failed",
        )
    return wish.failed.system


def _check_partitions(names: Iterable[str], context: Context) -> None:
    known = dict.fromkeys(name for stage in context.stages for name in (stage.partition.name, stage.id))
    for name in names:
        if name not in known:
            message = f"system {context.machine.system.name} has no partition '{name}'"
            raise UsageError(message, near_or_all(name, {stage.partition.name for stage in context.stages}))


# ---- tests -----------------------------------------------------------------------------------------------------------------


def _tests(reading: Site, wish: Wish) -> list[Definition]:
    """The chosen tests, each once: named tests first, then tests by tags; without both, the tests of the failed cases."""
    tests = reading.library.tests
    names = [*wish.tests, *(name for tag in wish.tags for name in _tagged(reading, tag))]
    if not names and wish.failed is not None:
        names = _tests_of_failed(reading, wish.failed)
    for name in names:
        if name not in tests:
            if reading.library.may_be_broken(name):
                reading.stop()
            raise UsageError(f"there is no test '{name}'", _near(name, reading))
        if tests[name].abstract:
            raise UsageError(f"test '{name}' is abstract and has no cases", "name a test that extends it")
    return [tests[name] for name in dict.fromkeys(names)]


def _near(name: str, reading: Site) -> str:
    """A hint for an unknown test name."""
    if name in reading.plans:
        return f"'{name}' is a plan: shakedown run {name}"
    return did_you_mean(name, reading.library.tests) or "'shakedown list tests' has them"


def _tagged(reading: Site, tag: str) -> list[str]:
    tests = [test for test in reading.library.tests.values() if not test.abstract]
    named = [test.name for test in tests if tag in test.values.get("tags", ())]
    if not named:
        reading.stop()  # a test that cannot be read may have the tag
        tags = {tag for test in tests for tag in test.values.get("tags", ())}
        raise UsageError(
            f"no test has the tag '{tag}'", did_you_mean(tag, tags) or f"tags are: {_listed(sorted(tags))}"
        )
    return named


def _tests_of_failed(reading: Site, failed: Failed) -> list[str]:
    if not failed.cases:
        raise UsageError(
            f"nothing is chosen: no case of campaign {failed.campaign} has a last result that did not pass",
            "name another campaign after --last-failed, or tests with --test",
        )
    names = list(dict.fromkeys(test for _, test in failed.cases))
    gone = [name for name in names if name not in reading.library.tests]
    if gone and not any(map(reading.library.may_be_broken, gone)):
        message = f"campaign {failed.campaign} failed in test '{gone[0]}', which the site has no more"
        raise UsageError(message, did_you_mean(gone[0], reading.library.tests) or "name the others with --test")
    return names


# ---- cases -----------------------------------------------------------------------------------------------------------------


def _cases(test: Definition, context: Context, wish: Wish) -> Sequence[Case]:
    """The cases of a test on the system; () for a faulty test, whose faults are reported elsewhere."""
    partitions = [*wish.partitions, *(_partitions_of(wish.failed, context) if wish.failed else ())]
    found = resolve(test, context, frozenset(partitions) & named_only_of(context)) if test.good else None
    return found.cases if found is not None else ()


def _partitions_of(failed: Failed, context: Context) -> Iterator[str]:
    """Partitions that cases run on only where they are named, and that failed cases ran on: a case's id ends with it."""
    for stage in context.stages:
        if stage.within and any(case.endswith(stage.suffix) for case, _ in failed.cases if stage.suffix):
            yield stage.id


def _narrow(chosen: list[_Chosen], wish: Wish) -> None:
    """Keep only the chosen cases of each test. Raises UsageError where a test has none."""
    for one in chosen:
        for name, value in wish.parameters:
            _check_parameter(one, name, value)
        one.kept = [case for case in one.every if _fits(case, wish)]
        if not one.kept:
            names = dict.fromkeys(name for name, _ in wish.parameters)
            asked = [f"{name}={value}" for name, value in wish.parameters]
            asked += [f"partition={name}" for name in wish.partitions]
            hint = _values(one.every, [*names, *(["partition"] if wish.partitions else [])])
            raise UsageError(f"no case of test '{one.test.name}' has {' and '.join(asked)}", hint)
    if wish.failed is not None:
        _keep_failed(chosen, wish.failed)


def _check_parameter(one: _Chosen, name: str, value: str) -> None:
    known = [*(name for name, _ in one.every[0].parameters if name != "toolchain"), "toolchain"]
    if name not in known:
        alike = next((f"did you mean '{other}'?" for other in known if other.casefold() == name.casefold()), None)
        hint = _OPTIONS.get(name) or alike or did_you_mean(name, known) or f"it has: {', '.join(known)}"
        raise UsageError(f"test '{one.test.name}' has no parameter '{name}'", hint)
    if all(_fact(case, name) != value for case in one.every):
        said = f"--param chooses among the cases of test '{one.test.name}', and none has {name}={value}"
        raise UsageError(said, _way_to(one, name, value))


def _way_to(one: _Chosen, name: str, value: str) -> str:
    """A hint for a value that no case has: write several options, use an existing value, or add the value to the test."""
    there = {_fact(case, name) for case in one.every}
    several = [part.strip() for part in value.split(",")]
    if len(several) > 1 and set(several) <= there:
        return f"name each value by itself: {' '.join(f'--param {name}={part}' for part in several)}"
    if there <= {""}:
        return f"the test has no {name} on this system"
    where = (
        ""
        if one.test.shipped or name == "toolchain"
        else f"; a new value is added to 'parameters' in {one.test.file.name}"
    )
    return _values(one.every, [name]) + where


_OPTIONS = {"partition": "a partition is chosen with --partition", "system": "a system is chosen with --system"}


def _fact(case: Case, name: str) -> str:
    if name == "partition":
        return case.partition.rpartition(":")[2]
    return dict(case.parameters).get(name, case.toolchain if name == "toolchain" else "")


def _fits(case: Case, wish: Wish) -> bool:
    if wish.partitions and not {case.partition, _fact(case, "partition")} & set(wish.partitions):
        return False
    names = dict.fromkeys(name for name, _ in wish.parameters)
    return all((name, _fact(case, name)) in wish.parameters for name in names)


def _values(cases: Iterable[Case], names: Iterable[str]) -> str:
    """A hint with the values that the cases have for these names."""
    every = list(cases)
    shown = [f"{name} is {_listed([*dict.fromkeys(_fact(case, name) for case in every)])}" for name in names]
    return f"in its cases {'; '.join(shown)}"


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return f"{', '.join([word or 'none' for word in words[:_SHOWN]]) or 'none'}{more}"


def _keep_failed(chosen: list[_Chosen], failed: Failed) -> None:
    """Keep only cases whose last result did not pass. A case that the site no longer has is reported, not left out."""
    names = {one.test.name for one in chosen}
    asked = {case for case, test in failed.cases if test in names}
    there = {case.id for one in chosen for case in one.every}
    gone = [case for case, test in failed.cases if case in asked - there]
    if gone:
        message = f"campaign {failed.campaign} failed in case '{gone[0]}', which test '{dict(failed.cases)[gone[0]]}' has no more"
        raise UsageError(message, did_you_mean(gone[0], there) or "name tests with --test")
    for one in chosen:
        one.kept = [case for case in one.kept if case.id in asked]
    if not any(one.kept for one in chosen):
        cases = _listed([case for case, _ in failed.cases])
        message = f"nothing is chosen: no case that is asked for is one that failed last in campaign {failed.campaign}"
        raise UsageError(message, f"these failed: {cases}")


def _add_needed(chosen: list[_Chosen], context: Context, wish: Wish) -> None:
    """Add the cases that chosen cases need, to run before them."""
    known = {one.test.name: one for one in chosen}

    def found(name: str) -> _Chosen:
        if name not in known:
            test = context.library.tests[name]
            known[name] = _Chosen(test, () if test.abstract else _cases(test, context, wish))
        return known[name]

    joiner = Joiner(context, lambda name: found(name).every if name in context.library.tests else ())
    todo = [case for one in chosen for case in one.kept]
    while todo:
        for need in joiner.join(todo.pop()).needs:
            case = next(case for one in known.values() for case in one.every if case.id == need.case)
            one = found(case.test)
            if case not in (*one.kept, *one.needed):
                one.needed.append(case)
                todo.append(case)
    chosen[:] = [*(one for one in known.values() if one not in chosen and one.needed), *chosen]


# ---- the plan --------------------------------------------------------------------------------------------------------------


def _plan(chosen: Sequence[_Chosen], wish: Wish, system: str) -> dict[str, Any]:
    """The plan as a map, in the form in which a person would write it."""
    selections = [selection for one in chosen for selection in _selections(one, wish)]
    criteria = {
        "correct": {"measure": "correct / completed", "must": "= 100%"},
        "passed": {"measure": "passed / wanted", "must": "= 100%"},
    }
    component = {"name": COMPONENT, "tests": selections, "repeats": wish.repeats, "criteria": criteria}
    return {"plan": _name(wish), "system": system, "components": [{"functionality": component}]}


def _selections(one: _Chosen, wish: Wish) -> list[Any]:
    """A test alone where all of its cases are meant, by what was asked of it, or case by case where only some failed."""
    needed = [{"test": one.test.name, "where": _where(case)} for case in one.needed]
    return [*needed, *(_asked_for(one, wish) if one.kept else ())]


def _asked_for(one: _Chosen, wish: Wish) -> list[Any]:
    if len(one.kept) == len(one.every) and not wish.partitions:
        return [one.test.name]
    if wish.failed is None:
        where: dict[str, list[str]] = {}
        for name, value in wish.parameters:
            where.setdefault(name, []).append(_literal(value))
        if wish.partitions:
            where["partition"] = list(wish.partitions)
        return [{"test": one.test.name, "where": where}]
    return [{"test": one.test.name, "where": _where(case)} for case in one.kept]


def _where(case: Case) -> dict[str, str]:
    """The parameters that select one case of its test."""
    return {name: _literal(value) for name, value in case.parameters} | {"partition": case.partition}


def _literal(value: str) -> str:
    """The value with its braces escaped, so that a plan finds no expression in it."""
    return value.replace("{", "{{").replace("}", "}}")


def _name(wish: Wish) -> str:
    """The plan's name: adhoc-stream, adhoc-stream-hpl, adhoc-tag-io, adhoc-last-failed."""
    parts = [*wish.tests, *(f"tag-{tag}" for tag in wish.tags)]
    parts += ["last-failed"] if wish.failed is not None else []
    words = [re.sub(r"[^A-Za-z0-9_.-]", "-", part) for part in parts]
    name = "-".join(["adhoc", *words])
    return name if len(name) <= _LONGEST_NAME else f"adhoc-{words[0][:40]}-and-more"
