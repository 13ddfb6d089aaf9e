"""The measures ``change since`` and ``failures since``: runs compared with those of another campaign, of an earlier epoch, or with
values of the plan.

Start reading at ``look_since``. The statistics are those of ``shakedown compare``. Every case in each of its modes is one
look (comparison); chances are corrected for all looks of a criterion (Holm) and for all such criteria of the plan (Bonferroni), so
that no criterion depends on the result of another one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.comparing.chances import LEVEL, fisher, holm
from shakedown.metrics.comparing.two_samples import FEWEST, Effect, effect_of, trimmed_means
from shakedown.metrics.judging.deciding import holds
from shakedown.metrics.judging.exclusions import choose
from shakedown.metrics.judging.populations import CaseRuns, Population, as_expected, counts_as_passed, populations
from shakedown.metrics.judging.scope import MeasureContext, arounds
from shakedown.metrics.judging.scorecard import CaseScore, Measured, Outcome
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import plural, show_number, show_share, show_value, some
from shakedown.model.baselines import AWAY, CHANGED, FINDING, Baseline, own_epoch, where_of
from shakedown.model.judging import Criterion
from shakedown.model.measures import CHANGE_SINCE, SINCE
from shakedown.model.nouns import Document
from shakedown.model.units import Quantity

_NO_CHANCE = 1e3  # with a larger half interval, the number of runs needed cannot be estimated


class Side(Struct, frozen=True):
    """One side of a look: values, or the number of runs that did not pass, with run names; ``count``: number of values or runs."""

    count: int = 0
    values: tuple[float, ...] = ()
    failed: int = 0
    runs: tuple[str, ...] = ()


class Look(Struct, frozen=True):
    """One case in one mode, before and after. ``worse_by``: the change as a share of before, above 0 if it is for the worse; for
    failures, the difference of shares. ``low`` and ``high``: its 95 % interval. None where nothing is tested.
    ``reach``: half that interval, as of an effect.

    ``outcome``: met if the change lies within the bound and a change beyond the bound would have been seen.
    """

    case: str
    mode: str
    figure: str
    unit: str
    before: Side
    after: Side
    means: tuple[float, float] | None = None
    worse_by: float | None = None
    low: float | None = None
    high: float | None = None
    chance: float | None = None
    reach: float | None = None
    corrected: float | None = None
    outcome: Outcome = "undecided"
    reason: str = ""

    @property
    def name(self) -> str:
        return f"{self.case}, {self.mode}" if self.mode else self.case

    @property
    def count(self) -> int:
        """The number of values, or runs, on the side that has fewer."""
        return min(self.before.count, self.after.count)


class Looked(Struct, frozen=True):
    """All looks of a criterion. ``against``: the baseline, in words; ``trouble``: why nothing may be concluded, "" if it may."""

    against: str
    looks: tuple[Look, ...] = ()
    trouble: str = ""
    compared: int = 1


def change_since(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """Purpose: how much worse a figure is than in the baseline, for the case that decides."""
    return _measured(criterion, population, look_since(criterion, population, around))


def failures_since(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """Purpose: how much larger the share of runs that did not pass is than in the baseline, as a difference of shares."""
    return _measured(criterion, population, look_since(criterion, population, around))


def look_since(criterion: Criterion, population: Population, around: MeasureContext) -> Looked:
    """Purpose: every case of a population, in each of its modes, compared with the criterion's baseline."""
    own = own_epoch(criterion.since)
    baseline = next((one for one in around.document.baselines if one.name == criterion.since), None)
    against = f"epoch {own} of this campaign" if own else baseline.words if baseline else criterion.since
    trouble = _trouble(criterion, own, baseline, around.record)
    if trouble:
        return Looked(against, trouble=trouble)
    many = _criteria(around.document)
    looks = [look for case in population.cases for look in _of_case(criterion, case, own, baseline, around)]
    tested = [look for look in looks if look.chance is not None]
    corrected = iter(holm([look.chance for look in tested if look.chance is not None]))
    done = [
        _decided(criterion, replace(look, corrected=min(1.0, many * next(corrected))))
        if look.chance is not None
        else look
        for look in looks
    ]
    return Looked(against, tuple(done), compared=len(tested) * many)


