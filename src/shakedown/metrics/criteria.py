"""Judge a campaign against its plan: each criterion met, not met or undecided, with the arithmetic in words.

``score`` is the table of contents. A criterion is judged as soon as nothing that is still to come could change it.
"""

from __future__ import annotations

from msgspec.structs import replace

from shakedown.metrics.measures import Units, measure
from shakedown.metrics.populations import CaseRuns, Population, as_expected, count_verdicts, populations, unwanted_rows
from shakedown.metrics.scorecard import (
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
from shakedown.metrics.table import Record
from shakedown.metrics.words import plural, same, show_share, show_value, some
from shakedown.model.nouns import Component, Criterion, Document

__all__ = ["USUAL_CRITERION", "exit_status", "score"]

USUAL_CRITERION = Criterion("passed", "passed / wanted", "=", 1.0, unit="%", must="= 100%")  # where a plan states none


def score(document: Document, record: Record) -> Scorecard:
    """Purpose: the scorecard of a campaign, finished or not."""
    units = {(test.name, figure.name): figure.unit for test in document.tests for figure in test.figures}
    people = populations(document, record)
    components = tuple(_component(component, people[component.name], units) for component in document.components)
    finished = record.ended is not None
    return Scorecard(
        campaign=record.campaign,
        plan=document.plan,
        system=document.system.name,
        outcome=(outcome := campaign_outcome(components, finished)),
        summary=_summary(outcome, components, finished),
        finished=finished,
        components=components,
        unavailable=sum(len(component.unavailable) for component in components),
        to_come=sum(component.to_come for component in components),
        remarks=tuple(_remarks(document, record, people)),
    )


def _component(component: Component, population: Population, units: Units) -> ComponentScore:
    stated = component.criteria
    criteria = tuple(_criterion(item, population, units) for item in stated or (USUAL_CRITERION,))
    cases = {case.case.id: case.case for case in population.cases}
    return ComponentScore(
        name=component.name,
        kind=component.kind,
        outcome=component_outcome(criteria, population.to_come, len(population.unavailable)),
        wanted=population.wanted,
        judged=population.judged,
        passed=population.passed,
        to_come=population.to_come,
        attempts=len(population.rows),
        given_up=sum(case.given_up for case in population.cases),
        as_expected=sum(as_expected(row, cases[row.case]) for row in population.rows),
        verdicts=tuple(count_verdicts(population.rows).items()),
        unavailable=population.unavailable,
        criteria=criteria,
    )


# ---- one criterion ---------------------------------------------------------------------------------------------------


def _criterion(criterion: Criterion, population: Population, units: Units) -> CriterionScore:
    mine = population.of_test(criterion.test)
    if criterion.per == "case" and mine.cases:
        return _per_case(criterion, mine, units)
    measured = measure(criterion, mine, units)
    outcome, reason = decide(criterion, measured)
    return _scored(criterion, measured, outcome, reason, units, mine)


def decide(criterion: Criterion, measured: Measured) -> tuple[Outcome, str]:
    """Purpose: met, not met or undecided, and why undecided. ``measured`` is in the bound's unit."""
    if measured.value is None:
        return "undecided", measured.reason
    if measured.count < criterion.enough:
        return "undecided", f"{measured.count} of the {criterion.enough} that are enough to judge"
    if measured.low is None or measured.high is None:
        return "undecided", "results are still to come"
    if _holds(criterion, measured.low) and _holds(criterion, measured.high):
        return "met", ""
    if _out_of_reach(criterion, measured.low, measured.high):
        return "not met", ""
    return "undecided", "results are still to come"


def _holds(criterion: Criterion, value: float) -> bool:
    if same(value, criterion.bound):
        return "=" in criterion.comparison
    if criterion.comparison == "=":
        return False
    return value > criterion.bound if criterion.comparison.startswith(">") else value < criterion.bound


def _out_of_reach(criterion: Criterion, low: float, high: float) -> bool:
    """No value between ``low`` and ``high`` satisfies it."""
    if criterion.comparison == "=":
        return not (same(low, criterion.bound) or same(high, criterion.bound) or low < criterion.bound < high)
    return not _holds(criterion, high if criterion.comparison.startswith(">") else low)


def _scored(
    criterion: Criterion, measured: Measured, outcome: Outcome, reason: str, units: Units, population: Population
) -> CriterionScore:
    share = criterion.measure != "value"
    unit = "share" if share else criterion.unit or _own_unit(criterion, population, units)
    return CriterionScore(
        name=criterion.name,
        measure=_measure_text(criterion),
        must=_must_text(criterion),
        outcome=outcome,
        measured=measured.value,
        bound=criterion.bound,
        unit=unit,
        count=measured.count,
        enough=criterion.enough,
        arithmetic=_arithmetic(criterion, measured),
        reason=reason,
        interval=measured.interval,
        per=criterion.per,
        usual=criterion is USUAL_CRITERION,
        restricted=measured.restricted,
    )


def _own_unit(criterion: Criterion, population: Population, units: Units) -> str:
    if criterion.of == "elapsed":
        return "s"
    return next(
        (units[case.case.test, criterion.of] for case in population.cases if (case.case.test, criterion.of) in units),
        "",
    )


# ---- the worst case --------------------------------------------------------------------------------------------------


def _per_case(criterion: Criterion, population: Population, units: Units) -> CriterionScore:
    """Every case on its own; the worst one counts. A case that ended as expected has nothing to measure."""
    asked = [case for case in population.cases if not _excused(criterion, case)]
    scored = [(case, measure(criterion, Population((case,), ()), units)) for case in asked]
    cases = tuple(_case(criterion, case, measured) for case, measured in scored)
    if not cases:
        nothing = Measured(None, 0, "", reason="every case ended as expected, with nothing to measure")
        return _scored(criterion, nothing, "undecided", nothing.reason, units, population)
    place = max(range(len(cases)), key=lambda i: _badness(criterion, cases[i], scored[i][1].value))
    worst, measured = cases[place], scored[place][1]
    outcome: Outcome = _together(cases)
    whole = _scored(criterion, measured, outcome, _undecided_text(cases), units, population)
    return _with_worst(whole, worst, cases)


def _excused(criterion: Criterion, case: CaseRuns) -> bool:
    expected = bool(case.rows) and all(as_expected(row, case.case) for row in case.rows)
    return expected and not criterion.measure.startswith("passed")


def _case(criterion: Criterion, case: CaseRuns, measured: Measured) -> CaseScore:
    outcome, reason = decide(criterion, measured)
    return CaseScore(case.case.id, outcome, measured.value, measured.count, measured.arithmetic, reason)


def _badness(criterion: Criterion, case: CaseScore, value: float | None) -> tuple[int, float]:
    """Cases that are not met come first, then undecided ones, then the one nearest to its bound on the wrong side."""
    rank = {"not met": 2, "undecided": 1, "met": 0}[case.outcome]
    if value is None:
        return rank, float("-inf")
    if criterion.comparison == "=":
        return rank, abs(value - criterion.bound)
    return rank, -value if criterion.comparison.startswith(">") else value


def _together(cases: tuple[CaseScore, ...]) -> Outcome:
    outcomes = {case.outcome for case in cases}
    return "not met" if "not met" in outcomes else "undecided" if "undecided" in outcomes else "met"


def _undecided_text(cases: tuple[CaseScore, ...]) -> str:
    open_cases = [case for case in cases if case.outcome == "undecided"]
    if not open_cases:
        return ""
    return f"{plural(len(open_cases), 'case')} of {len(cases)} undecided, such as {open_cases[0].case}: {open_cases[0].reason}"


def _with_worst(whole: CriterionScore, worst: CaseScore, cases: tuple[CaseScore, ...]) -> CriterionScore:
    which = f"the worst of {len(cases)} cases" if len(cases) > 1 else "the only case"
    text = f"{whole.arithmetic}; {which} is {worst.case}" if whole.arithmetic else ""
    return replace(whole, arithmetic=text, worst_case=worst.case, cases=cases, count=min(case.count for case in cases))


# ---- in words --------------------------------------------------------------------------------------------------------


def _measure_text(criterion: Criterion) -> str:
    text = criterion.measure
    if text == "value":
        text = f"{criterion.statistic} of {criterion.of}"
    elif text == "sd / mean":
        text = f"sd / mean of {criterion.of}"
    if criterion.test:
        text += f", test {criterion.test}"
    return f"{text}, per case" if criterion.per else text


def _must_text(criterion: Criterion) -> str:
    if criterion.must:
        return criterion.must
    if criterion.measure != "value":
        return f"{criterion.comparison} {show_share(criterion.bound)}"
    return f"{criterion.comparison} {show_value(criterion.bound, criterion.unit)}"


def _arithmetic(criterion: Criterion, measured: Measured) -> str:
    return f"{measured.arithmetic}, must {_must_text(criterion)}" if measured.arithmetic else ""


def _summary(outcome: str, components: tuple[ComponentScore, ...], finished: bool) -> str:
    named = [(f"{c.name}: {k.name}", k) for c in components for k in c.criteria]
    failed = [name for name, criterion in named if criterion.outcome == "not met"]
    undecided = [name for name, k in named if k.outcome == "undecided" and not k.restricted]
    missing, coming = sum(len(c.unavailable) for c in components), sum(c.to_come for c in components)
    if outcome == "accepted":
        return (
            f"accepted: all {len(named)} criteria are met" if len(named) > 1 else "accepted: the only criterion is met"
        )
    if outcome == "accepted with restrictions":
        judged = sum(not criterion.restricted for _, criterion in named)
        rest = (
            f"all {judged} criteria that could be judged are met" if judged > 1 else "the criterion on the rest is met"
        )
        return f"accepted, {plural(missing, 'case')} unavailable: {rest}"
    if outcome == "rejected":
        return f"rejected: {plural(len(failed), 'criterion', 'criteria')} of {len(named)} not met ({some(failed)})"
    parts = (
        [] if finished else [f"{plural(coming, 'result')} still to come" if coming else "the campaign has not ended"]
    )
    parts += [f"already not met: {some(failed)}"] if failed else []
    parts += [f"undecided: {some(undecided)}"] if undecided and finished else []
    parts += [f"{plural(missing, 'case')} unavailable"] if missing else []
    return "incomplete: " + ("; ".join(parts) or "nothing was judged")


def _remarks(document: Document, record: Record, people: dict[str, Population]) -> list[str]:
    """What a reader should know beside the scores."""
    remarks = list(record.irregular)
    superseded = sum(row.superseded_by > 0 for row in record.runs)
    if superseded:
        remarks.append(f"{plural(superseded, 'verdict')} superseded by a later one; both are in the record")
    unwanted = len(unwanted_rows(document, record))
    if unwanted:
        remarks.append(f"{plural(unwanted, 'run')} judged that the plan in force no longer asks for: not counted")
    for name, count in sorted(record.unknown.items()):
        remarks.append(f"{plural(count, 'event')} named '{name}', which this version does not know: kept, not counted")
    for population in people.values():
        for case in population.cases:
            if case.case.expect and any(row.verdict == "passed" for row in case.rows):
                remarks.append(f"{case.case.id} passed although the plan expects {case.case.expect}")
    return remarks
