"""Read the baselines of a plan, which criteria on a change are held against; check them against its cases, and freeze them.

``read_baselines`` and ``frozen_baselines`` are the table of contents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace
from yaml.nodes import MappingNode, Node

from shakedown.model.baselines import Baseline, BaselineCase, Past, Sample, content_digest, where_of
from shakedown.model.errors import ShakedownError
from shakedown.model.figures import figure_of, measured_as
from shakedown.model.judging import Criterion, Pairs
from shakedown.model.measures import SINCE
from shakedown.model.nouns import Case, Component, Test
from shakedown.model.units import Quantity
from shakedown.plans.components.components import Selector
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import key_place, place

_ELAPSED = "elapsed"
_WAY = "give it the runs of that case, or narrow the criterion with test: or mode:"


def read_baselines(
    root: Node, written: Mapping[str, dict[str, Any]], past: Past | None, problems: Problems
) -> dict[str, Baseline]:
    """Purpose: the baselines of a plan by their names, with all that was measured; what is wrong goes to ``problems``.

    ``past``: reads another campaign; without it baselines of campaigns stay empty.
    """
    found = {}
    for name, entry in written.items():
        node = place(root, "baselines", name)
        if ("campaign" in entry) == ("values" in entry):
            both = "both campaign and values" if "values" in entry else "neither campaign nor values"
            problems.at(node, f"baselines.{name} has {both}", "campaign: NAME of a campaign, or values: the values")
        elif "values" in entry:
            if "epoch" in entry:
                said = f"baselines.{name}.epoch: values of the plan have no epoch"
                problems.at(key_place(node, "epoch"), said, "epoch goes with campaign")
            cases = tuple(_given(place(node, "values", number), one, name, problems)
                          for number, one in enumerate(entry["values"]))  # fmt: skip
            found[name] = Baseline(name, digest=content_digest("", 0, cases), cases=cases)
        else:
            campaign, epoch = entry["campaign"], entry.get("epoch", 0)
            found[name] = Baseline(name, campaign, epoch)
            try:
                found[name] = replace(past(campaign, epoch), name=name) if past is not None else found[name]
            except ShakedownError as error:
                problems.at(place(node, "campaign"), f"baselines.{name}: {error.message}", error.hint)
    return found


def _given(node: Node, entry: dict[str, Any], name: str, problems: Problems) -> BaselineCase:
    """The values that the plan itself gives for one case, or for several cases."""
    quantities: list[Quantity] = entry.get("values") or []
    failed, runs = entry.get("failed", 0), entry.get("runs", 0)
    if ("figure" in entry) != ("values" in entry) or ("values" in entry) == ("runs" in entry):
        said = f"baselines.{name}.values: an entry has a figure with its values, or a number of runs"
        problems.at(node, said, "{test, figure, values} for change since, {test, runs, failed} for failures since")
    elif failed > runs and "runs" in entry:
        problems.at(place(node, "failed"), f"baselines.{name}.values: {failed} of {runs} runs failed", "failed <= runs")
    elif "failed" in entry and "runs" not in entry:
        problems.at(
            place(node, "failed"), f"baselines.{name}.values: failed goes with runs", "runs: how many there were"
        )
    unit = next((one.unit for one in quantities if one.unit), "")
    try:
        values = tuple(one.to(unit) if one.unit else one.value for one in quantities)
    except ValueError as error:
        problems.at(place(node, "values"), f"baselines.{name}.values: {error}", "give all values in one unit")
        values = ()
    if unit and any(not one.unit for one in quantities):
        said = f"baselines.{name}.values: some values have a unit and some have none"
        problems.at(place(node, "values"), said, f"write {unit} with each of them")
    samples = (Sample(entry.get("figure", ""), unit, values),) if values else ()
    where: Pairs = tuple(sorted((key, str(value)) for key, value in entry.get("where", {}).items()))
    return BaselineCase(
        entry["test"],
        entry.get("component", ""),
        where,
        entry.get("partition", ""),
        entry.get("mode", ""),
        runs,
        failed,
        samples=samples,
    )


# ---- against the cases of the plan -----------------------------------------------------------------------------------


def frozen_baselines(
    root: MappingNode,
    baselines: Mapping[str, Baseline],
    components: tuple[Component, ...],
    selector: Selector,
    advice: Problems,
) -> tuple[Baseline, ...]:
    """Purpose: the baselines with what the criteria ask of them alone. Problems: values of no case, or of one twice, or in a unit
    that is not the figure's. ``advice``: cases of which nothing is known, so that their criterion stays undecided.
    """
    problems = selector.context.problems
    one_partition = len({selector.cases[name].partition for part in components for name in part.every_case}) <= 1
    asked: dict[str, set[tuple[str, str]]] = {name: set() for name in baselines}
    used: dict[str, set[BaselineCase]] = {name: set() for name in baselines}
    for number, part in enumerate(components):
        for criterion in part.criteria:
            baseline = baselines.get(criterion.since) if criterion.measure in SINCE else None
            if baseline is None:
                continue
            at = place(root, "components", number, part.kind, "criteria", criterion.name, "since")
            missing = []
            for case, mode in _cases(part, criterion, selector):
                mine = _known(baseline, part, case, mode, criterion, one_partition)
                asked[baseline.name].add((case.test, criterion.of))
                used[baseline.name].update(mine)
                missing += [] if mine else [case.id]
                if len(mine) > 1:
                    said = f"baselines.{baseline.name} has values of {criterion.of or 'runs'} of {case.id} twice"
                    problems.at(place(root, "baselines", baseline.name), said, "narrow each entry with where:")
                _check_unit(root, baseline, mine, criterion, selector.tests[case.test], problems)
            if missing and (baseline.digest or not baseline.campaign):
                what = criterion.of or "runs"
                said = (
                    f"criteria.{criterion.name}: {baseline.words} has no {what} of {_few(missing)}: it stays undecided"
                )
                advice.at(at, said, _WAY)
    _check_used(root, baselines, asked, used, problems, advice)
    return tuple(_narrowed(baseline, asked[name]) for name, baseline in baselines.items())


def _check_used(
    root: MappingNode,
    baselines: Mapping[str, Baseline],
    asked: Mapping[str, set[tuple[str, str]]],
    used: Mapping[str, set[BaselineCase]],
    problems: Problems,
    advice: Problems,
) -> None:
    """Report baselines that no criterion uses, and values in the plan that no criterion needs."""
    for name, baseline in baselines.items():
        unused = [] if baseline.campaign else [one for one in baseline.cases if one not in used[name]]
        if not asked[name]:
            advice.at(
                key_place(root, "baselines", name), f"no criterion is held against baseline {name}", f"since: {name}"
            )
        elif unused and not len(problems):  # else a figure or a case may be missing because of what is told already
            said = f"baselines.{name}.values: no criterion asks for {unused[0].test}{_of(unused[0])}"
            problems.at(
                place(root, "baselines", name), said, "see test, where, component, mode and figure of that entry"
            )


def _cases(part: Component, criterion: Criterion, selector: Selector) -> Iterator[tuple[Case, str]]:
    """The cases that a criterion is about, once for each of its modes."""
    modes: list[str] = [mode.name for mode in part.modes if criterion.mode in ("", mode.name)] or [""]
    for case in (selector.cases[name] for name in part.cases):
        test = selector.tests[case.test]
        has = not criterion.of or criterion.of == _ELAPSED or measured_as(criterion.of, test.figures) is not None
        if criterion.test in ("", case.test) and has and not case.unavailable:
            yield from ((case, mode) for mode in modes)


def _known(
    baseline: Baseline, part: Component, case: Case, mode: str, criterion: Criterion, one_partition: bool
) -> list[BaselineCase]:
    found = baseline.of(
        part.name, case.test, where_of(case.toolchain, case.parameters), case.partition, mode, one_partition
    )
    return [one for one in found if (one.sample(criterion.of) is not None if criterion.of else one.judged)]


def _check_unit(
    root: Node, baseline: Baseline, mine: Iterable[BaselineCase], criterion: Criterion, test: Test, problems: Problems
) -> None:
    spec = measured_as(criterion.of, test.figures) if criterion.of not in ("", _ELAPSED) else None
    own = spec.unit if spec is not None else "s"
    for sample in (one.sample(criterion.of) for one in mine):
        if sample is None or not sample.unit:
            continue
        try:
            Quantity(1.0, sample.unit).to(own)
        except ValueError:
            said = f"baselines.{baseline.name}: {criterion.of} of {test.name} is in {own or 'no unit'}, not in {sample.unit}"
            problems.at(place(root, "baselines", baseline.name), said, "give the values in a unit of the same kind")


def _narrowed(baseline: Baseline, asked: set[tuple[str, str]]) -> Baseline:
    """The baseline reduced to the tests and figures that criteria use."""
    kept = []
    for case in baseline.cases:
        figures = {figure for test, figure in asked if test == case.test}
        samples = tuple(one for one in case.samples if one.figure in figures)
        if samples or (figures and "" in figures):
            kept.append(replace(case, samples=samples))
    return replace(baseline, cases=tuple(kept))


def _few(names: list[str]) -> str:
    every = list(dict.fromkeys(names))
    return ", ".join(every[:3]) + (f" and {len(every) - 3} more" if len(every) > 3 else "")


def _of(case: BaselineCase) -> str:
    said = [f"{key}={value}" for key, value in case.where] + [one.figure for one in case.samples]
    return f" ({', '.join(figure_of(one) for one in said)})" if said else ""
