"""Runs on targets: where they work, how their input files get there, and what a file system that hangs holds up."""

from __future__ import annotations

import errno
import os
import queue
import shutil
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fake_slurm import FakeSlurm, cluster

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case
from shakedown.model.ports import JobOrder, Part, SubmitAnswer
from shakedown.schedulers import copied_inputs as inputs
from shakedown.schedulers.claims import CannotStart
from shakedown.schedulers.cluster import targets as cluster_targets
from shakedown.schedulers.cluster.targets import Placing, gatherings, placings, work_of
from shakedown.schedulers.copied_inputs import Progress, copy_input, shared_input
from shakedown.schedulers.slurm.placing import Targets
from shakedown.schedulers.slurm.runner import Ran
from shakedown.schedulers.slurm.submitter import Actor
from shakedown.schedulers.slurm.wire import Answered, FromHelper, Submit

TOKEN = "0a1b2c3d"
ON = (("f2/mdt", "mdt2"),)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    for name in ("mdt1", "mdt2"):
        (tmp_path / "f2" / name).mkdir(parents=True)
    (tmp_path / "deck").write_text("atoms\n")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "tool").write_text("#!/bin/sh\n")
    (tmp_path / "more" / "tool").chmod(0o755)
    root = tmp_path / "c"
    (root / "jobs/000/j000001").mkdir(parents=True)
    return Layout(root)


def case(layout: Layout, stage: str = "link", **fields: Any) -> Case:
    above = layout.root.parent
    fields = {"work": f"{above}/f2/{{mdt}}/acceptance", "targets": (("mdt", "f2/mdt"),)} | fields
    files = (("in.put", str(above / "deck")), ("deep er/more", str(above / "more")))
    return Case("c", "t", "emu:batch", files=files, stage=stage, **fields)  # type: ignore[arg-type]


def place(layout: Layout, one: Case, job: str = "j000001", run: str = "r000001", targets: Any = ON) -> Path:
    (placing,) = placings(layout, TOKEN, job, 0, run, one, targets, ())
    placing.carry_out(Progress())
    return layout.job_work(job, 0)


@pytest.mark.parametrize("stage", ["link", "copy", "per-target"])
def test_a_run_works_on_its_target_and_is_found_in_the_campaign(layout: Layout, stage: str) -> None:
    link = place(layout, case(layout, stage))
    home = layout.root.parent / "f2/mdt2/acceptance" / TOKEN
    assert link.readlink() == home / "j000001.0"
    assert (link / "in.put").read_text() == "atoms\n"
    assert os.access(link / "deep er/more/tool", os.X_OK)
    assert (link / "in.put").is_symlink() == (stage != "copy")
    assert (layout.job("j000001") / "place").read_text() == f"{home}/j000001\n"
    assert not [path for path in home.iterdir() if path.name.startswith(".")]


def test_an_input_is_placed_once_on_each_target_and_a_changed_one_beside_it(layout: Layout) -> None:
    one = case(layout, "per-target")
    links = []
    for number in range(1, 4):
        layout.job(f"j{number:06}").mkdir(parents=True, exist_ok=True)
        links.append(place(layout, one, f"j{number:06}", f"r{number:06}"))
    inputs_of = list((layout.root.parent / "f2").glob("*/acceptance/*/inputs/*"))
    assert len(inputs_of) == 2
    assert len({(link / "in.put").resolve() for link in links}) == 1
    deck = layout.root.parent / "deck"
    deck.write_text("other atoms\n")
    layout.job("j000009").mkdir()
    newer = place(layout, one, "j000009", "r000009")
    assert [(link / "in.put").read_text() for link in (links[0], newer)] == ["atoms\n", "other atoms\n"]


def test_doing_it_again_changes_nothing_and_a_new_target_moves_the_link(layout: Layout) -> None:
    one = case(layout, "copy")
    link = place(layout, one)
    (link / "mine").touch()
    assert (place(layout, one) / "mine").exists()
    assert not (place(layout, one, targets=(("f2/mdt", "mdt1"),)) / "mine").exists()


