"""Modes on a cluster: isolated runs have the machine to themselves, copies of a fill run at once; the report tells both."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from slurm_cluster import Cluster
from stories import SHAKEDOWN

from shakedown.model.layout import Layout
from shakedown.queries.status import look_at_runs

pytestmark = pytest.mark.slurm
NODES = 8
SITE = {
    "site.yaml": "site: emu\n",
    "systems/emu.yaml": """system: emu
clusters:
  {cluster}:
    scheduler: slurm
    patience: {{poll: 1s, grace: 3s}}
    partitions: {{batch: {{nodes: "n[001-008]", type: node}}}}
node_types: {{node: {{cores: 16}}}}
""",
    # each run says when it began and ended, by the clock that all nodes share
    "tests/nap.yaml": """test: nap
parameters: {{n: [1, 2]}}
run:
  nodes: "{{n}}"
  time_limit: 5min
  command: |
    read began rest </proc/uptime
    sleep 8
    read ended rest </proc/uptime
    echo "$SLURM_JOB_NAME $SLURM_JOB_NODELIST $began $ended" >>{{campaign}}/../../times
    echo "rate: 5"
figures: {{rate: {{regex: 'rate: (?P<value>[0-9]+)', better: higher}}}}
""",
    "plans/p.yaml": """plan: p
system: emu
components:
  - performance:
      tests: [nap]
      modes: {{isolated: {{repeats: 1}}, fill: {{repeats: 1}}}}
""",
}
Interval = tuple[float, float]


def test_isolated_is_alone_and_fill_is_together(plain_cluster: Cluster, tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name, text in SITE.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text.format(cluster=plain_cluster.name))
    done = shakedown(site, "run", "p", "-q")
    assert done.returncode == 0, done.stdout + done.stderr

    rows = list(look_at_runs(Layout(site / "campaigns/p-1")).current())
    times = intervals(site)
    keys = {(row.mode, row.case) for row in rows}
    by_mode = {key: [row for row in rows if (row.mode, row.case) == key] for key in keys}
    assert {key: len(found) for key, found in sorted(by_mode.items())} == {
        ("fill", "nap/n=1"): NODES,
        ("fill", "nap/n=2"): NODES // 2,
        ("isolated", "nap/n=1"): 1,
        ("isolated", "nap/n=2"): 1,
    }
    assert {row.verdict for row in rows} == {"passed"}
    for (mode, case), found in by_mode.items():
        own = [times[row.job] for row in found]
        others = [times[row.job] for row in rows if (row.mode, row.case) != (mode, case)]
        assert all(apart(one, other) for one in own for other in others), f"{mode} {case} ran beside something else"
        last_began, first_ended = max(began for began, _ in own), min(ended for _, ended in own)
        assert last_began < first_ended, f"{mode} {case}: its copies were not all there at once: {own}"

    done = shakedown(site, "report", "p-1", "--no-pdf")
    assert done.returncode == 0, done.stderr
    page = (site / "campaigns/p-1/report.html").read_text()
    assert "isolated" in page and "fill" in page
    assert shakedown(site, "log", "p-1", "--verify").returncode == 0


def shakedown(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*SHAKEDOWN, *words], cwd=site, capture_output=True, text=True, timeout=240)


def intervals(site: Path) -> dict[str, Interval]:
    """When each job's payload ran, as it said itself."""
    lines = [line.split() for line in (site / "times").read_text().splitlines()]
    return {name.rpartition("-")[2]: (float(began), float(ended)) for name, _, began, ended in lines}


def apart(one: Interval, other: Interval) -> bool:
    return one[1] <= other[0] or other[1] <= one[0]
