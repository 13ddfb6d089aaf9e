"""A mix of which little is kept in store at the scheduler: what is held there does not go before a test that is further behind."""

from __future__ import annotations

from collections import defaultdict

import pytest
from stability_plan import C5_TIMES, TABLE_4, c5_stability, play, shares, with_limits

from shakedown.model.filling import Fill

HOUR = 3600.0


@pytest.mark.parametrize("seed", [7, 8])
@pytest.mark.parametrize("queue_ahead_s", [60.0, 300.0])
def test_the_shares_hold_in_every_part_of_the_time(queue_ahead_s: float, seed: int) -> None:
    """Of one test alone something is held at first: released whenever nodes fall idle, it would have the machine to itself."""
    fill = Fill(target=0.99, queue_ahead_s=queue_ahead_s, ramp_s=1800.0)
    plan = with_limits(c5_stability(days=1.5, fill=fill), stagger_s=30.0)
    campaign = play(plan, C5_TIMES, seed=seed, watched=False)
    begun = min(one.start for one in campaign.world.executions)

    for low, high in ((8 * HOUR, 20 * HOUR), (20 * HOUR, 32 * HOUR)):
        had: dict[str, float] = defaultdict(float)
        for one in campaign.world.executions:
            test, end = one.case.partition("@")[0], one.end or one.start
            overlap = min(end, begun + high) - max(one.start, begun + low)
            had[test] += max(0.0, overlap) * TABLE_4[test][3]
        whole = sum(had.values())
        assert whole / (1920 * (high - low)) > 0.95
        for test, share in shares():
            assert had[test] / whole == pytest.approx(share, abs=0.04), (test, low / HOUR)
