"""Contract rows against a campaign: each is met, not met, undecided or unjudged; and the figures without a row.

Start reading at ``score_contract``. Only runs that completed correctly give values; a row counts the values of the cases
for which it is in force, in its mode. Whatever is not judged is reported as such, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics import statistics
from shakedown.metrics.judging.populations import CaseRuns, Population, as_expected
from shakedown.metrics.rows.rows import RunRow, WaiverRow
from shakedown.metrics.words import plural, some
from shakedown.model.contracts import beside, distance, holds, in_case, matches, one_side
from shakedown.model.figures import with_rows
from shakedown.model.judging import ContractRow
from shakedown.model.nouns import Case, Document
from shakedown.model.said_words import accepted_words

RowOutcome = Literal["met", "not met", "undecided", "unjudged"]
ROW_RULES = (
    "A row on each run is met when every value lies inside its bounds, and not met as soon as one lies outside.",
    "A row is judged on the runs of all components; rows met of a component judges it on that component's own runs, so that it may "
    "come out otherwise there. Where it does, the row says so.",
    "A row is not met by some of its cases alone: while one of them has no value it is undecided, unless that case ended as the "
    "plan expects.",
    "A row on a statistic is judged once no result of its cases is still to come, or when nothing to come could mend it.",
    "A row that is in force for no case of the plan, or only for unavailable ones, is unjudged; so is a figure without a row.",
    "A row that a person waived stays what it came out as; rows met does not count it, and is waived itself where it would be met "
    "with it.",
)


class RowScore(Struct, frozen=True):
    """The result of a contract row. ``measured`` is in the row's unit; for a row on each run it is the worst value.

    ``count``: values examined; ``outside``: those beyond a bound (rows on each run). ``cases``: the cases for which the row is in
    force; ``overridden``: those where a more specific row replaces it. ``worst_run``: the run that gave ``measured``. ``cut_off``:
    results that the end of a component's time cut off, undetermined; they do not count as ``to_come``. ``waived``: a person
    accepted the row as it is, with the restriction ``waiver``; ``outcome`` stays the result without the waiver. ``unavailable``:
    all its cases are unavailable. ``least`` is compared with the lower bound, ``most`` with the upper. ``runs``: how many
    runs a row on a score rests on, whose values are those of its parts; 0 for any other.
    """

    row: ContractRow
    outcome: RowOutcome
    measured: float | None = None
    count: int = 0
    outside: int = 0
    to_come: int = 0
    arithmetic: str = ""
    reason: str = ""
    worst_run: str = ""
    cases: tuple[str, ...] = ()
    overridden: tuple[str, ...] = ()
    waived: bool = False
    waiver: str = ""
    waived_by: str = ""
    unavailable: bool = False
    least: float | None = None
    most: float | None = None
    cut_off: int = 0
    runs: int = 0

    @property
    def rests_on(self) -> int:
        """How many runs or values it rests on."""
        return self.runs or self.count

    @property
    def outcome_words(self) -> str:
        """The outcome as people read it: a waiver is shown beside the outcome."""
        return f"{self.outcome}, waived" if self.waived else self.outcome


class UnjudgedFigure(Struct, frozen=True):
    """A figure without a row for these cases of a test; ``count``: the number of its values."""

    test: str
    figure: str
    unit: str
    cases: tuple[str, ...]
    count: int


class ContractScore(Struct, frozen=True):
    """All rows of the plan's contracts in their order, and the figures without a row."""

    rows: tuple[RowScore, ...]
    figures: tuple[UnjudgedFigure, ...]

    def count(self, outcome: RowOutcome) -> int:
        return sum(score.outcome == outcome for score in self.rows)


def score_contract(
    document: Document, people: Mapping[str, Population], waivers: Sequence[WaiverRow] = ()
) -> ContractScore | None:
    """Purpose: every contract row over all components of the campaign; None if the plan has no contract."""
    if not document.contracts:
        return None
    runs: dict[str, list[CaseRuns]] = {}
    for population in people.values():
        for case in population.cases:
            runs.setdefault(case.case.id, []).append(case)
    plan, waivers = _Plan(document), of_rows(document, waivers)
    scores = []
    for row in (row for contract in document.contracts for row in contract.rows):
        force = plan.in_force.get(row.name, [])
        available = [each for case in force for each in runs.get(case.id, ())]
        score = _with_parts(_place(plan, row, force, score_row(row, available)), people)
        scores.append(_with_waivers(score, people, waivers))
    return ContractScore(tuple(scores), figures_without_rows(document, runs))


