"""Whatever ends a session of tests on Slurm: nothing of its clusters lives on, and no directory of theirs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import slurm_pool
from slurm_pool import Pool
from slurm_warden import running_for

SESSION = """
import os, signal, subprocess, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from slurm_warden import start_warden
directory = Path(sys.argv[1])
start_warden(directory)
daemon = subprocess.Popen(["sleep", "1000"], env={"SLURM_CONF": f"{directory}/etc/slurm.conf"}, start_new_session=True)
os.kill(os.getpid(), getattr(signal, sys.argv[3]))
"""


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM"])
def test_a_session_that_is_killed_leaves_no_daemon_and_no_directory(tmp_path: Path, how: str) -> None:
    directory = tmp_path / "shakedown-slurm-1-x"
    directory.mkdir()
    words = [sys.executable, "-c", SESSION, str(directory), str(Path(slurm_pool.__file__).parent), how]
    killed = subprocess.run(words, check=False, timeout=60)
    assert killed.returncode == -getattr(signal, how)
    end = time.monotonic() + 120
    while directory.exists() or running_for(directory):
        assert time.monotonic() < end, (directory.exists(), running_for(directory))
        os.sched_yield()


def test_a_process_that_does_not_end_keeps_no_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong with one cluster is told, once all else is taken down."""

    class Broken:
        slurm_conf = tmp_path / "pool/one/etc/slurm.conf"

    def complain(self: Pool, cluster: object) -> None:
        raise AssertionError("these do not end")

    pool = Pool()
    pool.directories[""] = tmp_path / "pool"
    pool.directories[""].mkdir()
    pool.up["plain", ""] = Broken()  # type: ignore[assignment]
    monkeypatch.setattr(Pool, "end_left", complain)
    with pytest.raises(AssertionError, match="these do not end"):
        pool.close()
    assert not (tmp_path / "pool").exists()
    assert not pool.up
