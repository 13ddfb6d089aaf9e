"""The outcome of a campaign with everything that people did, without each of their acts, and who agreed to them: ``settle``.

A pure function of the events and the frozen plans; the caller passes in the results of signature checks. Without acts of people
the result is the scorecard itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from shakedown.metrics.judging.closed import sealed_record, until, with_later, with_reopening
from shakedown.metrics.judging.consent import Signed, weigh
from shakedown.metrics.judging.covering import least, since_each, taken_beside, taken_together
from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.ends import Ends
from shakedown.metrics.judging.from_outputs import Answers, Evaluate
from shakedown.metrics.judging.in_turn import Turns, in_turn
from shakedown.metrics.judging.late_orders import times_up
from shakedown.metrics.judging.moved_files import moved_files, where_they_were
from shakedown.metrics.judging.people import ENDS_EARLY, Act, acts_of, known_agains
from shakedown.metrics.judging.put_back import as_it_ended
from shakedown.metrics.judging.quiet import without_effect
from shakedown.metrics.judging.scorecard import NOT_KNOWN, Acceptance, ActScore, Scorecard
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
    late_acts_words,
    named,
    restricted_summary,
    restriction_words,
    unread_words,
    unsure_words,
    void_words,
    without_all_words,
)
from shakedown.metrics.judging.taken import MOVES_CLOCKS
from shakedown.metrics.judging.what_if import TURNS_NOTHING, Documents, WhatIf, earlier_plans, plans_of, restricted
from shakedown.metrics.judging.without import Acts, Variants, moves_nothing
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import plural, some
from shakedown.model.events import Event
from shakedown.model.nouns import Document

DISPUTED = "disputed"

_MOST_PARTS = 64  # the most questions about acts that cover each other for which the log is read again
_MOST_TRIED = 12  # the largest group of acts that are left out one by one, to find those that matter


def settle(
    document: Document,
    record: Record,
    document_of: Documents,
    reread: Callable[[], Iterable[Event]],
    signatures: Mapping[int, Signed] | None = None,
    evaluate: Evaluate | None = None,
) -> Scorecard:
    """Purpose: the scorecard, including every act of people. ``document_of``: a plan that was in force, by its digest; ``reread``:
    reads the whole log again; ``signatures``: event of an agreement -> the result of checking its signature; ``evaluate``: gives
    verdicts under another plan, from kept outputs.
    """
    acts = without_effect(known_agains(acts_of(record), document), record)
    if not acts:
        record.plans = plans_of(record, document_of)
        return score(document, record, earlier=earlier_plans(record, document_of))
    consent = weigh(record, acts, document_of, signatures or {})
    before = sealed_record(record, consent, reread)
    if before is None:
        card = _settle_all(document, record, document_of, reread, signatures or {}, acts, evaluate)
        return with_reopening(card, consent)
    plan, known = document_of(before.document), without_effect(known_agains(acts_of(before), document), before)
    again = partial(until, consent.closed)
    card = _settle_all(plan, before, document_of, lambda: again(reread()), signatures or {}, known, evaluate)
    return with_later(card, acts, consent, before, record)


def _settle_all(
    document: Document,
    record: Record,
    document_of: Documents,
    reread: Callable[[], Iterable[Event]],
    signatures: Mapping[int, Signed],
    acts: tuple[Act, ...],
    evaluate: Evaluate | None,
) -> Scorecard:
    """The whole of a record, whatever every party agreed to."""
    moved = moved_files(record)
    if moved:
        document_of, at_first = where_they_were(document_of, moved)
        document = at_first(document)
    record.plans = plans_of(record, document_of)
    record = as_it_ended(document, record)
    ends = Ends(record, acts, document_of, times_up(record, document_of))
    variants, answers = Variants(record, acts, reread, ends), Answers(evaluate)
    settling = _Settling(document, record, document_of, variants, acts, signatures, answers)
    return settling.scorecard()


class _Settling(WhatIf):
    """The settlement of one campaign."""

    def scorecard(self) -> Scorecard:
        """The complete scorecard: the outcome, who agreed to it, and each act."""
        self._score_all()
        judged, takes, restricting, outcome = self._come_out()
        scored = tuple(self._act(act, judged, takes, restricting) for act in self.acts)
        known = frozenset(act.number for act in scored if act.without != NOT_KNOWN) & {act.number for act in self.known}
        whole, others = self._without_all(known, restricting, outcome), self._others(outcome, restricting)
        settled = replace(
            judged,
            outcome=outcome,
            summary=restricted_summary(judged, outcome, restricting)
            + late_acts_words(self.after_the_seal(), self.consent.closed),
            restrictions=(*judged.restrictions, *(restriction_words(act) for act in scored if act.takes)),
            remarks=(
                *judged.remarks,
                *self.consent.told,
                *void_words(scored, self.driven_by),
                *unread_words(scored, self.not_readable),
            ),
            acts=scored,
            without_acts=whole,
            told=self.consent.told,
        )
        unagreed, names = self._unagreed(restricting), named(self.acts, self.consent.missing)
        if not self._disputed(others, restricting):
            told = [act for act in scored if not self._only_takes_back(act.number, outcome, restricting)]
            hangs = hangs_words(told, *self._hangs(scored, restricting)) if outcome == "rejected" else ""
            return replace(settled, summary=settled.summary + hangs + unsure_words(self.unsure, names))
        computed = {act.number for act in self.acts if act.moves_back}
        lost = self._unread_alone(others)
        turns = self._in_turn(others, outcome, restricting)
        agreed = self._if_agreed(unagreed, outcome)
        said = disputed_words(outcome, agreed, others, unagreed, computed, names, lost, turns)
        hung = {number for groups in others.values() for group in groups for number in group}
        hung = hung.union(*(turn.acts for turn in turns.values()))
        said += unsure_words(sorted({*self.unsure} - {*unagreed} - hung - lost.keys()), names)
        return replace(settled, outcome="disputed", undisputed=outcome, summary=said)

    def _without_all(self, known: Acts, restricting: Collection[int], outcome: str) -> str:
        """The outcome without all acts whose effect can be computed; acts that some of them took back do not count either. It is
        restricted by what the remaining acts take away. Acts with unknown single effects may be known together, if one reverts
        another.
        """
        if self.driven_by:
            return NOT_KNOWN
        every, gone = frozenset(act.number for act in self.weighed).union(self.withdrawn), known.union(self.withdrawn)
        together = every - gone <= {*self.relied, *self.hard} - self.steering
        if every == gone or (together and self.is_sure(every, self.raw(every), outcome)):
            return self.raw(every)
        return without_all_words(self.word_without(gone, restricting), len(known), len(self.weighed))

    def _come_out(self) -> tuple[Scorecard, dict[int, tuple[str, ...]], set[int], Acceptance]:
        """(scorecard, what each act takes away, the acts that take something, the outcome with these). Amendments that results
        depend on are handled separately: the outcome without them may be unknown.
        """
        judged = self.score(frozenset())[2]
        takes, restricting = self._restricting(judged)
        self._add_turning(takes, restricting)
        outcome = restricted(judged.outcome, restricting)
        for number in sorted({*self.relied, *self.hard} - self.void):
            gone = frozenset({number})
            word = self.word_without(gone, restricting)
            if not self.is_sure(gone, word, outcome):
                self.not_readable |= self.unread(gone, word)
                self.known = [act for act in self.known if act.number != number]
                self.one_sided -= gone
                alone = self.consent.missing.get(number) and not self._puts_back(number, outcome, restricting)
                self.unsure = sorted({*self.unsure, *(gone if alone else ())})
        return judged, takes, restricting, outcome

    def _puts_back(self, number: int, outcome: str, restricting: Collection[int]) -> bool:
        """Whether an act only takes back an earlier one-sided act of its own side, and the outcome without both is known to be the
        same.
        """
        own = self._own_words(number)
        word = self.word_without(own | {number}, restricting) if own else ""
        return word == outcome and self.is_sure(own | {number}, word, outcome)

    def _if_agreed(self, numbers: Sequence[int], outcome: str) -> str:
        """The outcome if every party agreed to the acts that have no effect without consent."""
        granted = frozenset(numbers) & self.void
        if not granted:
            return outcome
        agreed = self._again(granted=granted)
        return agreed._come_out()[3]

    def _again(self, spared: int = 0, granted: Acts = frozenset()) -> _Settling:
        """The settlement of the same campaign without one agreement, or with agreements that nobody gave."""
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

    def word(self) -> str:
        """The outcome only, as a word."""
        _, _, restricting, outcome = self._come_out()
        return DISPUTED if self._disputed(self._others(outcome, restricting), restricting) else outcome

    def _disputed(self, others: Others, restricting: Collection[int]) -> bool:
        """Whether the outcome is disputed: it would differ without one-sided acts, or consent is missing to an act whose effect is
        unknown or depends on outputs that can no longer be read.
        """
        return bool(others or ((self._unagreed(restricting) or self._unread_alone(others)) and self._over()))

    def _unread_alone(self, others: Others) -> dict[int, frozenset[str]]:
        """One-sided act whose effect only kept outputs would show that can no longer be read -> the runs of these outputs."""
        known = {number for groups in others.values() for group in groups for number in group}
        mine = (number for number in self.not_readable if self.consent.missing.get(number) and number not in known)
        return {number: self.not_readable[number] for number in sorted(mine)}

    def _over(self) -> bool:
        """Whether nothing is left to do in the campaign as judged; acts without effect resume no work."""
        return self.score(frozenset())[2].finished

    def _unagreed(self, restricting: Collection[int]) -> list[int]:
        """The acts without a required consent that cannot be undone; drains and cancellations only if they took something away."""
        return sorted({*self.unagreed, *(number for number in self.ended_by if number in restricting)})

    def _restricting(self, judged: Scorecard) -> tuple[dict[int, tuple[str, ...]], set[int]]:
        """What each act takes away, and the acts that take anything."""
        takes = {act.number: self.takes(act, judged) for act in self.weighed}
        idle = [act.number for act in self.known if not takes[act.number] and self.can_take(act)]
        heavy = self.variants.heavy(idle)
        light = [number for number in idle if number not in heavy]
        about = {number: self.about(number) for number in idle}
        groups = taken_together(
            light, self.lost, since_each(light, about)
        )  # first those for which the log is not read again
        rest = self._left(idle, groups)
        groups |= taken_together(rest, self.lost, self._heavy_parts(rest, about)) if heavy else {}
        for group, lines in groups.items():
            takes[min(group)], self.together[min(group)] = lines, group
        told = {act.number for act in self.known if takes[act.number]}.union(*groups)
        left = [number for number in self._left(idle, groups) if self.by_number[number].kind not in ENDS_EARLY]
        for mine, beside, lines in taken_beside(left, frozenset(told), self.lost_beside):
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
        """The first ``_MOST_PARTS`` sets of acts for which the log must be read again; it is read once for several of them."""
        parts = [part for part in since_each(numbers, about) if self.variants.heavy(part)]
        parts = list(dict.fromkeys(parts))[:_MOST_PARTS]
        self.score_each([frozenset(part) for part in parts])
        return parts

    def _hidden(self, told: Sequence[int]) -> Iterator[tuple[int, str]]:
        """(first act, phrase) for runs that several acts take away only together, although each of them also takes something else
        alone.
        """
        able = [number for number in told if self.can_take(self.by_number[number])]
        if len(able) < 2:
            return
        alone = [self.runs_lost(frozenset({number})) for number in able]
        hidden = self.runs_lost(frozenset(able)).difference(*alone)
        hidden = hidden.difference(*(self.runs_lost(group) for group in self.together.values()))
        while hidden:
            group = frozenset(least(tuple(able), partial(self.runs_lost, of=hidden)))
            runs = self.runs_lost(group) & hidden
            others = some([str(number) for number in sorted(group)[1:]], _MOST_TRIED)
            yield (
                min(group),
                f"{plural(len(runs), 'run')} more together with event{'s' if len(group) > 2 else ''} {others}",
            )
            hidden -= runs

    def _add_turning(self, takes: dict[int, tuple[str, ...]], restricting: set[int]) -> None:
        """Add acts that turn *not met* into *met*, alone or together, and that no other rule reports."""
        idle = [act.number for act in self.known if act.number not in restricting and act.kind not in TURNS_NOTHING]
        alone = {number: self.turned(frozenset({number})) for number in idle}
        takes |= {number: lines for number, lines in alone.items() if lines}
        left = [number for number in idle if not alone[number]]
        for group, lines in taken_together(left, self.turned).items():
            takes[min(group)], self.together[min(group)] = lines, group
        restricting |= {number for number in idle if takes[number]}

    def _wanted(self) -> list[Acts]:
        """The sets of acts for which the outcome without them is needed."""
        each = [frozenset({act.number}) for act in self.weighed if not moves_nothing(act)]
        all_known = frozenset(act.number for act in self.known)
        able = frozenset(act.number for act in self.known if self.can_take(act))
        sides = [frozenset(act.number for act in self.known if act.number in self.one_sided and self.side(act) == side)
                 for side in {self.side(act) for act in self.known}]  # fmt: skip
        alike = self._alike(sorted(self.one_sided))
        back = [frozenset({number, *some}) for number, more in self.taken_back.items() for some in (*zip(more), more)]
        return list(dict.fromkeys([frozenset(), *each, *alike, able, all_known, self.one_sided, *sides, *back]))

    def _score_all(self) -> None:
        """Score the campaign without each of these sets."""
        self.score_each(self._wanted())

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
            party=self.side(act),
            standing=self._standing(act),
            agreed=tuple(agreement_words(said) for said in self.consent.agreed.get(number, ()))
            or self.consent.worth(number),
            missing=self.consent.missing.get(number, ()),
            withdrawn_by=self.withdrawn.get(number, 0),
            digest=act.digest,
            differs=self._differs(act, without, restricted(judged.outcome, restricting), restricting),
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
        """The outcome without the act, and the criteria and rows that change."""
        now = restricted(judged.outcome, restricting)
        if act.number in self.driven_by:
            return NOT_KNOWN, ()
        if act.number in self.void or act.number in self.withdrawn:
            return now, ()
        if act.kind == "agree":
            return self._again(spared=act.number).word(), ()
        if act.unknown:
            return NOT_KNOWN, ()
        gone = frozenset({act.number})
        word = self.word_without(gone, restricting)
        if not self.is_sure(gone, word, now):
            return NOT_KNOWN, ()
        word = NOT_KNOWN if act.number in self.steering and (word == now or self.flatters(gone, word, now)) else word
        return word, tuple(differences(judged, self.score(gone)[2]))

    # ---- whose word it hangs on --------------------------------------------------------------------------------------------

    def _others(self, outcome: str, restricting: set[int]) -> Others:
        """The other outcomes without one-sided acts, each with the acts, or groups of acts, that must not count for it.

        While a campaign goes on, every outcome is incomplete; if only such an act keeps it going, it would be over without the act.
        """
        found: dict[str, list[Sequence[int]]] = {}
        if not self.one_sided:
            return found
        over = self._over()
        for gone in self._subsets():
            word = self.word_without(gone, restricting)
            if not self.is_sure(gone, word, outcome):
                self.not_readable |= self.unread(gone, word)
                continue
            if word == outcome or not (over or word != "incomplete"):
                continue
            known = found.setdefault(word, [])
            if not any(gone.issuperset(group) for group in known):  # else fewer of them do it
                known.append(sorted(self._least(gone, word, restricting)))
        for number, agreed in self._in_their_place():
            gone = agreed | {number}
            word = self.word_without(gone, restricting)
            known = found.get(word, [])
            if word == outcome or not (over or word != "incomplete") or any(gone.issuperset(group) for group in known):
                continue
            if self.is_sure(gone, word, outcome):
                found.setdefault(word, []).append(sorted({number} | self._least(gone, word, restricting)))
        return found

    def _in_turn(self, others: Others, outcome: str, restricting: Collection[int]) -> Turns:
        """For each group of acts, the other one-sided acts on which the outcome depends if the group does not count; acts on the
        same matter are tried first.
        """
        alone = self.one_sided | {number for number in self.withdrawn if self.consent.missing.get(number)}
        named = {number for groups in others.values() for group in groups for number in group}
        left = sorted(alone - named)
        own = {number: self._own_words(number) for number in left}

        def word_without(gone: Acts) -> str | None:
            gone = gone.union(*(own.get(number, ()) for number in gone))
            word = self.word_without(gone, restricting)
            return word if self.is_sure(gone, word, outcome) else None

        found = {}
        for word, groups in others.items():
            for group in groups:
                acts = [self.by_number[number] for number in group]
                said = frozenset[int]().union(*(self.replaced.by(act, left) for act in acts))
                near = sorted(left, key=lambda one: not any(self.covers(one, act) for act in acts))
                mine = {self.side(act) for act in acts}
                contrary = frozenset(one for one in said if self.side(self.by_number[one]) not in mine)
                found[tuple(group)] = in_turn(frozenset(group), word, near[:_MOST_TRIED], contrary, word_without)
        return found

    def _in_their_place(self) -> Iterator[tuple[int, Acts]]:
        """One-sided acts that make runs of a case count, each with the agreed acts that removed other runs of the same case: an
        agreement to leave runs out is no agreement to the runs counted in their place.
        """
        agreed = {act.number for act in self.known if self.consent.missing.get(act.number) == ()}
        for number in sorted(self.one_sided):
            act = self.by_number[number]
            its = frozenset(one for one in agreed if self.covers(one, act)) if act.kind in MOVES_CLOCKS else frozenset()
            counted = self._cases(frozenset(), frozenset({number})) if its else frozenset()
            if counted and counted & self._cases(its | {number}, frozenset()):
                yield number, its

    def _cases(self, gone: Acts, other: Acts) -> frozenset[tuple[str, str]]:
        """(component, case) of the runs that count without the acts ``gone``, and do not without ``other``."""
        more, less = self.score(gone)[3], self.score(other)[3]
        runs = {run for name, mine in more.items() for run in mine - less.get(name, frozenset())}
        return frozenset((row.component, row.case) for row in self.record.runs if row.run in runs)

    def _hangs(self, scored: Sequence[ActScore], restricting: set[int]) -> tuple[Acts, str]:
        """(acts, outcome): the acts that together cause a rejection, if no single act does; (empty, "") if there are none."""
        if any(act.differs for act in scored):
            return frozenset(), ""
        known = frozenset(act.number for act in scored if act.without != NOT_KNOWN) & {act.number for act in self.known}
        for gone in dict.fromkeys([*self._alike(sorted(known)), known, known.union(self.withdrawn)]):
            word = self.word_without(gone, restricting) if len(gone) > 1 else "rejected"
            if word != "rejected" and self.is_sure(gone, word, "rejected"):
                return self._least(gone, word, restricting), word
        return frozenset(), ""

    def _least(self, gone: Acts, word: str, restricting: set[int]) -> Acts:
        """The smallest part of these acts that still leads to this outcome when left out. At least one act stays that some party
        has not agreed to.
        """
        asked = {number for number in gone if self.consent.missing.get(number)}
        for number in sorted(gone) if 1 < len(gone) <= _MOST_TRIED else ():
            rest = gone - {number}
            if rest and (rest & asked or not asked) and self.word_without(rest, restricting) == word:
                gone = rest
        return gone

    def _subsets(self) -> list[Acts]:
        """The sets of acts to leave out: each one-sided act, those that may cover each other, all of them, and all of each side,
        because acts of two sides may hide each other. An act that one of them took back counts again only if it was agreed to.
        """
        alone = self.one_sided | {number for number in self.withdrawn if self.consent.missing.get(number)}
        sides: dict[str, set[int]] = {}
        for number in alone:
            sides.setdefault(self.side(self.by_number[number]), set()).add(number)
        each = [frozenset({number}) for number in sorted(self.one_sided)]
        asked = [*each, *self._alike(sorted(alone)), alone, *(frozenset(side) for side in sides.values())]
        own = {number: self._own_words(number) for number in self.one_sided}
        return list(dict.fromkeys(gone.union(*(own.get(number, ()) for number in gone)) for gone in asked))

    def _own_words(self, number: int) -> Acts:
        """The acts that an act took back or replaced and that only its own side had supported until then: nothing depends on them
        without that act.
        """
        side, back = self.side(self.by_number[number]), self.taken_back.get(number, frozenset())
        mine = [act.number for act in self.acts if side and self.side(act) == side and act.number not in self.void]
        back |= self.replaced.by(self.by_number[number], mine) if len(mine) > 1 else frozenset()
        return frozenset(one for one in back if side and self._is_of(side, one, number))

    def _only_takes_back(self, number: int, outcome: str, restricting: set[int]) -> bool:
        """Whether an act only replaces earlier one-sided acts of its own side, so that nothing else depends on it."""
        own = self._own_words(number) if number in self.one_sided else frozenset()
        return bool(own) and self.word_without(own | {number}, restricting) == outcome

    def _is_of(self, side: str, number: int, until: int) -> bool:
        """Whether only one side supported an act before another act."""
        others = (said.party for said in self.consent.agreed.get(number, ()) if said.event < until)
        return self.side(self.by_number[number]) == side and all(party == side for party in others)

    def _alike(self, numbers: Sequence[int]) -> list[Acts]:
        """For each of these acts, the set of the act itself and the acts that may cover it."""
        return [
            frozenset(one for one in numbers if one == number or self.covers(number, self.by_number[one]))
            for number in numbers
        ]
