"""The scorecard in words: criteria, the summary, restrictions and remarks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from shakedown.metrics.issues import Issue
from shakedown.metrics.judging import floors
from shakedown.metrics.judging.at_bound import in_parts
from shakedown.metrics.judging.contract import ContractScore, RowScore
from shakedown.metrics.judging.default_criteria import criteria_of, is_usual
from shakedown.metrics.judging.figure_remarks import of_figures
from shakedown.metrics.judging.open_issues import accepted_issues, restriction_of
from shakedown.metrics.judging.populations import CaseRuns, Population
from shakedown.metrics.judging.rows_beside import missed_words
from shakedown.metrics.judging.scorecard import ComponentScore, CriterionScore
from shakedown.metrics.judging.waivers import Standing, ahead, ahead_of_outcome, words
from shakedown.metrics.newest_results import unwanted_rows
from shakedown.metrics.rows.rows import NoteRow, RejudgedRow, RunRow, WaiverRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.scores.results import ScoreResult
from shakedown.metrics.words import plural, show_share, show_value, some
from shakedown.model.judging import Criterion
from shakedown.model.measures import measure_named
from shakedown.model.nouns import Document

_KILLED = frozenset({128 + 9, 128 + 15, -9, -15})  # exit statuses of processes that SIGKILL or SIGTERM ended


def measure_text(criterion: Criterion) -> str:
    """Purpose: the measured quantity and its runs: "mean of elapsed, test cm4, isolated runs, per case"."""
    declared = measure_named(criterion.measure)
    phrase = declared.phrase if declared else "{name}"
    names = {"statistic": criterion.statistic, "of": criterion.of, "files": criterion.files, "since": criterion.since}
    text = phrase.format(name=criterion.measure, **names)
    parts = [
        f"test {criterion.test}" if criterion.test else "",
        f"across {', '.join(criterion.across)}" if criterion.across else "",
        f"{criterion.mode} runs" if criterion.mode else "",
        f"basis {criterion.basis}" if criterion.basis else "",
        "the last epoch" if criterion.epochs == "last" else "",
        f"from epoch {criterion.epochs}" if criterion.epochs.isdigit() else "",
        f"without {', '.join(criterion.leave_out)}" if criterion.leave_out else "",
        f"per {criterion.per}" if criterion.per else "",
    ]
    return ", ".join([text, *filter(None, parts)])


def must_text(criterion: Criterion) -> str:
    """The bound as the person wrote it; a bound in several units (1h30m) also in the unit of the printed values."""
    declared = measure_named(criterion.measure)
    if criterion.must:
        said_so = is_usual(criterion)  # planned time is printed in several units too
        timed = declared is not None and declared.bound == "hours"
        unit = floors.unit_of(criterion) if timed else criterion.unit
        return criterion.must + ("" if said_so else in_parts(criterion, unit))
    if declared and declared.bound in ("count", "hours"):
        return f"{criterion.comparison} {show_value(criterion.bound, floors.unit_of(criterion))}"
    if declared is None or declared.bound == "share":
        return f"{criterion.comparison} {show_share(criterion.bound)}"
    return f"{criterion.comparison} {show_value(criterion.bound, criterion.unit)}"


def left_out_text(left_out: Iterable[tuple[str, int]]) -> str:
    """The left-out runs: "3 ruled site, 1 outlier"."""
    return ", ".join(f"{count} {why}" if why.startswith("ruled") else plural(count, why) for why, count in left_out)


# ---- the whole -------------------------------------------------------------------------------------------------------


def summary(
    outcome: str,
    components: tuple[ComponentScore, ...],
    finished: bool,
    given: Standing,
    taken: int = 0,
    behind: int = 0,
) -> str:
    """Purpose: one sentence that begins with the words of the outcome, followed by what is missing or restricts it. ``taken``: how
    many things people took away; ``behind``: how many criteria leave runs out by an epoch that nobody declared.
    """
    named = [(f"{c.name}: {k.name}", k) for c in components for k in c.criteria]
    if outcome == "accepted":
        return (
            f"accepted: all {len(named)} criteria are met" if len(named) > 1 else "accepted: the only criterion is met"
        )
    if outcome == "accepted with restrictions":
        return _restricted([criterion for _, criterion in named], components, given, taken, behind)
    failed = [name for name, criterion in named if criterion.outcome == "not met"]
    if outcome == "rejected":
        return f"rejected: {plural(len(failed), 'criterion', 'criteria')} of {len(named)} not met ({some(failed)})"
    undecided = [(name, k.reason) for name, k in named if k.outcome == "undecided" and not k.restricted]
    missing, coming = sum(len(c.unavailable) for c in components), sum(c.to_come for c in components)
    parts = (
        [] if finished else [f"{plural(coming, 'result')} still to come" if coming else "the campaign has not ended"]
    )
    unknown = [run for c in components for run in c.blocking]
    if unknown:
        parts.append(f"{plural(len(unknown), 'run')} undetermined ({some(unknown)})")
    parts += [f"already not met: {some(failed)}"] if failed else []
    parts += [f"undecided: {_with_reasons(undecided)}"] if undecided and (finished or not coming) else []
    parts += [f"{plural(missing, 'case')} unavailable"] if missing else []
    return "incomplete: " + ("; ".join(parts) or "nothing was judged")


def beside_the_criteria(outcome: str, contract: ContractScore | None, document: Document) -> str:
    """Purpose: the contract's own commitments that are not met, which an acceptance must mention, with or without a criterion that
    allows them. "" if there are none.
    """
    if contract is None or not outcome.startswith("accepted"):
        return ""
    asked = _rows_asked(document)
    broken = [score.row.name for score in broken_commitments(contract)]
    allowed, others = [name for name in broken if name in asked], [name for name in broken if name not in asked]
    return _not_met(allowed, ", which a criterion allows") + _not_met(others, " and in no criterion")


def not_to_be_hidden(outcome: str, people: Mapping[str, Population], missed: Sequence[str]) -> str:
    """Purpose: further facts that an acceptance must mention: runs that were attempted again for reasons outside them, and missed
    planned dates (``missed``). "" if there are none.
    """
    return _ended_from_outside(people) + _dates_beside(missed) if outcome.startswith("accepted") else ""


def _ended_from_outside(people: Mapping[str, Population]) -> str:
    """How many runs were interrupted or killed from outside, or could not be judged, and were attempted again; and results left
    undetermined by the end of the time.
    """
    cut = sum(len(_cut_short(population)) for population in people.values())
    cases = [case for population in people.values() for case in population.cases]
    over = sum(len(case.open_undetermined) for case in cases if case.time_over)
    lost = sum(row.retried for case in cases for row in case.undetermined)
    lost -= sum(row.retried for case in cases if case.time_over for row in case.open_undetermined)
    were, was = ("was" if count == 1 else "were" for count in (cut, lost))
    text = f"; {plural(cut, 'run')} {were} interrupted and attempted again" if cut else ""
    shot = sum(len(_killed(population)) for population in people.values())
    text += f"; {plural(shot, 'run')} {'was' if shot == 1 else 'were'} killed and attempted again" if shot else ""
    text += f"; {plural(lost, 'run')} could not be judged and {was} attempted again" if lost else ""
    return text + (f"; {plural(over, 'run')} could not be judged, and the time was over" if over else "")


def _dates_beside(missed: Sequence[str]) -> str:
    """The missed planned dates without a criterion: they decide and restrict nothing."""
    if not missed:
        return ""
    return f"; {missed_words(missed)}, and no criterion asks about {'it' if len(missed) == 1 else 'them'}"


def _cut_short(population: Population) -> list[RunRow]:
    return [row for row in population.rows if row.verdict == "interrupted" and row.retried]


def _killed(population: Population) -> list[RunRow]:
    """Runs whose payload alone was ended by SIGKILL or SIGTERM: by a person, or because memory ran out."""
    return [row for row in population.rows if row.verdict == "failed" and row.retried and row.exit in _KILLED]


def broken_commitments(contract: ContractScore | None) -> list[RowScore]:
    """Purpose: the contract's own commitments that are not met and not waived: each restricts an acceptance."""
    return [
        score
        for score in (contract.rows if contract is not None else ())
        if score.outcome == "not met" and score.row.basis == "contract" and not score.waived
    ]


