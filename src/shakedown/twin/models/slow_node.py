"""One slow node in a bulk-synchronous job: what it costs, what balancing the work would give, and how it is found.

All wait for the slowest rank in every step: with the share f of the step in which nodes work at their own speed, and s the speed
of the slowest, the step takes 1 - f + f / s of its time. Paper 000, section on SPARTA: 1.2 million ranks on 19,000 nodes ran more
than 20 times faster without two slow nodes; timers of each rank found them, one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shakedown.model.errors import UsageError

Floats = npt.NDArray[np.float64]

MOST_RANKS = 20_000_000
OUTLIER_SCORE = 6.0  # beyond it a healthy node of 20,000 lies less than once in ten thousand jobs, were times normal
LEAST_SLOWER = 0.01  # and nobody looks for a node that is less than this much slower
_MAD_TO_SD = 1.4826  # of the normal distribution: its standard deviation over its median absolute deviation
MOST_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class SlowJob:
    """``nodes`` of ``ranks_per_node``; ``slow`` of them run at ``speed`` (1 is that of the others). ``compute_share``: of a step,
    that is work at the node's own speed. ``spread``: the standard deviation of the ranks' work, as a share of it."""

    nodes: int
    ranks_per_node: int
    slow: int
    speed: float
    compute_share: float = 1.0
    spread: float = 0.01

    def __post_init__(self) -> None:
        if self.nodes < 1 or self.ranks_per_node < 1 or self.nodes * self.ranks_per_node > MOST_RANKS:
            raise UsageError(
                f"{self.nodes} nodes of {self.ranks_per_node} ranks: up to {MOST_RANKS:,} ranks can be modelled"
            )
        if not 0 <= self.slow <= self.nodes:
            raise UsageError(f"{self.slow} slow nodes of {self.nodes}: there are not so many")
        if not 1e-6 <= self.speed <= 1:
            raise UsageError(f"a speed of {self.speed:g}: it is a share of a healthy node's, above 0 and up to 1")
        if not 0 <= self.compute_share <= 1:
            raise UsageError(f"a compute share of {self.compute_share:g}: it is from 0 to 1")
        if not 0 <= self.spread <= 0.2:
            raise UsageError(f"a spread of {self.spread:g}: it is from 0 to 0.2")


@dataclass(frozen=True, slots=True)
class Outlier:
    """A node that was found: its number, the time of its fastest rank over that of the usual node, in which round."""

    node: int
    times_usual: float
    score: float
    round: int


@dataclass(frozen=True, slots=True)
class Removal:
    """``slowdown``: the job's time over that of a healthy machine, with so many of its slow nodes removed."""

    nodes: int
    slowdown: float


@dataclass(frozen=True, slots=True)
class SlowNodeStudy:
    """Times of the job over that of one without slow nodes. ``rebalanced``: the work shared by speed. ``lost_node_share``: of
    all node time, what healthy nodes wait.

    ``found``: by timers alone. ``planted``: the nodes that are slow. ``scores``: of every node in the first round.
    ``speeds``, ``slowdowns``: the job's time if its slowest node had that speed.
    """

    job: SlowJob
    seed: int
    slowdown: float
    removed: tuple[Removal, ...]
    rebalanced: float
    lost_node_share: float
    planted: tuple[int, ...]
    found: tuple[Outlier, ...]
    scores: tuple[float, ...]
    speeds: tuple[float, ...]
    slowdowns: tuple[float, ...]


def study_slow_node(job: SlowJob, seed: int = 0) -> SlowNodeStudy:
    """Purpose: what the slow nodes cost, and whether the timers of all ranks would show them."""
    planted, times = rank_times(job, seed)
    least = times.min(axis=1)
    speeds = np.geomspace(min(0.02, job.speed), 1.0, 60)
    return SlowNodeStudy(
        job=job,
        seed=seed,
        slowdown=slowdown(job.speed if job.slow else 1.0, job.compute_share),
        removed=_removed(job),
        rebalanced=slowdown(1 - job.slow / job.nodes * (1 - job.speed), job.compute_share),
        lost_node_share=_lost(job),
        planted=tuple(sorted(planted.tolist())),
        found=find_slow_nodes(least),
        scores=tuple(robust_scores(least).tolist()),
        speeds=tuple(speeds.tolist()),
        slowdowns=tuple(slowdown(speed, job.compute_share) for speed in speeds.tolist()),
    )


def slowdown(speed: float, compute_share: float = 1.0) -> float:
    """Time of a job over its time at speed 1, where all wait for a rank of this speed; or where the work is shared by speed and
    this is their mean."""
    return 1 - compute_share + compute_share / speed


def rank_times(job: SlowJob, seed: int = 0) -> tuple[npt.NDArray[np.int64], Floats]:
    """The slow nodes, and the time that each rank spent in its kernel, nodes by ranks, 1 in the mean on a healthy node."""
    rng = np.random.default_rng(seed)
    slow = rng.choice(job.nodes, job.slow, replace=False)
    times = rng.standard_normal((job.nodes, job.ranks_per_node))
    times *= job.spread
    times += 1.0
    np.maximum(times, 0.01, out=times)
    times[slow] /= job.speed
    return slow, times


def find_slow_nodes(node_s: Sequence[float] | Floats) -> tuple[Outlier, ...]:
    """Purpose: the slow nodes among these, the slowest first, from the time of each node's fastest rank: where the node is
    slow all of its ranks are, where the work is uneven only some.

    Nodes beyond OUTLIER_SCORE robust deviations are set aside and the rest is asked again, until there is none: the slowest no
    longer hide those that are slow beside them.
    """
    times = np.asarray(node_s, dtype=np.float64)
    left = np.arange(len(times))
    usual = float(np.median(times)) if len(times) else 0.0
    found: list[Outlier] = []
    for number in range(1, MOST_ROUNDS + 1):
        if len(left) < 3:
            break
        scores = robust_scores(times[left])
        bad = (scores > OUTLIER_SCORE) & (times[left] > (1 + LEAST_SLOWER) * np.median(times[left]))
        if not bad.any():
            break
        found += [
            Outlier(node, float(times[node]) / usual, score, number)
            for node, score in zip(left[bad].tolist(), scores[bad].tolist(), strict=True)
        ]
        left = left[~bad]
    return tuple(sorted(found, key=lambda outlier: (-outlier.times_usual, outlier.node)))


def robust_scores(values: Floats) -> Floats:
    """(value - median) / (1.4826 median absolute deviation); where most values are equal a thousandth of the median is the
    least deviation, so that rounding makes no outlier."""
    middle = np.median(values)
    away = values - middle
    scale = max(_MAD_TO_SD * float(np.median(np.abs(away))), 1e-3 * abs(float(middle)), 1e-300)
    found: Floats = away / scale
    return found


def _removed(job: SlowJob) -> tuple[Removal, ...]:
    """None, one, all but one and all of the slow nodes; the work of the removed ones is done by those that are left."""
    found = []
    for gone in sorted({0, 1, job.slow - 1, job.slow} & set(range(min(job.slow, job.nodes - 1) + 1))):
        speed = job.speed if gone < job.slow else 1.0
        found.append(Removal(gone, slowdown(speed * (1 - gone / job.nodes), job.compute_share)))
    return tuple(found)


def _lost(job: SlowJob) -> float:
    """Healthy nodes wait for what the step is longer by."""
    long = slowdown(job.speed if job.slow else 1.0, job.compute_share)
    return (job.nodes - job.slow) / job.nodes * (1 - 1 / long)
