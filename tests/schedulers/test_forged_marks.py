"""Marks that a payload wrote, changed or removed: told, and never judged in its favour."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from batch_environment import batch_environment
from fake_slurm import NO_ACCOUNTING, NO_DATABASE, Looker, record, row

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case
from shakedown.model.ports import JobOrder, JobReport, Part
from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.cluster.job_script import FOUL_MARKS
from shakedown.schedulers.cluster.marks import Marks, read_marks
from shakedown.schedulers.cluster.part_marks import read_part
from shakedown.schedulers.slurm.job_evidence import Asked

JOB = Asked("j000001", "7", 0, 0.0)
ENDED = "began=100.00 ended=102.50 status=0 told= ."
SHELLS = [words for words in (["sh"], ["bash", "--posix"], ["busybox", "sh"]) if shutil.which(words[0])]


@pytest.fixture
def looker(tmp_path: Path) -> Looker:
    looker = Looker(tmp_path)
    looker.begin()
    return looker


def told(report: JobReport | None) -> tuple[str, int | None, str]:
    """What is said of an end: state, exit status, and why it is doubted, which the output has too."""
    assert report is not None and report.output.get("doubt", "") == report.doubt
    return report.state, report.exit_status, report.doubt


# ---- what Slurm says counts ----------------------------------------------------------------------------------------------

DISAGREE = {
    "the script failed": (
        {"state": "FAILED", "exit": 3 << 8},
        ("failed", 3, "its end mark says exit status 0, Slurm exit status 3 (FAILED)"),
    ),
    "the script was killed": (
        {"state": "FAILED", "exit": 9},
        ("completed", 0, "its end mark says exit status 0, Slurm signal 9 (FAILED)"),
    ),
    "its script says that marks are not its own": (
        {"state": "FAILED", "exit": FOUL_MARKS << 8},
        ("completed", 0, "its job script says that its end mark is not the one that it wrote"),
    ),
    "it was ended at the limit": (
        {"state": "TIMEOUT", "exit": 0},
        ("completed", 0, "Slurm ended it (TIMEOUT), though by its end mark it came to its own end, with exit status 0"),
    ),
    "it was cancelled": (
        {"state": "CANCELLED", "exit": 0},
        (
            "completed",
            0,
            "Slurm ended it (CANCELLED), though by its end mark it came to its own end, with exit status 0",
        ),
    ),
}


@pytest.mark.parametrize(("cells", "said"), DISAGREE.values(), ids=DISAGREE)
@pytest.mark.parametrize("source", ["queue", "memory"])
def test_an_end_mark_that_slurm_contradicts(
    looker: Looker, cells: dict[str, object], said: tuple[str, int, str], source: str
) -> None:
    looker.end(0)
    if source == "queue":
        looker.slurm.queue[""] = [row(**cells)]  # type: ignore[arg-type]
    else:
        code = int(str(cells["exit"]))
        looker.slurm.memory[""] = [record(state=str(cells["state"]), ExitCode=f"{code >> 8}:{code & 127}")]
    assert told(looker.one(JOB, settled=False)) == said


@pytest.mark.parametrize("status", [0, 3, 97])
@pytest.mark.parametrize("source", ["queue", "memory"])
def test_an_end_mark_that_slurm_confirms(looker: Looker, status: int, source: str) -> None:
    looker.end(status)
    code, word = 96 if status == 97 else status, "FAILED" if status else "COMPLETED"
    if source == "queue":
        looker.slurm.queue[""] = [row(state=word, exit=code << 8, start=50, end=53)]
    else:
        looker.slurm.memory[""] = [record(state=word, ExitCode=f"{code}:0", Start=50, End=53)]
    assert told(looker.one(JOB, settled=False)) == ("failed" if status else "completed", status, "")


def test_a_failure_that_slurm_does_not_know_stays_one(looker: Looker) -> None:
    looker.end(3)
    looker.slurm.queue[""] = [row(state="COMPLETED")]
    doubt = "its end mark says exit status 3, Slurm exit status 0 (COMPLETED)"
    assert told(looker.one(JOB, settled=False)) == ("failed", 3, doubt)


def test_a_run_time_longer_than_the_job_was(looker: Looker) -> None:
    looker._write(looker.places.marks(JOB.id, 0), "began=100.00 ended=300.00 status=0 told= .\n")
    looker.slurm.queue[""] = [row(state="COMPLETED", start=50, end=60)]
    doubt = "by its end mark it ran for 3 min 20 s, by Slurm for 10.0 s"
    assert told(looker.one(JOB, settled=False)) == ("completed", 0, doubt)


def test_a_mark_is_believed_once_slurm_says_how_the_job_ended(looker: Looker) -> None:
    """A payload may write it at any time, and a job that completes may have been cancelled."""
    looker.end(0)
    looker.slurm.queue[""] = [row(state="RUNNING")]
    report = looker.one(JOB)
    assert report is not None and report.state == "running"
    looker.slurm.queue[""] = [row(state="COMPLETING")]
    assert looker.look(JOB) == {}
    looker.slurm.queue[""] = [row(state="CANCELLED")]
    assert told(looker.one(JOB, settled=False))[2].startswith("Slurm ended it (CANCELLED)")


def test_a_long_epilog_is_not_waited_for_without_end(looker: Looker) -> None:
    looker.end(0)
    looker.slurm.queue[""] = [row(state="COMPLETING")]
    assert looker.look(JOB) == {}
    assert told(looker.look(JOB, after=61.0)["j000001"]) == ("completed", 0, "")
    looker.slurm.queue[""] = [row(state="COMPLETING", exit=9)]
    assert told(looker.look(JOB)["j000001"])[2] == "its end mark says exit status 0, Slurm signal 9 (COMPLETING)"


def test_accounting_that_is_late_is_waited_for_and_one_that_is_not_there_is_not(looker: Looker) -> None:
    looker.end(0)
    assert looker.look(JOB) == {}
    assert looker.look(JOB, after=5.0) == {}
    looker.slurm.memory[""] = [record(state="FAILED", ExitCode="3:0")]
    assert told(looker.look(JOB, after=5.0)["j000001"])[:2] == ("failed", 3)
    for silent in (NO_ACCOUNTING, NO_DATABASE):
        looker.slurm.memory[""] = silent
        assert told(Looker(looker.root, looker.slurm).one(JOB, settled=False)) == ("completed", 0, "")


def test_a_claim_that_names_another_job(looker: Looker) -> None:
    looker.begin(id="8")
    looker.end(0)
    looker.slurm.queue[""] = [row(state="FAILED", exit=9)]
    assert told(looker.one(JOB)) == ("completed", 0, "its claim names job 8, and Slurm knows it as 7")
    looker.slurm.memory[""] = [record(id="8", state="COMPLETED")]
    assert told(looker.one(JOB)) == ("completed", 0, ""), "there were two of one name"


@pytest.mark.parametrize(
    ("state", "doubt"),
    [("REQUEUED", "Slurm calls that start REQUEUED: its script was not through"), ("COMPLETED", ""), ("NODE_FAIL", "")],
)
def test_a_start_that_somebody_put_back_into_the_queue_while_its_script_lived(
    looker: Looker, state: str, doubt: str
) -> None:
    looker.end(0)
    looker.slurm.queue[""] = [row(state="PENDING", restart=1)]
    looker.slurm.memory[""] = [record(state=state, Submit=1), record(state="PENDING", Submit=2)]
    report = looker.one(JOB, settled=False)
    assert told(report) == ("completed", 0, doubt)
    assert report is not None and report.again == 1


# ---- what the files say themselves ---------------------------------------------------------------------------------------

FILES = {
    "two ends": (f"{ENDED}\nbegan=100.00 ended=900.00 status=1 told= .\n", "", "its end mark has more than one line"),
    "half a line more": (f"{ENDED}\nbegan=", "", "its end mark has more than one line"),
    "an end that was found": (ENDED.replace(" .", " foul=early .\n"), "", "an end mark was there before its payload"),
    "a claim that was changed": (ENDED.replace(" .", " foul=claim .\n"), "", "its claim was changed or removed"),
    "a claim of two lines": (f"{ENDED}\n", "job=9 .\n", "its claim has more than one line"),
    "a beginning before the claim": (ENDED.replace("100.00", "99.00") + "\n", "", "by its end mark its payload began"),
}


@pytest.mark.parametrize(("mark", "more", "doubt"), FILES.values(), ids=FILES)
def test_marks_that_no_script_of_ours_leaves(looker: Looker, mark: str, more: str, doubt: str) -> None:
    looker._write(looker.places.marks(JOB.id, 0), mark)
    claim = looker.places.claim(JOB.id, 0)
    claim.write_text(claim.read_text() + more)
    looker.slurm.queue[""] = [row(state="COMPLETED")]
    state, status, said = told(looker.one(JOB, settled=False))
    assert (state, status, said.startswith(doubt)) == ("completed", 0, True), said


# ---- the script itself ---------------------------------------------------------------------------------------------------


def run(places: JobPlaces, shell: list[str]) -> int:
    environment = os.environ | batch_environment(places.layout, JOB.id, "7")
    command = [*shell, str(places.script(JOB.id))]
    return subprocess.run(command, env=environment, check=False, capture_output=True, timeout=60).returncode


FORGE = f"echo '{ENDED}'"
PAYLOADS = {
    "its end": (f"{FORGE} >{{marks}}; exit 5", 5, "an end mark was there before its payload ended"),
    "its end, for good": (f"{FORGE} >{{marks}}; chmod 444 {{marks}}", 0, "an end mark was there before its payload"),
    "its end elsewhere": (f"{FORGE} >m; ln -s $PWD/m {{marks}}", 0, "an end mark was there before its payload ended"),
    "a directory": ("mkdir {marks}", 0, "an end mark was there before its payload ended"),
    "its claim": ("sed s/job=7/job=8/ {claim} >c; mv c {claim}", 0, "its claim was changed or removed while it ran"),
    "no claim": ("rm {claim}", 0, "its claim was changed or removed while it ran"),
    "an empty claim": (": >{claim}", 0, "its claim was changed or removed while it ran"),
}


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
@pytest.mark.parametrize(("payload", "status", "doubt"), PAYLOADS.values(), ids=PAYLOADS)
def test_a_payload_that_writes(tmp_path: Path, payload: str, status: int, doubt: str, shell: list[str]) -> None:
    """Its script says so, in its mark and by its exit status, which Slurm knows. Its own numbers are in the mark."""
    places = JobPlaces(Layout(tmp_path))
    script = payload.format(marks=places.marks(JOB.id, 0), claim=places.claim(JOB.id, 0))
    places.prepare(JobOrder(JOB.id, "r000001", Case("c", "t", "emu:batch", script=script)))
    assert run(places, shell) == FOUL_MARKS
    marks = read_marks(places, JOB.id)
    assert isinstance(marks, Marks) and marks.doubt.startswith(doubt)
    assert (marks.exit_status, marks.elapsed_s != 2.5) == (status, True)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_a_part_that_writes_its_end(tmp_path: Path, shell: list[str]) -> None:
    places = JobPlaces(Layout(tmp_path))
    mark = places.layout.part_mark(JOB.id, "r000001")
    scripts = (f"echo 'began=200.00 ended=202.00 status=0 .' >>{mark}; exit 5", "exit 3")
    parts = tuple(Part(f"r{n:06}", Case(f"c{n}", "t", "emu:batch", script=text)) for n, text in enumerate(scripts, 1))
    places.prepare(JobOrder(JOB.id, "r000001", parts[0].case, parts=parts))
    assert run(places, shell) == FOUL_MARKS
    forged, honest, marks = read_part(places, JOB.id, "r000001"), read_part(places, JOB.id, "r000002"), None
    assert forged is not None and forged.doubt.startswith("an end stood in its mark before its payload ended")
    assert honest is not None and (honest.exit_status, honest.doubt) == (3, "")
    marks = read_marks(places, JOB.id)
    assert marks is not None and marks.doubt == "marks of its runs are not what their script wrote"


def test_a_part_that_was_told_too_early_is_named_when_its_job_is_over(tmp_path: Path) -> None:
    """Its end was believed while it ran. Only the script knew better."""
    looker, job, runs = Looker(tmp_path), Asked("j000001", "7", parts=("r000001", "r000002")), ("r000001", "r000002")
    looker.begin()
    begin = "job=7 host=n001 uptime=101.50 restart=0 lane=12 .\n"
    for run_of in runs:
        looker._write(looker.places.layout.part_mark(job.id, run_of), f"{begin}began=101.50 ended=103.00 status=0 .\n")
    looker.slurm.queue[""] = [row()]
    reports: list[JobReport] = []
    looker.asker.look([job], reports.extend)
    assert [(report.run, report.state) for report in reports[1:]] == [(run_of, "completed") for run_of in runs]
    with looker.places.layout.part_mark(job.id, runs[0]).open("a") as file:
        file.write("began=101.50 ended=900.00 status=1 foul=early .\n")
    mark = "began=100.00 ended=910.00 status=0 told= left=0 foul=part .\n"
    looker._write(looker.places.marks(job.id, 0), mark)
    looker.slurm.queue[""] = [row(state="FAILED", exit=FOUL_MARKS << 8)]
    report = looker.look(job)["j000001"]
    assert report.doubt == "marks of its runs are not what their script wrote (r000001)"
    assert "doubt" not in report.output, "nobody judges the job itself"
