"""What a rehearsal cannot know: figures without a source are not modelled, and nothing is accepted, or refused, on them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from rehearsal_site import command, make_site

PLAN = """plan: measured
system: toy
components:
  - performance:
      tests: [model]
      repeats: 4
      criteria:
        correct: {measure: correct / completed, must: "= 100%"}
        CRITERION
"""
CONTRACT = """contract: toy
columns: [test, figure, must, basis]
rows:
  - [model, speed, ">= 5 years/day", contract]
"""
FIGURES = """rehearsal: measured
extends: busy
figures:
  model: {speed: {mean: MEAN, spread: 0.1, source: "a colleague"}}
"""
SPEED = 'speed: {measure: value, of: speed, statistic: median, must: ">= 5 years/day"}'
ELAPSED = 'quick: {measure: value, of: elapsed, statistic: median, must: "<= 30 min"}'
ROWS = 'rows: {measure: rows met, basis: contract, must: "= 100%"}'


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("figures") / "site")


@pytest.fixture
def site(empty: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(empty, tmp_path / "site"))


def rehearsed(site: Path, criterion: str, *words: str, contract: bool = False) -> tuple[int, dict[str, Any]]:
    text = PLAN.replace("CRITERION", criterion)
    if contract:
        (site / "contracts").mkdir(exist_ok=True)
        (site / "contracts" / "toy.yaml").write_text(CONTRACT)
        text = text.replace("components:", "contract: toy\ncomponents:")
    (site / "plans" / "measured.yaml").write_text(text)
    done = command("rehearse", "measured", "--json", "--no-try", "-q", *words, cwd=site)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def outcome_of(scorecard: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [item for part in scorecard["components"] for item in part["criteria"] if item["name"] == name]
    return dict(found)


@pytest.mark.parametrize(
    ("criterion", "name", "contract"), [(SPEED, "speed", False), (ROWS, "rows", True), (ELAPSED, "quick", False)]
)
def test_a_criterion_on_a_figure_that_nobody_knows_is_not_modelled(
    site: Path, criterion: str, name: str, contract: bool
) -> None:
    status, scorecard = rehearsed(site, criterion, contract=contract)
    found = outcome_of(scorecard, name)
    assert (status, scorecard["outcome"], found["outcome"], found["measured"]) == (4, "incomplete", "undecided", None)
    assert found["reason"].startswith("not modelled: nobody says what model.")
    assert "not modelled" in scorecard["summary"]
    assert outcome_of(scorecard, "correct")["outcome"] == "met"
    if contract:
        (row,) = scorecard["contract"]["rows"]
        assert row["outcome"] == "undecided" and row["reason"].startswith("not modelled")


SIZES = """test: sizes
run: {nodes: "{nodes}", time_limit: 1h, command: "touch was-run"}
parameters: {nodes: [1, 2, 4]}
figures:
  loop: {regex: 'loop = (?P<value>[0-9.]+)', unit: s, better: lower}
SCALING
"""
EFFICIENCY = 'scales: {measure: efficiency, must: ">= 80%"}'


@pytest.mark.parametrize(
    ("criterion", "ladder", "scaling", "reason"),
    [
        (EFFICIENCY, "", "scaling: {along: nodes, kind: strong, figure: loop}", "nobody says what sizes.loop is"),
        (EFFICIENCY, "", "scaling: {along: nodes, kind: strong}", "nobody says what sizes.elapsed is"),
        (
            'scales: {measure: largest size, must: ">= 4"}',
            "ladder: {along: nodes, slower: {figure: loop, by: 20%}}",
            "",
            "nobody says what sizes.loop is",
        ),
    ],
)
def test_sizes_are_not_compared_by_numbers_that_nobody_knows(
    site: Path, criterion: str, ladder: str, scaling: str, reason: str
) -> None:
    (site / "tests" / "sizes.yaml").write_text(SIZES.replace("SCALING", scaling))
    text = PLAN.replace("CRITERION", criterion).replace("[model]", "[sizes]")
    (site / "plans" / "measured.yaml").write_text(text.replace("repeats: 4", f"repeats: 1\n      {ladder}"))
    done = command("rehearse", "measured", "--json", "--no-try", "-q", cwd=site)
    assert done.stdout, done.stderr
    found = outcome_of(json.loads(done.stdout), "scales")
    assert (done.returncode, found["outcome"], found["measured"]) == (4, "undecided", None)
    assert found["reason"].startswith(f"not modelled: {reason}")


def test_a_run_time_that_is_written_is_known(site: Path) -> None:
    status, scorecard = rehearsed(site, ELAPSED, "--scenario", "busy")
    assert (status, outcome_of(scorecard, "quick")["outcome"]) == (0, "met")


@pytest.mark.parametrize(("mean", "status", "outcome"), [("6", 0, "met"), ("4", 1, "not met")])
def test_a_figure_with_a_source_is_judged_by_it(site: Path, mean: str, status: int, outcome: str) -> None:
    (site / "rehearsals" / "measured.yaml").write_text(FIGURES.replace("MEAN", mean))
    code, scorecard = rehearsed(site, SPEED, "--scenario", "measured")
    found = outcome_of(scorecard, "speed")
    assert (code, found["outcome"]) == (status, outcome)
    assert found["measured"] == pytest.approx(float(mean), abs=0.3)


def test_a_real_campaigns_criteria_are_untouched_by_it() -> None:
    from shakedown.metrics.modelled import without_what_is_made_up

    assert without_what_is_made_up(None, {}) is None


def test_a_gate_that_only_asks_for_what_is_not_modelled_is_opened_and_said_to_be(site: Path) -> None:
    (site / "plans" / "measured.yaml").write_text(
        PLAN.replace("CRITERION", SPEED)
        + "  - stability: {after: [performance], gate: met, tests: [model], repeats: 2}\n"
    )
    done = command("rehearse", "measured", "--id", "gate", "-q", "--no-try", cwd=site)
    assert done.returncode == 4 and "not finished" not in done.stderr
    log = command("log", "gate", cwd=site).stdout
    assert "opened by the rehearsal: what it asks for is not modelled" in log.replace("\n" + " " * 22, " ")
