"""The cache of listings: the same answer, sooner; and never yesterday's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from shakedown.model.nouns import System, Toolchain
from shakedown.plans import Listing, cache, listing

TEST = 'test: a\nneeds: {programs: [tool]}\nbuild: {source: src, run: make}\nrun: {command: "true"}\n'


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_SETTLED_NS", -(10**12))
    monkeypatch.setattr(cache, "_SETTLED_COARSE_NS", -(10**12))


@pytest.fixture
def built_site(site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    site.test(TEST)
    site.write("tests/src/Makefile", "all:\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return site


def ask(site: Any, here: System) -> Listing:
    return listing.list_cases(site.path, None, lambda: here)


def from_cache(site: Any, here: System, monkeypatch: pytest.MonkeyPatch) -> Listing | None:
    """The listing if the cache has it; reading the files again is forbidden."""

    def refuse(*_: Any) -> Any:
        raise LookupError

    with monkeypatch.context() as patch:
        patch.setattr(listing, "_resolved", refuse)
        try:
            return ask(site, here)
        except LookupError:
            return None


def test_the_second_time_no_file_is_read(built_site: Any, here: System, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ask(built_site, here)
    assert from_cache(built_site, here, monkeypatch) == first


@pytest.mark.parametrize(
    "change",
    [
        lambda site, tmp: site.test(TEST.replace("true", "alse")),
        lambda site, tmp: site.test("test: b\nrun: {command: x}\n", "tests/b.yaml"),
        lambda site, tmp: site.write("tests/src/Makefile", "ALL:\n"),
        lambda site, tmp: site.write("tests/src/new", ""),
        lambda site, tmp: (site.path / "tests/a.yaml").rename(site.path / "tests/c.yaml"),
        lambda site, tmp: install(tmp),
        lambda site, tmp: (site.path / "tests/src/Makefile").unlink(),
    ],
)
def test_whatever_changes_is_noticed(
    built_site: Any, here: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    ask(built_site, here)
    change(built_site, tmp_path)
    assert from_cache(built_site, here, monkeypatch) is None


def install(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "tool").chmod(0o755)


def test_another_machine_is_another_listing(built_site: Any, here: System, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(built_site, here)
    other = replace(here, toolchains=(Toolchain("clang"),))
    assert from_cache(built_site, other, monkeypatch) is None


def test_what_is_found_for_the_report_is_always_fresh(
    built_site: Any, here: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(built_site, here)
    other = replace(here, found=(("kernel", "new"),))
    known = from_cache(built_site, other, monkeypatch)
    assert known is not None
    assert known.system == other


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"shakedown listing 1\n" + b"\0" * 40])
def test_a_damaged_cache_is_made_again(built_site: Any, here: System, tmp_path: Path, damage: bytes) -> None:
    first = ask(built_site, here)
    (kept,) = (tmp_path / "cache/shakedown/listings").iterdir()
    kept.write_bytes(damage)
    assert ask(built_site, here) == first
    assert kept.read_bytes() != damage


def test_a_flipped_bit_is_damage(built_site: Any, here: System, tmp_path: Path) -> None:
    first = ask(built_site, here)
    (kept,) = (tmp_path / "cache/shakedown/listings").iterdir()
    data = bytearray(kept.read_bytes())
    data[-20] ^= 1
    kept.write_bytes(bytes(data))
    assert ask(built_site, here) == first


def test_a_cache_that_cannot_be_written_is_done_without(
    built_site: Any, here: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert [case.id for case in ask(built_site, here).cases] == ["a"]


def test_files_that_may_still_be_changing_are_not_trusted(
    built_site: Any, here: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_SETTLED_NS", 10**12)
    ask(built_site, here)
    assert from_cache(built_site, here, monkeypatch) is None


def test_faults_are_never_cached(built_site: Any, here: System) -> None:
    from shakedown.model.errors import FileProblems

    built_site.test("test: b\nrunn: x\n", "tests/b.yaml")
    for _ in range(2):
        with pytest.raises(FileProblems):
            ask(built_site, here)