class Asked(Struct, frozen=True):
    """A criterion on a change, in its component, with all its looks. ``least``: the smallest change that matters."""

    component: str
    criterion: str
    least: float
    looked: Looked


def looks_of_plan(document: Document, record: Record) -> list[Asked]:
    """Purpose: every criterion on a change, for the report, with the looks that decide its outcome."""
    if not _criteria(document):
        return []
    people = populations(document, record)
    found = []
    for around in arounds(document, record, people):
        for criterion in (one for one in around.component.criteria if one.measure in SINCE):
            chosen = choose(criterion, people[around.component.name], record).population
            looked = look_since(criterion, chosen, around)
            found.append(Asked(around.component.name, criterion.name, criterion.bound, looked))
    return found


def baseline_state(name: str, record: Record) -> tuple[str, str]:
    """Purpose: the last state found of a baseline's campaign, and its description; ("", "") if it is unchanged."""
    found = [
        note
        for note in record.of_kind("finding")
        if note.value.get("kind") == FINDING and note.value.get("baseline") == name
    ]
    if not found or found[-1].value.get("state") not in (CHANGED, AWAY):
        return "", ""
    return str(found[-1].value["state"]), f"{found[-1].reason} (event {found[-1].seq})"


def _trouble(criterion: Criterion, own: int, baseline: Baseline | None, record: Record) -> str:
    """Why nothing may be concluded, "" if it may; the criterion is undecided then, whatever the values."""
    if own:
        return f"epoch {own + 1} has not begun" if record.epoch <= own else ""
    if baseline is None:
        return f"the plan in force has no baseline {criterion.since}"
    if criterion.inputs != baseline.digest:
        return f"baseline {criterion.since} is not the one that the criterion was written for"
    return baseline_state(baseline.name, record)[1]


def _criteria(document: Document) -> int:
    """The number of criteria of the plan on a change: chances are corrected for all of them."""
    return sum(criterion.measure in SINCE for part in document.components for criterion in part.criteria)


# ---- one case --------------------------------------------------------------------------------------------------------


def _of_case(
    criterion: Criterion, case: CaseRuns, own: int, baseline: Baseline | None, around: MeasureContext
) -> Iterator[Look]:
    """One look for each mode; none for a case without the figure, or one that ended as expected without a value."""
    figure = criterion.of
    if figure and figure != "elapsed" and not around.has(case.case.test, figure):
        return
    if figure and case.rows and all(as_expected(row, case.case) for row in case.rows):
        return
    for mode, _ in case.wanted:
        after = _side(criterion, case.of_mode(mode), own, None)
        spec = around.figure(case.case.test, figure) if figure else None
        unit = spec.unit if spec is not None else ""
        try:
            before = (
                _side(criterion, _whole(case, around).of_mode(mode), 0, own)
                if own
                else _known(criterion, case, mode, unit, baseline, around)
            )
        except ValueError as error:
            yield Look(case.case.id, mode, figure, unit, Side(), after, reason=f"values cannot be compared: {error}")
            continue
        look = Look(case.case.id, mode, figure, unit, before, after)
        found = _compared(look, criterion, spec.better if spec is not None else "lower")
        where = _known_elsewhere(criterion, case, baseline, around) if not before.count else ""
        yield replace(found, reason=f"{found.reason}; it has some {where}") if where else found


def _whole(case: CaseRuns, around: MeasureContext) -> CaseRuns:
    """The case with the runs of every epoch, whatever epochs the criterion counts."""
    people = around.people.get(around.component.name)
    return next((one for one in people.cases if one.case.id == case.case.id), case) if people is not None else case


def _side(criterion: Criterion, case: CaseRuns, after: int, of: int | None) -> Side:
    """The runs of a case after the epoch ``after``, or only those of the epoch ``of``."""

    def mine(epoch: int) -> bool:
        return epoch == of if of is not None else epoch > after

    if criterion.of:
        pairs = [(row, value) for row, value in case.values(criterion.of) if mine(row.epoch)]
        return Side(len(pairs), tuple(value for _, value in pairs), runs=tuple(row.run for row, _ in pairs))
    rows = [row for row in case.rows if mine(row.epoch)]
    failures = tuple(row.run for row in rows if not counts_as_passed(row, case.case))
    return Side(len(rows), failed=len(failures), runs=failures)


