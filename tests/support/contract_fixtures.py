"""Fixtures for the contract of scheduler ports: the example's package as if it were installed, and benches that are cleared up."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from scheduler_bench import EXAMPLE, Bench

from shakedown.model.dialects import dialects

MakeBench = Callable[[type[Bench]], Bench]
POINTS = "[shakedown.schedulers]\nspool = spool_port:SPOOL\n"


def install_example(folder: Path) -> None:
    """What pip leaves beside a package: its name and its entry points."""
    about = folder / "site_spool-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: site-spool\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS)


@pytest.fixture
def spool_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package of ``examples/scheduler`` is installed for the length of a test; the folder with its entry points."""
    folder = tmp_path / "installed"
    install_example(folder)
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("SPOOL", "")  # so that it is put back afterwards, whatever a bench makes of it
    monkeypatch.setenv("PATH", __import__("os").environ["PATH"])
    dialects.cache_clear()
    monkeypatch.setattr("spool_port.ROOM_S", 0.0)
    yield folder
    dialects.cache_clear()
    for name in ("spool", "spool_port"):
        sys.modules.pop(name, None)


@pytest.fixture
def make_bench(spool_package: Path, tmp_path: Path) -> Iterator[MakeBench]:
    made: list[Bench] = []

    def make(kind: type[Bench]) -> Bench:
        place = tmp_path / f"bench-{len(made) + 1}"
        place.mkdir()
        made.append(kind(place))
        return made[-1]

    yield make
    for bench in made:
        bench.close()
