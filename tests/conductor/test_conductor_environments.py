"""What a driver found is kept under its digest: durable before the log names it, and held against that digest when it is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shakedown.conductor.record.environments import keep_named, read_named
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout


def test_it_is_durable_when_its_digest_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a power cut leaves an empty file under a name that the log believes."""
    synced, real = [], os.fsync

    def note(handle: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{handle}"))  # noqa: PTH115 - it names no path of ours
        real(handle)

    monkeypatch.setattr(os, "fsync", note)
    name = keep_named(Layout(tmp_path), b'{"inputs":{}}')
    assert [Path(path).name.partition(".json")[0][:1] for path in synced] == [".", "e"]  # the draft, then the folder
    assert read_named(Layout(tmp_path), name) == {"inputs": {}}


@pytest.mark.parametrize("data", [b"[]", b"nothing", b"\xff", b"[" * 100_000])
def test_what_no_driver_keeps_is_damage_also_under_the_right_name(tmp_path: Path, data: bytes) -> None:
    name = keep_named(Layout(tmp_path), data)
    with pytest.raises(RecordError, match="is none of what a driver keeps"):
        read_named(Layout(tmp_path), name)