def _known(
    criterion: Criterion, case: CaseRuns, mode: str, unit: str, baseline: Baseline | None, around: MeasureContext
) -> Side:
    """The values of a case in a baseline, in the unit of the figure. Raises ValueError if the units cannot be converted."""
    noun = case.case
    one_partition = len({one.partition for one in around.document.cases}) <= 1
    where = where_of(noun.toolchain, noun.parameters)
    name = around.component.name
    found = baseline.of(name, noun.test, where, noun.partition, mode, one_partition) if baseline is not None else ()
    for one in found:
        sample = one.sample(criterion.of) if criterion.of else None
        if sample is not None:
            values = (Quantity(value, sample.unit).to(unit) if sample.unit else value for value in sample.values)
            return Side(len(sample.values), tuple(values), runs=sample.runs)
        if not criterion.of and one.judged:
            return Side(one.judged, failed=one.failed, runs=one.failures)
    return Side()


def _known_elsewhere(criterion: Criterion, case: CaseRuns, baseline: Baseline | None, around: MeasureContext) -> str:
    """In which other components and modes the baseline has what is asked for of this case: runs of one mode are none of another."""
    if baseline is None:
        return ""
    noun = case.case
    one_partition = len({one.partition for one in around.document.cases}) <= 1
    found = baseline.of_any(noun.test, where_of(noun.toolchain, noun.parameters), noun.partition, one_partition)
    there = [one for one in found if (one.sample(criterion.of) if criterion.of else one.judged)]
    mine = around.component.name
    words = dict.fromkeys(
        " ".join(
            (
                f"of component {one.component}" * (one.component not in ("", mine)),
                f"in mode {one.mode}" * bool(one.mode),
            )
        )
        for one in there
    )
    return some([word.strip() for word in words if word.strip()], 3)


def _compared(look: Look, criterion: Criterion, better: str) -> Look:
    """The look with its effect and its chance, or with the reason why nothing is tested."""
    what = f"value of {look.figure}" if look.figure else "run"
    if not look.before.count:
        return replace(look, reason=f"what it is held against has no {what} of {look.name}")
    if not look.after.count:
        return replace(look, reason=f"there is no {what} of {look.name} to hold against it yet")
    if look.count < FEWEST:
        many = plural(look.count, f"value of {look.figure}", f"values of {look.figure}") if look.figure else ""
        many = many or plural(look.count, "run")
        return replace(look, reason=f"one side of {look.name} has {many}, and {FEWEST} are the fewest")
    return _effect(look, criterion, better) if look.figure else _shares(look)


def _effect(look: Look, criterion: Criterion, better: str) -> Look:
    effect = effect_of(look.before.values, look.after.values, criterion.bound)
    assert effect is not None
    means = trimmed_means(look.before.values, look.after.values)
    worse, low, high = _for_the_worse(effect, better)
    return replace(look, means=means, worse_by=worse, low=low, high=high, reach=effect.reach, chance=effect.chance)


def _for_the_worse(effect: Effect, better: str) -> tuple[float, float, float]:
    """The change and its interval, above 0 for the worse; without a direction every change counts as worse."""
    low, high = effect.interval
    if better == "higher":
        return -effect.share, -high, -low
    if better == "lower":
        return effect.share, low, high
    return abs(effect.share), 0.0 if low <= 0 <= high else min(abs(low), abs(high)), max(abs(low), abs(high))


def _shares(look: Look) -> Look:
    before, after = look.before, look.after
    shares = before.failed / before.count, after.failed / after.count
    chance = fisher(before.failed, before.count, after.failed, after.count)
    return replace(look, means=shares, worse_by=shares[1] - shares[0], chance=chance)


def _decided(criterion: Criterion, look: Look) -> Look:
    """The look decided: not met if the change is shown and beyond the bound; met if within, and one beyond would have been seen."""
    assert look.worse_by is not None and look.corrected is not None
    if look.count < criterion.enough:
        few = f"one side of {look.name} has {look.count} of the {criterion.enough} that are enough to judge"
        return replace(look, reason=few)
    within = holds(criterion, look.worse_by)
    if not within:
        shown = look.corrected <= LEVEL or (not look.figure and look.worse_by == 1)  # none to all needs no test
        why = "the change may be chance"
        return replace(look, outcome="not met") if shown else replace(look, reason=_more(look, criterion, why))
    if look.high is None or look.low is None:
        return replace(look, outcome="met")
    half = (look.high - look.low) / 2
    if holds(criterion, look.high) or half <= criterion.bound:
        return replace(look, outcome="met")
    return replace(look, reason=_more(look, criterion, f"a change of {show_share(criterion.bound)} could hide"))


