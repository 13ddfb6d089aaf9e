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
from shakedown.schedulers.slurm.runner import Ran

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
    code = int(str(cells["exit"]))
    looker.slurm.memory[""] = [record(id="7.batch", state="CANCELLED", ExitCode="0:15", Start="50", End="60")]
    if source == "queue":
        looker.slurm.queue[""] = [row(start=50, end=60, **cells)]  # type: ignore[arg-type]
    else:
        exit_code = f"{code >> 8}:{code & 127}"
        looker.slurm.memory[""] += [record(state=str(cells["state"]), ExitCode=exit_code, Start="50", End="60")]  # type: ignore[operator]
    assert told(looker.one(JOB, settled=False)) == said


@pytest.mark.parametrize("status", [0, 3, 95, 96, 97, 200, 223, 224, 225])
@pytest.mark.parametrize("source", ["queue", "memory"])
def test_an_end_mark_that_slurm_confirms(looker: Looker, status: int, source: str) -> None:
    looker.end(status)
    code, word = 96 if status == 97 else status, "FAILED" if status else "COMPLETED"
    if source == "queue":
        looker.slurm.queue[""] = [row(state=word, exit=code << 8, start=50, end=53)]
    else:
        looker.slurm.memory[""] = [record(state=word, ExitCode=f"{code & 127}:0", Start=50, End=53)]  # it drops a bit
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
    assert looker.look(JOB) == {}, "accounting may still tell how its script ended"
    assert told(looker.one(JOB))[2].startswith("Slurm ended it (CANCELLED)")


# A controller that was away for long hears of an end when the time limit has passed, or when somebody has cancelled the job.
LIMIT_S, AGO = 600, 1000  # the script's claim was written so many seconds before the controller came back


def controller_is_back(looker: Looker, state: str = "TIMEOUT", ended_after: float = 2.5, over: int = AGO) -> None:
    """The job began AGO seconds before it was over, and its script left an end mark."""
    looker.end(0)
    words = f"began=100.00 ended={100 + ended_after:.2f} status=0 told= .\n"
    looker._write(looker.places.marks(JOB.id, 0), words)
    os.utime(looker.places.claim(JOB.id, 0), (5000.0, 5000.0))
    looker.slurm.queue[""] = [row(state=state, exit=1, start=5000, end=5000 + over, time_limit="10:00")]


def step(state: str, code: str, start: int = 5000) -> str:
    return record(id="7.batch", state=state, ExitCode=code, Start=str(start), End=str(start + 900))


SCRIPTS = {
    "was through": (step("COMPLETED", "0:0"), ""),
    "failed": (step("FAILED", "3:0"), "Slurm ended it"),
    "was killed": (step("CANCELLED", "0:9"), "Slurm ended it"),
    "was told to end": (step("CANCELLED", "0:15"), "Slurm ended it"),
    "was cancelled": (step("CANCELLED", "0:0"), "Slurm ended it"),
    "saw foul marks": (step("FAILED", f"{FOUL_MARKS}:0"), "Slurm ended it"),
    "was seen by nobody": (step("CANCELLED", ""), "Slurm ended it"),
    "was another start's": (step("COMPLETED", "0:0", start=4000), "Slurm ended it"),
}


@pytest.mark.parametrize("state", ["TIMEOUT", "CANCELLED", "PREEMPTED"])
@pytest.mark.parametrize(("script", "doubt"), SCRIPTS.values(), ids=SCRIPTS)
def test_what_accounting_has_of_the_script_tells_whether_it_was_through(
    looker: Looker, state: str, script: str, doubt: str
) -> None:
    """The mark was written a second before the job was ended: its time alone tells nothing."""
    controller_is_back(looker, state, ended_after=599.0, over=600)
    looker.slurm.memory[""] = [script]
    kind, status, said = told(looker.one(JOB))
    assert (kind, status) == ("completed", 0) and said.startswith(doubt) and bool(said) == bool(doubt)
    assert [command for command in looker.slurm.asked if "--jobs=7.batch" in command]