class _Plan:
    """The plan's cases by the rows in force for them, and by test."""

    def __init__(self, document: Document) -> None:
        self.system = document.system.name
        self.in_force: dict[str, list[Case]] = {}
        self.by_test: dict[str, list[Case]] = {}
        for case in document.cases:
            self.by_test.setdefault(case.test, []).append(case)
            for name in case.rows:
                self.in_force.setdefault(name, []).append(case)


def score_row(row: ContractRow, cases: Sequence[CaseRuns]) -> RowScore:
    """Purpose: the result of one row over the runs of the cases for which it is in force."""
    mine = [case.of_mode(row.mode) for case in cases]
    asked = [case for case in mine if case.repeats or case.rows or case.more]
    names = tuple(dict.fromkeys(case.case.id for case in cases))
    if not asked:
        return RowScore(row, "unjudged", cases=names, reason=_nobody(row, cases))
    values = [(*pair, in_case(row, case.case)) for case in asked for pair in case.values(row.figure)]
    coming = _Coming(asked)
    if not values:
        why = f"no run that completed correctly gave a value of {row.figure}"
        why = f"{why}; {coming.why}" if coming.cut_off and not coming.known else why
        why = "nothing is judged yet" if coming.known else why
        return RowScore(row, "undecided", to_come=coming.known, reason=why, cases=names, cut_off=coming.cut_off)
    score = _each(row, values, coming, names) if row.statistic == "each" else _by_side(row, asked, names)
    score = _with_expected(
        score, [case.case.id for case in asked if _ended_as_expected(case) and not case.values(row.figure)]
    )
    return _with_gaps(score, [case.case.id for case in asked if _has_gap(case, row.figure)])


class _Coming:
    """What is missing of some cases: ``known`` results that are to come, and results that the end of a component's time
    ``cut_off``.
    """

    def __init__(self, cases: Sequence[CaseRuns]) -> None:
        self.cut_off = sum(case.cut_off for case in cases)
        self.known = sum(max(case.to_come - case.cut_off, int(case.more)) for case in cases)
        self.why = Population(tuple(cases), ()).why_open

    def __bool__(self) -> bool:
        return bool(self.known or self.cut_off)

    @property
    def later(self) -> str:
        cut = f", {self.cut_off} undetermined when the time was over" if self.cut_off else ""
        return cut + (f", {self.known} to come" if self.known else "")


def _has_gap(case: CaseRuns, figure: str) -> bool:
    """Whether a case has no counting value of the figure, although it did not end as expected."""
    return not _ended_as_expected(case) and not case.values(figure)


def _ended_as_expected(case: CaseRuns) -> bool:
    return bool(case.rows) and all(as_expected(row, case.case) for row in case.rows)


def _with_expected(score: RowScore, cases: Sequence[str]) -> RowScore:
    """Name the cases that ended as expected without a value; the row requires nothing of them."""
    if not cases or not score.arithmetic:
        return score
    return replace(score, arithmetic=f"{score.arithmetic}; no value of {some(list(cases))}, which ended as expected")


def _with_gaps(score: RowScore, gaps: Sequence[str]) -> RowScore:
    """A met row becomes undecided if some cases gave no value."""
    if not gaps or score.outcome != "met":
        return score
    return replace(score, outcome="undecided", reason=f"no value of {score.row.figure} counts of {some(list(gaps))}")


def of_rows(document: Document, waivers: Sequence[WaiverRow]) -> list[WaiverRow]:
    """Purpose: the waivers of rows that hold in a plan: the row still asks the same, of the same cases."""
    rows = [row for contract in document.contracts for row in contract.rows]
    return [w for w in waivers if w.what == "row" and any(w.is_of_row(document, row) for row in rows)]


