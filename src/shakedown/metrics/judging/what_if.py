"""The outcome of a campaign without some acts of people, and what these acts take away: ``WhatIf``.

A pure function of the events and the frozen plans: each question is answered by judging the record again without the acts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from shakedown.metrics.clock import clocks_of
from shakedown.metrics.judging import beyond
from shakedown.metrics.judging.consent import Signed, weigh
from shakedown.metrics.judging.criteria import score_people
from shakedown.metrics.judging.from_outputs import Answers
from shakedown.metrics.judging.harder import WAYS, WORST, Way, at_best, at_worst
from shakedown.metrics.judging.late_orders import leave_out_late, times_up
from shakedown.metrics.judging.people import ENDS_EARLY, Act
from shakedown.metrics.judging.plans_in_force import PlansInForce
from shakedown.metrics.judging.populations import populations
from shakedown.metrics.judging.put_back import as_it_ended
from shakedown.metrics.judging.scorecard import NOT_KNOWN, Acceptance, Scorecard
from shakedown.metrics.judging.set_ups import step_rows
from shakedown.metrics.judging.steps import Steps
from shakedown.metrics.judging.taken import MOVES_CLOCKS, Clocks, taken, turned, values_replaced
from shakedown.metrics.judging.taken_back import Replaced, taken_back_by, withdrawn_by
from shakedown.metrics.judging.unmeasured import hangs
from shakedown.metrics.judging.without import NO_ROWS, Acts, Variants, copied
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import some
from shakedown.model.nouns import Document

Documents = Callable[[str], Document]
Counted = Mapping[str, frozenset[str]]  # component -> the runs that are counted
Scored = tuple[Document, Clocks, Scorecard, Counted, "Outputs"]
_AT_ONCE = 16  # the most records without acts in memory at a time
_RANKS = {"accepted": 2, "accepted with restrictions": 2, "incomplete": 1, "rejected": 0}  # higher is better
_ORDER = ("rejected", "incomplete", "not judged", "accepted with restrictions", "accepted")
# Waivers restrict by themselves. All rounds of a repeated component count, so a repetition only adds. A statement on a procedure or
# drill is a result, and is shown with the statements before it.
TURNS_NOTHING = frozenset({"waive", "agree", "again", "attest", "drill"})
_FAMILIES = {"rejudge": "rule"} | dict.fromkeys(MOVES_CLOCKS, "clock") | dict.fromkeys(ENDS_EARLY, "end")


class Outputs(NamedTuple):
    """The sets ``evaluated`` and ``unread`` of a record."""

    evaluated: frozenset[str]
    unread: frozenset[str]


class Ends(NamedTuple):
    """The outcome of a campaign if runs with unknown results passed. ``word``: that outcome; ``runs``: the runs that it depends on.
    ``lowest``: the worst outcome if they did not pass, "" if it depends on what they measured.
    """

    word: str
    runs: frozenset[str] = frozenset()
    lowest: str = ""


class WhatIf:
    """One campaign as it would be without some of its acts. ``void``: acts without effect, because required consent is
    missing. ``shared``: a cache of scored variants, by the acts they lack. ``spared``: an agreement to ignore;
    ``granted``: acts to which every party is assumed to agree. ``taken_back``: withdrawal -> the acts that it took back.
    ``together``: the first of several acts that take something away only together -> all of them; ``not_readable``: the results of
    ``unread`` for acts that were asked about; the settlement fills both.
    """

    def __init__(
        self,
        document: Document,
        record: Record,
        document_of: Documents,
        variants: Variants,
        acts: Sequence[Act],
        signatures: Mapping[int, Signed],
        answers: Answers,
        shared: dict[Acts, Scored] | None = None,
        spared: int = 0,
        granted: Acts = frozenset(),
    ) -> None:
        self.document, self.record, self.document_of = document, record, document_of
        self.variants, self.acts, self.signatures, self.answers = variants, acts, signatures, answers
        self.shared: dict[Acts, Scored] = {} if shared is None else shared
        self.by_number = {act.number: act for act in acts}
        self.best: dict[tuple[Acts, frozenset[tuple[str, Way]]], Ends] = {}
        runs_of = {row.seq: row.run for row in record.acts if row.kind == "rule" and row.run}
        self.ruled = {act.number: {runs_of[seq] for seq in act.events if seq in runs_of} for act in acts}
        consent = weigh(record, acts, document_of, signatures, spared)
        missing = {number: () if number in granted else names for number, names in consent.missing.items()}
        self.consent = consent = replace(consent, missing=missing, void=consent.void - granted)
        unsure = {act.number for act in acts if act.unsure}
        self.plans = PlansInForce(record, document_of)
        self.times = times_up(record, document_of) if variants.ends is None else variants.ends.times
        self.void = frozenset(consent.void) - {act.number for act in acts if act.lasting}
        self.steps = Steps(record, acts, self.void, document_of, consent.missing)
        self.steering = self.steps.steering()
        unsure |= self.steering - self.void
        self.relied = self.steps.relied()
        self.hard = self.steps.hardened()
        self.by_outputs = {act.number: self.steps.by_outputs(act) for act in acts if act.number in self.relied}
        relied = {number for number in self.relied & self.void if not self.is_evaluated(number, frozenset())}
        driven = (self.steering & self.void) | relied | self.hard_without_effect()
        self.driven_by = sorted(driven - self.after_the_seal())
        self._weigh(unsure)

    def _weigh(self, unsure: set[int]) -> None:
        """Determine which acts count, need a consent, or were taken back. ``unsure``: acts whose effect nobody can compute."""
        record, acts, consent = self.record, self.acts, self.consent
        late = self.after_the_seal()
        unsure = unsure - late
        self.unagreed = sorted({*(unsure & consent.void), *self.driven_by})  # these can neither be undone nor computed
        ended = {act.number for act in acts if act.kind in ENDS_EARLY and act.number in consent.void}
        self.ended_by = sorted(ended - late)
        self.withdrawn = withdrawn_by(record, acts, self.void)
        self.taken_back = taken_back_by(acts, self.withdrawn)
        self.ruled |= {
            number: set[str]().union(*(self.ruled.get(one, ()) for one in back))
            for number, back in self.taken_back.items()
        }
        self.replaced = Replaced(acts, record, self.steps.of, self.ruled)
        idle = self.void | set(self.withdrawn)
        self.weighed = [act for act in acts if act.number not in idle and act.kind != "agree"]
        self.known = [act for act in self.weighed if not act.unknown]
        self.one_sided = frozenset(act.number for act in self.known if consent.missing.get(act.number))
        self.unsure = sorted(number for number in unsure if consent.missing.get(number))
        self.together: dict[int, Acts] = {}
        self.not_readable: dict[int, frozenset[str]] = {}

    def after_the_seal(self) -> Acts:
        """Acts after a seal that every party agreed to, without the agreement of all: nothing depends on them."""
        joint, void = self.consent.joint, self.consent.void
        return frozenset(number for number in void if joint and joint[0] < number)

    def is_sure(self, gone: Acts, word: str, outcome: str) -> bool:
        """Whether the outcome without some acts is certain, although some of them made the plan easier or harder. It is certain if
        the kept outputs give the verdicts. Verdicts under an easier plan are too good, so without outputs only a worse outcome is
        certain; those under a harder plan may be too bad, so only an outcome is certain that stays the same if all those runs
        passed.
        """
        relied = any(not self.is_evaluated(number, gone) for number in gone & self.relied)
        if relied and _RANKS.get(word, 0) >= _RANKS.get(outcome, 0):
            return False
        if self.flatters(gone, word, outcome):
            return False
        return self.raw(gone) == self.at_best(gone, gone & self.hard.keys())

    def flatters(self, gone: Acts, word: str, outcome: str) -> bool:
        """Whether the outcome is better without acts that caused other runs: the runs in their place might have failed."""
        better = word != outcome != "accepted" and _RANKS.get(word, 0) >= _RANKS.get(outcome, 0)
        return bool(gone & self.steering) and better

    def is_evaluated(self, number: int, gone: Acts) -> bool:
        """Whether kept outputs give the results of all runs under an easier plan, without these acts."""
        runs = self.by_outputs[number]
        return runs is not None and runs <= self.score(gone)[4].evaluated

    def unread(self, gone: Acts, word: str) -> dict[int, frozenset[str]]:
        """Those of some acts without which the outcome is unknown because kept outputs can no longer be read -> the runs of these
        outputs. ``word``: the outcome without all of them, as far as known. Verdicts under an easier plan are too good, so a
        rejection by them is certain.
        """
        lost = self.score(gone)[4].unread
        if not lost:
            return {}
        hangs = self.raw(gone) != self.at_best(gone, gone & self.hard.keys())
        runs = {number: lost & self.hard[number].keys() for number in gone & self.hard.keys() if hangs}
        for number in gone & self.relied if word != "rejected" else ():
            runs[number] = runs.get(number, frozenset()) | ((self.by_outputs[number] or frozenset()) & lost)
        return {number: mine for number, mine in runs.items() if mine}

    def hard_without_effect(self) -> set[int]:
        """The amendments without effect whose harder plan produced verdicts that the outcome depends on."""
        found = self.void & self.hard.keys()
        return set(found) if self.raw(frozenset()) != self.at_best(frozenset(), found) else set()

    def at_best(self, gone: Acts, hard: Acts) -> str:
        """The outcome without some acts if all runs under the harder plans of ``hard`` passed; ``NOT_KNOWN`` if it depends on their
        values, or on whether they passed.
        """
        return self._best(gone, hard).word

    def _best(self, gone: Acts, hard: Acts) -> Ends:
        ways: dict[str, Way] = {}
        for run, way in (item for number in hard for item in self.hard[number].items()):
            ways[run] = min(way, ways.get(run, way), key=WAYS.index)
        if not ways:
            return Ends(self.raw(gone))
        asked = gone | self.void, frozenset(ways.items())
        if asked not in self.best:
            self.best[asked] = self._ends(asked[0], ways)
        return self.best[asked]

    def _ends(self, gone: Acts, ways: Mapping[str, Way]) -> Ends:
        """The outcomes without some acts if these runs had the best, and the worst, possible results."""
        document, record = self._record(gone)
        mine, best = PlansInForce(record, self.document_of), copied(record)
        judged_at = partial(self._judged, document, gone=gone)
        names = at_best(best, ways, self.plans, mine)
        judged = judged_at(best)[0]
        if self.record.ended is not None and hangs(document, best, judged, names):
            return Ends(NOT_KNOWN, frozenset(ways) - record.computed)
        lowest = judged.outcome
        for verdict in WORST if self.record.ended is not None else ():
            worst = copied(record)
            at_worst(worst, ways, verdict, mine)
            lowest = min(lowest, judged_at(worst)[0].outcome, key=_ORDER.index)
        if lowest == judged.outcome:
            return Ends(lowest)
        return Ends(NOT_KNOWN, frozenset(ways) - record.computed, lowest)

    def word_without(self, gone: Acts, restricting: Collection[int]) -> str:
        """The outcome without these acts. Acts that they covered may take something away again, or no longer; acts that they took
        back count again.
        """
        judged = self.score(gone)[2]
        if judged.outcome != "accepted":
            return judged.outcome
        back = self.counting_again(gone)
        near = [act for act in self.weighed if act.number not in gone and any(self.covers(n, act) for n in gone)]
        near += [self.by_number[number] for number in back]
        moved = frozenset(act.number for act in near)
        if not gone.union(moved).issuperset(restricting):
            return "accepted with restrictions"
        if any(self.takes(act, judged, gone) or self.turns(act, gone) for act in near):
            return "accepted with restrictions"
        left = [group - gone for group in self.together.values() if group & (gone | moved)]
        if any(self.lost(rest, gone) or self.turned(rest, gone) for rest in left if rest):
            return "accepted with restrictions"
        known = frozenset(act.number for act in self.known if act.number not in gone and self.can_take(act))
        rest = known | frozenset(number for number in back if self.can_take(self.by_number[number]))
        if len(rest) > 1:
            return restricted("accepted", [*rest][:1] if self.lost(rest, gone) else ())
        # One alone may take nothing by the plan in force, and something by the plan that is in force without an amendment.
        return restricted("accepted", [number for number in rest if self.takes(self.by_number[number], judged, gone)])

    def counting_again(self, gone: Acts) -> Acts:
        """The acts that some of these acts had withdrawn, and that count again without them."""
        return frozenset(one for number in gone for one in self.taken_back.get(number, ())) - gone

    def side(self, act: Act) -> str:
        return self.consent.party.get(act.number, "")

    def raw(self, numbers: Acts) -> str:
        return self.score(numbers)[2].outcome

    def score(self, numbers: Acts) -> Scored:
        """The campaign without these acts and without the acts that have no effect."""
        gone = numbers | self.void
        if gone not in self.shared:
            document, record = self._record(gone)
            judged, counted = self._judged(document, record, gone)
            outputs = Outputs(record.evaluated, record.unread)
            self.shared[gone] = (document, clocks_of(document, record), judged, counted, outputs)
        return self.shared[gone]

    def score_each(self, sets: Iterable[Acts]) -> None:
        """Score the campaign without each of these sets of acts, some records at a time."""
        groups: dict[Acts, list[Acts]] = {}
        for wanted in (one for one in sets if one | self.void not in self.shared):
            groups.setdefault(self.variants.heavy(wanted | self.void), []).append(wanted)
        heavy = list(groups)
        for place in range(0, len(heavy), _AT_ONCE):
            mine = heavy[place : place + _AT_ONCE]
            self.variants.prepare(mine)
            for wanted in (one for some_acts in mine for one in groups[some_acts]):
                self.score(wanted)
            self.variants.forget()

    def as_judged(self) -> tuple[Document, Record]:
        """The plan and the record without the acts that have no effect."""
        return self._record(self.void)

    def _record(self, gone: Acts) -> tuple[Document, Record]:
        """The plan and the record without these acts; the original record if there are none."""
        record = self._idle_kept(self.variants.without(gone)) if gone else self.record
        if gone and self.times:
            leave_out_late(record, self.times, self.document_of)
        if gone:
            beyond.hold_to(record, self.record, self.document_of, self.answers)
        same = record.document == self.record.document or not record.document
        document = self.document if same else self.document_of(record.document)
        record.plans = record.plans or plans_of(record, self.document_of)
        return document, as_it_ended(document, record)

    def _idle_kept(self, record: Record) -> Record:
        """Keep amendments among the clock events, so that idle hours before an amendment never count as a component's time."""
        there = {row.seq for row in record.standing}
        idle = [row for row in self.record.standing if row.kind == "amended" and row.seq not in there]
        record.standing = sorted([*record.standing, *idle], key=lambda row: row.seq) if idle else record.standing
        return record

    def _judged(self, document: Document, record: Record, gone: Collection[int]) -> tuple[Scorecard, Counted]:
        """Judge a variant. Without the acts that ended it early, it is over only if no result to come could repair it or none is to
        come.
        """
        record.plans = plans_of(record, self.document_of)
        earlier, brief = earlier_plans(record, self.document_of), gone != self.void
        people = populations(document, record)
        amended = [epoch.seq for epoch in record.epochs if epoch.opened_by == "amended"]
        alone = frozenset(place for place, seq in enumerate(amended, 1) if self.consent.missing.get(seq))
        scorecard = score_people(document, record, people, earlier, brief, alone)
        early = self.record.ended is not None and self.variants.go_on(gone)
        if early and any(item.outcome == "not met" for part in scorecard.components for item in part.criteria):
            scorecard = replace(scorecard, outcome="rejected")
        elif early and not any(part.to_come for part in scorecard.components):
            record.ended = self.record.ended
            people = populations(document, record)
            scorecard = score_people(document, record, people, earlier, brief, alone)
        counted = {
            part.name: frozenset(row.run for row in (*people[part.name].rows, *step_rows(part, record)))
            for part in document.components
        }
        return scorecard, counted

    # ---- what they take away ---------------------------------------------------------------------------------------------------

    def takes(self, act: Act, judged: Scorecard, gone: Acts = frozenset()) -> tuple[str, ...]:
        """What an act takes away, one phrase each. ``gone``: other acts that are left out."""
        if not self.can_take(act):
            return ()
        document, clocks, without, counted, _ = self.score(gone | {act.number})
        base_document, base_clocks, _, base_counted, _ = self.score(gone)
        moved = (base_clocks, clocks) if act.kind in MOVES_CLOCKS else None
        step = (*self.steps.of(act, gone), self.steps.stood_by(act, gone)) if act.kind == "amend" else None
        relied = step is not None and self.steps.is_relied_on(act, gone)
        runs = base_counted, counted
        documents, held, beside = (base_document, document), act.unknown, bool(gone)
        lines = taken(act.kind, judged, without, documents, runs, moved, step, relied, held, beside)
        lines = (*lines, *self.unmeasured(act.number, gone))
        return (*lines, *values_replaced(act, self.record, base_counted)) if act.kind == "rejudge" else lines

    def unmeasured(self, number: int, gone: Acts) -> tuple[str, ...]:
        """The unknown values of runs under the act's harder plan, as a phrase, if the outcome without the act depends on them."""
        act, runs = self.by_number[number], self.hard.get(number, {})
        if not runs or not self.steps.is_harder_than_agreed(act, runs, gone):
            return ()
        word, hangs_on, lowest = self._best(gone | {number}, frozenset({number}))
        if word != NOT_KNOWN or (lowest and _ORDER.index(lowest) >= _ORDER.index(self.raw(gone | {number}))):
            return ()
        told, ways = some(sorted(hangs_on)), {runs.get(run) for run in hangs_on}
        told = f"the next attempt after {told}" if lowest and ways == {"attempt"} else told
        return (f"how {told} would have come out" if lowest else f"what {told} would have measured",)

    def can_take(self, act: Act) -> bool:
        """Whether runs, time or values may be lost by an act. A waiver restricts by itself."""
        return (act.kind not in NO_ROWS or act.anew) and act.kind not in ("waive", "withdraw")

    def lost(self, numbers: Acts, gone: Acts = frozenset()) -> tuple[str, ...]:
        """What several acts take away together. ``gone``: other acts that are left out."""
        document, clocks, without, counted, _ = self.score(gone | numbers)
        base_document, base_clocks, judged, base_counted, _ = self.score(gone)
        documents, runs, moved = (base_document, document), (base_counted, counted), (base_clocks, clocks)
        lines: list[str] = []
        for kind in sorted({self.by_number[number].kind for number in numbers}):
            its = moved if kind in MOVES_CLOCKS else None
            lines += taken(kind, judged, without, documents, runs, its, beside=bool(gone))
        return tuple(dict.fromkeys(lines))

    def lost_beside(self, numbers: Acts, gone: Acts) -> tuple[str, ...]:
        """What several acts take away if other acts are left out, and what also does not count with those."""
        document, clocks, without, counted, _ = self.score(gone | numbers)
        base_document, base_clocks, judged, base_counted, _ = self.score(gone)
        _, clocks_now, now, counted_now, _ = self.score(frozenset())
        both = {name: base_counted.get(name, frozenset()) | counted_now.get(name, frozenset()) for name in counted}
        documents, lines = (base_document, document), list[str]()
        for kind in sorted({self.by_number[number].kind for number in numbers}):
            moves = kind in MOVES_CLOCKS
            as_it_is = taken(kind, now, without, documents, (both, counted), (clocks_now, clocks) if moves else None)
            moved = (base_clocks, clocks) if moves else None
            told = taken(kind, judged, without, documents, (both, counted), moved, beside=True)
            lines += told if as_it_is else ()
        return tuple(dict.fromkeys(lines))

    def runs_lost(self, gone: Acts, of: Collection[str] | None = None) -> frozenset[str]:
        """The runs that count without some acts but not with them. ``of``: only these runs."""
        now, without = self.score(frozenset())[3], self.score(gone)[3]
        found = (run for name, runs in without.items() for run in runs - now.get(name, frozenset()))
        return frozenset(run for run in found if of is None or run in of)

    def turned(self, numbers: Acts, gone: Acts = frozenset()) -> tuple[str, ...]:
        """What is met with these acts and not met without them. Earlier one-sided acts of the same kind cannot be lost: an act that
        only reverts them turns nothing. ``gone``: other acts that are left out.
        """
        now, families = self.score(gone)[2], {self.family(number) for number in numbers}
        found = turned(now, self.score(gone | numbers)[2])
        alone = self.one_sided | {one for one in self.counting_again(numbers) if self.consent.missing.get(one)}
        before = {one for one in alone if one < max(numbers) and self.family(one) in families}
        still = found if not found or before <= gone | numbers else turned(now, self.score(gone | numbers | before)[2])
        return tuple(f"{what} ({number})" if number else what for what, number in found.items() if what in still)

    def turns(self, act: Act, gone: Acts) -> bool:
        able = act.kind not in TURNS_NOTHING and not act.unknown
        return able and bool(self.turned(frozenset({act.number}), gone))

    def about(self, number: int) -> tuple[str, frozenset[str]]:
        """The kind of an act, and its matters: the runs that it rules, or its kind."""
        family = self.family(number)
        return family, frozenset(self.ruled.get(number) or {family})

    def covers(self, number: int, act: Act) -> bool:
        """Whether one act may change the effect of another: both concern the same runs, clocks, ends or procedures."""
        if self.family(number) != self.family(act.number):
            return False
        runs, others = self.ruled.get(act.number), self.ruled.get(number)
        return not runs or not others or bool(runs & others)

    def family(self, number: int) -> str:
        """The kind of an act for comparisons; a withdrawal has the kind of the acts that it took back."""
        kind = self.by_number[(*self.taken_back.get(number, ()), number)[0]].kind
        return _FAMILIES.get(kind, kind)


def earlier_plans(record: Record, document_of: Documents) -> tuple[Document, ...]:
    """Purpose: the plans that were in force, without the last one. Raises the errors of ``document_of`` if a plan is missing."""
    return tuple(document_of(digest) for digest in record.documents[:-1] if digest)


def plans_of(record: Record, document_of: Documents) -> dict[str, Document]:
    """Purpose: every plan that was in force, by its digest. Raises the errors of ``document_of`` if a plan is missing."""
    return {digest: document_of(digest) for digest in record.documents if digest}


def restricted(outcome: str, restricting: Collection[int]) -> Acceptance:
    """Purpose: the outcome, reduced to "accepted with restrictions" if some acts take something away."""
    found: Acceptance = "accepted with restrictions" if outcome == "accepted" and restricting else outcome  # type: ignore[assignment]
    return found
