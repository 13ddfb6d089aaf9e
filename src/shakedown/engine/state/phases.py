"""The phases of campaigns, builds, jobs and runs, and how far requests to a scheduler have come.

Each is a string as well: records, snapshots and JSON have the word itself.
"""

from __future__ import annotations

from enum import StrEnum


class CampaignPhase(StrEnum):
    """Phases of a campaign as a whole."""

    NOT_BEGUN = ""
    RUNNING = "running"
    ENDED = "ended"


class BuildPhase(StrEnum):
    """Phases of a build. ``HELD``: it could not be carried out (no room, for example) and is tried again."""

    ORDERED = "ordered"
    STARTED = "started"
    DONE = "done"
    FAILED = "failed"
    HELD = "held"


class JobPhase(StrEnum):
    """Phases of a job at a scheduler.

    ``ORDERED``: the order is durable and not answered yet. ``AMBIGUOUS``: it is not known whether the scheduler took it.
    ``ORPHANED``: its run is judged, but the job may not be over, so what it takes stays reserved.
    """

    ORDERED = "ordered"
    AMBIGUOUS = "ambiguous"
    REFUSED = "refused"
    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"
    ORPHANED = "orphaned"


class RunPhase(StrEnum):
    """Phases of a run, one attempt at a wanted result.

    ``ENDED``: its output is to be collected. ``JUDGED``: it has a verdict, and whether another attempt follows is still open.
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
    """How far a request to a scheduler has come. ``WANTED``: to be made, or made again. ``ORDERED``: on its way. ``TAKEN``:
    accepted.
    """

    NONE = ""
    WANTED = "wanted"
    ORDERED = "ordered"
    TAKEN = "taken"


class Claim(StrEnum):
    """What is known of a job's claim. ``ORDERED``: the driver is to take it, so that the job never starts. ``FOUND``: the job
    itself has taken it, so it began.
    """

    NONE = ""
    ORDERED = "ordered"
    FOUND = "found"


# Sets are looked up where every job or run is asked: in Python 3.11 each ``JobPhase.QUEUED`` costs as much as ten such look-ups.
NOT_BEGUN = frozenset({JobPhase.ORDERED, JobPhase.AMBIGUOUS, JobPhase.QUEUED})  # jobs, as far as was looked
UNANSWERED = frozenset({JobPhase.ORDERED, JobPhase.AMBIGUOUS})  # jobs of which nobody knows whether they were taken
LIVE = frozenset({JobPhase.QUEUED, JobPhase.RUNNING})  # jobs that the scheduler has
OVER = frozenset({JobPhase.ENDED, JobPhase.ORPHANED})  # jobs that ended, or whose run is judged
RUN_NOT_BEGUN = frozenset({RunPhase.ORDERED, RunPhase.QUEUED})
RUN_OVER = frozenset({RunPhase.ENDED, RunPhase.CHECKING, RunPhase.JUDGED})


def _members_as_plain_attributes(kind: type[StrEnum]) -> None:
    """Make ``JobPhase.QUEUED`` as fast as any attribute. Python 3.11 goes through a descriptor, which takes ten times as long,
    and the engine compares phases for every job at every event.
    """
    for name, member in kind.__members__.items():
        type.__setattr__(kind, name, member)


for _kind in (CampaignPhase, BuildPhase, JobPhase, RunPhase, Step, Claim):
    _members_as_plain_attributes(_kind)
