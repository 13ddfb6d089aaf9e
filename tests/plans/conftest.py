"""A room for writing site directories: files in, a path out; and a machine that is the same wherever the tests run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shakedown.model.nouns import Case, Cluster, Document, NodeType, Partition, System, Toolchain
from shakedown.plans import Listing, finding, list_cases, read_plan

EXAMPLE = Path(__file__).parent / "example"
HERE = System(
    name="here",
    clusters=(Cluster("local", "local", (Partition("all", "local", "localhost", 1, "host"),)),),
    node_types=(NodeType("host", sockets=1, cores=4, threads_per_core=2, numa=1, memory_bytes=16.0 * 2**30),),
    about="a machine made for tests",
    toolchains=(Toolchain("gcc", cc="sh", cxx="sh", fc="no-such-fortran", environment=(("MPICH_CC", "sh"),)),),
)


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No catalogue, no cache of the person who runs the tests, and a current directory of their own."""
    monkeypatch.setattr(finding, "CATALOGUE_TESTS", str(tmp_path / "no catalogue"))
    monkeypatch.setattr(finding, "CATALOGUE_SYSTEMS", str(tmp_path / "no catalogue"))
    monkeypatch.setattr(finding, "CATALOGUE_PLANS", str(tmp_path / "no catalogue"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def here() -> System:
    return HERE


class SiteRoom:
    """A site directory under test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.write("site.yaml", "site: test-site\n")

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def test(self, text: str, name: str = "tests/a.yaml") -> SiteRoom:
        self.write(name, text)
        return self

    def listing(self, system: str = "here") -> Listing:
        return list_cases(self.path, system, lambda: HERE)

    def cases(self, system: str = "here") -> tuple[Case, ...]:
        return self.listing(system).cases

    def case(self, system: str = "here") -> Case:
        (case,) = self.cases(system)
        return case

    def plan(self, text: str, **changes: Any) -> Document:
        self.write("plans/p.yaml", text)
        return read_plan(self.path, "p", lambda: HERE, **changes)


@pytest.fixture
def site(tmp_path: Path) -> SiteRoom:
    return SiteRoom(tmp_path / "site")


@pytest.fixture
def new_site(tmp_path: Path) -> Callable[[str], SiteRoom]:
    return lambda name: SiteRoom(tmp_path / name)


@pytest.fixture
def cluster() -> str:
    return (EXAMPLE / "systems/c5.yaml").read_text()


class ExampleRoom(SiteRoom):
    """A copy of the site in ``example/``, which has every key of every file."""

    def __init__(self, path: Path) -> None:
        shutil.copytree(EXAMPLE, path)
        self.path = path

    def read(self, plan: str = "c5-phase2") -> Document:
        return read_plan(self.path, plan, lambda: HERE)


@pytest.fixture
def example(tmp_path: Path) -> ExampleRoom:
    return ExampleRoom(tmp_path / "example")
