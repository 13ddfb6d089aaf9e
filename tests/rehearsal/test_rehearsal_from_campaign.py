"""A rehearsal that follows a past campaign: its run times, builds and figures are those of that campaign."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec import structs
from rehearsal_site import command, make_site
from stories import SHAKEDOWN

from shakedown.metrics.rows.rows import BuildRow, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.run_times import build_times, figures_of_runs, run_times
from shakedown.model.layout import Layout
from shakedown.model.scenario import Builds, FigureLaw, RunTime, Scenario
from shakedown.queries.status import look_at_runs
from shakedown.rehearsal.history import not_taken_over, with_past_times

assert SHAKEDOWN  # the commands are ours
LOCAL = {
    "tests/quick.yaml": """test: quick
parameters: {size: [1, 2]}
build: {source: ".", run: "sleep 1.2"}
run: {time_limit: 1min, command: "sleep 0.{size}; echo speed = {size}0"}
check: [exit is 0]
figures:
  speed: {regex: 'speed = (?P<value>[0-9.]+)', unit: MB/s, better: higher}
""",
    "plans/real.yaml": """plan: real
system: here
components:
  - performance:
      tests: [quick]
      repeats: 3
      criteria:
        fast: {measure: value, of: speed, statistic: median, per: case, must: ">= 5 MB/s"}
""",
    "rehearsals/past.yaml": """rehearsal: past
times: {from: real-1}
""",
}


def row(case: str, elapsed: float | None, verdict: str = "passed", **figures: float) -> RunRow:
    return RunRow("r", case, "c", 1, 1, verdict, "", 1, 0.0, 1, elapsed_s=elapsed, figures=figures)


def test_a_run_of_no_time_at_all_is_known() -> None:
    ((case, time),) = run_times([row("a", 0.0), row("a", 0.0), row("b", None)], "past")
    assert (case, time.mean_s, time.tail_share) == ("a", 0.0, 0.0)


def test_figures_and_builds_are_those_of_runs_that_were_right() -> None:
    rows = [row("a", 1.0, speed=10.0), row("a", 1.0, speed=12.0), row("a", 1.0, "failed", speed=99.0)]
    ((case, name, law),) = figures_of_runs(rows, "past")
    assert (case, name, law.mean, law.source) == ("a", "speed", 11.0, "campaign past, 2 runs")
    builds = [BuildRow("k1", "done", 0.0, elapsed_s=3.0), BuildRow("k2", "failed", 0.0, elapsed_s=9.0)]
    assert build_times(builds, {"k1": "one", "k2": "two"}) == (("one", 3.0),)


def test_what_a_campaign_knows_and_a_rehearsal_leaves_out_is_said() -> None:
    rows = [row("fl/n=1", 1.0), row("fl/n=2", 1.0, "failed"), row("fl/n=2", None, "timeout"), row("ok", 1.0)]
    record = Record()
    for number, one in enumerate(rows):
        record.runs.append(structs.replace(one, run=f"r{number}"))
    said = not_taken_over(record, "past")
    assert said == (("fl", "fl: 2 of 3 runs in past did not pass, which this rehearsal does not model"),)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with a campaign on this machine: two cases of 0.1 and 0.2 s, a build of 1.2 s."""
    root = make_site(tmp_path_factory.mktemp("past") / "site")
    for name, text in LOCAL.items():
        (root / name).write_text(text)
    done = command("run", "real", "--id", "real-1", "-q", cwd=root)
    assert done.returncode == 0, done.stderr
    return root


def test_times_are_drawn_and_printed_for_each_case(site: Path) -> None:
    done = command("rehearse", "real", "--scenario", "past", "--id", "again", "--no-try", cwd=site)
    assert done.returncode == 0, done.stderr  # the criterion on speed is known: it was measured
    said = [line for line in done.stderr.splitlines() if line.startswith("  quick/")]
    assert len(said) == 2 and all("campaign real-1, 3 runs" in line for line in said), done.stderr
    assert "build quick" in done.stderr
    past = run_times(look_at_runs(Layout(site / "campaigns" / "real-1")).current(), "real-1")
    now = dict(run_times(look_at_runs(Layout(site / "rehearsed" / "again")).current(), "again"))
    for case, time in past:
        assert now[case].mean_s == pytest.approx(time.mean_s, abs=4 * time.spread_s + 0.01)


def test_builds_and_figures_come_with_it_unless_they_are_written(site: Path) -> None:
    found = with_past_times(Scenario(times_from="real-1"), site)
    ((name, took),) = found.builds.times
    assert name == "quick" and 1.0 < took < 60.0
    assert {law.mean for _, figure, law in found.figures if figure == "speed"} == {10.0, 20.0}
    assert len(found.times) == 2
    own = Scenario(
        times_from="real-1",
        times=(("quick", RunTime(7.0)),),
        builds=Builds(mean_s=99.0),
        figures=(("quick", "speed", FigureLaw(1.0)),),
    )
    kept = with_past_times(own, site)
    assert (kept.times, kept.builds, kept.figures) == (own.times, own.builds, own.figures)


def test_a_campaign_whose_plan_was_amended_lends_its_times_as_well(site: Path, tmp_path: Path) -> None:
    """Also of a build that only the plan before the amendment had."""
    amended = Path(shutil.copytree(site, tmp_path / "site", symlinks=True))
    test = amended / "tests/quick.yaml"
    test.write_text(test.read_text().replace("sleep 1.2", "sleep 0.1"))
    plan = amended / "plans/real.yaml"
    plan.write_text(plan.read_text().replace(">= 5 MB/s", ">= 6 MB/s"))
    words = ("amend", "real", "--campaign", "real-1", "--by", "Ada", "--because", "more is asked")
    done = command(*words, cwd=amended)
    assert done.returncode == 0, done.stderr
    assert len(list((amended / "campaigns/real-1/documents").iterdir())) == 2
    ((name, took),) = with_past_times(Scenario(times_from="real-1"), amended).builds.times
    assert name == "quick" and 1.0 < took < 60.0


def test_a_rehearsal_from_a_campaign_takes_as_long_as_its_runs_and_builds_did(site: Path) -> None:
    """Without the builds of the campaign it would take half a minute of made-up building."""
    command("rehearse", "real", "--scenario", "past", "--id", "whole", "--no-try", "-q", cwd=site)
    record = look_at_runs(Layout(site / "rehearsed" / "whole"))
    (build,) = record.builds.values()
    real = next(iter(look_at_runs(Layout(site / "campaigns" / "real-1")).builds.values()))
    assert build.elapsed_s == pytest.approx(real.elapsed_s, rel=0.01)
