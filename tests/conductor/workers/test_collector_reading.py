"""What a worker makes of outputs and files as tests leave them: large, binary, missing, booby-trapped."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.conductor.workers.conftest import Room

from shakedown.model import checks
from shakedown.model.checks import CheckKind
from shakedown.model.layout import Layout
from shakedown.model.nouns import Check, FigureSpec, Test
from shakedown.model.ports import CheckResult

TRIAD = FigureSpec("triad", json="triad.gb_s")
SPEED = FigureSpec("speed", regex=r"speed = (?P<value>\S+)")


def on(subject: str, kind: str, argument: str = "") -> Check:
    return Check(kind, subject, argument, f'{subject} {kind} "{argument}"')


def the(room: Room, subject: str, kind: str, argument: str = "", output: bytes = b"") -> CheckResult:
    """The one check of a run with the files that were put into ``room.work()``."""
    return room.one(room.order(Test("t", checks=(on(subject, kind, argument),)), output)).checks[0]


def test_checks_and_figures_come_from_the_slice_of_the_pack_that_is_the_runs_own(room: Room) -> None:
    room.packed(b'{"triad": {"gb_s": 1}}\nspeed = 1\nnot this run\n')
    order = room.order(
        Test("t", checks=(on("output", "contains", "done"), on("output", "lacks", "not")), figures=(TRIAD, SPEED)),
        b'{"triad": {"gb_s": 2.5}}\nspeed = 3\ndone\n',
    )
    room.packed(b"not this run either\n")
    evidence = room.one(order)
    assert [check.held for check in evidence.checks] == [True, True]
    assert evidence.figures == (("triad", 2.5), ("speed", 3.0))
    assert evidence.problems == ()
    assert evidence.excerpt == '{"triad": {"gb_s": 2.5}}\nspeed = 3\ndone'


LOST = b"srun: error: n002: task 1: Killed\n"


@pytest.mark.parametrize(
    ("test", "output", "found"),
    [
        (Test("t"), b"hello\n" + LOST + b"more\n" * 2000, True),  # nothing else asks for the output
        (Test("t"), LOST + b"more\n" * 20_000, False),  # so that only its end is read
        (Test("t", checks=(on("output", "contains", "more"),)), LOST + b"more\n" * 20_000, True),
        (Test("t"), b"", False),
    ],
)
def test_what_a_launcher_says_of_lost_ranks_is_evidence(room: Room, test: Test, output: bytes, found: bool) -> None:
    assert room.one(room.order(test, output)).lost_ranks == ("srun: error: n002: task 1: Killed" if found else "")


def test_the_exit_status_is_left_to_the_judge(room: Room) -> None:
    assert room.one(room.order(Test("t", checks=(Check("exit", "", "0", "exit is 0"),)), b"x")).checks == ()


def test_a_run_that_wrote_nothing_is_told_so(room: Room) -> None:
    evidence = room.one(room.order(Test("t", checks=(on("output", "contains", "x"),), figures=(SPEED,))))
    assert evidence.checks[0] == CheckResult('output contains "x"', False, "the output is empty")
    assert evidence.problems == (
        "figure speed: a match of 'speed = (?P<value>\\S+)' is missing: the output is empty",
        "the output is empty: the run wrote nothing",
    )


def test_a_run_that_wrote_nothing_and_need_not_has_no_problem(room: Room) -> None:
    evidence = room.one(room.order(Test("t")))
    assert (evidence.problems, evidence.excerpt) == ((), "")


@pytest.mark.parametrize(
    ("pointer", "detail"),
    [
        ({"pack": "9.pack", "bytes": 5}, "the output is gone: 9.pack cannot be read: No such file or directory"),
        ({"pack": "000001.pack", "offset": 3, "bytes": 9}, "the output is gone: of its 9 bytes 4 are left"),
        ({"file": "outputs/000/r000001.out", "bytes": 5}, "the output is gone: there is no file output"),
        ({"file": "outputs/000/r000001.out", "bytes": 0}, "the output is gone: there is no file output"),
        ({"lost": "No space left on device"}, "the output could not be kept: No space left on device"),
        ({"pack": "000001.pack", "bytes": 7, "crc": "00000000"}, "the output is gone: what is there is not what was written"),
    ],
)  # fmt: skip
def test_an_output_that_is_gone_decides_nothing_and_is_said(
    room: Room, pointer: dict[str, object], detail: str
) -> None:
    room.packed(b"7 bytes")
    evidence = room.one(room.order(Test("t", checks=(on("output", "lacks", "ERROR"),)), pointer))
    assert evidence.checks[0] == CheckResult('output lacks "ERROR"', None, detail)
    assert evidence.problems == (detail,)
    assert evidence.trouble == detail, "the run is attempted again"


def test_an_output_without_a_byte_that_is_there_is_empty(room: Room) -> None:
    path = room.layout.outputs / "000/r000001.out"
    path.parent.mkdir(parents=True)
    path.touch()
    pointer = {"file": str(path.relative_to(room.layout.root)), "bytes": 0}
    evidence = room.one(room.order(Test("t", checks=(on("output", "contains", "x"),)), pointer))
    assert evidence.checks[0] == CheckResult('output contains "x"', False, "the output is empty")
    assert (evidence.problems, evidence.trouble) == (("the output is empty: the run wrote nothing",), "")


def test_an_empty_output_and_a_test_that_may_leave_no_file_are_two_things(room: Room) -> None:
    path = room.layout.outputs / "000/r000001.out"
    path.parent.mkdir(parents=True)
    path.touch()
    room.work()
    pointer = {"file": str(path.relative_to(room.layout.root)), "bytes": 0}
    evidence = room.one(room.order(Test("t", checks=(on("result.txt", "contains", "x"),)), pointer))
    assert (evidence.checks[0].held, evidence.trouble) == (False, "")


def test_an_output_that_is_gone_is_said_where_no_check_asks_for_it_too(room: Room) -> None:
    assert room.one(room.order(Test("t"), {"lost": "I/O error"})).problems == (
        "the output could not be kept: I/O error",
    )


def test_binary_output_is_searched_all_the_same(room: Room) -> None:
    evidence = room.one(
        room.order(Test("t", checks=(on("output", "contains", "done"),)), bytes(range(256)) + b"\ndone\n")
    )
    assert evidence.checks[0].held is True
    assert len(evidence.problems) == 3
    assert evidence.excerpt.replace("\n", "").isprintable()


def test_one_line_that_is_far_larger_than_what_is_read(room: Room, tmp_path: Path) -> None:
    path = room.layout.outputs / "000" / "r000001.out"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.write(b"speed = 1 ")
        file.truncate(200 << 20)
        file.seek(0, os.SEEK_END)
        file.write(b" speed = 2 done")
    size = path.stat().st_size
    checks = (on("output", "contains", "done"), on("output", "lacks", "ERROR"), on("output", "matches", "done$"))
    figures = (
        SPEED,
        FigureSpec("first", regex=SPEED.regex, pick="first"),
        FigureSpec("top", regex=SPEED.regex, pick="max"),
    )
    order = room.order(Test("t", checks=checks, figures=figures), {"file": "outputs/000/r000001.out", "bytes": size})
    evidence = room.one(order, seconds=20.0)
    assert [check.held for check in evidence.checks] == [True, None, True]
    assert evidence.figures == (("speed", 2.0), ("first", 1.0))
    assert evidence.problems == (
        "figure top: the max of all values cannot be known: its middle was not read",
        "the output has 200.0 MiB: only its first 32.0 MiB and last 32.0 MiB were read",
        "the output holds NUL bytes; they are kept as they are",
        "the output has 2 lines longer than 1.0 MiB: regular expressions see only the beginning and the end",
    )
    assert evidence.excerpt.endswith("...") and len(evidence.excerpt) <= 200
    path.unlink()


def test_files_of_the_run_are_read_like_its_output(room: Room) -> None:
    (room.work() / "logs").mkdir()
    (room.work() / "logs" / "a.txt").write_text("speed = 4\n")
    evidence = room.one(
        room.order(
            Test(
                "t",
                checks=(on("logs/a.txt", "contains", "speed"), on("logs/a.txt", "exists"), on("b.txt", "exists")),
                figures=(FigureSpec("speed", regex=SPEED.regex, source="logs/a.txt"),),
            )
        )
    )
    assert [check.held for check in evidence.checks] == [True, True, False]
    assert evidence.checks[2].detail == "there is no file b.txt"
    assert evidence.figures == (("speed", 4.0),)


def test_a_file_that_is_not_there_does_not_lack_anything(room: Room) -> None:
    assert the(room, "log.txt", "lacks", "ERROR") == CheckResult(
        'log.txt lacks "ERROR"', False, "there is no file log.txt"
    )


def test_what_would_block_or_is_no_file_is_refused(room: Room) -> None:
    work = room.work()
    os.mkfifo(work / "fifo")
    (work / "place").mkdir()
    (work / "loop").symlink_to("loop")
    (work / "nothing").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as listener:
        place = Path.cwd()
        os.chdir(work)  # the name of a socket must be short
        try:
            listener.bind("socket")
        finally:
            os.chdir(place)
        names = ("fifo", "place", "loop", "nothing", "socket", "place/../fifo/x", "a\0b", "n" * 300)
        evidence = room.one(room.order(Test("t", checks=tuple(on(name, "contains", "x") for name in names))))
    assert [(check.held, check.detail) for check in evidence.checks] == [
        (False, "file fifo is a fifo, so it is not read"),
        (False, "file place is a directory, so it is not read"),
        (False, "file loop is a link to itself, so it is not read"),
        (False, "file nothing is a link to nothing"),
        (False, "file socket is a socket, so it is not read"),
        (False, "there is no file place/../fifo/x: Not a directory"),
        (None, "file a\\x00b cannot be read: embedded null byte"),
        (False, f"there is no file {'n' * 300}: File name too long"[:297] + "..."),
    ]


def test_a_link_is_followed_only_inside_the_campaign(room: Room, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    room.layout.build("k1").mkdir(parents=True)
    (room.layout.build("k1") / "built").write_text("x")
    work = room.work()
    (work / "real").write_text("x")
    (work / "inside").symlink_to("real")
    (work / "built").symlink_to(room.layout.build("k1") / "built")
    (work / "outside").symlink_to(tmp_path / "secret")
    names = ("inside", "built", "outside", "../../../../secret", str(tmp_path / "secret"))
    evidence = room.one(room.order(Test("t", checks=tuple(on(name, "contains", "x") for name in names))))
    assert [check.held for check in evidence.checks] == [True, True, None, None, None]
    secret = str(tmp_path / "secret")
    assert evidence.checks[2].detail == (
        f"file outside leads out of the run's directory, so it is not read (it is a link to {secret})"
    )
    assert evidence.checks[3].detail == "file ../../../../secret leads out of the run's directory, so it is not read"


def test_the_runs_own_input_files_are_links_out_of_the_campaign_and_may_be_read(room: Room, tmp_path: Path) -> None:
    (tmp_path / "in.tersoff").write_text("pair_style tersoff")
    (room.work() / "in.tersoff").symlink_to(tmp_path / "in.tersoff")
    order = room.order(
        Test("t", checks=(on("in.tersoff", "contains", "tersoff"),)),
        files=(("in.tersoff", str(tmp_path / "in.tersoff")),),
    )
    assert room.one(order).checks[0].held is True


@pytest.mark.parametrize("path", ["in.tersoff", "in.*"])
def test_an_input_whose_link_is_gone_with_the_run_says_so_and_the_way_out(
    room: Room, tmp_path: Path, path: str
) -> None:
    room.work()
    order = room.order(
        Test("t", checks=(on(path, "contains", "x"), on("other", "contains", "x"), on("in.tersoff", "exists"))),
        files=(("in.tersoff", str(tmp_path / "in.tersoff")),),
    )
    read, other, there = room.one(order).checks
    why = "it is an input of the run, whose link is taken away when the run is over; have it copied for each run with stage: copy"
    assert read.held is there.held is False
    assert read.detail.startswith(f"there is no file {path}: {why}")
    assert there.detail.startswith(f"there is no file in.tersoff: {why}")
    assert other.detail == "there is no file other"


def test_a_campaign_whose_work_lies_on_another_file_system(room: Room, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    room.layout.work.symlink_to(tmp_path / "scratch")
    (room.work() / "a").write_text("x")
    assert the(room, "a", "contains", "x").held is True


def sums(layout: Layout, run: str, *names: str) -> str:
    files = [layout.work_directory(run) / name for name in names]
    return "\n".join(f"{n}={hashlib.sha256(f.read_bytes()).hexdigest()}" for n, f in zip(names, files, strict=True))


def test_golden_files_are_compared_bit_for_bit(room: Room) -> None:
    (room.work() / "out").mkdir()
    (room.work() / "out" / "a.nc").write_bytes(b"\0\1")
    (room.work() / "out" / "b.nc").write_bytes(os.urandom(3 << 20))
    argument = sums(room.layout, "r000001", "out/a.nc", "out/b.nc")
    assert the(room, "out/*.nc", "golden", argument).held is True
    run = room.work()
    (run / "out").mkdir()
    (run / "out" / "a.nc").write_bytes(b"\0\2")
    os.mkfifo(run / "out" / "c.nc")
    result = the(room, "out/*.nc", "golden", argument)
    found = hashlib.sha256(b"\0\2").hexdigest()[:12]
    assert (result.held, result.detail) == (
        False,
        f"file out/a.nc differs: sha256 {found}, golden {argument.splitlines()[0][9:21]}; "
        "there is no file out/b.nc; file out/c.nc is a fifo, so it is not read",
    )


def test_a_golden_glob_that_leads_out_finds_nothing_it_may_read(room: Room) -> None:
    room.work()
    result = the(room, "/etc/*", "golden", "a=" + "0" * 64)
    assert result.held is False
    assert result.detail == "there is no file a; /etc/* cannot be looked for: Non-relative patterns are unsupported"


def test_a_run_of_a_cluster_is_read_where_its_report_says(room: Room) -> None:
    """Each restart of a job has a directory and an output of its own; that of another one is no evidence."""
    root = room.layout.root
    for restart in (0, 1):
        (root / f"work/000/j000009.{restart}").mkdir(parents=True)
        (root / f"work/000/j000009.{restart}/result").write_text(f"restart {restart}")
    (root / "outputs/000").mkdir(parents=True)
    (root / "outputs/000/j000009.1.out").write_text("speed = 4\n")
    pointer = {"file": "outputs/000/j000009.1.out", "bytes": 10, "directory": "work/000/j000009.1"}
    checks = (on("result", "contains", "restart 1"), on("result", "lacks", "restart 0"))
    evidence = room.one(room.order(Test("t", checks=checks, figures=(SPEED,)), pointer))

    assert [check.held for check in evidence.checks] == [True, True]
    assert evidence.figures == (("speed", 4.0),)


def test_the_end_of_a_huge_output_file_of_a_cluster_is_read_and_no_more(room: Room) -> None:
    """Nothing cuts it while the job writes: what is read is bounded, whatever its size."""
    path = room.layout.root / "outputs/000/j000001.0.out"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.write(b"speed = 1\n")
        file.truncate(20 << 30)
        file.seek(0, os.SEEK_END)
        file.write(b"\nspeed = 2\n")
    pointer = {"file": "outputs/000/j000001.0.out", "bytes": path.stat().st_size, "directory": "work/000/j000001.0"}
    evidence = room.one(room.order(Test("t", figures=(SPEED,)), pointer), scanned=1 << 20)

    assert evidence.figures == (("speed", 2.0),)
    assert any("GiB" in problem or "bytes" in problem for problem in evidence.problems), evidence.problems


def test_a_run_that_worked_on_a_target_is_read_through_its_link(room: Room, tmp_path: Path) -> None:
    """Its own files, and the inputs that are kept there once for all runs; nothing else of the target."""
    home = tmp_path / "f2/mdt1/acceptance/0a1b2c3d"
    for folder in ("j000001.0", "inputs/abc", "j000002.0"):
        (home / folder).mkdir(parents=True)
    (home / "inputs/abc/deck").write_text("atoms")
    (home / "j000002.0/result").write_text("somebody else's")
    real = home / "j000001.0"
    (real / "result").write_text("done")
    (real / "deck").symlink_to(home / "inputs/abc/deck")
    (real / "other").symlink_to(home / "j000002.0/result")
    link = room.layout.job_work("j000001", 0)
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    checks = tuple(
        Check("contains", name, word) for name, word in (("result", "done"), ("deck", "atoms"), ("other", "some"))
    )
    place = {"directory": str(link.relative_to(room.layout.root))}
    evidence = room.one(room.order(Test("t", checks=checks), {**room.packed(b"x"), **place}))
    assert [check.held for check in evidence.checks[:2]] == [True, True]
    assert evidence.checks[2].held is not True
    assert "leads out of the run's directory" in " ".join([evidence.checks[2].detail, *evidence.problems])


def test_a_check_that_this_version_does_not_know_is_trouble_that_is_not_the_runs(room: Room) -> None:
    evidence = room.one(room.order(Test("t", checks=(Check("smells", "output", "", "output smells"),)), b"x"))
    why = "this version does not know the check 'smells'"
    assert evidence.checks == (CheckResult("output smells", None, why),)
    assert evidence.trouble == why


def _raises(check: Check, read: object) -> CheckResult:
    raise KeyError("nose")


def _says_yes(check: Check, read: object) -> bool:
    return True


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("_raises", "of a package of the site failed: KeyError: 'nose'"),
        ("_says_yes", "_says_yes returned bool, no CheckResult"),
        ("_absent", "failed: AttributeError"),
    ],
)
def test_a_check_of_a_package_that_fails_is_trouble_too_and_the_others_are_decided(
    room: Room, monkeypatch: pytest.MonkeyPatch, function: str, said: str
) -> None:
    """Workers are forks of this process and see the kind that it has here."""
    kind = CheckKind("smells", (("output smells", "it does"),), f"{__name__}:{function}", argument="nothing")
    monkeypatch.setattr(checks, "check_kinds", lambda: {kind.name: kind})
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or _this_module())
    test = Test("t", checks=(Check("smells", "output", "", "output smells"), on("output", "contains", "x")))
    evidence = room.one(room.order(test, b"x"))

    assert [check.held for check in evidence.checks] == [None, True]
    assert said in evidence.checks[0].detail and said in evidence.trouble


@pytest.mark.parametrize(("may_read", "step"), [(True, "find"), (True, "open"), (False, "find"), (False, "open")])
def test_a_file_that_is_denied_for_a_moment_is_trouble_and_one_that_is_denied_is_the_runs_own(
    room: Room, monkeypatch: pytest.MonkeyPatch, may_read: bool, step: str
) -> None:
    """The server of a file system that was away denies what its modes allow."""
    (room.work() / "answer").write_text("42")
    really = os.open

    def denied(path: str, flags: int, *more: int) -> int:
        if flags & os.O_PATH if step == "find" else str(path).startswith("/proc/self/fd/"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return really(path, flags, *more)

    monkeypatch.setattr(os, "open", denied)
    monkeypatch.setattr(os, "access", lambda path, mode, **options: may_read)
    evidence = room.one(room.order(Test("t", checks=(on("answer", "contains", "42"),))))
    said = "file answer cannot be read: Permission denied"
    assert evidence.checks[0].held is None and evidence.checks[0].detail == said
    assert evidence.trouble == (said if may_read else "")


def _this_module() -> ModuleType:
    """This file as a module; pytest imports it under no name that can be imported again."""
    module = ModuleType(__name__)
    module.__dict__.update(_raises=_raises, _says_yes=_says_yes)
    return module
