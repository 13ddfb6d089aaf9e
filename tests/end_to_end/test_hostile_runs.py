"""Outputs that are missing, binary, endless or malicious; regular expressions that explode; disks that are full."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import warm_commands
from stories import MakeSite, Shakedown

from shakedown.events.reader import read_events
from shakedown.model.events import Event


def verdicts(site: Path) -> dict[str, Event]:
    log = read_events(site / "campaigns/p-1/log")
    return {event.case: event for event in log if event.event == "verdict"}


def wait_until(holds: Callable[[], object], seconds: float = 60.0) -> None:
    limit = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.02)


def test_an_acceptance_says_that_the_script_of_a_run_was_killed(make_site: MakeSite, shakedown: Shakedown) -> None:
    """Who kills a run that would be slow must not be silent: the run is attempted again, and the sentence on the whole says so."""
    script = "    if [ ! -e {campaign}/once ]; then : >{campaign}/once; kill -9 $$; fi\n"
    site = make_site({"slow": f"run:\n  command: |\n{script}"})

    run = shakedown("run", "p", cwd=site)

    assert run.returncode == 0
    assert "1 run was interrupted and attempted again" in " ".join(run.stdout.split())


def test_every_kind_of_bad_output_is_a_verdict_with_a_sentence(make_site: MakeSite, shakedown: Shakedown) -> None:
    check = 'check:\n  - output contains "the answer is right"\n'
    site = make_site(
        {
            "silent": f"run: {{command: 'true'}}\n{check}",
            "binary": f"run: {{command: 'head -c 100000 /dev/urandom'}}\n{check}",
            "oneline": f"run: {{command: 'head -c 100000000 /dev/zero | tr \"\\0\" x; echo the answer is right'}}\n{check}",
            "escapes": "run:\n  command: |\n    printf '\\033[2J\\033]0;owned\\007<script>alert(1)</script>\\n'\n    exit 1\n",
            "explodes": "run:\n  command: |\n    printf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\\n'\n"
            'check:\n  - output matches "(a+)+$"\n',
            "killed": "run: {command: 'kill -9 $$'}\n",
            "nofile": "run: {command: 'true'}\ncheck:\n  - file result.nc exists\n",
            "after": f"run: {{command: 'echo the answer is right'}}\n{check}",
        }
    )

    run = shakedown("run", "p", "--report", cwd=site)

    assert run.returncode == 1
    assert "Traceback" not in run.stdout + run.stderr
    assert "\033" not in run.stdout + run.stderr
    found = verdicts(site)
    said = {case: (event.value["verdict"], event.reason) for case, event in found.items()}
    assert said["after"][0] == "passed"
    assert said["silent"][0] == "incorrect"
    assert said["binary"][0] == "incorrect"
    assert said["oneline"][0] in ("passed", "incorrect")
    assert said["escapes"][0] == "failed"
    assert said["explodes"][0] == "incorrect"
    assert "could not be checked" in said["explodes"][1]
    assert said["killed"] == ("failed", said["killed"][1])
    assert "SIGKILL" in said["killed"][1] and "it is attempt 3" in said["killed"][1]
    assert "result.nc" in said["nofile"][1]
    assert len(said) == 8
    report = (site / "campaigns/p-1/report.html").read_text()
    assert "<script>alert" not in report
    assert "\033" not in report


def test_a_time_limit_ends_the_whole_tree(make_site: MakeSite, shakedown: Shakedown) -> None:
    text = "run: {command: 'trap \"\" TERM; setsid sleep 777 & sleep 776', time_limit: 1s}\n"
    site = make_site({"stuck": text})

    run = shakedown("run", "p", cwd=site)

    assert run.returncode in (1, 4)
    assert verdicts(site)["stuck"].value["verdict"] == "timeout"
    left = subprocess.run(["pgrep", "-f", "^sleep 77[67]"], capture_output=True, check=False)
    assert left.returncode == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="a full disk is made by mounting a small one, which takes root")
def test_a_full_disk_is_said_and_nothing_is_lost(make_site: MakeSite, shakedown: Shakedown, tmp_path: Path) -> None:
    text = "parameters: {n: [" + ", ".join(map(str, range(12))) + "]}\n"
    site = make_site({"writer": text + "run: {command: 'head -c 3000000 /dev/urandom > data; echo ok'}\n"})
    disk = site / "campaigns"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)], check=True)
    try:
        told = tmp_path / "told"
        with told.open("w") as said:
            driver = subprocess.Popen(
                [sys.executable, "-m", "shakedown", "run", "p"], cwd=site, stdout=said, stderr=subprocess.STDOUT
            )
        wait_until(lambda: "full" in told.read_text() or "no room" in told.read_text())
        assert driver.poll() is None, "it waits for room"
        subprocess.run(["mount", "-o", "remount,size=128m", str(disk)], check=True)
        driver.wait(120)
        assert "Traceback" not in told.read_text()
        found = verdicts(site)
        assert len({event.case for event in found.values()}) == 12
        assert not [event for event in found.values() if event.value["verdict"] == "incorrect"]
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.skipif(
    os.geteuid() != 0, reason="a read-only directory does not stop root; a read-only mount does, and takes root"
)
def test_a_read_only_campaign_is_a_sentence(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site({"t": "run: {command: 'true'}\n"})
    disk = site / "campaigns"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(disk)], check=True)
    try:
        run = shakedown("run", "p", cwd=site)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
    assert run.returncode == 3
    assert "Traceback" not in run.stderr
    assert "Read-only file system" in run.stderr or "read-only" in run.stderr.lower()


def test_html_and_control_characters_in_names_are_harmless(make_site: MakeSite, shakedown: Shakedown) -> None:
    text = "parameters: {n: ['<img src=x onerror=alert(1)>']}\nrun: {command: 'echo {n}'}\n".replace("echo {n}", "true")
    site = make_site({"t": text})

    run = shakedown("run", "p", "--report", cwd=site)

    assert run.returncode in (0, 2), run.stderr
    if run.returncode == 0:
        assert "<img src=x" not in (site / "campaigns/p-1/report.html").read_text()


def test_commands_say_what_is_wrong_without_a_traceback(tmp_path: Path) -> None:
    for words, expected in {
        ("rnu",): "there is no command 'rnu'; did you mean 'run'?",
        ("run",): "nothing is named to be run",
        ("run", "x"): "site.yaml",
        ("status",): "",
        ("resume", "nowhere"): "nowhere",
        ("report", "/nowhere"): "/nowhere",
        ("log", "--last", "x"): "'x' is not a valid integer",
        ("cancel", "--all", "--because", "x"): "",
        ("kernels", "run", "strem"): "stream",
    }.items():
        done = warm_commands.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 2, (words, done.returncode, done.stderr)
        assert "Traceback" not in done.stderr
        assert expected in done.stderr, (words, done.stderr)
