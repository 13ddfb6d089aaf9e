"""What a run leaves to be handed on: the files that a pattern finds in its directory, with their sums, or why there are none."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from shakedown.conductor.workers.run_reader import LEFT_CHARACTERS, MOST_LEFT, OpenPack, ReadingLimits, RunReader
from shakedown.conductor.workers.worker import take_evidence, with_left
from shakedown.model.layout import Layout
from shakedown.model.nouns import Pairs, Test
from shakedown.model.ports import Evidence
from shakedown.schedulers.linked_inputs import link_input

SUM = hashlib.sha256(b"here").hexdigest()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    place = Layout(tmp_path).work_directory("r000001")
    place.mkdir(parents=True)
    return place


def left(root: Path, *patterns: str, files: Pairs = ()) -> Evidence:
    limits = ReadingLimits()
    reader = RunReader(Layout(root), "r000001", {}, files, limits, OpenPack())
    return with_left(take_evidence("r000001", Test("t"), reader, limits), patterns, reader, limits)


def fill(work: Path, *names: str) -> None:
    for name in names:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("here")


def test_patterns_find_files_at_any_depth(tmp_path: Path, work: Path) -> None:
    fill(work, "mesh.txt", "out/a.dat", "out/deep/b.dat", "other")
    (work / "near").symlink_to("mesh.txt")
    found = left(tmp_path, "mesh.txt", "out/**/*.dat", "near", "no*")
    assert found.left == {
        "mesh.txt": {"mesh.txt": SUM},
        "out/**/*.dat": {"out/a.dat": SUM, "out/deep/b.dat": SUM},
        "near": {"near": SUM},
        "no*": "there is no such file",
    }
    assert found.trouble == ""


def test_the_files_of_another_run_are_not_its_own(tmp_path: Path, work: Path) -> None:
    """A check may read them, for they are in the campaign; but they are not what this run left."""
    other = Layout(tmp_path).work_directory("r000002")
    fill(other, "mesh.txt")
    (work / "mesh.txt").symlink_to(other / "mesh.txt")
    (work / "all").symlink_to(other)
    for why in left(tmp_path, "mesh.txt", "all/*").left.values():
        assert isinstance(why, str) and "leads out of the run's directory" in why


def test_a_pattern_finds_what_a_run_wrote_into_its_input_directory_and_passes_over_what_was_there(
    tmp_path: Path, work: Path
) -> None:
    source = tmp_path.parent / f"{tmp_path.name}-tests" / "case"
    fill(source, "a.vtk", "100/b.vtk", "c.vtk")
    link_input(str(work / "case"), str(source))
    (work / "case/c.vtk").unlink()
    fill(work, "case/c.vtk", "case/100/new.vtk")
    files = (("case", str(source)),)
    found = left(tmp_path, "case/**/*.vtk", "case/a.vtk", "**/b*", files=files)
    reader = RunReader(Layout(tmp_path), "r000001", {}, files, ReadingLimits(), OpenPack())
    digests = reader.digests("**/*.vtk", ["case/a.vtk"])
    assert digests == dict.fromkeys(("case/100/new.vtk", "case/c.vtk", "case/a.vtk"), SUM), "golden sums may name one"
    assert found.left["case/**/*.vtk"] == {"case/100/new.vtk": SUM, "case/c.vtk": SUM}
    assert "case/a.vtk leads out of the run's directory" in str(found.left["case/a.vtk"]), "it is named"
    assert found.left["**/b*"] == "there is no such file"


@pytest.mark.parametrize(
    "names",
    [[f"f{number:02d}" for number in range(MOST_LEFT + 1)], ["x" * (LEFT_CHARACTERS // 3) + str(n) for n in range(3)]],
)
def test_more_than_an_event_holds_is_not_handed_on(names: list[str], tmp_path: Path, work: Path) -> None:
    fill(work, *names)
    assert "pack them into one" in str(left(tmp_path, "*").left["*"])
    few = left(tmp_path, *names)  # of several patterns all files count
    assert [isinstance(one, dict) for one in few.left.values()] == [True] * (len(names) - 1) + [False]


def test_a_directory_that_is_away_says_nothing_about_the_run(tmp_path: Path, work: Path) -> None:
    work.parent.parent.rename(tmp_path / "elsewhere")
    (tmp_path / "work").symlink_to("nowhere")
    assert "is away" in left(tmp_path, "mesh.txt").trouble