def _more(look: Look, criterion: Criterion, why: str) -> str:
    """The reason for too few runs, with the number needed, as ``compare`` has it: the interval shrinks with the root of the number
    of runs.
    """
    text = f"too few runs of {look.name}: {why}"
    if look.reach is None:
        return text
    about = math.ceil(look.count * (look.reach / criterion.bound) ** 2) if look.reach < _NO_CHANCE else 0
    return f"{text}; about {about} on each side would do" if about > look.count else text


# ---- all of them -----------------------------------------------------------------------------------------------------


def _measured(criterion: Criterion, population: Population, looked: Looked) -> Measured:
    if looked.trouble:
        return Measured(None, 0, "", reason=looked.trouble)
    if not looked.looks:
        return Measured(None, 0, "", reason=f"no case has a value of {criterion.of}" if criterion.of else "no case ran")
    look = _deciding(looked.looks)
    parts = tuple(_part(criterion, one, looked) for one in looked.looks)
    coming = population.to_come
    later = (
        f"; {population.why_open}" if coming and not population.unfinished else f", {coming} to come" if coming else ""
    )
    count = look.count if look.outcome == "not met" else min(one.count for one in looked.looks)
    if look.worse_by is None:
        reason = f"{look.reason}{later}"
        return Measured(None, count, "", reason=f"{reason}; held against {looked.against}", parts=parts)
    text = _words(criterion, look, looked)
    text += f"; the worst of {len(looked.looks)} cases" if len(looked.looks) > 1 else ""
    text += later
    interval = (look.low, look.high) if look.low is not None and look.high is not None else None
    sure = None if coming or look.outcome == "undecided" else look.worse_by
    reason = "" if coming else look.reason
    return Measured(look.worse_by, count, text, sure, sure, interval, reason, parts=parts)


def _deciding(looks: Sequence[Look]) -> Look:
    """The look that decides the criterion: not met before undecided, then the greatest change for the worse."""
    ranks: Mapping[str, int] = {"not met": 2, "undecided": 1}
    return max(looks, key=lambda one: (ranks.get(one.outcome, 0), math.inf if one.worse_by is None else one.worse_by))


def _part(criterion: Criterion, look: Look, looked: Looked) -> CaseScore:
    text = _words(criterion, look, looked) if look.worse_by is not None else ""
    return CaseScore(look.name, look.outcome, look.worse_by, look.count, text, look.reason)


def _words(criterion: Criterion, look: Look, looked: Looked) -> str:
    """The look in words: "100.5 GB/s -> 95.2 GB/s, 5.3 % worse", with the runs on both sides."""
    assert look.worse_by is not None and look.means is not None
    before, after = look.before, look.after
    if criterion.measure == CHANGE_SINCE:
        means = " -> ".join(show_value(mean, look.unit) for mean in look.means)
        low, high = (show_share(end) for end in (look.low or 0.0, look.high or 0.0))
        text = f"{look.figure} of {look.name}: {means}, {_by(look.worse_by)} ({low} .. {high} at 95 %)"
    else:
        text = f"{look.name}: {before.failed} of {before.count} runs failed -> {after.failed} of {after.count}"
        text += f", {_by(look.worse_by, 'more', 'fewer')}"
    chance = f"; chance {show_number(look.corrected or 0.0, 2)} after correction for {looked.compared}"
    named = f"; {_named(after)} against {_named(before)} of {looked.against}"
    return text + chance + named


def _by(worse_by: float, worse: str = "worse", better: str = "better") -> str:
    return f"{show_share(abs(worse_by))} {worse if worse_by > 0 else better}" if worse_by else "no change"


def _named(side: Side) -> str:
    """The names of the runs, or only their number if no names are known."""
    count = plural(side.count, "run")
    return f"{count} ({some(list(side.runs))})" if side.runs else count
