"""An answer without a single row is no answer: nobody takes a greeting for an empty queue."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_slurm import TOKEN, FakeSlurm

from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster
from shakedown.model.ports import JobReport
from shakedown.schedulers.slurm.asker import Asker
from shakedown.schedulers.slurm.found import Asked
from shakedown.schedulers.slurm.parsing import babble
from shakedown.schedulers.slurm.runner import Ran
from shakedown.schedulers.slurm.versions import SEPARATOR


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ""),
        ("\n \n", ""),
        ("CLUSTER: emu\n", ""),
        (f"welcome\n1{SEPARATOR}name\n", ""),
        ("the cluster is under maintenance\nsee the news\n", "the cluster is under maintenance"),
        ("\x1b[31mno\n", "[31mno"),
    ],
)
def test_what_is_said_instead_of_rows(text: str, said: str) -> None:
    assert babble(text) == said


@pytest.mark.parametrize("program", ["squeue", "sacct"])
def test_a_source_that_prints_no_row_leaves_a_job_undecided(tmp_path: Path, program: str) -> None:
    slurm = FakeSlurm()
    where = slurm.queue if program == "squeue" else slurm.memory
    where[""] = Ran(0, "under maintenance\n")
    now = [0.0]
    asker = Asker(Layout(tmp_path), TOKEN, (Cluster("emu", "slurm", ()),), slurm, 1.0, clock=lambda: now[0])
    reports: list[JobReport] = []
    for now[0] in (0.0, 100.0):
        reports.clear()
        asker.look([Asked("j000001", "7")], reports.extend)
    assert [(report.state, report.message) for report in reports] == [
        ("no_answer", f"{program}: it printed what nobody can read: under maintenance")
    ]
