"""What ``run --dry-run`` says before anything is made: runs, sizes, limits, node-hours, builds, what cannot run."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from shakedown.cli.dry_run import _render
from shakedown.model.nouns import Cluster, NodeType, Partition, System
from shakedown.plans import finding, read_plan
from shakedown.queries import dry_run
from shakedown.queries.dry_run import Planned, planned
from shakedown.queries.past_times import PastTime

HERE = System(
    name="here",
    clusters=(Cluster("local", "local", (Partition("all", "local", "localhost", 1, "host"),)),),
    node_types=(NodeType("host", cores=4, memory_bytes=16.0 * 2**30),),
)
FILES = {
    "site.yaml": "site: s\n",
    "systems/big.yaml": "system: big\nclusters: {one: {scheduler: slurm, partitions: {batch: {nodes: 'n[1-8]', type: t}}}}\n"
    "node_types: {t: {cores: 16}}\ntoolchains: {gcc: {cc: gcc}}\n",
    "tests/wide.yaml": "test: wide\nparameters: {nodes: [2, 4]}\nbuild: {run: 'make all', time_limit: 5min}\n"
    "run: {nodes: '{nodes}', tasks_per_node: 16, time_limit: 30min, command: '{build}/wide'}\n",
    "tests/small.yaml": "test: small\nrun: {command: 'echo small', time_limit: 1h}\n",
    "tests/huge.yaml": "test: huge\nrun: {nodes: 9, command: x}\n",
}
PLANS = {
    "counted": "{performance: {tests: [wide], repeats: 3}}, {functionality: {name: more, tests: [small]}}",
    "modes": "{performance: {tests: [small], modes: {isolated: {repeats: 2, warm_up: 1}, fill: {repeats: 1, warm_up: 1}}}}",
    "ten-days": "{stability: {tests: [wide], filler: small, duration: 10d, mix: {wide: 100%}}}",
    "swept": "{site: {tests: [small], sweep: {rounds: 2}}}",
    "lost": "{functionality: {tests: [huge, small]}}",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(finding, "CATALOGUE_TESTS", str(tmp_path / "no catalogue"))
    files = FILES | {
        f"plans/{name}.yaml": f"plan: {name}\nsystem: big\ncomponents: [{text}]\n" for name, text in PLANS.items()
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def of(site: Path, plan: str, wish: str | None = None, scripts: bool = False) -> Planned:
    return planned(read_plan(site, plan, lambda: HERE), site, f"{plan}-N", wish, scripts)


def test_each_case_is_told_with_its_size_and_the_sums_add_up(site: Path) -> None:
    found = of(site, "counted")

    rows = [(c.component, c.case, c.runs, c.nodes, c.ranks, c.counted_in, c.time_limit_s) for c in found.cases]
    assert rows == [
        ("performance", "wide/nodes=2", 3, 2, 32, "nodes", 1800.0),
        ("performance", "wide/nodes=4", 3, 4, 64, "nodes", 1800.0),
        ("more", "small", 1, 1, 1, "nodes", 3600.0),
    ]
    assert [case.node_hours_at_most for case in found.cases] == [3.0, 6.0, 1.0]
    assert (found.runs, found.node_hours_at_most, found.at_most_s) == (7, 10.0, 4 * 3600.0)
    assert (found.expected_s, found.node_hours_expected, found.side_by_side_s) == (None, None, None)
    assert [(b.where, b.cases, b.time_limit_s, b.script) for b in found.builds] == [("here", 2, 300.0, "")]
    assert found.starts and not found.unavailable
    assert found.scripts_in == str(site / "campaigns/counted-N/jobs")


def test_past_runs_give_what_is_expected_where_every_case_has_some(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    past = {
        "wide/nodes=2": PastTime(60.0, "campaign c-1, 3 runs"),
        "wide/nodes=4": PastTime(90.0, "campaign c-1, 1 run"),
    }
    monkeypatch.setattr(dry_run, "past_times", lambda site, document: past)
    assert of(site, "counted").expected_s is None  # nothing is known of small

    past["small"] = PastTime(100.0, "campaign c-2, 1 run")
    found = of(site, "counted")

    assert found.expected_s == 3 * 60 + 3 * 90 + 100
    assert found.node_hours_expected == pytest.approx((3 * 60 * 2 + 3 * 90 * 4 + 100) / 3600)
    assert found.side_by_side_s == pytest.approx((3 * 60 * 2 + 3 * 90 * 4 + 100) / 8)  # more than the longest run
    text = _render(found, False)
    assert "60.0 s" not in text and "1 min 00 s (campaign c-1, 3 runs)" in text
    assert "about 0.428 by past runs; at most 10, by the time limits" in text


def test_modes_count_their_warm_up_and_copies(site: Path) -> None:
    (case,) = of(site, "modes").cases
    assert case.runs == (2 + 1) * 1 + (1 + 1) * 8  # isolated runs alone, a fill has eight copies


def test_a_component_that_runs_for_a_time_has_no_number_of_runs(site: Path) -> None:
    found = of(site, "ten-days")
    assert [(case.case, case.runs, case.filler) for case in found.cases] == [
        ("wide/nodes=2", None, False),
        ("wide/nodes=4", None, False),
        ("small", None, True),
    ]
    assert (found.runs, found.at_most_s, found.node_hours_at_most) == (None, None, 240.0 * 8)
    assert "1,920" in _render(found, False)


def test_a_sweep_sees_every_node_in_each_round(site: Path) -> None:
    found = of(site, "swept")
    assert (found.cases[0].runs, found.components[0].together) == (16, "sweep")


def test_what_run_refuses_is_told_with_all_the_rest(site: Path) -> None:
    found = of(site, "lost")

    assert not found.starts
    assert found.refused == "plan lost does not start: 1 of its 2 cases cannot run"
    assert [(one.case, one.reason) for one in found.unavailable] == [
        ("huge", "it takes 9 nodes and partition batch has 8 nodes")
    ]
    assert [case.case for case in found.cases] == ["small"]
    text = _render(found, False)
    assert "huge: it takes 9 nodes" in text
    assert "'shakedown run' refuses this: plan lost does not start" in text
    assert of(site, "lost", wish="restrict").starts


def test_scripts_are_those_of_the_jobs_and_builds(site: Path) -> None:
    found = of(site, "counted", scripts=True)
    small = next(case for case in found.cases if case.case == "small")
    assert small.script.startswith("# ---- job.sh\n#!") and "echo small" in small.script
    assert found.builds[0].script.strip() == "make all"
    text = _render(found, True)
    assert text.count("# ==== case small\n") == 1
    assert "# ==== build" in text and "make all" in text


def test_json_has_everything_that_people_see(site: Path) -> None:
    data = msgspec.to_builtins(of(site, "counted"))
    assert data["cases"][0]["ranks"] == 32
    assert data["builds"][0]["cases"] == 2


def test_nothing_is_made(site: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*")}
    of(site, "counted", scripts=True)
    assert {path: path.stat().st_mtime_ns for path in site.rglob("*")} == before
