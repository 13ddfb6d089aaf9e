"""What a job of many parts costs grows as their number does: its script, and what the conductor does to its parts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Shape
from shakedown.model.ports import JobOrder, Part
from shakedown.schedulers.cluster import job_places
from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.cluster.parts_script import FIRST_END

SHELLS = [words for words in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(words[0])]
JOB = "j000001"
FEW, MANY = 300, 1200
# A shell prints each assignment with its whole text: what it copies is counted in what it prints.
HEAD = """set -x
SLURM_JOB_ID=7 _sd_host=here _sd_restart=0 _sd_began=1.00 _sd_told= _sd_tries=0 _sd_room= _sd_control=$1
_sd_newline='
'
_sd_write() { echo "$2 ." >>"$1"; }
"""
HEARD = "r{0:06} begin 1.00 9/600\nr{0:06} 1.00 2.00 0\n"


@pytest.mark.parametrize("words", SHELLS, ids=" ".join)
def test_what_the_scribe_copies_grows_as_the_parts_do(words: list[str], tmp_path: Path) -> None:
    """It hears each part begin and end, keeps that, and compares the file of ends with it."""
    printed = {}
    for count in (FEW, MANY):
        (tmp_path / f"{count}/parts").mkdir(parents=True)
        (tmp_path / f"{count}/ends.0").write_text(f"{FIRST_END}\n")
        text = HEAD + parts_of(count) + functions_of(tmp_path, "_sd_scribe") + "_sd_scribe\n"
        for number in range(1, count + 1):
            mark = tmp_path / f"{count}/parts/r{number:06}"
            mark.write_text("job=7 host=here uptime=1.00 restart=0 lane=9 .\n")
        heard = "".join(HEARD.format(number) for number in range(1, count + 1))
        done = subprocess.run(
            [*words, "-c", text, "sh", str(tmp_path / str(count))],
            input=heard,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        assert len((tmp_path / f"{count}/ends.0").read_text().splitlines()) == 1 + count
        printed[count] = len(done.stderr)
    assert printed[MANY] < 1.5 * printed[FEW] * MANY / FEW


@pytest.mark.parametrize("words", SHELLS, ids=" ".join)
def test_what_the_watch_copies_in_one_look_grows_as_the_parts_do(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    printed = {}
    once = 'sleep() { _sd_looks="$_sd_looks."; [ "$_sd_looks" = . ]; }\n'
    for count in (FEW, MANY):
        text = HEAD + parts_of(count) + functions_of(tmp_path, "_sd_watch") + once + "_sd_watch\n"
        command = [*words, "-c", text, "sh", str(tmp_path)]
        printed[count] = len(subprocess.run(command, capture_output=True, check=True, timeout=300).stderr)
    assert printed[MANY] < 1.5 * printed[FEW] * MANY / FEW


def parts_of(count: int) -> str:
    return "_sd_parts='" + "\n".join(f"r{number:06}/aaaa/600" for number in range(1, count + 1)) + "'\n"


def functions_of(folder: Path, first: str) -> str:
    """The functions of a job's script, from that one on."""
    places, _ = prepared(folder / "campaign", 2)
    script = places.script(JOB).read_text()
    return script[script.index(f"{first}() {{") : script.index("\n_sd_told=\ntrap")] + "\n"


def prepared(campaign: Path, count: int) -> tuple[JobPlaces, list[str]]:
    """A job of so many parts, and their runs."""
    campaign.mkdir(exist_ok=True)
    places = JobPlaces(Layout(campaign))
    case = Case("c", "t", "emu:batch", shape=Shape(time_limit_s=600.0), script=":")
    parts = tuple(Part(f"r{number:06}", case) for number in range(1, count + 1))
    places.prepare(JobOrder(JOB, parts[0].run, case, parts=parts))
    return places, [part.run for part in parts]


@pytest.mark.parametrize("restarts", [1, 3])
def test_ends_are_read_twice_however_many_parts_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restarts: int
) -> None:
    places, runs = prepared(tmp_path, 200)
    for restart in range(restarts):
        places.layout.part_ends(JOB, restart).write_text("")
    places.layout.part_ends(JOB, 0).write_text(f"{runs[7]} began=1.00 ended=2.00 status=0 .\n")
    read: list[str] = []
    small = job_places.read_small

    def counted(path: Path, most: int = job_places.MARK_BYTES) -> bytes | None:
        read.append(path.name)
        return small(path, most)

    monkeypatch.setattr(job_places, "read_small", counted)
    assert places.take_parts(JOB, runs) == [*runs[:7], *runs[8:]]
    assert len(read) == 2 * restarts
