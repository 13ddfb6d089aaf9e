"""A loss of power takes no output that a durable verdict points to: packs are made durable before the lines of the log are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from stories import MakeSite

TALK = "parameters: {n: [1, 2, 3, 4, 5, 6]}\nrun: {command: 'echo said {n}'}\ncheck: [output contains \"said\"]\n"
PROGRAM = """
import os, sys
real, seen = os.fdatasync, open(sys.argv.pop(1), "a", buffering=1)
def noting(handle):
    path = os.readlink(f"/proc/self/fd/{handle}")
    size = os.fstat(handle).st_size
    verdicts = open(path, "rb").read().count(b'"event":"verdict"') if path.endswith(".jsonl") else 0
    real(handle)
    print(path, size, verdicts, file=seen)
os.fdatasync = noting
os.chdir(sys.argv.pop(1))
from shakedown.cli.main import main
sys.argv = ["shakedown", "run", "p", "-q"]
main()
"""


def test_outputs_are_durable_before_their_verdicts(make_site: MakeSite, tmp_path: Path) -> None:
    site, seen = make_site({"talk": TALK}), tmp_path / "seen"
    command = [sys.executable, "-c", PROGRAM, str(seen), str(site)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    synced = [line.split() for line in seen.read_text().splitlines()]
    kept, durable, most = len("said 1\n"), 0, 0
    for path, size, verdicts in synced:
        durable = max(durable, int(size)) if path.endswith(".pack") else durable
        assert kept * int(verdicts) <= durable, "a verdict is durable before its output"
        most = max(most, int(verdicts))
    assert most == 6
