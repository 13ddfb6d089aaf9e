"""Campaigns in which tests need others, with everything that goes wrong: the oracle holds their order at every event."""

from __future__ import annotations

from collections import Counter

import pytest
from oracle_modes import Violation
from thousand_campaigns import campaign_of, to_its_end

from shakedown.engine.fold import bookkeeping
from shakedown.engine.state.needs import Standing

SEEDS = range(0, 60, 6)


@pytest.mark.parametrize("first", range(0, 120, 60))
def test_no_test_begins_before_what_it_needs_has_passed(first: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(first, first + 60):
        campaign = to_its_end(campaign_of(seed, needing=1.0))
        seen.update({"after others": campaign.strict.needs.after_others, "not run": campaign.strict.needs.not_run})
    assert seen["after others"] > 20, "an order was held in these campaigns"
    assert seen["not run"] > 0, "what was lost had followers"


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (Standing("met"), "is ordered and .* did not pass"),
        (Standing("lost", why="so it seems"), "is not run, and nothing that it needs is lost"),
    ],
)
def test_an_engine_that_keeps_no_order_is_caught(broken: Standing, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bookkeeping, "standing_of", lambda state, entry: broken)
    with pytest.raises(Violation, match=says):
        for seed in SEEDS:
            to_its_end(campaign_of(seed, needing=1.0))
