"""System calls that fail and conductors that are killed: every run is judged as it ended, by the word of its own payload.

A sample of each; ``benchmarks/injected_errors.py`` runs hundreds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from crash_injected_errors import SIBLINGS, STALE, TESTS, trial, wish
from stories import MakeSite

SOURCE = Path(__file__).parent.parent / "support/injector.c"
ERRORS = int(os.environ.get("INJECTED_ERRORS", "20"))
KILLS = int(os.environ.get("INJECTED_KILLS", "10"))
FIRST = int(os.environ.get("INJECTED_FIRST", "0"))  # of the seeds


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes calls fail, compiled once."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("errors are injected by a small C library, and there is no compiler here")
    built = tmp_path_factory.mktemp("injector") / "injector.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", str(built), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return built


@pytest.mark.parametrize("seed", range(FIRST, FIRST + ERRORS))
def test_after_an_error_every_run_is_judged_as_it_ended(make_site: MakeSite, library: Path, seed: int) -> None:
    assert trial(make_site(TESTS), library, wish(seed)) == [], wish(seed)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + ERRORS // 4))
def test_after_a_stale_handle_every_run_is_judged_as_it_ended(make_site: MakeSite, library: Path, seed: int) -> None:
    assert trial(make_site(TESTS), library, wish(seed, STALE)) == [], wish(seed, STALE)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + ERRORS // 2))
def test_after_a_sibling_of_an_error_every_run_is_judged_as_it_ended(
    make_site: MakeSite, library: Path, seed: int
) -> None:
    site = make_site(TESTS)
    assert trial(site, library, wish(seed, SIBLINGS), under=site) == [], wish(seed, SIBLINGS)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + KILLS // 5))
def test_after_five_kills_every_run_is_judged_as_it_ended(make_site: MakeSite, seed: int) -> None:
    assert trial(make_site(TESTS), None, seed, kills=5) == []
