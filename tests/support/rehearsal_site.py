"""A site directory whose plan is rehearsed, and the commands on it, as people type them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import warm_commands

PATIENCE_S = 240.0
FILES = {
    "site.yaml": "site: toy\n",
    "systems/toy.yaml": """system: toy
clusters:
  toy: {scheduler: slurm, partitions: {batch: {nodes: "t[01-16]", type: node}}}
node_types:
  node: {cores: 8, memory: 64 GiB}
filesystems:
  f2: {kind: lustre, targets: {mdt: [mdt0, mdt1]}, path: "/lustre/f2/{mdt}/work"}
budgets: {f2/mdt: 4 per target}
""",
    "systems/larger.yaml": """system: larger
clusters:
  larger: {scheduler: slurm, partitions: {batch: {nodes: "t[01-32]", type: node}}}
node_types:
  node: {cores: 8, memory: 64 GiB}
filesystems:
  f2: {kind: lustre, targets: {mdt: [mdt0, mdt1]}, path: "/lustre/f2/{mdt}/work"}
budgets: {f2/mdt: 4 per target}
""",
    "tests/model.yaml": """test: model
build: {source: ".", run: "touch was-built"}
run: {nodes: 2, time_limit: 1h, command: "touch was-run"}
loads: {f2/mdt: 1}
check: [exit is 0]
figures:
  speed: {regex: 'speed = (?P<value>[0-9.]+)', unit: years/day, better: higher}
""",
    "plans/steady.yaml": """plan: steady
system: toy
seed: 7
components:
  - vendor:
      procedures: [{name: diagnostics, who: vendor, evidence: 2}]
  - stability:
      after: [vendor]
      gate: met
      tests: [model]
      duration: 12h
      criteria:
        correct: {measure: correct / completed, must: "= 100%"}
""",
    "plans/gated.yaml": """plan: gated
system: toy
components:
  - functionality:
      tests: [model]
      criteria:
        quick: {measure: value, of: elapsed, must: "<= 1 s"}
  - performance:
      after: [functionality]
      gate: met
      tests: [model]
""",
    "rehearsals/busy.yaml": """rehearsal: busy
times:
  tests:
    model: {mean: 20min, spread: 30 s}
""",
}


def make_site(root: Path) -> Path:
    """Purpose: the site's files below a directory."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def command(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Purpose: a command as a person runs it there."""
    settings = os.environ | {"XDG_CACHE_HOME": str(cwd.parent / "cache"), "COLUMNS": "80"} | environment
    return warm_commands.run(
        words, cwd=cwd, env=settings, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
