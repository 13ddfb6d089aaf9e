"""The outcome with and without every act, computed again by a program that reads only the log and the frozen plans."""

from __future__ import annotations

from pathlib import Path

import pytest
import recompute_acts as script
from acts_story import drawn

from shakedown.metrics.judging.people import acts_of
from shakedown.metrics.judging.scorecard import NOT_KNOWN

SEEDS = 100


def test_it_shares_no_code_with_the_package() -> None:
    for path in Path(script.__file__).parent.glob("recompute_*.py"):
        if path.name != "recompute_compared.py":
            text = path.read_text(encoding="utf-8")
            assert "shakedown" not in text and "msgspec" not in text, path.name


@pytest.mark.parametrize("amending", [False, True], ids=["all acts", "amendments"])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_campaigns(seed: int, amending: bool) -> None:
    told = drawn(seed, amending)
    card, again = told.card(), script.settle(told.lines, told.plans)
    idle = ("withdrawn", "no effect")
    live = {str(act.number): act.without for act in card.acts if act.kind != "agree" and act.standing not in idle}
    assert live == again["without"]
    assert (card.outcome, card.without_acts or card.outcome) == (again["outcome"], again["without_acts"])
    assert sorted(act.number for act in card.acts if act.takes) == again["takes"]
    assert {str(act.number): sorted(act.missing) for act in card.acts if act.missing} == again["missing"]


def test_the_campaigns_have_everything_in_them() -> None:
    """Every kind of act, every standing, and outcomes that hang on acts: else the comparison says little."""
    cards = [drawn(seed).card() for seed in range(SEEDS)]
    acts = [act for card in cards for act in card.acts]
    kinds = {act.kind for act in acts}
    assert kinds >= {
        "rule",
        "waive",
        "change",
        "clock",
        "pause",
        "cap",
        "amend",
        "agree",
        "withdraw",
        "attest",
        "drain",
        "cancel",
        "rejudge",
    }
    assert {act.standing for act in acts} >= {"agreed", "one-sided", "no effect", "withdrawn", ""}
    assert {card.outcome for card in cards} >= {"disputed", "rejected", "incomplete"}
    assert any(card.outcome.startswith("accepted") for card in cards)
    assert {act.without for act in acts} >= {"rejected", "incomplete", "accepted with restrictions", NOT_KNOWN}
    reasons = [item.reason for card in cards for part in card.components for item in part.criteria]
    assert any("which nobody declared" in reason for reason in reasons)
    assert any(len(act.events) > 1 for act in acts_of(drawn(1).record)) or len(acts) > 60
