"""Workloads of the model's own: the same for the same seed, of the asked load, with the asked shapes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from shakedown.model.errors import UsageError
from shakedown.twin.production.columns import Workload
from shakedown.twin.production.generate import LIMITS_S, Asked, generate

ASKED = Asked(20_000, 2000, 56, 0.8, 3)
_DIGEST = """
import hashlib
from shakedown.twin.production.generate import Asked, generate
jobs = generate(Asked(20_000, 2000, 56, 0.8, 3))
data = b"".join(column.tobytes() for column in (jobs.submit_s, jobs.processors, jobs.requested_s, jobs.run_s, jobs.user))
print(hashlib.sha256(data).hexdigest())
"""


def digest(jobs: Workload) -> str:
    columns = (jobs.submit_s, jobs.processors, jobs.requested_s, jobs.run_s, jobs.user)
    return hashlib.sha256(b"".join(column.tobytes() for column in columns)).hexdigest()


def test_the_same_seed_gives_the_same_bytes_in_another_process_and_place() -> None:
    here = digest(generate(ASKED))
    environment = os.environ | {"PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo"}
    command = [sys.executable, "-c", _DIGEST]
    there = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, check=True).stdout
    assert there.strip() == here
    assert digest(generate(replace(ASKED, seed=4))) != here


@pytest.mark.parametrize("load", [0.3, 0.8, 1.2])
def test_the_offered_load_is_the_asked_one(load: float) -> None:
    jobs = generate(replace(ASKED, load=load))
    offered = float((jobs.processors * jobs.run_s).sum()) / (2000 * 56 * 86400)
    assert offered == pytest.approx(load, rel=1e-3)


def test_requests_are_usual_limits_that_suffice() -> None:
    jobs = generate(ASKED)
    assert (jobs.requested_s >= jobs.run_s).all() and set(jobs.requested_s) <= set(LIMITS_S)
    assert jobs.run_s.min() >= 1 and jobs.processors.min() >= 1 and jobs.processors.max() <= 2000


def test_sizes_favour_powers_of_two_and_submissions_working_hours() -> None:
    jobs = generate(ASKED)
    powers = (jobs.processors & (jobs.processors - 1)) == 0
    assert powers.mean() > 0.6
    hour, day = jobs.submit_s // 3600 % 24, jobs.submit_s // 86400 % 7
    by_day = np.bincount(day.astype(int), minlength=7) / len(jobs)
    assert ((hour >= 9) & (hour < 17)).mean() > 1.5 * ((hour >= 0) & (hour < 8)).mean()
    assert by_day[5:].mean() < 0.6 * by_day[:5].mean()
    assert jobs.submit_s[0] >= 0 and jobs.submit_s[-1] < 56 * 86400


@pytest.mark.parametrize(
    "asked", [replace(ASKED, jobs=10), replace(ASKED, days=0.01, load=0.01), replace(ASKED, load=1e-6, jobs=10_000)]
)
def test_a_load_that_such_jobs_cannot_make_is_refused(asked: Asked) -> None:
    with pytest.raises(UsageError, match="make a load between"):
        generate(asked)


@pytest.mark.parametrize("asked", [Asked(1, 1, 1.0, 0.5, 0), Asked(5, 2, 0.5, 0.9, 1), Asked(300, 3, 7.5, 0.9, 1)])
def test_small_machines_have_workloads_too(asked: Asked) -> None:
    jobs = generate(asked)
    assert len(jobs) == asked.jobs and jobs.processors.max() <= asked.nodes
