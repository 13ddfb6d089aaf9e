"""Files of a run held against a reference beside the test: read whole, with the reference that the plan froze."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.conductor.workers.conftest import Room

from shakedown.model.nouns import Check, Test
from shakedown.model.ports import CheckResult, Evidence
from shakedown.model.references import LARGEST, Curve, Numbers


def judged(room: Room, reference: Path, subject: str = "out.dat", **more: Any) -> Evidence:
    """Evidence of one run of which ``subject`` must equal the reference as it is now. ``scanned``: of the reader's limits."""
    limits = {"scanned": more.pop("scanned")} if "scanned" in more else {}
    sha256 = more.pop("sha256", "") or hashlib.sha256(reference.read_bytes()).hexdigest()
    asked = Numbers(str(reference), sha256, absolute=0.5, **more)
    check = Check("equal-within", subject, msgspec.json.encode(asked).decode(), "equal")
    return room.one(room.order(Test("t", checks=(check,)), b"2.0\n"), **limits)


def put(room: Room, content: bytes) -> None:
    (room.work() / "out.dat").write_bytes(content)


def test_a_file_and_an_output_are_held_against_their_reference(room: Room, tmp_path: Path) -> None:
    reference = tmp_path / "ref.dat"
    reference.write_text("2.25\n")
    put(room, b"2.5\n")
    assert judged(room, reference).checks == (CheckResult("equal", True),)
    put(room, b"3\n")
    [result] = judged(room, reference).checks
    assert (result.held, result.detail[:46]) == (False, "line 1, column 1: 3, where the reference has 2")
    assert judged(room, reference, "output").checks == (CheckResult("equal", True),)
    room.work()
    assert judged(room, reference).checks == (CheckResult("equal", False, "there is no file out.dat"),)


def test_a_reference_that_changed_or_went_away_is_trouble_and_no_fault_of_the_run(room: Room, tmp_path: Path) -> None:
    reference = tmp_path / "ref.dat"
    reference.write_text("2.25\n")
    put(room, b"9\n")
    evidence = judged(room, reference, sha256="0" * 64)
    said = f"the reference {reference} is not the one that was frozen with the plan: it was changed since"
    assert (evidence.checks, evidence.trouble) == ((CheckResult("equal", None, said),), said)
    put(room, b"9\n")
    reference.rename(tmp_path / "away")
    evidence = judged(room, reference, sha256="0" * 64)
    assert evidence.trouble == f"the reference {reference} cannot be read: No such file or directory"
    assert evidence.checks[0].held is None


def test_what_is_larger_than_what_is_read_is_not_compared_in_part(room: Room, tmp_path: Path) -> None:
    reference = tmp_path / "ref.dat"
    reference.write_bytes(b"1\n" * 10)
    put(room, b"1\n" * 4000)
    [result] = judged(room, reference, scanned=4096).checks
    assert (result.held, result.detail) == (None, "file out.dat cannot be compared: its middle was not read")
    put(room, b"\x89HDF" * 4000)
    [result] = judged(room, reference, scanned=4096, format="hdf5").checks
    assert (result.held, result.detail) == (
        None,
        "file out.dat has 15.6 KiB, more than the 4.0 KiB that are compared",
    )


def test_a_run_that_needs_a_missing_library_is_undetermined(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib

    real = importlib.import_module

    def without_h5py(name: str, package: str | None = None) -> Any:
        if name == "h5py":
            raise ModuleNotFoundError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", without_h5py)  # workers are forked from here
    reference = tmp_path / "ref.h5"
    reference.write_bytes(b"")
    put(room, b"")
    evidence = judged(room, reference, format="hdf5")
    said = "Python's h5py is not installed where Shakedown runs: pip install 'shakedown[hdf5]'"
    assert (evidence.checks, evidence.trouble) == ((CheckResult("equal", None, said),), said)


def test_a_library_is_loaded_within_the_memory_that_a_worker_may_take(room: Room, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    reference = tmp_path / "ref.h5"
    with h5py.File(reference, "w") as file:
        file["t"] = [1.0, 2.0]
    put(room, reference.read_bytes())
    assert judged(room, reference, format="hdf5").checks == (CheckResult("equal", True),)


def test_a_curve_is_taken_from_the_output(room: Room, tmp_path: Path) -> None:
    from shakedown.model.figures import Table

    reference = tmp_path / "ref.csv"
    reference.write_text("size,bw\n1,10\n4,40\n")
    sha256 = hashlib.sha256(reference.read_bytes()).hexdigest()
    table = Table(header="^size", column="bw")
    asked = Curve(str(reference), "size", "bw", 0.05, sha256=sha256, table=table, reference_format="csv")
    check = Check("curve", "output", msgspec.json.encode(asked).decode(), "curve")
    order = room.order(Test("t", checks=(check,)), b"hello\nsize bw\n1 10\n2 30\n4 40\n")
    [result] = room.one(order).checks
    assert (result.held, result.detail[:15]) == (False, "bw at size = 2:")
    assert LARGEST == 64 << 20
