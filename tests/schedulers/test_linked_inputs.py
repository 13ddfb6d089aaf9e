"""A directory among the input files: each run has one of its own, with a link for each file, however it gets there."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from batch_environment import batch_environment

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Pairs
from shakedown.model.ports import JobOrder
from shakedown.schedulers.claims import CannotStart, Workplace
from shakedown.schedulers.cluster import job_script, targets
from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.cluster.targets import placings
from shakedown.schedulers.copied_inputs import Progress, copy_input
from shakedown.schedulers.linked_inputs import is_linked_below, link_input, made_links

WORDS = "a b\n-c'd$(x)"  # a name that no shell likes
NOT_UTF8 = os.fsdecode(b"\xff\xfe")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A case directory of a solver: files, directories, links to what is inside and to what is elsewhere."""
    place = tmp_path / "tests" / "in" / "case"
    for folder in ("100/deep", "empty", WORDS, NOT_UTF8):
        (place / folder).mkdir(parents=True)
    for name in ("b", "100/U", "100/deep/p", "-r", f"{WORDS}/{WORDS}", f"{NOT_UTF8}/x"):
        (place / name).write_text(f"{len(name)}\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mesh").write_text("far\n")
    for link, named in {
        "latest": "100",
        "100/back": "../b",
        "100/deep/top": "../..",
        "whole": str(place / "100"),
        "mesh": "../../../elsewhere/mesh",
        "data": str(elsewhere),
        "later": "log",
        "100/later": "../out/log",
        "-l": "-r",
        "loop": "pool",
        "pool": "loop",
        f"{WORDS}/link": f"../{WORDS}/{WORDS}",
    }.items():
        (place / link).symlink_to(named)
    return place


def by_the_conductor(source: Path, place: Path) -> None:
    link_input(str(place), str(source))


def by_a_job_script(source: Path, place: Path) -> None:
    command = f'{job_script._LINK}\n_sd_link "$1" "$2"\n'
    done = subprocess.run(["sh", "-c", command, "sh", source, place], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


WAYS: list[Callable[[Path, Path], None]] = [by_the_conductor, by_a_job_script]


def tree(place: Path) -> dict[str, str]:
    """What lies below a place: of links what they name."""
    found = {}
    for folder, folders, names in os.walk(place):
        for name in [*folders, *names]:
            path = Path(folder, name)
            what = f"-> {path.readlink()}" if path.is_symlink() else "directory" if path.is_dir() else path.read_text()
            found[str(path.relative_to(place))] = what
    return found


@pytest.mark.parametrize("way", WAYS)
def test_each_file_is_a_link_and_each_directory_the_run_s_own(way: Any, source: Path, tmp_path: Path) -> None:
    before = tree(source)
    own = tmp_path / "work" / "renamed"
    own.parent.mkdir()
    way(source, own)
    found = tree(own)
    assert found.keys() == before.keys()
    for name, what in before.items():
        if not what.startswith("->"):
            assert found[name] == (what if what == "directory" else f"-> {source / name}")
    inside = {"latest": "100", "100/back": "../b", "100/deep/top": "../..", "whole": "100", "later": "log"}
    inside |= {"100/later": "../out/log", "-l": "-r", f"{WORDS}/link": f"../{WORDS}/{WORDS}"}
    assert {name: found[name] for name in inside} == {name: f"-> {named}" for name, named in inside.items()}
    assert {name: found[name] for name in ("mesh", "data")} == {
        name: f"-> {source / name}" for name in ("mesh", "data")
    }
    assert (own / "mesh").read_text() == "far\n" and (own / "data/mesh").read_text() == "far\n"
    assert not (own / "loop").exists()


@pytest.mark.parametrize("way", WAYS)
def test_nothing_that_a_run_does_with_names_reaches_the_site(way: Any, source: Path, tmp_path: Path) -> None:
    for folder in (source, source / "100"):
        folder.chmod(0o555)
    before = tree(source)
    own = tmp_path / "own"
    way(source, own)
    script = """
        set -e
        umask 022
        test -w 100 && case $(stat -c %A . 100) in *r-x------*) exit 1 ;; esac
        echo out >out; echo out >100/out; echo out >latest/more; echo out >whole/most; echo out >later
        mkdir 100/new; sed -i s/1/2/ b; sed -i s/./9/ 100/U; echo new >n; mv n 100/deep/p; rm -- ./-r; rm -r empty
    """
    subprocess.run(["sh", "-c", script], cwd=own, check=True, timeout=60)
    assert tree(source) == before
    assert (own / "100/U").read_text() == "9\n" and (own / "100/most").exists()


@pytest.mark.parametrize("way", WAYS)
def test_a_file_an_empty_directory_and_a_link_to_a_directory(way: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "none").mkdir()
    (tmp_path / "real").mkdir()
    (tmp_path / "real/file").write_text("y")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "own").mkdir()
    for name in ("file", "none", "link"):
        way(tmp_path / name, tmp_path / "own" / name)
    assert tree(tmp_path / "own") == {
        "file": f"-> {tmp_path}/file",
        "none": "directory",
        "link": "directory",
        "link/file": f"-> {tmp_path}/link/file",
    }