def test_files_that_were_gathered_for_a_run_that_was_put_off_serve_its_next_job(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = case(layout, "copy")
    (placing,) = placings(layout, TOKEN, "j000001", 0, "r000001", one, ON, ())
    placing.carry_out(Progress(), lambda: False)
    assert not layout.job_work("j000001", 0).exists()
    monkeypatch.setattr(inputs, "_copy_file", lambda *words: pytest.fail("copied again"))
    layout.job("j000002").mkdir()
    assert (place(layout, one, "j000002") / "in.put").read_text() == "atoms\n"


def test_each_part_has_a_place_of_its_own(layout: Layout) -> None:
    parts = [Part(run, case(layout)) for run in ("r000001", "r000002")] + [Part("r000003", case(layout, work=""))]
    wanted = placings(layout, TOKEN, "j000001", 0, "r000001", parts[0].case, ON, parts)
    for placing in wanted:
        placing.carry_out(Progress())
    works = [layout.part_work("j000001", part.run) for part in parts]
    assert [work.is_symlink() for work in works] == [True, True, False]
    home = layout.root.parent / "f2/mdt2/acceptance" / TOKEN
    assert works[1].readlink() == home / "j000001.0/r000002"


def test_sentences(layout: Layout) -> None:
    above = layout.root.parent
    with pytest.raises(CannotStart, match=r"no target of f2/mdt was chosen for .*/acceptance"):
        place(layout, case(layout), targets=())
    with pytest.raises(CannotStart, match=r"f2/mdt7 does not exist; it has to be made first, on its target") as caught:
        place(layout, case(layout), targets=(("f2/mdt", "mdt7"),))
    assert not caught.value.transient
    with pytest.raises(CannotStart, match="is no absolute path"):
        work_of("r000001", case(layout, work="f2"), ON)
    os.mkfifo(above / "fifo")
    odd = Case("c", "t", "emu:batch", files=(("in", str(above / "fifo")),), work=str(above / "f2"), stage="copy")
    with pytest.raises(CannotStart, match=r"an input is neither a file nor a directory \(.*fifo\)"):
        place(layout, odd)


def test_a_full_disk_passes_and_is_named(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copymode", full)
    with pytest.raises(CannotStart, match=r"No space left on device \(.*f2/mdt2/acceptance") as caught:
        place(layout, case(layout, "copy"))
    assert caught.value.transient
    monkeypatch.undo()
    assert (place(layout, case(layout, "copy")) / "in.put").read_text() == "atoms\n"


def test_many_copy_one_input_at_once_and_all_have_it_whole(tmp_path: Path) -> None:
    source = tmp_path / "big"
    source.write_bytes(os.urandom(1 << 20))
    places: list[Path] = []
    threads = [
        threading.Thread(target=lambda: places.append(shared_input(tmp_path / "inputs", source))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(places) == 8 and len(set(places)) == 1
    assert places[0].read_bytes() == source.read_bytes()
    assert [path.name for path in places[0].parent.iterdir()] == ["big"]


def test_what_somebody_else_copied_first_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another helper, of a driver that was killed, copies the same directory."""
    source, target = tmp_path / "deck", tmp_path / "there" / "deck"
    source.mkdir()
    (source / "a").write_text("1")
    copied = inputs._copy_file

    def first(*words: Any) -> None:
        copied(*words)
        target.mkdir(parents=True, exist_ok=True)
        (target / "a").write_text("1")

    monkeypatch.setattr(inputs, "_copy_file", first)
    copy_input(source, target)
    assert [path.name for path in target.parent.iterdir()] == ["deck"]


class Hanging:
    """A target whose file system gives no answer until it is freed."""

    def __init__(self) -> None:
        self.freed = threading.Event()
        self.entered = 0

    def placing(self, work: str, run: str) -> Placing:
        this = self

        class Stuck(Placing):
            def carry_out(self, progress: Progress, wanted: Any = None) -> None:
                this.entered += 1
                this.freed.wait(120)

        return Stuck(Layout(Path("/c")), TOKEN, "j", 0, run, Case("c", "t", "emu:batch"), work)


def test_a_target_that_hangs_holds_up_no_other(layout: Layout) -> None:
    hanging, targets = Hanging(), Targets(patience_s=0.4)
    said: dict[str, CannotStart | None] = {}
    for number in range(8):
        placing = hanging.placing("/f2/mdt1", f"r{number}")
        targets.place(f"j{number}", [placing], lambda why, job=f"j{number}": said.update({job: why}))  # type: ignore[misc]
    good = placings(layout, TOKEN, "j000001", 0, "r000001", case(layout), ON, ())
    targets.place("j000001", good, lambda why: said.update(good=why))
    _wait(lambda: "good" in said)
    assert said["good"] is None and layout.job_work("j000001", 0).is_dir()
    _wait(lambda: len(said) == 9)
    sentences = {why.message for job, why in said.items() if why is not None and why.transient and job != "good"}
    assert sentences == {"/f2/mdt1 gives no answer: its file system hangs, or is very slow"}
    began = time.monotonic()
    targets.place("j9", [hanging.placing("/f2/mdt1", "r9")], lambda why: said.update(j9=why))
    assert isinstance(said["j9"], CannotStart) and time.monotonic() - began < 30, "nobody waits for it again"
    assert hanging.entered == 2
    hanging.freed.set()
    _wait(lambda: not targets._busy)
    targets.place("j10", [hanging.placing("/f2/mdt1", "r10")], lambda why: said.update(j10=why))
    _wait(lambda: "j10" in said)
    assert said["j10"] is None


def test_a_long_copy_is_told_from_one_that_hangs_and_goes_on(layout: Layout) -> None:
    freed = threading.Event()

    class Slow(Placing):
        def carry_out(self, progress: Progress, wanted: Any = None) -> None:
            while not freed.wait(0.02):
                progress.add(1000)

    slow = Slow(layout, TOKEN, "j1", 0, "r1", Case("c", "t", "emu:batch"), "/f2/mdt1")
    targets = Targets(patience_s=0.5)
    said: list[CannotStart | None] = []
    for _ in range(2):
        count = len(said)
        targets.place("j1", [slow], said.append)
        _wait(lambda count=count: len(said) > count)
    assert all("its input files are still being put into /f2/mdt1 (" in str(why) for why in said)
    freed.set()
    _wait(lambda: not targets._busy)
    targets.place("j1", [slow], said.append)
    _wait(lambda: len(said) == 3)
    assert said[2] is None


def _wait(holds: Any) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


@pytest.mark.parametrize("bundle", [False, True], ids=["a run", "parts"])
def test_links_in_the_campaign_that_take_long_are_there_for_the_next_job_of_the_run(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, bundle: bool
) -> None:
    """A directory of files is linked beside all else: the run is put off meanwhile, and no link is made a second time."""
    many = layout.root.parent / "many"
    many.mkdir()
    for number in range(200):
        (many / str(number)).touch()
    goes_on, point, made = threading.Event(), cluster_targets._point, Counter[str]()

    looked_at = Counter[str]()

    def slow(link: Path, target: Path) -> None:
        if len(made) == 100:
            assert goes_on.wait(60)
        looked_at[link.name] += 1
        made[link.name] += not link.is_symlink()
        point(link, target)

    monkeypatch.setattr(cluster_targets, "_point", slow)
    slurm, said = FakeSlurm(answers={"sbatch": Ran(0, "7\n")}), queue.Queue[FromHelper]()
    actor = Actor(layout, TOKEN, (cluster(),), slurm, 20.0, said.put, targets=Targets(patience_s=0.3))
    one = Case("c", "t", "emu:batch", files=(("many", str(many)),))

    def submit(number: int) -> SubmitAnswer:
        job = f"j{number:06}"
        parts = (Part("r000001", one),) if bundle else ()
        actor.take(Submit(number, [JobOrder(job, "r000001", one, parts=parts)]))
        heard = said.get(timeout=60)
        assert isinstance(heard, Answered)
        return heard.answer

    first = submit(1)
    assert (first.outcome, first.transient) == ("refused", True)
    assert str(layout.work) in first.message
    assert not slurm.count("sbatch")
    goes_on.set()
    number, answer = 2, submit(2)
    while answer.outcome != "accepted":  # it may still be at it
        assert number < 100
        number, answer = number + 1, submit(number + 1)
    place = layout.job_work(f"j{number:06}", 0) / ("r000001" if bundle else "")
    assert len(list((place / "many").iterdir())) == 200
    assert set(made.values()) == set(looked_at.values()) == {1}, "a look at all of them may take as long again"
    assert not list(layout.gathered("r000001").parent.glob(".r000001*")), "nothing is left of it"
    assert slurm.count("sbatch") == 1


def test_a_file_that_stands_in_an_input_directory_wins_over_what_the_directory_has_there(layout: Layout) -> None:
    above = layout.root.parent
    for names in (("dir", "dir/tool"), ("dir/tool", "dir")):
        sources = {"dir": above / "more", "dir/tool": above / "deck"}
        one = Case(f"c{names[0]}", "t", "emu:batch", files=tuple((name, str(sources[name])) for name in names))
        (placing,) = gatherings(layout, TOKEN, f"j00000{len(names[0])}", 0, f"r00000{len(names[0])}", one, ())
        placing.carry_out(Progress())
        assert (placing.place / "dir/tool").read_text() == "atoms\n"


@pytest.mark.parametrize("stage", ["link", "per-target"])
def test_what_was_gathered_long_ago_is_looked_at_again(layout: Layout, stage: str) -> None:
    """The run was put off, and its inputs were changed since."""
    (placing,) = placings(layout, TOKEN, "j000001", 0, "r000001", case(layout, stage), ON, ())
    placing.carry_out(Progress(), lambda: False)
    new = layout.root.parent / "more/new"
    new.touch()
    note = placing.draft.with_name(".r000001.gathered")
    then = time.time() - cluster_targets.GATHERED_S - 1.0
    os.utime(note, (then, then))
    placing.carry_out(Progress())
    assert (placing.link / "deep er/more/new").exists()
    assert not note.exists()
