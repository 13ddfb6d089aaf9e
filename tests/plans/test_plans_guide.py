"""The guide's files are a site that works, and its errors are the ones people get."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from shakedown.plans.checking import check_site
from shakedown.plans.schema.plan import PLAN
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.yaml_nodes import read_nodes

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "write-a-test.md").read_text()
FILES = dict(re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)```", GUIDE, flags=re.MULTILINE | re.DOTALL))


@pytest.fixture
def guided(site: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name, text in FILES.items():
        site.write(name, text)
    monkeypatch.chdir(site.path)
    return site


def test_the_guide_writes_a_site_that_works(guided: Any, here: Any) -> None:
    assert set(FILES) == {"tests/pi/pi.c", "tests/pi.yaml", "plans/pi.yaml"}
    assert check_site(guided.path, lambda: here).problems == ()
    assert [case.id for case in guided.cases()] == ["pi/threads=1", "pi/threads=4"]


def test_the_errors_are_those_of_the_guide(guided: Any, here: Any) -> None:
    (wrong,) = re.findall(r"```yaml\n(# wrong\n.*?)```", GUIDE, flags=re.DOTALL)
    (told,) = re.findall(r"```\n\$ shakedown check\n(.*?)```", GUIDE, flags=re.DOTALL)
    guided.write("tests/pi.yaml", wrong)
    assert "".join(f"{problem}\n" for problem in check_site(guided.path, lambda: here).problems) == told


@pytest.mark.parametrize("page", ["components"])
def test_plans_in_guides_are_read_without_a_fault(page: str) -> None:
    """They are of systems and tests that are not shown: their keys and values are held against the tables."""
    text = (Path(__file__).parents[2] / "docs" / "guides" / f"{page}.md").read_text()
    plans = re.findall(r"```yaml\n(plan: .*?)```", text, flags=re.DOTALL)
    assert len(plans) == 3
    for plan in plans:
        problems = Problems()
        root = read_nodes(plan.encode(), page, problems)
        assert root is not None
        PLAN.read(root, "", problems)
        assert [str(problem) for problem in problems.found] == []
