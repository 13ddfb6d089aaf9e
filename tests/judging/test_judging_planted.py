"""Troubles planted among four hundred runs: each is told, and the outcome is the right one; alone, together, without."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest
from c5_troubles import DOUBLED, ENOUGH, NAMES, WRONG, Outcome, planted
from recompute_compared import disagreements, pairs, recomputed

from shakedown.metrics.judging.contract import RowScore
from shakedown.metrics.judging.criteria import exit_status
from shakedown.metrics.judging.scorecard import CriterionScore

OUTCOMES = {
    "wrong": ("rejected", 1),
    "slow in fill": ("rejected", 1),
    "doubled": (
        "accepted with restrictions",
        0,
    ),  # one run of hundreds: completion allows it, the contract's row does not
    "library": ("accepted", 0),
    "lost row": ("accepted", 0),
    "few": ("incomplete", 4),
}


def criterion(found: Outcome, component: str, name: str) -> CriterionScore:
    parts = {part.name: part for part in found.card.components}
    return next(item for item in parts[component].criteria if item.name == name)


def row(found: Outcome, test: str, basis: str, place: str) -> RowScore:
    assert found.card.contract is not None
    rows = found.card.contract.rows
    return next(one for one in rows if (one.row.test, one.row.basis) == (test, basis) and place in str(one.row.where))


# ---- nothing is planted ----------------------------------------------------------------------------------------------------


def test_without_troubles_it_is_accepted() -> None:
    found = planted()

    runs = list(found.record.current())
    assert 350 <= len(runs) <= 450, len(runs)
    assert (found.card.outcome, exit_status(found.card)) == ("accepted", 0)
    assert found.card.summary == "accepted: all 16 criteria are met"
    assert Counter(run.verdict for run in runs) == {"passed": len(runs) - 6, "build_failed": 6}
    assert found.card.components[1].as_expected == 6, "what oneAPI refuses is expected, and stays visible"
    assert found.card.contract is not None
    assert {one.outcome for one in found.card.contract.rows} == {"met"}


# ---- one by one ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_each_trouble_alone_leads_to_the_right_outcome(name: str) -> None:
    found = planted(name)

    assert (found.card.outcome, exit_status(found.card)) == OUTCOMES[name], found.card.summary


def told_wrong(found: Outcome) -> None:
    """Three wrong answers among hundreds: nothing outweighs them, and each is named."""
    bad = [run for run in found.record.current() if run.verdict == "incorrect"]
    assert len(bad) == len(WRONG)
    assert {run.case.split("/")[0] for run in bad} == {"shield"}
    correct, completion = criterion(found, "stability", "correct"), criterion(found, "stability", "completion")
    assert (correct.outcome, completion.outcome) == ("not met", "met")
    assert correct.measured is not None and 0.98 < correct.measured < 1
    assert correct.arithmetic.startswith(f"{correct.count - 3} correct / {correct.count} completed = 9")
    assert "stability: correct" in found.card.summary
    text = found.page
    assert all(run.run in text for run in bad)
    assert "files match golden" in text


def told_slow(found: Outcome) -> None:
    """The test that is 12 % slower in fill is the worst case, with both means and the worst copy."""
    slowdown = criterion(found, "performance", "slowdown")
    assert slowdown.outcome == "not met"
    assert slowdown.worst_case.startswith("spear/")
    assert slowdown.measured == pytest.approx(0.12, abs=0.005)
    others = [case for case in slowdown.cases if not case.case.startswith("spear/")]
    assert len(others) == 5 and all(case.outcome == "met" and abs(case.measured or 0) < 0.01 for case in others)
    assert "performance: slowdown" in found.card.summary
    assert "spear/" in found.page
    line = next(
        line for line in found.table("modes") if line["case"].startswith("spear/") and line["figure"] == "runtime"
    )
    assert float(line["worse"]) == pytest.approx(0.12, abs=0.005)
    assert line["copies_at_once"] == line["copies_required"] == "16"


def told_doubled(found: Outcome) -> None:
    """The doubled run is judged performance, is an outlier beside the figure without it, and its row is not met."""
    (run,) = [run for run in found.record.current() if run.verdict == "performance"]
    assert run.case.startswith("cm4/") and run.figures["runtime"] > 8200
    variation = criterion(found, "stability", "variation-cm4")
    assert variation.outcome == "met" and variation.left_out == (("outlier", 1),)
    assert variation.measured is not None and variation.measured_before is not None
    assert variation.measured < 0.005 < 0.05 < variation.measured_before
    stable = row(found, "cm4", "contract", "shared")
    assert (stable.outcome, stable.outside, stable.worst_run) == ("not met", 1, run.run)
    assert stable.count > DOUBLED
    assert run.run in found.page
    (line,) = [line for line in found.table("variation") if line["component"] == "stability" and line["test"] == "cm4"]
    assert line["outliers"] == run.run
    assert float(line["sd_percent"]) > 5 and float(line["sd_percent_without"]) < 0.5
    assert int(line["n"]) == int(line["n_without"]) + 1


def told_library(found: Outcome) -> None:
    """The changed library opens an epoch; the node and what changed are named; every result keeps its epoch."""
    assert found.card.epoch == 2
    first, second = found.record.epochs
    assert (first.opened_by, second.opened_by) == ("campaign_start", "fingerprint")
    words = "\n".join(second.difference)
    assert "emu07" in words and "libfabric" in words and "1.15.3" in words
    sides = {run.epoch: run for run in found.record.current()}
    assert set(sides) == {1, 2}
    started = [(run.started, run.epoch) for run in found.record.current() if run.started is not None]
    assert all((begin > second.time) == (epoch == 2) for begin, epoch in started)
    text = found.page
    assert "emu07" in text and "1.15.3" in text
    assert [line["epoch"] for line in found.table("epochs")] == ["1", "2"]


def told_lost_row(found: Outcome) -> None:
    """A vendor's row that nothing matches is unjudged, in the scorecard, the report and its table."""
    lost = row(found, "cm4", "vendor", "oneapi")
    assert (lost.outcome, lost.reason) == ("unjudged", "it matches no case of the plan")
    assert lost.row.name in found.page and "it matches no case of the plan" in found.page
    (line,) = [line for line in found.table("contract-rows") if line["outcome"] == "unjudged"]
    assert line["row"] == lost.row.name


