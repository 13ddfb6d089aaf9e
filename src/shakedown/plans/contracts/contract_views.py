"""Show a contract against a plan or a system's cases: the rows in force for each case, and the figures without a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from yaml.nodes import ScalarNode, SequenceNode

from shakedown.model.errors import UsageError, did_you_mean
from shakedown.model.figures import figure_of
from shakedown.model.judging import Contract, ContractRow
from shakedown.model.nouns import Case, Test
from shakedown.model.scores import COMPONENT, Score, named_by, part_of
from shakedown.plans.contracts.contract_freezing import others, tell_ties
from shakedown.plans.contracts.contract_rows import Matching, match_rows, why_it_wins
from shakedown.plans.contracts.contracts import ContractRead, Known, read_contract
from shakedown.plans.documents import read_plan
from shakedown.plans.files import Found, read_bytes
from shakedown.plans.finding import Here
from shakedown.plans.listing import list_cases
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import place
from shakedown.plans.schema.yaml_nodes import read_nodes
from shakedown.plans.site import Site, read_site


@dataclass(frozen=True, slots=True)
class Scene:
    """Contracts with the cases to match: the cases of ``plan``, or, where ``plan`` is "", of the rows' tests on a system."""

    plan: str
    system: str
    contracts: tuple[Contract, ...]
    cases: tuple[Case, ...]
    tests: tuple[Test, ...]
    scores: tuple[Score, ...] = ()


@dataclass(frozen=True, slots=True)
class Beaten:
    """A more specific row that is in force instead, with the cases and the reason."""

    row: str
    cases: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class RowView:
    """A row with the cases it matches, and of these the ones it is in force for; ``half``: for these with one of its bounds."""

    row: ContractRow
    matches: tuple[str, ...]
    in_force: tuple[str, ...]
    beaten_by: tuple[Beaten, ...]
    half: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bare:
    """A figure that no row asks about in these cases of a test."""

    test: str
    figure: str
    cases: tuple[str, ...]


def scene(site: Path, name: str, system: str | None, here: Here) -> Scene:
    """Purpose: the contracts of a plan or one contract, with the cases. Without a name, the only ones there are.

    Errors: UsageError where there is none of that name, or more than one could be meant; FileProblems.
    """
    reading = read_site(site)
    users = _users(reading)
    name = name or _only(reading, users)
    if system and name in users and name not in reading.contracts:
        hint = f"leave --system out, or name a contract: {', '.join(users[name])}"
        raise UsageError(f"plan '{name}' says itself which system it is for", hint)
    if name not in reading.contracts or (name in users and not system):
        return _of_plan(site, name, reading, users, here)
    plans = [plan for plan, contracts in users.items() if name in contracts]
    if len(plans) > 1 and not system:
        hint = f"name one of them, or a system: shakedown show contract {plans[0]}"
        raise UsageError(f"contract '{name}' is used by {len(plans)} plans: {', '.join(plans)}", hint)
    if plans and not system:
        return _narrowed(_of_plan(site, plans[0], reading, users, here), name)
    return _on_system(site, reading, name, system, here)


def row_views(scene: Scene) -> list[RowView]:
    """Purpose: every row in its order, with the cases it matches, those it is in force for, and the rows that beat it."""
    matching = match_rows(scene.contracts, scene.cases, scene.system)
    rows = {row.name: row for contract in scene.contracts for row in contract.rows}
    force: dict[str, list[str]] = {name: [] for name in rows}
    for case, names in matching.in_force.items():
        for name in names:
            force[name].append(case)
    half = {name: tuple(case for case, pairs in matching.sides.items() if name in dict(pairs)) for name in rows}
    for name, row in rows.items():
        named = named_by(row.figure, scene.scores) if row.test == COMPONENT and not matching.matched[name] else None
        if named is not None:  # a row on a score is about the cases of that
            parts = part_of(named[0], row.figure, named[1]).parts
            force[name] = matching.matched[name] = list(dict.fromkeys(part.case or part.label for part in parts))
    return [
        RowView(row, tuple(matching.matched[name]), tuple(force[name]), tuple(_beaten(row, rows, matching)), half[name])
        for name, row in rows.items()
    ]


