"""The judgement of a campaign: the types of the scorecard. ``criteria.score`` fills them; the report and the terminal show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from shakedown.metrics.judging.contract import ContractScore
from shakedown.metrics.ladders import LadderRow
from shakedown.metrics.rows.rows import UnavailableRow
from shakedown.metrics.scores.results import ScoreResult
from shakedown.metrics.words import plural
from shakedown.model.errors import MET, NOT_MET, UNDECIDED

Outcome = Literal["met", "not met", "undecided", "waived"]
Acceptance = Literal["accepted", "accepted with restrictions", "rejected", "incomplete", "not judged", "disputed"]
NOT_KNOWN = "not known"  # the effect of an act that only another run without it could show


class CaseScore(Struct, frozen=True):
    """The result of a criterion ``per: case`` for one case; for ``per: test``, ``case`` is the test."""

    case: str
    outcome: Outcome
    measured: float | None
    count: int
    arithmetic: str
    reason: str = ""


class Measured(Struct, frozen=True):
    """The value of one measure in one population, with the calculation in words.

    ``value`` is None if there is nothing to measure. ``low`` and ``high`` bound the final value while results are still to come;
    both equal ``value`` once nothing is to come. ``interval`` is at 95 %. ``restricted``: every case of the population is
    unavailable. ``whole``: the value covers everything that exists, so no number of values is too small to judge by (even no run at
    all). ``parts``: the result of each case, for a measure that compares single cases. ``runs``: how
    many runs it rests on, where ``count`` is of something else; 0 where it is not.
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
    runs: int = 0


class CriterionScore(Struct, frozen=True):
    """The result of a criterion. ``measured`` and ``bound`` are in ``unit`` ("share": 0.95 is 95%).

    ``arithmetic``: the calculation and the bound, in words; ``reason``: why it is undecided.
    ``worst_case``: the deciding case of a criterion per case. ``usual``: a default criterion, which the plan does not state.
    ``left_out``: (why, how many runs); then ``before`` is the calculation, and ``measured_before`` the number, with everything
    counted. ``waiver``: the restriction of a waived criterion; ``beneath``: the outcome without the waiver. ``runs``: how many runs
    it rests on, where ``count`` is of something else; 0 where it is not.
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
    runs: int = 0

    @property
    def rests_on(self) -> int:
        """How many runs or values it rests on."""
        return self.runs or self.count

    @property
    def outcome_words(self) -> str:
        """The outcome as people read it: a waiver is shown beside the outcome."""
        return f"{self.beneath}, waived" if self.outcome == "waived" else self.outcome


class ComponentScore(Struct, frozen=True):
    """The numbers of one component. ``wanted`` = ``judged`` + ``to_come``, without the results of unavailable cases.

    ``passed`` counts wanted results; ``attempts`` counts judged runs; ``as_expected`` counts attempts with the verdict that their
    case expects. ``verdicts`` counts attempts by verdict, in the order of the vocabulary. ``warm_ups`` are in none of these, nor
    are ``undetermined`` runs, which could not be judged: their results are still to come, unless the end of the component's time
    cut them off; ``blocking``: the undetermined runs whose results nothing has settled yet. ``aside``: (run, why its figures do not
    count).
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


