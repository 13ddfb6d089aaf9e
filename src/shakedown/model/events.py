"""Every event there is, a sentence each, and the one line format of the record.

A line of the log is one JSON object: ``v`` (version of the line), ``seq`` (1, 2, 3... without gaps), ``time`` (the driver's clock,
seconds since 1970, never backwards), ``event`` (a name below), the ids it concerns, ``value`` (facts, at most 4 kB) and
``reason`` (a sentence). Orders carry the ``now`` and ``at`` (seq) they were decided at in ``value``.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

LINE_VERSION: Final = 1
VALUE_LIMIT: Final = 4096  # bytes of an event's value; what is larger is kept in a file and pointed to

EVENTS: Final[dict[str, str]] = {
    # the campaign
    "campaign_start": "A campaign was created from the frozen document with this digest.",
    "amended": "A new frozen document took effect and opened a new epoch: the difference, who and why.",
    "driver_start": "A conductor took the lease; what it finds unfinished is looked into before anything new is ordered.",
    "driver_stop": "The conductor left in good order and gave the lease back.",
    "stop_request": "Someone asked that nothing new be submitted; what runs may end.",
    "cancel_request": "Someone cancelled runs, cases or the whole campaign: who, what and why.",
    "command_refused": "A command from the inbox could not be carried out; the reason says why.",
    "campaign_end": "Every wanted result is judged, unavailable or cancelled; nothing is left to do.",
    # builds
    "build_order": "A build was decided on; it is durable before the build starts.",
    "build_start": "The build began: as a process, or its job was accepted; its identity is in the value.",
    "build_end": "The build ended: done or failed, and where its log is.",
    # jobs and runs
    "submit_order": "A job was decided on: which run of which case it holds; it is durable before the scheduler sees it.",
    "submit_accepted": "The scheduler took the job and gave it this id.",
    "submit_refused": "The scheduler would not take the job, for good; with its words.",
    "submit_deferred": "The job was certainly not taken, for a reason that passes; its run waits again, not before this time.",
    "submit_unknown": "The submission neither succeeded nor failed for certain; it is looked up before it is replaced.",
    "job_report": "What a source (marks, queue, accounting) said of a job changed.",
    "release_order": "A held job may start from now on: the targets that its run loads; its budgets are charged from here.",
    "released": "The scheduler let the held job go, or could not be asked; then it is asked again.",
    "surveyed": "Which nodes that a sweep still wants are idle, and how many jobs wait on clusters that the plan yields to.",
    "hold_order": "The queue of a job is held: the scheduler is to keep it from starting.",
    "held": "The scheduler keeps the job from starting, or could not be asked; then it is asked again.",
    "requeued": "The scheduler started a job again under the same id; this is its new run, the old one is judged.",
    "claim_order": "The claim of a job that nobody knows is to be taken, so that it can never run later.",
    "claim_taken": "We hold the claim: the job never ran and never will; its run goes back to waiting.",
    "claim_found": "The job holds its own claim: it did start; its marks and its deadline decide.",
    "claim_unknown": "Whether the claim is taken could not be told: the file system did not answer; it is tried again.",
    "returned": "The job is over, nothing of its payload ran, and its queue was held: its run waits again, no attempt is spent.",
    "cancel_order": "A live job is to be ended.",
    "cancel_done": "The scheduler took the cancellation; only its report says that the job ended.",
    "check_start": "The outputs of a run that ended are being collected and checked.",
    "verdict": "A run was judged, with figures and the reason; a later verdict with `supersedes` replaces it.",
    "retry": "A wanted result is to be attempted again after this verdict, not before this time.",
    "unavailable": "A case cannot run on this system; the reason says what is missing and how to get it.",
    "given_up": "A wanted result gets no further attempt; the last verdict stands.",
    "waiting": "The reason why runs of a class wait has changed.",
    "asked": "How often each command of the scheduler was run by this driver so far.",
    # standing orders, by a person or by the plan
    "paused": "A component orders nothing new until it is continued: who or what paused it, for which cause, and why.",
    "continued": "A paused component, or a case that was stopped, goes on.",
    "capped": "At most so many runs of a test at once from now on; none for the plan's own number.",
    "budget_set": "At most so much of a budget from now on; none for the plan's own amount.",
    "excluded": "Nodes are given no more work: which, and the evidence or the person.",
    "included": "Excluded nodes may be given work again.",
    "drain_request": "A component, or all, is to come to its end: nothing new is ordered, what runs may end.",
    "clock": "The clock of a component was started, stopped, let go on or started anew: from when, for which cause, by whom.",
    "again": "A component is run again: its results are wanted once more, or what is missing of its time.",
    "case_stopped": "A case failed so often in a row that it is ordered no more; with its runs.",
    # what people say
    "ruled": "A person said whose failure a run was, beside its verdict: as what, who and why; a later ruling replaces it.",
    "changed": "A person declared a change of the machine or its surroundings: it opened a new epoch.",
    "waived": "A person accepted a criterion, a gate or a row as it is: which, the restriction that goes with it, who and why.",
    "attested": "A person attested a procedure: met or not met, who, when, and the digests of the evidence files.",
    "fingerprint": "Settings, firmware and libraries as found on the nodes, grouped by equality; a change opens an epoch.",
    "component_outcome": "A component came out met, not met or undecided when it was over; gates open by it.",
    "rejudged": "A person had kept outputs judged again: who, why, how many were looked at, replaced and stand.",
    "agreed": "A person agreed to what others did: which acts, the digest of each, and the signature where a key was used.",
    "withdrawn": "A person took back what was said before, a waiver or a ruling: which event; both stay in the record.",
    "sealed": "The record up to here was sealed: the digest that both sides sign.",
    "snapshot": "The folded state up to here was saved beside the log, under this digest.",
    # findings
    "finding": "Something worth knowing that is no verdict, such as a mark that came after one.",
}


class Event(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One line of the record. ``value`` is JSON data; readers must not alter it."""

    event: str
    seq: int = 0
    time: float = 0.0
    v: int = LINE_VERSION
    case: str = ""
    run: str = ""
    job: str = ""
    build: str = ""
    value: dict[str, Any] = {}
    reason: str = ""


