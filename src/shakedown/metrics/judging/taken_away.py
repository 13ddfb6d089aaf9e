"""What people removed from the judging: runs, by a restarted clock, an amendment or a later epoch; criteria, rows and
bounds, by an amendment. Start reading at ``taken_away``.

Each is a sentence with who, why and how many, and with the outcome if everything counted. Each restricts the acceptance.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.clock import words_of
from shakedown.metrics.judging.admits import admits_more, is_as_tight
from shakedown.metrics.judging.contract import score_row
from shakedown.metrics.judging.default_criteria import CLEAN_UP as CLEANED_UP
from shakedown.metrics.judging.default_criteria import SET_UP as WAS_SET_UP
from shakedown.metrics.judging.default_criteria import criteria_of
from shakedown.metrics.judging.epochs import declared_epoch, epoch_numbered, least_epoch, opened_words
from shakedown.metrics.judging.gone_runs import FILLS, no_more, steps_of, with_gone
from shakedown.metrics.judging.populations import Population, count_verdicts, counts_as_passed, populations
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.judging.score_measure import score_changes
from shakedown.metrics.judging.scorecard import ComponentScore, CriterionScore
from shakedown.metrics.judging.set_ups import step_rows
from shakedown.metrics.node_hours import Nodes
from shakedown.metrics.rows.rows import STEPS, EpochRow, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.wanted import FILLER, WARM_UP
from shakedown.metrics.words import plural, some
from shakedown.model.clocks import BEGINS
from shakedown.model.contracts import content
from shakedown.model.events import NO_LONGER_WANTED
from shakedown.model.judging import ContractRow, Criterion
from shakedown.model.nouns import Component, Document
from shakedown.model.waived import criterion_digest

_ROWS_MET = "rows met"  # cases name only the rows of the plan in force; removed rows are reported separately
_OF_STEPS = frozenset({WAS_SET_UP.measure, CLEANED_UP.measure})
Judge = Callable[[Criterion, Population, MeasureContext], CriterionScore]
_OF_RUNS = frozenset(
    {
        "passed / attempts",
        "passed / wanted",
        "correct / completed",
        "value",
        "sd / mean",
        "fill / isolated",
        _ROWS_MET,
        "identical",
        "runs",
        *_OF_STEPS,
    }
)


class Seen(Struct, frozen=True):
    """The inputs of a scorecard: the plan, the record, every component's population and score, and the function to judge a
    criterion.

    ``earlier``: the plans in force before, in order; ``alone``: the places of those that not every party agreed to.
    """

    document: Document
    record: Record
    people: Mapping[str, Population]
    arounds: Sequence[MeasureContext]
    components: Sequence[ComponentScore]
    judge: Judge
    earlier: Sequence[Document] = ()
    alone: Collection[int] = ()

    @property
    def stood_by(self) -> Iterator[tuple[int, Document]]:
        """The earlier plans that every party agreed to, with their places; other plans' requirements cannot be lost."""
        return ((place, document) for place, document in enumerate(self.earlier) if place not in self.alone)


def taken_away(seen: Seen) -> list[str]:
    """Purpose: a sentence for each thing that people removed from the judging."""
    return [*_runs(seen), *(said for said, is_found in _epochs(seen) if not is_found), *_criteria(seen), *_rows(seen)]


def left_behind(seen: Seen) -> list[str]:
    """Purpose: a sentence for each criterion that leaves runs out because of an epoch that no person declared."""
    return [said for said, is_found in _epochs(seen) if is_found]


# ---- runs --------------------------------------------------------------------------------------------------------------


