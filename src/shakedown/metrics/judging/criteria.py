"""Judge a campaign against its plan: each criterion met, not met or undecided, with the arithmetic in words.

Start reading at ``score``. A criterion is judged as soon as no result that is still to come could change it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from shakedown.metrics.deadlines import missed_dates
from shakedown.metrics.issues import restricting
from shakedown.metrics.judging import floors, waivers
from shakedown.metrics.judging.contract import score_contract
from shakedown.metrics.judging.deciding import decide, together, worst
from shakedown.metrics.judging.default_criteria import USUAL_CRITERION, criteria_of, is_usual
from shakedown.metrics.judging.epochs import declared_epoch, epoch_numbered, least_epoch, opened_words
from shakedown.metrics.judging.exclusions import Chosen, choose
from shakedown.metrics.judging.measures import measure, only_unavailable
from shakedown.metrics.judging.open_issues import issues_beside
from shakedown.metrics.judging.populations import CaseRuns, Population, as_expected, count_verdicts, populations
from shakedown.metrics.judging.relabelled import relabelled
from shakedown.metrics.judging.scope import MeasureContext, arounds
from shakedown.metrics.judging.score_measure import runs_behind
from shakedown.metrics.judging.score_rows import with_score_rows
from shakedown.metrics.judging.scorecard import (
    CaseScore,
    ComponentScore,
    CriterionScore,
    Measured,
    Outcome,
    Scorecard,
    campaign_outcome,
    component_outcome,
    exit_status,
)
from shakedown.metrics.judging.taken_away import Seen, left_behind, taken_away
from shakedown.metrics.judging.waivers import standing
from shakedown.metrics.judging.wording import (
    beside_the_criteria,
    broken_commitments,
    changed_conditions,
    given_values,
    judged_by_another_plan,
    left_out_text,
    measure_text,
    must_text,
    not_to_be_hidden,
    remarks,
    restrictions,
    summary,
)
from shakedown.metrics.ladders import ladders_of
from shakedown.metrics.modelled import ladders_known, not_modelled, without_what_is_made_up
from shakedown.metrics.rehearsed import in_words
from shakedown.metrics.rows.table import Record
from shakedown.metrics.scores.results import results_of
from shakedown.metrics.words import plural
from shakedown.model.judging import Criterion
from shakedown.model.measures import measure_named
from shakedown.model.nouns import Document

__all__ = ["USUAL_CRITERION", "exit_status", "score"]


def score(
    document: Document,
    record: Record,
    over: Collection[str] = (),
    earlier: Sequence[Document] = (),
    brief: bool = False,
) -> Scorecard:
    """Purpose: the scorecard of a campaign, finished or not.

    ``over``: components that run for a time and are known to be over, whatever the record's last event says.
    ``earlier``: the plans that were in force before, the first one first; requirements that the plan in force no longer has are
    reported and restrict the acceptance. ``brief``: without remarks and scores, for callers that need only the outcome.
    """
    return score_people(document, record, populations(document, record, over), earlier, brief)


def score_people(
    document: Document,
    record: Record,
    people: Mapping[str, Population],
    earlier: Sequence[Document] = (),
    brief: bool = False,
    alone: Collection[int] = (),
) -> Scorecard:
    """Purpose: the scorecard, with the populations given. ``alone``: the places in ``earlier`` of plans that not every party agreed
    to: their requirements cannot be lost. The other arguments are those of ``score``.
    """
    every = arounds(document, record, people)
    components = tuple(_component(people[around.component.name], around) for around in every)
    finished = record.ended is not None
    contract = without_what_is_made_up(score_contract(document, people, record.waivers), record.rehearsal)
    contract = with_score_rows(contract, document, people, record)
    outcome, given = campaign_outcome(components, finished), standing(document, record, contract, components)
    seen = Seen(document, record, people, every, components, _criterion, earlier, alone)
    taken, behind = taken_away(seen), left_behind(seen)
    scores = () if brief else results_of(document, people, record)
    open_issues, missed = restricting(document, record), missed_dates(document, record, people)
    otherwise = judged_by_another_plan(record) or changed_conditions(record) or open_issues
    if outcome == "accepted" and (
        taken or behind or given.others or given.gone or broken_commitments(contract) or otherwise
    ):
        outcome = "accepted with restrictions"
    return Scorecard(
        campaign=record.campaign,
        plan=document.plan,
        system=document.system.name,
        outcome=outcome,
        summary=summary(outcome, components, finished, given, len(taken), len(behind))
        + beside_the_criteria(outcome, contract, document)
        + issues_beside(outcome, open_issues)
        + not_to_be_hidden(outcome, people, missed),
        finished=finished,
        components=components,
        unavailable=sum(len(component.unavailable) for component in components),
        to_come=sum(component.to_come for component in components),
        remarks=()
        if brief
        else (*remarks(document, record, people), *given_values(scores), *given.idle, *relabelled(document, earlier)),
        restrictions=(*restrictions(components, record, contract, given, open_issues), *taken, *behind),
        epoch=record.epoch,
        contract=contract,
        rehearsal=in_words(record.rehearsal),
        ad_hoc=document.ad_hoc,
        scores=scores,
        missed_dates=missed,
    )


def _component(population: Population, around: MeasureContext) -> ComponentScore:
    component = around.component
    criteria = tuple(
        _waived(
            _with_rows_waived(_criterion(item, population, around), item, population, around), item, population, around
        )
        for item in criteria_of(component)
    )
    cases, coming = {case.case.id: case.case for case in population.cases}, population.to_come - population.cut_off
    return ComponentScore(
        name=component.name,
        kind=component.kind,
        outcome=component_outcome(criteria, coming, len(population.unavailable), around.record.ended is not None),
        wanted=population.wanted - population.cut_off,
        judged=population.judged,
        passed=population.passed,
        to_come=coming,
        attempts=len(population.rows),
        given_up=sum(case.given_up for case in population.cases),
        as_expected=sum(as_expected(row, cases[row.case]) for row in population.rows),
        verdicts=tuple(count_verdicts(population.rows).items()),
        unavailable=population.unavailable,
        criteria=criteria,
        warm_ups=sum(len(case.warm_ups) for case in population.cases),
        undetermined=tuple(row.run for case in population.cases for row in case.undetermined),
        blocking=tuple(row.run for case in population.cases if not case.time_over for row in case.open_undetermined),
        aside=tuple(pair for case in population.cases for pair in case.aside.items()),
        ladders=ladders_known(ladders_of(component, around.document, around.record), around.record.rehearsal),
    )


# ---- one criterion ---------------------------------------------------------------------------------------------------


def _criterion(criterion: Criterion, population: Population, around: MeasureContext) -> CriterionScore:
    """Score a criterion on the runs that it counts; if it leaves runs out, add the result with all runs counted."""
    declared = measure_named(criterion.measure)
    if declared and declared.always_per_case:  # over several cases the measure would compare different things
        criterion = replace(criterion, per="case")
    population = only_unavailable(criterion, population, around)
    chosen = choose(criterion, population, around.record)
    judged = _on(criterion, chosen.population, around)
    judged = _with_before(judged, criterion, chosen, around) if chosen.left_out else judged
    return _as_declared(judged, criterion, population, around)


def _as_declared(
    judged: CriterionScore, criterion: Criterion, population: Population, around: MeasureContext
) -> CriterionScore:
    """The score, made undecided if its outcome depends on an epoch that nobody declared."""
    least, record = declared_epoch(criterion, around.record), around.record
    opened = epoch_numbered(least_epoch(criterion, record), record)
    if opened is None or least == opened.number or judged.outcome == "undecided":
        return judged
    whole = _on(criterion, choose(replace(criterion, epochs=str(least)), population, record).population, around)
    if whole.outcome == judged.outcome:
        return judged
    reason = (
        f"{judged.outcome} from epoch {opened.number} on, {opened_words(opened)}; {whole.outcome} from epoch {least} on"
        f" ({whole.arithmetic or whole.reason})"
    )
    return replace(judged, outcome="undecided", beneath="undecided", reason=reason)


def _on(criterion: Criterion, population: Population, around: MeasureContext) -> CriterionScore:
    made_up = not_modelled(criterion, population, around)
    if made_up:
        unit = _own_unit(criterion, population, around)
        return _scored(criterion, Measured(None, 0, "", reason=made_up), "undecided", made_up, unit)
    if criterion.per and population.cases:
        return _each(criterion, population, around)
    measured = measure(criterion, population, around)
    outcome, reason = decide(criterion, measured)
    return _scored(criterion, measured, outcome, reason, _own_unit(criterion, population, around))


def _with_before(
    judged: CriterionScore, criterion: Criterion, chosen: Chosen, around: MeasureContext
) -> CriterionScore:
    everything = _on(replace(criterion, leave_out=()), chosen.everything, around)
    text = f"{judged.arithmetic}; left out: {left_out_text(chosen.left_out)}{_of_the_worst(judged, criterion, chosen, around)}"
    before, value = everything.arithmetic, everything.measured
    return replace(
        judged,
        arithmetic=f"{text}; with everything counted: {before}" if judged.arithmetic else "",
        left_out=chosen.left_out,
        before=before,
        measured_before=value,
    )


def _of_the_worst(judged: CriterionScore, criterion: Criterion, chosen: Chosen, around: MeasureContext) -> str:
    """How many of the left-out runs belong to the case, or the test, that decided the criterion; "" if all do."""
    worst = dict(_parts(criterion, chosen.everything)).get(judged.worst_case) if criterion.per else None
    if worst is None:
        return ""
    mine = choose(criterion, Population(worst, ()), around.record).left_out
    if mine == chosen.left_out:
        return f" of {judged.worst_case}" if len(judged.cases) > 1 else ""
    return f", {left_out_text(mine) or 'none'} of these of {judged.worst_case}"


def _waived(
    judged: CriterionScore, criterion: Criterion, population: Population, around: MeasureContext
) -> CriterionScore:
    """The score with waivers added beside the outcome; a waiver hides nothing, and an unneeded one changes nothing."""
    name, record = around.component.name, around.record
    mine = waivers.of_criterion(around.document, around.component, criterion, record)
    if not mine or judged.outcome == "met":
        return judged
    if criterion.measure == "attested":
        early = [waivers.ahead_of_attestations(row, name, record) for row in mine]
    else:
        asked = population.of_test(criterion.test).each(lambda case: case.of_mode(criterion.mode))
        runs = {row.run for row in asked.rows} or set(runs_behind(criterion, around))
        early = [waivers.ahead(row, runs, record) for row in mine]
    said = "; ".join(filter(None, (judged.waiver, waivers.words(mine, early))))
    return replace(judged, outcome="waived", waiver=said, waived_by=waivers.givers(mine))


def _with_rows_waived(
    judged: CriterionScore, criterion: Criterion, population: Population, around: MeasureContext
) -> CriterionScore:
    """Waived rows do not change the number of ``rows met``; the criterion is waived if it would be met with them."""
    if criterion.measure != "rows met" or judged.outcome == "met" or around.rows_waived:
        return judged
    mine = [row for row in around.record.waivers if row.what == "row" and row.component in ("", around.component.name)]
    if not mine or _criterion(criterion, population, replace(around, rows_waived=True)).outcome != "met":
        return judged
    rows = {row.name: row for contract in around.document.contracts for row in contract.rows}
    names = {name for case in population.cases for name in case.case.rows}
    used = [
        waiver
        for waiver in mine
        if any(waiver.is_of_row(around.document, rows[name]) for name in names if name in rows)
    ]
    text = "; ".join(f"row {waiver.name}: {waivers.words([waiver])}" for waiver in used)
    return replace(judged, outcome="waived", waiver=text, waived_by=waivers.givers(used))


def _scored(criterion: Criterion, measured: Measured, outcome: Outcome, reason: str, unit: str) -> CriterionScore:
    return CriterionScore(
        name=criterion.name,
        measure=measure_text(criterion),
        must=must_text(criterion),
        outcome=outcome,
        measured=measured.value,
        bound=criterion.bound,
        unit=unit,
        count=measured.count,
        enough=criterion.enough,
        arithmetic=f"{measured.arithmetic}, must {must_text(criterion)}" if measured.arithmetic else "",
        reason=reason,
        interval=measured.interval,
        per=criterion.per,
        usual=is_usual(criterion),
        restricted=measured.restricted,
        basis=criterion.basis,
        clause=criterion.clause,
        mode=criterion.mode,
        beneath=outcome,
        cases=measured.parts,
        runs=measured.runs,
    )


def _own_unit(criterion: Criterion, population: Population, around: MeasureContext) -> str:
    declared = measure_named(criterion.measure)
    if declared and declared.bound in ("count", "hours"):
        return floors.unit_of(criterion)
    if declared is None or declared.bound == "share":
        return "share"
    known = (around.figure(case.case.test, criterion.of).unit for case in population.cases)
    return criterion.unit or next((unit for unit in known if unit), "")


# ---- the worst case or test ------------------------------------------------------------------------------------------


def _each(criterion: Criterion, population: Population, around: MeasureContext) -> CriterionScore:
    """Score every case, or every test, separately; the worst one counts. A part that ended as expected is skipped."""
    unit = _own_unit(criterion, population, around)
    asked = [(name, cases) for name, cases in _parts(criterion, population) if not _excused(criterion, cases)]
    scored = [(name, measure(criterion, Population(cases, ()), around)) for name, cases in asked]
    if not scored:
        nothing = Measured(None, 0, "", reason=f"every {criterion.per} ended as expected, with nothing to measure")
        return _scored(criterion, nothing, "undecided", nothing.reason, unit)
    parts = tuple(_part(criterion, name, measured) for name, measured in scored)
    place = worst(criterion, parts)
    outcome, reason = together(criterion, parts)
    whole = _scored(criterion, scored[place][1], outcome, reason, unit)
    return _with_worst(whole, parts[place], parts)


def _parts(criterion: Criterion, population: Population) -> list[tuple[str, tuple[CaseRuns, ...]]]:
    """The cases of a population by name, each alone, or those of one test together."""
    found: dict[str, tuple[CaseRuns, ...]] = {}
    for case in population.cases:
        name = case.case.test if criterion.per == "test" else case.case.id
        found[name] = (*found.get(name, ()), case)
    return list(found.items())


def _excused(criterion: Criterion, cases: Sequence[CaseRuns]) -> bool:
    expected = all(bool(case.rows) and all(as_expected(row, case.case) for row in case.rows) for case in cases)
    return expected and not criterion.measure.startswith("passed")


def _part(criterion: Criterion, name: str, measured: Measured) -> CaseScore:
    outcome, reason = decide(criterion, measured)
    return CaseScore(name, outcome, measured.value, measured.count, measured.arithmetic, reason)


def _with_worst(whole: CriterionScore, which: CaseScore, parts: tuple[CaseScore, ...]) -> CriterionScore:
    what = f"the worst of {plural(len(parts), whole.per)}" if len(parts) > 1 else f"the only {whole.per}"
    text = f"{whole.arithmetic}; {what} is {which.case}" if whole.arithmetic else ""
    return replace(whole, arithmetic=text, worst_case=which.case, cases=parts, count=min(part.count for part in parts))
