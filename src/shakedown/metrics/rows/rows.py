"""The rows into which the record is folded: plain and frozen, one row for each line of a table.

Times are seconds since 1970 by the driver's clock, None if unknown; ``seq`` is the event from which a row came.
``epoch`` begins with 1; an amendment, a declared change, and a machine or inputs found changed open the next one.
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
STEPS = (SET_UP, CLEAN_UP, DRILL)  # modes outside a component's clock and mix; only their own measures count them


class RunRow(Struct, frozen=True):
    """One verdict on one run. A run that was judged again has several rows; only the last is current.

    ``result`` is the number of the wanted result: all attempts at it share the number.
    ``figures``: name -> value in the unit of the test's figure. ``checks``: (text, held or None, detail).
    ``output`` points to the kept output. ``superseded_by`` is the seq of the verdict that replaced this one, or 0.
    ``retried``: another attempt was ordered because of this one. ``mode``: isolated, fill, warm-up, filler or "". ``ruling``: the
    party that a person ruled its failure to belong to. ``failed_nodes``: nodes that failed during the run. ``targets``: budget ->
    the target that it loaded. ``charged``: when it was let start and its loads were counted; ``freed``: when its end was known.
    ``halted_s``: how long it was suspended within its run time. ``judged_by`` and ``judged_because``: who had it judged again,
    and why. ``recorded``: pattern -> sums of the files that its test has recorded.
    ``ordered``, ``ordered_by``: the time and the event of its order; None and 0 if unknown.
    ``of``: for a warm-up, the mode to which it belongs.
    ``failure_class``: the class of its failure, "" only if it passed; ``failure_line``: the words that show the class.
    ``said_class`` and ``said_family``: the class that the person ``said_by`` gave instead, "" = none. ``ticket``: the ticket that
    ``ticket_by`` attached.
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
        """The class of the failure, a person's class first; "" if it passed."""
        return (self.said_class or self.failure_class) if self.failure_class else ""

    @property
    def cause_family(self) -> str:
        """The family of the failure's class."""
        return self.said_family if self.said_class else self.failure_family

    @property
    def over(self) -> float | None:
        """When the run ended: by its own clock, else when its end was known. None if it never began."""
        if self.ended is not None:
            return self.ended
        if self.started is not None and self.elapsed_s is not None:
            return round(self.started + self.elapsed_s, 6)
        began = self.started is not None or self.elapsed_s is not None
        return self.freed if began else None

    @property
    def was_taken_back(self) -> bool:
        """Whether the run was ordered, or wanted, and cancelled before it began: no attempt was made, and nothing failed."""
        return self.verdict == "cancelled" and self.started is None and self.elapsed_s is None


class OpenRun(Struct, frozen=True):
    """A run that was ordered and is not judged yet. ``state``: the last reported state of its job; ``started``: when it began to
    run. ``targets``, ``charged``, ``freed``, ``of``: as in ``RunRow``.
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


class OverRow(Struct, frozen=True):
    """A campaign that had ended when its plan was amended. ``document``: the digest of the plan by which it had ended;
    ``unavailable`` and ``time_up``: as of then.
    """

    ended: float
    document: str
    unavailable: dict[tuple[str, str], UnavailableRow] = {}
    time_up: dict[str, float] = {}


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
    """A waiver: a thing that a person accepted as it is. ``what`` is criterion, gate, row, conditions or issue;
    ``restriction``: the words of the restriction.

    ``row``: the content of the contract row at that time (``model.contracts.content``); {} in records without it. ``digest``: of
    the requirement at that time and its cases (``model.waived``); ``asked``: the requirement in words; both "" in records without
    them.
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
        """Whether the waiver is for this criterion; compared by name alone if the record does not have the requirement."""
        named = (self.what, self.component, self.name) == ("criterion", component.name, criterion.name)
        return named and (not self.digest or holds(self.digest, waived_criterion(document, component, criterion)))

    def asks_as(self, row: ContractRow) -> bool:
        """Whether a row has the waived content; compared by name alone if the record does not have the content."""
        return self.what == "row" and (content(row) == self.row if self.row else row.name == self.name)

    def is_of_row(self, document: Document, row: ContractRow) -> bool:
        """Whether the waiver is for this row: equal content, and the same cases if the record has them."""
        return self.asks_as(row) and (not says_of_what(self.digest) or holds(self.digest, waived_row(document, row)))

    def is_of_conditions(self, seq: int, finding: Mapping[str, Any]) -> bool:
        """Whether the waiver is for this finding of changed conditions, by its event and content."""
        return (self.what, self.name, self.digest) == ("conditions", str(seq), conditions_digest(finding))

    def is_of_issue(self, number: int, kind: str, what: str) -> bool:
        """Whether the waiver is for this issue, by the event that opened it, with its description at that time."""
        named = (self.what, self.name) == ("issue", str(number))
        return named and self.digest == issue_digest(kind, what)