@pytest.mark.parametrize("way", WAYS)
def test_a_directory_that_holds_the_campaign_itself_is_one_link(way: Any, tmp_path: Path) -> None:
    place = tmp_path / "campaigns" / "p-1" / "site"
    place.parent.mkdir(parents=True)
    way(tmp_path, place)
    assert place.readlink() == tmp_path


def test_doing_it_again_completes_it_and_a_link_to_all_of_it_is_replaced(source: Path, tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    link_input(str(other), str(source))
    own.symlink_to(source)
    link_input(str(own), str(source))
    (own / "100/U").unlink()
    (own / "b").unlink()
    (own / "b").write_text("mine")
    link_input(str(own), str(source))
    assert tree(own) == tree(other) | {"b": "mine"}
    (tmp_path / "taken").write_text("")
    with pytest.raises(FileExistsError):
        link_input(str(tmp_path / "taken"), str(source))


# ---- what is left of it ----------------------------------------------------------------------------------------------------


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    (tmp_path / "c").mkdir()
    return Workplace(Layout(tmp_path / "c"))


def started(workplace: Workplace, source: Path, run: str = "r000001") -> tuple[str, Pairs]:
    files = (("case", str(source)), ("other case", str(source)), ("in.put", str(source / "b")))
    place = str(workplace.layout.work_directory(run))
    workplace.check_files(files)
    workplace.prepare(run, place, files)
    return place, files


def test_a_run_that_wrote_nothing_leaves_nothing(workplace: Workplace, source: Path) -> None:
    before = tree(source)
    place, files = started(workplace, source)
    (Path(place) / "case/100/U").unlink()
    workplace.tidy(place, files)
    assert not list(Path(place).iterdir())
    other, files = started(workplace, source, "r000002")
    assert not Path(place).exists(), "its empty directory served the next"
    assert tree(Path(other) / "case") == tree(Path(other) / "other case") != {}
    workplace.tidy(other, files)
    workplace.tidy_up()
    assert not Path(other).exists()
    assert tree(source) == before


@pytest.mark.parametrize(
    "written",
    [
        "echo x >case/100/out",
        "mkdir case/100/new",
        "sed -i s/1/2/ case/b",
        "sed -i s/1/2/ in.put",
        "ln -s b case/new",
        "ln -sf /etc/hosts case/b",
        "ln -sfn empty case/latest",
        "ln -sf /etc/hosts in.put",
        "rm -r case/empty; echo x >case/empty",
        "rm case/data; mkdir case/data",
        "mkdir 'other case/new'",
    ],
)
def test_whatever_a_run_made_stays_with_all_that_is_beside_it(workplace: Workplace, source: Path, written: str) -> None:
    place, files = started(workplace, source)
    subprocess.run(["sh", "-c", written], cwd=place, check=True, timeout=60)
    before = tree(Path(place))
    assert made_links(place, files) is None
    workplace.tidy(place, files)
    workplace.tidy_up()
    assert tree(Path(place)) == before


def test_a_file_that_is_handed_into_a_directory_goes_before_the_one_there(workplace: Workplace, source: Path) -> None:
    before = tree(source)
    other = source.parent / "handed"
    other.write_text("handed\n")
    files = (("case", str(source)), ("case/b", str(other)), ("case/new/b", str(other)))
    place = str(workplace.layout.work_directory("r000001"))
    workplace.prepare("r000001", place, files)
    assert [(Path(place) / name).read_text() for name in ("case/b", "case/new/b")] == ["handed\n"] * 2
    assert tree(source) == before
    workplace.tidy(place, files)
    assert (Path(place) / "case/new/b").exists(), "checks read what was handed on"
    (Path(place) / "case/new/b").unlink()
    (Path(place) / "case/new").rmdir()
    workplace.tidy(place, files)
    assert not list(Path(place).iterdir())


def test_which_files_of_a_run_are_still_those_of_its_input_directory(workplace: Workplace, source: Path) -> None:
    place, files = started(workplace, source)
    (Path(place) / "case/out").write_text("x")
    (Path(place) / "case/b").unlink()
    (Path(place) / "case/b").write_text("x")
    said = {name: is_linked_below(place, name, files) for name in ("case/100/U", "case/out", "case/b", "in.put")}
    assert said == {"case/100/U": True, "case/out": False, "case/b": False, "in.put": False}


# ---- what goes wrong ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "number", "transient"),
    [("scandir", errno.EACCES, False), ("mkdir", errno.EMLINK, False), ("symlink", errno.ENOSPC, True)],
)
def test_what_the_system_refuses_is_a_sentence(
    workplace: Workplace, source: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, transient: bool
) -> None:
    honest = getattr(os, call)

    def refuses(*words: Any) -> Any:
        if any(str(word).endswith(("/100", "/100/U")) for word in words):
            raise OSError(number, os.strerror(number), *map(str, words))
        return honest(*words)

    monkeypatch.setattr(os, call, refuses)
    with pytest.raises(CannotStart) as told:
        started(workplace, source)
    assert told.value.message.startswith(f"run r000001 cannot be started: {os.strerror(number)} (")
    assert "case/100" in told.value.message and told.value.transient is transient


