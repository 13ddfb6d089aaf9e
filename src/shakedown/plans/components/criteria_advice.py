"""Advice on criteria that can never be decided, that ask for worse values, or that overlook failed runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from shakedown.model.baselines import FEWEST
from shakedown.model.figures import figure_of, measured_as
from shakedown.model.judging import Criterion
from shakedown.model.measures import CHANGE_SINCE, FAILURES_SINCE, SINCE, measures
from shakedown.model.nouns import Case, Component, Document, Mode, Partition, Test
from shakedown.model.shared_nodes import different_nodes, place_of
from shakedown.plans.components.alike import pooled
from shakedown.plans.components.bounds_against import ELAPSED, Advice, against, named
from shakedown.plans.schema.criteria import OF_FIGURES, OF_RUNS

_MOST_COUNTS = 10_000  # runs: of more every share that people write is one


def criteria_advice(document: Document, component: Component, cases: Sequence[Case]) -> Iterator[Advice]:
    """Purpose: advice on criteria that may not work as intended. ``cases``: the component's cases that can run."""
    most = Most(document, component, tuple(cases))
    for criterion in component.criteria:
        keys = ("criteria", criterion.name)
        if not component.duration_s:
            yield from _out_of_reach(keys, criterion, most)
            yield from _between_counts(keys, criterion, most)
        yield from _beyond_all(keys, criterion)
        yield from _beyond_figures(keys, criterion, most)
        yield from pooled(keys, criterion, most.with_values(criterion))
        if component.duration_s:
            yield from _beyond_time(keys, criterion, most)
        yield from against(keys, criterion, component, most.tests)
    if component.criteria and component.sweep is None:
        yield from _overlooked(component, most)
    if component.criteria and most.cases:
        yield from _drained(component, most)


@dataclass(frozen=True, slots=True)
class Most:
    """The most runs, and values of a figure, that a component can ever give. ``cases``: those that can run."""

    document: Document
    component: Component
    cases: tuple[Case, ...]

    @property
    def tests(self) -> dict[str, Test]:
        mine = {case.test for case in self.cases}
        return {test.name: test for test in self.document.tests if test.name in mine}

    def asked(self, criterion: Criterion) -> list[Case]:
        return [case for case in self.cases if criterion.test in ("", case.test)]

    def results(self, case: Case, mode: str = "") -> int:
        """The number of wanted results of a case, without warm-ups."""
        if self.component.sweep is not None and not self.component.modes:
            return self.component.repeats * self.component.sweep.rounds * self._nodes(case)
        if not self.component.modes:
            return self.component.repeats
        return sum(self._of_mode(case, one) for one in self.component.modes if mode in ("", one.name))

    def _nodes(self, case: Case) -> int:
        """The nodes that a sweep sees; on one's own machine, where they cannot be told apart, one."""
        places = self.document.system.partitions()
        return next(
            (place.count for place in places if place_of(place) == case.partition and not self._local(place)), 1
        )

    def _local(self, place: Partition) -> bool:
        return any(cluster.name == place.cluster and cluster.embedded for cluster in self.document.system.clusters)

    def _of_mode(self, case: Case, mode: Mode) -> int:
        return mode.repeats * self.document.system.copies(mode, case)

    def counted(self, criterion: Criterion, case: Case) -> int:
        """The number of results of a case that a criterion can count."""
        results = self.results(case, criterion.mode)
        if criterion.measure == "passed / attempts":
            return results * (1 + sum(retry.times for retry in self.component.retry))
        if criterion.measure not in OF_FIGURES:
            return results
        if not self.gives(criterion, case):
            return 0
        if criterion.measure == "fill / isolated":
            return min(self.results(case, "isolated"), self.results(case, "fill"))
        return results

    def gives(self, criterion: Criterion, case: Case) -> bool:
        """Whether runs of a case have the figure that a criterion asks for."""
        return has_figure(self.tests[case.test], criterion.of) and case.expect in ("", "passed", "performance")

    def compared(self, criterion: Criterion) -> list[Case]:
        """The cases that a criterion is about: a change of a figure is asked of those alone that have the figure."""
        asked = list(self.asked(criterion))
        return [case for case in asked if self.gives(criterion, case)] if criterion.measure == CHANGE_SINCE else asked

    def with_values(self, criterion: Criterion) -> list[str]:
        """The tests that give a criterion on a figure its values."""
        asked = self.asked(criterion) if criterion.measure in OF_FIGURES else []
        return list(dict.fromkeys(case.test for case in asked if self.counted(criterion, case)))


