"""What the conductor and its helper processes say to each other, through a framed pipe (``processes.framed_pipe``)."""

from __future__ import annotations

from msgspec import Struct

from shakedown.model.nouns import Cluster, Pairs
from shakedown.model.ports import JobOrder, JobReport, ReleaseOrder, SubmitAnswer, Survey, Wanted
from shakedown.schedulers.slurm.job_evidence import Asked

# ---- to a helper -------------------------------------------------------------------------------------------------------


class Setup(Struct, frozen=True, tag=True):
    """The first message. ``root``: the campaign directory, absolute. ``side``: look or act. ``licence_names``: of the system."""

    side: str
    root: bytes
    token: str
    clusters: tuple[Cluster, ...]
    command_s: float
    licence_names: Pairs = ()


class Look(Struct, frozen=True, tag=True):
    """``marks_only``: look for end marks and ask Slurm nothing. ``wanted``: what is to be looked up besides."""

    number: int
    jobs: list[Asked]
    marks_only: bool = False
    wanted: Wanted | None = None


class Submit(Struct, frozen=True, tag=True):
    number: int
    orders: list[JobOrder]


class Stop(Struct, frozen=True, tag=True):
    """Begin no more of this batch."""

    number: int


class Act(Struct, frozen=True, tag=True):
    """``what``: cancel, hold, release (with ``releases``), claim, shut (jobs that are done with never start again), or parts: of
    one job, those in ``parts``.
    """

    number: int
    what: str
    jobs: list[Asked]
    releases: list[ReleaseOrder] = []


# ---- from a helper -----------------------------------------------------------------------------------------------------


class Seen(Struct, frozen=True, tag=True):
    """A part of what a look found; ``last`` where it is over. ``calls``: how often commands were run since the last message.
    ``ended``: jobs have just ended, of which nothing is said before Slurm is asked, or asked again.
    """

    number: int
    reports: list[JobReport] = []
    last: bool = False
    calls: dict[str, int] = {}
    survey: Survey | None = None
    ended: bool = False


class Answered(Struct, frozen=True, tag=True):
    number: int
    answer: SubmitAnswer
    calls: dict[str, int] = {}


class Stopped(Struct, frozen=True, tag=True):
    """``begun``: orders of the batch that sbatch was given, or may have been."""

    number: int
    begun: list[str]


class Acted(Struct, frozen=True, tag=True):
    """``jobs``: those that it worked for, of parts their runs. ``why_not``: of others, why a held job was not let go, or
    why nobody can tell whether its claim is taken.
    """

    number: int
    jobs: list[str]
    calls: dict[str, int] = {}
    why_not: dict[str, str] = {}


ToHelper = Setup | Look | Submit | Stop | Act
FromHelper = Seen | Answered | Stopped | Acted