def _not_met(rows: list[str], how: str) -> str:
    are = "is" if len(rows) == 1 else "are"
    return f"; {plural(len(rows), 'contract row')} {are} not met{how} ({some(rows)})" if rows else ""


def _rows_asked(document: Document) -> set[str]:
    """The rows of basis contract that a criterion on rows met covers."""
    cases = {case.id: case for case in document.cases}
    rows = {row.name: row for contract in document.contracts for row in contract.rows}
    return {
        name
        for component in document.components
        for item in criteria_of(component)
        if item.measure == "rows met" and item.basis in ("", "contract")
        for case in (cases[name] for name in component.cases if name in cases)
        if item.test in ("", case.test)
        for name in case.rows
        if name in rows and (not item.mode or rows[name].mode in ("", item.mode))
    }


def _with_reasons(undecided: list[tuple[str, str]]) -> str:
    return some([f"{name} ({reason})" if reason else name for name, reason in undecided])


def _restricted(
    criteria: list[CriterionScore], components: tuple[ComponentScore, ...], given: Standing, taken: int, behind: int
) -> str:
    missing = sum(len(component.unavailable) for component in components)
    waived = sum(criterion.outcome == "waived" for criterion in criteria)
    met = sum(criterion.outcome == "met" for criterion in criteria)
    what = [f"{plural(missing, 'case')} unavailable"] if missing else []
    what += [f"{plural(waived, 'criterion', 'criteria')} waived"] if waived else []
    what += [f"{plural(len(given.others), 'waiver')} of gates and rows"] if given.others else []
    what += [f"{plural(len(given.gone), 'waiver')} of what an amendment replaced"] if given.gone else []
    what += [f"{plural(taken, 'thing')} taken away by what people did"] if taken else []
    by = "by an epoch that nobody declared"
    what += [f"{plural(behind, 'criterion leaves', 'criteria leave')} runs out {by}"] if behind else []
    if waived:
        rest = f"{met} of {len(criteria)} criteria are met"
    elif not missing:
        rest = f"all {met} criteria are met" if met > 1 else "the only criterion is met"
    else:
        rest = f"all {met} criteria that could be judged are met" if met > 1 else "the criterion on the rest is met"
    return f"accepted with restrictions{' (' + ', '.join(what) + ')' if what else ''}: {rest}"