def has_figure(test: Test, name: str) -> bool:
    return name == ELAPSED or measured_as(name, test.figures) is not None


# ---- never decided ---------------------------------------------------------------------------------------------------


def _out_of_reach(keys: tuple[str, ...], criterion: Criterion, most: Most) -> Iterator[Advice]:
    """Advice on a criterion that needs more results than there can be: it stays undecided or cannot be met."""
    if criterion.measure == "attested":
        count, what = len(most.component.procedures), "procedures"
    elif criterion.measure == "rows met":
        count, what = len(_rows(criterion, most)), "rows in force"
    elif criterion.measure in (*OF_RUNS, *OF_FIGURES, "runs"):
        count, what = _least(criterion, most)
    else:
        return
    if criterion.measure == "runs" and criterion.comparison != "<" and criterion.bound > count:
        said = f"it must be {criterion.must}, and there are never more than {count} {what}"
        yield (*keys, "must"), named(criterion, said), "more repeats, or a lower bound"
    elif _enough(criterion) > count and criterion.measure != "runs":
        written = (*keys, "enough") if criterion.enough > 1 else keys
        said = f"enough is {_enough(criterion)}, and there are never more than {count} {what}: it stays undecided"
        yield written, named(criterion, said), _way(criterion, count)


def _enough(criterion: Criterion) -> int:
    """The fewest results that decide a criterion; for a criterion on a change, the fewest of each case."""
    return max(criterion.enough, FEWEST) if criterion.measure in SINCE else criterion.enough


def _between_counts(keys: tuple[str, ...], criterion: Criterion, most: Most) -> Iterator[Advice]:
    """Advice on a bound with = that no number of runs, or no share of so few runs, can equal."""
    if criterion.comparison != "=":
        return
    if criterion.measure == "runs" and not float(criterion.bound).is_integer():
        yield (
            (*keys, "must"),
            named(criterion, f"no number of runs is {criterion.must}: it cannot be met"),
            "a whole number",
        )
    if criterion.measure == "attested":
        count, what = len(most.component.procedures), "procedures"
    elif criterion.measure == "rows met":
        count, what = len(_rows(criterion, most)), "rows in force"
    elif criterion.measure in OF_RUNS:
        count, what = _least(criterion, most)
    else:
        return
    exact = criterion.measure not in (
        "correct / completed",
        "passed / attempts",
        "rows met",
    )  # else fewer may be counted
    counts = [count] if exact else list(range(max(1, criterion.enough), min(count, _MOST_COUNTS) + 1))
    if not count or count > _MOST_COUNTS or any(_is_whole(criterion.bound * of) for of in counts):
        return
    low = math.floor(criterion.bound * count)
    near = " or ".join(f"{100 * hits / count:.4g}%" for hits in (low, low + 1))
    said = f"of {count} {what} no share is {criterion.must}, only {near} and the like: it cannot be met"
    yield (*keys, "must"), named(criterion, said), "write >= or <=, or more repeats"


def _is_whole(hits: float) -> bool:
    return abs(hits - round(hits)) < 1e-9 * max(1.0, abs(hits))


def _way(criterion: Criterion, count: int) -> str:
    if count:
        return "a lower 'enough', or more repeats"
    return (
        f"name the test that has it: test: NAME; or leave per: {criterion.per} out" if criterion.per else "leave it out"
    )


def _least(criterion: Criterion, most: Most) -> tuple[int, str]:
    """The most results that can be counted, and their name; with ``per``, those of the case or test with the fewest. Left out are
    cases that are expected to fail.
    """
    asked = [case for case in most.compared(criterion) if not (criterion.per and _excused(criterion, case))]
    what = f"values of {criterion.of}" if criterion.measure in OF_FIGURES else "runs"
    parts: dict[str, int] = {}
    for case in asked:
        alone = criterion.per == "case" or criterion.measure in SINCE
        part = case.id if alone else case.test if criterion.per == "test" else ""
        parts[part] = parts.get(part, 0) + most.counted(criterion, case)
    if not parts:
        return criterion.enough, what  # nothing of it can run: that is told of by itself
    part = min(parts, key=lambda name: parts[name])
    return parts[part], f"{what} of {part}" if part else what


def _excused(criterion: Criterion, case: Case) -> bool:
    return case.expect not in ("", "passed") and not criterion.measure.startswith("passed")


