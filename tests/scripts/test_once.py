"""What is made once for all workers: by the first that needs it, and anew where that failed."""

from __future__ import annotations

from pathlib import Path

import pytest
from once import made_once


class Factory:
    """As pytest's own, of a worker beside others."""

    def __init__(self, base: Path) -> None:
        self.base = base

    def getbasetemp(self) -> Path:
        self.base.mkdir(exist_ok=True)
        return self.base


def test_the_second_worker_uses_what_the_first_one_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    times: list[Path] = []

    def make(place: Path) -> None:
        times.append(place)
        (place / "made").touch()

    places = [made_once(Factory(tmp_path / worker), "it", make) for worker in ("gw0", "gw1")]  # type: ignore[arg-type]
    assert len(times) == 1 and len(set(places)) == 1 and (places[0] / "made").exists()
    assert made_once(Factory(tmp_path / "gw1"), "another", make) != places[0]  # type: ignore[arg-type]


def test_what_could_not_be_made_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)

    def fail(place: Path) -> None:
        (place / "half").touch()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        made_once(Factory(tmp_path), "it", fail)  # type: ignore[arg-type]
    assert list(made_once(Factory(tmp_path), "it", lambda place: None).iterdir()) == []  # type: ignore[arg-type]