def with_waiver(score: RowScore, waivers: Sequence[WaiverRow], component: str = "") -> RowScore:
    """Purpose: a score with the waivers of its row (of ``component``, if given); a met row needs none."""
    mine = [w for w in waivers if w.asks_as(score.row)]
    mine = [w for w in mine if not component or w.component in ("", component)]
    if not mine or score.outcome == "met":
        return score
    said = "; ".join(dict.fromkeys(accepted_words(row.restriction) for row in mine))
    givers = ", ".join(dict.fromkeys(row.by for row in mine if row.by))
    return replace(score, waived=True, waiver=said, waived_by=givers)


def _with_waivers(score: RowScore, people: Mapping[str, Population], waivers: Sequence[WaiverRow]) -> RowScore:
    """The score of the whole campaign: waived only if the row is waived in every component where it is not met."""
    whole = with_waiver(score, waivers)
    for component, part in _parts(score.row, people) if whole.waived else ():
        if part.outcome == "not met" and not with_waiver(part, waivers, component).waived:
            return score
    return whole


def _parts(row: ContractRow, people: Mapping[str, Population]) -> list[tuple[str, RowScore]]:
    """The row's result on the runs of each single component that has cases of it."""
    cases = {name: [case for case in one.cases if row.name in case.case.rows] for name, one in people.items()}
    return [(name, score_row(row, mine)) for name, mine in cases.items() if mine]


def _with_parts(score: RowScore, people: Mapping[str, Population]) -> RowScore:
    """Add the components whose own runs give another outcome for the row: their criteria on rows met judge that outcome."""
    if not score.arithmetic:
        return score
    others = [
        pair for pair in _parts(score.row, people) if pair[1].outcome not in ("unjudged", "undecided", score.outcome)
    ]
    told = [f"{part.outcome} on the runs of {name} alone" for name, part in others]
    return replace(score, arithmetic=f"{score.arithmetic}; {some(told)}") if told else score


def _nobody(row: ContractRow, cases: Sequence[CaseRuns]) -> str:
    if cases:
        return f"no component runs its {plural(len(cases), 'case')} in mode {row.mode}"
    return "no case that it is in force for can run here"


# ---- each run, and one number of all -----------------------------------------------------------------------------------


def _each(
    row: ContractRow, values: list[tuple[RunRow, float, ContractRow]], coming: _Coming, names: tuple[str, ...]
) -> RowScore:
    """Score a row on each run. ``values``: (run, value, the row as it applies to the run's case)."""
    outside = sum(not holds(mine, value) for _, value, mine in values)
    run, worst, _ = max(values, key=lambda item: distance(item[2], item[1]))
    outcome: RowOutcome = "not met" if outside else "undecided" if coming else "met"
    inside = len(values) - outside
    text = f"{inside} of {plural(len(values), 'value')} of {row.figure} inside {row.must}"
    text += f", the {'worst' if len(values) > 1 else 'only one'} {beside(worst, row)} ({run.run})"
    return RowScore(
        row,
        outcome,
        measured=worst,
        count=len(values),
        outside=outside,
        to_come=coming.known,
        cut_off=coming.cut_off,
        arithmetic=text + coming.later,
        reason=coming.why if outcome == "undecided" else "",
        worst_run=run.run,
        cases=names,
        least=min((value for _, value, mine in values if mine.low is not None), default=None),
        most=max((value for _, value, mine in values if mine.high is not None), default=None),
    )


def _by_side(row: ContractRow, asked: Sequence[CaseRuns], names: tuple[str, ...]) -> RowScore:
    """Score a row on a statistic: one number over all its cases; if some have only one bound, each bound gets its own cases."""
    whole = [case for case in asked if not _half(row, case)]
    parts = [(row, asked)] if len(whole) == len(asked) else []
    if not parts:
        parts = [(one_side(row, side), [c for c in asked if _half(row, c) in ("", side)]) for side in ("low", "high")]
    scores = []
    for part, cases in parts:
        pairs = [pair for case in cases for pair in case.values(row.figure)]
        coming = _Coming(cases)
        if pairs:
            scores.append(_one(part, pairs, coming, names))
        elif cases:
            why = f"no run that completed correctly gave a value of {row.figure}"
            scores.append(RowScore(part, "undecided", to_come=coming.known, reason=why, cases=names))
    worst = max(scores, key=lambda score: ("met", "undecided", "not met").index(score.outcome))
    text = "; ".join(score.arithmetic for score in scores if score.arithmetic)
    least, most = (
        next((end for one in scores if (end := getattr(one, name)) is not None), None) for name in ("least", "most")
    )
    return replace(worst, row=row, arithmetic=text, least=least, most=most)