def _rows(criterion: Criterion, most: Most) -> set[str]:
    """The rows in force for the criterion's cases, with its basis and mode; where no case can run, the rows of all cases."""
    rows = {row.name: row for contract in most.document.contracts for row in contract.rows}
    cases = most.asked(criterion) or most.document.cases
    return {
        name
        for case in cases
        for name in case.rows
        if rows[name].basis == (criterion.basis or "contract")
        and (not criterion.mode or rows[name].mode in ("", criterion.mode))
    }


def _beyond_all(keys: tuple[str, ...], criterion: Criterion) -> Iterator[Advice]:
    """Advice on a bound outside 0 to 100 % of a share."""
    measure = measures()[criterion.measure]
    share = measure.bound == "share"
    above = share and not measure.beyond_all and criterion.comparison == ">" and criterion.bound >= 1
    below = share and not measure.negative and criterion.comparison == "<" and criterion.bound <= 0
    if above or below:
        yield (*keys, "must"), named(criterion, f"no share is {criterion.must}: it cannot be met"), "write >= or <="


def _beyond_figures(keys: tuple[str, ...], criterion: Criterion, most: Most) -> Iterator[Advice]:
    """Advice on impossible bounds of figures: run times that no run has, a loss above 100 %, a percentage above 100."""
    low, high = criterion.comparison.startswith(">"), criterion.comparison.startswith("<")
    if criterion.measure == "value" and criterion.of == ELAPSED:
        limit = max((case.shape.time_limit_s for case in most.asked(criterion)), default=0.0)
        if (high or criterion.comparison == "=") and criterion.bound <= 0 and criterion.statistic != "sd":
            yield (
                (*keys, "must"),
                named(criterion, f"no run takes {criterion.must}: it cannot be met"),
                "run times are above 0 s",
            )
        elif not high and limit and criterion.bound > limit:
            said = f"it must be {criterion.must}, and a run is ended after {limit:g} s: it cannot be met"
            yield (*keys, "must"), named(criterion, said), "a lower bound, or a higher time_limit"
    if criterion.measure == "fill / isolated" and criterion.bound >= 1 and _is_rate(criterion, most):
        never = low and criterion.bound > 1
        said = f"{criterion.must} of a rate, of which never more than 100% is lost: it {'cannot' if never else 'can only'} be met"
        if never or high:
            yield (*keys, "must"), named(criterion, said), "0% is no loss, 100% is all of it"
    above = criterion.bound > 1 and criterion.measure == "sd / mean" and high
    if above or (criterion.measure == "value" and criterion.unit == "%" and criterion.bound > 100):
        yield (
            (*keys, "must"),
            named(criterion, f"{criterion.must} is more than 100%"),
            "is it meant? 10% is written 10%, not 1000%",
        )


def _is_rate(criterion: Criterion, most: Most) -> bool:
    """Whether more of the figure is better in every test that has it."""
    asked = [test for test in most.tests.values() if criterion.test in ("", test.name)]
    words = [figure.better for test in asked for figure in test.figures if figure.name == figure_of(criterion.of)]
    return bool(words) and set(words) == {"higher"}


def _beyond_time(keys: tuple[str, ...], criterion: Criterion, most: Most) -> Iterator[Advice]:
    """Advice on a bound of more hours than the component lasts, or of more node-hours than its nodes have then."""
    if not criterion.comparison.startswith((">", "=")):
        return
    hours = most.component.duration_s / 3600
    if criterion.measure in ("hours per node", "mean time to interrupt") and criterion.bound > hours * (1 + 1e-9):
        never = "stays undecided" if criterion.measure == "mean time to interrupt" else "cannot be met"
        said = f"it must be {criterion.must}, and the component runs for {hours:g} h: it {never}"
        yield (*keys, "must"), named(criterion, said), "a lower bound, or a longer duration"
    if criterion.measure == "node-hours":
        places = {case.partition for case in most.asked(criterion)}
        nodes = different_nodes([place for place in most.document.system.partitions() if place_of(place) in places])
        if nodes and criterion.bound > nodes * hours * (1 + 1e-9):
            whole = "1 node has" if nodes == 1 else f"{nodes} nodes have"
            all_of_them = f"{whole} {nodes * hours:g} node-hours in {hours:g} h"
            said = f"it must be {criterion.must}, and {all_of_them}: it cannot be met"
            yield (*keys, "must"), named(criterion, said), "a lower bound, or a longer duration"


def _drained(component: Component, most: Most) -> Iterator[Advice]:
    """Advice where a run or two can meet every criterion, so that an early drain would make all of them true."""
    if any(_needs_many_runs(criterion, component, most) for criterion in component.criteria):
        return
    said = "every criterion can be met by a run or two, so that a drain as soon as it looks good would make them true"
    if component.duration_s:
        said += "; only the planned time, which is a criterion by itself, stands against that"
    amount = "ask for an amount, too: runs, node-hours or hours per node"
    way = f"{amount}, {_wanted_share(component)}or an 'enough' near what there will be"
    yield ("criteria",), said, way


