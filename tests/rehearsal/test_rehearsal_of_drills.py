"""A rehearsal does the drills of a plan at their moments; a fault at that time is what they find."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from shakedown.cli.main import cli

FILES = {
    "site.yaml": "site: s\n",
    "systems/toy.yaml": """system: toy
clusters:
  toy: {scheduler: slurm, partitions: {batch: {nodes: "t[01-16]", type: node}, admin: {nodes: a1, type: node}}}
node_types: {node: {cores: 8}}
""",
    "tests/model.yaml": "test: model\nwhere: {partitions: [batch]}\nrun: {nodes: 1, time_limit: 1h, command: x}\n",
    "tests/switch.yaml": "test: switch\nwhere: {partitions: [admin]}\nrun: {nodes: 1, time_limit: 10min, command: x}\n",
    "plans/p.yaml": """plan: p
system: toy
components:
  - stability:
      tests: [model]
      duration: 8h
      drills:
        - {name: pull, at: 2h, who: vendor, evidence: 1, settle: 20min, expect: {lost: 0, hole: 10min, back: 30min}}
        - {name: own, at: 5h, test: switch, settle: 20min, expect: {lost: 0}}
""",
    "rehearsals/busy.yaml": """rehearsal: busy
times: {tests: {model: {mean: 20min, spread: 9min}, switch: {mean: 5min, spread: 1 s}}}
""",
}


def said(site: Path, *words: str) -> Any:
    result = CliRunner().invoke(
        cli, [*words, "--site", str(site), "--json"], standalone_mode=False, catch_exceptions=False
    )
    assert result.exit_code in (0, 1), result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize(("fault", "lost"), [((), "met"), (("--fault", "dead_node=t07@2h1min/3h"), "not met")])
def test_drills_are_done_at_their_moments(tmp_path: Path, fault: tuple[str, ...], lost: str) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    told = said(tmp_path, "rehearse", "p", "--scenario", "busy", *fault)
    text = json.dumps(told)
    criteria = {one["name"]: one["outcome"] for one in _criteria(told) if one["name"].startswith("drill")}
    assert criteria == {
        "drill pull: lost": lost,
        "drill pull: hole": "met",
        "drill pull: back": "met",
        "drill own: lost": "met",
    }, text[:2000]
    (status,) = [said(tmp_path, "status")]
    assert [one["says"].partition(":")[0] for one in status["drills"]] == ["is done", "is done"]


def _criteria(found: Any) -> list[dict[str, Any]]:
    """Every criterion in what a command said, wherever it stands."""
    if isinstance(found, dict):
        own = (
            [found]
            if {"name", "outcome", "measure"} <= found.keys() or {"name", "outcome", "must"} <= found.keys()
            else []
        )
        return own + [one for value in found.values() for one in _criteria(value)]
    return [one for value in found for one in _criteria(value)] if isinstance(found, list) else []
