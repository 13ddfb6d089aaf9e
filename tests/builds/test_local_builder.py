"""Builds as processes: copied, built, renamed when complete; shared, ended, adopted."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from shakedown.builds.builder import LocalBuilder
from shakedown.model.layout import Layout
from shakedown.model.nouns import Build
from shakedown.model.ports import BuildReport
from shakedown.processes.reactor import Reactor


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path / "campaign")
    made.builds.mkdir(parents=True)
    return made


def finish(builder: LocalBuilder, reactor: Reactor, count: int = 1) -> list[BuildReport]:
    """Everything it says until ``count`` builds have ended."""
    said: list[BuildReport] = []
    end = time.monotonic() + 30
    while sum(report.state != "started" for report in said) < count:
        assert time.monotonic() < end, said
        reactor.wait(reactor.now() + 0.1)
        said += builder.poll()
    return said


def build_one(layout: Layout, build: Build) -> BuildReport:
    reactor = Reactor()
    builder = LocalBuilder(layout, reactor)
    builder.start([build])
    last = finish(builder, reactor)[-1]
    builder.close()
    reactor.close()
    return last


def test_a_build_is_made_in_a_copy_and_renamed_when_complete(layout: Layout, tmp_path: Path) -> None:
    source = tmp_path / "src dir"
    source.mkdir()
    (source / "in.txt").write_text("hello")
    (source / "link").symlink_to("in.txt")

    report = build_one(layout, Build("k1", "copy", str(source), "tr a-z A-Z <in.txt >out.txt"))

    assert (report.state, report.message) == ("done", "")
    assert (layout.build("k1") / "out.txt").read_text() == "HELLO"
    assert (layout.build("k1") / "link").is_symlink()
    assert sorted(path.name for path in source.iterdir()) == ["in.txt", "link"]
    assert not list(layout.builds.glob("*.tmp-*"))
    assert not list(layout.builds.glob("*.process"))


def test_a_failed_build_says_its_most_telling_line_and_where_the_log_is(layout: Layout) -> None:
    script = "echo compiling\necho 'x.c:3: error: unknown type name' >&2\necho 'make: *** [all] Error 1'\nexit 2"

    report = build_one(layout, Build("k2", "broken", "", script))

    assert report.state == "failed"
    assert report.message == "exit status 2: x.c:3: error: unknown type name"
    assert "compiling" in (layout.root / report.log).read_text()
    assert not layout.build("k2").exists()


def test_the_first_command_that_fails_ends_a_build(layout: Layout) -> None:
    assert build_one(layout, Build("k3", "steps", "", "false\necho never")).state == "failed"
    assert "never" not in (layout.builds / "k3.log").read_text()


def test_a_complete_build_is_not_built_again(layout: Layout) -> None:
    layout.build("k4").mkdir()
    report = build_one(layout, Build("k4", "again", "", "exit 1"))
    assert (report.state, report.message) == ("done", "it was built before")


def test_half_a_build_of_a_dead_conductor_is_never_used(layout: Layout) -> None:
    (layout.builds / "k5.tmp-1").mkdir()
    (layout.builds / "k5.tmp-1/half").touch()
    assert build_one(layout, Build("k5", "whole", "", "touch whole")).state == "done"
    assert sorted(path.name for path in layout.build("k5").iterdir()) == ["whole"]
    assert not list(layout.builds.glob("*.tmp-*"))


def test_a_build_that_a_dead_conductor_left_running_is_ended_and_started_again(layout: Layout) -> None:
    reactor = Reactor()
    dead = LocalBuilder(layout, reactor)
    dead.start([Build("k6", "slow", "", "sleep 654 & sleep 653")])
    assert (layout.builds / "k6.process").exists()
    reactor.close()

    assert build_one(layout, Build("k6", "slow", "", "touch done")).state == "done"

    left = subprocess.run(["pgrep", "-f", "^sleep 65[34]"], capture_output=True, check=False)
    assert left.returncode == 1
    os.waitpid(-1, os.WNOHANG)


def test_a_time_limit_ends_the_whole_tree(layout: Layout) -> None:
    build = Build("k7", "stuck", "", "trap '' TERM; sleep 657 & sleep 656", time_limit_s=0.3)

    report = build_one(layout, build)

    assert report.state == "failed"
    assert report.message == "it was ended at its time limit of 0.3 s"
    assert subprocess.run(["pgrep", "-f", "^sleep 65[67]"], capture_output=True, check=False).returncode == 1


def test_several_builds_run_side_by_side(layout: Layout) -> None:
    """Each waits for a file that the other makes: one after the other they would never end."""
    meet = layout.root
    scripts = [
        f"touch {meet}/{mine}; while [ ! -e {meet}/{other} ]; do sleep 0.01; done"
        for mine, other in (("a", "b"), ("b", "a"))
    ]
    reactor = Reactor()
    builder = LocalBuilder(layout, reactor)
    builder.start([Build(f"s{n}", "meet", "", script, time_limit_s=20.0) for n, script in enumerate(scripts)])
    assert {report.state for report in finish(builder, reactor, 2)} == {"started", "done"}
    reactor.close()


def test_leaving_ends_what_is_under_way(layout: Layout) -> None:
    reactor = Reactor()
    builder = LocalBuilder(layout, reactor)
    builder.start([Build("k8", "slow", "", "sleep 659")])
    builder.close()
    assert subprocess.run(["pgrep", "-f", "^sleep 659"], capture_output=True, check=False).returncode == 1
    reactor.close()


def test_no_room_for_the_copy_is_a_sentence(layout: Layout) -> None:
    layout.builds.rmdir()
    layout.builds.write_text("in the way")
    report = build_one(layout, Build("k9", "x", "", "true"))
    assert report.state == "failed"
    assert report.message.startswith("it cannot be started: ")
    assert report.message.endswith("Not a directory")


def test_a_signal_is_named(layout: Layout) -> None:
    report = build_one(layout, Build("k10", "killed", "", "echo working; kill -9 $$"))
    assert report.message == f"signal {int(signal.SIGKILL)}: working"


def test_a_build_whose_conductor_died_before_it_could_name_it_is_found_by_its_marker(layout: Layout) -> None:
    reactor = Reactor()
    dead = LocalBuilder(layout, reactor)
    dead.start([Build("k11", "slow", "", "exec sleep 652")])
    (layout.builds / "k11.process").unlink()
    reactor.close()

    assert build_one(layout, Build("k11", "slow", "", "touch done")).state == "done"

    assert subprocess.run(["pgrep", "-f", "^sleep 652"], capture_output=True, check=False).returncode == 1
    assert [path.name for path in layout.build("k11").iterdir()] == ["done"]


def test_a_key_that_is_started_twice_is_built_once(layout: Layout) -> None:
    reactor = Reactor()
    builder = LocalBuilder(layout, reactor)
    build = Build("k12", "once", "", f"echo run >>{layout.root}/log; sleep 0.05")
    builder.start([build, build])
    builder.start([build])

    said = finish(builder, reactor)
    builder.start([build])
    said += finish(builder, reactor)

    assert [report.state for report in said] == ["started", "done", "done"]
    assert (layout.root / "log").read_text() == "run\n"
    reactor.close()


def test_what_a_build_leaves_in_the_background_does_not_outlive_it(layout: Layout) -> None:
    """It would go on writing into what is said to be complete."""
    script = "setsid sleep 651 >/dev/null 2>&1 & sleep 650 & touch done"

    assert build_one(layout, Build("k13", "daemon", "", script)).state == "done"

    assert subprocess.run(["pgrep", "-f", "^sleep 65[01]"], capture_output=True, check=False).returncode == 1


def test_a_source_that_is_gone_is_a_failed_build_with_a_sentence(layout: Layout, tmp_path: Path) -> None:
    report = build_one(layout, Build("k14", "gone", str(tmp_path / "nowhere"), "true"))

    assert report.state == "failed"
    assert report.message == f"exit status 1: cp: cannot stat '{tmp_path}/nowhere/.': No such file or directory"
    assert report.log == "builds/k14.log"


def test_an_environment_that_no_process_can_have_is_a_sentence(layout: Layout) -> None:
    report = build_one(layout, Build("k15", "null", "", "true", environment=(("A", "x\0y"),)))

    assert (report.state, report.message) == (
        "failed",
        "it cannot be started: embedded null byte in its script or environment",
    )


def test_control_characters_of_a_compiler_do_not_reach_the_message(layout: Layout) -> None:
    report = build_one(layout, Build("k16", "colour", "", "printf 'x.c: \\033[31merror:\\033[0m no\\n'; exit 1"))

    assert report.message == "exit status 1: x.c:  [31merror: [0m no"


@pytest.mark.skipif(os.geteuid() != 0, reason="a read-only mount takes root")
def test_a_place_that_cannot_be_written_says_nothing_about_the_build(layout: Layout) -> None:
    """It is told as transient: the engine holds the build and tries it again."""
    place = str(layout.builds)
    subprocess.run(["mount", "--bind", place, place], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)
        report = build_one(layout, Build("k11", "fine", "", "true"))
    finally:
        subprocess.run(["umount", "-l", place], check=True)
    assert (report.state, report.transient) == ("failed", True)
    assert "Read-only file system" in report.message

    assert not build_one(layout, Build("k12", "broken", "", "false")).transient


def test_a_conductor_that_was_replaced_leaves_the_build_of_its_successor_alone(layout: Layout, tmp_path: Path) -> None:
    """It stood still while another one ended its build and began anew; both builds bear the same name."""
    first, second = Reactor(), Reactor()
    replaced, successor = LocalBuilder(layout, first), LocalBuilder(layout, second)
    build = Build("k9", "slow", "", f"echo >>{tmp_path}/began; while ! [ -e {tmp_path}/go ]; do sleep 0.01; done")
    replaced.start([build])
    while not (tmp_path / "began").exists():
        time.sleep(0.01)
    successor.start([build])
    while (tmp_path / "began").read_text() != "\n\n":
        second.wait(second.now() + 0.01)

    replaced.forsake()
    replaced.close()
    (tmp_path / "go").touch()

    assert finish(successor, second)[-1].state == "done"
    assert (tmp_path / "began").read_text() == "\n\n"
    successor.close()
    first.close()
    second.close()
