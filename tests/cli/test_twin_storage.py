"""``shakedown twin memory``, ``checkpoint`` and ``archive`` as people type them."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from shakedown.cli.main import main


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def twin(*words: str) -> Done:
    """The command as from a shell, without the time that a process takes to start."""
    out, err = io.StringIO(), io.StringIO()
    typed = patch.object(sys, "argv", ["shakedown", "twin", *words])
    with typed, patch.dict("os.environ", COLUMNS="80"), redirect_stdout(out), redirect_stderr(err):  # noqa: SIM117
        with pytest.raises(SystemExit) as ended:
            main()
    return Done(int(ended.value.code or 0), out.getvalue(), err.getvalue())


def data(*words: str) -> Any:
    done = twin(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "words",
    [
        ("memory",),
        ("memory", "--example"),
        ("memory", "--application", "60 GB", "--pattern", "full", "--mailboxes"),
        ("checkpoint",),
        ("checkpoint", "--example"),
        ("checkpoint", "--mtbf", "30m", "--streams", "3456"),
        ("archive",),
        ("archive", "--example", "transfer-1"),
        ("archive", "--stage", "tape = 16 x 30-70 MB/s", "--size", "1 TB"),
    ],
)
def test_each_prints_what_it_models_within_eighty_columns(words: tuple[str, ...]) -> None:
    done = twin(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert "model" in done.stdout
    assert [line for line in done.stdout.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("name", ["memory", "checkpoint", "archive"])
def test_help_fits_into_eighty_columns_of_the_models(name: str) -> None:
    done = twin(name, "--help")
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("name", ["memory", "checkpoint", "archive"])
@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_each_writes_its_figure_twice_the_same(name: str, suffix: str, tmp_path: Path) -> None:
    begins = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[suffix]
    files = [tmp_path / f"{place}.{suffix}" for place in ("one", "two")]
    for file in files:
        done = twin(name, "--figure", str(file))
        assert done.returncode == 0, done.stderr
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes().startswith(begins)


def test_memory_says_that_the_job_does_not_fit_and_what_would() -> None:
    done = twin("memory", "--application", "20 GB")
    assert "OUT OF MEMORY" in done.stdout and "With Reduce + Scatter instead it fits." in done.stdout
    found = data("memory", "--application", "20 GB")
    assert found["asked"]["fits"] is False and found["asked"]["ranks"] == 524288
    assert data("memory", "--application", "20 GB", "--nodes", "4096")["asked"]["fits"] is True


def test_checkpoint_says_which_mean_time_is_assumed_and_when_the_drain_is_late() -> None:
    assert "Assumed:\n- a mean time between failures of 24 h" in twin("checkpoint").stdout
    late = data("checkpoint", "--bandwidth", "21 GB/s", "--burst-bandwidth", "350 GB/s", "--drain", "1 GB/s")
    assert late["advice"][1]["drain_fits"] is False and late["advice"][1]["take"]["rule"] == "drain"
    assert late["does_not_add_up"] == [], "another machine than the paper's"
    assert len(data("checkpoint", "--no-burst")["advice"]) == 1


def test_streams_give_the_write_rate() -> None:
    found = data("checkpoint", "--streams", "3456", "--node-type", "knl", "--no-burst")
    assert found["advice"][0]["storage"]["write_bytes_per_s"] == pytest.approx(738 * 2**30)


def test_restart_is_added_to_reading() -> None:
    found = data("checkpoint", "--size", "1 TB", "--bandwidth", "1 GB/s", "--restart", "5m", "--no-burst")
    assert found["advice"][0]["restart_s"] == 1300


def test_archive_with_stages_of_ones_own() -> None:
    found = data(
        "archive", "--stage", "disk = 8 x 100 MB/s", "--stage", "link = 4 Gb/s", "--use", "disk=3", "--size", "30 GB"
    )
    assert (found["limit_low"], found["low_bytes_per_s"], found["least_s"]) == ("disk", 3e8, 100.0)
    assert found["widened"][0] == {
        "members": {"disk": 5}, "then_limits": "link", "low_bytes_per_s": 5e8, "high_bytes_per_s": 5e8
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("memory", "--nodes", "0"), "no job that the laws know"),
        (("memory", "--nodes", "-3"), "no job that the laws know"),
        (("memory", "--ranks-per-node", "9" * 30), "no job that the laws know"),
        (("memory", "--connections", "-1"), "a rank opens none or more"),
        (("memory", "--application", "nan GB"), "nan"),
        (("memory", "--application", "20 GB/s"), "GB/s"),
        (("memory", "--node-memory", "96"), "needs a unit"),
        (("memory", "--element", "0 B"), "more than nothing"),
        (("memory", "--figure", "here.gif"), "no figure is written as '.gif'"),
        (("checkpoint", "--mtbf", "24"), "write it with its units"),
        (("checkpoint", "--mtbf", "0h"), "more than nothing"),
        (("checkpoint", "--size", "0 TB"), "more than nothing"),
        (("checkpoint", "--streams", "0"), "write with at least one"),
        (("checkpoint", "--streams", "5", "--bandwidth", "1 GB/s"), "give one of them"),
        (("archive", "--stage", "tape"), "no name or no members"),
        (("archive", "--stage", "tape = 4 x 30 MB"), "tape"),
        (("archive", "--use", "tape"), "--use tape=4"),
        (("archive", "--use", "disk=4"), "there are: RAID"),
        (("archive", "--stage", "a = 1 MB/s", "--example", "before"), "give one of them"),
        (("memry",), "did you mean 'memory'?"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(words: tuple[str, ...], said: str) -> None:
    done = twin(*words)
    assert (done.returncode, done.stdout) == (2, ""), done.stdout + done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr
