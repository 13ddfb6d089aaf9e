"""The phases that campaigns, builds, jobs and runs go through, and the steps of what is asked of a scheduler.

Each is a string as well: in records, snapshots and JSON it is the word itself.
"""

from __future__ import annotations

from enum import StrEnum


class CampaignPhase(StrEnum):
    """Of a campaign as a whole."""

    NOT_BEGUN = ""
    RUNNING = "running"
    ENDED = "ended"


class BuildPhase(StrEnum):
    """Of a build. ``HELD``: it could not be carried out (no room, for example) and is tried again."""

    ORDERED = "ordered"
    STARTED = "started"
    DONE = "done"
    FAILED = "failed"
    HELD = "held"


class JobPhase(StrEnum):
    """Of a job at a scheduler.

    ``ORDERED``: the order is durable and has no answer yet. ``AMBIGUOUS``: nobody knows whether the scheduler took it.
    ``ORPHANED``: its run is judged, but the job is not known to be dead, so it keeps what it holds.
    """

    ORDERED = "ordered"
    AMBIGUOUS = "ambiguous"
    REFUSED = "refused"
    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"
    ORPHANED = "orphaned"


class RunPhase(StrEnum):
    """Of a run, one attempt at a wanted result.

    ``ENDED``: its output is to be collected. ``JUDGED``: it has a verdict; whether it is attempted again is still open.
    ``UNDETERMINED``: it ended and could not be judged; its facts are kept to judge it again.
    """

    ORDERED = "ordered"
    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"
    CHECKING = "checking"
    JUDGED = "judged"
    UNDETERMINED = "undetermined"


class Step(StrEnum):
    """How far a request to a scheduler has come. ``WANTED``: it is to be made, or made again. ``ORDERED``: it is on its way."""

    NONE = ""
    WANTED = "wanted"
    ORDERED = "ordered"
    TAKEN = "taken"


class Claim(StrEnum):
    """Whether we hold a job's claim, without which it never starts. ``FOUND``: the job itself took it, so it began."""

    NONE = ""
    ORDERED = "ordered"
    FOUND = "found"


NOT_BEGUN = frozenset({JobPhase.ORDERED, JobPhase.AMBIGUOUS, JobPhase.QUEUED})  # as far as was looked