def _runs(seen: Seen) -> Iterator[str]:
    """Sentences on runs from before a clock's restart, and on runs that an amendment removed, even if it wants them again."""
    if not seen.record.amended and not any(case.before for mine in seen.people.values() for case in mine.cases):
        return
    every = populations(seen.document, seen.record, everything=True)
    for around, score in zip(seen.arounds, seen.components, strict=True):
        name, mine = around.component.name, seen.people[around.component.name]
        before = {row.run for case in mine.cases for row in case.before}
        counted = {row.run for row in (*mine.rows, *step_rows(around.component, seen.record))} | before
        asked = (*every[name].rows, *step_rows(around.component, seen.record, everything=True))
        out = [row for row in asked if row.run not in counted]
        beside = _everything_counted(seen, around, score, every[name])
        if before:
            rows = [row for case in mine.cases for row in case.before]
            yield f"{name}: {_count(rows)} from before its clock was {_begun(seen, around.component)}; {beside}"
        if out:
            who = _taker(seen, name, sorted({row.case for row in out}), out)
            yield f"{name}: {_count(out)} that an amendment took out and wanted again do not count{who}; {beside}"
    yield from _gone(seen) if seen.record.amended else ()


def _gone(seen: Seen) -> Iterator[str]:
    """Sentences on runs of things that the plan in force no longer has, or has only where runs do not count."""
    now = {component.name: component for component in seen.document.components}
    gone: dict[tuple[str, str, str], list[RunRow]] = {}
    for row in seen.record.current():
        component = now.get(row.component)
        what = "the component" if component is None else no_more(component, row)
        if what and row.mode not in (WARM_UP, FILLER) and row.component != NO_LONGER_WANTED:
            case = "" if component is None else row.case
            gone.setdefault((row.component, case, what), []).append(row)
    whole = with_gone(seen.document, seen.earlier, {(name, case) for name, case, _ in gone if case})
    every = populations(whole, seen.record, everything=True) if gone else {}
    for (name, case, what), rows in gone.items():
        taker = _taker(seen, name, [case], rows)
        beside = _with_gone(seen, every, name, rows) if case and rows[0].mode not in STEPS else ""
        if what.endswith(FILLS):
            said = f"{what}, and {_count(rows)} of it {'counts' if len(rows) == 1 else 'count'} no more"
        else:
            said = f"{what} was taken out of the plan, and {_count(rows)} with it"
        yield f"{name}: {said}{taker}{beside}"


def _with_gone(seen: Seen, every: Mapping[str, Population], name: str, rows: Sequence[RunRow]) -> str:
    """The criteria on a component's runs if these runs of a removed case counted, in words; "" if nobody can tell.
    ``every``: the populations with everything that was removed.
    """
    around, score = next(
        (around, score)
        for around, score in zip(seen.arounds, seen.components, strict=True)
        if around.component.name == name
    )
    kept = {*around.component.cases, rows[0].case}
    whole = replace(every[name], cases=tuple(one for one in every[name].cases if one.case.id in kept))
    known = {row.run for case in whole.cases for row in (*case.rows, *case.undetermined)}
    is_told = all(row.run in known for row in rows)
    return f"; {_everything_counted(seen, around, score, whole)}" if is_told else ""


def _everything_counted(seen: Seen, around: MeasureContext, score: ComponentScore, every: Population) -> str:
    """The criteria on runs that would differ if everything counted, in words."""
    told = []
    for criterion, judged in zip(criteria_of(around.component), score.criteria, strict=True):
        if criterion.measure in _OF_RUNS:
            whole = seen.judge(replace(criterion, epochs="all", leave_out=()), every, replace(around, everything=True))
            told += _differs(judged, whole)
    return (
        f"with everything counted {some(told)}"
        if told
        else "with everything counted every criterion on runs comes out the same"
    )


def _differs(judged: CriterionScore, whole: CriterionScore) -> list[str]:
    if whole.outcome == judged.beneath:
        return []
    return [f"{judged.name} would be {whole.outcome} ({whole.arithmetic or whole.reason})"]


def _count(rows: Sequence[RunRow]) -> str:
    """Runs with their verdicts: "12 runs (10 passed, 2 failed)"."""
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in count_verdicts(rows).items())
    return f"{plural(len(rows), 'run')} ({verdicts})"


def _begun(seen: Seen, component: Component) -> str:
    """Whether the clock was started or restarted, by whom and why; a declared clock begins with a person's statement."""
    begins = [word for word in words_of(component, seen.record) if word.act in BEGINS]
    said = [word for word in begins if word.kind]
    how = "started" if len(begins) == 1 and begins[0].act == "start" else "started anew"
    return how + (_said(said[-1].by, said[-1].why) if said else "")


