"""Read the scores of a plan: the case behind each part, its comparison, and the bounds as criteria.

``read_scores`` is the entry point. A part is about exactly one case of one component in one mode: nobody can choose
afterwards which one was meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from yaml.nodes import MappingNode, Node

from shakedown.model.errors import did_you_mean
from shakedown.model.judging import Criterion
from shakedown.model.laws import complexity, names_of
from shakedown.model.nouns import Case, Component
from shakedown.model.scores import COMPONENT, MEASURE, Load, Score, ScoreKind, ScorePart, inputs_digest, score_kinds
from shakedown.model.units import parse_quantity
from shakedown.plans.components.components import Selector
from shakedown.plans.components.score_cases import Plan, find_case
from shakedown.plans.components.score_figures import Measured, read_figures, read_reference
from shakedown.plans.schema.criteria import Must
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import InvalidValue
from shakedown.plans.schema.source_positions import key_place, place

_ALWAYS = ("kind", "about", "parts", "must", "take", "faster", "clause")  # keys of a score of every kind
_PART_ALWAYS = ("test", "component", "where", "mode", "figure")


def read_scores(
    root: MappingNode, written: Mapping[str, dict[str, Any]], components: tuple[Component, ...], selector: Selector
) -> tuple[tuple[Score, ...], tuple[Component, ...]]:
    """Purpose: the scores, and the component that their bounds are criteria of, where there are any; faults go to the selector's
    problems.
    """
    plan = Plan(components, selector, selector.context.machine.system)
    scores, criteria = [], list[Criterion]()
    for name, entry in written.items():
        node = place(root, "scores", name)
        before = len(plan.problems)
        score = _score(node, name, entry, plan)
        if score is not None and len(plan.problems) == before:
            scores.append(score)
            criteria += _criteria(node, score, entry, plan.problems)
    _check_names(root, criteria, components, plan.problems)
    if not criteria:
        return tuple(scores), ()
    about = "what the contract is settled on: scores over the runs of other components"
    return tuple(scores), (Component(COMPONENT, "scores", (), criteria=tuple(criteria), about=about),)


def _check_names(
    root: MappingNode, criteria: Sequence[Criterion], components: Sequence[Component], problems: Problems
) -> None:
    if criteria and any(component.name == COMPONENT for component in components):
        said = f"a component is called '{COMPONENT}', and the plan has scores, which stand under that name"
        problems.at(key_place(root, "scores"), said, "give the component another name")
    names = [criterion.name for criterion in criteria]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        problems.at(key_place(root, "scores"), f"two scores or parts are called '{name}'", "give one another name")


def _score(node: Node, name: str, entry: dict[str, Any], plan: Plan) -> Score | None:
    kind, problems = score_kinds()[entry["kind"]], plan.problems
    _check_keys(node, name, entry, kind, problems)
    if not entry["parts"]:
        problems.at(place(node, "parts"), f"scores.{name} has no part", "parts: {NAME: {test: ...}}")
    places = _places(node, name, entry, plan)
    parts = [
        part
        for label, written in entry["parts"].items()
        for where in places or ("",)
        if (part := _part(place(node, "parts", label), label, written, where, kind, plan)) is not None
    ]
    nodes = _nodes(node, name, entry, kind, parts, plan) if len(parts) >= len(entry["parts"]) else ()
    return Score(
        name=name,
        kind=kind.name,
        parts=tuple(parts),
        unit=kind.unit,
        nodes=nodes,
        mean=entry.get("mean", "arithmetic"),
        take=entry.get("take", "record"),
        faster=entry.get("faster", 0.1),
        about=entry.get("about", ""),
        clause=entry.get("clause", ""),
    )


def _check_keys(node: Node, name: str, entry: dict[str, Any], kind: ScoreKind, problems: Problems) -> None:
    """Report keys that the kind needs and that are missing, and keys without a meaning for it."""
    known = (*_ALWAYS, *kind.keys)
    for key in entry:
        if key not in known:
            said = f"scores.{name}: '{key}' has no meaning for a score of kind {kind.name}"
            problems.at(key_place(node, key), said, f"it has: {', '.join(known)}")
    fitting = (*_PART_ALWAYS, "proposed", *(("time",) if kind.times else ()), *kind.part_keys)
    for label, written in entry["parts"].items():
        at = place(node, "parts", label)
        for key in written:
            if key not in fitting:
                said = f"scores.{name}.parts.{label}: '{key}' has no meaning for a score of kind {kind.name}"
                problems.at(key_place(at, key), said, f"a part of it has: {', '.join(fitting)}")
        for key in kind.part_needs:
            if key not in written:
                problems.at(
                    key_place(node, "parts", label), f"'{key}' is missing in scores.{name}.parts.{label}", f"{key}: ..."
                )
        if "test" not in written and "time" not in written:
            way = "test: the test whose runs count" + (
                "; or time: what it took, measured elsewhere" if kind.times else ""
            )
            problems.at(key_place(node, "parts", label), f"scores.{name}.parts.{label} names no test", way)
        if "time" in written and (beside := [key for key in _PART_ALWAYS if key in written]):
            said = f"scores.{name}.parts.{label}: a time is given, and '{beside[0]}' says what is measured"
            problems.at(key_place(at, "time"), said, "leave one of them out")


# ---- nodes of the system ---------------------------------------------------------------------------------------------


def _places(node: Node, name: str, entry: dict[str, Any], plan: Plan) -> tuple[str, ...]:
    """The partitions that a score names with their nodes."""
    written = entry.get("nodes")
    if not isinstance(written, dict):
        return ()
    if not written:
        plan.problems.at(place(node, "nodes"), f"scores.{name}.nodes is empty", "nodes: {PARTITION: 100}")
    known = [partition.name for partition in plan.system.partitions()]
    for partition in written:
        if partition not in known:
            near = did_you_mean(partition, known) or f"partitions are: {', '.join(known)}"
            said = f"scores.{name}.nodes: the system has no partition '{partition}'"
            plan.problems.at(key_place(node, "nodes", partition), said, near)
    return tuple(written)


def _nodes(
    node: Node, name: str, entry: dict[str, Any], kind: ScoreKind, parts: Sequence[ScorePart], plan: Plan
) -> tuple[tuple[str, float], ...]:
    """The nodes that a score multiplies by; of a score without a word on it those of the one partition of its cases."""
    if "nodes" not in kind.keys:
        return ()
    written = entry.get("nodes")
    if isinstance(written, dict):
        return tuple((partition, float(count)) for partition, count in written.items())
    if written is not None:
        return (("", float(written)),)
    used = dict.fromkeys(plan.selector.cases[part.case].partition for part in parts if part.case)
    counts = {f"{one.cluster}:{one.name}": one.count for one in plan.system.partitions()}
    if len(used) == 1 and all(part.case for part in parts):
        return (("", float(counts[next(iter(used))])),)
    why = f"its cases run on {', '.join(used)}" if used else "the plan gives its times"
    said = f"scores.{name}: how many nodes the system has is not said, and {why}"
    plan.problems.at(key_place(node, "parts"), said, "nodes: 9984, or {PARTITION: NODES} of unlike nodes")
    return ()


# ---- parts -----------------------------------------------------------------------------------------------------------


def _part(node: Node, label: str, written: dict[str, Any], where: str, kind: ScoreKind, plan: Plan) -> ScorePart | None:
    given = written.get("time") if kind.times else None
    if given is not None:
        part = ScorePart(label, place=where, given=given, load=_load(written, None))
        return _compared(node, part, written, Measured((("elapsed", 1.0),), "s", "lower"), plan.problems)
    if "test" not in written:
        return None
    found = find_case(node, written, where, plan)
    if found is None:
        return None
    component, case, mode = found
    measured = read_figures(node, written, plan.selector.tests[case.test], kind.times, plan.problems)
    if measured is None:
        return None
    part = ScorePart(
        name=label,
        component=component.name,
        case=case.id,
        test=case.test,
        mode=mode,
        place=where,
        figures=measured.figures,
        unit=measured.unit,
        better=measured.better,
        load=_load(written, case),
    )
    return _compared(node, part, written, measured, plan.problems)


def _load(written: dict[str, Any], case: Case | None) -> Load:
    shape = case.shape if case else None
    return Load(
        size=written.get("size", 0.0),
        nodes=written.get("nodes", float(shape.nodes) if shape else 0.0),
        tasks=written.get("tasks", float(shape.ranks) if shape else 0.0),
        threads=written.get("threads", float(shape.cpus_per_task) if shape else 1.0),
    )


def _compared(
    node: Node, part: ScorePart, written: dict[str, Any], measured: Measured, problems: Problems
) -> ScorePart | None:
    """The part with its divisor; None where that is faulty."""
    baseline, law = written.get("baseline"), written.get("law", "")
    if "tflop" in written and not part.load.nodes:
        problems.at(node, f"part {part.name}: how many nodes its time is of is not said", "nodes: 2048")
    if law and baseline is not None and not _check_law(node, part, law, baseline, problems):
        return None
    amounts = {}
    for key in ("reference", "proposed"):
        try:
            amounts[key] = read_reference(written.get(key), measured)
        except InvalidValue as error:
            problems.at(place(node, key), f"part {part.name}: {error}", error.hint)
            return None
    return msgspec.structs.replace(
        part,
        baseline=_load(baseline, None) if baseline is not None else None,
        baseline_value=_baseline_value(node, part, baseline, problems) if baseline is not None else 0.0,
        law=law,
        tflop=written.get("tflop", 0.0),
        **amounts,
        group=written.get("group", ""),
    )


def _check_law(node: Node, part: ScorePart, law: str, baseline: dict[str, Any], problems: Problems) -> bool:
    """Check that both problems have the numbers that the law needs."""
    before = len(problems)
    for what, load, at in (("it", part.load, node), ("its baseline", _load(baseline, None), place(node, "baseline"))):
        lacking = [name for name in names_of(law) if not load.known[name]]
        if lacking:
            key = {"n": "size"}.get(lacking[0], lacking[0])
            said = f"part {part.name}: the law {law} asks for {key} of {what}"
            problems.at(at, said, f"{key}: a number")
            continue
        try:
            complexity(law, load.known)
        except (ValueError, ArithmeticError) as error:
            problems.at(place(node, "law"), f"part {part.name}: {error}")
    return len(problems) == before


def _baseline_value(node: Node, part: ScorePart, baseline: dict[str, Any], problems: Problems) -> float:
    """The run time of a baseline; of several figures, their weighted sum."""
    written = baseline["time"]
    if not isinstance(written, dict):
        return float(written)
    if set(written) != {name for name, _ in part.figures}:
        figures = ", ".join(name for name, _ in part.figures)
        problems.at(
            place(node, "baseline", "time"), f"part {part.name} is measured by {figures}", "give a time of each, or one"
        )
        return 0.0
    return sum(weight * float(written[name]) for name, weight in part.figures)


# ---- bounds ----------------------------------------------------------------------------------------------------------


def _criteria(node: Node, score: Score, entry: dict[str, Any], problems: Problems) -> Iterator[Criterion]:
    """The score's own bound, and one for each part that has one."""
    asked = [(score.name, score, entry["must"], place(node, "must"))] if "must" in entry else []
    for part in score.parts:
        own = entry["parts"][part.name].get("must")
        must = own or entry.get("each")
        if must is not None:
            at = place(node, "parts", part.name, "must") if own else place(node, "each")
            alone = msgspec.structs.replace(score, parts=(part,))
            asked.append((f"{score.name}.{part.label}", alone, must, at))
    for name, about, must, at in asked:
        try:
            bound = _bound(must, score.unit)
        except InvalidValue as error:
            problems.at(at, f"scores.{name}: {error}", error.hint)
            continue
        yield Criterion(
            name=name,
            measure=MEASURE,
            comparison=must.comparison,
            bound=bound,
            unit=score.unit,
            of=name,
            must=must.text,
            clause=score.clause,
            inputs=inputs_digest(about),
        )


def _bound(must: Must, unit: str) -> float:
    """A plain number, or an amount in the score's unit. Raises InvalidValue."""
    if not must.comparison.startswith(">"):
        raise InvalidValue(f"'{must.text}' is no bound of a score: more is better", "write >= or >")
    try:
        quantity = parse_quantity(must.amount)
        value = quantity.value if not quantity.unit else quantity.to(unit)
    except ValueError as error:
        message, _, way = str(error).rpartition("; write ")
        if message:  # of a number with a comma, or other marks
            raise InvalidValue(message, f"write {way}") from error
        raise InvalidValue(
            f"'{must.amount}' is no amount of a score", f"write a plain number{f', or {unit}' if unit else ''}"
        ) from error
    if not 0 < value < 1e30:
        raise InvalidValue(f"'{must.amount}' is no amount of a score", "it is above 0")
    return value
