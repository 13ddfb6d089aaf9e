"""The first minute with Shakedown: ``init`` writes a site, and the command it names works right away."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from shakedown.machine import this_system
from shakedown.machine.lstopo import system_from_lstopo
from shakedown.machine.site import site_files, write_site
from shakedown.machine.writing import system_yaml
from shakedown.model.nouns import System
from shakedown.plans import read_plan, read_site, read_system


def shakedown(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command as a person types it."""
    program = [sys.executable, "-c", "from shakedown.cli.main import main; main()", *words]
    return subprocess.run(program, cwd=cwd, capture_output=True, text=True, check=False, timeout=60)


def rounded(system: System) -> tuple[object, ...]:
    """What of a system survives being written for people: sizes to a tenth of a unit."""
    kinds = [(k.name, k.sockets, k.cores, k.threads_per_core, k.numa, k.cpu) for k in system.node_types]
    return (system.name, system.about, system.clusters, kinds, system.toolchains, system.found)


def test_what_init_writes_is_without_a_fault(tmp_path: Path) -> None:
    write_site(tmp_path, site_files("acme", replace(this_system(), name="lab")))
    site = read_site(tmp_path)
    assert site.found_problems() == []
    assert site.name == "acme"
    document = read_plan(tmp_path, "first", this_system)
    assert [case.id for case in document.cases] == ["hello-world/greeting=hello", "hello-world/greeting=goodbye"]
    assert document.system.name == "here"


def test_a_system_is_read_back_as_it_was_found(tmp_path: Path) -> None:
    found = replace(this_system(), name="lab")
    (tmp_path / "lab.yaml").write_text(system_yaml(found))
    read = read_system(tmp_path / "lab.yaml")
    assert rounded(read) == rounded(found)
    assert read.node_types[0].memory_bytes == pytest.approx(found.node_types[0].memory_bytes, rel=0.05)


@pytest.mark.parametrize("name", ["vm.xml", "epyc.xml", "two-sockets-hwloc-1.xml"])
def test_a_described_system_is_read_back_as_it_was_described(tmp_path: Path, lstopo: Path, name: str) -> None:
    described = system_from_lstopo(lstopo / name, "described")
    (tmp_path / "described.yaml").write_text(system_yaml(described))
    assert rounded(read_system(tmp_path / "described.yaml")) == rounded(described)


def test_odd_words_of_a_machine_are_read_back_too(tmp_path: Path) -> None:
    odd = System(
        "odd", this_system().clusters, this_system().node_types, about="#1: 'best' {of} \"all\"", found=(("os", "no"),)
    )
    (tmp_path / "odd.yaml").write_text(system_yaml(odd))
    assert rounded(read_system(tmp_path / "odd.yaml")) == rounded(odd)


def test_init_and_the_next_command(tmp_path: Path) -> None:
    written = shakedown("init", "acme", "--json", cwd=tmp_path)
    assert written.returncode == 0, written.stderr
    following = json.loads(written.stdout)["next"]
    assert following == ["shakedown", "run", "first", "--site", "acme"]
    done = shakedown(*following[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "accepted" in done.stdout + done.stderr
    assert (tmp_path / "acme" / "campaigns").is_dir()
