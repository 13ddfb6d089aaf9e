"""The rows that the record is folded into: plain, frozen, one thing a line of a table.

Times are seconds since 1970 by the driver's clock, None where they are not known; ``seq`` is the event a row came from.
``epoch`` is 1 at first; an amendment, a declared change, and a machine or inputs found changed open the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from shakedown.model.contracts import content
from shakedown.model.judging import ContractRow, Criterion
from shakedown.model.nouns import Component, Document
from shakedown.model.recorded import Recorded
from shakedown.model.waived import conditions_digest, holds, issue_digest, says_of_what, waived_criterion, waived_row

SET_UP, CLEAN_UP, DRILL = "set-up", "clean-up", "drill"
STEPS = (SET_UP, CLEAN_UP, DRILL)  # modes outside of a component's clock and mix, in no measure but their own


class RunRow(Struct, frozen=True):
    """One verdict on one run. A run that was judged again has several rows; only the last is current.

    ``result`` numbers the wanted result that the run is an attempt at: attempts at the same one share it.
    ``figures``: name -> value in the unit of the test's figure. ``checks``: (text, held or None, detail).
    ``output`` points to the kept output. ``superseded_by`` is the seq of the verdict that replaced this one, or 0.
    ``retried``: another attempt was ordered because of this one. ``mode``: isolated, fill, warm-up, filler or "". ``ruling``: the
    party that a person said its failure belongs to. ``failed_nodes``: names of nodes that failed under it. ``targets``: budget ->
    the target that it loaded. ``charged``: when it was let start and its loads were counted; ``freed``: when its end was known.
    ``halted_s``: for how long it stood still within its run time. ``judged_by`` and ``judged_because``: who had it judged again,
    and why. ``recorded``: pattern -> sums of the files that its test has recorded.
    ``ordered``: when, and ``ordered_by``: by which event, it was ordered; None and 0 where that is not known.
    ``of``: of a warm-up, the mode that it belongs to.
    ``failure_class``: what it is put down to, never "" where it did not pass; ``failure_line``: the words that say so.
    ``said_class`` and ``said_family``: what ``said_by`` put it down to instead, "" = none. ``ticket``: what ``ticket_by``
    attached.
    """

    run: str
    case: str
    component: str
    repeat: int
    attempt: int
    verdict: str
    reason: str
    seq: int
    time: float
    result: int
    epoch: int = 1
    started: float | None = None
    ended: float | None = None
    elapsed_s: float | None = None
    exit: int | None = None
    figures: Mapping[str, float] = {}
    checks: tuple[tuple[str, bool | None, str], ...] = ()
    problems: tuple[str, ...] = ()
    nodes: str = ""
    output: Mapping[str, Any] = {}
    excerpt: str = ""
    job: str = ""
    supersedes: int = 0
    superseded_by: int = 0
    retried: bool = False
    mode: str = ""
    ruling: str = ""
    failed_nodes: tuple[str, ...] = ()
    halted_s: float = 0.0
    targets: Mapping[str, str] = {}
    charged: float | None = None
    freed: float | None = None
    failure_class: str = ""
    failure_family: str = ""
    failure_line: str = ""
    judged_by: str = ""
    judged_because: str = ""
    recorded: Mapping[str, Recorded] = {}
    ordered: float | None = None
    ordered_by: int = 0
    of: str = ""
    said_class: str = ""
    said_family: str = ""
    said_by: str = ""
    ticket: str = ""
    ticket_by: str = ""

    @property
    def cause(self) -> str:
        """The class of failures it is put down to, by a person before all; "" where it passed."""
        return (self.said_class or self.failure_class) if self.failure_class else ""

    @property
    def cause_family(self) -> str:
        """The family of that class."""
        return self.said_family if self.said_class else self.failure_family

    @property
    def over(self) -> float | None:
        """When it ended: as its own clock says, else when that was known. None where it never began."""
        if self.ended is not None:
            return self.ended
        if self.started is not None and self.elapsed_s is not None:
            return round(self.started + self.elapsed_s, 6)
        began = self.started is not None or self.elapsed_s is not None
        return self.freed if began else None

    @property
    def was_taken_back(self) -> bool:
        """It was ordered, or wanted, and taken back before it began: nothing was attempted, and nothing failed."""
        return self.verdict == "cancelled" and self.started is None and self.elapsed_s is None


class OpenRun(Struct, frozen=True):
    """A run that was ordered and is not judged yet. ``state`` is the last thing a source said of its job, ``started`` since when it
    runs. ``targets``, ``charged``, ``freed``, ``of``: as in ``RunRow``.
    """

    run: str
    case: str
    component: str
    repeat: int
    attempt: int
    job: str
    ordered: float
    seq: int
    result: int
    epoch: int
    state: str = "ordered"
    mode: str = ""
    started: float | None = None
    targets: Mapping[str, str] = {}
    charged: float | None = None
    freed: float | None = None
    of: str = ""


class BuildRow(Struct, frozen=True):
    """One build. ``state``: ordered, started, done, failed. ``log`` is a path inside the campaign."""

    key: str
    state: str
    ordered: float
    ended: float | None = None
    elapsed_s: float | None = None
    log: str = ""
    reason: str = ""
    seq: int = 0


class UnavailableRow(Struct, frozen=True):
    """A case that cannot run on this system; ``reason`` says what is missing and how to get it."""

    component: str
    case: str
    reason: str
    seq: int = 0
    test: str = ""


class WaiverRow(Struct, frozen=True):
    """What a person accepted as it is: ``what`` is criterion, gate, row, conditions or issue.
    ``restriction``: the words that go with it.

    ``row``: what the contract row asked for then (``model.contracts.content``); {} in records that do not say it. ``digest``: of
    what was asked for then, and of what (``model.waived``), ``asked``: the same in words; both "" in records that do not say it.
    """

    what: str
    component: str
    name: str
    restriction: str
    by: str = ""
    reason: str = ""
    seq: int = 0
    time: float = 0.0
    row: Mapping[str, Any] = {}
    digest: str = ""
    asked: str = ""

    def is_of_criterion(self, document: Document, component: Component, criterion: Criterion) -> bool:
        """Whether it is this criterion that was waived; by its name alone where the record does not say what it asked for."""
        named = (self.what, self.component, self.name) == ("criterion", component.name, criterion.name)
        return named and (not self.digest or holds(self.digest, waived_criterion(document, component, criterion)))

    def asks_as(self, row: ContractRow) -> bool:
        """Whether a row asks what was waived; by its name alone where the record does not say what it asked for."""
        return self.what == "row" and (content(row) == self.row if self.row else row.name == self.name)

    def is_of_row(self, document: Document, row: ContractRow) -> bool:
        """Whether it is this row that was waived: it asks the same, of the same cases where the record says which these were."""
        return self.asks_as(row) and (not says_of_what(self.digest) or holds(self.digest, waived_row(document, row)))

    def is_of_conditions(self, seq: int, finding: Mapping[str, Any]) -> bool:
        """Whether it is this finding, by its event, of what changed under the campaign."""
        return (self.what, self.name, self.digest) == ("conditions", str(seq), conditions_digest(finding))

    def is_of_issue(self, number: int, kind: str, what: str) -> bool:
        """Whether it is this issue of the ledger, by the event that opened it, as it was then."""
        named = (self.what, self.name) == ("issue", str(number))
        return named and self.digest == issue_digest(kind, what)


class AttestationRow(Struct, frozen=True):
    """What a person attested of a procedure. ``evidence``: the files that they brought, as path and digest."""

    component: str
    procedure: str
    met: bool
    by: str = ""
    evidence: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    seq: int = 0
    time: float = 0.0
    wording: str = ""  # the digest of the procedure's text as it stood; "" in records that do not say it


class DrillRow(Struct, frozen=True):
    """What a person said of a drill. ``act``: begun or ended, ``at`` that moment (seconds since 1970); evidence as name and digest.
    ``wording``: the digest of what the plan asked for then.
    """

    component: str
    drill: str
    act: str
    at: float
    by: str = ""
    evidence: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    seq: int = 0
    time: float = 0.0
    wording: str = ""


class RejudgedRow(Struct, frozen=True):
    """An act of judging again: how many verdicts were looked at, replaced and stand, and how many could not be judged again."""

    by: str
    reason: str
    examined: int = 0
    replaced: int = 0
    kept: int = 0
    not_judged: int = 0
    document: str = ""
    seq: int = 0
    time: float = 0.0


class RulingRow(Struct, frozen=True):
    """Whose failure a person said a run was: ``party`` is one of PARTIES, "" where a ruling was withdrawn."""

    run: str
    party: str
    by: str = ""
    reason: str = ""
    seq: int = 0
    time: float = 0.0


class EpochRow(Struct, frozen=True):
    """What opened an epoch, an event: campaign_start, amended, changed, fingerprint, finding; ``difference`` says it in lines."""

    number: int
    opened_by: str
    by: str = ""
    reason: str = ""
    difference: tuple[str, ...] = ()
    seq: int = 0
    time: float = 0.0


class FingerprintRow(Struct, frozen=True):
    """The machine as found. ``groups``: nodes with equal facts (folded) and the digest of these, the largest group first.

    ``between_nodes`` and ``since_last``: differences from the largest group, and from the fingerprint before, in words.
    ``unanswered``: nodes that said nothing, and why. ``facts_file``: where the facts are, in the campaign; its name is its digest.
    """

    digest: str
    groups: tuple[tuple[str, str], ...] = ()
    facts_file: str = ""
    between_nodes: tuple[str, ...] = ()
    since_last: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()
    changed: bool = False
    epoch: int = 1
    reason: str = ""
    seq: int = 0
    time: float = 0.0


class SealRow(Struct, frozen=True):
    """The record up to ``through`` was sealed under ``digest``, which both sides sign."""

    digest: str
    by: str = ""
    through: int = 0
    outcome: str = ""
    reason: str = ""
    seq: int = 0
    time: float = 0.0
    register: str = ""  # which campaign of its plan it is, by the site's register at that moment


class OutcomeRow(Struct, frozen=True):
    """How a component that another waits for came out: met, not met or undecided."""

    component: str
    outcome: str
    reason: str = ""
    seq: int = 0
    time: float = 0.0


class ActRow(Struct, frozen=True):
    """One event by which a person did something. ``kind`` is the command's name; ``digest`` stands for the whole event in this
    very campaign: an agreement names it. ``together``: shared by the events of one command, "" where it made one alone.
    """

    event: str
    kind: str
    seq: int
    time: float
    by: str
    reason: str
    value: Mapping[str, Any]
    digest: str
    run: str = ""
    case: str = ""
    together: str = ""


class AgreementRow(Struct, frozen=True):
    """A person agreed to what was done. ``acts``: (number of the act, the digest that was agreed to); ``at``: when, as it was
    signed; ``signature`` "" where it was agreed to by name alone.
    """

    seq: int
    time: float
    by: str
    reason: str
    acts: tuple[tuple[int, str], ...]
    at: str = ""
    signature: str = ""


class NoteRow(Struct, frozen=True):
    """Anything else worth a line: a finding, a driver, a wait, an amendment, a request of a person."""

    kind: str
    time: float
    reason: str
    value: Mapping[str, Any]
    seq: int
    case: str = ""
    run: str = ""