def restrictions(
    components: Iterable[ComponentScore],
    record: Record,
    contract: ContractScore | None = None,
    given: Standing | None = None,
    open_issues: Iterable[Issue] = (),
) -> list[str]:
    """Purpose: a sentence for each thing that an acceptance leaves out, or accepts as it is."""
    found = []
    for component in components:
        for row in component.unavailable:
            found.append(f"{component.name}: {row.case} is unavailable: {row.reason}")
        for criterion in component.criteria:
            if criterion.outcome == "waived":
                words = criterion.waiver or "without a restriction"
                found.append(f"{component.name}: {criterion.name} is {criterion.outcome_words}: {words}")
            elif criterion.restricted:
                found.append(f"{component.name}: {criterion.name} is not judged: {criterion.reason}")
    for score in contract.rows if contract else ():
        if score.unavailable and not score.waived:
            found.append(f"contract row {score.row.name} is not judged: {score.reason}")
    if given is not None:
        found += [_waiver_text(row, _ahead(row, record, contract)) for row in given.others]
        found += [_gone_text(row) for row in given.gone]
    found += [_by_another_plan(act) for act in judged_by_another_plan(record)]
    found += [f"event {note.seq}: {note.reason}" for note in changed_conditions(record)]
    found += map(restriction_of, open_issues)
    return found + [_not_met_text(score) for score in broken_commitments(contract)]


def _not_met_text(score: RowScore) -> str:
    said = score.arithmetic or f"{score.row.figure} must {score.row.must}"
    return f"contract row {score.row.name} is not met: {score.row.test}: {said}"


def judged_by_another_plan(record: Record) -> list[RejudgedRow]:
    """Purpose: acts of judging again that replaced verdicts by those of a plan not in force at that time."""
    amended = [epoch.seq for epoch in record.epochs if epoch.opened_by == "amended"]

    def was_in_force(act: RejudgedRow) -> bool:
        known = 1 + sum(event < act.seq for event in amended)
        return act.document in record.documents[:known]

    return [act for act in record.rejudged if act.replaced and act.document and not was_in_force(act)]


