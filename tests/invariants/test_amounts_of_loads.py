"""Runs that load three of a budget: an engine that counts runs and not amounts is caught on the plans of the thousand campaigns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from oracle import Violation
from thousand_campaigns import campaign_of, to_its_end
from thousand_plans import KINDS, plan_of
from thousand_troubles import about_of

from shakedown.engine.fold import bookkeeping
from shakedown.engine.state.state import State


def loaded(count: int) -> list[int]:
    """The first seeds whose runs load three of a budget."""
    found: list[int] = []
    seed = 0
    while len(found) < count:
        kind = KINDS[seed % len(KINDS)]
        plan = plan_of(seed, kind, about_of(seed, kind))
        if any(amount == 3.0 for case in plan.cases for _, amount in case.loads):
            found.append(seed)
        seed += 1
    return found


def test_an_engine_that_counts_runs_instead_of_amounts_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = bookkeeping._load

    def runs(state: State, loads: Iterable[tuple[str, float]], sign: int) -> None:
        honest(state, [(name, 1.0) for name, _ in loads], sign)

    said: list[Any] = []
    monkeypatch.setattr(bookkeeping, "_load", runs)
    for seed in loaded(20):
        try:
            to_its_end(campaign_of(seed))
        except Violation as violation:
            said.append(str(violation))
        if any("f2/mdt" in words and "may start, which makes it 9 of 6" in words for words in said):
            return
    raise AssertionError(said)
