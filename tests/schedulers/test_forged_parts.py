"""Parts of a job that write, change and remove marks, their own and others': told by name, never run twice, never passed by it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from batch_environment import batch_environment
from fake_slurm import Looker, row

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Shape
from shakedown.model.ports import JobOrder, JobReport, Part
from shakedown.schedulers import claims
from shakedown.schedulers.cluster import job_places
from shakedown.schedulers.cluster.job_script import FOUL_MARKS
from shakedown.schedulers.slurm.job_evidence import Asked

RUNS = ("r000001", "r000002", "r000003")
JOB = Asked("j000001", "7", parts=RUNS)
SHELLS = [words for words in (["dash"], ["bash", "--posix"], ["busybox", "sh"]) if shutil.which(words[0])]
MINE = 'J=$SHAKEDOWN_CAMPAIGN/jobs/000/j000001 P=$J/parts M=$P/$SHAKEDOWN_RUN; echo "$SHAKEDOWN_RUN" >>"$SHAKEDOWN_CAMPAIGN/ran"; '
WAIT = "until grep -q status= $J/ends.0; do sleep 0.02; done; "  # for the end of the first part
END = "began=900.00 ended=902.00 status=0 ."
OUTPUT = '"$SHAKEDOWN_CAMPAIGN"/outputs/000/j000001.0/r000003.out'
EARLY = "an end stood in its mark before its payload ended: somebody else wrote it"
CLAIM = "somebody else wrote its claim: its job's script never began it"
GONE = "its mark is gone, and its job's script saw it end: somebody removed it"
WELL, NEVER = ("completed", 0, ""), ("interrupted", None, CLAIM)

# What the second of three parts does; what is said of each; which of them ran, in which order.
PAYLOADS = {
    "nothing": ("exit 3", (WELL, ("failed", 3, ""), WELL), "123"),
    "its own end": (f"echo '{END}' >>$M; exit 1", (WELL, ("failed", 1, EARLY), WELL), "123"),
    "its own end, known to its script": (
        f"echo '{END}' >>$M; echo \"$SHAKEDOWN_RUN {END}\" >>$J/ends.0; exit 1",
        (WELL, ("failed", 1, EARLY), WELL),
        "123",
    ),
    "a time limit": ("echo 'timeout=60 .' >>$M", (WELL, ("completed", 0, EARLY), WELL), "123"),
    "a claim of the conductor's": ("echo conductor >$M", (WELL, ("completed", 0, EARLY), WELL), "123"),
    "the end of one that is over": (
        f"{WAIT}echo '{END}' >>$P/r000001",
        (("completed", 0, "an end stood in its mark before its payload ended: somebody else wrote it"), WELL, WELL),
        "123",
    ),
    "the claim of the next": (f'{{ head -n 1 "$M"; echo "{END}"; }} >$P/r000003', (WELL, WELL, NEVER), "12"),
    "the claim and the output of the next": (
        f'{{ head -n 1 "$M"; echo "{END}"; }} >$P/r000003; echo ok >{OUTPUT}',
        (WELL, WELL, NEVER),
        "12",
    ),
    "the output of the next": (
        f"echo ok >{OUTPUT}",
        (
            WELL,
            WELL,
            ("interrupted", None, "somebody else wrote its output before it began: its job's script left it out"),
        ),
        "12",
    ),
    "no marks": (f"{WAIT}rm -rf $P", (("completed", 0, GONE), ("completed", 0, EARLY)), "12"),
    "no mark of another": (f"{WAIT}rm $P/r000001", (("completed", 0, GONE), WELL, WELL), "123"),
}


def pack(looker: Looker, second: str, at_once: int = 1, first: str = ":") -> None:
    scripts = [MINE + text for text in (first, second, ":")]
    cases = [Case(f"c{n}", "t", "emu:batch", shape=Shape(time_limit_s=60.0), script=s) for n, s in enumerate(scripts)]
    parts = tuple(Part(run, case) for run, case in zip(RUNS, cases, strict=True))
    looker.places.prepare(JobOrder(JOB.id, RUNS[0], cases[0], parts=parts, at_once=at_once))


def run(looker: Looker, shell: list[str]) -> int:
    environment = os.environ | batch_environment(looker.places.layout, JOB.id, "7")
    command = [*shell, str(looker.places.script(JOB.id))]
    return subprocess.run(command, env=environment, check=False, capture_output=True, timeout=60).returncode


def said(looker: Looker, job: Asked = JOB) -> tuple[dict[str, tuple[str, int | None, str]], JobReport]:
    """What is said of each run, and the word on their job."""
    reports: list[JobReport] = []
    for _ in range(2):
        looker.asker.look([job], reports.extend)
        looker.now += 61
    *parts, whole = [report for report in reports if report.run or report.state != "running"]
    return {part.run: (part.state, part.exit_status, part.doubt) for part in parts if part.run}, whole


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
@pytest.mark.parametrize(("second", "wanted", "ran"), PAYLOADS.values(), ids=PAYLOADS)
def test_what_a_part_does_to_marks(
    tmp_path: Path, second: str, wanted: tuple[tuple[str, int | None, str], ...], ran: str, shell: list[str]
) -> None:
    looker = Looker(tmp_path)
    pack(looker, second)
    status = run(looker, shell)
    assert "".join(line[-1] for line in (tmp_path / "ran").read_text().split()) == ran
    looker.slurm.queue[""] = [row(state="FAILED" if status else "COMPLETED", exit=status << 8)]
    told, whole = said(looker)
    assert told == dict(zip(RUNS, wanted, strict=False))
    named = {name: doubt for name, (_, _, doubt) in told.items() if doubt}
    assert whole.doubted == named and status in ((0, FOUL_MARKS) if named else (0,))


def test_no_lane_begins_again_what_another_has_begun(tmp_path: Path) -> None:
    """The second lane comes to the parts of the first when their marks are gone."""
    looker = Looker(tmp_path)
    removed = "until [ ! -e $P/r000001 ]; do sleep 0.02; done"
    third = f"until [ -e {OUTPUT} ]; do sleep 0.02; done"
    pack(looker, f"rm -f $P/r000002 $P/r000001; {third}", at_once=2, first=removed)
    assert run(looker, SHELLS[0]) == FOUL_MARKS
    assert sorted((tmp_path / "ran").read_text().split()) == list(RUNS)


# ---- while the job lives -------------------------------------------------------------------------------------------------


@pytest.fixture
def alive(tmp_path: Path) -> Looker:
    """A job whose first part has a mark with an end, and whose script has not said a word of it."""
    looker = Looker(tmp_path)
    pack(looker, ":")
    looker.begin()
    begin = "job=7 host=n001 uptime=101.50 restart=0 lane=12 ."
    looker._write(looker.places.layout.part_mark(JOB.id, RUNS[0]), f"{begin}\nbegan=101.50 ended=103.00 status=0 .\n")
    looker.slurm.queue[""] = [row()]
    return looker


def ends(looker: Looker, text: str) -> None:
    looker._write(looker.places.layout.part_ends(JOB.id, 0), text)


def test_an_end_is_believed_once_its_script_says_so(alive: Looker) -> None:
    assert _parts(alive) == [(RUNS[0], "running", "")]
    assert _parts(alive) == []
    ends(alive, f"{RUNS[0]} began=101.50 ended=103.00 status=0")
    assert _parts(alive) == [], "a line that is not whole"
    ends(alive, f"{RUNS[0]} began=101.50 ended=103.00 status=0 .\n")
    assert _parts(alive) == [(RUNS[0], "completed", "")]


def test_an_end_that_had_no_room_in_its_mark_is_its_script_s_word_and_nobody_s_doing(alive: Looker) -> None:
    """The script puts its own file right at the end, when there is room again."""
    begin = "job=7 host=n001 uptime=101.50 restart=0 lane=12 ."
    alive._write(alive.places.layout.part_mark(JOB.id, RUNS[0]), f"{begin}\n")
    alive._write(alive.places.marks(JOB.id, 0), "began=100.00 ended=110.00 status=0 told= left=2 full=1 .\n")
    alive.slurm.queue[""] = [row(state="COMPLETED")]
    ends(alive, f"{RUNS[0]} began=101.50 ended=103.00 status=0 full=1 .\n")
    assert _parts(alive) == [(RUNS[0], "completed", "")]


def test_an_end_of_which_its_script_says_something_else(alive: Looker) -> None:
    ends(alive, f"{RUNS[0]} began=101.50 ended=103.00 status=1 .\n")
    doubt = "its mark says exit status 0 after 1.5 s, its job's script exit status 1 after 1.5 s"
    assert _parts(alive) == [(RUNS[0], "failed", doubt)]


def test_an_end_that_its_script_never_saw_is_none_where_the_job_was_killed(alive: Looker) -> None:
    alive.slurm.queue[""] = [row(state="CANCELLED")]
    assert said(alive)[0] == {RUNS[0]: ("running", None, "")}


def test_what_was_told_of_a_run_and_is_not_so_is_named(alive: Looker) -> None:
    """A payload may write its end everywhere, and put all right again before it ends otherwise."""
    ends(alive, f"{RUNS[0]} began=101.50 ended=103.00 status=0 .\n")
    assert _parts(alive) == [(RUNS[0], "completed", "")]
    ends(alive, f"{RUNS[0]} began=101.50 ended=109.00 status=1 .\n")
    mark = alive.places.layout.part_mark(JOB.id, RUNS[0])
    mark.write_text(mark.read_text().split("\n")[0] + "\nbegan=101.50 ended=109.00 status=1 .\n")
    alive._write(alive.places.marks(JOB.id, 0), "began=100.00 ended=110.00 status=0 told= left=2 .\n")
    alive.slurm.queue[""] = [row(state="COMPLETED")]
    whole = said(alive)[1]
    assert whole.doubted == {RUNS[0]: "by its marks it was completed, and is failed by its job's script"}


def test_a_job_of_an_older_version_keeps_no_ends(alive: Looker) -> None:
    alive.places.layout.part_ends(JOB.id, 0).unlink()
    assert _parts(alive) == [(RUNS[0], "running", "")], "the payload may have removed the file"
    alive.places.script(JOB.id).write_text("#!/bin/sh\n")
    assert _parts(Looker(alive.root, alive.slurm)) == [(RUNS[0], "completed", "")]


def _parts(looker: Looker) -> list[tuple[str, str, str]]:
    reports: list[JobReport] = []
    looker.asker.look([JOB], reports.extend)
    return [(report.run, report.state, report.doubt) for report in reports if report.run]


def test_an_output_that_is_gone_is_looked_for(alive: Looker) -> None:
    ends(alive, f"{RUNS[0]} began=101.50 ended=103.00 status=0 .\n")
    reports: list[JobReport] = []
    alive.asker.look([JOB], reports.extend)
    (output,) = [report.output for report in reports if report.run]
    assert (output["file"], output["bytes"]) == (f"outputs/000/j000001.0/{RUNS[0]}.out", 0)


# ---- what never began, and what only looks so ----------------------------------------------------------------------------


def test_what_left_anything_is_no_part_that_never_began(tmp_path: Path) -> None:
    looker = Looker(tmp_path)
    pack(looker, ":")
    places, layout = looker.places, looker.places.layout
    assert places.take_parts(JOB.id, RUNS[:1]) == places.take_parts(JOB.id, RUNS[:1]) == [RUNS[0]]
    layout.part_output(JOB.id, RUNS[1]).write_text("")
    ends(looker, f"{RUNS[2]} began=101.50 ended=103.00 status=0 .\n")
    for _ in range(2):
        assert places.take_parts(JOB.id, RUNS) == [RUNS[0]]
        for name in RUNS[1:]:  # a payload may write the conductor's name
            layout.part_mark(JOB.id, name).write_text("conductor\n")
    shutil.rmtree(layout.part_marks(JOB.id))
    assert not places.take_parts(JOB.id, RUNS), "nobody knows"


def test_an_end_that_is_written_while_claims_are_taken_is_no_part_that_never_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A payload removed its claim and its output; its script writes its end when the ends have been read already."""
    looker = Looker(tmp_path)
    pack(looker, ":")
    made = claims.make_claim

    def then_it_ends(path: Path, job: str, layout: Layout) -> bool:
        if path.name == RUNS[1]:
            ends(looker, f"{RUNS[1]} began=101.50 ended=103.00 status=0 .\n")
        return made(path, job, layout)

    monkeypatch.setattr(job_places, "make_claim", then_it_ends)
    assert looker.places.take_parts(JOB.id, RUNS) == [RUNS[0], RUNS[2]]
