"""A job of several runs whose file system is full: what cannot be claimed has not begun, and waits again."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from batch_environment import batch_environment
from small_disks import small_disk

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Shape
from shakedown.model.ports import JobOrder, Part
from shakedown.schedulers import claims
from shakedown.schedulers.claims import CannotStart
from shakedown.schedulers.cluster import job_places
from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.cluster.marks import Marks, read_marks
from shakedown.schedulers.cluster.part_ends import held_against, read_ends
from shakedown.schedulers.cluster.part_marks import claimed_parts, read_part

SHELLS = [words for words in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(words[0])]
JOB = "j000001"
FILL = {
    "bytes": "dd if=/dev/zero of=$SHAKEDOWN_CAMPAIGN/ballast bs=4k 2>/dev/null || :",
    "inodes": "cd $SHAKEDOWN_CAMPAIGN; mkdir ballast; i=0; while true >ballast/$i; do i=$((i + 1)); done 2>/dev/null || :",
}
# What makes room again does so once every lane has said that it begins nothing more.
MAKE_ROOM = (
    '(until [ "$(grep -c "begins nothing more" {said})" = {lanes} ]; do sleep 0.05; done; rm -r $SHAKEDOWN_CAMPAIGN/ballast)'
    " >/dev/null 2>&1 &"
)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    with small_disk(tmp_path / "disk", "size=512k,nr_inodes=200") as place:
        yield place


def prepare(disk: Path, scripts: Sequence[str], at_once: int = 1) -> tuple[JobPlaces, list[str]]:
    """A campaign on the disk with a job that has a part for each script; their runs."""
    (disk / "campaign").mkdir()
    places, shape = JobPlaces(Layout(disk / "campaign")), Shape(time_limit_s=0.0)
    cases = [Case(f"c{n}", "t", "emu:batch", shape=shape, script=text) for n, text in enumerate(scripts)]
    parts = tuple(Part(f"r{n:06}", case) for n, case in enumerate(cases, 1))
    places.prepare(JobOrder(JOB, parts[0].run, cases[0], parts=parts, at_once=at_once))
    return places, [part.run for part in parts]


def run(places: JobPlaces, shell: Sequence[str], said: Path, path: str = "") -> Marks:
    """The job from its start to its end, and the marks that it leaves. ``said``: a file for what it complains of."""
    environment = os.environ | batch_environment(places.layout, JOB)
    if path:
        environment["PATH"] = f"{path}:{environment['PATH']}"
    with said.open("wb") as errors:
        command = [*shell, str(places.script(JOB))]
        done = subprocess.run(command, env=environment, stdout=errors, stderr=errors, timeout=120, check=False)
    assert done.returncode == 0, said.read_text()
    marks = read_marks(places, JOB)
    assert marks is not None
    return marks


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
@pytest.mark.parametrize("what", FILL)
def test_the_first_part_that_cannot_be_claimed_ends_the_lane_and_none_after_it_has_begun(
    disk: Path, tmp_path: Path, what: str, shell: list[str]
) -> None:
    said = tmp_path / "said"
    first = f"{FILL[what]}\n{MAKE_ROOM.format(said=said, lanes=1)}"
    places, runs = prepare(disk, ["true", first, *["echo $SHAKEDOWN_RUN"] * 6])
    marks = run(places, shell, said)
    assert (marks.stopped, marks.left, marks.doubt) == (True, 6, "")
    assert claimed_parts(places, JOB) == set(runs[:2]), "an empty claim would look like a part that began"
    told = [read_part(places, JOB, name) for name in runs[:2]]
    assert [mark.state for mark in told if mark is not None] == ["completed"] * 2
    assert said.read_text().count("begins nothing more") == 1
    assert places.take_parts(JOB, runs) == runs[2:], "they wait again, and no attempt is spent on them"


def test_lanes_side_by_side_each_stop_and_use_up_nothing(disk: Path, tmp_path: Path) -> None:
    said = tmp_path / "said"
    waits = "until [ -e $SHAKEDOWN_CAMPAIGN/ballast ]; do sleep 0.05; done"
    first = f"{FILL['bytes']}\n{MAKE_ROOM.format(said=said, lanes=3)}"
    places, runs = prepare(disk, [first, waits, waits, *["echo $SHAKEDOWN_RUN"] * 9], at_once=3)
    marks = run(places, SHELLS[0], said)
    begun = claimed_parts(places, JOB)
    assert begun >= set(runs[:3])
    assert (marks.stopped, marks.left) == (True, 12 - len(begun))
    assert all(places.layout.part_mark(JOB, name).read_bytes() for name in begun), "each claim has its words"
    assert places.take_parts(JOB, runs) == [name for name in runs if name not in begun]


def test_an_end_mark_that_is_waited_for_in_vain_leaves_no_file_that_somebody_might_have_emptied(
    disk: Path, tmp_path: Path
) -> None:
    fake = tmp_path / "bin/sleep"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexit 0\n")
    fake.chmod(0o755)
    places, runs = prepare(disk, [FILL["bytes"], "true"])
    marks = run(places, SHELLS[0], tmp_path / "said", str(fake.parent))
    assert (marks.exit_status, marks.torn, marks.claimed) == (None, False, True)
    assert not places.marks(JOB, 0).exists()
    assert claimed_parts(places, JOB) == set(runs[:1])


def test_where_the_conductor_cannot_write_claims_either_nothing_is_taken_for_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places, runs = prepare(tmp_path, ["true"] * 3)
    make, refused = claims.make_claim, [runs[1]]

    def no_room(path: Path, job: str, layout: Layout) -> bool:
        if path.name in refused:
            raise CannotStart("the claim cannot be taken: No space left on device")
        return make(path, job, layout)

    monkeypatch.setattr(job_places, "make_claim", no_room)
    with pytest.raises(CannotStart):
        places.take_parts(JOB, runs)
    refused.clear()
    assert places.take_parts(JOB, runs) == runs, "what was taken by then is ours"


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
@pytest.mark.parametrize(("what", "status"), [("bytes", 0), ("bytes", 28), ("inodes", 28)])
def test_the_end_of_a_part_says_that_the_disk_was_full_though_its_mark_has_room(
    disk: Path, tmp_path: Path, what: str, status: int, shell: list[str]
) -> None:
    # The disk fills once the first end is written, and has room again once the second one is: nothing else waits for room.
    told = 'until grep -q "r00000{n} .*status=" $SHAKEDOWN_CAMPAIGN/jobs/*/*/ends.0; do sleep 0.05; done'
    fills = f"{told.format(n=1)}\n({FILL[what]})\nexit {status}"
    makes_room = f"({told.format(n=2)}; rm -r $SHAKEDOWN_CAMPAIGN/ballast) >/dev/null 2>&1 &"
    places, runs = prepare(disk, [f"exit {status}", f"{makes_room}\n{fills}", f"exit {status}"])
    run(places, shell, tmp_path / "said")
    before, full = (read_part(places, JOB, name) for name in runs[:2])
    assert before is not None
    assert full is not None
    assert (before.exit_status, before.full, before.doubt) == (status, False, "")
    assert (full.exit_status, full.full, full.doubt) == (status, True, "")
    seen = read_ends(places, JOB, 0)
    assert ("full" in seen[runs[0]], "full" in seen[runs[1]]) == (False, True), "both tell the same"
    assert not list(places.control(JOB).glob(".room*")), "nothing is left of the look"


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_the_end_of_the_first_part_of_all_is_written_though_it_filled_the_disk(
    disk: Path, tmp_path: Path, shell: list[str]
) -> None:
    fake = tmp_path / "bin/sleep"  # nobody waits for room: there is none until all is over
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexit 0\n")
    fake.chmod(0o755)
    places, runs = prepare(disk, [f"{FILL['bytes']}\nexit 28", "true"])
    run(places, shell, tmp_path / "said", str(fake.parent))
    mark = read_part(places, JOB, runs[0])
    assert mark is not None
    seen = held_against(runs[0], mark, read_ends(places, JOB, 0).get(runs[0]), "over")
    assert seen is not None
    assert (seen.state, seen.exit_status, seen.full, seen.doubt) == ("failed", 28, True, "")
