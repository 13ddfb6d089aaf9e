"""The declarations of all measures that a criterion can name, in ``MEASURES``. Plans, judging and the report use this table.

A new measure is a function and a declaration: in this table, or in a package of a site, which names it as an entry point of the
group ``shakedown.measures``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from shakedown.model.entry_points import declared_in_packages

GROUP = "shakedown.measures"
RESULTS = ("mode", "test", "per", "leave_out", "epochs")  # keys that narrow which runs count
CHANGE_SINCE, FAILURES_SINCE = "change since", "failures since"
SINCE = (CHANGE_SINCE, FAILURES_SINCE)  # measures that compare runs with earlier ones


class Measure(Struct, frozen=True):
    """The declaration of one measure.

    - ``name``: the word in a plan; ``about``: a description, a line of the reference
    - ``function``: "module:name" of ``(Criterion, Population, MeasureContext) -> Measured``; it is imported when it is first used
    - ``bound``: the kind of bound: a ``share``, an amount of the ``figure``, ``hours``, or a ``count`` in one of ``units``
    - ``keys``: the keys of a criterion that the measure uses; ``per``: the words of its key ``per``
    - ``recipe``: how its number is computed again from the report's tables. It may name {rows} (of runs.csv), {values} (of
      values.csv), {row} (component and test), {of}, {statistic}, {basis}, {files} and {across}
    - ``phrase``: the text for a criterion, where the name alone is not enough. It may name {statistic}, {of},
      {files} and {since}
    - ``better``: ``higher`` or ``lower``; "": as the figure. ``share_of_runs``: its share counts runs
    - ``beyond_all``: its share may exceed 100 %; ``negative``: its share may be below 0
    - ``always_per_case``: each case is always judged on its own
    - ``without_cases``: it is not about runs of cases. ``sees_failures``: whether a run that fails makes it worse; None:
      not said, so nothing is advised of runs that may fail
    - ``in_plans``: a plan may name it; else it stands by itself
    - ``reads``: which numbers of runs it reads, that a rehearsal makes up where nobody says them: ``none`` (it goes by verdicts, by
      when and where runs ran, or by people), those of its ``figure``, of the ``scaling`` of its tests, of contract ``rows``, of a
      ``ladder``, of a ``score``, or the ``files`` that runs leave; "": not said, so perhaps every figure of its tests
    """

    name: str
    about: str
    function: str
    recipe: str
    bound: Literal["share", "figure", "hours", "count"] = "share"
    units: tuple[str, ...] = ("",)
    keys: tuple[str, ...] = ()
    per: tuple[str, ...] = ()
    phrase: str = "{name}"
    better: Literal["higher", "lower", ""] = "higher"
    share_of_runs: bool = False
    beyond_all: bool = False
    negative: bool = False
    always_per_case: bool = False
    without_cases: bool = False
    sees_failures: bool | None = None
    in_plans: bool = True
    reads: Literal["none", "figure", "scaling", "rows", "ladder", "score", "files", ""] = ""

    @property
    def on_a_figure(self) -> bool:
        """Whether a criterion names a figure."""
        return "of" in self.keys

    @property
    def unit(self) -> str:
        """The unit of a count or a time, unless the bound gives another unit."""
        return "h" if self.bound == "hours" else self.units[-1]


_UTILISATION = "utilisation.csv, the row of the component with this name: node_hours / of_node_hours"

MEASURES: tuple[Measure, ...] = (
    Measure(
        "passed / attempts",
        "attempts that passed, of all attempts",
        "shakedown.metrics.judging.measures:passed_of_attempts",
        "runs.csv, rows with {rows}: those with good = yes / all",
        keys=RESULTS,
        per=("case",),
        share_of_runs=True,
        sees_failures=True,
        reads="none",
    ),
    Measure(
        "passed / wanted",
        "wanted results that passed, at whichever attempt",
        "shakedown.metrics.judging.measures:passed_of_wanted",
        "runs.csv, rows with {rows}: different (case, mode, result) with good = yes / wanted in components.csv",
        keys=RESULTS,
        per=("case",),
        share_of_runs=True,
        sees_failures=True,
        reads="none",
    ),
    Measure(
        "correct / completed",
        "runs with the right answer, of those that ran to their end",
        "shakedown.metrics.judging.measures:correct_of_completed",
        "runs.csv, rows with {rows} and verdict passed, performance or incorrect: those that are not incorrect, or "
        "good = yes / all",
        keys=RESULTS,
        per=("case",),
        share_of_runs=True,
        sees_failures=False,
        reads="none",
    ),
    Measure(
        "value",
        "a statistic of the figure `of`",
        "shakedown.metrics.judging.measures:figure_value",
        "values.csv, rows with {values}: {statistic} of value",
        bound="figure",
        keys=("of", "statistic", *RESULTS),
        per=("case",),
        phrase="{statistic} of {of}",
        better="",
        sees_failures=False,
        reads="figure",
    ),
    Measure(
        "sd / mean",
        "the spread of the figure `of`: its standard deviation over its mean",
        "shakedown.metrics.judging.measures:figure_spread",
        "values.csv, rows with {values}: sd (divisor n - 1) / mean of value",
        keys=("of", *RESULTS),
        per=("case",),
        phrase="sd / mean of {of}",
        better="lower",
        beyond_all=True,
        sees_failures=False,
        reads="figure",
    ),
    Measure(
        "fill / isolated",
        "how much worse the figure `of` is on a full machine, case by case: of a time, what fill adds to isolated; of a rate, "
        "what it loses",
        "shakedown.metrics.isolated_fill:fill_over_isolated",
        "values.csv, rows with {values}: {statistic} with mode = fill / {statistic} with mode = isolated - 1 (of a figure where "
        "higher is better: 1 - fill / isolated)",
        keys=("of", "statistic", "test", "per", "leave_out", "epochs"),
        per=("case",),
        phrase="fill / isolated, {statistic} of {of}",
        better="lower",
        beyond_all=True,
        negative=True,
        always_per_case=True,
        sees_failures=False,
        reads="figure",
    ),
    Measure(
        "rows met",
        "contract rows that its own runs meet, of those of the `basis` that ask about its cases",
        "shakedown.metrics.judging.measures:contract_rows_met",
        "contract-rows.csv, rows with basis = {basis} in force for a case of the component: outcome met / all that are "
        "not unjudged, each judged again as there on values.csv with {row} alone; the outcome there is of all components' runs",
        keys=("basis", *RESULTS),
        per=("case",),
        sees_failures=False,
        reads="rows",
    ),
    Measure(
        "identical",
        "runs whose recorded `files` are those of most others, of the runs compared",
        "shakedown.metrics.identical:identical",
        "recorded.csv, rows with pattern {files} of runs that are in runs.csv with {rows} and verdict passed, performance or "
        "incorrect: in each group of two runs and more, of one case{across}, those with the sum that most have / all",
        keys=("files", "across", "mode", "test", "epochs"),
        phrase="identical {files}",
        share_of_runs=True,
        sees_failures=False,
        reads="files",
    ),
    Measure(
        "attested",
        "procedures attested as met, of all of the component's",
        "shakedown.metrics.judging.procedures:attested",
        "procedures.csv, rows of the component: met = yes with enough evidence / all",
        without_cases=True,
        sees_failures=False,
        reads="none",
    ),
    Measure(
        "contractual node-hours / clock node-hours",
        "the component's correct runs, of its partitions' nodes times its clock",
        "shakedown.metrics.utilisation:contractual_utilisation",
        _UTILISATION,
        keys=("test",),
        sees_failures=True,
        reads="none",
    ),
    Measure(
        "our node-hours / clock node-hours",
        "all our runs there, of the same",
        "shakedown.metrics.utilisation:our_utilisation",
        _UTILISATION,
        sees_failures=False,
        reads="none",
    ),
    Measure(
        "delivered node-hours / calendar node-hours",
        "all correct runs, of the whole system's nodes in 24-hour days",
        "shakedown.metrics.utilisation:calendar_utilisation",
        _UTILISATION,
        sees_failures=True,
        reads="none",
    ),
    Measure(
        "delivered node-hours / available node-hours",
        "the same, without announced maintenance",
        "shakedown.metrics.utilisation:available_utilisation",
        _UTILISATION,
        sees_failures=True,
        reads="none",
    ),
    Measure(
        "runs",
        "runs with the right answer: a plain number",
        "shakedown.metrics.judging.floors:runs",
        "shares.csv, rows with {row}: the sum of right",
        bound="count",
        keys=("test", "per"),
        per=("case", "test"),
        sees_failures=False,
        reads="none",
    ),
    Measure(
        "node-hours",
        "what these took of the machine: a plain number",
        "shakedown.metrics.judging.floors:node_hours",
        "shares.csv, rows with {row}: the sum of right_node_hours",
        bound="count",
        units=("", "node-hours"),
        keys=("test", "per"),
        per=("case", "test"),
        sees_failures=False,
        reads="none",
    ),
    Measure(
        "hours per node",
        "how long our runs held the node that they held least: a duration",
        "shakedown.metrics.judging.floors:hours_per_node",
        "node-use.csv, rows with {row}: the least of hours",
        bound="hours",
        sees_failures=False,
        reads="none",
    ),
    Measure(
        "mean time to interrupt",
        "the time of the clock over the interrupts in it: a duration",
        "shakedown.metrics.judging.floors:mean_time_to_interrupt",
        "interrupts.csv, row with {row}: mean_h",
        bound="hours",
        sees_failures=False,
        reads="none",
    ),
    Measure(
        "longest hole",
        "the longest time in which no run of a test was under way: a duration",
        "shakedown.metrics.judging.floors:longest_hole",
        "shares.csv, rows with {row}: the greatest of hole_s",
        bound="hours",
        keys=("test", "per"),
        per=("test",),
        better="lower",
        sees_failures=False,
        reads="none",
    ),
    Measure(
        "late",
        "by how much the component was over later than its `deadline`: a duration",
        "shakedown.metrics.deadlines:late",
        "deadlines.csv, the row of the component: late_s",
        bound="hours",
        better="lower",
        without_cases=True,
        sees_failures=False,
        reads="none",
    ),
    Measure(
        "efficiency",
        "how well a test scales: its speed-up over the smallest size, over that of the sizes; of several series the worst counts",
        "shakedown.metrics.judging.efficiency:efficiency",
        "scaling.csv, rows with {row} and the size that is asked for: the least efficiency",
        keys=("test", "mode", "at", "epochs"),
        phrase="{name}",
        beyond_all=True,
        sees_failures=False,
        reads="scaling",
    ),
    Measure(
        CHANGE_SINCE,
        "how much worse the figure `of` is than in what `since` names, case by case, where runs show a change: of a time what it "
        "adds, of a rate what it loses; the bound is the smallest change that matters",
        "shakedown.metrics.judging.since:change_since",
        "changes.csv, rows with {row} and criterion = this one: the greatest worse_by; decided by worse_by, interval_high and "
        "corrected there",
        keys=("of", "since", "mode", "test", "epochs"),
        phrase="change of {of} since {since}",
        better="lower",
        beyond_all=True,
        negative=True,
        sees_failures=False,
        reads="figure",
    ),
    Measure(
        FAILURES_SINCE,
        "how much larger the share of runs that do not pass is than in what `since` names, case by case: in points of a share",
        "shakedown.metrics.judging.since:failures_since",
        "changes.csv, rows with {row} and criterion = this one: the greatest worse_by",
        keys=("since", "mode", "test", "epochs"),
        phrase="failures since {since}",
        better="lower",
        share_of_runs=True,
        negative=True,
        sees_failures=True,
        reads="none",
    ),
    Measure(
        "largest size",
        "up to which size the ladders of the component hold; of several the one that holds least counts: a number",
        "shakedown.metrics.judging.largest_size:largest_size",
        "ladders.csv, rows with {row} and state = holds: the greatest size of each ladder, the least of these",
        bound="count",
        keys=("test",),
        sees_failures=True,
        reads="ladder",
    ),
    Measure(
        "planned time",
        "for how long the clock has run, of what the plan asks for: a duration",
        "shakedown.metrics.judging.planned_time:planned_time",
        "clock-spans.csv, rows with {row} and maintenance = no: the sum of end - begin",
        bound="hours",
        sees_failures=False,
        in_plans=False,
        reads="none",
    ),
    Measure(
        "set up",
        "set-ups that passed, of all of the component's",
        "shakedown.metrics.judging.set_ups:set_ups_passed",
        "runs.csv, rows of the component with mode = set-up: different (case, repeat) with verdict passed or performance / all",
        share_of_runs=True,
        sees_failures=True,
        without_cases=True,
        in_plans=False,
        reads="none",
    ),
    Measure(
        "clean up",
        "clean-ups that passed, of all of the component's",
        "shakedown.metrics.judging.set_ups:clean_ups_passed",
        "runs.csv, rows of the component with mode = clean-up: different (case, repeat) with verdict passed or performance / all",
        share_of_runs=True,
        sees_failures=True,
        without_cases=True,
        in_plans=False,
        reads="none",
    ),
    Measure(
        "drill: lost",
        "runs that were live in a drill, and did not come to their end",
        "shakedown.metrics.judging.drills:lost_runs",
        "drills.csv, the row of the component with this name: lost",
        bound="count",
        better="lower",
        sees_failures=True,
        without_cases=True,
        in_plans=False,
        reads="none",
    ),
    Measure(
        "drill: hole",
        "the longest time in a drill in which no run began and none ended well",
        "shakedown.metrics.judging.drills:longest_standstill",
        "drills.csv, the row of the component with this name: hole_s",
        bound="hours",
        better="lower",
        without_cases=True,
        sees_failures=False,
        in_plans=False,
        reads="none",
    ),
    Measure(
        "drill: back",
        "the time from the begin of a drill until the load is back at what it was",
        "shakedown.metrics.judging.drills:back_after",
        "drills.csv, the row of the component with this name: back_s",
        bound="hours",
        better="lower",
        without_cases=True,
        sees_failures=False,
        in_plans=False,
        reads="none",
    ),
    Measure(
        "score",
        "a score of the plan, or a part of one",
        "shakedown.metrics.judging.score_measure:score_value",
        "scores.csv, rows with score = {of}, or with score and part joined by a full stop = {of}: see formula there",
        bound="figure",
        phrase="score {of}",
        without_cases=True,
        sees_failures=False,
        in_plans=False,
        reads="score",
    ),
)


@lru_cache(maxsize=1)
def measures() -> Mapping[str, Measure]:
    """Purpose: every measure by its name: those of the package, then those of installed packages.

    Errors: UsageError if a package declares something that is not a measure, or a name that is taken.
    """
    ours = {measure.name: measure for measure in MEASURES}
    return ours | declared_in_packages(GROUP, Measure, "measure", ours)


def measure_named(name: str) -> Measure | None:
    """The measure of this name; None where this version has none."""
    return measures().get(name)


def names(chosen: Iterable[Measure]) -> tuple[str, ...]:
    """The names of measures, in the given order."""
    return tuple(measure.name for measure in chosen)
