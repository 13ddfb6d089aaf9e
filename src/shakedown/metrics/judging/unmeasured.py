"""Results that depend on unknown values, of runs that are assumed to have passed: ``hangs``.

A run that a shorter time limit cut off, or a further attempt that was not made, has measured nothing. With such a run a criterion
on a figure, a contract row or a score may have any result, and is known only if no further value could change it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from shakedown.metrics.deadlines import over_since
from shakedown.metrics.judging.contract import score_row, settled
from shakedown.metrics.judging.contract_measure import rows_asked, share_met
from shakedown.metrics.judging.deciding import decide
from shakedown.metrics.judging.default_criteria import criteria_of
from shakedown.metrics.judging.exclusions import OUTLIERS, choose
from shakedown.metrics.judging.floors import unit_of
from shakedown.metrics.judging.populations import CaseRuns, Population, populations
from shakedown.metrics.judging.scope import ELAPSED, MeasureContext, arounds
from shakedown.metrics.judging.score_rows import is_on_a_score
from shakedown.metrics.judging.scorecard import CriterionScore, Scorecard
from shakedown.metrics.judging.wording import broken_commitments
from shakedown.metrics.rows.table import Record
from shakedown.model.figures import figure_of
from shakedown.model.judging import ContractRow, Criterion
from shakedown.model.nouns import Document
from shakedown.model.scores import MEASURE, named_by, part_of
from shakedown.model.units import Quantity

# Measures that do not depend on a run's figures or its run time. Every other measure may depend on them.
COUNTED = frozenset({
    "passed / attempts", "passed / wanted", "correct / completed", "attested", "runs", "set up", "clean up", "drill: lost",
    "drill: hole", "planned time", "mean time to interrupt", "longest hole", "hours per node", "failures since",
})  # fmt: skip


def hangs(document: Document, record: Record, card: Scorecard, runs: Collection[str]) -> bool:
    """Purpose: whether the values that some runs would have measured may change a campaign's outcome. ``card``: the scorecard if
    they passed without values; a criterion that is not met there in any case rejects the campaign, whatever they measured.
    """
    unmeasured, open_ones = _Unmeasured(document, record, runs), False
    came = {(part.name, item.name): item for part in card.components for item in part.criteria}
    for around in arounds(document, record, unmeasured.people):
        for item in criteria_of(around.component):
            judged = came[around.component.name, item.name]
            if unmeasured.leaves_open(item, judged, around):
                open_ones = True
            elif judged.outcome == "not met":
                return False
    return open_ones or unmeasured.restricts_perhaps(card)


class _Unmeasured:
    """The populations of a record in which the values of some runs are unknown."""

    def __init__(self, document: Document, record: Record, runs: Collection[str]) -> None:
        self.document, self.runs, self.people = document, runs, populations(document, record)
        self.tests = {(test.name, figure.name) for test in document.tests for figure in test.figures}
        self.rows = {row.name: row for contract in document.contracts for row in contract.rows}

    def leaves_open(self, criterion: Criterion, came: CriterionScore, around: MeasureContext) -> bool:
        """Whether the unknown values may change a criterion's outcome."""
        if criterion.measure in COUNTED:
            return False
        if criterion.measure == MEASURE:
            return self._changes_score(criterion.of)
        if criterion.measure == "late":
            return came.outcome != "not met" and self._is_late_perhaps(criterion, around)
        chosen = choose(criterion, self.people[around.component.name], around.record).population
        if criterion.measure == "rows met":
            return self._changes_share_of_rows(criterion, came, chosen, around)
        touched = [case for case in chosen.cases if self._gives(case, criterion.of)]
        return bool(touched) and not _stays(criterion, came, touched)

    def restricts_perhaps(self, card: Scorecard) -> bool:
        """Whether unknown values may add or remove a restriction of an acceptance, through a commitment of the contract."""
        if card.contract is None or card.outcome not in ("accepted", "accepted with restrictions"):
            return False
        rows = (score.row for score in card.contract.rows if score.row.basis == "contract")
        open_ones = {row.name for row in rows if self._changes_row(row)}
        broken = {score.row.name for score in broken_commitments(card.contract)}
        return bool(open_ones) if card.outcome == "accepted" else bool(broken) and broken <= open_ones

    def _gives(self, case: CaseRuns, figure: str) -> bool:
        """Whether one of these runs would have given a case a value of a figure; "" stands for any figure."""
        has = figure in ("", ELAPSED.name) or (case.case.test, figure_of(figure)) in self.tests
        return has and any(row.run in self.runs for row in case.rows)

    def _is_late_perhaps(self, criterion: Criterion, around: MeasureContext) -> bool:
        """Whether a component is too late if each of these runs had used its whole time limit, one after the other."""
        part, population = around.component, self.people[around.component.name]
        mine = [case.case.shape.time_limit_s for case in population.cases for row in case.rows if row.run in self.runs]
        kept = over_since(part, population, around.record)
        if not mine or part.deadline is None or kept is None:
            return bool(mine)
        bound_s = Quantity(criterion.bound, unit_of(criterion)).to("s")
        return not all(mine) or kept + sum(mine) - part.deadline > bound_s

    def _changes_row(self, row: ContractRow) -> bool:
        if is_on_a_score(row, self.document):
            return self._changes_score(row.figure)
        every = (case for population in self.people.values() for case in population.cases)
        return self._changes_row_of(row, [case for case in every if row.name in case.case.rows])

    def _changes_row_of(self, row: ContractRow, cases: Sequence[CaseRuns]) -> bool:
        if not any(self._gives(case.of_mode(row.mode), row.figure) for case in cases):
            return False
        score = score_row(row, cases)
        beyond = row.statistic == "each" or (score.measured is not None and settled(row, score.measured))
        return score.outcome != "not met" or not beyond

    def _changes_share_of_rows(
        self, criterion: Criterion, came: CriterionScore, population: Population, around: MeasureContext
    ) -> bool:
        scores = rows_asked(criterion, population, self.rows, around.record.waivers, around.component.name)
        mine = {name: [case for case in population.cases if name in case.case.rows] for name in self.rows}
        open_ones = {score.row.name for score in scores if self._changes_row_of(score.row, mine[score.row.name])}
        if not open_ones or came.outcome != "not met" or criterion.per:
            return bool(open_ones)
        return decide(criterion, share_met(criterion, scores, open_ones))[0] != "not met"

    def _changes_score(self, of: str) -> bool:
        named = named_by(of, self.document.scores)
        for part in part_of(named[0], of, named[1]).parts if named else ():
            population = self.people.get(part.component)
            mine = [case for case in population.cases if case.case.id == part.case] if population else []
            if part.given is None and any(self._gives(case.of_mode(part.mode), "") for case in mine):
                return True
        return False


def _stays(criterion: Criterion, came: CriterionScore, touched: Sequence[CaseRuns]) -> bool:
    """Whether a criterion stays not met whatever these cases measured: because of another case, or because a value is already
    beyond the bound and the greatest (or least) value counts.
    """
    if came.outcome != "not met":
        return False
    beyond = criterion.measure == "value" and (criterion.statistic, criterion.comparison[0]) in (
        ("max", "<"),
        ("min", ">"),
    )
    if beyond and OUTLIERS not in criterion.leave_out:
        return True
    names = {case.case.test if came.per == "test" else case.case.id for case in touched}
    return any(one.outcome == "not met" and one.case not in names for one in came.cases)
