"""The rows of a whole campaign: what ``table`` folds events into."""

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
    """What the log says, as rows. ``document`` is the digest of the plan in force; ``ended`` is None while work is left.

    ``runs`` holds one row a verdict, in the order of the log; ``open`` the runs not judged yet; ``unavailable`` and
    ``given_up`` are keyed by (component, case) and by run. ``irregular`` has a sentence for what should not be in a log.
    """

    campaign: str = ""
    plan: str = ""
    document: str = ""
    seed: int = 0
    register: str = (
        ""  # which campaign of its plan it is by the site's register, when it began and when it was last sealed
    )
    rehearsal: dict[str, Any] = {}  # what is said of the machine it was rehearsed on; {} of a real campaign
    started: float | None = None
    ended: float | None = None
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
    attestations: dict[tuple[str, str], AttestationRow] = {}  # (component, procedure) -> the last one
    first_orders: dict[str, float] = {}  # component -> when its first run was ordered
    standing: list[NoteRow] = []  # standing orders: pauses, clocks, caps, budgets, exclusions
    observed: list[NoteRow] = []  # numbers that narrow budgets, and why there were none
    time_up: dict[str, float] = {}  # component -> when it was said that its time is up
    cancelled: float | None = None  # when the whole campaign was cancelled
    cancelled_seq: int = 0  # by which event
    again: dict[str, list[int]] = {}  # component -> the events by which it was told to run again
    amended: int = 0  # the event that last amended the plan
    epochs: list[EpochRow] = []
    rulings: list[RulingRow] = []  # every one; the one in force is in the run's row
    fingerprints: list[FingerprintRow] = []
    seals: list[SealRow] = []
    identity: str = ""  # the digest of the event that began the campaign: what is signed of it fits no other
    acts: list[ActRow] = []  # everything that people did since it began
    agreements: list[AgreementRow] = []
    withdrawn: dict[int, int] = {}  # the event that was taken back -> the event that took it back
    attested: list[AttestationRow] = []  # every one; the ones in force are in ``attestations``
    drilled: list[DrillRow] = []  # what people said of drills, in the order of the log
    rejudged: list[RejudgedRow] = []  # acts of judging again
    documents: list[str] = []  # digests of the plans that were in force, the first one first
    plans: dict[str, Document] = {}  # of these, those that whoever reads the record has given beside it
    outcomes: dict[str, OutcomeRow] = {}  # component -> the last one, of those that others wait for
    late: dict[str, int] = {}  # component -> runs that were left out: without some acts nobody would have ordered them
    warmed: dict[str, int] = {}  # component -> warm-ups that count: only plans without effect have them warm up
    beyond: dict[str, int] = {}  # component -> attempts that were left out: only plans without effect allow them
    twice: dict[
        str, int
    ] = {}  # component -> results that were left out: only plans without effect had them wanted again
    computed: frozenset[str] = frozenset()  # runs whose verdict without a check is known from the record
    evaluated: frozenset[str] = (
        frozenset()
    )  # runs whose verdict by the plans in force is known, with their kept outputs
    unread: frozenset[str] = frozenset()  # runs that only a kept output would judge so, which cannot be read any more
    cut_short: frozenset[str] = frozenset()  # components that would have had more of their time without some acts
    unknown: dict[str, int] = {}
    irregular: list[str] = []
    _place: dict[str, int] = {}  # run -> where its current row is in ``runs``
    _followers: dict[str, str] = {}  # job -> the run that may start when it is over
    _leaders: dict[str, str] = {}  # run -> the job that it follows, while nobody knows that that one is over
    _jobs: dict[str, str] = {}  # job -> the run it holds
    _chains: dict[tuple[str, ...], int] = {}  # wanted result -> its number
    _results: int = 0

    def note(self, event: Event) -> None:
        """Keep an event as a line of its own."""
        self.notes.append(NoteRow(event.event, event.time, event.reason, event.value, event.seq, event.case, event.run))

    def current(self) -> Iterator[RunRow]:
        """The verdicts in force: one a run."""
        return (row for row in self.runs if not row.superseded_by)

    def of_kind(self, *kinds: str) -> list[NoteRow]:
        """The notes of some kinds: findings, drivers, amendments..., in the order of the log."""
        return [note for note in self.notes if note.kind in kinds]

    def row_of(self, run: str) -> RunRow | None:
        """The current row of a run, or None while it is not judged."""
        return self.runs[self._place[run]] if run in self._place else None
