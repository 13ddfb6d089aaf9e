"""How a simulated machine behaves in a rehearsal: run times, builds, nodes, storage, other people, troubles. Frozen data.

The defaults are a healthy machine that nobody else uses. Units are in the names: ``_s`` seconds; times after which something
happens count from the rehearsal's begin; shares are fractions of one.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

Loads = tuple[tuple[str, float], ...]
Spans = tuple[tuple[str, float], ...]  # name -> seconds


class RunTime(Struct, frozen=True):
    """How long the runs of a test take, in seconds: normal, with a tail. ``source``: where the numbers are from, for the reader.

    ``tail_share`` of the runs take ``tail_factor`` times as long; they are drawn apart from the spread.
    """

    mean_s: float
    spread_s: float = 0.0
    tail_share: float = 0.0
    tail_factor: float = 1.0
    source: str = ""


class FigureLaw(Struct, frozen=True):
    """The normal distribution of a figure on a healthy machine, in the figure's unit. ``source``: where the numbers are from."""

    mean: float
    spread: float = 0.0
    source: str = ""


class Builds(Struct, frozen=True):
    """Builds on login nodes: normal in time, first come first served on ``slots`` at once (0 = no limit).

    ``times``: build or test -> its own mean. ``failing``: the share that fails. ``broken``: builds, tests and toolchains of which
    nothing builds.
    """

    slots: int = 0
    mean_s: float = 30.0
    spread_s: float = 0.0
    failing: float = 0.0
    times: Spans = ()
    broken: tuple[str, ...] = ()


class Nodes(Struct, frozen=True):
    """``mtbf_s``: mean time between failures of one node, exponential, 0 = they never fail; ``repair_s``: how long it is down then.

    ``slow``: node -> factor on the time of each run on it; ``slow_share`` of the nodes, drawn, have ``slow_factor``. ``bad``: node
    -> how likely a run on it ends ``bad_as``. ``deaths``: (node, after so many seconds, how long it is down).
    """

    mtbf_s: float = 0.0
    repair_s: float = 14_400.0
    slow: Loads = ()
    slow_share: float = 0.0
    slow_factor: float = 1.0
    bad: Loads = ()
    bad_as: Literal["failed", "node_fail"] = "failed"
    deaths: tuple[tuple[str, float, float], ...] = ()


class Hang(Struct, frozen=True):
    """A span in which a metadata target does not answer. ``target`` "" = all of them."""

    target: str
    after_s: float
    lasts_s: float


class Metadata(Struct, frozen=True):
    """The metadata targets behind a budget (``f2/mdt``), under ``n`` = the sum of what loads one of them.

    An operation takes S(n) = 1 + sigma (n - 1) + kappa n (n - 1) times as long as alone: Gunther's universal scalability law,
    solved for the time of one. A run's metadata ``share`` of its time (``shares``: by test) grows by max(1, S(n) / S(healthy)): the
    run times that are written hold for up to ``healthy`` copies. A run that begins while more than ``hangs_past`` load its target,
    itself included, never goes on (0 = none does so). ``every_run``: what a run loads that the plan gives no load, on ``target``
    ("" = the first): so it is where nobody thinks of targets. All of the numbers are assumed: no paper prints them.
    """

    budget: str
    sigma: float = 0.05
    kappa: float = 0.01
    healthy: float = 8.0
    share: float = 0.1
    shares: Loads = ()
    hangs_past: float = 0.0
    every_run: float = 0.0
    target: str = ""
    hangs: tuple[Hang, ...] = ()


class Bandwidth(Struct, frozen=True):
    """The largest bandwidth of a file system behind a budget (``f2/bandwidth``), in base units.

    While the loads together are more than ``capacity``, the ``share`` of their time in which runs move data (``shares``: by test)
    grows by loads / capacity.
    """

    budget: str
    capacity: float
    share: float = 0.1
    shares: Loads = ()


class Neighbour(Struct, frozen=True):
    """What others do by the hours of a week: ``loads``: budget -> amount (of a targeted one on each target), from ``from_s`` to
    ``to_s`` seconds after Monday 00:00 in ``zone``, over the week's end where that is not later. ``pending``: jobs that wait on
    ``cluster`` then.
    """

    cluster: str
    from_s: float
    to_s: float
    loads: Loads = ()
    pending: int = 0
    zone: str = "UTC"


class Maintenance(Struct, frozen=True):
    """Nodes (a folded set, "" = all) that nobody gets for a time. From ``announced_s`` before it (None = from the first moment on)
    no job starts there that could run into it; one that runs all the same at its begin is ``killed``, or ``left`` to its end.
    """

    after_s: float
    lasts_s: float
    nodes: str = ""
    announced_s: float | None = None
    running: Literal["killed", "left"] = "killed"


class Hole(Struct, frozen=True):
    """From ``after_s`` on all that is submitted of these tests goes nowhere, until a person notices: ``lasts_s`` later."""

    tests: tuple[str, ...]
    after_s: float
    lasts_s: float


class Harness(Struct, frozen=True):
    """A harness between the plan and the scheduler, as in paper 004 VI.E and IV.E.

    ``build_first``: every job waits for a build of its own on a login slot. ``forgets``: the share of the submissions that go
    nowhere until a person notices, ``notice_s`` later. ``in_job``: test -> until when its jobs build the next one before they end.
    """

    build_first: bool = False
    forgets: float = 0.0
    notice_s: float = 259_200.0
    holes: tuple[Hole, ...] = ()
    in_job: Spans = ()


class Queue(Struct, frozen=True):
    """The scheduler: EASY backfill every ``cycle_s`` (0 = at once) among ``depth`` jobs from the first that waits on (0 = all);
    ``fifo``: none at all.

    Whose turn it is goes by size x (nodes / all) + age x (waiting / 7 d, at most 1), highest first; both 0: in the order of
    submission.
    """

    cycle_s: float = 0.0
    depth: int = 0
    fifo: bool = False
    size: float = 0.0
    age: float = 0.0


class Faults(Struct, frozen=True):
    """Shares of runs that end badly, independent of nodes and storage; drawn for each run."""

    failed: float = 0.0
    incorrect: float = 0.0
    timeout: float = 0.0
    node_fail: float = 0.0
    requeued: float = 0.0


class Scenario(Struct, frozen=True):
    """A rehearsal's machine. ``times``: test, or case, -> how long its runs take; what has none follows a contract's row, or takes
    ``assumed`` of its walltime. ``times_from``: a past campaign whose runs say it. ``begins_s``: the time of the week at which it
    begins, in seconds after Monday 00:00 in ``zone``; None = no matter. ``figures``: (test or case, figure, what it is); of all
    others nobody knows anything. ``not_modelled``: test -> what is known of it from that campaign and not taken over, in a
    sentence.
    """

    name: str = ""
    about: str = ""
    times: tuple[tuple[str, RunTime], ...] = ()
    times_from: str = ""
    assumed: float = 0.5
    begins_s: float | None = None
    zone: str = "UTC"
    builds: Builds = field(default_factory=Builds)
    nodes: Nodes = field(default_factory=Nodes)
    metadata: tuple[Metadata, ...] = ()
    bandwidth: tuple[Bandwidth, ...] = ()
    others: tuple[Neighbour, ...] = ()
    maintenance: tuple[Maintenance, ...] = ()
    harness: Harness = field(default_factory=Harness)
    queue: Queue = field(default_factory=Queue)
    faults: Faults = field(default_factory=Faults)
    figures: tuple[tuple[str, str, FigureLaw], ...] = ()
    not_modelled: tuple[tuple[str, str], ...] = ()
