"""A whole campaign on each dialect, whose conductor is killed at named points and resumed: each run is executed once at most."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from contract_fixtures import MakeBench
from crash_points import CRASHING
from scheduler_bench import BENCHES
from stories import SHAKEDOWN

from shakedown.events.reader import read_events
from shakedown.metrics.rows.table import fold_runs

KILLS = ("scheduler.submit:after", "collector.start:before", "scheduler.poll:after")
TEST = """\
test: count
run:
  time_limit: 60s
  command: 'echo "$SHAKEDOWN_RUN" >>{truth}; echo right; exit $(( {{n}} == 3 ? 3 : 0 ))'
parameters: {{n: [1, 2, 3, 4]}}
check: [output contains "right"]
"""
PLAN = "plan: p\nsystem: box\ncomponents: [{functionality: {tests: [count], repeats: 2}}]\n"


@pytest.mark.parametrize("kind", BENCHES)
def test_a_campaign_is_killed_and_resumed(kind: str, make_bench: MakeBench, tmp_path: Path) -> None:
    bench = make_bench(BENCHES[kind])
    site, truth = tmp_path / "site", tmp_path / "truth"
    files = {"site.yaml": "site: s\n", "systems/box.yaml": bench.system_file(), "plans/p.yaml": PLAN}
    for name, text in {**files, "tests/count.yaml": TEST.format(truth=truth)}.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    environment = {**bench.environment(), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    if kind == "spool":  # as pip installs it; the other dialects need no package
        environment["PYTHONPATH"] = f"{tmp_path / 'installed'}:{environment['PYTHONPATH']}"

    def drive(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=site, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    killed = [drive(*CRASHING, KILLS[0], "1", "run", "p", "-q")]
    killed += [drive(*CRASHING, point, "1", "resume", "-q") for point in KILLS[1:]]
    assert killed[0].returncode == killed[1].returncode == -9, [one.stderr for one in killed]
    ended = drive(*SHAKEDOWN, "resume", "-q", "--if-needed")
    assert ended.returncode == 1, ended.stderr + ended.stdout  # n=3 fails, as it must
    told = drive(*SHAKEDOWN, "status")

    begun = Counter(truth.read_text().split())
    assert set(begun.values()) == {1}, begun
    assert "Traceback" not in "".join(one.stderr for one in (*killed, ended, told))
    rows = fold_runs(read_events(site / "campaigns/p-1/log")).current()
    verdicts = Counter((row.case.rpartition("=")[2], row.verdict) for row in rows if row.verdict != "interrupted")
    assert verdicts == {(str(n), "failed" if n == 3 else "passed"): 2 for n in (1, 2, 3, 4)}