@pytest.mark.parametrize("state", ["TIMEOUT", "CANCELLED", "PREEMPTED", "REQUEUED"])
@pytest.mark.parametrize(
    ("code", "words", "believed"),
    [
        ("", "", True),
        ("", "slurmstepd: error: *** JOB 7 ON n001 CANCELLED AT 2026-11-29T15:00:00 DUE TO JOB REQUEUE ***\n", False),
        ("0:15", "", False),
    ],
)
def test_a_script_that_the_controller_never_heard_of_again_was_through_before_it_was_closed(
    looker: Looker, state: str, code: str, words: str, believed: bool
) -> None:
    """It was over when the controller was away; back with an older state it calls it running, and somebody ends or requeues it.

    A slurmstepd that lives has a status to tell, and writes into the job's output that it was ended.
    """
    controller_is_back(looker, state, ended_after=585.0, over=600)
    looker.slurm.memory[""] = [step("CANCELLED", code)]
    if state == "REQUEUED":
        looker.slurm.queue[""] = [row(state="PENDING", restart=1)]
        starts = [record(state="REQUEUED", Submit=1, Start=5000, End=5600), record(state="PENDING", Submit=2)]
        looker.slurm.memory[""] = [*starts, step("CANCELLED", code)]
    looker.slurm_says(words)
    kind, status, doubt = told(looker.one(JOB, settled=state != "REQUEUED"))
    assert (kind, status, bool(doubt)) == ("completed", 0, not believed), doubt


def test_the_end_of_a_script_is_waited_for_while_accounting_may_be_late(looker: Looker) -> None:
    controller_is_back(looker, ended_after=599.0)
    assert looker.look(JOB) == {}
    looker.slurm.memory[""] = [step("COMPLETED", "0:0")]
    assert told(looker.look(JOB, after=5.0)["j000001"]) == ("completed", 0, "")


@pytest.mark.parametrize("silent", [NO_ACCOUNTING, NO_DATABASE], ids=["off", "away"])
@pytest.mark.parametrize("ended_after", [2.5, 550.0, 570.0, 599.0])
@pytest.mark.parametrize(("state", "moment"), [("TIMEOUT", LIMIT_S), ("CANCELLED", AGO)])
@pytest.mark.parametrize(
    "words", ["", "slurmstepd: error: *** JOB 7 ON n001 CANCELLED AT 2026-11-29T15:00:00 DUE TO TIME LIMIT ***\n"]
)
def test_without_accounting_the_time_of_its_end_mark_does(
    looker: Looker, silent: Ran, ended_after: float, state: str, moment: int, words: str
) -> None:
    """By more than clocks may differ and Slurm waits before it kills; and slurmstepd would have said that it ended it."""
    controller_is_back(looker, state, ended_after)
    looker.slurm.memory[""] = silent
    looker.slurm_says(words)
    doubt = told(looker.one(JOB))[2]
    assert bool(doubt) == (bool(words) or ended_after + 40.0 >= moment), doubt


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


SHORTENED = "its end mark is there without a whole line, though its job script came to its own end"


@pytest.mark.parametrize(
    "left", ["", "began=100.00 ended=102", ENDED, "\n"], ids=["nothing", "half", "no line", "an empty line"]
)
@pytest.mark.parametrize("status", [0, 3])
def test_an_end_mark_that_a_process_left_behind_shortened(looker: Looker, left: str, status: int) -> None:
    """Slurm knows how the script ended. What its payload did in how much time nobody does."""
    looker._write(looker.places.marks(JOB.id, 0), left)
    looker.slurm.queue[""] = [row(state="FAILED" if status else "COMPLETED", exit=status << 8)]
    assert looker.look(JOB) == {}, "the file may be on its way"
    state, code, doubt = told(looker.one(JOB))
    assert (state, code) == ("failed" if status else "completed", status) and doubt.startswith(SHORTENED)


def test_a_payload_that_ends_with_225_is_no_second_start_where_its_mark_is_gone(looker: Looker) -> None:
    """Accounting drops the highest bit: it tells 97, as of a script that found its claim taken."""
    claimed = looker.places.claim(JOB.id, 0).stat().st_mtime
    looker.slurm.memory[""] = [
        record(state="FAILED", ExitCode="97:0", Start=str(int(claimed) - 1), End=str(int(claimed) + 3))
    ]
    report = looker.one(JOB)
    assert report is not None and (report.state, report.exit_status) == ("failed", 97)
    assert report.message == "accounting does not tell exit status 97 from 225"
    looker.slurm.memory[""] = [
        record(state="FAILED", ExitCode="97:0", Start=str(int(claimed) + 60), End=str(int(claimed) + 61))
    ]
    report = looker.one(JOB)
    assert report is not None and "found the claim taken" in report.message


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
    "a pipe": ("mkfifo {marks}", 0, "an end mark was there before its payload ended"),
    "a pipe for its claim": ("rm {claim}; mkfifo {claim}", 0, "its claim was changed or removed while it ran"),
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