def _wanted_share(component: Component) -> str:
    """The hint to ask for passed / wanted, with a comma; "" where the plan has this measure and no bound would help."""
    if all(criterion.measure != "passed / wanted" for criterion in component.criteria):
        return "passed / wanted, "
    return "" if component.duration_s else "more than half of passed / wanted, "


def _needs_many_runs(criterion: Criterion, component: Component, most: Most) -> bool:
    """Whether a criterion asks for more than a few runs."""
    if criterion.measure in ("runs", "node-hours", "hours per node"):
        return not criterion.comparison.startswith("<") and criterion.bound > 0
    if criterion.measure in ("rows met", "attested", "largest size"):  # a ladder that is not over decides nothing
        return True
    if criterion.measure == "passed / wanted" and not component.duration_s:
        return not criterion.comparison.startswith("<") and criterion.bound > 0.5
    every = 0 if component.duration_s else sum(most.counted(criterion, case) for case in most.asked(criterion))
    least = _enough(criterion) * (len(most.compared(criterion)) if criterion.measure in SINCE else 1)
    return least > max(2, every // 2) or 0 < every <= 2


# ---- runs that fail --------------------------------------------------------------------------------------------------


def _overlooked(component: Component, most: Most) -> Iterator[Advice]:
    """Advice on tests whose runs may fail, crash or time out while every criterion is still met."""
    found = {test: lost for test in most.tests if (lost := _may_fail(test, component, most))[0]}
    if not found:
        return
    test, lost = max(found.items(), key=lambda item: item[1][0])
    count, every = lost
    many = (
        "any number of the runs" if component.duration_s else f"{count} of the {every} runs" if every > 1 else "the run"
    )
    others = [name for name in found if name != test]
    too = f"; of {', '.join(others)} too" if others else ""
    said = f"{many} of {test} may fail and every criterion is still met{too}"
    asked = {criterion.measure for criterion in component.criteria if criterion.test in ("", test)}
    ways = [f"{name} above 0 %" if name in asked else name for name in ("passed / wanted", "passed / attempts")]
    way = f"{' and '.join(ways)} count runs that fail; so does an 'enough' that is as many as there are"
    yield ("criteria",), said, way


def _may_fail(test: str, component: Component, most: Most) -> tuple[int, int]:
    """How many runs of a test may fail unnoticed, and how many there are; (0, ...) where a criterion counts failures."""
    mine = [case for case in most.cases if case.test == test and case.expect in ("", "passed", "performance")]
    every = sum(most.results(case) for case in mine)
    unseen = every
    for criterion in component.criteria:
        if criterion.test not in ("", test):
            continue
        if _may_count_failures(criterion, component):
            return 0, every
        if not component.duration_s:
            unseen = min(unseen, _spare(criterion, mine, most))
    return (unseen, every) if mine else (0, 0)


def _may_count_failures(criterion: Criterion, component: Component) -> bool:
    """Whether a run that fails keeps it from being met, or may do so: a measure of a package need not say it."""
    sees = measures()[criterion.measure].sees_failures
    if sees is None:
        return True
    modes = {mode.name for mode in component.modes}
    if criterion.measure == FAILURES_SINCE:
        return criterion.bound < 1 and (not criterion.mode or modes <= {criterion.mode})
    asks = sees and not criterion.comparison.startswith("<") and criterion.bound > 0
    return asks and (not criterion.mode or modes <= {criterion.mode})


def _spare(criterion: Criterion, mine: Iterable[Case], most: Most) -> int:
    """How many runs of these cases may fail before fewer are left than the criterion needs."""
    cases = list(mine)
    if criterion.measure == "rows met":
        return sum(most.results(case) - bool(case.rows) for case in cases)
    if criterion.measure not in (*OF_FIGURES, "correct / completed"):
        return sum(most.results(case) for case in cases)
    count: Callable[[Case], int] = lambda case: most.counted(criterion, case)  # noqa: E731
    outside = [most.results(case) for case in cases if not count(case)]
    counted = [case for case in cases if count(case)]
    if criterion.per:
        return sum(outside) + sum(max(0, count(case) - criterion.enough) for case in counted)
    spare = sum(count(case) for case in most.asked(criterion)) - criterion.enough
    return sum(outside) + min(sum(map(count, counted)), max(0, spare))
