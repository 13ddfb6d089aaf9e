"""What a campaign is worth: the scorecard's nouns. ``criteria.score`` fills them, the report and the terminal show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from shakedown.metrics.judging.contract import ContractScore
from shakedown.metrics.ladders import LadderRow
from shakedown.metrics.rows.rows import UnavailableRow
from shakedown.metrics.scores.results import ScoreResult
from shakedown.model.errors import MET, NOT_MET, UNDECIDED

Outcome = Literal["met", "not met", "undecided", "waived"]
Acceptance = Literal["accepted", "accepted with restrictions", "rejected", "incomplete", "not judged", "disputed"]
NOT_KNOWN = "not known"  # what an act came to shows only by running again without it


class CaseScore(Struct, frozen=True):
    """A criterion ``per: case``, for one case; of one ``per: test`` ``case`` is the test."""

    case: str
    outcome: Outcome
    measured: float | None
    count: int
    arithmetic: str
    reason: str = ""


class Measured(Struct, frozen=True):
    """One measure over one population, with the arithmetic in words.

    ``value`` is None where there is nothing to measure. ``low`` and ``high`` bound what the measure can still become when
    the results still to come are in; both are ``value`` once nothing is to come. ``interval`` is at 95 %.
    ``restricted``: every case of the population is unavailable. ``whole``: it is about everything there is, so that no number of
    values is too small to judge by: no run at all is fewer than the runs that must be. ``parts``: each case on its own, of a
    measure that compares cases one by one.
    """

    value: float | None
    count: int
    arithmetic: str
    low: float | None = None
    high: float | None = None
    interval: tuple[float, float] | None = None
    reason: str = ""
    restricted: bool = False
    whole: bool = False
    parts: tuple[CaseScore, ...] = ()


class CriterionScore(Struct, frozen=True):
    """How a criterion came out. ``measured`` and ``bound`` are in ``unit`` (0.95 is 95% where that is "share").

    ``arithmetic`` says how the number came about and what it must be; ``reason`` why it is undecided.
    ``worst_case`` is named where the criterion is per case. ``usual``: the plan states none, this one stands in.
    ``left_out``: (why, how many runs); ``before`` is then the arithmetic, ``measured_before`` the number, with everything
    counted. ``waiver``: the restriction that a waived criterion goes with; ``beneath`` is the outcome without the waiver.
    """

    name: str
    measure: str
    must: str
    outcome: Outcome
    measured: float | None
    bound: float
    unit: str
    count: int
    enough: int
    arithmetic: str
    reason: str = ""
    interval: tuple[float, float] | None = None
    per: str = ""
    worst_case: str = ""
    cases: tuple[CaseScore, ...] = ()
    usual: bool = False
    restricted: bool = False
    basis: str = ""
    clause: str = ""
    mode: str = ""
    left_out: tuple[tuple[str, int], ...] = ()
    before: str = ""
    measured_before: float | None = None
    waiver: str = ""
    waived_by: str = ""
    beneath: Outcome = "undecided"

    @property
    def outcome_words(self) -> str:
        """The outcome as people read it: a waiver hides nothing."""
        return f"{self.beneath}, waived" if self.outcome == "waived" else self.outcome


class ComponentScore(Struct, frozen=True):
    """A component in numbers. ``wanted`` = ``judged`` + ``to_come``, without the results of unavailable cases.

    ``passed`` counts wanted results, ``attempts`` runs that were judged; ``as_expected`` are attempts that ended with
    the verdict their case expects. ``verdicts`` counts attempts by verdict, in the order of the vocabulary. ``warm_ups``
    are in none of these, nor are ``undetermined`` runs, which could not be judged: their results are still to come, but for those
    that the end of the component's time cut off; ``blocking``: those of them that nothing has settled yet.
    ``aside``: (run, why its figures do not count).
    """

    name: str
    kind: str
    outcome: Acceptance
    wanted: int
    judged: int
    passed: int
    to_come: int
    attempts: int
    given_up: int
    as_expected: int
    verdicts: tuple[tuple[str, int], ...]
    unavailable: tuple[UnavailableRow, ...]
    criteria: tuple[CriterionScore, ...]
    warm_ups: int = 0
    aside: tuple[tuple[str, str], ...] = ()
    undetermined: tuple[str, ...] = ()
    blocking: tuple[str, ...] = ()
    ladders: tuple[LadderRow, ...] = ()


class ActScore(Struct, frozen=True):
    """An act of a person, and what it came to. ``number``: of its event, which names it. ``said``, ``as_of``: seconds since 1970.

    ``without``: the outcome of the campaign without it, NOT_KNOWN where that shows only by running again; ``difference``: what
    comes out otherwise then, a line each; ``differs``: the outcome does. ``takes``: what it takes away; ``together``: where it
    does so only with other acts, because each of them covers the others, all of these; the first has it. ``standing``: agreed,
    one-sided, no effect, withdrawn, or "" where the plan names no parties. ``agreed``: who agreed, in words; ``missing``: parties
    whose word is missing.
    """

    number: int
    kind: str
    what: str
    by: str
    said: float
    because: str
    without: str
    component: str = ""
    as_of: float | None = None
    backdated: bool = False
    difference: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    party: str = ""
    standing: str = ""
    agreed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    withdrawn_by: int = 0
    digest: str = ""
    differs: bool = False
    together: tuple[int, ...] = ()

    @property
    def takes_words(self) -> str:
        """What it takes away, and with which other acts; "" where it takes nothing."""
        others = [str(number) for number in self.together if number != self.number]
        beside = f", together with event{'s' if len(others) > 1 else ''} {', '.join(others)}" if others else ""
        return f"{', '.join(self.takes)}{beside}" if self.takes else ""

    @property
    def matters(self) -> bool:
        """It restricts, the outcome without it is another, or nobody knows and one party alone did it."""
        alone = self.without == NOT_KNOWN and bool(self.missing)
        return bool(self.takes or self.differs or self.difference or alone)


class Scorecard(Struct, frozen=True):
    """The whole campaign. ``summary`` is one sentence for people; ``finished`` that nothing is left to do.

    ``restrictions``: a sentence for each thing that the acceptance leaves out or takes as it is. ``contract``: every row of the
    plan's contracts, and the figures without one; None where the plan names none. ``rehearsal``: that it was one, in words, and on
    what; "" of a real campaign. ``acts``: what people did; ``without_acts``: the outcome without all of them; ``undisputed``: of a
    disputed one, what it would be if both sides stood by every act. ``told``: agreements that count for nothing.
    ``ad_hoc``: the options that chose its tests, where no plan's file did.
    ``scores``: the plan's, with what each is computed from; how those with a bound came out is with the criteria of ``scores``.
    ``missed_dates``: planned dates that were missed and that no criterion asks about, in words: they decide nothing.
    """

    campaign: str
    plan: str
    system: str
    outcome: Acceptance
    summary: str
    finished: bool
    components: tuple[ComponentScore, ...]
    unavailable: int
    to_come: int
    remarks: tuple[str, ...] = ()
    restrictions: tuple[str, ...] = ()
    epoch: int = 1
    contract: ContractScore | None = None
    rehearsal: str = ""
    acts: tuple[ActScore, ...] = ()
    without_acts: str = ""
    undisputed: str = ""
    told: tuple[str, ...] = ()
    ad_hoc: str = ""
    scores: tuple[ScoreResult, ...] = ()
    missed_dates: tuple[str, ...] = ()


def exit_status(scorecard: Scorecard) -> int:
    """Purpose: the status a command ends with: 0 met, 1 not met, 4 undecided."""
    if scorecard.outcome in ("accepted", "accepted with restrictions"):
        return MET
    return NOT_MET if scorecard.outcome == "rejected" else UNDECIDED


def component_outcome(
    criteria: Sequence[CriterionScore], to_come: int, unavailable: int, finished: bool = False
) -> Acceptance:
    """A criterion that is not met rejects; else one that is undecided, or a result still to come, leaves it incomplete.

    While results are to come nothing is rejected yet: a person may still waive, rule or amend. Once the campaign is over
    (``finished``) what is not met rejects, whatever was left over.
    Criteria whose every case is unavailable judge nothing: they restrict, and do not block. So do waived ones.
    """
    judged = [criterion for criterion in criteria if not criterion.restricted]
    if to_come and not finished:
        return "incomplete"
    if any(criterion.outcome == "not met" for criterion in judged):
        return "rejected"
    if to_come:
        return "incomplete"
    if not judged:
        return "not judged"
    if any(criterion.outcome == "undecided" for criterion in judged):
        return "incomplete"
    waived = any(criterion.outcome == "waived" for criterion in judged)
    return "accepted with restrictions" if unavailable or waived else "accepted"


def campaign_outcome(components: Sequence[ComponentScore], finished: bool) -> Acceptance:
    """The components' outcomes as one; a component that could not be judged at all is a restriction, unless all are so."""
    outcomes = {component.outcome for component in components}
    if not finished:
        return "incomplete"
    if "rejected" in outcomes:
        return "rejected"
    if "incomplete" in outcomes or outcomes <= {"not judged"}:
        return "incomplete"
    return "accepted" if outcomes == {"accepted"} else "accepted with restrictions"
