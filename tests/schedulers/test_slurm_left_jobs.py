"""What Slurm has of a campaign that is over: which jobs these are, and which of them scancel takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fake_slurm import DOWN, TOKEN, FakeSlurm, cluster, row

from shakedown.model.layout import Layout
from shakedown.model.ports import LeftJob, LeftJobs
from shakedown.schedulers.slurm.left_jobs import cancel_left, left_jobs, left_jobs_now
from shakedown.schedulers.slurm.runner import Ran

WAITS, RUNS = LeftJob("7", "emu", "j000001", True), LeftJob("8", "emu", "j000002", False, "n003")
PROBE = LeftJob("9", "emu", "", True)


def a_queue() -> FakeSlurm:
    """Two jobs of runs, one that asks nodes for facts, one that is being cleared, one of another campaign, one of a stranger."""
    lines = [row(state="PENDING"), row("j000002", "8", nodes="n003"), row("f000001-1", "9", "PENDING")]
    lines += [
        row("j000003", "10", "COMPLETING"),
        row(id="11", name="sd-ffffffff-j000001"),
        row(id="12", name="payroll"),
    ]
    return FakeSlurm(queue={"": lines})


def test_all_of_the_campaign_and_nothing_else_is_cancelled() -> None:
    slurm: Any = a_queue()
    assert cancel_left(TOKEN, [cluster()], 5.0, slurm) == LeftJobs(
        (WAITS, RUNS, PROBE), calls={"squeue": 1, "scancel": 1}
    )
    assert slurm.asked[-1] == ["scancel", "7", "8", "9"]


def test_an_empty_queue_costs_one_question() -> None:
    slurm: Any = FakeSlurm()
    assert cancel_left(TOKEN, [cluster()], 5.0, slurm) == LeftJobs(calls={"squeue": 1})


def test_what_scancel_does_not_take_is_named() -> None:
    slurm: Any = a_queue()
    slurm.answers["scancel"] = Ran(1, error="scancel: error: Kill job error on job id 8: Access/permission denied")
    assert cancel_left(TOKEN, [cluster()], 5.0, slurm).kept == ("8",)
    slurm.answers["scancel"] = DOWN
    assert cancel_left(TOKEN, [cluster()], 5.0, slurm).kept == ("7", "8", "9")


def test_a_cluster_that_does_not_answer_is_told_and_the_other_is_asked() -> None:
    slurm = FakeSlurm(queue={"a": DOWN, "b": [row(state="PENDING")]})
    found = left_jobs(TOKEN, [cluster("a"), cluster("b")], slurm, 5.0)
    assert found.jobs == (LeftJob("7", "b", "j000001", True),)
    assert found.trouble.startswith("a: slurm_load_jobs error")


def test_a_campaign_without_a_token_has_no_jobs(tmp_path: Path) -> None:
    assert left_jobs_now(Layout(tmp_path), [cluster()], 5.0) == LeftJobs()
    assert not list(tmp_path.iterdir()), "looking makes no token"