class AttestationRow(Struct, frozen=True):
    """A person's attestation of a procedure. ``evidence``: the attached files, as path and digest."""

    component: str
    procedure: str
    met: bool
    by: str = ""
    evidence: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    seq: int = 0
    time: float = 0.0
    wording: str = ""  # digest of the procedure's text at that time; "" in records without it


class DrillRow(Struct, frozen=True):
    """A person's statement on a drill. ``act``: begun or ended; ``at``: the time it refers to (seconds since 1970); ``evidence``:
    as name and digest. ``wording``: the digest of the plan's drill at that time.
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
    """An act of judging again: how many verdicts were examined, replaced and kept, and how many could not be judged again."""

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
    """A person's ruling on a run's failure. ``party``: one of PARTIES, "" if a ruling was taken back."""

    run: str
    party: str
    by: str = ""
    reason: str = ""
    seq: int = 0
    time: float = 0.0


class EpochRow(Struct, frozen=True):
    """The event that opened an epoch: campaign_start, amended, changed, fingerprint or finding; ``difference``: the changes, in
    lines.
    """

    number: int
    opened_by: str
    by: str = ""
    reason: str = ""
    difference: tuple[str, ...] = ()
    seq: int = 0
    time: float = 0.0


class FingerprintRow(Struct, frozen=True):
    """A fingerprint of the machine. ``groups``: nodes with equal facts (folded) and the digest of these, the largest group first.

    ``between_nodes`` and ``since_last``: differences from the largest group, and from the fingerprint before, in words.
    ``unanswered``: nodes without an answer, and why. ``facts_file``: the file with the facts, in the campaign; named by its digest.
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
    """A seal: the record up to ``through`` has the ``digest`` that both sides sign."""

    digest: str
    by: str = ""
    through: int = 0
    outcome: str = ""
    reason: str = ""
    seq: int = 0
    time: float = 0.0
    register: str = ""  # which campaign of its plan it is, by the site's register at that moment


class OutcomeRow(Struct, frozen=True):
    """The outcome of a component that another one waits for: met, not met or undecided."""

    component: str
    outcome: str
    reason: str = ""
    seq: int = 0
    time: float = 0.0


class ActRow(Struct, frozen=True):
    """One event of an act of a person. ``kind``: the command's name; ``digest``: of the whole event in this campaign, named by
    agreements. ``together``: shared by all events of one command, "" for a single event.
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
    """A person's agreement to acts. ``acts``: (number of the act, the digest that was agreed to); ``at``: the signed time;
    ``signature``: "" if by name alone.
    """

    seq: int
    time: float
    by: str
    reason: str
    acts: tuple[tuple[int, str], ...]
    at: str = ""
    signature: str = ""


class NoteRow(Struct, frozen=True):
    """Any other notable event: a finding, a driver, a wait, an amendment, a person's request."""

    kind: str
    time: float
    reason: str
    value: Mapping[str, Any]
    seq: int
    case: str = ""
    run: str = ""