def changed_conditions(record: Record) -> list[NoteRow]:
    """Purpose: findings that inputs, programs or settings of the runs changed during the campaign: each restricts, unless a person
    accepted it as it is.
    """
    return [note for note in conditions(record) if accepted_conditions(note, record) is None]


def conditions(record: Record) -> list[NoteRow]:
    """Purpose: every finding of changed conditions."""
    return [note for note in record.of_kind("finding") if note.value.get("kind") == "conditions_changed"]


def accepted_conditions(note: NoteRow, record: Record) -> WaiverRow | None:
    """Purpose: the first waiver of a finding of changed conditions; None if there is none."""
    return next((row for row in record.waivers if row.is_of_conditions(note.seq, note.value)), None)


def _of_conditions(record: Record) -> list[str]:
    """Changes of conditions that a person accepted as they are: these stay on the page."""
    pairs = [(note, accepted_conditions(note, record)) for note in conditions(record)]
    return [
        f"event {note.seq}: {note.reason}; accepted as it is by {row.by}, because {row.reason}"
        for note, row in pairs
        if row is not None
    ]


def _by_another_plan(act: RejudgedRow) -> str:
    return (
        f"{plural(act.replaced, 'verdict')} replaced by those of another plan ({act.document[:16]}), which was not in"
        f" force: judged again by {act.by}, because {act.reason}"
    )


def _rejudged(act: RejudgedRow) -> str:
    more = f", {act.not_judged} of them because they could not be judged again" if act.not_judged else ""
    return (
        f"judged again by {act.by}, because {act.reason}: {plural(act.examined, 'verdict')} looked at,"
        f" {act.replaced} replaced, {act.kept} stand{more}"
    )


def _waiver_text(row: WaiverRow, early: str = "") -> str:
    return f"{_waived_thing(row)} is waived: {words([row], [early])}"


def _gone_text(row: WaiverRow) -> str:
    asked = row.asked or (f"{row.row.get('figure')} {row.row.get('must')}" if row.row else "")
    asked = f" ({asked})" if asked else ""
    return f"{_waived_thing(row)} was waived as it was{asked}, and the plan in force asks for something else: {words([row])}"


def _waived_thing(row: WaiverRow) -> str:
    if row.what == "conditions":
        return f"the change of conditions in event {row.name}"
    if row.what == "issue":
        return f"issue {row.name} ({row.asked})"
    whose = f"{row.component}: " if row.component else ""
    return f"{whose}{row.what} {row.name}".rstrip()


def _ahead(row: WaiverRow, record: Record, contract: ContractScore | None) -> str:
    if row.what == "gate":
        return ahead_of_outcome(row, record)
    asked = {case for score in (contract.rows if contract else ()) if row.asks_as(score.row) for case in score.cases}
    return ahead(row, {run.run for run in record.runs if run.case in asked and run.component == row.component}, record)


