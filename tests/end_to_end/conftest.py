"""Site directories made for a story, and the command itself as a person runs it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import warm_commands
from stories import MakeSite, Shakedown


@pytest.fixture
def shakedown(tmp_path: Path) -> Shakedown:
    """Run a command in a directory; what it printed, as text."""

    def run(*words: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "COLUMNS": "80"}
        return warm_commands.run(
            words,
            cwd=cwd,
            env=environment | options.pop("env", {}),
            capture_output=True,
            text=True,
            timeout=600,  # of what hangs: no test waits for it
            check=False,
            **options,
        )

    return run


@pytest.fixture
def make_site(tmp_path: Path) -> MakeSite:
    """A site directory with the given tests (name -> YAML) and one plan ``p`` of all of them."""

    def make(tests: dict[str, str], component: str = "", plan: str = "", name: str = "site") -> Path:
        site = tmp_path / name
        for folder in ("tests", "plans", "systems", "campaigns"):
            (site / folder).mkdir(parents=True)
        (site / "site.yaml").write_text("site: story\n")
        for test, text in tests.items():
            (site / f"tests/{test}.yaml").write_text(f"test: {test}\n{text}")
        words = component or 'repeats: 1, criteria: {correct: {measure: correct / completed, must: "= 100%"}}'
        (site / "plans/p.yaml").write_text(
            f"plan: p\nsystem: here\ncomponents:\n  - functionality: {{tests: [{', '.join(tests)}], {words}}}\n{plan}"
        )
        return site

    return make
