"""The page on parts, followed word for word: a class of failures of a site, and a test of the catalogue in a copy of the source."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from guide_packages import ROOT, blocks

PAGE = "guides/add-a-part.md"
BROKEN = "echo 'OPTFLAP: port 12 lost its carrier for 4 s'; exit 1"
FILES = {
    "site.yaml": "site: s\n",
    "tests/broken.yaml": f'test: broken\nrun: {{command: "{BROKEN}", time_limit: 60s}}\n',
    "systems/box.yaml": """\
system: box
clusters: {local: {scheduler: local, partitions: {all: {nodes: 1, type: t}}}}
node_types: {t: {cores: 2}}
""",
    "plans/p.yaml": "plan: p\nsystem: box\ncomponents: [{functionality: {tests: [broken, clock-step]}}]\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with the page's class of failures; its copy of the source has the page's test in the catalogue."""
    home = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "src", home / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name, text in {**FILES, **blocks(PAGE)}.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(text)
    return home


def shakedown(*words: str, site: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(site / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "shakedown", *words]
    return subprocess.run(command, cwd=site, env=env, capture_output=True, text=True, check=False)


def test_check_a_campaign_and_its_report_know_the_class_and_the_test(site: Path) -> None:
    assert "clock-step" in shakedown("list", "tests", site=site).stdout
    shown = shakedown("failures", "--catalogue", "--class", "optical-link-flap", site=site)
    assert shown.returncode == 0, shown.stderr
    assert re.search(r"^  suspect +vendor$", shown.stdout, re.MULTILINE), shown.stdout
    checked = shakedown("check", site=site)
    assert checked.returncode == 0, checked.stderr

    shakedown("run", "p", "--quiet", site=site)
    assert re.search(r"optical-link-flap", shakedown("failures", site=site).stdout)
    told = shakedown("runs", site=site).stdout
    assert re.search(r"clock-step .*passed", told), told
    shakedown("report", "--no-pdf", "--output", "written", site=site)
    page = (site / "written/report.html").read_text()
    assert "optical-link-flap" in page and "clock-step" in page


def test_the_house_has_a_row_for_each_part_and_every_row_leads_to_a_page(site: Path) -> None:
    """Every part of the page is in the house's table, and every guide that it names is there."""
    house = (ROOT / "docs/concepts/house.md").read_text()
    table = house[house.index("| I want to add |") :].split("\n\n")[0]
    parts = (ROOT / "docs" / PAGE).read_text()
    rows = re.findall(r"^\| (?:a|an) (\w+).*\| \[.+\]\((.+)\) \|$", parts[parts.index("| part |") :], re.MULTILINE)
    assert {part for part, _ in rows} >= {
        *("measure", "figure", "check", "scheduler", "event", "command", "kernel", "class", "test")
    }
    for part, target in rows:
        assert re.search(rf"^\| an? {part}\b", table, re.MULTILINE), part
        assert target.startswith("#") or (ROOT / "docs/guides" / target).exists(), target
