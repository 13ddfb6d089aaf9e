"""What limits a plan, as a rehearsal says it: each thing is made the bottleneck in turn; loosening it helps, nothing else does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from rehearsal_plans import USUAL, Mixed, Played, play, times

from shakedown.model.scenario import Builds, Scenario

HELPS, DOES_NOT = 0.03, 0.01  # of the node-hours

# what limits it: (cause, key of the plan, how it is made so, how it is loosened)
BOTTLENECKS: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "a budget": ("budget:f2/mdt", "f2/mdt", {"per_target": 2.0}, {"per_target": 4.0}),
    "copies": (
        "copies:",
        "limits.copies",
        {"copies": (("small", 3), ("large", 3))},
        {"copies": (("small", 6), ("large", 6))},
    ),
    "the mix": ("wide", "mix", {"widths": (9, 9)}, {"widths": (9, 1)}),
    "stagger": ("stagger:", "limits.stagger", {"stagger_s": 200.0}, {"stagger_s": 60.0}),
    "drain": ("drain:", "fill.drain", {"hours": 1.0, "limit_s": 7200.0}, {"hours": 6.0, "limit_s": 7200.0}),
    "the ramp": ("ramp", "fill.ramp", {"ramp_s": 3 * 3600.0}, {"ramp_s": 600.0}),
    "limits.queued": (
        "queued",
        "limits.queued",
        {"queued": 6, "queue_ahead_s": 0.0},
        {"queued": 60, "queue_ahead_s": 0.0},
    ),
}


def rehearsed(root: Path, wish: dict[str, Any], scenario: Scenario | None = None) -> Played:
    scenario = scenario or times(**(USUAL | ({"small": 1500.0, "large": 1500.0} if wish.get("hours") else {})))
    return play(root, Mixed(**wish).plan(), scenario)


@pytest.mark.parametrize("name", BOTTLENECKS)
def test_the_bottleneck_is_named_and_loosening_it_helps(name: str, tmp_path: Path) -> None:
    cause, key, tight, loose = BOTTLENECKS[name]
    before, after = rehearsed(tmp_path, tight), rehearsed(tmp_path, loose)
    assert before.worst.cause.startswith(cause), [(x.cause, round(x.share, 3)) for x in before.limits.limits]
    assert key in before.worst.key or key in before.worst.says
    assert after.busy() > before.busy() + HELPS
    told = next((limit for limit in after.limits.limits if limit.cause == before.worst.cause), None)
    assert told is None or told.share < before.worst.share


@pytest.mark.parametrize("name", ["a budget", "copies", "stagger"])
def test_loosening_something_else_does_not_help(name: str, tmp_path: Path) -> None:
    _, _, tight, _ = BOTTLENECKS[name]
    before = rehearsed(tmp_path, tight)
    others = {"per_target": 500.0, "queue_ahead_s": 3600.0, "builds": 99}
    after = rehearsed(tmp_path, {**others, **tight})
    assert abs(after.busy() - before.busy()) < DOES_NOT


def test_builds_are_named_and_more_at_once_help(tmp_path: Path) -> None:
    """Two builds of 25 minutes each: one after the other they keep half of the mix waiting for fifty."""
    few = {"building": True, "hours": 3.0, "copies": (("small", 4),)}
    slow = replace(times(**USUAL), builds=Builds(mean_s=1500.0))
    before = rehearsed(tmp_path, few | {"builds": 1}, slow)
    assert before.limits.limits[0].cause.startswith("build:"), [
        (x.cause, round(x.share, 3)) for x in before.limits.limits
    ]
    after = rehearsed(tmp_path, few | {"builds": 2}, slow)
    assert after.busy() > before.busy() + HELPS
    assert _lost(after, "build:") < _lost(before, "build:")


def test_builds_that_fail_are_counted_and_not_called_a_slow_ramp(tmp_path: Path) -> None:
    """Nothing was ever ordered, so nothing was being filled: a plan whose builds fail is not helped by a shorter ramp."""
    broken = replace(times(**USUAL), builds=Builds(mean_s=1500.0, failing=1.0))
    played = rehearsed(tmp_path, {"building": True, "hours": 3.0, "ramp_s": 1800.0, "builds": 1}, broken)
    causes = {limit.cause.partition(":")[0] for limit in played.limits.limits}
    assert "build" in causes and "ramp" not in causes
    assert played.limits.unbuilt == played.log().count(b'"verdict":"build_failed"') == 2


def _lost(played: Played, cause: str) -> float:
    return sum(limit.node_hours for limit in played.limits.limits if limit.cause.startswith(cause))


def test_queue_ahead_is_named_where_nodes_fall_idle_before_anybody_hears_of_it(tmp_path: Path) -> None:
    """Runs of ten seconds: between an end and the next order lie seconds, unless something waits at the scheduler."""
    short = times(small=10.0, large=10.0)
    before = rehearsed(tmp_path, {"hours": 0.3, "queue_ahead_s": 0.0, "limit_s": 60.0}, short)
    after = rehearsed(tmp_path, {"hours": 0.3, "queue_ahead_s": 60.0, "limit_s": 60.0}, short)
    assert before.worst.key == "fill.queue_ahead", [(x.cause, round(x.share, 3)) for x in before.limits.limits]
    assert after.busy() > before.busy() + HELPS


def test_the_books_balance(tmp_path: Path) -> None:
    """What worked, what was lost, and what is too little to name are all of the node-hours there were."""
    for wish in ({"per_target": 2.0}, {"widths": (9, 9)}, {"ramp_s": 3600.0}):
        played = rehearsed(tmp_path, wish)
        limits = played.limits
        named = limits.share + sum(limit.share for limit in limits.limits)
        assert 0.95 < named <= 1.0 + 1e-6, limits
        assert limits.share == pytest.approx(played.busy(), abs=0.02)


def test_failing_runs_and_hung_ones_are_told_apart_from_idle_nodes(tmp_path: Path) -> None:
    played = play(tmp_path, Mixed().plan(), times(**USUAL), "timeout=30%")
    assert played.worst.cause == "verdict:timeout"
    assert "limits" in {event["value"].get("kind") for event in _findings(played)}


def _findings(played: Played) -> list[dict[str, Any]]:
    import msgspec

    lines = [msgspec.json.decode(line) for line in played.log().splitlines() if b'"finding"' in line]
    return [line for line in lines if line["event"] == "finding"]


def test_a_plan_without_a_bottleneck_says_so(tmp_path: Path) -> None:
    played = rehearsed(tmp_path, {"hours": 200.0, "limit_s": 3600.0})
    assert played.limits.share > 0.97
    assert played.limits.worst is None or played.worst.share < 0.03
