"""A process starts in a session of its own, with nothing to read, its usual signals and both outputs in one place."""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path

import pytest

from shakedown.processes.spawn import (
    MARKER,
    as_at_login,
    base_environment,
    keep_to_ourselves,
    marked,
    reap,
    spawn_shell,
)


def say(script: str) -> str:
    """What a script says on both its outputs."""
    reading, writing = os.pipe()
    child = spawn_shell(["-c", script], base_environment(), writing)
    os.close(writing)
    with os.fdopen(reading) as output:
        text = output.read()
    assert reap(child) == 0
    os.close(child.pidfd)
    return text.strip()


def test_both_outputs_come_in_their_order_and_there_is_nothing_to_read() -> None:
    assert say("echo a; echo b >&2; echo c; cat; echo d") == "a\nb\nc\nd"


def test_it_has_a_session_of_its_own() -> None:
    pid, session = say("read _ _ _ _ _ sid _ </proc/$$/stat; echo $$ $sid").split()

    assert pid == session != str(os.getsid(0))


def test_signals_that_we_ignore_are_not_ignored_by_it() -> None:
    """Python ignores SIGPIPE; nohup ignores SIGHUP. A program that inherits that behaves unlike anywhere else."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        ignored = int(
            say("while read -r name value; do [ $name = SigIgn: ] && echo $value; done </proc/$$/status; :"), 16
        )
    finally:
        signal.signal(signal.SIGHUP, before)

    for number in (signal.SIGHUP, signal.SIGPIPE, signal.SIGINT, signal.SIGTERM):
        assert not ignored & 1 << number - 1, number


def test_no_signal_is_ignored_by_it_whoever_started_us() -> None:
    """A script that starts us with "&" makes us deaf to Ctrl-C; a shell with job control to those of a terminal."""
    numbers = [signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTOU, signal.SIGRTMIN, signal.SIGALRM]
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        ignored = say("while read -r name value; do [ $name = SigIgn: ] && echo $value; done </proc/$$/status; :")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

    of_the_c_library = 1 << 31 | 1 << 32  # nobody sends signals 32 and 33 or can ask for them
    assert int(ignored, 16) & ~of_the_c_library == 0


def test_its_file_mode_mask_is_that_of_a_login_and_not_ours(tmp_path: Path) -> None:
    (tmp_path / "login.defs").write_text("# UMASK 000\nUMASK\t\t027\n")
    before = os.umask(0o077)
    try:
        assert say(as_at_login(tmp_path / "nothing") + "umask").lstrip("0") == "22"
        assert say(as_at_login(tmp_path / "login.defs") + "umask").lstrip("0") == "27"
    finally:
        os.umask(before)


def test_limits_that_we_raised_for_ourselves_are_not_its() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert say(as_at_login() + "ulimit -S -n") == str(soft)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 10, hard))
    try:
        assert say("ulimit -S -n") == str(soft - 10)
        assert say(as_at_login() + "ulimit -S -n") == str(soft)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_what_whoever_started_us_left_open_is_not_open_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """make gives its children the pipes of its job server, and says so in their environment."""
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)
    monkeypatch.setenv("MAKEFLAGS", f" -j4 --jobserver-auth={reading},{writing}")
    try:
        keep_to_ourselves()
        script = f"[ -e /proc/$$/fd/{reading} ] && echo open; echo $MAKEFLAGS"
        assert say(script) == ""
    finally:
        os.close(reading)
        os.close(writing)


def test_none_of_our_files_are_open_in_it() -> None:
    with Path(__file__).open():
        assert Path(__file__).name in "".join(
            str(entry.readlink()) for entry in Path("/proc/self/fd").iterdir() if entry.exists()
        )
        assert Path(__file__).name not in say("ls -l /proc/$$/fd")


def test_our_own_programs_are_found_first() -> None:
    path = base_environment()[b"PATH"].split(b":")

    assert path[0] == os.fsencode(Path(sys.prefix) / "bin")
    assert path[1:] == os.environb[b"PATH"].split(b":")


def test_a_marker_is_added_to_the_one_that_we_bear_ourselves() -> None:
    assert marked({}, "c/j1") == b"c/j1"
    assert marked({MARKER.encode(): b"outer/j9"}, "c/j1") == b"outer/j9 c/j1"


def test_a_process_that_we_could_not_watch_is_not_left_running(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    started: list[int] = []

    def none_left(pid: int, flags: int = 0) -> int:
        started.append(pid)
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "pidfd_open", none_left)
    with pytest.raises(OSError, match="Too many open files"):
        spawn_shell(["-c", "sleep 60"], base_environment(), 1)

    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)
