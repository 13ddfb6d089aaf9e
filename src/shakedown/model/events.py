"""One event of the record, and the one line format. ``model.event_kinds`` declares every event there is.

A line of the log is one JSON object: ``v`` (version of the line), ``seq`` (1, 2, 3... without gaps), ``time`` (the driver's clock,
seconds since 1970, never backwards), ``event`` (a name below), the ids it concerns, ``value`` (facts, at most 4 kB) and
``reason`` (a sentence). Orders carry the ``now`` and ``at`` (seq) they were decided at in ``value``.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from shakedown.model.event_kinds import EVENT_KINDS

LINE_VERSION: Final = 1
VALUE_LIMIT: Final = 4096  # bytes of an event's value; what is larger is kept in a file and pointed to

MOMENTS = msgspec.Meta(ge=0.0, le=250e9)  # seconds since 1970; what is beyond has no date that people could be shown

EVENTS: Final[dict[str, str]] = {kind.name: kind.about for kind in EVENT_KINDS}


class Event(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One line of the record. ``value`` is JSON data; readers must not alter it."""

    event: str
    seq: int = 0
    time: Annotated[float, MOMENTS] = 0.0
    v: int = LINE_VERSION
    case: str = ""
    run: str = ""
    job: str = ""
    build: str = ""
    value: dict[str, Any] = {}
    reason: str = ""


VERDICTS: Final[dict[str, str]] = {
    "passed": "It ran to its end and every check and figure was there.",
    "failed": "It ended with an error: an exit status, a signal, a message, ranks that its launcher lost.",
    "incorrect": "It ran to its end, but its answer is wrong or missing.",
    "performance": "It ran to its end correctly, but outside the bounds frozen at the start.",
    "timeout": "It was ended at its time limit.",
    "node_fail": "A node it ran on failed.",
    "interrupted": "It was ended by something outside it (the conductor on this machine, a requeue, a preemption), "
    "or did not run as its case asks.",
    "build_failed": "What it needs could not be built.",
    "not_run": "What it needs did not pass, or did not leave the files for it: it was not started.",
    "spared": "Its ladder does not need this size, since others say how it would end: it was not started, and is in no count.",
    "submit_failed": "The scheduler refused it, or took it and nothing shows that it ran.",
    "cancelled": "A person cancelled it.",
    "lost": "Nothing that was asked could tell what became of it before the deadline.",
    "undetermined": "It ran to its end, but what it left could not be read or judged for reasons not its own; it is judged again.",
}

NO_LONGER_WANTED: Final = "no longer wanted"  # the component of what no plan wants: an order that was taken back
SPARED: Final = "spared"  # no attempt was made, since none is needed: in no count
UNDETERMINED: Final = "undetermined"  # neither for nor against what was tested: in no count but its own
COMPLETED: Final = frozenset({"passed", "incorrect", "performance"})  # verdicts of runs that ran to their end
NEVER_STARTED: Final = frozenset(
    {"build_failed", "not_run", "spared", "submit_failed"}
)  # verdicts of attempts that executed nothing

PARTIES: Final[dict[str, str]] = {
    "vendor": "The machine or what the vendor delivered with it.",
    "site": "What the site runs around it: power, file systems, networks, people.",
    "application": "The test's own program or input.",
    "harness": "Shakedown, or how it was used.",
    "excused": "Nobody's: both sides agreed not to count it.",
}


_AFTERWARDS: Final = frozenset(kind.name for kind in EVENT_KINDS if kind.afterwards)

# event -> the facts of its value that are shown
SHOWN: Final[dict[str, tuple[str, ...]]] = {kind.name: kind.shown for kind in EVENT_KINDS}

# event -> what is new in the epoch that it opens: the plan or the machine
OPENS_EPOCH: Final[dict[str, str]] = {kind.name: kind.opens_epoch for kind in EVENT_KINDS if kind.opens_epoch}

# event -> the kind of act, which is the command's name
ACTS: Final[dict[str, str]] = {kind.name: kind.act for kind in EVENT_KINDS if kind.act}

EPOCH_ACTS: Final = frozenset(
    ACTS[name] for name, new in OPENS_EPOCH.items() if new == "machine"
)  # a change of the machine, declared

CONSENT: Final = tuple(
    sorted(kind.act for kind in EVENT_KINDS if kind.consent)
)  # acts that a plan may ask agreement for


def is_act(event: Event) -> bool:
    """Purpose: whether an event is what a person did to a campaign. A signal (Ctrl-C) only ends the conductor."""
    return event.event in ACTS and (event.event != "stop_request" or bool(event.value.get("request")))


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
