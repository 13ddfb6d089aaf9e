"""The guide to a scheduler, followed word for word: check knows it, a campaign runs on it, and the report says how it came out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from guide_packages import ROOT, blocks, install

PAGE, EXAMPLE = "guides/add-a-scheduler.md", ROOT / "examples/scheduler"
FILES = {
    "site.yaml": "site: s\n",
    "tests/twice.yaml": "test: twice\nrun: {command: 'echo right', time_limit: 60s}\ncheck: [output contains \"right\"]\n",
    "plans/p.yaml": "plan: p\nsystem: box\ncomponents: [{functionality: {tests: [twice], repeats: 2}}]\n",
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    home = tmp_path / "site"
    for name, text in {**FILES, "systems/box.yaml": blocks(PAGE)["systems/box.yaml"]}.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    return home


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The page's package, beside what the page takes for a site's own scheduler."""
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "spool.py").write_text((EXAMPLE / "spool.py").read_text())
    return install(PAGE, folder)


def shakedown(*words: str, site: Path, package: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(package or ""), "SPOOL": str(site / "spool"), "COLUMNS": "200"}
    command = [sys.executable, "-m", "shakedown", *words]
    return subprocess.run(command, cwd=site, env=env, capture_output=True, text=True, check=False)


def test_the_page_has_the_example_word_for_word() -> None:
    shown = blocks(PAGE)
    for name in ("spool_port.py", "pyproject.toml"):
        assert shown[name] == (EXAMPLE / name).read_text()


def test_a_campaign_runs_on_it_and_is_reported(site: Path, package: Path) -> None:
    without = shakedown("check", site=site)
    assert without.returncode == 2 and "spool" in without.stderr
    assert shakedown("check", site=site, package=package).returncode == 0
    ran = shakedown("run", "p", "--quiet", site=site, package=package)
    assert ran.returncode == 0, ran.stderr
    told = shakedown("report", "p-1", "--no-pdf", "--json", site=site, package=package)
    card = json.loads(told.stdout)
    assert [item["outcome"] for item in card["components"][0]["criteria"]] == ["met"]
    assert len(json.loads((site / "spool/jobs.json").read_text())) == 2


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("raise OSError('no licence')", "cannot be loaded: OSError: no licence"),
        (
            "from shakedown.model.dialects import Dialect\nSPOOL = Dialect('spool', 'broken', 'spool_port:nothing')",
            "failed in spool_port:nothing: AttributeError",
        ),
        (
            "from shakedown.model.dialects import Dialect\ndef open_it(*all): 1 / 0\n"
            "SPOOL = Dialect('spool', 'broken', 'spool_port:open_it')",
            "failed in spool_port:open_it: ZeroDivisionError",
        ),
    ],
)
def test_a_broken_package_is_told_without_a_traceback(broken: str, said: str, site: Path, package: Path) -> None:
    (package / "spool_port.py").write_text(broken + "\n")
    told = shakedown("run", "p", "--quiet", site=site, package=package)

    assert told.returncode == 2
    assert said in told.stderr and "the package site-spool" in told.stderr and "hint: mend the package" in told.stderr
    assert "Traceback" not in told.stderr