VERDICTS: Final[dict[str, str]] = {
    "passed": "It ran to its end and every check and figure was there.",
    "failed": "It ended with an error: an exit status, a signal, a message.",
    "incorrect": "It ran to its end, but its answer is wrong or missing.",
    "performance": "It ran to its end correctly, but outside the bounds frozen at the start.",
    "timeout": "It was ended at its time limit.",
    "node_fail": "A node it ran on failed.",
    "interrupted": "It was ended by something outside it: the conductor on this machine, a requeue, a preemption.",
    "build_failed": "What it needs could not be built.",
    "submit_failed": "The scheduler refused it.",
    "cancelled": "A person cancelled it.",
    "lost": "Nothing that was asked could tell what became of it before the deadline.",
    "undetermined": "It ran to its end, but what it left could not be read or judged for reasons not its own; it is judged again.",
}

UNDETERMINED: Final = "undetermined"  # neither for nor against what was tested: in no count but its own
COMPLETED: Final = frozenset({"passed", "incorrect", "performance"})  # verdicts of runs that ran to their end
NEVER_STARTED: Final = frozenset({"build_failed", "submit_failed"})  # verdicts of attempts that executed nothing

PARTIES: Final[dict[str, str]] = {
    "vendor": "The machine or what the vendor delivered with it.",
    "site": "What the site runs around it: power, file systems, networks, people.",
    "application": "The test's own program or input.",
    "harness": "Shakedown, or how it was used.",
    "excused": "Nobody's: both sides agreed not to count it.",
}


_AFTERWARDS: Final = frozenset({"agreed", "rejudged", "ruled", "sealed", "waived", "withdrawn"})

ACTS: Final[dict[str, str]] = {
    "amended": "amend",
    "changed": "change",
    "ruled": "rule",
    "waived": "waive",
    "attested": "attest",
    "excluded": "exclude",
    "included": "include",
    "capped": "cap",
    "budget_set": "budget",
    "paused": "pause",
    "continued": "resume",
    "drain_request": "drain",
    "clock": "clock",
    "cancel_request": "cancel",
    "stop_request": "stop",
    "rejudged": "rejudge",
    "again": "again",
    "withdrawn": "withdraw",
    "agreed": "agree",
}  # event -> the kind of act, which is the command's name


def is_act(event: Event) -> bool:
    """Purpose: whether an event is what a person did to a campaign. A signal (Ctrl-C) only ends the conductor."""
    return event.event in ACTS and (event.event != "stop_request" or bool(event.value.get("request")))


CONSENT: Final = (
    *("amend", "attest", "change", "clock", "rejudge", "rule", "waive"),  # acts that can wait for an agreement
    *("budget", "cap", "exclude", "pause"),  # those that cannot be undone: the outcome is disputed until it is there
)


def is_afterwards(event: Event) -> bool:
    """Purpose: whether an event only says something of what was, whenever that is said: no time of the campaign passes by it."""
    if event.event in ("verdict", "finding"):
        return "rejudged" in event.value
    return event.event in _AFTERWARDS


def machine_changed(value: dict[str, Any], last: str) -> bool:
    """Purpose: whether a fingerprint's value says that the machine is not as it was under the digest ``last``, "" for none.

    Nodes that answer for the first time are no change, as long as the others are as they were.
    """
    only_first_answers = bool(value.get("first_seen")) and not value.get("since_last")
    return last not in ("", str(value.get("digest", ""))) and not only_first_answers