def _amended(seen: Seen) -> list[EpochRow]:
    return [epoch for epoch in seen.record.epochs if epoch.opened_by == "amended"]


def _taker(seen: Seen, component: str, cases: Sequence[str], rows: Sequence[RunRow]) -> str:
    """The last person who removed cases of a component, or reduced their results, and why; if no plan shows it, the first person
    who amended the plan after these runs. ``cases`` is ``[""]`` for the whole component.
    """
    plans = [*seen.earlier, seen.document]
    for place in range(len(seen.earlier) - 1, -1, -1):
        before, after = (_asked(plan, component, cases) for plan in plans[place : place + 2])
        if any(after.get(key, 0) < count for key, count in before.items()):
            return _act(seen, place)
    last = max(row.epoch for row in rows)
    return _by([epoch for epoch in _amended(seen) if epoch.number > last][:1])


def _asked(document: Document, component: str, cases: Sequence[str]) -> dict[tuple[str, str], int]:
    """(case, mode) -> repeats that the plan wants."""
    found: dict[tuple[str, str], int] = {}
    for part in document.components:
        if part.name == component:
            modes: dict[str, int] = {mode.name: mode.repeats for mode in part.modes}
            modes = modes or {"": part.repeats}
            mine = [*part.cases, ""]
            found |= {(case, mode): count for case in cases if case in mine for mode, count in modes.items()}
            found |= {step: 1 for step in steps_of(part) if step[0] in cases}
    return found


def _by(epochs: Sequence[EpochRow]) -> str:
    return _said(epochs[-1].by, epochs[-1].reason) if epochs else ""


def _said(by: str, why: str) -> str:
    return f", by {by or 'somebody'}" + (f": {why}" if why else "")


# ---- epochs ------------------------------------------------------------------------------------------------------------


def _epochs(seen: Seen) -> Iterator[tuple[str, bool]]:
    """(sentence, whether only undeclared epochs leave the runs out), for criteria that leave out runs of earlier epochs, if one of
    these runs did not pass or the outcome would differ.
    """
    for around, score in zip(seen.arounds, seen.components, strict=True):
        for criterion, judged in zip(criteria_of(around.component), score.criteria, strict=True):
            if criterion.epochs == "all":
                continue
            least = least_epoch(criterion, seen.record)
            mine = _of_mode(seen.people[around.component.name].of_test(criterion.test), criterion.mode)
            rows = [row for row in mine.rows if row.epoch < least]
            bad = [
                row
                for case in mine.cases
                for row in case.rows
                if row.epoch < least and not counts_as_passed(row, case.case)
            ]
            whole = seen.judge(replace(criterion, epochs="all"), seen.people[around.component.name], around)
            differs = _differs(judged, whole)
            if rows and (bad or differs):
                every = seen.judge(
                    replace(criterion, epochs="all", leave_out=()), seen.people[around.component.name], around
                )
                differs = _differs(judged, every)
                why = _opened(seen, least)
                beside = differs[0] if differs else f"{judged.name} comes out the same"
                declared = declared_epoch(criterion, seen.record)
                yield (
                    f"{around.component.name}: {judged.name} counts from epoch {least} on{why}; {_count(rows)} from before do not "
                    f"count; with everything counted {beside}",
                    declared < least and all(row.epoch >= declared for row in rows),
                )


def _of_mode(population: Population, mode: str) -> Population:
    return population.each(lambda case: case.of_mode(mode))


def _opened(seen: Seen, number: int) -> str:
    """Who opened an epoch, and why."""
    epoch = epoch_numbered(number, seen.record)
    return f", {opened_words(epoch)}" if epoch is not None else ""


# ---- criteria and rows -------------------------------------------------------------------------------------------------