def _beaten(row: ContractRow, rows: dict[str, ContractRow], matching: Matching) -> Iterator[Beaten]:
    """The more specific rows that are in force instead of a row, in the order of the contracts."""
    for name, winner in rows.items():
        cases = matching.lost.get((row.name, name))
        if cases:
            yield Beaten(name, tuple(cases), why_it_wins(winner, row))


def bare_figures(scene: Scene, views: Sequence[RowView]) -> list[Bare]:
    """Purpose: the figures of tests (and the run time) that no row in force bounds, with the cases concerned."""
    # Which rows a table has is known once a run printed it: here it is asked about where one of its rows is.
    asked = {(case, figure_of(view.row.figure)) for view in views for case in view.in_force}
    found = []
    for test in scene.tests:
        cases = [case.id for case in scene.cases if case.test == test.name]
        for figure in ("elapsed", *(spec.name for spec in test.figures)):
            bare = tuple(case for case in cases if (case, figure) not in asked)
            if bare:
                found.append(Bare(test.name, figure, bare))
    return found


# ---- which one is meant ----------------------------------------------------------------------------------------------


def _users(reading: Site) -> dict[str, list[str]]:
    """Plan -> the contracts that it names; plans without contracts, or that cannot be read, are left out."""
    found = {plan: _named_in(file) for plan, file in reading.plans.items()}
    return {plan: names for plan, names in found.items() if names}


def _named_in(file: Found) -> list[str]:
    data = read_bytes(file, Problems())
    root = None if data is None else read_nodes(data, file.name, Problems())
    if root is None or not any(key.value == "contract" for key, _ in root.value):
        return []
    node = place(root, "contract")
    nodes = node.value if isinstance(node, SequenceNode) else [node]
    return [item.value for item in nodes if isinstance(item, ScalarNode)]


def _only(reading: Site, users: dict[str, list[str]]) -> str:
    if len(users) == 1:
        return next(iter(users))
    if len(reading.contracts) == 1:
        return next(iter(reading.contracts))
    if not reading.contracts:
        raise UsageError("there is no contract in contracts/", "write one, or let 'shakedown reference' propose one")
    names = ", ".join(sorted({*users, *reading.contracts}))
    raise UsageError("which contract is to be shown?", f"shakedown show contract NAME; there are: {names}")


def _of_plan(site: Path, name: str, reading: Site, users: dict[str, list[str]], here: Here) -> Scene:
    known = {file.name for file in reading.plans.values()}
    if name not in reading.plans and f"plans/{name}.yaml" not in known and not name.endswith(".yaml"):
        names = sorted({*users, *reading.contracts})
        hint = did_you_mean(name, names) or f"there are: {', '.join(names) or 'none'}"
        raise UsageError(f"there is no contract '{name}', and no plan", hint)
    document = read_plan(site, name, here)
    if not document.contracts:
        raise UsageError(f"plan '{document.plan}' names no contract", "in the plan's file: contract: NAME")
    return Scene(
        document.plan, document.system.name, document.contracts, document.cases, document.tests, document.scores
    )


def _narrowed(scene: Scene, name: str) -> Scene:
    """The scene with one contract of a plan; figures that only the plan's other contracts bound count as bare here."""
    kept = tuple(contract for contract in scene.contracts if contract.name == name)
    return Scene(scene.plan, scene.system, kept, scene.cases, scene.tests, scene.scores)


def _on_system(site: Path, reading: Site, name: str, system: str | None, here: Here) -> Scene:
    """A contract against all cases of the tests that its rows name, on one system."""
    context = reading.context(reading.machine(system, here))
    read = read_contract(reading.contracts[name], Known(context, others(reading, context, here)))
    reading.stop()
    if read is None:
        raise AssertionError("a contract without problems is read")
    listing = list_cases(site, system, here)
    asked = {row.test for row in read.contract.rows}
    cases = tuple(case for case in listing.cases if case.test in asked)
    _stop_at_ties(reading, read, cases, listing.system.name)
    tests = tuple(test for test in listing.tests if test.name in asked)
    return Scene("", listing.system.name, (read.contract,), cases, tests)


def _stop_at_ties(reading: Site, read: ContractRead, cases: Sequence[Case], system: str) -> None:
    tell_ties(match_rows([read.contract], cases, system), [read], reading.problems)
    reading.stop()