def told_few(found: Outcome) -> None:
    """Too few runs: undecided, not met by luck; and the sentence says how many there are."""
    steady = criterion(found, "stability", "variation-ufs")
    assert steady.outcome == "undecided" and 2 <= steady.count < ENOUGH
    reason = f"{steady.count} of the {ENOUGH} that are enough to judge"
    assert steady.reason == reason
    assert reason in found.page


TOLD = {
    "wrong": told_wrong,
    "slow in fill": told_slow,
    "doubled": told_doubled,
    "library": told_library,
    "lost row": told_lost_row,
    "few": told_few,
}


@pytest.mark.parametrize("name", NAMES)
def test_each_trouble_is_told(name: str) -> None:
    TOLD[name](planted(name))


@pytest.mark.parametrize("name", NAMES)
def test_all_together_each_is_told(name: str) -> None:
    TOLD[name](planted(*NAMES))


def test_all_together_it_is_rejected() -> None:
    """What is not met rejects, whatever is undecided beside it; the gate that was opened stays a restriction."""
    found = planted(*NAMES)

    assert (found.card.outcome, exit_status(found.card)) == ("rejected", 1)
    parts = {part.name: part.outcome for part in found.card.components}
    assert parts == {
        "vendor": "accepted",
        "functionality": "accepted",
        "performance": "rejected",
        "stability": "rejected",
    }
    assert any("gate" in sentence for sentence in found.card.restrictions), found.card.restrictions


# ---- every number again from the log alone (test_judging_recompute.py), of the same campaigns: each is played once -------------


@pytest.mark.parametrize(
    "names", [(), *((name,) for name in NAMES), NAMES], ids=lambda names: "+".join(names) or "none"
)
def test_planted_campaigns(names: tuple[str, ...]) -> None:
    found = planted(*names)
    assert disagreements(found.document, found.record, recomputed(found.root)) == []


def test_a_number_that_differs_is_found() -> None:
    """Each number in turn is made wrong in what the script says."""
    found = planted("wrong")
    said = recomputed(found.root)
    numbers = list(_numbers(said))
    assert len(numbers) > 300
    for place in random.Random(1).sample(numbers, 60):
        *path, last = place
        spoilt = json.loads(json.dumps(said))
        inner = spoilt
        for key in path:
            inner = inner[key]
        inner[last] += 1
        assert disagreements(found.document, found.record, spoilt), place
    assert len(list(pairs(found.document, found.record, said))) > 200


def _numbers(data: Any, path: tuple[Any, ...] = ()) -> Any:
    """The places of all numbers, but for what a criterion per case says beside outcome, value and count of a case."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    if isinstance(data, int | float) and not isinstance(data, bool) and not ("cases" in path and "interval" in path):
        yield path
    for key, value in items:
        yield from _numbers(value, (*path, key))
