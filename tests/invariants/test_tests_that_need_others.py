"""Campaigns in which tests need others, with everything that goes wrong: the oracle holds their order at every event."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from oracle_modes import Violation
from thousand_campaigns import campaign_of, to_its_end

from shakedown.engine import State
from shakedown.engine.fold import bookkeeping
from shakedown.engine.state.jobs import Handed, PendingResult
from shakedown.engine.state.needs import Standing, handed_to

SEEDS = range(0, 60, 6)


@pytest.mark.parametrize("first", range(0, 120, 60))
def test_no_test_begins_before_what_it_needs_has_passed(first: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(first, first + 60):
        campaign = to_its_end(campaign_of(seed, needing=1.0))
        needs = campaign.strict.needs
        seen.update({"after others": needs.after_others, "not run": needs.not_run, "handed": needs.handed})
    assert seen["after others"] > 20, "an order was held in these campaigns"
    assert seen["not run"] > 0, "what was lost had followers"
    assert seen["handed"] > 10, "files were handed on"


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


def test_an_engine_that_hands_on_other_files_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(state: State, entry: PendingResult) -> list[Handed]:
        return [replace(one, run="r000000") for one in handed_to(state, entry)]

    monkeypatch.setattr("shakedown.engine.policy.submissions.handed_to", other)
    with pytest.raises(Violation, match=r"is given .* and not what the runs before it left"):
        for seed in SEEDS:
            to_its_end(campaign_of(seed, needing=1.0))