class ActScore(Struct, frozen=True, rename={"number": "event"}):
    """An act of a person and its effect. ``number``: its first event, which names it; ``event`` in JSON, as in tables. ``said``,
    ``as_of``: seconds since 1970.

    ``without``: the campaign's outcome without it, NOT_KNOWN if only another run could show that; ``difference``: what else changes
    without it, one line each; ``differs``: the outcome changes. ``takes``: what it takes away; ``together``: all acts that take
    this away only together, because each covers the others; the first of them has ``takes``. ``standing``: agreed, one-sided, no
    effect, withdrawn, or "" if the plan names no parties. ``agreed``: who agreed, in words; ``missing``: parties that have not
    agreed.
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
        """What the act takes away, and with which other acts, in words; "" if nothing."""
        others = [str(number) for number in self.together if number != self.number]
        beside = f", together with event{'s' if len(others) > 1 else ''} {', '.join(others)}" if others else ""
        return f"{', '.join(self.takes)}{beside}" if self.takes else ""

    @property
    def matters(self) -> bool:
        """Whether the act restricts or changes the outcome, or its effect is unknown and one party did it alone."""
        alone = self.without == NOT_KNOWN and bool(self.missing)
        return bool(self.takes or self.differs or self.difference or alone)


class AfterSeal(Struct, frozen=True):
    """What came after a seal that every party agreed to, and does not count. ``seal``: its event; ``through``: the last event of
    the record; ``events``: how many came, without agreements. ``runs``: runs that were judged or ordered; ``again``: new verdicts
    on runs of before; ``findings``, ``acts`` and ``seals``: how many.
    """

    seal: int
    through: int
    events: int
    runs: int = 0
    again: int = 0
    findings: int = 0
    acts: int = 0
    seals: int = 0

    @property
    def words(self) -> str:
        """What came, in words: "3 runs, 1 finding and 2 acts of people"."""
        said = ((self.runs, "run"), (self.again, "new verdict"), (self.findings, "finding"), (self.seals, "seal"))
        told = [plural(count, word) for count, word in said if count]
        told += [plural(self.acts, "act") + " of people"] if self.acts else []
        told = told or [plural(self.events, "event")]
        return " and ".join(filter(None, (", ".join(told[:-1]), told[-1])))

    @property
    def sentence(self) -> str:
        """What came, and what it is worth."""
        does = "it does" if self.is_one else "they do"
        return (
            f"after the seal (event {self.seal}) that every party agreed to came {self.words}; {does} not count unless every party"
            " agrees to an act after it, which opens the campaign again"
        )

    @property
    def is_one(self) -> bool:
        """Whether only one thing came: its sentence has a singular verb."""
        return (self.runs + self.again + self.findings + self.acts + self.seals or self.events) == 1


class Scorecard(Struct, frozen=True):
    """The judgement of a whole campaign. ``summary``: one sentence for people; ``finished``: nothing is left to do.

    ``restrictions``: a sentence for each thing that the acceptance leaves out or accepts as it is. ``contract``: every row of the
    plan's contracts, and the figures without one; None if the plan names none. ``rehearsal``: a description of the rehearsal,
    "" for a real campaign. ``acts``: what people did; ``without_acts``: the outcome without all acts; ``undisputed``: for a
    disputed campaign, the outcome if both sides agreed to every act. ``told``: agreements that do not count.
    ``ad_hoc``: the options that chose its tests, if no plan file did.
    ``scores``: the plan's scores, with their inputs; the results of those with a bound are with the criteria of ``scores``.
    ``missed_dates``: missed planned dates without a criterion, in words: they decide nothing. ``after_seal``: what came after the
    seal up to which the record is judged, because every party agreed to it; None if the whole record is judged.
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
    after_seal: AfterSeal | None = None

    @property
    def acts_judged(self) -> tuple[ActScore, ...]:
        """The acts in the record that is judged."""
        return tuple(act for act in self.acts if not self._is_late(act))

    @property
    def acts_after_seal(self) -> tuple[ActScore, ...]:
        """The acts after the seal up to which the record is judged; they have no effect."""
        return tuple(act for act in self.acts if self._is_late(act))

    def _is_late(self, act: ActScore) -> bool:
        return self.after_seal is not None and act.number > self.after_seal.seal and act.kind != "agree"


def exit_status(scorecard: Scorecard) -> int:
    """Purpose: the exit status of a command: 0 accepted, 1 rejected, 4 otherwise."""
    if scorecard.outcome in ("accepted", "accepted with restrictions"):
        return MET
    return NOT_MET if scorecard.outcome == "rejected" else UNDECIDED


def component_outcome(
    criteria: Sequence[CriterionScore], to_come: int, unavailable: int, finished: bool = False
) -> Acceptance:
    """The outcome of a component: rejected if a criterion is not met, else incomplete if one is undecided or a result is still to
    come.

    While results are to come nothing is rejected: a person may still waive, rule or amend. Once the campaign is over
    (``finished``), a criterion that is not met rejects, even if results are missing.
    Criteria whose every case is unavailable judge nothing: they restrict but do not block. The same holds for waived ones.
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
    """The outcome of all components; one that could not be judged is a restriction, unless no component could be judged."""
    outcomes = {component.outcome for component in components}
    if not finished:
        return "incomplete"
    if "rejected" in outcomes:
        return "rejected"
    if "incomplete" in outcomes or outcomes <= {"not judged"}:
        return "incomplete"
    return "accepted" if outcomes == {"accepted"} else "accepted with restrictions"
