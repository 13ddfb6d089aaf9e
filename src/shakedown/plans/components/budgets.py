"""Budgets of a system: the amount of each, in all or on each target, and the licence that stands for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from yaml.nodes import Node

from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Cluster, Loads, Pairs
from shakedown.model.units import Quantity
from shakedown.plans.schema.amounts import known_amount
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.records import Either, Key, Record
from shakedown.plans.schema.scalars import InvalidValue, Name, Parsed, near_or_all
from shakedown.plans.schema.source_positions import key_place, place
from shakedown.plans.system_parts import named_targets

PER_TARGET = "per target"
Targeted = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Amount:
    """The amount of a budget; ``each``: the amount holds for every single target."""

    quantity: Quantity
    each: bool = False


@dataclass(frozen=True, slots=True)
class Budgets:
    """What a system's file says of its budgets; ``dimensions``: budget -> what its number measures."""

    amounts: Loads = ()
    dimensions: tuple[tuple[str, str], ...] = ()
    targeted: Targeted = ()
    licence_names: Pairs = ()
    units: Pairs = ()


def amount_in_words(text: str) -> Amount:
    """Purpose: '40 GB/s', '8', '8 per target'. Raises InvalidValue."""
    amount, each = without_per_target(text)
    quantity = known_amount(amount)
    if " " in quantity.unit or "target" in quantity.unit:  # units that are not known are kept, but not these
        number = f"{quantity.value:g}"
        raise InvalidValue(
            f"'{text}' is no amount of a budget", f"write '{number} {PER_TARGET}' where each target has so much"
        )
    return Amount(quantity, each)


def without_per_target(text: str) -> tuple[str, bool]:
    """The text without 'per target', and whether it had these words."""
    words = text.split()
    each = " ".join(words[-2:]) == PER_TARGET
    return (" ".join(words[:-2]) if each else text), each


_LICENCE_NAME = Name(
    "a licence's name", r"[A-Za-z0-9{][A-Za-z0-9_.+/{}-]*", "use letters, digits, '_', '-', '.', '+' and '/'"
)
_AMOUNT = Parsed("an amount, such as 40 GB/s, 8 or 8 per target", amount_in_words)
BUDGET = Either(
    scalar=_AMOUNT,
    keys=Record(
        "a map with amount and licence",
        {
            "amount": Key(_AMOUNT, "how much there is, where a licence is named beside it", True),
            "licence": Key(_LICENCE_NAME, "what the clusters call the licence for it; {target} stands for a target"),
        },
    ),
)


def read_budgets(root: Node, values: dict[str, Any], clusters: tuple[Cluster, ...], problems: Problems) -> Budgets:
    """Purpose: the budgets, those that only a licence makes among them; what is wrong goes to ``problems``."""
    written = {name: _entry(entry) for name, entry in values.get("budgets", {}).items()}
    amounts = {name: amount.quantity.base for name, (amount, _) in written.items()}
    dimensions = {name: amount.quantity.dimension for name, (amount, _) in written.items()}
    targeted, names = {}, {}
    for name, (amount, licence) in written.items():
        if amount.each:
            targeted[name] = _targets(key_place(root, "budgets", name), name, values.get("filesystems", {}), problems)
        if licence:
            at = place(root, "budgets", name, "licence")
            names.update(_licence_names(at, name, licence, targeted.get(name), problems))
    totals = _licences(clusters)
    _check_names(root, names, totals, problems)
    taken = set(names.values())
    for licence, total in totals.items():
        if licence in targeted:
            hint = f'name one for each target: budgets: {{{licence}: {{amount: N per target, licence: "NAME_{{target}}"}}}}'
            problems.at(key_place(root, "budgets", licence), f"a licence is called {licence} too", hint)
        elif licence not in taken:
            amounts.setdefault(licence, total)
            dimensions.setdefault(licence, "number")
            names.setdefault(licence, licence)
    _check_totals(root, names, totals, amounts, dimensions, problems)
    own = tuple((budget, licence) for budget, licence in names.items() if budget != licence)
    units = tuple((name, amount.quantity.unit) for name, (amount, _) in written.items() if amount.quantity.unit)
    return Budgets(tuple(amounts.items()), tuple(dimensions.items()), tuple(targeted.items()), own, units)


def _entry(written: Any) -> tuple[Amount, str]:
    return (written["amount"], written.get("licence", "")) if isinstance(written, dict) else (written, "")