def _half(row: ContractRow, case: CaseRuns) -> str:
    return dict(case.case.sides).get(row.name, "")


def _one(row: ContractRow, values: list[tuple[RunRow, float]], coming: _Coming, names: tuple[str, ...]) -> RowScore:
    numbers = [value for _, value in values]
    if row.statistic == "sd" and len(numbers) < 2:
        why = "a standard deviation needs two values"
        return RowScore(row, "undecided", count=len(numbers), to_come=coming.known, reason=why, cases=names)
    value = statistics.take(row.statistic, numbers)
    text = (
        f"{row.statistic} of {plural(len(numbers), 'value')} of {row.figure} = {beside(value, row)}, must be {row.must}"
    )
    outcome: RowOutcome = "met" if holds(row, value) else "not met"
    if coming and not settled(row, value):
        outcome = "undecided"
    return RowScore(
        row,
        outcome,
        measured=value,
        count=len(numbers),
        to_come=coming.known,
        cut_off=coming.cut_off,
        arithmetic=text + coming.later,
        reason=coming.why if outcome == "undecided" else "",
        cases=names,
        least=value if row.low is not None else None,
        most=value if row.high is not None else None,
    )


def settled(row: ContractRow, value: float) -> bool:
    """Purpose: whether no further value can repair a failed row: a maximum only rises, a minimum only falls."""
    if holds(row, value):
        return False
    above = row.high is not None and distance(row, value) == value - row.high
    return (row.statistic == "max" and above) or (row.statistic == "min" and not above)


# ---- what is not judged ------------------------------------------------------------------------------------------------


def _place(plan: _Plan, row: ContractRow, force: list[Case], score: RowScore) -> RowScore:
    """The score with the cases of the row; and the reason if nothing was judged."""

    names, rivals = {case.id for case in force}, plan.by_test.get(row.test, ())
    beaten = tuple(case.id for case in rivals if case.id not in names and matches(row, case, plan.system))
    score = replace(score, cases=tuple(case.id for case in force), overridden=beaten)
    if score.outcome != "unjudged":
        return score
    none_runs = bool(force) and all(case.unavailable for case in force)
    if none_runs:
        why = f"{plural(len(force), 'case')} of it unavailable: {force[0].unavailable}"
    elif force:
        why = score.reason
    elif beaten:
        why = f"more specific rows are in force for {plural(len(beaten), 'case')} that it matches"
    else:
        why = "it matches no case of the plan"
    return replace(score, reason=why, unavailable=none_runs)


def figures_without_rows(document: Document, runs: Mapping[str, Sequence[CaseRuns]]) -> tuple[UnjudgedFigure, ...]:
    """Purpose: the figures of each test, including the run time, without a row in force, with the cases concerned."""
    rows = {row.name: row for contract in document.contracts for row in contract.rows}
    found: list[UnjudgedFigure] = []
    for test in document.tests:
        cases = [case for case in document.cases if case.test == test.name]
        seen = (name for case in cases for each in runs.get(case.id, ()) for row in each.rows for name in row.figures)
        specs = with_rows(test.figures, seen)
        for figure, unit in (("elapsed", "s"), *((spec.name, spec.unit) for spec in specs)):
            bare = [case.id for case in cases if figure not in _asked(case, rows)]
            if bare:
                count = sum(len(each.values(figure)) for case in bare for each in runs.get(case, ()))
                found.append(UnjudgedFigure(test.name, figure, unit, tuple(bare), count))
    return tuple(found)


def _asked(case: Case, rows: Mapping[str, ContractRow]) -> set[str]:
    return {rows[name].figure for name in case.rows if name in rows}


def outcome_text(scores: Iterable[RowScore]) -> str:
    """The rows that are not met or undecided, by name: ``c5:3 not met, c5:7 undecided, waived``."""
    return some([f"{score.row.name} {score.outcome_words}" for score in scores if score.outcome != "met"])
