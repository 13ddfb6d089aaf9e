"""Every event that the record can hold: one declaration each, in ``EVENT_KINDS``. What knows events by name reads it here."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct


class EventKind(Struct, frozen=True):
    """What there is to know of one kind of event.

    - ``name``: the word in the record. ``about``: what it says, a sentence; the reference has it word for word
    - ``section``: the heading of ``docs/reference/events.md`` that it stands under
    - ``fold``: the function in ``engine/fold`` that changes the state, "file.function"; "" where the event changes nothing in it
    - ``shown``: the facts of its value that ``shakedown log`` shows before the reason, and that an act is told with where it has no
      words of its own
    - ``act``: where it is what a person did: the kind of act, which is the command's name
    - ``request``: the word of the command in a campaign's inbox that it answers
    - ``consent``: a plan may ask for the other party's agreement to it: such an act waits for it, or, where it cannot be undone,
      the outcome is disputed until then
    - ``opens_epoch``: every such event opens an epoch, in the engine and in the report alike: a new ``plan`` is in force, or the
      ``machine`` may not be as it was, and what was ordered and has not begun belongs to the new epoch. An event that opens one
      only now and then does so in its own functions, and is not declared
    - ``afterwards``: it only says something of what was; no time of the campaign passes by it
    """

    name: str
    about: str
    section: str
    fold: str = ""
    shown: tuple[str, ...] = ()
    act: str = ""
    request: str = ""
    consent: bool = False
    opens_epoch: Literal["", "plan", "machine"] = ""
    afterwards: bool = False


EVENT_KINDS: Final[tuple[EventKind, ...]] = (
    EventKind(
        "campaign_start",
        "A campaign was created from the frozen document with this digest.",
        "The campaign",
        fold="campaign.campaign_start",
        shown=("campaign", "plan"),
    ),
    EventKind(
        "amended",
        "A new frozen document took effect and opened a new epoch: the difference, who and why.",
        "The campaign",
        fold="amendments.amended",
        shown=("by",),
        act="amend",
        consent=True,
        opens_epoch="plan",
        request="amend",
    ),
    EventKind(
        "driver_start",
        "A conductor took the lease; what it finds unfinished is looked into before anything new is ordered.",
        "The campaign",
        fold="campaign.driver_start",
        shown=("epoch",),
    ),
    EventKind(
        "driver_stop",
        "The conductor left in good order and gave the lease back.",
        "The campaign",
        fold="campaign.driver_stop",
    ),
    EventKind(
        "stop_request",
        "Someone asked that nothing new be submitted; what runs may end.",
        "The campaign",
        fold="campaign.stop_request",
        act="stop",
        consent=True,
        request="stop",
    ),
    EventKind(
        "cancel_request",
        "Someone cancelled runs, cases or the whole campaign: who, what and why.",
        "The campaign",
        fold="campaign.cancel_request",
        act="cancel",
        consent=True,
        request="cancel",
    ),
    EventKind(
        "command_refused",
        "A command from the inbox could not be carried out; the reason says why.",
        "The campaign",
    ),
    EventKind(
        "campaign_end",
        "Every wanted result is judged, unavailable or cancelled; nothing is left to do.",
        "The campaign",
        fold="campaign.campaign_end",
    ),
    EventKind(
        "build_order",
        "A build was decided on; it is durable before the build starts.",
        "Builds",
        fold="builds.build_order",
        shown=("name",),
    ),
    EventKind(
        "build_start",
        "The build began: as a process, or its job was accepted; its identity is in the value.",
        "Builds",
        fold="builds.build_start",
    ),
    EventKind(
        "build_end",
        "The build ended: done or failed, and where its log is.",
        "Builds",
        fold="builds.build_end",
        shown=("state",),
    ),
    EventKind(
        "submit_order",
        "A job was decided on: which run of which case it holds; it is durable before the scheduler sees it.",
        "Jobs and runs",
        fold="jobs.submit_order",
    ),
    EventKind(
        "submit_accepted",
        "The scheduler took the job and gave it this id.",
        "Jobs and runs",
        fold="jobs.submit_accepted",
        shown=("id",),
    ),
    EventKind(
        "submit_refused",
        "The scheduler would not take the job, for good; with its words.",
        "Jobs and runs",
        fold="jobs.submit_refused",
    ),
    EventKind(
        "submit_deferred",
        "The job was certainly not taken, for a reason that passes; its run waits again, not before this time.",
        "Jobs and runs",
        fold="jobs.submit_deferred",
    ),
    EventKind(
        "submit_unknown",
        "The submission neither succeeded nor failed for certain; it is looked up before it is replaced.",
        "Jobs and runs",
        fold="jobs.submit_unknown",
    ),
    EventKind(
        "job_report",
        "What a source (marks, queue, accounting) said of a job changed.",
        "Jobs and runs",
        fold="jobs.job_report",
        shown=("state", "exit"),
    ),
    EventKind(
        "release_order",
        "A held job may start from now on: the targets that its run loads; its budgets are charged from here.",
        "Jobs and runs",
        fold="jobs.release_order",
    ),
    EventKind(
        "released",
        "The scheduler let the held job go, or could not be asked; then it is asked again.",
        "Jobs and runs",
        fold="jobs.released",
    ),
    EventKind(
        "surveyed",
        "Idle nodes that a sweep wants or jobs wait beside, nodes that do not answer while jobs follow those that run there, and "
        "how many jobs wait on clusters that the plan yields to.",
        "Jobs and runs",
        fold="overrides.surveyed",
    ),
    EventKind(
        "observed",
        "A number that narrows a budget: what was observed, what our runs took then, and what others take by it.",
        "Jobs and runs",
        fold="observing.observed",
        shown=("budget",),
    ),
    EventKind(
        "hold_order",
        "The queue of a job is held: the scheduler is to keep it from starting.",
        "Jobs and runs",
        fold="queue_guard.hold_order",
    ),
    EventKind(
        "held",
        "The scheduler keeps the job from starting, or could not be asked; then it is asked again.",
        "Jobs and runs",
        fold="queue_guard.held",
    ),
    EventKind(
        "requeued",
        "The scheduler started a job again under the same id; this is its new run, the old one is judged.",
        "Jobs and runs",
        fold="jobs.requeued",
    ),
    EventKind(
        "claim_order",
        "The claim of a job that nobody knows is to be taken, so that it can never run later.",
        "Jobs and runs",
        fold="jobs.claim_order",
    ),
    EventKind(
        "claim_taken",
        "We hold the claim: the job never ran and never will; its run goes back to waiting.",
        "Jobs and runs",
        fold="jobs.claim_taken",
    ),
    EventKind(
        "claim_found",
        "Its claim is taken, and not by us: it did start, or may have; its marks and its deadline decide.",
        "Jobs and runs",
        fold="jobs.claim_found",
    ),
    EventKind(
        "claim_unknown",
        "Whether the claim is taken could not be told: the file system did not answer; what comes of it is told once it does.",
        "Jobs and runs",
        fold="queue_guard.claim_unknown",
    ),
    EventKind(
        "returned",
        "The job is over, nothing of its payload ran, and its queue was held: its run waits again, no attempt is spent.",
        "Jobs and runs",
        fold="queue_guard.returned",
    ),
    EventKind(
        "cancel_order",
        "A live job is to be ended.",
        "Jobs and runs",
        fold="jobs.cancel_order",
    ),
    EventKind(
        "cancel_done",
        "The scheduler took the cancellation; only its report says that the job ended.",
        "Jobs and runs",
        fold="jobs.cancel_done",
    ),
    EventKind(
        "check_start",
        "The outputs of a run that ended are being collected and checked.",
        "Jobs and runs",
        fold="verdicts.check_start",
    ),
    EventKind(
        "verdict",
        "A run was judged, with figures and the reason; a later verdict with `supersedes` replaces it.",
        "Jobs and runs",
        fold="verdicts.verdict",
        shown=("verdict",),
    ),
    EventKind(
        "retry",
        "A wanted result is to be attempted again after this verdict, not before this time.",
        "Jobs and runs",
        fold="verdicts.retry",
    ),
    EventKind(
        "unavailable",
        "A case cannot run on this system; the reason says what is missing and how to get it.",
        "Jobs and runs",
        fold="campaign.unavailable",
    ),
    EventKind(
        "given_up",
        "A wanted result gets no further attempt; the last verdict stands.",
        "Jobs and runs",
        fold="verdicts.given_up",
    ),
    EventKind(
        "waiting",
        "The reason why runs of a class wait has changed.",
        "Jobs and runs",
        fold="campaign.waiting",
        shown=("class",),
    ),
    EventKind(
        "asked",
        "How often each command of the scheduler was run by this driver so far.",
        "Jobs and runs",
        fold="campaign.asked",
    ),
    EventKind(
        "paused",
        "A component orders nothing new until it is continued: who or what paused it, for which cause, and why.",
        "Standing orders",
        fold="overrides.paused",
        act="pause",
        consent=True,
        request="pause",
    ),
    EventKind(
        "continued",
        "A paused component, or a case that was stopped, goes on.",
        "Standing orders",
        fold="overrides.continued",
        act="resume",
        consent=True,
        request="continue",
    ),
    EventKind(
        "capped",
        "At most so many runs of a test at once from now on; none for the plan's own number.",
        "Standing orders",
        fold="overrides.capped",
        act="cap",
        consent=True,
        request="cap",
    ),
    EventKind(
        "budget_set",
        "At most so much of a budget from now on; none for the plan's own amount.",
        "Standing orders",
        fold="overrides.budget_set",
        act="budget",
        consent=True,
        request="budget",
    ),
    EventKind(
        "excluded",
        "Nodes are given no more work: which, and the evidence or the person.",
        "Standing orders",
        fold="overrides.excluded",
        act="exclude",
        consent=True,
        request="exclude",
    ),
    EventKind(
        "included",
        "Excluded nodes may be given work again.",
        "Standing orders",
        fold="overrides.included",
        act="include",
        consent=True,
        request="include",
    ),
    EventKind(
        "drain_request",
        "A component, or all, is to come to its end: nothing new is ordered, what runs may end.",
        "Standing orders",
        fold="overrides.drain_request",
        act="drain",
        consent=True,
        request="drain",
    ),
    EventKind(
        "clock",
        "The clock of a component was started, stopped, let go on or started anew: from when, for which cause, by whom.",
        "Standing orders",
        fold="overrides.clock",
        act="clock",
        consent=True,
        request="clock",
    ),
    EventKind(
        "again",
        "A component is run again: its results are wanted once more, or what is missing of its time.",
        "Standing orders",
        fold="again.again",
        shown=("component", "by"),
        act="again",
        consent=True,
        request="again",
    ),
    EventKind(
        "case_stopped",
        "A case failed so often in a row that it is ordered no more; with its runs.",
        "Standing orders",
        fold="overrides.case_stopped",
    ),
    EventKind(
        "ruled",
        "A person said whose failure a run was, beside its verdict: as what, who and why; a later ruling replaces it.",
        "What people say",
        fold="campaign.doubted",
        shown=("as", "by"),
        act="rule",
        consent=True,
        afterwards=True,
        request="rule",
    ),
    EventKind(
        "noted",
        "A person put a run down to a class of failures, or attached a ticket to it; no verdict and no outcome changes by it.",
        "What people say",
        shown=("class", "ticket", "by"),
        afterwards=True,
        request="note",
    ),
    EventKind(
        "changed",
        "A person declared a change of the machine or its surroundings: it opened a new epoch.",
        "What people say",
        shown=("by",),
        act="change",
        consent=True,
        opens_epoch="machine",
        request="change",
    ),
    EventKind(
        "waived",
        "A person accepted a criterion, gate, row, change of conditions or issue as it is: which, its restriction, who and why.",
        "What people say",
        fold="campaign.waived",
        shown=("what", "component", "name", "restriction", "by"),
        act="waive",
        consent=True,
        afterwards=True,
        request="waive",
    ),
    EventKind(
        "attested",
        "A person attested a procedure: met or not met, who, when, and the digests of the evidence files.",
        "What people say",
        fold="campaign.attested",
        shown=("component", "procedure", "by"),
        act="attest",
        consent=True,
        request="attest",
    ),
    EventKind(
        "drilled",
        "A person said when a drill began or ended: which, as of when, who, and the digests of the evidence files.",
        "What people say",
        fold="drills.drilled",
        shown=("component", "drill", "act", "by"),
        act="drill",
        consent=True,
        request="drill",
    ),
    EventKind(
        "fingerprint",
        "Settings, firmware, libraries and default modules as found on the nodes, grouped by equality; a change opens an epoch.",
        "What people say",
        fold="campaign.fingerprint",
        request="fingerprint",
    ),
    EventKind(
        "component_outcome",
        "A component came out met, not met or undecided when it was over; gates open by it.",
        "What people say",
        fold="campaign.component_outcome",
        shown=("component", "outcome"),
    ),
    EventKind(
        "rejudged",
        "A person had kept outputs judged again: who, why, how many were looked at, replaced and stand.",
        "What people say",
        shown=("examined", "replaced", "kept", "by"),
        act="rejudge",
        consent=True,
        afterwards=True,
    ),
    EventKind(
        "agreed",
        "A person agreed to what others did: which acts, the digest of each, and the signature where a key was used.",
        "What people say",
        fold="campaign.agreed",
        shown=("by",),
        act="agree",
        afterwards=True,
        request="agree",
    ),
    EventKind(
        "withdrawn",
        "A person took back what was said before, a waiver or a ruling: which event; both stay in the record.",
        "What people say",
        fold="campaign.withdrawn",
        shown=("events", "by"),
        act="withdraw",
        consent=True,
        afterwards=True,
        request="withdraw",
    ),
    EventKind(
        "sealed",
        "The record up to here was sealed: the digest that both sides sign.",
        "What people say",
        shown=("digest", "by"),
        afterwards=True,
    ),
    EventKind(
        "snapshot",
        "The folded state up to here was saved beside the log, under this digest.",
        "Snapshots",
    ),
    EventKind(
        "finding",
        "Something worth knowing that is no verdict, such as a mark that came after one.",
        "Findings",
        fold="findings.finding",
        shown=("kind",),
    ),
)
