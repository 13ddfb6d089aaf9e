"""Misuse is tried without the catalogue, without a cache, and on a machine that is the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shakedown.model.nouns import Cluster, NodeType, Partition, System, Toolchain
from shakedown.plans import finding
from shakedown.plans.checking import check_site

HERE = System(
    name="here",
    clusters=(Cluster("local", "local", (Partition("all", "local", "localhost", 1, "host"),)),),
    node_types=(NodeType("host", cores=4, memory_bytes=16.0 * 2**30),),
    toolchains=(Toolchain("gcc", cc="sh"),),
)


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "CATALOGUE_TESTS", str(tmp_path / "no catalogue"))
    monkeypatch.setattr(finding, "CATALOGUE_SYSTEMS", str(tmp_path / "no catalogue"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def here() -> System:
    return HERE


@pytest.fixture
def told(tmp_path: Path, here: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What ``check`` says of a site with these files."""

    def check(files: dict[str, str | bytes]) -> str:
        site = tmp_path / "site"
        for name, text in {"site.yaml": "site: s\n", **files}.items():
            path = site / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        monkeypatch.chdir(site)
        return "\n".join(map(str, check_site(site, lambda: here).problems))

    return check
