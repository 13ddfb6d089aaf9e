"""A room for writing site directories: files in, a path out; and a machine that is the same wherever the tests run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shakedown.model.nouns import Case, Cluster, Document, NodeType, Partition, System, Toolchain
from shakedown.plans import finding, list_cases, read_plan

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

    def cases(self, system: str = "here") -> tuple[Case, ...]:
        return list_cases(self.path, system, lambda: HERE).cases

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


CLUSTER = """\
system: c5
about: a cluster
clusters:
  c5:
    scheduler: slurm
    partitions:
      batch: {nodes: "c5n[0001-1920]", type: rome}
node_types:
  rome: {sockets: 2, cores: 128, threads_per_core: 1, numa: 8, memory: 256 GiB, peak: 5.3 TFLOP/s, cpu: zen2, cache: 512 MiB}
network: {kind: dragonfly, nics: 2, injection: 12.5 GB/s}
filesystems:
  f2: {kind: lustre, path: "/lustre/f2/{mdt}/acceptance", targets: {mdt: [mdt0, mdt1]}}
toolchains:
  intel-classic: {modules: [PrgEnv-intel, intel-classic/2022.2.1], cc: cc, cxx: CC, fc: ftn, environment: {A: b}}
  intel-oneapi: {modules: [PrgEnv-intel, intel-oneapi/2022.2.1], cc: cc, fc: ftn}
budgets: {f2/mdt: 8, f2/bandwidth: 40 GB/s}
found: {kernel: "6.10", os: SLES}
"""


@pytest.fixture
def cluster() -> str:
    return CLUSTER
