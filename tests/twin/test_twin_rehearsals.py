"""Ten days on C5 in virtual time, through the real engine: the troubles of paper 004 where nobody thinks of targets, and none
where budgets do; and the same seed gives the same truth wherever it is asked.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from machine_simulated import DAY, HOUR, rehearse
from stability_plan import TABLE_4, Filled, c5_stability, with_limits

from shakedown.model.nouns import Document
from shakedown.model.scenario import (
    Builds,
    Faults,
    Harness,
    Hole,
    Maintenance,
    Metadata,
    Neighbour,
    Nodes,
    RunTime,
    Scenario,
)

TIMES = tuple((test, RunTime(mean, sd, 0.02, 1.9)) for test, (mean, sd, _, _) in TABLE_4.items())
F2 = Metadata("f2/mdt", healthy=12.0, share=0.25, every_run=1.0)
HERE = Path(__file__).parent.parent


# As many copies of each as were on C5 on average, rounded up: as many jobs went round there, each submitting the next.
CAPS = {"cm4": 6, "esm4-small": 3, "esm4-large": 4, "spear": 5, "shield": 5, "ufs": 1}


def unplanned(plan: Document) -> Document:
    """The same, where no test says what it loads: there are no budgets that hold it."""
    cases = tuple(msgspec.structs.replace(case, loads=(), work="", targets=()) for case in plan.cases)
    return msgspec.structs.replace(plan, cases=cases)


def verdicts(campaign: Filled) -> Counter[str]:
    return Counter(event.value["verdict"] for event in campaign.log.events() if event.event == "verdict")


def lasted(campaign: Filled) -> dict[str, list[float]]:
    """By test, how long its completed runs took as a share of the mean in Table IV."""
    found: dict[str, list[float]] = {test: [] for test in TABLE_4}
    for one in campaign.world.executions:
        if one.end is not None:
            found[one.case].append((one.end - one.start) / TABLE_4[one.case][0])
    return found


def test_copies_that_are_spread_over_the_targets_take_as_long_as_is_written() -> None:
    """Twelve on each target, and the written times hold up to twelve: nothing but the tail takes longer."""
    campaign = rehearse(c5_stability(1.0), Scenario(times=TIMES, metadata=(F2,)))
    assert set(verdicts(campaign)) <= {"passed", "cancelled"}
    shares = [share for of in lasted(campaign).values() for share in of]
    assert len(shares) > 500
    assert sum(share > 1.02 for share in shares) / len(shares) == pytest.approx(0.02, abs=0.015)
    assert max(share for share in shares if share < 1.5) < 1.02


def test_copies_that_all_work_on_one_target_run_into_their_walltime() -> None:
    """The longest of the six go first: 6,000 s by nature, and 14,500 s at most. On four targets none of them did."""
    campaign = rehearse(unplanned(c5_stability(1.0)), Scenario(times=TIMES, metadata=(F2,)))
    found, slow = verdicts(campaign), lasted(campaign)
    assert found["timeout"] > 0.2 * found.total()
    assert min(slow["cm4"][20:]) > 1.3, "every one of them suffers, whether it ends or not"
    ended = Counter(one.case for one in campaign.world.executions if one.end and one.end - one.start >= 14_500)
    assert ended["esm4-small"] > 0.5 * len(slow["esm4-small"])


def test_a_build_before_every_job_leaves_the_machine_empty() -> None:
    """Four slots and builds of 45 minutes: no more than four jobs in 45 minutes, whatever the machine could do (Little's law)."""
    harness = Harness(build_first=True)
    scenario = Scenario(times=TIMES, metadata=(F2,), builds=Builds(slots=4, mean_s=2700.0), harness=harness)
    campaign = rehearse(c5_stability(2.0), scenario)
    begun = len(campaign.world.executions)
    assert begun == pytest.approx(4 * 2 * DAY / 2700, rel=0.03)
    assert campaign.world.physics is not None
    assert campaign.world.physics.slots.most == 4


def test_three_days_without_esm4_and_a_backlog_after_them() -> None:
    hole = Hole(("esm4-small", "esm4-large"), 40 * HOUR, 72 * HOUR)
    plan = with_limits(c5_stability(6.0), copies=tuple(CAPS.items()))
    campaign = rehearse(plan, Scenario(times=TIMES, metadata=(F2,), harness=Harness(holes=(hole,))))
    began = campaign.world.began
    starts = {test: sorted(e.start - began for e in campaign.world.executions if e.case == test) for test in TABLE_4}
    for test, at in starts.items():
        longest = max(later - before for before, later in pairwise(at))
        if test.startswith("esm4"):
            assert 65 * HOUR < longest < 75 * HOUR
        elif test != "ufs":
            assert longest < 5 * HOUR, f"{test} goes on"
    reasons = {event.reason for event in campaign.log.events() if event.event == "job_report"}
    assert "JobHeldAdmin" in reasons


TROUBLED = Scenario(
    times=TIMES,
    builds=Builds(slots=4, mean_s=600.0, spread_s=60.0),
    nodes=Nodes(mtbf_s=60 * DAY, repair_s=2 * HOUR, slow_share=0.01, slow_factor=1.2),
    metadata=(F2,),
    others=(Neighbour("c3", 9 * HOUR, 17 * HOUR, (("f2/mdt", 6.0),), 40),),
    maintenance=(Maintenance(20 * HOUR, HOUR, "n[0001-0200]"),),
    harness=Harness(build_first=True, forgets=0.02, notice_s=6 * HOUR),
    faults=Faults(failed=0.03, incorrect=0.01, timeout=0.005, node_fail=0.01, requeued=0.01),
)


def truth() -> str:
    """A digest of the log and of what really happened in a day of troubles."""
    campaign = rehearse(c5_stability(1.0), TROUBLED, seed=11)
    lines = "\n".join(map(str, campaign.world.executions))
    return hashlib.sha256(campaign.log.bytes() + lines.encode()).hexdigest()


def test_the_same_seed_gives_the_same_truth_in_another_process(tmp_path: Path) -> None:
    """Under another hash seed, time zone and directory."""
    paths = os.pathsep.join([str(HERE / "support"), str(HERE / "twin"), *sys.path])
    found = set()
    for number, zone in (("1", "UTC"), ("4321", "Asia/Tokyo")):
        environment = os.environ | {"PYTHONHASHSEED": number, "TZ": zone, "PYTHONPATH": paths}
        words = [sys.executable, "-c", "import test_twin_rehearsals as t; print(t.truth())"]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1
    assert (
        rehearse(c5_stability(0.2), TROUBLED, seed=12).log.bytes() != rehearse(c5_stability(0.2), TROUBLED).log.bytes()
    )
