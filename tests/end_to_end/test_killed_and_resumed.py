"""The conductor is killed, stopped, doubled and hung up on. Every run is judged once and executed once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from stories import SHAKEDOWN, MakeSite, Shakedown

from shakedown.events.reader import read_events
from shakedown.model.events import Event

SLEEPERS = (
    "parameters: {n: [" + ", ".join(map(str, range(40))) + "]}\n"
    'run: {command: "echo $SHAKEDOWN_RUN >> {campaign}/../../executed; sleep 0.1; echo done {n}", time_limit: 60s}\n'
    'check:\n  - output contains "done"\n'
)


def start(site: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*SHAKEDOWN, *words], cwd=site, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def events(site: Path, name: str = "") -> list[Event]:
    return [event for event in read_events(site / "campaigns/p-1/log") if name in ("", event.event)]


def wait_until(holds: Any, seconds: float = 120.0) -> None:
    """Wait for a condition of another process; generous, because only its truth matters."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def judged(site: Path) -> int:
    return len(events(site, "verdict")) if (site / "campaigns/p-1/log").exists() else 0


@pytest.mark.slow
def test_killed_25_times_at_random_instants(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site({"sleepers": SLEEPERS}, "repeats: 4, retry: {interrupted: 100}")
    draw = random.Random(25)
    kills = 0
    process = start(site, "run", "p")
    wait_until(lambda: (site / "campaigns/p-1/log").exists())
    while kills < 25:
        time.sleep(draw.uniform(0.02, 0.45))
        process.kill()
        process.communicate()
        kills += 1
        process = start(site, "resume", "p-1", "--if-needed")
    assert process.wait(120) == 0
    process.communicate()

    assert events(site)[-2].event == "campaign_end"
    verdicts = Counter(event.run for event in events(site, "verdict"))
    assert set(verdicts.values()) == {1}
    passed = Counter(
        (event.case, event.value["repeat"]) for event in events(site, "verdict") if event.value["verdict"] == "passed"
    )
    assert len(passed) == 160
    assert set(passed.values()) == {1}
    executed = Counter((site / "executed").read_text().split())
    assert set(executed.values()) == {1}, executed.most_common(3)
    assert set(executed) >= {event.run for event in events(site, "verdict") if event.value["verdict"] == "passed"}
    assert shakedown("log", "p-1", "--verify", cwd=site).returncode == 0


def test_nothing_of_ours_outlives_a_killed_conductor_for_long(make_site: MakeSite, shakedown: Shakedown) -> None:
    text = "run: {command: 'setsid sleep 987 & sleep 986', time_limit: 60s}\n"
    site = make_site({"long": text})
    process = start(site, "run", "p")
    wait_until(lambda: _running("sleep 98[67]") == 2)
    process.kill()
    process.communicate()

    done = start(site, "resume", "p-1")
    wait_until(lambda: len(events(site, "driver_start")) == 2 and len(events(site, "verdict")) == 1)
    assert events(site, "verdict")[0].value["verdict"] == "interrupted"
    wait_until(lambda: _running("sleep 98[67]") == 2)  # the second attempt
    done.send_signal(signal.SIGTERM)
    done.communicate(timeout=30)
    assert _running("sleep 98[67]") == 0


def _running(pattern: str) -> int:
    return len(
        subprocess.run(["pgrep", "-f", f"^{pattern}"], capture_output=True, text=True, check=False).stdout.split()
    )


def test_a_second_driver_is_refused_with_who_and_where(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site({"long": "run: {command: sleep 30, time_limit: 60s}\n"})
    process = start(site, "run", "p")
    wait_until(lambda: (site / "campaigns/p-1/lease").exists() and bool(events(site, "driver_start")))

    second = shakedown("resume", "p-1", cwd=site)
    assert second.returncode == 2
    assert f"(pid {process.pid})" in second.stderr
    assert os.uname().nodename in second.stderr
    assert shakedown("resume", "p-1", "--if-needed", cwd=site).returncode == 0

    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)


def test_ctrl_c_once_lets_runs_end_twice_leaves(make_site: MakeSite, shakedown: Shakedown) -> None:
    """A run ends when the file ``go`` is there, and not before: what is under way when a signal comes does not depend on speed."""
    wait = "until [ -e {campaign}/../../go ]; do sleep 0.05; done"
    text = (
        f"parameters: {{n: [1, 2, 3, 4, 5, 6, 7, 8]}}\nrun: {{command: '{wait}', exclusive: true, time_limit: 300s}}\n"
    )
    site = make_site({"waits": text})
    go = site / "go"
    process = start(site, "run", "p")
    wait_until(lambda: any(e.value.get("state") == "running" for e in events_or_none(site)))
    process.send_signal(signal.SIGINT)
    wait_until(lambda: len(events(site, "claim_taken")) == 7)  # what was queued is taken back, not waited for
    go.touch()
    _, said = process.communicate(timeout=60)

    assert process.returncode == 4
    assert b"nothing new is submitted" in said
    assert b"shakedown resume" in said
    assert [event.value["verdict"] for event in events(site, "verdict")] == ["passed"]
    assert len(events(site, "claim_taken")) == 7

    go.unlink()
    process = start(site, "resume", "p-1")
    wait_until(lambda: len([e for e in events(site) if e.value.get("state") == "running"]) >= 2)
    process.send_signal(signal.SIGINT)
    wait_until(lambda: bool(events(site, "stop_request")[1:]))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert [event.value["verdict"] for event in events(site, "verdict")] == ["passed", "interrupted"]
    assert [event.value["ended"] for event in events(site, "stop_request") if "ended" in event.value] == [1]

    go.touch()
    assert start(site, "resume", "p-1").wait(60) == 0
    passed = [event for event in events(site, "verdict") if event.value["verdict"] == "passed"]
    assert len(passed) == 8


def events_or_none(site: Path) -> list[Event]:
    return events(site) if (site / "campaigns/p-1/log").exists() else []


def test_cancel_is_the_only_way_to_cancel(make_site: MakeSite, shakedown: Shakedown) -> None:
    text = "parameters: {n: [1, 2, 3, 4]}\nrun: {command: sleep 60, exclusive: true, time_limit: 90s}\n"
    site = make_site({"naps": text})
    process = start(site, "run", "p")
    wait_until(lambda: any(e.value.get("state") == "running" for e in events_or_none(site)))

    assert shakedown("cancel", "--all", cwd=site).returncode == 2  # it wants a reason
    done = shakedown("cancel", "--all", "--because", "wrong firmware", cwd=site)
    assert done.returncode == 0, done.stderr
    process.communicate(timeout=60)

    verdicts = events(site, "verdict")
    assert {event.value["verdict"] for event in verdicts} == {"cancelled"}
    assert len(verdicts) == 4
    assert all("wrong firmware" in event.reason for event in verdicts)
    assert events(site, "cancel_request")[0].value["who"] == "root" or os.getuid() != 0


def test_what_is_over_is_not_taken_for_another_run_to_cancel(make_site: MakeSite, shakedown: Shakedown) -> None:
    """The hint named a run with a number like it, and who followed it cancelled that one."""
    site = make_site({"done": "run: {command: 'true'}\n", "naps": "run: {command: sleep 60, time_limit: 90s}\n"})
    process = start(site, "run", "p")
    wait_until(lambda: any(event.event == "verdict" for event in events_or_none(site)))
    over = next(event.run for event in events(site, "verdict"))

    told = shakedown("cancel", over, "--because", "by mistake", cwd=site)
    assert (told.returncode, told.stderr) == (
        2,
        f"error: {over} of p-1 is over (passed): there is nothing left to cancel\n"
        f"hint: shakedown why {over} says how it came out\n",
    )
    told = shakedown("cancel", "r000003", "--because", "by mistake", cwd=site)
    assert (told.returncode, told.stderr) == (
        2,
        "error: p-1 has no live run and no case 'r000003'\nhint: shakedown status lists live runs\n",
    )
    assert shakedown("cancel", "--all", "--because", "all is said", cwd=site).returncode == 0
    process.communicate(timeout=60)


def test_a_detached_campaign_goes_on_by_itself(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site({"nap": "parameters: {n: [1, 2, 3]}\nrun: {command: sleep 0.3}\n"})

    started = shakedown("run", "p", "--detach", "--json", cwd=site)
    assert started.returncode == 0, started.stderr
    wait_until(lambda: bool(events_or_none(site)) and events(site)[-1].event == "driver_stop")

    assert len(events(site, "verdict")) == 3
    wait_until(lambda: "it is over" in shakedown("status", cwd=site).stdout)  # its last word, then the driver leaves


def test_amended_while_nobody_drives(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site({"nap": "parameters: {n: [1, 2]}\nrun: {command: 'true'}\n"})
    assert shakedown("run", "p", cwd=site).returncode == 0
    (site / "tests/nap.yaml").write_text("test: nap\nparameters: {n: [1, 2, 3, 4]}\nrun: {command: 'true'}\n")

    amended = shakedown("amend", "p", "--by", "Ada", "--because", "two more sizes", cwd=site)
    assert amended.returncode == 0, amended.stderr
    assert "case nap/n=3 is added" in amended.stdout
    assert "go on with: shakedown resume p-1" in amended.stdout
    assert shakedown("resume", cwd=site).returncode == 0

    cases = [event.case for event in events(site, "verdict")]
    assert sorted(cases[:2]) + sorted(cases[2:]) == ["nap/n=1", "nap/n=2", "nap/n=3", "nap/n=4"]
    assert events(site, "amended")[0].value["by"] == "Ada"


def test_rejudged_by_a_better_check(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site({"t": "run: {command: 'echo residual 1e-3'}\n"})
    assert shakedown("run", "p", cwd=site).returncode == 0
    text = "test: t\nrun: {command: 'echo residual 1e-3'}\ncheck:\n  - output matches \"residual 1e-[6-9]\"\n"
    (site / "tests/t.yaml").write_text(text)
    shakedown("amend", "p", "--by", "Ada", "--because", "a check was missing", cwd=site)
    shakedown("resume", cwd=site)

    done = shakedown("rejudge", "--by", "Ada", "--because", "a check was missing", cwd=site)

    assert done.returncode == 0, done.stderr
    first, second = events(site, "verdict")
    assert (first.value["verdict"], second.value["verdict"]) == ("passed", "incorrect")
    assert second.value["supersedes"] == first.seq
    assert shakedown("report", "--no-pdf", cwd=site).returncode == 1


def test_a_hang_up_ends_what_runs_and_says_how_to_go_on(make_site: MakeSite) -> None:
    site = make_site({"long": "run: {command: sleep 983, time_limit: 2000s}\n"})
    process = start(site, "run", "p")
    wait_until(lambda: _running("sleep 983") == 1)
    process.send_signal(signal.SIGHUP)
    _, said = process.communicate(timeout=60)

    assert process.returncode == 4
    assert b"shakedown resume" in said
    assert _running("sleep 983") == 0
    assert events(site, "verdict")[0].value["verdict"] == "interrupted"


def test_a_reader_of_the_progress_that_goes_away_ends_nothing(make_site: MakeSite) -> None:
    site = make_site({"naps": "parameters: {n: [1, 2, 3, 4, 5, 6]}\nrun: {command: sleep 0.2}\n"})
    words = " ".join(SHAKEDOWN)
    for redirection in ("2>&1 | head -1", "2>/dev/full", "2>&-"):
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {words} run p {redirection} >/dev/null"],
            cwd=site,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, redirection
    for campaign in ("p-1", "p-2", "p-3"):
        log = read_events(site / "campaigns" / campaign / "log")
        assert [event.event for event in log][-2:] == ["campaign_end", "driver_stop"]


@pytest.mark.skipif(
    subprocess.run(["unshare", "-U", "true"], capture_output=True, check=False).returncode != 0,
    reason="a user without a name is made by unshare -U, which is not allowed here",
)
def test_a_user_whom_nobody_knows_may_run_a_plan(make_site: MakeSite) -> None:
    site = make_site({"t": "run: {command: 'true'}\n"})
    done = subprocess.run(
        ["unshare", "-U", "--map-user=12345", *SHAKEDOWN, "run", "p", "-q"],
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert events(site, "driver_start")[0].value["driver"]["user"] == "uid 12345"