def remarks(document: Document, record: Record, people: Mapping[str, Population]) -> list[str]:
    """Purpose: the remarks: facts that a reader should know besides the scores."""
    found = list(record.irregular)
    superseded = sum(row.superseded_by > 0 for row in record.runs)
    if superseded:
        found.append(f"{plural(superseded, 'verdict')} superseded by a later one; both are in the record")
    found += [_rejudged(act) for act in record.rejudged]
    unwanted = len(unwanted_rows(document, record))
    if unwanted:
        found.append(f"{plural(unwanted, 'run')} judged that the plan in force no longer asks for: not counted")
    for name, count in sorted(record.late.items()):
        found.append(
            f"{plural(count, 'run')} of {name} ordered after its time was up, by acts that have no effect: not counted"
        )
    for name, count in sorted(record.beyond.items()):
        found.append(f"{plural(count, 'further attempt')} of {name}, allowed by acts that have no effect: not counted")
    for name, count in sorted(record.twice.items()):
        found.append(f"{plural(count, 'result')} of {name}, wanted again by acts that have no effect: not counted")
    for name, count in sorted(record.warmed.items()):
        found.append(
            f"{plural(count, 'warm-up run')} of {name}, which only acts that have no effect asked for: counted as the first of"
            " their mode"
        )
    for name, count in sorted(record.unknown.items()):
        found.append(f"{plural(count, 'event')} named '{name}', which this version does not know: kept, not counted")
    for name, population in people.items():
        before = sum(len(case.before) for case in population.cases)
        if before:
            text = f"{plural(before, 'run')} of {name} from before its clock was started, or started anew, "
            text += "does not count" if before == 1 else "do not count"
            found.append(text)
        ended = _cut_short(population)
        if ended:
            were, it = ("was", "it") if len(ended) == 1 else ("were", "they")
            found.append(
                f"{plural(len(ended), 'run')} of {name} {were} interrupted and attempted again, such as {ended[0].run}"
                f" ({ended[0].reason}): nobody knows how {it} would have come out"
            )
        killed = _killed(population)
        if killed:
            found.append(
                f"{plural(len(killed), 'run')} of {name} {'was' if len(killed) == 1 else 'were'} killed and attempted again, such"
                f" as {killed[0].run} ({killed[0].reason}): whether by somebody or for want of memory, its exit status does not say"
            )
        for case in population.cases:
            found += _of_case(case)
    found += [*_of_signals(record), *_of_attestations(document, record)]
    found += [*of_figures(document, record), *_of_conditions(record), *accepted_issues(record)]
    return found + _of_waivers(document, record)


def _of_attestations(document: Document, record: Record) -> Iterator[str]:
    """Procedures that were attested as not met and later as met: a later attestation replaces an earlier one."""
    for part in document.components:
        for procedure in part.procedures:
            stands = record.attestations.get((part.name, procedure.name))
            if stands is None or not stands.met:
                continue
            mine = [row for row in record.attested if (row.component, row.procedure) == (part.name, procedure.name)]
            failed = [row for row in mine if not row.met and row.seq < stands.seq]
            if failed:
                words = [
                    f"event {row.seq}, by {row.by or 'somebody'}: {row.reason or 'nothing is said'}" for row in failed
                ]
                yield (
                    f"procedure {procedure.name} of {part.name} was attested as not met ({'; '.join(words)}) before it was"
                    f" attested as met (event {stands.seq}, by {stands.by or 'somebody'})"
                )


def _of_signals(record: Record) -> list[str]:
    """Signals that stopped a conductor and ended its local runs. They are no acts of people, so they are remarks."""
    return [
        f"event {note.seq}: {note.reason}; what is ended so is attempted again"
        for note in record.of_kind("stop_request")
        if note.value.get("ended")
    ]


def given_values(scores: Iterable[ScoreResult]) -> list[str]:
    """Purpose: a sentence for each score that uses values which were not measured in this campaign."""
    return [
        f"score {score.name} has values that the plan gives and nobody measured: {some(list(score.given), 8)}"
        for score in scores
        if score.given
    ]


def _of_case(case: CaseRuns) -> list[str]:
    found = []
    if case.case.expect and any(row.verdict == "passed" for row in case.rows):
        found.append(f"{case.case.id} passed although the plan expects {case.case.expect}")
    if case.undetermined:
        row = case.undetermined[0]
        are = plural(len(case.undetermined), "run") + (" is" if len(case.undetermined) == 1 else " are")
        found.append(f"{are} undetermined of {case.case.id}, in no count, such as {row.run}: {row.reason}")
        if case.cut_off:
            found.append(f"{case.cut_off} of these had no other attempt that ended: the time of the component was over")
    bad = [row for row in case.warm_ups if row.verdict != "passed"]
    if bad:
        what = plural(len(bad), "warm-up run")
        found.append(f"{what} of {case.case.id} did not pass, such as {bad[0].run}: {bad[0].verdict}; in no count")
    return found


def _of_waivers(document: Document, record: Record) -> list[str]:
    """Waivers of contract rows that the plan in force no longer has."""
    rows = [row for contract in document.contracts for row in contract.rows]
    gone = [
        waiver
        for waiver in record.waivers
        if waiver.what == "row" and not any(waiver.is_of_row(document, r) for r in rows)
    ]
    return [
        f"contract row {waiver.name} is waived as it was, and the plan in force has none that asks for the same"
        for waiver in gone
    ]
