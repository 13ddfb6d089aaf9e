"""The plan's ``stagger``: two starts of one test lie apart, and the next begins when it may, whatever else happens."""

from __future__ import annotations

from itertools import pairwise

import pytest
from stability_plan import case, document, machine, play

from shakedown.model.nouns import Component, Limits


@pytest.mark.parametrize("run_s", [5.0, 200.0])
def test_each_run_of_a_test_starts_as_soon_as_it_may(run_s: float) -> None:
    """Runs that are long over, or that go on, when the next one is due: neither is what it waits for."""
    cases = (case("one", 1, 300.0, load=0.0), case("other", 1, 300.0, load=0.0))
    part = Component("part", "functionality", ("one", "other"), 4)
    plan = document(machine(16, targets=False), cases, part, limits=Limits(stagger_s=60.0))
    campaign = play(plan, times=dict.fromkeys(("one", "other"), (run_s, 0.0)))
    for test in ("one", "other"):
        ordered = [event.value["now"] for event in campaign.events("submit_order") if event.case == test]
        assert [later - before for before, later in pairwise(ordered)] == pytest.approx([60.0] * 3, abs=1e-3)
