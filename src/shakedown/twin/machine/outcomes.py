"""What becomes of runs and nodes, how the scheduler misleads, and who else is on the machine: the switches of the twin."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from shakedown.model.nouns import Case


@dataclass(frozen=True, slots=True)
class Fates:
    """What becomes of runs. Shares of one; the rest end well. ``mean_s`` and ``spread_s`` of the run time, uniform.

    ``tests``: test -> its own (mean, spread). ``slow_nodes``: node -> factor on the time of each run on it. ``bad_nodes``: node
    -> how likely a run on it fails, ``bad_as`` "failed" or "node_fail". ``deaths``: (node, seconds after the start, how long it is
    down). ``repair_s``: how long a node is down by which a job was lost otherwise. ``early``: runs that fail do so before their
    time.
    """

    mean_s: float = 60.0
    spread_s: float = 20.0
    failed: float = 0.0
    incorrect: float = 0.0
    timeout: float = 0.0
    node_fail: float = 0.0
    requeued: float = 0.0
    build_s: float = 30.0
    build_failed: float = 0.0
    collect_s: float = 1.0
    tests: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    slow_nodes: Mapping[str, float] = field(default_factory=dict)
    bad_nodes: Mapping[str, float] = field(default_factory=dict)
    bad_as: str = "failed"
    deaths: tuple[tuple[str, float, float], ...] = ()
    repair_s: float = 0.0
    early: bool = False


@dataclass(frozen=True, slots=True)
class Lies:
    """How the scheduler misleads, one switch each; shares of one unless named ``_s`` (seconds).

    ``refused``: a submission is refused for now. ``timed_out``: it times out although it was accepted.
    ``lost_submit``: it times out and was not accepted. ``late_submit``: it times out and is accepted only ``late_s`` later.
    ``stale_s``: the queue, and what it says of nodes, shows what was true that long ago. ``accounting_late_s``: accounting
    learns of an end so much later. ``accounting_missing``: it never learns of the job. ``runaway``: it says "running" for ever.
    ``purge_s``: how long the queue remembers an ended job. ``alive_after_node_fail``: the processes go on after NODE_FAIL.
    ``marks_late_s``: marks become visible so much later. ``marks_lost``: no end mark is ever written.
    ``unstartable``: it takes the job and then cannot start it. ``launch_failure``: it gives the job its nodes, and one of them
    cannot launch it (a prolog that fails). ``launches_nothing``: nodes that launch no job (a file system that is read-only there),
    each with (from, to) in seconds after the start. ``outage``: share of the minutes in which no source answers.
    ``release_s``: a held job is let go so much later. ``release_unheard``: a release times out although it is carried out.
    ``release_lost``: it times out and is not. ``idle_untrue``: share of the nodes in use that are called idle, minute by minute.
    ``away``: (from, for how long) the campaign's directory is away: jobs that start then end before their claim, and no file of
    a job can be read. ``signalled``: seconds after the start at which all that runs is ended by a signal that nobody explains, and
    how long it ran is not told.
    """

    refused: float = 0.0
    timed_out: float = 0.0
    lost_submit: float = 0.0
    late_submit: float = 0.0
    late_s: float = 90.0
    stale_s: float = 0.0
    accounting_late_s: float = 0.0
    accounting_missing: float = 0.0
    runaway: float = 0.0
    purge_s: float = 300.0
    alive_after_node_fail: float = 0.0
    marks_late_s: float = 0.0
    marks_lost: float = 0.0
    unstartable: float = 0.0
    launch_failure: float = 0.0
    launches_nothing: tuple[tuple[str, float, float], ...] = ()
    outage: float = 0.0
    release_s: float = 0.0
    release_unheard: float = 0.0
    release_lost: float = 0.0
    idle_untrue: float = 0.0
    away: tuple[tuple[float, float], ...] = ()
    signalled: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Others:
    """Other people on the machine; times in seconds after the start.

    ``busy``: (node, from, to): a job of theirs is to have it then; it waits for what runs there. ``pending``: (cluster, from, how
    many of their jobs wait there from then on).
    """

    busy: tuple[tuple[str, float, float], ...] = ()
    pending: tuple[tuple[str, float, int], ...] = ()

    def waiting(self, cluster: str, after_s: float) -> int:
        """How many of their jobs wait on a cluster so long after the start."""
        said = [(since, count) for name, since, count in self.pending if name == cluster and since <= after_s]
        return max(said, default=(0.0, 0), key=lambda item: item[0])[1]


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one run: after ``after_s`` it is in ``state``. ``lasts_s``: how long it takes if nothing comes in between;
    ``node``: by which node it fails, "" = by none. ``healthy_s``: how long it takes on nodes that are not slow.
    """

    after_s: float
    state: str
    status: int | None
    lasts_s: float
    node: str = ""
    healthy_s: float = 0.0


Draw = Callable[..., random.Random]


def fate_of(
    fates: Fates,
    draw: Draw,
    case: Case,
    key: tuple[object, ...],
    nodes: Sequence[str],
    again: bool,
    takes_s: float | None = None,
) -> Fate:
    """Purpose: what becomes of the run that ``key`` names, on these nodes. ``again``: it was put back into the queue once.

    ``takes_s``: how long it takes on healthy nodes; None: it is drawn, within the time limit.
    """
    lot, limit = draw("fate", *key), case.shape.time_limit_s
    mean, spread = fates.tests.get(case.test, (fates.mean_s, fates.spread_s))
    healthy = min(max(0.1, mean + spread * (2 * lot.random() - 1)), limit * 0.99) if takes_s is None else takes_s
    drawn = lot.random()
    part = healthy * lot.random()
    slow = max((fates.slow_nodes.get(node, 1.0) for node in nodes), default=1.0) if fates.slow_nodes else 1.0
    lasts = healthy * slow
    for node in nodes if fates.bad_nodes else ():
        if draw("bad", node, *key).random() < fates.bad_nodes.get(node, 0.0):
            return Fate(part, fates.bad_as, 1 if fates.bad_as == "failed" else None, lasts, node, healthy)
    for share, state, status, after in (
        (fates.failed, "failed", 1, part if fates.early else lasts),
        (fates.timeout, "timeout", None, limit),
        (fates.node_fail, "node_fail", None, part),
        (0.0 if again else fates.requeued, "requeued", None, part),
    ):
        if drawn < share:
            node = _one_of(nodes, lot) if state == "node_fail" else ""
            return Fate(min(after, limit), state, status, lasts, node, healthy)
        drawn -= share
    if lasts > limit:
        return Fate(limit, "timeout", None, lasts, "", healthy)
    return Fate(lasts, "completed", 0, lasts, "", healthy)


def _one_of(nodes: Sequence[str], lot: random.Random) -> str:
    return nodes[lot.randrange(len(nodes))] if nodes else ""
