"""What a cluster's job wrote has no sum until it is judged: then the bytes that were read have one, and later changes are found."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from tests.conductor.workers.conftest import Room

from shakedown.audit.held_outputs import hold_outputs
from shakedown.audit.links import look_for_links
from shakedown.audit.rejudge import Act, rejudge
from shakedown.checks.judge import judge
from shakedown.events.campaigns import write_document
from shakedown.model.events import Event
from shakedown.model.frozen import freeze
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Check, Component, Document, System, Test
from shakedown.model.ports import Evidence, JobReport
from shakedown.report.outputs import read_output
from shakedown.schedulers.output_sums import output_damage

OUTPUT = b"begin\n" + b"x" * 5000 + b"\ndone\n"
MARKS = "began=10.00 ended=12.50 status=0 told= .\n"
CHECKED = Test("t", checks=(Check("contains", "output", "done", 'output contains "done"'),))
UNASKED = Test("t")  # nothing of it looks at the output
SCANNED = 2000  # bytes that are read, where less than all is


def wrote(room: Room, data: bytes = OUTPUT, name: str = "j000012.0.out") -> dict[str, Any]:
    """A cluster's job that ended: its output, its claim and its marks; the pointer as the port reports it."""
    path = room.layout.outputs / "000" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    control = room.layout.job("j000012")
    (control / "parts").mkdir(parents=True, exist_ok=True)
    (control / "claim.0").write_text("job=7 host=n1 .\n")
    (control / "marks.0").write_text(MARKS)
    (control / "parts/r000003").write_text(f"job=7 .\n{MARKS}")
    return {"file": str(path.relative_to(room.layout.root)), "bytes": len(data), "directory": "work/000/j000012.0"}


def judged(room: Room, test: Test, pointer: dict[str, Any], **limits: Any) -> dict[str, Any]:
    """The pointer as the verdict has it."""
    return pointer | room.one(room.order(test, pointer), **limits).sums


