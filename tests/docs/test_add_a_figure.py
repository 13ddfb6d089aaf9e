"""The guide to a figure, followed word for word: the figure stands in the report of a campaign."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from guide_packages import install

FILES = {
    "site.yaml": "site: s\n",
    "tests/once.yaml": "test: once\nrun: {command: 'true', time_limit: 60s}\n",
    "systems/box.yaml": """\
system: box
clusters: {local: {scheduler: local, partitions: {all: {nodes: 1, type: t}}}}
node_types: {t: {cores: 2}}
""",
    "plans/p.yaml": "plan: p\nsystem: box\ncomponents: [{functionality: {tests: [once]}}]\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("site")
    for name, text in FILES.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(text)
    ran = shakedown("run", "p", "--quiet", site=home)
    assert ran.returncode == 0, ran.stderr
    return home


def shakedown(*words: str, site: Path, package: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(package or "")}
    command = [sys.executable, "-m", "shakedown", *words]
    return subprocess.run(command, cwd=site, env=env, capture_output=True, text=True, check=False)


def test_the_figure_stands_in_the_report_where_the_package_is_installed(site: Path, tmp_path: Path) -> None:
    package = install("guides/add-a-figure.md", tmp_path)
    told = shakedown("report", "p-1", "--no-pdf", "--output", str(tmp_path / "with"), site=site, package=package)
    without = shakedown("report", "p-1", "--no-pdf", "--output", str(tmp_path / "without"), site=site)

    assert told.returncode == without.returncode == 0, told.stderr + without.stderr
    pages = {name: (tmp_path / name / "report.html").read_text() for name in ("with", "without")}
    assert "Starts by hour" in pages["with"] and "Starts by hour" not in pages["without"]
    drawn = [path.name for path in (tmp_path / "with").rglob("starts-by-hour.*")]
    assert sorted(drawn) == ["starts-by-hour.pdf", "starts-by-hour.png", "starts-by-hour.svg"]


def test_a_figure_that_fails_is_told_on_the_page(site: Path, tmp_path: Path) -> None:
    package = install("guides/add-a-figure.md", tmp_path)
    file = package / "site_figures.py"
    file.write_text(file.read_text().replace("rows = material", "rows = material.nothing"))
    told = shakedown("report", "p-1", "--no-pdf", "--output", str(tmp_path / "page"), site=site, package=package)

    assert told.returncode == 0, told.stderr
    page = (tmp_path / "page/report.html").read_text()
    assert "figure starts by hour, of a package of the site: AttributeError" in page


def test_an_entry_point_that_is_no_figure_is_told(site: Path, tmp_path: Path) -> None:
    package = install("guides/add-a-figure.md", tmp_path)
    (package / "site_figures.py").write_text("STARTS = 7\n")
    told = shakedown("report", "p-1", "--no-pdf", "--output", str(tmp_path / "page"), site=site, package=package)

    assert told.returncode == 2
    assert "site_figures:STARTS of the package site-figures is no figure of a report" in told.stderr