def test_a_path_that_is_too_long_in_the_run_s_directory_is_a_sentence(workplace: Workplace, tmp_path: Path) -> None:
    """It fits where it lies, and the run's directory is some characters deeper."""
    deep = str(tmp_path / "d")
    while len(deep) < 4090:
        deep += "/" + "x" * min(200, 4094 - len(deep))
    Path(deep).mkdir(parents=True)
    place = str(workplace.layout.work_directory("r000001"))
    with pytest.raises(CannotStart, match="run r000001 cannot be started: File name too long"):
        workplace.prepare("r000001", place, (("d", str(tmp_path / "d")),))


def test_a_name_that_is_no_utf_8_can_be_said(
    workplace: Workplace, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = os.symlink

    def refuses(target: str, place: str) -> None:
        if NOT_UTF8 in place:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), target, None, place)
        honest(target, place)

    monkeypatch.setattr(os, "symlink", refuses)
    with pytest.raises(CannotStart) as told:
        started(workplace, source)
    assert r"case/\udcff\udcfe/x)" in told.value.message
    assert told.value.message.encode()


# ---- jobs of a cluster ---------------------------------------------------------------------------------------------------


def test_a_job_and_its_parts_have_directories_of_their_own(source: Path, tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    places = JobPlaces(Layout(tmp_path / "c"))
    case = Case("c", "t", "emu:batch", script="true", files=(("case", str(source)),))
    places.prepare(JobOrder("j000001", "r000001", case))
    assert tree(places.directory("j000001", 0) / "case").keys() == tree(source).keys()
    assert not (places.directory("j000001", 0) / "case").is_symlink()


@pytest.mark.parametrize("stage", ["link", "copy", "per-target"])
def test_on_a_target_a_run_writes_into_its_own(source: Path, tmp_path: Path, stage: Any) -> None:
    for link in ("later", "100/later", "loop", "pool", "100/deep/top"):
        (source / link).unlink()  # no copy could be made of these
    (tmp_path / "f2").mkdir()
    layout = Layout(tmp_path / "c")
    case = Case("c", "t", "emu:batch", files=(("case", str(source)),), work=str(tmp_path / "f2"), stage=stage)
    before = tree(source)
    for number in (1, 2):
        job = f"j{number:06}"
        layout.job(job).mkdir(parents=True)
        (placing,) = placings(layout, "0a1b2c3d", job, 0, f"r{number:06}", case, (), ())
        placing.carry_out(Progress())
        own = layout.job_work(job, 0) / "case"
        assert not (own / "100/out").exists(), "the run before wrote it"
        (own / "100/out").write_text("mine")
        (own / "latest/more").write_text("mine")
        assert (own / "mesh").read_text() == "far\n"
    assert tree(source) == before
    assert not list(tmp_path.glob("f2/*/inputs/*/*/100/out"))
    assert targets.work_of("r1", case, ()) == str(tmp_path / "f2")


@pytest.mark.parametrize(("stage", "target"), [("link", False), ("link", True), ("copy", True), ("per-target", True)])
def test_a_restart_finds_nothing_that_its_first_start_left(
    source: Path, tmp_path: Path, stage: Any, target: bool
) -> None:
    """The first start is killed when it has written beside its inputs, and changed one."""
    for link in ("later", "100/later", "loop", "pool", "100/deep/top"):
        (source / link).unlink()
    layout = Layout(tmp_path / "c")
    places = JobPlaces(layout)
    files = (("case", str(source)), ("deep er/in.put", str(source / "b")))
    script = """
        ls case/100; cat case/100/U case/b 'deep er/in.put' case/mesh
        echo mine >case/100/out; sed -i s/1/2/ case/b 'deep er/in.put'; echo mine >case/latest/more
        [ $SHAKEDOWN_RESTART = 1 ] || exit 137
    """
    work = str(tmp_path / "f2") if target else ""
    case = Case("c", "t", "emu:batch", script=script, files=files, work=work, stage=stage)
    layout.root.mkdir()
    (tmp_path / "f2").mkdir()
    before = tree(source)
    job_file = places.prepare(JobOrder("j000001", "r000001", case))
    for placing in placings(layout, "0a1b2c3d", "j000001", 0, "r000001", case, (), ()) if target else ():
        placing.carry_out(Progress())
    for restart in ("", "1"):
        environment = os.environ | batch_environment(layout, "j000001", "4711", "n001")
        environment |= {"SLURM_RESTART_COUNT": restart} if restart else {}
        subprocess.run(["sh", job_file], env=environment, capture_output=True, timeout=60, check=False)
    outputs = [places.output("j000001", restart).read_text() for restart in (0, 1)]
    assert outputs == ["U\ndeep\n5\n1\n1\nfar\n".replace("U\n", "U\nback\n", 1)] * 2
    assert tree(source) == before
    assert not list(tmp_path.glob("f2/*/inputs/*/*/100/out"))


def test_a_copy_has_what_links_name_and_ends_where_they_go_round(tmp_path: Path) -> None:
    (tmp_path / "d/sub").mkdir(parents=True)
    (tmp_path / "d/sub/x").write_text("x")
    (tmp_path / "d/link").symlink_to("sub")
    copy_input(tmp_path / "d", tmp_path / "copy")
    assert tree(tmp_path / "copy") == {"sub": "directory", "sub/x": "x", "link": "directory", "link/x": "x"}
    (tmp_path / "d/sub/round").symlink_to("..")
    with pytest.raises(OSError, match="a link leads to a directory that it lies in") as told:
        copy_input(tmp_path / "d", tmp_path / "again")
    assert Path(told.value.filename).name == "round" and told.value.errno == errno.ELOOP
