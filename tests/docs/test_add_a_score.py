"""The page on a kind of score, followed word for word; and the guide to scores, whose plans are read as they stand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from guide_packages import ROOT, blocks

from shakedown.model.scores import KINDS
from shakedown.plans.schema.plan import PLAN
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.yaml_nodes import read_nodes

PLAN_OF_WORST = """\
plan: p
system: box
components: [{functionality: {tests: [speed]}}]
scores:
  low: {kind: worst, must: ">= 50%", parts: {a: {test: speed, figure: rate, reference: 4}}}
"""
FILES = {
    "site.yaml": "site: s\n",
    "tests/speed.yaml": "test: speed\nrun: {command: 'echo rate = 3'}\n"
    "figures: {rate: {regex: 'rate = (?P<value>\\d+)', better: higher}}\n",
    "systems/box.yaml": "system: box\nclusters: {local: {scheduler: local, partitions: {all: {nodes: 1, type: t}}}}\n"
    "node_types: {t: {cores: 2}}\n",
    "plans/p.yaml": PLAN_OF_WORST.replace("50%", "0.5"),
}


def test_a_kind_of_a_package_settles_a_campaign(tmp_path: Path) -> None:
    """3 of a reference of 4 are 0.75."""
    package = tmp_path / "package"
    (package / "worst-1.dist-info").mkdir(parents=True)
    (package / "worst.py").write_text(blocks("guides/add-a-part.md")["worst.py"])
    (package / "worst-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: worst\nVersion: 1\n")
    (package / "worst-1.dist-info/entry_points.txt").write_text("[shakedown.scores]\nworst = worst:WORST\n")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with_it = {**os.environ, "PYTHONPATH": str(package), "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def shakedown(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "shakedown", *words]
        return subprocess.run(command, cwd=tmp_path, env=with_it | more, capture_output=True, text=True, check=False)

    without = shakedown("check", PYTHONPATH="")
    assert without.returncode == 2 and "'worst' is not one of ssp, ci, geometric" in without.stderr
    ran = shakedown("run", "p", "--json")
    assert ran.returncode == 0, ran.stderr
    (score,) = json.loads(ran.stdout.splitlines()[-1] if ran.stdout.lstrip()[0] != "{" else ran.stdout)["scores"]
    assert (score["kind"], score["value"]) == ("worst", 0.75)


@pytest.mark.parametrize("number", range(5))
def test_plans_of_the_guide_are_read_without_a_fault(number: int) -> None:
    texts = re.findall(
        r"```yaml\n(?!# contracts/)(.*?)```", (ROOT / "docs/guides/scores.md").read_text(), flags=re.DOTALL
    )
    assert len(texts) == 5
    head = "" if number == 0 else "plan: p\nsystem: c5\ncomponents: [{performance: {tests: [a]}}]\n"
    problems = Problems()
    root = read_nodes((head + texts[number]).encode(), "guide", problems)
    assert root is not None
    PLAN.read(root, "", problems)
    assert [str(problem) for problem in problems.found] == []


def test_the_guide_has_a_section_on_each_kind() -> None:
    titles = re.findall(r"^## .*`(\w+)`$", (ROOT / "docs/guides/scores.md").read_text(), flags=re.MULTILINE)
    assert titles == [kind.name for kind in KINDS]
