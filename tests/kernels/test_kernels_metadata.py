"""What ``metadata`` reports: each operation in each layout and repeat, with content and counts verified, and nothing left."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import RunKernel

pytestmark = pytest.mark.mpi

OPERATIONS = ["create", "stat", "read", "remove"]


def test_each_operation_has_its_rate_in_both_layouts(run_kernel: RunKernel, tmp_path: Path) -> None:
    options = ["--files", "70", "--bytes", "100", "--repeats", "2", "--shift", "1"]
    outcome = run_kernel("metadata", "--directory", tmp_path, *options, ranks=3)
    assert outcome.status == 0, outcome.errors
    modes = ("in own directories", "in one directory")
    measured = [(r["mode"], r["operation"], r["unit"], r["complete"]) for r in outcome.kind("io")]
    assert measured == [(mode, op, "ops/s", True) for mode in modes for op in OPERATIONS] * 2
    for layout, mode in zip(("own", "shared"), modes, strict=True):
        for op in OPERATIONS:
            values = [r["value"] for r in outcome.kind("io") if (r["mode"], r["operation"]) == (mode, op)]
            result = outcome.result[layout]
            assert result[f"{op}_per_s"] == pytest.approx(sum(values) / 2)
            assert (result[f"least_{op}_per_s"], result[f"most_{op}_per_s"]) == (min(values), max(values))
    assert list(tmp_path.iterdir()) == []


def test_only_the_layout_that_is_asked_for(run_kernel: RunKernel, tmp_path: Path) -> None:
    outcome = run_kernel("metadata", "--directory", tmp_path, "--layouts", "shared", "--files", "3", "--repeats", "1")
    assert set(outcome.result) == {"record", "shared", "timed", "complete"}


def test_a_directory_that_is_not_there(run_kernel: RunKernel, tmp_path: Path) -> None:
    outcome = run_kernel("metadata", "--directory", tmp_path / "missing", ranks=2)
    assert outcome.status == 2
    assert outcome.sentences == [
        f"error: metadata: option '--directory': cannot make a directory in {tmp_path}/missing: No such file or directory; "
        "name a directory that exists and that you may write to"
    ]
