"""The page on parts of a site's own, followed word for word: the example is installed by pip, and a campaign uses it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest
from guide_packages import ROOT, all_blocks, blocks

PAGE = "guides/parts-of-your-own.md"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with the files of the page, and its two commands carried out in it; packages come into ``installed``."""
    home = tmp_path_factory.mktemp("site")
    files = {"site.yaml": "site: s\n", **blocks(PAGE)}
    for name, text in files.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(text)
    words = {"shakedown": [sys.executable, "-m", "shakedown"], "pip": [sys.executable, "-m", "pip"]}
    # pip as the page has it, but into a folder of this test and without the network
    env = {"PIP_TARGET": str(home / "installed"), "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    for line in all_blocks(PAGE)[0].splitlines():
        first, *rest = shlex.split(line)
        done = subprocess.run(
            [*words[first], *rest], cwd=home, env={**os.environ, **env}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return home


def shakedown(*words: str, site: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(site / "installed")}
    command = [sys.executable, "-m", "shakedown", *words]
    return subprocess.run(command, cwd=site, env=env, capture_output=True, text=True, check=False)


def test_check_a_campaign_and_its_report_know_all_three_parts(site: Path) -> None:
    checked = shakedown("check", site=site)
    assert checked.returncode == 0, checked.stderr
    assert "may fail" not in checked.stdout + checked.stderr  # its criterion asks for all, and counts them
    ran = shakedown("run", "parts", "--quiet", site=site)
    assert ran.returncode == 0, ran.stderr
    told = shakedown("report", "--no-pdf", "--json", "--output", "written", site=site)

    criteria = json.loads(told.stdout)["components"][0]["criteria"]
    (first,) = [item for item in criteria if item["name"] == "first"]
    assert (first["outcome"], first["count"]) == ("met", 2)
    page = (site / "written/report.html").read_text()
    assert "Starts by hour" in page


def test_the_example_declares_what_the_page_lists_and_is_what_the_guides_say(site: Path) -> None:
    (package,) = [found for found in distributions(path=[str(site / "installed")]) if found.name == "site-parts"]
    page = (ROOT / "docs" / PAGE).read_text()
    groups = set(re.findall(r"`(shakedown\.[a-z]+)` \|", page))
    assert {entry.group for entry in package.entry_points} == groups - {"shakedown.schedulers", "shakedown.scores"}
    for guide, name in (("measure", "site_measures.py"), ("figure", "site_figures.py"), ("check", "site_checks.py")):
        body = blocks(f"guides/add-a-{guide}.md")[name].partition("\n")[2]
        assert (ROOT / "examples/site-parts" / name).read_text() == body
