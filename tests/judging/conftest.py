"""The example ``examples/c5`` run for real on this machine, ten times faster than it stands there, once a session."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from c5_in_virtual_time import C5, PATIENCE_S, command
from once import made_once
from stories import SHAKEDOWN

FASTER = {
    "tests/noaa.yaml": (("TIME_SCALE: 4000", "TIME_SCALE: 40000"),),
    "plans/c5-phase2.yaml": (("duration: 45s", "duration: 15s"), ("overlap: 50%", "overlap: 1%")),
}
ATTESTED = (("vendor", "diagnostics"), ("vendor", "applications"), ("functionality", "administration"))


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site directory with its campaign c5-phase2-1, run to its end as README.md says."""
    return made_once(tmp_path_factory, "example-run", lambda place: _run(place / "c5")) / "c5"


def _run(site: Path) -> None:
    shutil.copytree(C5, site, ignore=shutil.ignore_patterns("campaigns", "register.jsonl"))
    for name, changes in FASTER.items():
        text = (site / name).read_text()
        for before, after in changes:
            assert before in text, f"{name} no longer holds '{before}'"
            text = text.replace(before, after)
        (site / name).write_text(text)
    (site / "diagnostics.log").write_text("every node: ok\n")
    environment = os.environ | {"XDG_CACHE_HOME": str(site.parent / "cache")}
    driver = subprocess.Popen(
        [*SHAKEDOWN, "run", "c5-phase2"],
        cwd=site,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _attest(site, driver)
        said, trouble = driver.communicate(timeout=PATIENCE_S)
    finally:
        driver.kill()
    assert driver.returncode == 0, said + trouble


def _attest(site: Path, driver: subprocess.Popen[str]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not list((site / "campaigns/c5-phase2-1").glob("log/*")):
        assert driver.poll() is None and time.monotonic() < until, "the campaign never began"
        time.sleep(0.1)
    for component, procedure in ATTESTED:
        words = ("--met", "--by", "Ada Example", "--because", "seen", "--evidence", "diagnostics.log")
        done = command("attest", "c5-phase2-1", component, procedure, *words, cwd=site)
        assert done.returncode == 0, done.stderr
