"""A pipe where a job script expects a plain file: whoever opens it waits, perhaps until the time limit. The script opens none."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from batch_environment import batch_environment
from fake_slurm import Looker, row

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case
from shakedown.model.ports import JobOrder, Part
from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.cluster.job_script import FOUL_MARKS
from shakedown.schedulers.cluster.marks import read_marks
from shakedown.schedulers.cluster.part_marks import read_part
from shakedown.schedulers.local_host.script import CLAIM_TAKEN
from shakedown.schedulers.slurm.job_evidence import Asked

JOB = "j000001"
SHELLS = [words for words in (["sh"], ["bash", "--posix"], ["busybox", "sh"]) if shutil.which(words[0])]
STUCK_S = 60.0  # a script that waits for a pipe is ended then, and the test has failed


@pytest.fixture
def places(tmp_path: Path) -> JobPlaces:
    return JobPlaces(Layout(tmp_path))


def prepare(places: JobPlaces, script: str = "echo ran", after: str = "") -> None:
    order = JobOrder(JOB, "r000001", Case("c", "t", "emu:batch", script=script), after=(after, ""))
    places.prepare(order)


def run(places: JobPlaces, shell: list[str], restart: int = 0) -> tuple[int, str]:
    environment = os.environ | batch_environment(places.layout, JOB, "7") | {"SLURM_RESTART_COUNT": str(restart)}
    command = [*shell, str(places.script(JOB))]
    ran = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=STUCK_S)
    return ran.returncode, ran.stderr


def has_run(places: JobPlaces) -> bool:
    output = places.output(JOB, 0)
    return output.is_file() and output.read_text() == "ran\n"


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_a_pipe_in_the_place_of_the_claim(places: JobPlaces, shell: list[str]) -> None:
    prepare(places)
    os.mkfifo(places.claim(JOB, 0))
    status, words = run(places, shell)
    assert status == CLAIM_TAKEN and not has_run(places)
    assert f"{places.claim(JOB, 0)} is no plain file: somebody put it there" in words
    looker = Looker(places.layout.root)
    looker.slurm.queue[""] = [row(state="FAILED", exit=CLAIM_TAKEN << 8, nodes="n001")]
    report = looker.one(Asked(JOB, "7"))
    assert report is not None and report.state == "refused"
    assert (
        report.message
        == "something that is no plain file is in the place of its claim: somebody put it there, and nothing was run"
    )


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nothing"])
def test_a_link_in_the_place_of_the_output(places: JobPlaces, tmp_path: Path, shell: list[str], there: bool) -> None:
    """Else the payload would write into a file that somebody chose, and its output would be nowhere."""
    prepare(places)
    elsewhere = tmp_path / "elsewhere"
    if there:
        elsewhere.write_text("mine\n")
    places.output(JOB, 0).parent.mkdir(parents=True, exist_ok=True)
    places.output(JOB, 0).symlink_to(elsewhere)
    status, words = run(places, shell)
    assert status != 0 and "is no plain file: somebody put it there" in words
    assert elsewhere.exists() == there and (not there or elsewhere.read_text() == "mine\n")


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_pipes_in_the_places_of_the_claim_and_of_the_mark(places: JobPlaces, shell: list[str]) -> None:
    prepare(places)
    os.mkfifo(places.claim(JOB, 0))
    os.mkfifo(places.marks(JOB, 0))
    status, words = run(places, shell)
    assert (status, has_run(places)) == (CLAIM_TAKEN, False) and words.count("is no plain file") == 2


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_a_pipe_in_the_place_of_the_mark_is_put_aside(places: JobPlaces, shell: list[str]) -> None:
    """The payload has run: so its end is written, and that somebody had put something there."""
    prepare(places)
    os.mkfifo(places.marks(JOB, 0))
    assert run(places, shell)[0] == FOUL_MARKS and has_run(places)
    marks = read_marks(places, JOB)
    assert marks is not None and marks.exit_status == 0 and marks.doubt.startswith("an end mark was there before")


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
@pytest.mark.parametrize("name", ["claim.0", "marks.0"])
def test_a_pipe_of_the_start_before(places: JobPlaces, shell: list[str], name: str) -> None:
    prepare(places)
    os.mkfifo(places.control(JOB) / name)
    status, _ = run(places, shell, restart=1)
    assert status == (CLAIM_TAKEN if name == "claim.0" else 0)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
@pytest.mark.parametrize("name", ["before", "claim.0", "claim.1", "marks.0"])
def test_a_pipe_of_the_job_that_comes_first(places: JobPlaces, shell: list[str], name: str) -> None:
    first = places.control("j000009")
    first.mkdir(parents=True)
    if name not in ("before", "claim.0"):
        (first / "claim.0").write_text("job=6 host=n001 uptime=1.00 pid=1 nodes=n001 node=n001 .\n")
    os.mkfifo(first / name)
    prepare(places, after="j000009")
    assert run(places, shell)[0] == (0 if name == "before" else CLAIM_TAKEN)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_a_pipe_in_the_place_of_the_output_or_of_the_token(places: JobPlaces, shell: list[str]) -> None:
    prepare(places)
    os.mkfifo(places.output(JOB, 0))
    assert run(places, shell)[0] == CLAIM_TAKEN
    marks = read_marks(places, JOB)
    assert marks is not None and marks.trouble.endswith("could not be opened on the node")
    environment = batch_environment(places.layout, JOB, "7")
    places.layout.token.unlink()
    os.mkfifo(places.layout.token)
    command = [*shell, str(places.script(JOB))]
    ran = subprocess.run(command, env=os.environ | environment, check=False, capture_output=True, timeout=STUCK_S)
    assert ran.returncode == CLAIM_TAKEN


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
@pytest.mark.parametrize("what", ["its mark", "the ends", "the mark of another", "the marks of the job"])
def test_a_part_that_makes_pipes(places: JobPlaces, shell: list[str], what: str) -> None:
    """Each run has an end or is told of, and the other one is as it was."""
    layout = places.layout
    mark = layout.part_mark(JOB, "r000001")
    script = {
        "its mark": f"rm {mark}; mkfifo {mark}",
        "the ends": f"rm {layout.part_ends(JOB, 0)}; mkfifo {layout.part_ends(JOB, 0)}",
        "the mark of another": f"mkfifo {layout.part_mark(JOB, 'r000003')}",
        "the marks of the job": f"mkfifo {places.marks(JOB, 0)}",
    }[what]
    texts = (script, "exit 3", "exit 4") if what == "the mark of another" else (script, "exit 3")
    parts = tuple(Part(f"r{n:06}", Case(f"c{n}", "t", "emu:batch", script=text)) for n, text in enumerate(texts, 1))
    places.prepare(JobOrder(JOB, "r000001", parts[0].case, parts=parts))
    assert run(places, shell)[0] == FOUL_MARKS
    honest = read_part(places, JOB, "r000002")
    assert honest is not None and (honest.exit_status, honest.doubt) == (3, "")
    marks = read_marks(places, JOB)
    assert marks is not None and marks.doubt
