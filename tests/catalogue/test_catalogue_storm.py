"""The storm of small jobs against a scheduler that refuses some and loses some: each is told, and none is left."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from shakedown import catalogue

SCRIPT = Path(catalogue.__file__).parent / "tests" / "scheduler-storm" / "storm.sh"
SBATCH = """\
#!/bin/sh
for word do case $word in --wrap=*) lines=${word#--wrap=} ;; esac; done
number=$(echo "$lines" | sed "s/.*began\\/\\([0-9]*\\)'/\\1/")
case " $REFUSED " in *" $number "*) echo "sbatch: error: QOSMaxSubmitJobPerUserLimit" >&2; exit 1 ;; esac
case " $LOST " in *" $number "*) ;; *) sh -c "$lines" ;; esac
echo "4$number"
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Slurm's commands, which write down what they are told."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, text in {
        "sbatch": SBATCH,
        "squeue": "#!/bin/sh\n",
        "sinfo": "#!/bin/sh\n",
        "scancel": f'#!/bin/sh\necho "$@" >>{tmp_path}/cancelled\n',
    }.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("STORM_PATIENCE", "0")
    return folder


def storm(folder: Path, jobs: int, at_once: int) -> list[str]:
    (folder / "run").mkdir()
    done = subprocess.run(
        ["/bin/sh", str(SCRIPT), str(jobs), str(at_once)],
        cwd=folder / "run",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_every_job_is_counted_and_timed(programs: Path, tmp_path: Path) -> None:
    lines = storm(tmp_path, 7, 3)
    assert lines[0] == "jobs: 7, taken: 7, ran: 7, refused: 0, lost: 0"
    shapes = [
        r"submission: \d+\.\d\d jobs/s",
        r"throughput: \d+\.\d\d jobs/s",
        r"sbatch: median \d+\.\d{3} s, longest \d+\.\d{3} s",
        r"wait: median \d+\.\d{3} s, longest \d+\.\d{3} s",
        r"squeue: median \d+\.\d{3} s, longest \d+\.\d{3} s",
    ]
    assert len(lines) == 1 + len(shapes)
    assert all(re.fullmatch(shape, line) for shape, line in zip(shapes, lines[1:], strict=True)), lines
    assert re.fullmatch(r"--name=storm-\d+-\d+\n", (tmp_path / "cancelled").read_text())


def test_where_no_slurm_answers_nothing_is_submitted(programs: Path, tmp_path: Path) -> None:
    (programs / "sinfo").write_text(
        "#!/bin/sh\necho 'slurm_load_partitions: Unable to contact slurm controller' >&2; exit 1\n"
    )
    (tmp_path / "run").mkdir()
    done = subprocess.run(
        ["/bin/sh", str(SCRIPT), "3", "1"],
        cwd=tmp_path / "run",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (
        1,
        "error: there is no Slurm here that answers sinfo: run this test on a cluster\n",
    )
    assert list((tmp_path / "run").iterdir()) == []


def test_what_is_refused_and_what_is_lost_is_told(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFUSED", "0 4")
    monkeypatch.setenv("LOST", "2")
    lines = storm(tmp_path, 6, 2)
    assert lines[:2] == [
        "refused: sbatch: error: QOSMaxSubmitJobPerUserLimit",
        "jobs: 6, taken: 4, ran: 3, refused: 2, lost: 1",
    ]
