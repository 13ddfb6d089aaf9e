"""The disk of a campaign is full for a while: every run is executed once, judged as it ended, and nothing is spent on it."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from small_disks import fill, small_disk
from stories import SHAKEDOWN, MakeSite
from tests.end_to_end.test_killed_and_resumed import wait_until

from shakedown.events.reader import read_events
from shakedown.metrics.rows.table import Record, fold_runs

TRUTH = (
    "parameters: {n: [" + ", ".join(map(str, range(120))) + "]}\n"
    'run: {command: "echo $SHAKEDOWN_RUN >>$TRUTH; sleep 0.1; seq 300; echo {n} | sed s/^7$/no/", time_limit: 60s}\n'
    'check:\n  - output contains "300"\n  - output lacks "no"\n'
)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    with small_disk(tmp_path / "disk", "size=12m") as place:
        yield place


def test_a_disk_that_is_full_for_a_while_costs_time_and_nothing_else(
    make_site: MakeSite, disk: Path, tmp_path: Path
) -> None:
    site = disk / "site"
    shutil.copytree(make_site({"truth": TRUTH}), site)
    log, truth = site / "campaigns/p-1/log", tmp_path / "truth"
    environment = os.environ | {"TRUTH": str(truth), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [*SHAKEDOWN, "run", "p", "-q"]
    said = tmp_path / "said"
    with said.open("wb") as file:
        process = subprocess.Popen(command, cwd=site, env=environment, stdout=file, stderr=subprocess.STDOUT)

    def record() -> Record:
        return fold_runs(read_events(log))

    def findings(kind: str) -> int:
        return sum(note.value.get("kind") == kind for note in record().of_kind("finding"))

    wait_until(lambda: log.exists() and len(record().runs) > 4)
    ballast = fill(disk)
    wait_until(lambda: findings("disk_full") == 1)
    with ballast.open("ab", buffering=0) as more, suppress(OSError):  # what the reserve gave free
        more.write(b"\0" * (2 << 20))
    assert process.poll() is None
    ballast.unlink()
    assert process.wait(120) == 1, said.read_text()  # one of them is wrong
    rows = record().runs
    executed = Counter(truth.read_text().split())
    assert (len(executed), set(executed.values())) == (120, {1})
    assert Counter(row.verdict for row in rows) == {"passed": 119, "incorrect": 1}
    assert {row.attempt for row in rows} == {1}
    assert (findings("disk_full"), findings("disk_has_room")) == (1, 1)


def test_a_log_that_may_not_grow_holds_what_is_queued(make_site: MakeSite, tmp_path: Path) -> None:
    """The file system has room, and a limit on file sizes lets the log take nothing more: what starts now would be unrecorded."""
    site, truth, said = make_site({"truth": TRUTH}), tmp_path / "truth", tmp_path / "said"
    environment = os.environ | {"TRUTH": str(truth), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with said.open("wb") as file:
        process = subprocess.Popen(
            [*SHAKEDOWN, "run", "p", "-q"], cwd=site, env=environment, stdout=file, stderr=subprocess.STDOUT
        )
    status = [*SHAKEDOWN, "status", "p-1"]

    def told() -> str:
        return subprocess.run(status, cwd=site, env=environment, capture_output=True, text=True, check=False).stdout

    log = site / "campaigns/p-1/log"
    wait_until(lambda: log.exists() and len(fold_runs(read_events(log)).runs) > 4)
    written = max(path.stat().st_size for path in log.glob("*.jsonl"))
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (written + 1000, limits[1]))
    wait_until(lambda: "make room there" in said.read_text())
    wait_until(lambda: not live_payloads(site))  # what ran has come to its end
    started = len(truth.read_text().split())
    assert "the last events are not in the record" in " ".join(told().split())
    assert len(truth.read_text().split()) == started < 120, "nothing is started that the record does not know of"
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, limits)
    assert process.wait(120) == 1, said.read_text()
    executed, rows = Counter(truth.read_text().split()), fold_runs(read_events(site / "campaigns/p-1/log")).runs
    assert (len(executed), set(executed.values())) == (120, {1})
    assert Counter(row.verdict for row in rows) == {"passed": 119, "incorrect": 1}
    assert "are not in the record" not in told()


def live_payloads(site: Path) -> bool:
    """Whether a payload of the site's campaigns runs."""
    found = subprocess.run(["pgrep", "-f", f"{site}/campaigns/.*/script"], capture_output=True, check=False)
    return found.returncode == 0


def test_an_act_that_finds_no_room_is_not_taken_and_says_what_to_do(
    make_site: MakeSite, disk: Path, tmp_path: Path
) -> None:
    site = disk / "site"
    shutil.copytree(make_site({"truth": TRUTH.replace("sleep 0.1", "sleep 30")}), site)
    environment = os.environ | {"TRUTH": str(tmp_path / "truth"), "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def shakedown(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*SHAKEDOWN, *words], cwd=site, env=environment, capture_output=True, text=True, check=False, timeout=60
        )

    assert shakedown("run", "p", "--detach").returncode == 0
    try:
        _refused_for_want_of_room(disk, shakedown)
    finally:
        shakedown("cancel", "--all", "--because", "the test is over")
        wait_until(lambda: shakedown("status", "--json").stdout.count('"phase": "ended"') == 1)


def _refused_for_want_of_room(disk: Path, shakedown: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    log = disk / "site/campaigns/p-1/log"
    ballast = [fill(disk)]
    wait_until(
        lambda: any(event.value.get("kind") == "disk_full" for event in read_events(log) if event.event == "finding")
    )
    because = ("--by", "Ada", "--because", "it is late")
    said = {}
    for words in (("cancel", "--all"), ("drain",)):
        ballast.append(fill(disk, f"more-{words[0]}"))  # what the reserve gave free
        said[words[0]] = shakedown(*words, *because)
    assert {name: done.returncode for name, done in said.items()} == dict.fromkeys(said, 4), said
    for done in said.values():
        assert "cannot be written: No space left on device" in done.stderr
        assert "hint: make room on its file system, then give the command again; nothing of it was taken" in done.stderr
    for file in ballast:
        file.unlink()
