"""The guide to a measure, followed word for word: the declaration is seen by check, by a campaign and by its report."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from guide_packages import ROOT, install

from shakedown.model.measures import MEASURES, Measure
from shakedown.plans.schema import criteria as keys_of_criteria

PLAN = """\
plan: p
system: box
components:
  - functionality:
      tests: [twice]
      criteria:
        first: {measure: first attempts passed, must: ">= 90%"}
        all: {measure: passed / wanted, must: all}
"""
TEST = "test: twice\nrun: {command: 'true', time_limit: 60s}\nparameters: {n: [1, 2, 3]}\n"
SYSTEM = """\
system: box
clusters: {local: {scheduler: local, partitions: {all: {nodes: 1, type: t}}}}
node_types: {t: {cores: 2}}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A site with a plan that names the measure, and the environment of one where the package is installed."""
    home = tmp_path_factory.mktemp("site")
    for name, text in (("site.yaml", "site: s\n"), ("tests/twice.yaml", TEST), ("plans/p.yaml", PLAN)):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(text)
    (home / "systems").mkdir()
    (home / "systems/box.yaml").write_text(SYSTEM)
    package = install("guides/add-a-measure.md", tmp_path_factory.mktemp("package"))
    return home, {**os.environ, "PYTHONPATH": str(package)}


def shakedown(*words: str, site: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "shakedown", *words]
    return subprocess.run(command, cwd=site, env=env, capture_output=True, text=True, check=False)


def test_check_knows_it_where_the_package_is_installed(site: tuple[Path, dict[str, str]]) -> None:
    home, env = site
    with_it, without = shakedown("check", site=home, env=env), shakedown("check", site=home)

    assert with_it.returncode == 0, with_it.stderr
    assert without.returncode == 2 and "first attempts passed" in without.stderr


def test_a_campaign_and_its_report_judge_by_it(site: tuple[Path, dict[str, str]]) -> None:
    home, env = site
    ran = shakedown("run", "p", "--quiet", site=home, env=env)
    assert ran.returncode == 0, ran.stderr
    (campaign,) = [path for path in (home / "campaigns").iterdir() if path.is_dir()]
    told = shakedown("report", campaign.name, "--no-pdf", "--json", site=home, env=env)

    card = json.loads(told.stdout)
    (first,) = [item for item in card["components"][0]["criteria"] if item["name"] == "first"]
    assert (first["outcome"], first["measured"], first["count"]) == ("met", 1.0, 3)
    assert "3 first attempts passed / 3 = 100%" in first["arithmetic"]
    recipes = (campaign / "report/tables/recipes.csv").read_text()
    assert "attempt = 1: those with verdict = passed / all" in recipes


def test_without_the_package_its_criterion_is_undecided_and_says_why(site: tuple[Path, dict[str, str]]) -> None:
    home, _ = site
    (campaign,) = [path for path in (home / "campaigns").iterdir() if path.is_dir()]
    told = shakedown("report", campaign.name, "--no-pdf", "--json", "--output", str(home / "elsewhere"), site=home)

    (first,) = [item for item in json.loads(told.stdout)["components"][0]["criteria"] if item["name"] == "first"]
    assert first["outcome"] == "undecided"
    assert first["reason"] == "this version does not know the measure 'first attempts passed'"


@pytest.mark.parametrize(
    ("declaration", "said"),
    [
        ("NOTHING = 5", "is no measure"),
        (
            "from shakedown.model.measures import MEASURES\nNOTHING = MEASURES[0]",
            "'passed / attempts', which is there already",
        ),
        ("raise RuntimeError('broken on purpose')", "cannot be loaded: RuntimeError: broken on purpose"),
    ],
)
def test_a_wrong_declaration_is_told(
    declaration: str, said: str, site: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    home, env = site
    install("guides/add-a-measure.md", tmp_path)
    (tmp_path / "site_measures.py").write_text(declaration + "\n")
    for points in tmp_path.glob("*.dist-info/entry_points.txt"):
        points.write_text(points.read_text().replace("FIRST_TIME", "NOTHING"))
    told = shakedown("check", site=home, env={**env, "PYTHONPATH": str(tmp_path)})

    assert told.returncode == 2
    assert said in told.stderr and "site-measures" in told.stderr


def test_plans_and_the_reference_name_the_declared_measures_in_their_order() -> None:
    page = (ROOT / "docs/reference/files.md").read_text()
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \|$", page[page.index("| measure | of what |") :], re.MULTILINE)

    ours = [measure for measure in MEASURES if measure.in_plans]
    assert list(keys_of_criteria.MEASURES)[: len(ours)] == [measure.name for measure in ours]
    assert rows == [(measure.name, measure.about) for measure in ours]


def test_the_page_has_every_field_of_a_declaration() -> None:
    rows = (ROOT / "docs/guides/add-a-measure.md").read_text().split("### What a measure declares")[1].split("\n\n")[1]
    named = {word for row in rows.splitlines()[2:] for word in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == set(Measure.__struct_fields__)
