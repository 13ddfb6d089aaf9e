"""The look at a node's health: each wish is met, not met, or not said; nothing that hangs holds it up."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from shakedown import catalogue

SCRIPT = Path(catalogue.__file__).parent / "tests" / "node-health" / "node-health.sh"


def looks(folder: Path, **wishes: str) -> list[str]:
    """The lines of a look at this machine with these wishes and no others."""
    known = {"PATH": os.environ["PATH"], **{f"HEALTH_{name}": value for name, value in wishes.items()}}
    done = subprocess.run(
        ["/bin/sh", str(SCRIPT)], cwd=folder, env=known, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def programs(folder: Path, monkeypatch: pytest.MonkeyPatch, **texts: str) -> None:
    """Programs that stand before those of the machine."""
    (folder / "bin").mkdir()
    for name, text in texts.items():
        program = folder / "bin" / name.replace("_", "-")
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}/bin:{os.environ['PATH']}")


def test_without_a_wish_nothing_is_bad_and_facts_are_written(tmp_path: Path) -> None:
    *_, last = looks(tmp_path)
    assert last == f"looks: 0, bad: 0, on {os.uname().nodename}"
    facts = dict(line.split(" ", 1) for line in (tmp_path / "health-facts.txt").read_text().splitlines() if " " in line)
    assert facts["kernel"] == f"{os.uname().sysname} {os.uname().release}"
    assert int(facts["processors"]) >= len(os.sched_getaffinity(0))


MEMORY = next(
    int(line.split()[1]) // 1024 for line in Path("/proc/meminfo").read_text().splitlines() if "MemTotal" in line
)
WISHES = [
    ({"PROCESSORS": "1"}, "ok processors: "),
    ({"PROCESSORS": "99999"}, ", and at least 99999 is wanted"),
    ({"MEMORY": str(MEMORY)}, f"ok memory in MiB: {MEMORY}"),
    ({"MEMORY": str(2 * MEMORY)}, f"BAD memory in MiB: {MEMORY}, and at least {2 * MEMORY * 90 // 100} is wanted"),
    ({"MEMORY": str(2 * MEMORY), "MEMORY_SHARE": "50"}, f"ok memory in MiB: {MEMORY}"),
    ({"MOUNTS": "/proc"}, "ok mount /proc: proc"),
    ({"MOUNTS": "/nowhere"}, "BAD mount /nowhere: nothing is mounted there"),
    ({"WRITABLE": "/nowhere"}, "BAD writable /nowhere: no file can be written there"),
    ({"SPACE": "/=0"}, "ok space free on / in %: "),
    ({"SPACE": "/=101"}, "and at least 101 is wanted"),
    ({"SPACE": "/nowhere=5"}, "BAD space free on /nowhere: it does not answer, or is not there"),
    ({"LINKS": "hsn0"}, "BAD link hsn0: there is no such interface, and up is wanted"),
    ({"FABRIC": "mlx5_9:1=400"}, "BAD fabric mlx5_9:1: there is no such port, and ACTIVE is wanted"),
    ({"PROCESSES": "no-such-one"}, "BAD process no-such-one: it does not run"),
    ({"PROCESSES": Path("/proc/self/comm").read_text().strip()}, "ok process "),
    ({"KERNEL": "*"}, f"ok kernel: {os.uname().release}"),
    ({"KERNEL": "1.2.*"}, f"BAD kernel: {os.uname().release}, and 1.2.* is wanted"),
    ({"LOAD": "-1"}, "and at most -1 is wanted"),
    ({"GPUS": "999"}, "BAD GPUs: "),
    (
        {"MOUNT": "/lustre"},
        "BAD wish HEALTH_MOUNT: there is no such wish; there are HEALTH_ and one of PROCESSORS MEMORY ",
    ),
]


@pytest.mark.parametrize(("wish", "words"), WISHES)
def test_a_wish_is_met_or_not(tmp_path: Path, wish: dict[str, str], words: str) -> None:
    look, *_, last = looks(tmp_path, **wish)
    assert words in look
    assert look.startswith("ok " if words.startswith("ok") else "BAD ")
    assert last.startswith(f"looks: 1, bad: {0 if look.startswith('ok') else 1}, on ")


def test_a_file_is_written_and_removed_again(tmp_path: Path) -> None:
    place = tmp_path / "scratch"
    place.mkdir()
    assert looks(tmp_path, WRITABLE=str(place))[0] == f"ok writable {place}: a file was written and removed"
    assert list(place.iterdir()) == []


def test_a_file_system_that_hangs_does_not_hang_the_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs(tmp_path, monkeypatch, ls="exec sleep 600")
    first, second, *_ = looks(tmp_path, MOUNTS="/proc /", PATIENCE="0")
    assert first == "BAD mount /proc: it does not answer within 0 s"
    assert second == "BAD mount /: it does not answer within 0 s"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("echo 'System time     : 0.000412 seconds slow of NTP time'", "ok offset of the clock in ms: 0.412"),
        (
            "echo 'System time     : 0.075 seconds fast of NTP time'",
            "BAD offset of the clock in ms: 75, and at most 5 is wanted",
        ),
        (
            "echo 506 Cannot talk to daemon >&2; exit 1",
            "BAD offset of the clock in ms: it cannot be told, and at most 5 is wanted",
        ),
    ],
)
def test_the_clock_is_as_chrony_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, words: str) -> None:
    programs(tmp_path, monkeypatch, chronyc=said)
    assert looks(tmp_path, CLOCK="5")[0] == words


def test_gpus_are_those_that_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs(tmp_path, monkeypatch, nvidia_smi='for i in 0 1 2; do echo "GPU $i: NVIDIA A100 (UUID: GPU-$i)"; done')
    assert looks(tmp_path, GPUS="4")[0] == "BAD GPUs: 3, and at least 4 is wanted"
