"""Jobs that wait while their campaign is moved: they cannot begin where it was, and neither a node nor a run is at fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_slurm import TOKEN, Looker, row

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case
from shakedown.model.ports import JobOrder
from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.slurm.job_evidence import Asked

JOB = "j000001"
NAMES = ["plain", "it's a $(camp) %j", "'", "new\nline"]


def prepared(root: Path) -> JobPlaces:
    """A campaign with a job that is about to be submitted."""
    root.mkdir(parents=True)
    (root / "token").write_text(f"{TOKEN}\n")
    places = JobPlaces(Layout(root))
    places.prepare(JobOrder(JOB, "r000001", Case("c", "t", "emu:batch", script="true")))
    return places


@pytest.mark.parametrize("name", NAMES)
def test_a_script_tells_from_where_its_campaign_was_moved(tmp_path: Path, name: str) -> None:
    places = prepared(tmp_path / name)
    assert places.moved_from(JOB) == ""
    (tmp_path / name).rename(tmp_path / "there")
    assert JobPlaces(Layout(tmp_path / "there")).moved_from(JOB) == str(tmp_path / name)


def test_another_name_of_the_same_directory_is_no_move(tmp_path: Path) -> None:
    prepared(tmp_path / "here")
    (tmp_path / "link").symlink_to(tmp_path / "here")
    assert JobPlaces(Layout(tmp_path / "link")).moved_from(JOB) == ""
    (tmp_path / "here").rename(tmp_path / "there")
    (tmp_path / "here").symlink_to(tmp_path / "there")
    assert JobPlaces(Layout(tmp_path / "there")).moved_from(JOB) == "", "its jobs find it where it was"


def test_what_is_made_anew_where_it_was_is_another_directory(tmp_path: Path) -> None:
    """A newer Slurm makes the directory of a job's output."""
    prepared(tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    JobPlaces(Layout(tmp_path / "here")).control(JOB).mkdir(parents=True)
    assert JobPlaces(Layout(tmp_path / "there")).moved_from(JOB) == str(tmp_path / "here")


ENDS = {
    "its output could not be opened": {"state": "FAILED", "exit": "0:53", "reason": "JobLaunchFailure"},
    "its script found no campaign": {"state": "FAILED", "exit": "97:0", "reason": "NonZeroExitCode"},
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("moved", [True, False])
def test_a_job_that_could_not_begin_where_its_campaign_was_did_nothing(
    tmp_path: Path, end: dict[str, str], moved: bool
) -> None:
    prepared(tmp_path / "here")
    if moved:
        (tmp_path / "here").rename(tmp_path / "there")
    looker = Looker(tmp_path / ("there" if moved else "here"))
    looker.slurm.queue[""] = [row(nodes="n002", start="50", **end)]
    report = looker.one(Asked(JOB, "7"))
    assert report is not None
    if moved:
        assert (report.state, report.launch_failure, report.failed_nodes) == ("void", False, ())
        assert report.message.startswith(f"its campaign was moved from {tmp_path / 'here'} while it waited")
    else:
        assert report.state in ("node_fail", "refused")


def test_a_script_that_came_through_is_not_run_again_although_its_claim_is_gone(tmp_path: Path) -> None:
    prepared(tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    looker = Looker(tmp_path / "there")
    looker.slurm.queue[""] = [row(state="COMPLETED", exit="0:0", nodes="n002", start="50")]
    report = looker.one(Asked(JOB, "7"))
    assert report is not None
    assert (report.state, "nothing proves that it ran" in report.message) == ("refused", True)


def test_one_that_had_begun_is_judged_by_its_marks(tmp_path: Path) -> None:
    prepared(tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    looker = Looker(tmp_path / "there")
    looker.begin()
    looker.end(0)
    looker.slurm.queue[""] = [row(state="COMPLETED", nodes="n001", start="50")]
    report = looker.one(Asked(JOB, "7"))
    assert report is not None
    assert report.state == "completed"
