"""The rows of a whole campaign, into which ``table`` folds events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from shakedown.metrics.rows.rows import (
    ActRow,
    AgreementRow,
    AttestationRow,
    BuildRow,
    DrillRow,
    EpochRow,
    FingerprintRow,
    NoteRow,
    OpenRun,
    OutcomeRow,
    OverRow,
    RejudgedRow,
    RulingRow,
    RunRow,
    SealRow,
    UnavailableRow,
    WaiverRow,
)
from shakedown.model.events import Event
from shakedown.model.nouns import Document


class RecordRows(Struct):
    """The log as rows. ``document``: the digest of the plan in force; ``ended`` is None while work is left.

    ``runs``: one row for each verdict, in the order of the log; ``open``: runs not judged yet; ``unavailable`` and
    ``given_up`` have the keys (component, case) and run. ``irregular``: a sentence for each thing that should not be in a log.
    """

    campaign: str = ""
    plan: str = ""
    document: str = ""
    seed: int = 0
    register: str = (
        ""  # which campaign of its plan it is by the site's register, when it began and when it was last sealed
    )
    rehearsal: dict[str, Any] = {}  # facts of the rehearsal; {} for a real campaign
    started: float | None = None
    ended: float | None = None
    over: OverRow | None = None  # how it had ended before it was amended; None once something was ordered since
    last: float = 0.0
    seq: int = 0
    epoch: int = 1
    events: int = 0
    runs: list[RunRow] = []
    open: dict[str, OpenRun] = {}
    builds: dict[str, BuildRow] = {}
    unavailable: dict[tuple[str, str], UnavailableRow] = {}
    given_up: dict[str, int] = {}
    notes: list[NoteRow] = []
    looked: dict[
        str, list[float]
    ] = {}  # node that is left out -> when jobs were ordered that might go there all the same
    waivers: list[WaiverRow] = []
    attestations: dict[tuple[str, str], AttestationRow] = {}  # (component, procedure) -> its last attestation
    first_orders: dict[str, float] = {}  # component -> when its first run was ordered
    standing: list[NoteRow] = []  # standing orders: pauses, clocks, caps, budgets, exclusions
    observed: list[NoteRow] = []  # numbers that narrow budgets, and reasons for missing ones
    time_up: dict[str, float] = {}  # component -> when its time was reported to be up
    cancelled: float | None = None  # when the whole campaign was cancelled
    cancelled_seq: int = 0  # the event of that cancellation
    again: dict[str, list[int]] = {}  # component -> the events that ordered it to run again
    amended: int = 0  # the event that last amended the plan
    epochs: list[EpochRow] = []
    rulings: list[RulingRow] = []  # every one; the one in force is in the run's row
    fingerprints: list[FingerprintRow] = []
    seals: list[SealRow] = []
    identity: str = ""  # digest of the campaign's first event: signatures are bound to it
    acts: list[ActRow] = []  # all acts of people since the campaign began
    agreements: list[AgreementRow] = []
    withdrawn: dict[int, int] = {}  # withdrawn event -> the event that withdrew it
    attested: list[AttestationRow] = []  # all attestations; those in force are in ``attestations``
    drilled: list[DrillRow] = []  # statements on drills, in the order of the log
    rejudged: list[RejudgedRow] = []  # acts of judging again
    documents: list[str] = []  # digests of all plans that were in force, in order
    plans: dict[str, Document] = {}  # those of them that the caller attached
    outcomes: dict[str, OutcomeRow] = {}  # component -> its last outcome, if others wait for it
    late: dict[str, int] = {}  # component -> removed runs that would not have been ordered without some acts
    warmed: dict[str, int] = {}  # component -> warm-ups that count, because only plans without effect wanted them
    beyond: dict[str, int] = {}  # component -> removed attempts that only plans without effect allow
    twice: dict[str, int] = {}  # component -> removed results that only plans without effect wanted again
    computed: frozenset[str] = frozenset()  # runs whose verdict without a check is known from the record
    evaluated: frozenset[str] = (
        frozenset()
    )  # runs whose verdict by the plans in force is known, with their kept outputs
    unread: frozenset[str] = frozenset()  # runs that only a kept output could judge which can no longer be read
    cut_short: frozenset[str] = frozenset()  # components that would have had more of their time without some acts
    unknown: dict[str, int] = {}
    irregular: list[str] = []
    _place: dict[str, int] = {}  # run -> the index of its current row in ``runs``
    _followers: dict[str, str] = {}  # job -> the run that may start when it is over
    _leaders: dict[str, str] = {}  # run -> the job that it follows, until that job is known to be over
    _jobs: dict[str, str] = {}  # job -> the run it holds
    _chains: dict[tuple[str, ...], int] = {}  # wanted result -> its number
    _results: int = 0

    def note(self, event: Event) -> None:
        """Keep an event as a note."""
        self.notes.append(NoteRow(event.event, event.time, event.reason, event.value, event.seq, event.case, event.run))

    def current(self) -> Iterator[RunRow]:
        """The verdicts in force: one for each run."""
        return (row for row in self.runs if not row.superseded_by)

    def of_kind(self, *kinds: str) -> list[NoteRow]:
        """The notes of the given kinds (findings, drivers, amendments and so on), in the order of the log."""
        return [note for note in self.notes if note.kind in kinds]

    def row_of(self, run: str) -> RunRow | None:
        """The current row of a run, or None while it is not judged."""
        return self.runs[self._place[run]] if run in self._place else None
