"""Claims and marks of a cluster's jobs that were removed: verify counts the runs, and calls only a change damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from shakedown.audit.held_outputs import _changed, _remarks
from shakedown.audit.rejudge import Judged
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.schedulers.output_sums import sums_of_marks

RUNS = ("r000001", "r000002")


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path)
    for job in ("j000001", "j000002"):
        for path in layout.marks_of(_output(layout, job)["file"]):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{path.name} of {job} .\n")
    return layout


def _output(layout: Layout, job: str) -> dict[str, str]:
    return {"file": str(layout.job_output(job, 0).relative_to(layout.root))}


def _judged(layout: Layout) -> Judged:
    """Two runs, each with the sums of its claim and its mark."""
    outputs = [_output(layout, job) for job in ("j000001", "j000002")]
    pairs = [(run, output | sums_of_marks(layout, output)) for run, output in zip(RUNS, outputs, strict=True)]
    return Judged(verdicts={run: Event("verdict", run=run, value={"output": output}) for run, output in pairs})


def test_marks_that_are_there_are_not_spoken_of(layout: Layout) -> None:
    judged = _judged(layout)
    assert all(len(event.value["output"]["marks"]) == 2 for event in judged.verdicts.values())
    assert _remarks(layout, judged) == []


def test_the_runs_whose_marks_are_gone_are_counted(layout: Layout) -> None:
    judged = _judged(layout)
    (layout.job("j000002") / "marks.0").unlink()
    (said,) = _remarks(layout, judged)
    assert said.startswith("claims or marks of 1 of 2 runs of a cluster gone (such as jobs/000/j000002/marks.0)")
    assert _changed(layout, judged) is None
    (layout.job("j000001") / "claim.0").write_text("another .\n")
    damage = _changed(layout, judged)
    assert damage is not None and damage.path == "jobs/000/j000001/claim.0", "what is there and changed is damage"


def test_all_of_jobs_is_gone(layout: Layout) -> None:
    judged = _judged(layout)
    shutil.rmtree(layout.jobs)
    (said,) = _remarks(layout, judged)
    assert said.startswith("claims or marks of 2 of 2 runs of a cluster gone (all of jobs/ is)")
