"""Every number of the scorecard, computed again by a script that reads only the log and the frozen plan beside it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import msgspec
import pytest
import recompute as script
from recompute_compared import SCRIPT, disagreements, recomputed
from stage import ALL_LIES, LOCAL_TROUBLE, TROUBLE, Campaign, moded_document, people, random_deaths

from shakedown.metrics.rows.table import fold_runs
from shakedown.model.frozen import freeze
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Component
from shakedown.report.reading import read_campaign
from shakedown.twin import Lies


def test_it_shares_no_code_with_the_package() -> None:
    for path in SCRIPT.parent.glob("recompute*.py"):
        if path.name != "recompute_compared.py":
            text = path.read_text(encoding="utf-8")
            assert "shakedown" not in text and "msgspec" not in text, path.name


def test_the_example(example: Path) -> None:
    read = read_campaign(example / "campaigns/c5-phase2-1")
    assert disagreements(read.document, read.record, recomputed(example / "campaigns/c5-phase2-1")) == []


# ---- random campaigns ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_random_campaigns_whole_and_cut_short(seed: int) -> None:
    """With failures, lies, crashes, rulings and changes; as they end, and as they stood at some events before."""
    local = seed % 3 == 0
    document = moded_document(seed, local)
    dates = random.Random(f"dates {seed}")
    parts = tuple(
        msgspec.structs.replace(
            part, criteria=_criteria(seed, part), deadline=1_600_000_000.0 + dates.uniform(0.0, 20_000.0)
        )
        for part in document.components
    )
    document = msgspec.structs.replace(document, components=parts)
    campaign = Campaign(
        document,
        seed=seed,
        local=local,
        fates=LOCAL_TROUBLE if local else TROUBLE,
        lies=Lies() if local else ALL_LIES,
        dies=random_deaths(seed, 0.01),
        script=lambda campaign, wait: _busy_people(campaign, wait, seed),
    ).run()
    events, lines = campaign.log.events(), [json.loads(line) for line in campaign.log.durable]
    plans = {name: json.loads(freeze(plan)) for name, plan in campaign.documents.items()}
    draw = random.Random(seed)
    for end in (len(events), *(draw.randrange(3, len(events)) for _ in range(3))):
        said = script.recompute(lines[:end], plans)
        assert disagreements(document, fold_runs(events[:end]), said) == [], f"after event {end} of {len(events)}"


def _criteria(seed: int, component: Component) -> tuple[Criterion, ...]:
    """A random choice of everything that a plan may ask for."""
    draw = random.Random(f"{seed}:{component.name}")
    every = [
        Criterion("attempts", "passed / attempts", ">=", 0.5, unit="%", leave_out=("ruled site",)),
        Criterion(
            "right", "correct / completed", "=", 1.0, unit="%", leave_out=("ruled vendor", "ruled site"), per="case"
        ),
        Criterion(
            "rate", "value", "<=", 100.0, of="rate", statistic=draw.choice(("mean", "median", "p95", "sd")), enough=3
        ),
        Criterion("rates", "value", ">=", 99.0, of="rate", statistic="min", per="case"),
        Criterion(
            "steady",
            "sd / mean",
            "<=",
            0.02,
            unit="%",
            of="rate",
            leave_out=draw.choice(((), ("outliers", "ruled site"))),
        ),
        Criterion("done", "passed / wanted", ">=", 0.9, unit="%", leave_out=draw.choice(((), ("ruled site",)))),
        Criterion("late", "passed / wanted", ">=", 0.9, unit="%", epochs=draw.choice(("last", "2"))),
        Criterion("ours", "our node-hours / clock node-hours", ">=", 0.3, unit="%"),
        Criterion("contractual", "contractual node-hours / clock node-hours", ">=", 0.3, unit="%", epochs="last"),
        Criterion("delivered", "delivered node-hours / calendar node-hours", ">=", 0.1, unit="%"),
        Criterion("soon", "value", "<=", 70.0, unit="s", of="elapsed", epochs="last"),
    ]
    if {mode.name for mode in component.modes} == {"isolated", "fill"}:
        every.append(Criterion("fill", "fill / isolated", "<=", 0.1, unit="%", of="elapsed", statistic="mean"))
    if component.modes:
        every.append(Criterion("mode", "value", "<=", 70.0, unit="s", of="elapsed", mode=component.modes[0].name))
    chosen = [item for item in every if draw.random() < 0.7]
    return (*chosen, Criterion("in time", "late", "<=", draw.choice((0.0, 1.0)), unit="h"))


def _busy_people(campaign: Campaign, wait: int, seed: int) -> None:
    """They attest and open gates, and now and then they rule on a run or declare a change."""
    people(campaign, wait)
    draw = random.Random(f"{seed}:{wait}")
    if draw.random() < 0.02:
        judged = [event.run for event in campaign.log.events() if event.event == "verdict"]
        if judged:
            party = draw.choice(("site", "vendor", "excused", "none"))
            campaign.ask("rule", run=draw.choice(judged), by="Ada", **{"as": party})
    if draw.random() < 0.004:
        campaign.ask("change", by="Ada")
