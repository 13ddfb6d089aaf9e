"""In a mix the test that is furthest behind its share goes first; an engine that chooses another is caught, though it is safe."""

from __future__ import annotations

import pytest
from oracle_priority import passed_over
from stability_plan import SMALL_TIMES, Wish, play, small_stability

from shakedown.engine.policy.mix import Mix
from shakedown.model.filling import Fill

# One test takes twice as long as the others, one has two nodes, and the shares differ by a factor of seven.
TIMES = SMALL_TIMES | {"spear": (50.0, 5.0), "cm4": (25.0, 5.0)}


def found(seed: int, fill: Fill) -> list[str]:
    plan = small_stability(Wish(minutes=10.0, per_target=16.0, filler=False, fill=fill))
    campaign = play(plan, times=TIMES, seed=seed, watched=False)
    assert len(campaign.events("verdict")) > 200
    return passed_over(plan, campaign.log.events())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fill", [Fill(), Fill(queue_ahead_s=60.0), Fill(queue_ahead_s=60.0, ramp_s=60.0)])
def test_nobody_is_passed_over(seed: int, fill: Fill) -> None:
    assert found(seed, fill) == []


@pytest.mark.parametrize("broken", ["the one furthest ahead", "without shares", "by the number of runs"])
def test_an_engine_that_chooses_another_is_caught(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Mix.behind
    ways = {
        "the one furthest ahead": lambda mix, key: -honest(mix, key),
        "without shares": lambda mix, key: mix.expected[mix.tests[key.case]],
        "by the number of runs": lambda mix, key: mix.expected[mix.tests[key.case]] / mix.each[mix.tests[key.case]],
    }
    monkeypatch.setattr(Mix, "behind", ways[broken])
    assert len(found(0, Fill())) > 20
