"""An answer without a single row is no answer: nobody takes a greeting for an empty queue."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path

import pytest
from fake_slurm import TOKEN, FakeSlurm, record

from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster
from shakedown.model.ports import JobReport
from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.parsing import babble
from shakedown.schedulers.slurm.poller import Asker
from shakedown.schedulers.slurm.runner import Ran, Runner
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


def test_a_machine_that_cannot_start_sacct_for_a_moment_has_accounting_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process more can be started, once: what accounting knows of the job must not be lost for that."""
    slurm, now = FakeSlurm(), [0.0]
    reports: list[JobReport] = []
    asker = Asker(Layout(tmp_path), TOKEN, (Cluster("emu", "slurm", ()),), slurm, 1.0, clock=lambda: now[0])
    with monkeypatch.context() as crowded:
        crowded.setattr(subprocess, "Popen", _refuse)
        slurm.memory[""] = Runner()(["sacct"], 1.0)
    for now[0] in (0.0, 100.0):
        reports.clear()
        asker.look([Asked("j000001", "7")], reports.extend)
    assert [(report.state, report.message) for report in reports] == [
        ("no_answer", "sacct: sacct cannot be run: Resource temporarily unavailable")
    ]
    slurm.memory[""] = [record(state="TIMEOUT")]
    for now[0] in (200.0, 900.0):
        reports.clear()
        asker.look([Asked("j000001", "7")], reports.extend)
    assert [report.state for report in reports] == ["timeout"]


def _refuse(*arguments: object, **options: object) -> None:
    raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
