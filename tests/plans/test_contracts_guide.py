"""The guide on contracts: its contract is read, and what it shows is what the command shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from shakedown import machine
from shakedown.cli.main import cli

GUIDE = (Path(__file__).parents[2] / "docs/guides/contracts.md").read_text()
MODEL = """\
test: model
parameters: {threads: [1, 2, 4]}
run: {command: x}
figures: {rate: {json: rate, unit: GB/s, better: higher}}
"""
MEMORY = "test: memory\nrun: {command: x}\nfigures: {triad: {json: triad, unit: GB/s}}\n"


def test_the_guide_shows_what_the_command_shows(site: Any, here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "this_system", lambda: here)
    blocks = re.findall(r"```(\w*)\n(.*?)```", GUIDE, flags=re.DOTALL)
    contract = next(text for kind, text in blocks if kind == "yaml")
    shown = next(text for kind, text in blocks if "on system here" in text)
    site.test(MODEL).test(MEMORY, "tests/memory.yaml").write("contracts/phase2.yaml", contract)
    site.write(
        "plans/phase2.yaml", "plan: phase2\nsystem: here\ncontract: phase2\ncomponents: [{site: {tests: [model]}}]\n"
    )
    monkeypatch.chdir(site.path)

    result = CliRunner().invoke(cli, ["show", "contract", "phase2"], standalone_mode=False)

    assert result.exception is None
    assert result.output == shown
