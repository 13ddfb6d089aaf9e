"""A year of jobs made by a model: the same seed gives the same jobs. It is built after Lublin and Feitelson (2003): sizes in two
stages that favour small jobs and powers of two, run times of two kinds of which larger jobs are more often the longer (log-normal
here, gamma there), submissions with a daily and a weekly cycle. The numbers are assumed, not theirs and not of a machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shakedown.model.errors import UsageError
from shakedown.twin.production.columns import Floats, Whole, Workload, workload_of

DAY_S, WEEK_S = 86400.0, 7 * 86400.0
# assumed: the share of jobs of one node, of whole powers of two among the others, of jobs of the lower stage of sizes
SERIAL, POWER_OF_TWO, LOWER = 0.20, 0.70, 0.97
LOWER_STAGE = 0.5  # assumed: of the logarithm of the machine's size
SHORT_S, SHORT_SPREAD, LONG_S, LONG_SPREAD = 300.0, 1.2, 9000.0, 1.1  # assumed: medians, and spreads of the logarithm
SHORT_SHARE = (0.75, 0.35)  # assumed: of jobs of one node, and of the whole machine
LONGEST_S = 86400.0  # assumed: no job may ask for more than a day
# assumed: what people ask for, in seconds
LIMITS_S = np.array([900, 1800, 3600, 7200, 14400, 21600, 28800, 43200, 64800, 86400], dtype=np.float64)
EXACT = 0.15  # assumed: of the jobs ask for the next limit at once; the others for up to ten times what they need
# assumed: how many are submitted in each hour of the day, and on each day of the week, against the mean
HOURS = np.array([4, 3, 3, 3, 3, 3, 4, 5, 8, 11, 12, 12, 10, 11, 12, 12, 11, 10, 8, 7, 6, 6, 5, 5], dtype=np.float64)
DAYS = np.array([1.15, 1.2, 1.2, 1.2, 1.1, 0.6, 0.55])
USERS = 400  # assumed: of whom a few submit most (Zipf)


@dataclass(frozen=True)
class Asked:
    """What a workload is to be: so many jobs for a machine of so many nodes in so many days. ``load``: node-seconds of all run
    times, of the nodes times the days."""

    jobs: int
    nodes: int
    days: float
    load: float
    seed: int


def generate(asked: Asked) -> Workload:
    """Purpose: a workload of the asked size whose offered load is the asked one, as near as whole seconds allow.

    Raises UsageError where so few jobs cannot make such a load.
    """
    random = np.random.Generator(np.random.PCG64(asked.seed))
    submit = _submissions(random, asked)
    nodes = _sizes(random, asked)
    run = _to_load(_run_times(random, nodes, asked.nodes), nodes, asked)
    requested = _requests(random, run)
    users = np.minimum(random.zipf(1.4, asked.jobs), USERS).astype(np.int64)
    return workload_of(submit, nodes, requested, run, users)


def _submissions(random: np.random.Generator, asked: Asked) -> Floats:
    """Whole seconds, sorted; the clock begins on a Monday at midnight."""
    hours = int(np.ceil(asked.days * 24))
    weights = (DAYS[np.arange(hours) // 24 % 7] * HOURS[np.arange(hours) % 24]).astype(np.float64)
    weights[-1] *= asked.days * 24 - (hours - 1)
    before = np.concatenate(([0.0], np.cumsum(weights)))
    edges = np.minimum(np.arange(hours + 1) / 24, asked.days) * DAY_S
    at = np.interp(np.sort(random.random(asked.jobs)) * before[-1], before, edges)
    whole: Floats = np.floor(at)
    return whole


def _sizes(random: np.random.Generator, asked: Asked) -> Whole:
    most = np.log2(asked.nodes)
    lower = random.random(asked.jobs) < LOWER
    low, high = np.where(lower, 0.0, LOWER_STAGE * most), np.where(lower, LOWER_STAGE * most, most)
    exponent = low + (high - low) * random.random(asked.jobs)
    exponent = np.where(random.random(asked.jobs) < POWER_OF_TWO, np.round(exponent), exponent)
    exponent = np.where(random.random(asked.jobs) < SERIAL, 0.0, exponent)
    return np.clip(np.rint(2.0**exponent), 1, asked.nodes).astype(np.int64)


def _run_times(random: np.random.Generator, nodes: Whole, machine: int) -> Floats:
    """Before they are brought to the load, in seconds."""
    largeness = np.log2(nodes) / max(1.0, float(np.log2(machine)))
    short = random.random(len(nodes)) < SHORT_SHARE[0] + (SHORT_SHARE[1] - SHORT_SHARE[0]) * largeness
    deviate = random.standard_normal(len(nodes))
    return np.where(short, SHORT_S * np.exp(SHORT_SPREAD * deviate), LONG_S * np.exp(LONG_SPREAD * deviate))


def _to_load(run: Floats, nodes: Whole, asked: Asked) -> Floats:
    """All run times times one factor, between a second and LONGEST_S, found by halving."""
    wanted = asked.load * asked.nodes * asked.days * DAY_S
    least, most = float(nodes.sum()), float(nodes.sum()) * LONGEST_S
    if not least <= wanted <= most:
        reach = [100 * bound / (asked.nodes * asked.days * DAY_S) for bound in (least, most)]
        raise UsageError(
            f"{asked.jobs} jobs of a second to a day each make a load between {reach[0]:.3g} % and {reach[1]:.3g} % of "
            f"{asked.nodes} nodes in {asked.days:g} days, not {100 * asked.load:.4g} %",
            "ask for more or fewer jobs, another load or other days",
        )
    low, high = -40.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        total = float((nodes * _scaled(run, middle)).sum())
        low, high = (middle, high) if total < wanted else (low, middle)
    return _scaled(run, high)


def _scaled(run: Floats, exponent: float) -> Floats:
    scaled: Floats = np.clip(np.rint(run * 2.0**exponent), 1.0, LONGEST_S)
    return scaled


def _requests(random: np.random.Generator, run: Floats) -> Floats:
    """A usual limit at or above what is needed, most often far above."""
    factor = np.where(random.random(len(run)) < EXACT, 1.0, 1.0 / np.maximum(random.random(len(run)), 0.1))
    place = np.searchsorted(LIMITS_S, np.minimum(run * factor, LONGEST_S))
    requested: Floats = LIMITS_S[np.minimum(place, len(LIMITS_S) - 1)]
    return requested
