"""How a campaign comes out with everything that people did, without each of their acts, and by whose word: ``settle``.

A pure function of the events and the frozen plans: what a signature is worth is handed in. Where nobody did anything it is the
scorecard itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from shakedown.metrics.clock import clocks_of
from shakedown.metrics.judging import beyond
from shakedown.metrics.judging.consent import Signed, weigh
from shakedown.metrics.judging.covering import least, since_each, taken_beside, taken_together
from shakedown.metrics.judging.criteria import score, score_people
from shakedown.metrics.judging.ends import Ends
from shakedown.metrics.judging.from_outputs import Answers, Evaluate
from shakedown.metrics.judging.harder import at_best
from shakedown.metrics.judging.late_orders import leave_out_late, times_up
from shakedown.metrics.judging.moved_files import moved_files, where_they_were
from shakedown.metrics.judging.people import ENDS_EARLY, Act, acts_of, known_agains
from shakedown.metrics.judging.plans_in_force import PlansInForce
from shakedown.metrics.judging.populations import populations
from shakedown.metrics.judging.scorecard import NOT_KNOWN, Acceptance, ActScore, Scorecard
from shakedown.metrics.judging.set_ups import step_rows
from shakedown.metrics.judging.settled_words import (
    AGREED,
    NO_EFFECT,
    ONE_SIDED,
    WITHDRAWN,
    Others,
    agreement_words,
    differences,
    disputed_words,
    hangs_words,
    named,
    restricted_summary,
    restriction_words,
    unsure_words,
    void_words,
    without_all_words,
)
from shakedown.metrics.judging.steps import Steps
from shakedown.metrics.judging.taken import MOVES_CLOCKS, Clocks, taken, turned, values_replaced
from shakedown.metrics.judging.without import NO_ROWS, Acts, Variants, moves_nothing
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import plural, some
from shakedown.model.events import Event
from shakedown.model.nouns import Document

DISPUTED = "disputed"

Documents = Callable[[str], Document]
Counted = Mapping[str, frozenset[str]]  # component -> the runs that are counted
Scored = tuple[Document, Clocks, Scorecard, Counted, frozenset[str]]  # the last: ``evaluated`` of the record
_AT_ONCE = 16  # records without acts that are kept at a time
_RANKS = {"accepted": 2, "accepted with restrictions": 2, "incomplete": 1, "rejected": 0}  # the better, the higher
_MOST_PARTS = 64  # questions about acts that cover each other for which the log is read again
_MOST_TRIED = 12  # acts of a group that are left away one by one, to find those that matter
# A waiver restricts by itself; of what runs again all rounds count, so that it only adds; what is said of a procedure or a drill is
# a result, with what was said before beside it.
_TURNS_NOTHING = frozenset({"waive", "withdraw", "agree", "again", "attest", "drill"})
_FAMILIES = {"rejudge": "rule"} | dict.fromkeys(MOVES_CLOCKS, "clock") | dict.fromkeys(ENDS_EARLY, "end")


def settle(
    document: Document,
    record: Record,
    document_of: Documents,
    reread: Callable[[], Iterable[Event]],
    signatures: Mapping[int, Signed] | None = None,
    evaluate: Evaluate | None = None,
) -> Scorecard:
    """Purpose: the scorecard with every act on it. ``document_of``: a plan that was in force, by its digest; ``reread``: the whole
    log again; ``signatures``: event of an agreement -> what its signature is worth; ``evaluate``: how runs come out by another
    plan, from their kept outputs.
    """
    acts = known_agains(acts_of(record), document)
    if not acts:
        record.plans = plans_of(record, document_of)
        return score(document, record, earlier=earlier_plans(record, document_of))
    moved = moved_files(record)
    if moved:
        document_of, at_first = where_they_were(document_of, moved)
        document = at_first(document)
    ends = Ends(record, acts, document_of, times_up(record, document_of))
    variants, answers = Variants(record, acts, reread, ends), Answers(evaluate)
    settling = _Settling(document, record, document_of, variants, acts, signatures or {}, answers)
    return settling.scorecard()


class _Settling:
    """One campaign being settled. ``void``: acts without effect, because a consent that is asked for is missing. ``shared``: what
    was scored already, by the acts that it is without. ``spared``: an agreement that is left out of account; ``granted``: acts to
    which every party is taken to agree.
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
        relied = {number for number in self.relied & self.void if not self._is_evaluated(number, frozenset())}
        self.driven_by = sorted((self.steering & self.void) | relied | self._hard_without_effect())
        self.unagreed = sorted({*(unsure & consent.void), *self.driven_by})  # it cannot be undone, nor computed
        self.ended_by = sorted(act.number for act in acts if act.kind in ENDS_EARLY and act.number in consent.void)
        self.withdrawn = _withdrawn(record, self.void)
        idle = self.void | set(self.withdrawn)
        self.weighed = [act for act in acts if act.number not in idle and act.kind != "agree"]
        self.known = [act for act in self.weighed if not act.unknown]
        self.one_sided = frozenset(act.number for act in self.known if consent.missing.get(act.number))
        self.unsure = sorted(number for number in unsure if consent.missing.get(number))
        self.together: dict[
            int, Acts
        ] = {}  # the first of some acts that take something away only together -> all of them

    def scorecard(self) -> Scorecard:
        """Everything: the outcome, by whose word, and each act."""
        self._score_all()
        judged, takes, restricting, outcome = self._come_out()
        scored = tuple(self._act(act, judged, takes, restricting) for act in self.acts)
        known = frozenset(act.number for act in scored if act.without != NOT_KNOWN) & {act.number for act in self.known}
        whole = without_all_words(self._raw(known), len(known), len(self.weighed)) if not self.driven_by else NOT_KNOWN
        settled = replace(
            judged,
            outcome=outcome,
            summary=restricted_summary(judged, outcome, restricting),
            restrictions=(*judged.restrictions, *(restriction_words(act) for act in scored if act.takes)),
            remarks=(*judged.remarks, *self.consent.told, *void_words(scored, self.driven_by)),
            acts=scored,
            without_acts=whole,
            told=self.consent.told,
        )
        others = self._others(outcome, restricting)
        unagreed, names = self._unagreed(restricting), named(self.acts, self.consent.missing)
        if not self._disputed(others, restricting):
            hangs = hangs_words(scored, *self._hangs(scored, restricting)) if outcome == "rejected" else ""
            return replace(settled, summary=settled.summary + hangs + unsure_words(self.unsure, names))
        computed = {act.number for act in self.acts if act.moves_back}
        said = disputed_words(outcome, self._if_agreed(unagreed, outcome), others, unagreed, computed, names)
        hung = {number for groups in others.values() for group in groups for number in group}
        said += unsure_words(sorted({*self.unsure} - {*unagreed} - hung), names)
        return replace(settled, outcome="disputed", undisputed=outcome, summary=said)

    def _come_out(self) -> tuple[Scorecard, dict[int, tuple[str, ...]], set[int], Acceptance]:
        """As it is judged, what each act takes away, the acts that do, and the outcome with these. Amendments by which results came
        are set apart: of those it is known, or not, how it would come out without them.
        """
        judged = self._score(frozenset())[2]
        takes, restricting = self._restricting(judged)
        self._add_turning(takes, restricting)
        outcome = _restricted(judged.outcome, restricting)
        for number in sorted({*self.relied, *self.hard} - self.void):
            gone = frozenset({number})
            if not self._is_sure(gone, self._word_without(gone, restricting), outcome):
                self.known = [act for act in self.known if act.number != number]
                self.one_sided -= gone
                self.unsure = sorted({*self.unsure, *(gone if self.consent.missing.get(number) else ())})
        return judged, takes, restricting, outcome

    def _if_agreed(self, numbers: Sequence[int], outcome: str) -> str:
        """The outcome with every party's consent to acts that have no effect without it."""
        granted = frozenset(numbers) & self.void
        if not granted:
            return outcome
        agreed = self._again(granted=granted)
        return agreed._come_out()[3]

    def _again(self, spared: int = 0, granted: Acts = frozenset()) -> _Settling:
        """The same campaign, without an agreement, or with agreements that nobody gave."""
        one = self
        return _Settling(
            one.document,
            one.record,
            one.document_of,
            one.variants,
            one.acts,
            one.signatures,
            one.answers,
            one.shared,
            spared,
            granted,
        )

    def _is_sure(self, gone: Acts, word: str, outcome: str) -> bool:
        """Whether a word on the campaign without some acts holds, although results came by an easier or a harder plan that is
        among them. Where the kept outputs say how these come out, it does. Verdicts of an easier one flatter, so that only what is
        worse all the same is known; those of a harder one might be better, so that only what comes out the same with all of them
        passed is.
        """
        relied = any(not self._is_evaluated(number, gone) for number in gone & self.relied)
        if relied and _RANKS.get(word, 0) >= _RANKS.get(outcome, 0):
            return False
        return self._raw(gone) == self._at_best(gone, gone & self.hard.keys())

    def _is_evaluated(self, number: int, gone: Acts) -> bool:
        """Whether kept outputs say how all that came by an easier plan comes out without some acts."""
        runs = self.by_outputs[number]
        return runs is not None and runs <= self._score(gone)[4]

    def _hard_without_effect(self) -> set[int]:
        """The amendments without effect by whose harder plan verdicts came, where the outcome hangs on these."""
        found = self.void & self.hard.keys()
        return set(found) if self._raw(frozenset()) != self._at_best(frozenset(), found) else set()

    def _at_best(self, gone: Acts, hard: Acts) -> str:
        """The outcome without some acts, where all that came by the harder plans of ``hard`` passed."""
        runs = {run for number in hard for run in self.hard[number]}
        if not runs:
            return self._raw(gone)
        gone |= self.void
        document, record = self._record(gone)
        at_best(record, runs, self.plans)
        return self._judged(document, record, gone)[0].outcome

    def word(self) -> str:
        """The outcome alone."""
        _, _, restricting, outcome = self._come_out()
        return DISPUTED if self._disputed(self._others(outcome, restricting), restricting) else outcome

    def _disputed(self, others: Others, restricting: Collection[int]) -> bool:
        """It would come out otherwise, or a consent is missing to something whose effect nobody knows."""
        return bool(others or (self._unagreed(restricting) and self._over()))

    def _over(self) -> bool:
        """Whether nothing is left to do; what has no effect takes up no work again."""
        return self._score(frozenset())[2].finished

    def _unagreed(self, restricting: Collection[int]) -> list[int]:
        """Consent is asked for and missing, and what was done cannot be undone; an end that took nothing has done nothing."""
        return sorted({*self.unagreed, *(number for number in self.ended_by if number in restricting)})

    def _restricting(self, judged: Scorecard) -> tuple[dict[int, tuple[str, ...]], set[int]]:
        """What each act takes away, and the acts that take anything."""
        takes = {act.number: self._takes(act, judged) for act in self.weighed}
        idle = [act.number for act in self.known if not takes[act.number] and self._can_take(act)]
        heavy = self.variants.heavy(idle)
        light = [number for number in idle if number not in heavy]
        about = {number: self._about(number) for number in idle}
        groups = taken_together(
            light, self._lost, since_each(light, about)
        )  # first those for which the log is not read again
        rest = self._left(idle, groups)
        groups |= taken_together(rest, self._lost, self._heavy_parts(rest, about)) if heavy else {}
        for group, lines in groups.items():
            takes[min(group)], self.together[min(group)] = lines, group
        told = {act.number for act in self.known if takes[act.number]}.union(*groups)
        left = [number for number in self._left(idle, groups) if self.by_number[number].kind not in ENDS_EARLY]
        for mine, beside, lines in taken_beside(left, frozenset(told), self._lost_beside):
            takes[min(mine)], self.together[min(mine)] = lines, mine | beside
        for first, line in self._hidden(sorted(told)):
            takes[first] += (line,)
        return takes, {number for number, lines in takes.items() if lines}

    def _left(self, numbers: Sequence[int], groups: Iterable[Acts]) -> list[int]:
        grouped = frozenset[int]().union(*groups)
        return [number for number in numbers if number not in grouped]

    def _heavy_parts(
        self, numbers: Sequence[int], about: Mapping[int, tuple[str, frozenset[str]]]
    ) -> list[tuple[int, ...]]:
        """Parts of acts for which the log is read again, the first ones of so many; it is read once for several of them."""
        parts = [part for part in since_each(numbers, about) if self.variants.heavy(part)]
        parts = list(dict.fromkeys(parts))[:_MOST_PARTS]
        self._score_each([frozenset(part) for part in parts])
        return parts

    def _hidden(self, told: Sequence[int]) -> Iterator[tuple[int, str]]:
        """What acts take away together, each of which takes something else alone: the first of them, and runs, in words."""
        able = [number for number in told if self._can_take(self.by_number[number])]
        if len(able) < 2:
            return
        alone = [self._runs_lost(frozenset({number})) for number in able]
        hidden = self._runs_lost(frozenset(able)).difference(*alone)
        hidden = hidden.difference(*(self._runs_lost(group) for group in self.together.values()))
        while hidden:
            group = frozenset(least(tuple(able), partial(self._runs_lost, of=hidden)))
            runs = self._runs_lost(group) & hidden
            others = some([str(number) for number in sorted(group)[1:]], _MOST_TRIED)
            yield (
                min(group),
                f"{plural(len(runs), 'run')} more together with event{'s' if len(group) > 2 else ''} {others}",
            )
            hidden -= runs

    def _runs_lost(self, gone: Acts, of: Collection[str] | None = None) -> frozenset[str]:
        """The runs that count without some acts and do not with them. ``of``: only these."""
        now, without = self._score(frozenset())[3], self._score(gone)[3]
        found = (run for name, runs in without.items() for run in runs - now.get(name, frozenset()))
        return frozenset(run for run in found if of is None or run in of)

    def _add_turning(self, takes: dict[int, tuple[str, ...]], restricting: set[int]) -> None:
        """Acts by which *not met* becomes *met*, alone or together, of which no other rule knows what they take away."""
        idle = [act.number for act in self.known if act.number not in restricting and act.kind not in _TURNS_NOTHING]
        alone = {number: self._turned(frozenset({number})) for number in idle}
        takes |= {number: lines for number, lines in alone.items() if lines}
        left = [number for number in idle if not alone[number]]
        for group, lines in taken_together(left, self._turned).items():
            takes[min(group)], self.together[min(group)] = lines, group
        restricting |= {number for number in idle if takes[number]}

    def _turned(self, numbers: Acts, gone: Acts = frozenset()) -> tuple[str, ...]:
        """What is met with these acts and not met without them. What one party alone did before, of the same kind, is nobody's to
        lose: an act that only takes that back turns nothing. ``gone``: acts that are left out of account.
        """
        now, families = self._score(gone)[2], {self._family(number) for number in numbers}
        found = turned(now, self._score(gone | numbers)[2])
        before = {one for one in self.one_sided if one < max(numbers) and self._family(one) in families}
        if not found or before <= gone | numbers:
            return found
        still = turned(now, self._score(gone | numbers | before)[2])
        return tuple(what for what in found if what in still)

    def _turns(self, act: Act, gone: Acts) -> bool:
        able = act.kind not in _TURNS_NOTHING and not act.unknown
        return able and bool(self._turned(frozenset({act.number}), gone))

    def _family(self, number: int) -> str:
        kind = self.by_number[number].kind
        return _FAMILIES.get(kind, kind)

    def _wanted(self) -> list[Acts]:
        """The sets of acts whose absence is asked about."""
        each = [frozenset({act.number}) for act in self.weighed if not moves_nothing(act)]
        all_known = frozenset(act.number for act in self.known)
        able = frozenset(act.number for act in self.known if self._can_take(act))
        sides = [frozenset(act.number for act in self.known if act.number in self.one_sided and self._side(act) == side)
                 for side in {self._side(act) for act in self.known}]  # fmt: skip
        alike = self._alike(sorted(self.one_sided))
        return list(dict.fromkeys([frozenset(), *each, *alike, able, all_known, self.one_sided, *sides]))

    def _score_all(self) -> None:
        """Everything that is asked about."""
        self._score_each(self._wanted())

    def _score_each(self, sets: Iterable[Acts]) -> None:
        """The campaign without each of these sets of acts, some records at a time."""
        groups: dict[Acts, list[Acts]] = {}
        for wanted in (one for one in sets if one | self.void not in self.shared):
            groups.setdefault(self.variants.heavy(wanted | self.void), []).append(wanted)
        heavy = list(groups)
        for place in range(0, len(heavy), _AT_ONCE):
            mine = heavy[place : place + _AT_ONCE]
            self.variants.prepare(mine)
            for wanted in (one for some_acts in mine for one in groups[some_acts]):
                self._score(wanted)
            self.variants.forget()

    def _side(self, act: Act) -> str:
        return self.consent.party.get(act.number, "")

    # ---- scores ------------------------------------------------------------------------------------------------------------

    def _score(self, numbers: Acts) -> Scored:
        """The campaign without these acts, beside those without effect."""
        gone = numbers | self.void
        if gone not in self.shared:
            document, record = self._record(gone)
            judged, counted = self._judged(document, record, gone)
            self.shared[gone] = (document, clocks_of(document, record), judged, counted, record.evaluated)
        return self.shared[gone]

    def _record(self, gone: Acts) -> tuple[Document, Record]:
        """The plan and the record without these acts. It is this record itself where there are none."""
        record = self._idle_kept(self.variants.without(gone)) if gone else self.record
        if gone and self.times:
            leave_out_late(record, self.times, self.document_of)
        if gone:
            beyond.hold_to(record, self.record, self.document_of, self.answers)
        same = record.document == self.record.document or not record.document
        return self.document if same else self.document_of(record.document), record

    def _idle_kept(self, record: Record) -> Record:
        """Hours in which nothing ran before an amendment took a component up again are none of its time without it either."""
        there = {row.seq for row in record.standing}
        idle = [row for row in self.record.standing if row.kind == "amended" and row.seq not in there]
        record.standing = sorted([*record.standing, *idle], key=lambda row: row.seq) if idle else record.standing
        return record

    def _judged(self, document: Document, record: Record, gone: Collection[int]) -> tuple[Scorecard, Counted]:
        """Without what ended a campaign early it is over only where nothing is left to come, or nothing that is can mend it."""
        record.plans = plans_of(record, self.document_of)
        earlier, brief = earlier_plans(record, self.document_of), gone != self.void
        people = populations(document, record)
        amended = [epoch.seq for epoch in record.epochs if epoch.opened_by == "amended"]
        alone = frozenset(place for place, seq in enumerate(amended, 1) if self.consent.missing.get(seq))
        scorecard = score_people(document, record, people, earlier, brief, alone)
        early = any(act.kind in ENDS_EARLY and act.number in gone for act in self.acts)
        early = early and self.record.ended is not None
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

    def _raw(self, numbers: Acts) -> str:
        return self._score(numbers)[2].outcome

    def _takes(self, act: Act, judged: Scorecard, gone: Acts = frozenset()) -> tuple[str, ...]:
        """``gone``: acts that are left out of account."""
        if not self._can_take(act):
            return ()
        document, clocks, without, counted, _ = self._score(gone | {act.number})
        base_document, base_clocks, _, base_counted, _ = self._score(gone)
        moved = (base_clocks, clocks) if act.kind in MOVES_CLOCKS else None
        step = (*self.steps.of(act, gone), self.steps.stood_by(act, gone)) if act.kind == "amend" else None
        relied = step is not None and self.steps.is_relied_on(act, gone)
        runs = base_counted, counted
        documents, held, beside = (base_document, document), act.unknown, bool(gone)
        lines = taken(act.kind, judged, without, documents, runs, moved, step, relied, held, beside)
        return (*lines, *values_replaced(act, self.record, base_counted)) if act.kind == "rejudge" else lines

    def _can_take(self, act: Act) -> bool:
        """Whether runs, time or values may be lost by an act. A waiver restricts by itself."""
        return (act.kind not in NO_ROWS or act.anew) and act.kind not in ("waive", "withdraw")

    def _lost(self, numbers: Acts, gone: Acts = frozenset()) -> tuple[str, ...]:
        """What several acts take away together, whichever of them does. ``gone``: acts that are left out of account."""
        document, clocks, without, counted, _ = self._score(gone | numbers)
        base_document, base_clocks, judged, base_counted, _ = self._score(gone)
        documents, runs, moved = (base_document, document), (base_counted, counted), (base_clocks, clocks)
        lines: list[str] = []
        for kind in sorted({self.by_number[number].kind for number in numbers}):
            its = moved if kind in MOVES_CLOCKS else None
            lines += taken(kind, judged, without, documents, runs, its, beside=bool(gone))
        return tuple(dict.fromkeys(lines))

    def _lost_beside(self, numbers: Acts, gone: Acts) -> tuple[str, ...]:
        """What several acts take away where others are left out of account, and what does not count as it is either."""
        document, clocks, without, counted, _ = self._score(gone | numbers)
        base_document, base_clocks, judged, base_counted, _ = self._score(gone)
        _, clocks_now, now, counted_now, _ = self._score(frozenset())
        both = {name: base_counted.get(name, frozenset()) | counted_now.get(name, frozenset()) for name in counted}
        documents, lines = (base_document, document), list[str]()
        for kind in sorted({self.by_number[number].kind for number in numbers}):
            moves = kind in MOVES_CLOCKS
            as_it_is = taken(kind, now, without, documents, (both, counted), (clocks_now, clocks) if moves else None)
            moved = (base_clocks, clocks) if moves else None
            told = taken(kind, judged, without, documents, (both, counted), moved, beside=True)
            lines += told if as_it_is else ()
        return tuple(dict.fromkeys(lines))

    # ---- acts --------------------------------------------------------------------------------------------------------------

    def _act(
        self, act: Act, judged: Scorecard, takes: Mapping[int, tuple[str, ...]], restricting: set[int]
    ) -> ActScore:
        number = act.number
        without, difference = self._without(act, judged, restricting)
        return ActScore(
            number=number,
            kind=act.kind,
            what=act.what,
            by=act.by,
            said=act.said,
            because=act.because,
            without=without,
            component=act.component,
            as_of=act.as_of,
            backdated=act.backdated,
            difference=difference,
            takes=takes.get(number, ()),
            together=tuple(sorted(self.together.get(number, ()))),
            party=self._side(act),
            standing=self._standing(act),
            agreed=tuple(agreement_words(said) for said in self.consent.agreed.get(number, ()))
            or self.consent.worth(number),
            missing=self.consent.missing.get(number, ()),
            withdrawn_by=self.withdrawn.get(number, 0),
            digest=act.digest,
            differs=self._differs(act, without, _restricted(judged.outcome, restricting), restricting),
        )

    def _differs(self, act: Act, without: str, outcome: str, restricting: set[int]) -> bool:
        if act.kind == "agree":
            others = self._others(outcome, restricting)
            return without != (DISPUTED if self._disputed(others, restricting) else outcome)
        return without not in (NOT_KNOWN, outcome)

    def _standing(self, act: Act) -> str:
        if act.number in self.withdrawn:
            return WITHDRAWN
        if act.number in self.void:
            return NO_EFFECT
        if act.number not in self.consent.missing:
            return ""
        return ONE_SIDED if self.consent.missing[act.number] else AGREED

    def _without(self, act: Act, judged: Scorecard, restricting: set[int]) -> tuple[str, tuple[str, ...]]:
        """The outcome without the act, and what comes out otherwise."""
        now = _restricted(judged.outcome, restricting)
        if act.number in self.driven_by:
            return NOT_KNOWN, ()
        if act.number in self.void or act.number in self.withdrawn:
            return now, ()
        if act.kind == "agree":
            return self._again(spared=act.number).word(), ()
        if act.unknown:
            return NOT_KNOWN, ()
        gone = frozenset({act.number})
        word = self._word_without(gone, restricting)
        if not self._is_sure(gone, word, now):
            return NOT_KNOWN, ()
        word = NOT_KNOWN if act.number in self.steering and word == now else word
        return word, tuple(differences(judged, self._score(gone)[2]))

    def _word_without(self, gone: Acts, restricting: set[int]) -> str:
        """The outcome without these acts. What they covered may take something away again."""
        judged = self._score(gone)[2]
        if judged.outcome != "accepted" or restricting - gone:
            return _restricted(judged.outcome, restricting - gone)
        covered = (act for act in self.weighed if act.number not in gone and any(self._covers(n, act) for n in gone))
        if any(self._takes(act, judged, gone) or self._turns(act, gone) for act in covered):
            return "accepted with restrictions"
        left = [group - gone for group in self.together.values() if group & gone]
        if any(self._lost(rest, gone) for rest in left if rest):
            return "accepted with restrictions"
        rest = frozenset(act.number for act in self.known if act.number not in gone and self._can_take(act))
        return _restricted("accepted", [*rest][:1] if len(rest) > 1 and self._lost(rest, gone) else ())

    def _about(self, number: int) -> tuple[str, frozenset[str]]:
        """The kind of an act, and what it is about: the runs that it rules, or its kind."""
        kind = self.by_number[number].kind
        family = _FAMILIES.get(kind, kind)
        return family, frozenset(self.ruled.get(number) or {family})

    def _covers(self, number: int, act: Act) -> bool:
        """Whether one act may change what another one comes to: words on the same runs, clocks, ends, procedures."""
        other = self.by_number[number]
        if _FAMILIES.get(other.kind, other.kind) != _FAMILIES.get(act.kind, act.kind):
            return False
        runs, others = self.ruled.get(act.number), self.ruled.get(number)
        return not runs or not others or bool(runs & others)

    # ---- whose word it hangs on --------------------------------------------------------------------------------------------

    def _others(self, outcome: str, restricting: set[int]) -> Others:
        """How it would come out without what one party alone did: other outcomes, each with the acts that stand in its way; where
        several stand there together, a group.

        While a campaign goes on all is incomplete; where it only goes on by such an act, it would be over without it.
        """
        found: dict[str, list[Sequence[int]]] = {}
        if not self.one_sided:
            return found
        over = self._over()
        for gone in self._subsets():
            word = self._word_without(gone, restricting)
            if word == outcome or not (over or word != "incomplete") or not self._is_sure(gone, word, outcome):
                continue
            known = found.setdefault(word, [])
            if not any(gone.issuperset(group) for group in known):  # else fewer of them do it
                known.append(sorted(self._least(gone, word, restricting)))
        for number, agreed in self._in_their_place():
            gone = agreed | {number}
            word = self._word_without(gone, restricting)
            known = found.get(word, [])
            if word == outcome or not (over or word != "incomplete") or any(gone.issuperset(group) for group in known):
                continue
            if self._is_sure(gone, word, outcome):
                found.setdefault(word, []).append(sorted({number} | self._least(gone, word, restricting)))
        return found

    def _in_their_place(self) -> Iterator[tuple[int, Acts]]:
        """One-sided acts by which runs of a case count, each with the agreed acts that took other runs of the same case away: who
        agreed that a case is left out has not agreed to what is counted in its place.
        """
        agreed = {act.number for act in self.known if self.consent.missing.get(act.number) == ()}
        for number in sorted(self.one_sided):
            act = self.by_number[number]
            its = (
                frozenset(one for one in agreed if self._covers(one, act)) if act.kind in MOVES_CLOCKS else frozenset()
            )
            counted = self._cases(frozenset(), frozenset({number})) if its else frozenset()
            if counted and counted & self._cases(its | {number}, frozenset()):
                yield number, its

    def _cases(self, gone: Acts, other: Acts) -> frozenset[tuple[str, str]]:
        """(component, case) of the runs that count without the acts ``gone``, and do not without ``other``."""
        more, less = self._score(gone)[3], self._score(other)[3]
        runs = {run for name, mine in more.items() for run in mine - less.get(name, frozenset())}
        return frozenset((row.component, row.case) for row in self.record.runs if row.run in runs)

    def _hangs(self, scored: Sequence[ActScore], restricting: set[int]) -> tuple[Acts, str]:
        """Acts without which a rejected campaign would not be rejected, where it would be without each of them alone."""
        if any(act.differs for act in scored):
            return frozenset(), ""
        known = frozenset(act.number for act in scored if act.without != NOT_KNOWN) & {act.number for act in self.known}
        for gone in dict.fromkeys([*self._alike(sorted(known)), known]):
            word = self._word_without(gone, restricting) if len(gone) > 1 else "rejected"
            if word != "rejected" and self._is_sure(gone, word, "rejected"):
                return self._least(gone, word, restricting), word
        return frozenset(), ""

    def _least(self, gone: Acts, word: str, restricting: set[int]) -> Acts:
        """Of acts without which it comes out otherwise, those that are needed for it."""
        for number in sorted(gone) if 1 < len(gone) <= _MOST_TRIED else ():
            if len(gone) > 1 and self._word_without(gone - {number}, restricting) == word:
                gone = gone - {number}
        return gone

    def _subsets(self) -> list[Acts]:
        """Each one-sided act, those that may cover each other, all of them, and all of each side: acts of two sides may hide each
        other.
        """
        sides: dict[str, set[int]] = {}
        for act in self.known:
            if act.number in self.one_sided:
                sides.setdefault(self._side(act), set()).add(act.number)
        each = [frozenset({number}) for number in sorted(self.one_sided)]
        alike = self._alike(sorted(self.one_sided))
        return list(dict.fromkeys([*each, *alike, self.one_sided, *(frozenset(side) for side in sides.values())]))

    def _alike(self, numbers: Sequence[int]) -> list[Acts]:
        """Of some acts, for each those that may cover what it comes to, and itself."""
        return [
            frozenset(one for one in numbers if one == number or self._covers(number, self.by_number[one]))
            for number in numbers
        ]


def earlier_plans(record: Record, document_of: Documents) -> tuple[Document, ...]:
    """Purpose: the plans that were in force, without the last one. Errors: those of ``document_of``, where one is missing."""
    return tuple(document_of(digest) for digest in record.documents[:-1] if digest)


def plans_of(record: Record, document_of: Documents) -> dict[str, Document]:
    """Purpose: every plan that was in force, by its digest. Errors: those of ``document_of``, where one is missing."""
    return {digest: document_of(digest) for digest in record.documents if digest}


def _withdrawn(record: Record, void: Collection[int]) -> dict[int, int]:
    """What was taken back -> the act that took it back; one without effect took nothing back."""
    found: dict[int, int] = {}
    for row in record.acts:
        numbers = row.value.get("events")
        if row.kind == "withdraw" and row.seq not in void and isinstance(numbers, list):
            for number in numbers:
                found.setdefault(number, row.seq)
    return found


def _restricted(outcome: str, restricting: Collection[int]) -> Acceptance:
    found: Acceptance = "accepted with restrictions" if outcome == "accepted" and restricting else outcome  # type: ignore[assignment]
    return found