def _criteria(seen: Seen) -> Iterator[str]:
    """Criteria of earlier plans that the plan in force lacks or has weakened."""
    now = {component.name: component for component in seen.document.components}
    arounds = {around.component.name: around for around in seen.arounds}
    told: set[tuple[str, str, str]] = set()
    for place, document in seen.stood_by:
        held: Nodes | None = None
        for component in document.components:
            if component.name not in now:
                yield from _once(
                    told,
                    (component.name, "", ""),
                    f"component {component.name} was taken out of the plan{_act(seen, place)}",
                )
                continue
            for criterion in criteria_of(component):
                after = next((one for one in criteria_of(now[component.name]) if one.name == criterion.name), None)
                if after is not None and not weaker(criterion, after):
                    continue
                held = held or Nodes(document, seen.record)
                around = replace(arounds[component.name], component=component)  # its earlier drills and ladder
                if criterion.measure != _ROWS_MET:  # its tests and scores, and the machine that it was said of
                    around = replace(around, document=document, held=held)
                was = seen.judge(criterion, seen.people[component.name], around)
                how = _how(criterion, after, document, seen.document)
                said = f"{component.name}: {criterion.name} {how}{_act(seen, place)}; {_would_be(was)}"
                yield from _once(told, (component.name, criterion.name, criterion_digest(criterion)), said)


def weaker(before: Criterion, after: Criterion) -> bool:
    """Purpose: whether a criterion became weaker or different; only the same criterion with a tighter bound is not weaker."""
    same = criterion_digest(before) == criterion_digest(
        replace(after, bound=before.bound, comparison=before.comparison)
    )
    return not same or admits_more(before, after)


def _how(before: Criterion, after: Criterion | None, was: Document, now: Document) -> str:
    if after is None:
        return f"({before.measure}, must {before.must or before.bound}) was taken out"
    if before.must != after.must:
        return f"was changed from {before.must or before.bound} to {after.must or after.bound}"
    names = [name for name in before.__struct_fields__ if getattr(before, name) != getattr(after, name)]
    told = [name for name in names if name not in ("clause", "inputs")]
    changed = [f"{name} {_short(getattr(before, name))} -> {_short(getattr(after, name))}" for name in told]
    changed += score_changes(before.of, was, now) if "inputs" in names else ()
    return f"was changed ({', '.join(changed)})"


def _short(value: object) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value) or "none"


def _would_be(was: CriterionScore) -> str:
    beside = f" ({was.arithmetic or was.reason})" if was.arithmetic or was.reason else ""
    return f"as it was it would be {was.outcome}{beside}"


def _act(seen: Seen, place: int) -> str:
    """The person who amended the plan at this place, and why."""
    acts = _amended(seen)
    return _said(acts[place].by, acts[place].reason) if place < len(acts) else ""


def _once(told: set[tuple[str, str, str]], key: tuple[str, str, str], text: str) -> Iterator[str]:
    if key not in told:
        told.add(key)
        yield text


def _rows(seen: Seen) -> Iterator[str]:
    """Contract rows of earlier plans that the plan in force lacks, unless a row with tighter bounds replaces them."""
    now = [row for contract in seen.document.contracts for row in contract.rows]
    told: set[tuple[str, str, str]] = set()
    for place, document in seen.stood_by:
        for row in (row for contract in document.contracts for row in contract.rows):
            if any(content(row) == content(other) or _stands_for(other, row) for other in now):
                continue
            force = {case.id for case in document.cases if row.name in case.rows}
            cases = [case for population in seen.people.values() for case in population.cases if case.case.id in force]
            found = score_row(row, cases)
            beside = f" ({found.arithmetic or found.reason})" if found.arithmetic or found.reason else ""
            said = f"contract row {row.name} ({row.test}: {row.figure} {row.must}) was taken out or changed{_act(seen, place)}"
            yield from _once(
                told, ("row", row.name, str(content(row))), f"{said}; as it was it would be {found.outcome}{beside}"
            )


def _stands_for(after: ContractRow, before: ContractRow) -> bool:
    """Whether a row is the same as an earlier one, with equal or tighter bounds on each side."""
    keys = ("contract", "test", "figure", "basis", "where", "statistic", "mode", "unit")
    return all(getattr(after, key) == getattr(before, key) for key in keys) and is_as_tight(after, before)
