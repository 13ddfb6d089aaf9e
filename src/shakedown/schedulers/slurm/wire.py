"""The messages between the conductor and its helper processes, sent through a framed pipe (``processes.framed_pipe``)."""

from __future__ import annotations

from msgspec import Struct

from shakedown.model.nouns import Cluster, Pairs
from shakedown.model.ports import JobOrder, JobReport, ReleaseOrder, SubmitAnswer, Survey, Wanted
from shakedown.schedulers.slurm.job_evidence import Asked

# ---- to a helper -------------------------------------------------------------------------------------------------------


class Setup(Struct, frozen=True, tag=True):
    """The first message. ``root``: the campaign directory, absolute. ``side``: "look" or "act". ``licence_names``:
    of the system.
    """

    side: str
    root: bytes
    token: str
    clusters: tuple[Cluster, ...]
    command_s: float
    licence_names: Pairs = ()


class Look(Struct, frozen=True, tag=True):
    """Look at these jobs. ``marks_only``: only look for end marks, without asking Slurm. ``wanted``: what to look up besides."""

    number: int
    jobs: list[Asked]
    marks_only: bool = False
    wanted: Wanted | None = None


class Submit(Struct, frozen=True, tag=True):
    """Submit these orders, as the batch ``number``."""

    number: int
    orders: list[JobOrder]


class Stop(Struct, frozen=True, tag=True):
    """Begin no more orders of this batch."""

    number: int


class Act(Struct, frozen=True, tag=True):
    """Do something to jobs. ``what``: "cancel"; "hold"; "release" (with ``releases``); "claim"; "shut": make sure that jobs which
    are done with never start again; or "parts": take the claims of those in ``parts`` of one job.
    """

    number: int
    what: str
    jobs: list[Asked]
    releases: list[ReleaseOrder] = []


# ---- from a helper -----------------------------------------------------------------------------------------------------


class Seen(Struct, frozen=True, tag=True):
    """A part of what a look found. ``last``: the look is over. ``calls``: how often commands were run since the last message.
    ``ended``: jobs have just ended of which nothing is reported before Slurm is asked (again).
    """

    number: int
    reports: list[JobReport] = []
    last: bool = False
    calls: dict[str, int] = {}
    survey: Survey | None = None
    ended: bool = False


class Answered(Struct, frozen=True, tag=True):
    """The answer to one order of a batch."""

    number: int
    answer: SubmitAnswer
    calls: dict[str, int] = {}


class Stopped(Struct, frozen=True, tag=True):
    """A batch was stopped. ``begun``: orders that were, or may have been, given to sbatch."""

    number: int
    begun: list[str]


class Acted(Struct, frozen=True, tag=True):
    """``jobs``: those for which it worked; for parts, their runs. ``why_not``: for others, why a held job was not released, or why
    it cannot be told whether a claim is taken.
    """

    number: int
    jobs: list[str]
    calls: dict[str, int] = {}
    why_not: dict[str, str] = {}


ToHelper = Setup | Look | Submit | Stop | Act
FromHelper = Seen | Answered | Stopped | Acted
