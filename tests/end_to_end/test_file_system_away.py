"""The file system of a campaign goes away on the conductor's host: it waits, says so, and goes on where it was."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from stories import SHAKEDOWN, MakeSite
from tests.end_to_end.test_killed_and_resumed import wait_until

from shakedown.events.reader import read_events
from shakedown.metrics.rows.table import fold_runs

TRUTH = (
    "parameters: {n: [" + ", ".join(map(str, range(30))) + "]}\n"
    'run: {command: "echo $SHAKEDOWN_RUN >>$TRUTH; until [ -e $GO ]; do sleep 0.1; done; seq 300", time_limit: 300s}\n'
    'check:\n  - output contains "300"\n'
)


class Mounted:
    """A directory that is mounted in another place, and can be taken away from there, as a file system is that is not mounted."""

    def __init__(self, real: Path, place: Path) -> None:
        self.real, self.place = real, place
        place.mkdir()
        self.back()

    def away(self) -> None:
        subprocess.run(["umount", "-l", str(self.place)], check=True)

    def back(self) -> None:
        done = subprocess.run(["mount", "--bind", str(self.real), str(self.place)], capture_output=True, check=False)
        if done.returncode:
            pytest.skip(f"nothing can be mounted here: {done.stderr.decode().strip()}")


@pytest.fixture
def mounted(make_site: MakeSite, tmp_path: Path) -> Iterator[Mounted]:
    if os.geteuid() != 0:
        pytest.skip("mounting takes root")
    found = Mounted(make_site({"truth": TRUTH}), tmp_path / "mounted")
    yield found
    subprocess.run(["umount", "-l", str(found.place)], check=False, capture_output=True)


def start(mounted: Mounted, tmp_path: Path, said: Path) -> subprocess.Popen[bytes]:
    environment = os.environ | {
        "TRUTH": str(tmp_path / "truth"),
        "GO": str(tmp_path / "go"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    with said.open("wb") as file:
        process = subprocess.Popen(
            [*SHAKEDOWN, "run", "p", "-q"], cwd=mounted.place, env=environment, stdout=file, stderr=subprocess.STDOUT
        )
    at_once = min(30, len(os.sched_getaffinity(0)))
    truth = tmp_path / "truth"
    wait_until(
        lambda: truth.exists() and len(truth.read_text().split()) == at_once
    )  # and nothing more begins before they end
    return process


def test_it_is_waited_for_and_nothing_is_lost(mounted: Mounted, tmp_path: Path) -> None:
    said = tmp_path / "said"
    process = start(mounted, tmp_path, said)
    mounted.away()
    (tmp_path / "go").touch()  # runs end now, and that cannot be recorded
    wait_until(lambda: b"is away" in said.read_bytes())
    assert process.poll() is None
    mounted.back()
    assert process.wait(120) == 0, said.read_text()
    told = said.read_text()
    assert "the directory of campaign p-1 is away: " in told
    assert "it goes on by itself if it is back within ten minutes" in told
    rows = fold_runs(read_events(mounted.real / "campaigns/p-1/log")).runs
    assert Counter(row.verdict for row in rows) == {"passed": 30}, [
        row.reason for row in rows if row.verdict != "passed"
    ]
    assert "removed" not in told


def test_who_leaves_meanwhile_is_told_how_to_go_on(mounted: Mounted, tmp_path: Path) -> None:
    said = tmp_path / "said"
    process = start(mounted, tmp_path, said)
    mounted.away()
    (tmp_path / "go").touch()
    wait_until(lambda: b"is away" in said.read_bytes())
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 4, said.read_text()
    assert "'shakedown resume p-1' goes on with what is left to do, once it is back" in said.read_text()

    resumed = subprocess.run(
        [*SHAKEDOWN, "resume", "p-1"], cwd=mounted.place, capture_output=True, text=True, check=False, timeout=60
    )
    assert resumed.returncode == 2
    assert "its file system may be away" in resumed.stderr
    mounted.back()
    environment = os.environ | {"TRUTH": str(tmp_path / "truth"), "GO": str(tmp_path / "go")}
    resumed = subprocess.run(
        [*SHAKEDOWN, "resume", "p-1", "-q"],
        cwd=mounted.place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert resumed.returncode == 0, resumed.stderr
