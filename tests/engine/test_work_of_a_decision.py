"""What a decision costs does not grow with the machine: counted in calls, as time says little on a busy machine."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest

PLANS = Path(__file__).parents[2] / "benchmarks" / "engine_plans.py"


@pytest.fixture(scope="module")
def plans() -> ModuleType:
    """The plans that the engine's benchmark plays."""
    spec = importlib.util.spec_from_file_location("engine_plans", PLANS)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules["engine_plans"] = found  # its dataclass looks itself up there
    spec.loader.exec_module(found)
    return found


def calls_an_event(campaign: Any, ends: int) -> float:
    """How many functions are called for an event, while so many runs of a full machine end and others begin."""
    calls, before, over = 0, campaign.state.seq, 0

    def count(frame: FrameType, what: str, value: object) -> None:
        nonlocal calls
        calls += what in ("call", "c_call")

    sys.setprofile(count)
    try:
        while over < ends:
            over += campaign.end_one()
    finally:
        sys.setprofile(None)
    return float(calls / (campaign.state.seq - before))


@pytest.mark.parametrize("begins", [True, False], ids=["jobs are seen to begin", "nobody looks"])
def test_a_mix_with_fillers(plans: ModuleType, begins: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times as many nodes, and as many jobs of fillers and tests on them and behind them."""
    if not begins:
        nothing: Callable[[Any], None] = lambda campaign: None  # noqa: E731
        monkeypatch.setattr(plans.Driven, "_begin_next", nothing)
    few, many = (calls_an_event(plans.Driven(plans.mix(nodes)), 60) for nodes in (300, 1200))
    assert many <= 1.5 * few, f"{few:.0f} calls an event on 300 nodes, {many:.0f} on 1,200"
