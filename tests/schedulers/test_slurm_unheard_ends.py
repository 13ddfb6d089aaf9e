"""An end mark of a job that Slurm still calls running: nothing is judged by it, and a person is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_slurm import Looker, row

from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.unheard_ends import UNHEARD_S

JOB = Asked("j000001", "7")
TELLS = (
    "its end mark says that it is over, with exit status 3; "
    "Slurm still calls it running and has not heard of that, or has lost it since"
)


@pytest.fixture
def looker(tmp_path: Path) -> Looker:
    looker = Looker(tmp_path)
    looker.slurm.queue[""] = [row(nodes="n001")]
    looker.begin()
    return looker


def said(looker: Looker, after: float = 0.0, job: Asked = JOB) -> tuple[str, str]:
    report = looker.look(job, after=after)[job.id]
    return report.state, report.message


def test_it_runs_for_all_that_counts_and_is_told_once_slurm_had_time_to_hear_of_it(looker: Looker) -> None:
    assert said(looker, 100.0) == ("running", "")
    looker.end(3)
    assert [said(looker, after) for after in (1.0, 1.0, UNHEARD_S - 2.0)] == [("running", "")] * 3
    assert [said(looker, after) for after in (2.0, 100.0)] == [("running", TELLS)] * 2, "the same each time: one event"
    looker.slurm.queue[""] = [row(state="FAILED", exit=3 << 8, nodes="n001")]
    report = looker.one(JOB)
    assert report is not None and (report.state, report.exit_status) == ("failed", 3)


def test_a_later_start_of_the_same_job_has_no_such_end(looker: Looker) -> None:
    looker.end(3)
    assert said(looker)[1] == ""
    assert said(looker, UNHEARD_S)[1] == TELLS
    looker.slurm.queue[""] = [row(nodes="n002", restart="1")]
    again = Asked(JOB.id, "7", restart=1)
    assert [said(looker, UNHEARD_S, again)[1] for _ in range(2)] != [TELLS] * 2
    assert said(looker, UNHEARD_S, again) == ("running", "")


def test_a_mark_without_a_status_tells_nothing_yet(looker: Looker) -> None:
    looker._write(looker.places.marks(JOB.id, 0), "began=")
    assert [said(looker, UNHEARD_S)[1] for _ in range(3)] == [""] * 3
    looker.end(3)
    assert [said(looker, 1.0)[1] for _ in range(2)] == ["", TELLS]
