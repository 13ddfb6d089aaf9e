"""Everything that is said of stability campaigns, beside what a script finds from the log lines alone."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import recompute as script
from hypothesis import given, settings
from hypothesis import strategies as st
from recompute_compared import disagreements
from stability_logs import made_up

from shakedown.metrics.rows.table import fold_runs
from shakedown.model.events import Event
from shakedown.model.frozen import freeze


def lines(events: list[Event]) -> list[dict[str, Any]]:
    return [json.loads(msgspec.json.encode(event)) for event in events]


@settings(max_examples=150)
@given(st.integers(0, 10**9), st.integers(5, 120))
def test_both_find_the_same(seed: int, steps: int) -> None:
    """Clocks, node-hours, utilisations, interrupts, holes, hours of each node, shares, days, loads, and criteria on them."""
    document, events = made_up(seed, steps)
    said = script.recompute(lines(events), {"d": json.loads(freeze(document))})
    assert disagreements(document, fold_runs(events), said) == []
