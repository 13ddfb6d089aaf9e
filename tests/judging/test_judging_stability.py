"""Stability campaigns of the twin, with people who pause, stop clocks and drain: every number again from the log alone."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import pytest
import recompute as script
from msgspec.structs import replace
from recompute_compared import disagreements
from stability_logs import MEASURES
from stage import ALL_LIES, TROUBLE, Campaign, random_deaths, small_document

from shakedown.metrics.loads import loads
from shakedown.metrics.rows.table import fold_runs
from shakedown.metrics.stability import stability
from shakedown.model.filling import ClockTerms, Fill
from shakedown.model.frozen import freeze
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Component, Document
from shakedown.twin import Lies, VirtualClock, World

LASTS_S = 7200.0


def plan(seed: int) -> Document:
    """A mix of three tests with a filler for two hours on six nodes; two metadata targets that two runs may load."""
    draw = random.Random(seed)
    plain = small_document(nodes=6, tests=4, budgets={"f2/mdt": 1.0}, seed=seed)
    names = tuple(case.id for case in plain.cases if not case.unavailable)
    criteria = tuple(
        Criterion(f"{name} {per}", name, sign, bound, unit, per=per)  # type: ignore[arg-type]
        for name, sign, bound, unit in MEASURES
        for per in ("", "test")
    )
    terms = ClockTerms(
        "first order",
        (("machine", draw.choice(("stops", "runs"))),),
        ramp=draw.random() < 0.5,
        drain=draw.random() < 0.5,
    )
    long = Component(
        "long", "stability", names[:3], duration_s=LASTS_S, clock=terms, criteria=criteria,
        fill=Fill(ramp_s=draw.choice((0.0, 600.0))),
    )  # fmt: skip
    system = replace(plain.system, targeted=(("f2/mdt", ("mdt0", "mdt1")),))
    cases = tuple(replace(case, targets=(("mdt", "f2/mdt"),) if case.loads else ()) for case in plain.cases)
    return replace(plain, system=system, cases=cases, components=(long, Component("beside", "site", names[:1], 3)))


def people(campaign: Campaign, wait: int, seed: int) -> None:
    """Now and then somebody says something; the conductor refuses what makes no sense."""
    draw, state = random.Random(f"{seed}:{wait}"), campaign.conductor.state
    if "long" in state.overrides.paused and draw.random() < 0.05:
        campaign.ask("continue", component="long", by="Ada")
    if draw.random() > 0.01 or campaign.inbox.waiting or state.phase != "running":
        return
    cause = draw.choice(("maintenance", "site", "vendor", "machine", "other"))
    now = campaign.clock.now()
    what, value = draw.choice(
        (
            ("pause", {"cause": cause}),
            ("pause", {"cause": cause, "from": now - 300.0}),
            ("clock", {"act": "stop", "cause": cause, "from": now - 600.0}),
            ("clock", {"act": "go on", "cause": cause}),
            ("clock", {"act": "restart", "cause": cause}) if draw.random() < 0.3 else ("continue", {}),
            ("drain", {}) if draw.random() < 0.1 else ("continue", {}),
        )
    )
    campaign.ask(what, component="long", by="Ada", **value)


class Silent:
    """Watches nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *facts: None


class Unwatched(Campaign):
    """That the engine keeps its rules is held against its own oracle elsewhere."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.clock = VirtualClock()
        self.world = World(self.document, self.seed, self.clock, self.fates, self.lies, self.local)
        self.oracle = Silent()  # type: ignore[assignment]


@cache
def played(seed: int) -> Campaign:
    """The campaign of a seed, played once for all tests, which only read its log."""
    return Unwatched(
        plan(seed),
        seed=seed,
        fates=TROUBLE,
        lies=ALL_LIES if seed % 2 else Lies(),
        dies=random_deaths(seed, 0.005),
        script=lambda campaign, wait: people(campaign, wait, seed),
    ).run()


@pytest.mark.parametrize("seed", range(8))
def test_both_find_the_same_at_the_end_and_on_the_way(seed: int) -> None:
    campaign = played(seed)
    events, lines = campaign.log.events(), [json.loads(line) for line in campaign.log.durable]
    plans = {name: json.loads(freeze(document)) for name, document in campaign.documents.items()}
    draw = random.Random(seed)
    for end in (len(events), *(draw.randrange(3, len(events)) for _ in range(4))):
        said = script.recompute(lines[:end], plans)
        assert disagreements(campaign.document, fold_runs(events[:end]), said) == [], (
            f"after event {end} of {len(events)}"
        )


@pytest.mark.parametrize("seed", range(8))
def test_the_clock_of_the_figures_is_the_one_that_the_engine_went_by(seed: int) -> None:
    """When it says that the time is up, the figures' clock has run that long to the second, unless it was drained."""
    campaign = played(seed)
    events = campaign.log.events()
    up = next(
        (n for n, event in enumerate(events, 1) if event.event == "finding" and event.value["kind"] == "time_is_up"),
        None,
    )
    drained = any(event.event == "drain_request" for event in events)
    assert up is not None
    (one,) = stability(campaign.document, fold_runs(events[:up]))
    assert one.clock is not None
    if not drained:
        assert one.clock.ran >= LASTS_S - 1e-6
        (before,) = stability(campaign.document, fold_runs(events[: up - 1]))
        assert before.clock is not None and before.clock.ran < LASTS_S + 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_no_target_was_loaded_beyond_its_limit(seed: int) -> None:
    campaign = played(seed)
    found = {load.name: load for load in loads(campaign.document, fold_runs(campaign.log.events()))}
    assert set(found) == {"f2/mdt@mdt0", "f2/mdt@mdt1"}
    assert [load.most for load in found.values()] == [1, 1] and not any(load.over for load in found.values())
