"""The example of a score, run for real to its end: the score is what its definition makes of the record."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"
TFLOP = {"matrix": 2 * 512**3, "stencil": 5 * 40 * 1022**2, "vectors": 2 * 40 * 2**20}


def test_the_example_of_ssp_settles_on_what_the_log_gives(tmp_path: Path) -> None:
    site = tmp_path / "ssp"
    shutil.copytree(EXAMPLES / "ssp", site, ignore=shutil.ignore_patterns("campaigns", "register.jsonl"))
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}

    ran = subprocess.run(
        [sys.executable, "-m", "shakedown", "run", "ssp"],
        cwd=site, env=environment, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip

    assert ran.returncode == 0, (ran.stdout[-2000:], ran.stderr[-2000:])
    rates = {name: flop / 1e12 / seconds for name, (flop, seconds) in first_runs(site / "campaigns/ssp-1/log").items()}
    assert set(rates) == set(TFLOP)
    score = math.prod(rates.values()) ** (1 / len(rates))
    assert f"score ssp (ssp): {score:.7g} TFLOP/s" in " ".join(ran.stdout.split())


def first_runs(log: Path) -> dict[str, tuple[float, float]]:
    """Of each application its operations, and the seconds of its first repeat, read from the log itself."""
    events: list[dict[str, Any]] = [json.loads(line) for file in sorted(log.glob("*.jsonl")) for line in file.open()]
    found: dict[str, tuple[float, float]] = {}
    for event in events:
        if event.get("event") == "verdict" and event["value"]["repeat"] == 1:
            name = event["case"].partition("=")[2]
            found[name] = (TFLOP[name], event["value"]["figures"]["solve"])
    return found
