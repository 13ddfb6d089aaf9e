"""A conductor in the background: confirmed, told what is wrong, safe from hang-ups; and cron's way to keep one alive."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stories import SHAKEDOWN, MakeSite, Shakedown

from shakedown.events.reader import read_events
from shakedown.model.events import Event

LONG = "parameters: {n: [1, 2]}\nrun: {command: sleep 300, exclusive: true, time_limit: 600s}\n"
SHORT = "run: {command: 'true'}\n"


def events(site: Path, name: str = "") -> list[Event]:
    log = site / "campaigns/p-1/log"
    return [event for event in read_events(log) if name in ("", event.event)] if log.exists() else []


def wait_until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.fixture
def detach(shakedown: Shakedown) -> Iterator[Callable[..., int]]:
    """Start one in the background; its process id. Whatever still lives in the end is ended."""
    started: list[int] = []

    def start(site: Path, *words: str) -> int:
        done = shakedown(*words, "--detach", "--json", cwd=site)
        assert done.returncode == 0, done.stderr
        started.append(json.loads(done.stdout)["pid"])
        return started[-1]

    yield start
    for pid in started:
        if is_alive(pid):
            os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not any(map(is_alive, started)))


def test_when_the_command_returns_the_campaign_is_driven(make_site: MakeSite, detach: Callable[..., int]) -> None:
    site = make_site({"long": LONG})
    pid = detach(site, "run", "p")

    assert [event.value["driver"]["pid"] for event in events(site, "driver_start")] == [pid]
    assert os.getsid(pid) == pid, "a session of its own: no terminal's hang-up reaches it"
    assert Path(f"/proc/{pid}/fd/0").readlink() == Path("/dev/null")
    assert Path(f"/proc/{pid}/fd/2").readlink() == site / "campaigns/p-1/driver.log"


def test_it_says_how_to_watch_it(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site({"t": SHORT})
    done = shakedown("run", "p", "--detach", cwd=site)

    assert done.returncode == 0
    first, *rest = done.stdout.splitlines()
    assert first.startswith("driven by process ")
    assert [line.split("  ")[-1].strip() for line in rest][:2] == ["shakedown status p-1", "shakedown log p-1 --follow"]
    wait_until(lambda: events(site, "driver_stop"))
    wait_until(lambda: "report: shakedown report" in (site / "campaigns/p-1/driver.log").read_text())


def test_no_job_holds_the_line_on_which_it_was_confirmed(make_site: MakeSite, detach: Callable[..., int]) -> None:
    site = make_site(
        {"t": "run: {command: 'ls -l /proc/self/fd > {campaign}/../../fds; sleep 300', time_limit: 600s}\n"}
    )
    detach(site, "run", "p")
    wait_until(lambda: (site / "fds").exists() and (site / "fds").read_text().endswith("\n"))
    lines = [line.split()[8] for line in (site / "fds").read_text().splitlines()[1:]]
    assert len([number for number in lines if int(number) > 2]) == 1, "the directory that ls itself reads"


def test_what_keeps_it_from_driving_is_told_with_its_exit_status(
    make_site: MakeSite, shakedown: Shakedown, detach: Callable[..., int]
) -> None:
    site = make_site({"long": LONG})
    pid = detach(site, "run", "p")

    second = shakedown("resume", "--detach", cwd=site)
    assert second.returncode == 2
    assert f"(pid {pid})" in second.stderr
    assert second.stdout == ""

    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_alive(pid))
    segment = site / "campaigns/p-1/log/000001.jsonl"
    segment.write_bytes(segment.read_bytes().replace(b'"event"', b'"evemt"', 1))
    damaged = shakedown("resume", "--detach", cwd=site)
    assert damaged.returncode == 3
    assert "000001.jsonl" in damaged.stderr


def test_it_lives_on_when_its_terminal_goes_away(make_site: MakeSite) -> None:
    site = make_site({"t": "parameters: {n: [1, 2, 3]}\nrun: {command: sleep 1, exclusive: true}\n"})
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(site)
        words = " ".join(SHAKEDOWN)
        os.execvp("bash", ["bash", "-c", f"{words} run p --detach; exec sleep 300"])
    wait_until(lambda: events(site, "driver_start"))
    wait_until(lambda: Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep"))
    os.close(terminal)  # a hang-up for everything on it
    os.waitpid(pid, 0)

    wait_until(lambda: events(site, "driver_stop"))
    assert [event.value["verdict"] for event in events(site, "verdict")] == ["passed"] * 3
    assert events(site)[-2].event == "campaign_end"


def test_nohup_is_respected(make_site: MakeSite) -> None:
    site = make_site({"t": "parameters: {n: [1, 2]}\nrun: {command: sleep 1, exclusive: true}\n"})
    process = subprocess.Popen(
        ["nohup", *SHAKEDOWN, "run", "p"],
        cwd=site,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until(lambda: any(event.value.get("state") == "running" for event in events(site)))
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 0
    assert len(events(site, "verdict")) == 2


def test_cron_may_ask_for_a_driver_as_often_as_it_likes(
    make_site: MakeSite, shakedown: Shakedown, detach: Callable[..., int]
) -> None:
    """Driven: nothing happens, nothing is said. Killed: it is resumed. Over: nothing happens again."""
    waits = "run: {command: 'until test -e {campaign}/../../go; do sleep 0.1; done', time_limit: 600s}"
    site = make_site({"t": f"parameters: {{n: [1, 2]}}\n{waits}\n"})
    pid = detach(site, "run", "p")
    for words in (("resume", "p-1", "--if-needed"), ("resume", "p-1", "--if-needed", "--detach")):
        done = shakedown(*words, cwd=site)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(events(site, "driver_start")) == 1

    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid))
    (site / "go").write_text("")
    detach(site, "resume", "p-1", "--if-needed")
    wait_until(lambda: events(site, "campaign_end") and events(site)[-1].event == "driver_stop")
    assert len(events(site, "driver_start")) == 2

    for words in (("resume", "p-1", "--if-needed"), ("resume", "p-1", "--if-needed", "--detach")):
        done = shakedown(*words, cwd=site)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(events(site, "driver_start")) == 2


def test_of_several_that_cron_starts_at_once_one_drives(make_site: MakeSite) -> None:
    site = make_site({"t": SHORT, "u": "run: {command: sleep 1}\n"})
    first = subprocess.Popen(
        [*SHAKEDOWN, "run", "p", "-q"], cwd=site, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_until(lambda: events(site, "driver_start"))
    first.kill()
    first.wait()
    words = [*SHAKEDOWN, "resume", "p-1", "--if-needed", "-q"]
    several = [subprocess.Popen(words, cwd=site, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(5)]
    ended = [(process.communicate(timeout=100)[1], process.returncode) for process in several]

    assert ended == [(b"", 0)] * 5
    assert len(events(site, "driver_start")) == 2
    assert len(events(site, "campaign_end")) == 1


def test_a_campaign_that_nobody_has_is_wrong_use_for_cron_too(make_site: MakeSite, shakedown: Shakedown) -> None:
    done = shakedown("resume", "p-7", "--if-needed", cwd=make_site({"t": SHORT}))
    assert done.returncode == 2
    assert "there is no campaign 'p-7'" in done.stderr