def _targets(at: Node, budget: str, filesystems: dict[str, Any], problems: Problems) -> tuple[str, ...]:
    """The targets of a budget that is named FILESYSTEM/CLASS."""
    name, slash, kind = budget.partition("/")
    classes = named_targets(filesystems.get(name, {}))
    message, hint = "", None
    if not slash:
        message = "'per target' is for a budget that is named FILESYSTEM/CLASS"
        hint = "such as f2/mdt: the targets of class mdt of file system f2"
    elif name not in filesystems:
        message, hint = f"there is no file system '{name}'", near_or_all(name, filesystems)
    elif kind not in classes and kind in filesystems[name].get("targets", {}):
        message = f"the targets of class '{kind}' of file system {name} have no names"
        hint = f"filesystems: {{{name}: {{targets: {{{kind}: [{kind}0, {kind}1]}}}}}}"
    elif kind not in classes:
        message = f"file system {name} has no class of targets '{kind}'"
        hint = did_you_mean(kind, classes) or f"filesystems: {{{name}: {{targets: {{{kind or 'mdt'}: [...]}}}}}}"
    if message:
        problems.at(at, f"budgets.{budget}: {message}", hint)
    return tuple(classes.get(kind, ()))


def _licence_names(
    at: Node, budget: str, licence: str, targets: tuple[str, ...] | None, problems: Problems
) -> dict[str, str]:
    """Budget, or ``budget@target``, -> the licence that stands for it."""
    before = len(problems)
    rest = licence.replace("{target}", "")
    if "{" in rest or "}" in rest:
        problems.at(at, f"'{licence}': nothing but {{target}} can stand in braces", "such as f2_{target}")
    elif targets is None and rest != licence:
        message = f"'{licence}': budget {budget} has no targets"
        problems.at(at, message, "write its amount as 'N per target', or the licence without {target}")
    elif targets is not None and rest == licence:
        message = f"'{licence}' is one licence, and each target of {budget} needs one of its own"
        problems.at(at, message, f"such as {licence}_{{target}}")
    if len(problems) > before:
        return {}
    if targets is None:
        return {budget: licence}
    return {f"{budget}@{target}": licence.replace("{target}", target) for target in targets}


def _licences(clusters: tuple[Cluster, ...]) -> dict[str, float]:
    """The number of each licence in all clusters together."""
    totals: dict[str, float] = {}
    for cluster in clusters:
        for name, total in cluster.licences:
            totals[name] = totals.get(name, 0.0) + total
    return totals


def _check_names(root: Node, names: dict[str, str], totals: dict[str, float], problems: Problems) -> None:
    """Check that each named licence exists and stands for one budget or target."""
    first: dict[str, str] = {}
    for budget, licence in names.items():
        at = place(root, "budgets", budget.partition("@")[0], "licence")
        if licence not in totals:
            near = did_you_mean(licence, totals) or "clusters.CLUSTER.licences has what a scheduler hands out"
            problems.at(at, f"no cluster has a licence '{licence}'", near)
        elif first.setdefault(licence, budget) != budget:
            problems.at(at, f"licence {licence} stands for {first[licence]} already", "a licence stands for one budget")


def _check_totals(
    root: Node,
    names: dict[str, str],
    totals: dict[str, float],
    amounts: dict[str, float],
    dimensions: dict[str, str],
    problems: Problems,
) -> None:
    """A budget that a licence stands for may narrow it, in the same numbers."""
    told = set()
    for thing, licence in names.items():
        name = thing.partition("@")[0]
        if licence not in totals or name in told:
            continue
        at = place(root, "budgets", name, "amount")
        if dimensions[name] != "number":
            problems.at(at, f"budgets.{name} is in {dimensions[name]}, and the licence is a plain number", "rename one")
        elif amounts[name] > totals[licence]:
            of = "the licence" if licence == name else f"licence {licence}"
            message = f"budgets.{name} is {amounts[name]:g}, and there are only {totals[licence]:g} of {of}"
            problems.at(at, message, "a budget narrows a licence; without it all can be used")
        else:
            continue
        told.add(name)


def licence_of(names: Pairs, budget: str, targets: tuple[str, ...] = ()) -> str:
    """Purpose: what clusters call the licence that stands for a budget: for a targeted one, that of its first target."""
    known = dict(names)
    return known.get(budget) or (known.get(f"{budget}@{targets[0]}", "") if targets else budget)