def spoil(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("test", [CHECKED, UNASKED])
def test_every_byte_that_was_read_is_held(room: Room, test: Test) -> None:
    pointer = judged(room, test, wrote(room))
    assert output_damage(room.layout.root, pointer) == ""
    for at in (0, 2500, len(OUTPUT) - 1):
        spoil(room.layout.root / pointer["file"], at)
        assert "it is not what was kept of the run" in output_damage(room.layout.root, pointer)
        spoil(room.layout.root / pointer["file"], at)


def test_of_a_large_output_beginning_end_and_length_are_held_and_its_middle_is_not(room: Room) -> None:
    pointer = judged(room, CHECKED, wrote(room), scanned=SCANNED)
    path = room.layout.root / pointer["file"]
    assert "crc" not in pointer and pointer["ends"][::2] == [SCANNED // 2, SCANNED // 2]
    for at, held in ((0, True), (999, True), (1000, False), (len(OUTPUT) - 1001, False), (len(OUTPUT) - 1000, True)):
        spoil(path, at)
        assert bool(output_damage(room.layout.root, pointer)) is held, at
        spoil(path, at)
    os.truncate(path, len(OUTPUT) - 1)
    assert f"it had {len(OUTPUT)} bytes when the run was judged" in output_damage(room.layout.root, pointer)


@pytest.mark.parametrize(
    ("name", "mark"),
    [("j000012.0.out", "claim.0"), ("j000012.0.out", "marks.0"), ("j000012.0/r000003.out", "parts/r000003")],
)
def test_the_marks_of_a_job_and_of_a_part_are_held(room: Room, name: str, mark: str) -> None:
    (room.layout.outputs / "000/j000012.0").mkdir(parents=True)
    pointer = judged(room, CHECKED, wrote(room, name=name))
    assert output_damage(room.layout.root, pointer) == ""
    spoil(room.layout.job("j000012") / mark, 4)
    assert f"jobs/000/j000012/{mark} is damaged: it is not what it was when the run was judged" in output_damage(
        room.layout.root, pointer
    )


def test_a_mark_that_was_not_written_to_its_end_has_no_sum(room: Room) -> None:
    pointer = wrote(room)
    (room.layout.job("j000012") / "marks.0").write_text(MARKS[:20])
    assert judged(room, CHECKED, pointer)["marks"].keys() == {"claim.0"}


def test_what_came_by_pipe_or_cannot_be_read_gets_no_other_sum(room: Room) -> None:
    assert "crc" not in room.one(room.order(CHECKED, room.packed(OUTPUT))).sums
    assert room.one(room.order(CHECKED, wrote(room) | {"crc": "00000000"})).sums == {}
    gone = wrote(room)
    (room.layout.root / gone["file"]).unlink()
    assert room.one(room.order(CHECKED, gone)).sums.keys() == {"marks"}


def test_a_jobs_output_and_marks_are_durable_before_its_verdict(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large: who judges it waits for the disk, and nobody else does."""
    seen, really = room.layout.root / "seen", os.fdatasync

    def noting(descriptor: int) -> None:
        with seen.open("a") as file:
            file.write(f"{Path(f'/proc/self/fd/{descriptor}').readlink().name}\n")
        really(descriptor)

    monkeypatch.setattr(os, "fdatasync", noting)
    evidence = room.one(room.order(CHECKED, wrote(room)), scanned=SCANNED)
    assert seen.read_text().split() == ["j000012.0.out", "claim.0", "marks.0"]
    assert "power" not in str(evidence.problems)
    seen.unlink()
    room.one(room.order(CHECKED, wrote(room) | {"crc": "00000000"}))
    assert not seen.exists(), "what came by a pipe is durable already"


@pytest.mark.parametrize(("number", "told"), [(errno.EIO, True), (errno.ENOSPC, True), (errno.EINVAL, False)])
def test_what_a_disk_does_not_confirm_is_told_in_the_verdict(
    room: Room, monkeypatch: pytest.MonkeyPatch, number: int, told: bool
) -> None:
    """A file system that has nothing to confirm is no trouble."""

    def failing(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fdatasync", failing)
    evidence = room.one(room.order(CHECKED, wrote(room)))
    assert (evidence.trouble, evidence.checks[0].held) == ("", True)
    why = f"a loss of power may take its output: the disk does not confirm that it has it: {os.strerror(number)}"
    assert evidence.problems == ((why,) if told else ())


def test_a_link_that_a_run_puts_in_the_place_of_its_output_is_not_read_and_is_recorded(
    room: Room, tmp_path: Path
) -> None:
    pointer, other = wrote(room), tmp_path / "other"
    path = room.layout.root / pointer["file"]
    path.rename(other)
    path.symlink_to(other)
    evidence = room.one(room.order(CHECKED, pointer))
    assert evidence.checks[0].held is None and not evidence.trouble
    assert evidence.problems == (f"a link to {other} lies in the place of its output, so it is not read",)
    assert evidence.sums == {"link": str(other)}
    _, events = campaign(room, pointer | evidence.sums, wrote(room, name="j000013.0.out"))
    links = look_for_links(room.layout, events)
    assert links.damage is None
    assert links.remarks == [
        f"{pointer['file']} was a link to {other} already when its run was judged: no output was kept of it"
    ]
    path.unlink()
    path.symlink_to(tmp_path / "somewhere else")
    damage = look_for_links(room.layout, events).damage
    assert damage is not None and (damage.path, damage.event) == (pointer["file"], 2)


# ---- who reads them later --------------------------------------------------------------------------------------------------


def campaign(room: Room, *pointers: dict[str, Any]) -> tuple[Document, list[Event]]:
    """A log in which each of these outputs passed."""
    case = Case("c", "t", "local:all")
    plan = Document("p", System("s", (), ()), (Component("ft", "functionality", ("t",)),), (case,), (CHECKED,))
    room.layout.documents.mkdir(exist_ok=True)
    digest = write_document(room.layout, freeze(plan))
    events = [Event("campaign_start", 1, 1.0, value={"document": digest})]
    report = JobReport("j000012", "completed", "marks", exit_status=0)
    held = judge(case, CHECKED, report, room.one(room.order(CHECKED, room.packed(OUTPUT))))
    for number, pointer in enumerate(pointers, 2):
        value = {"component": "ft", "repeat": 1, "exit": 0, "output": pointer} | held.value()
        event = Event("verdict", number, 1.0, case="c", run=f"r{number:06d}", job="j000012", value=value)
        events.append(
            Event(**{name: getattr(event, name) for name in event.__struct_fields__} | {"reason": held.reason})
        )
    return plan, events


def test_verify_names_the_file_the_run_and_the_event(room: Room) -> None:
    pointer = judged(room, CHECKED, wrote(room))
    _, events = campaign(room, pointer)
    assert hold_outputs(room.layout, events).damage is None
    spoil(room.layout.job("j000012") / "marks.0", 4)
    damage = hold_outputs(room.layout, events).damage
    assert damage is not None and (damage.path, damage.event) == ("jobs/000/j000012/marks.0", 2)
    spoil(room.layout.job("j000012") / "marks.0", 4)
    spoil(room.layout.root / pointer["file"], 2000)  # what no check looks at
    damage = hold_outputs(room.layout, events).damage
    assert damage is not None and (damage.path, damage.event) == (pointer["file"], 2) and "r000002" in damage.why


def replaced(path: Path, kind: str) -> None:
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(path))
    else:
        path.mkdir()


@pytest.mark.parametrize("kind", ["pipe", "socket", "directory"])
def test_something_else_in_the_place_of_an_output_or_a_mark_is_damage(
    room: Room, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(room.layout.root)  # the path of a socket is short
    room.layout = Layout(Path())
    pack = room.packed(OUTPUT)
    mine = judged(room, CHECKED, wrote(room))
    _, events = campaign(room, pack, mine)
    for path in ("packs/000001.pack", mine["file"], "jobs/000/j000012/marks.0"):
        kept = Path(path).read_bytes()
        replaced(Path(path), kind)
        damage = hold_outputs(room.layout, events).damage
        assert damage is not None and damage.path == path, path
        assert f"it is a {kind} and no regular file" in damage.why
        Path(path).rmdir() if kind == "directory" else Path(path).unlink()
        assert hold_outputs(room.layout, events).damage is None  # gone as a whole: counted
        Path(path).write_bytes(kept)


def test_a_pack_that_is_cut_is_damage_and_the_first_run_that_lost_something_is_named(room: Room) -> None:
    whole, cut, more = (room.packed(OUTPUT) for _ in range(3))  # as of an older version: none has a sum
    _, events = campaign(room, whole, cut, more)
    path = room.layout.packs / "000001.pack"
    os.truncate(path, len(OUTPUT) + 100)
    damage = hold_outputs(room.layout, events).damage
    assert damage is not None and (damage.path, damage.event) == ("packs/000001.pack", 3)
    assert damage.why.startswith(
        "r000003: the output in packs/000001.pack is damaged: it is cut short: that output lies"
    )
    path.unlink()
    held = hold_outputs(room.layout, events)
    assert held.damage is None and list(held.unread.values()) == [3]


def test_a_record_without_sums_is_whole_and_verify_counts_them(room: Room) -> None:
    bare, large = wrote(room), judged(room, CHECKED, wrote(room), scanned=SCANNED)
    _, events = campaign(room, bare, bare, large)
    held = hold_outputs(room.layout, events)
    assert held.damage is None and held.same == 3
    assert held.remarks[0].startswith("2 kept outputs without a sum")
    assert held.remarks[1].startswith("1 large output: their length, beginning and end")
    with (room.layout.root / bare["file"]).open("ab") as file:
        file.write(b"late\n")
    assert hold_outputs(room.layout, events).remarks[2].startswith("3 outputs longer than when the run was judged")


def test_rejudge_and_the_report_do_not_believe_what_was_changed(room: Room) -> None:
    pointer = judged(room, CHECKED, wrote(room))
    plan, events = campaign(room, pointer)
    spoil(room.layout.root / pointer["file"], 2000)
    wait = lambda: room.reactor.wait(room.reactor.now() + 1)  # noqa: E731
    said = list(rejudge(events, plan, room.layout, room.open(), Act("ada", "why"), (), wait))
    assert [event.event for event in said] == ["finding"] and "is damaged" in said[0].reason
    assert "is damaged" in read_output(room.layout.root, pointer, 100).trouble


def test_judging_again_gives_an_old_output_its_sum(room: Room) -> None:
    plan, events = campaign(room, wrote(room))
    old = events[1]
    old.value["figures"] = {"gone": 1.0}  # so that something comes out otherwise
    wait = lambda: room.reactor.wait(room.reactor.now() + 1)  # noqa: E731
    said = list(rejudge(events, plan, room.layout, room.open(), Act("ada", "why"), (), wait))
    assert said[0].event == "verdict" and "crc" in said[0].value["output"]


def test_evidence_that_says_nothing_adds_nothing() -> None:
    assert Evidence("r000001").sums == {}


def test_marks_are_found_by_the_path_of_an_output_as_the_layout_makes_it(room: Room) -> None:
    layout = room.layout

    def marks(output: Path) -> tuple[Path, ...]:
        return layout.marks_of(str(output.relative_to(layout.root)))

    for job, restart in (("j000012", 0), ("j002345", 3)):
        control = layout.job(job)
        assert marks(layout.job_output(job, restart)) == (control / f"claim.{restart}", control / f"marks.{restart}")
    assert marks(layout.part_output("j002345", "r004711")) == (layout.part_mark("j002345", "r004711"),)
    assert marks(layout.output("r000012")) == () == layout.marks_of("outputs/../../j000012.0.out")
