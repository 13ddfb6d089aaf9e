"""What a rehearsal cannot know: figures without a source. A criterion or row on such a figure is undecided.

The record of a rehearsal tells which figures are known (``modelled`` of its first event). Records of versions without that field
are judged as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from msgspec.structs import replace

from shakedown.metrics.judging.contract import ContractScore
from shakedown.metrics.judging.default_criteria import USUAL_CRITERION
from shakedown.metrics.judging.populations import Population
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.ladders import LadderRow
from shakedown.metrics.rehearsed import NOT_MODELLED
from shakedown.metrics.words import some
from shakedown.model.figures import figure_of
from shakedown.model.judging import Criterion
from shakedown.model.measures import Measure, measure_named
from shakedown.model.nouns import Test
from shakedown.model.scores import Score

Asked = set[tuple[str, str]]  # (test, figure)
ELAPSED = "elapsed"  # the run time, which every test has
_WAY_OUT = "give a source in the rehearsal's file (times, figures), or measure it"


def not_modelled(criterion: Criterion, population: Population, around: MeasureContext) -> str:
    """Purpose: why a rehearsal cannot decide a criterion; "" if it can, and for every real campaign.

    This is the only place that defines what a rehearsal may decide: a measure's ``reads`` tells which figures need a source.
    """
    declared, rehearsal = measure_named(criterion.measure), around.record.rehearsal
    if "modelled" not in rehearsal or declared is None or not population.cases:
        return ""
    if declared.reads == "files":
        return f"{NOT_MODELLED}: a rehearsal runs no program, so no files are left to be compared; measure it"
    return unknown_figures(_asked(declared, criterion, population, around), rehearsal)


def _asked(measure: Measure, criterion: Criterion, population: Population, around: MeasureContext) -> Asked:
    """The (test, figure) pairs that a criterion's number depends on; for criteria on a score, see ``of_score``."""
    document = around.document
    names = {case.case.test for case in population.cases}
    tests = [test for test in document.tests if test.name in names and criterion.test in ("", test.name)]
    reads = (
        "ladder" if criterion == USUAL_CRITERION else measure.reads
    )  # without criteria a ladder is judged by the sizes that ran
    match reads:
        case "none" | "score" | "files":
            return set()
        case "figure":
            return {(test.name, criterion.of) for test in tests if figure_of(criterion.of) in _figures_of(test)}
        case "scaling":
            return {(test.name, test.scaling.figure) for test in tests if test.scaling is not None}
        case "ladder":
            ladder = around.component.ladder
            return {(test.name, ladder.figure) for test in tests if ladder is not None and ladder.figure}
        case "rows":
            rows = {row.name: row for contract in document.contracts for row in contract.rows}
            named = {name for case in population.cases for name in case.case.rows if name in rows}
            return {(rows[name].test, rows[name].figure) for name in named if criterion.basis in ("", rows[name].basis)}
        case "":  # a package that does not say: all figures of its tests
            if measure.on_a_figure:
                return _asked(replace(measure, reads="figure"), criterion, population, around)
            return {(test.name, figure) for test in tests for figure in _figures_of(test)}
        case _ as never:
            assert_never(never)


def _figures_of(test: Test) -> list[str]:
    return [ELAPSED, *(spec.name for spec in test.figures)]


def of_score(score: Score, rehearsal: Mapping[str, Any]) -> str:
    """Purpose: why a rehearsal cannot decide a score; "" if it can, and for every real campaign."""
    if "modelled" not in rehearsal:
        return ""
    asked = {(part.test, name) for part in score.parts if part.given is None for name, _ in part.figures}
    return unknown_figures(asked, rehearsal)


def ladders_known(rows: Iterable[LadderRow], rehearsal: Mapping[str, Any]) -> tuple[LadderRow, ...]:
    """Purpose: the ladders of a component; one whose figure is not modelled tells that instead of its sizes."""
    found = []
    for row in rows:
        asked = {(row.test, row.figure)} if row.figure and "modelled" in rehearsal else set()
        why = unknown_figures(asked, rehearsal) if asked else ""
        found.append(row.without_sizes(why) if why else row)
    return tuple(found)


def without_what_is_made_up(contract: ContractScore | None, rehearsal: Mapping[str, Any]) -> ContractScore | None:
    """Purpose: a contract's rows, made undecided where their figures are not modelled."""
    if contract is None or "modelled" not in rehearsal:
        return contract
    rows = []
    for score in contract.rows:
        why = unknown_figures({(score.row.test, score.row.figure)}, rehearsal) if score.outcome != "unjudged" else ""
        made_up = replace(score, outcome="undecided", measured=None, arithmetic="", reason=why, outside=0, worst_run="")
        rows.append(made_up if why else score)
    return replace(contract, rows=tuple(rows))


def unknown_figures(asked: Iterable[tuple[str, str]], rehearsal: Mapping[str, Any]) -> str:
    """Purpose: a sentence on those (test, figure) pairs that a rehearsal does not know; "" if it knows them all."""
    known = set(rehearsal["modelled"] or ())
    missing = sorted({f"{test}.{figure}" for test, figure in asked} - known)
    if not missing:
        return ""
    are = "is" if len(missing) == 1 else "are"
    return f"{NOT_MODELLED}: nobody says what {some(missing)} {are} on this machine; {_WAY_OUT}"
