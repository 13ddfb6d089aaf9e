"""Hooks before a commit call what ``make`` calls, and the wheel takes what it must and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def test_every_hook_calls_a_target_of_make_under_its_own_name() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

    assert [hook["entry"] for hook in hooks] == [f"make {hook['id']}" for hook in hooks]
    assert {hook["id"] for hook in hooks} == {"lint", "types", "arrows"} <= targets
    (checks,) = re.findall(r"^CHECKS = \((.+?)\)", (ROOT / "scripts/run-tests").read_text(), re.MULTILINE)
    assert {hook["id"] for hook in hooks} == set(re.findall(r'"([a-z]+)"', checks)), "and make test calls them all"
