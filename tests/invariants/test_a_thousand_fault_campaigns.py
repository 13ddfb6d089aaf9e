"""Eleven hundred seeded campaigns with everything that goes wrong, on small machines; every invariant is held at every event.

What went wrong is counted by the machine itself: the last chunk to finish asks that every switch changed something often enough.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from thousand_campaigns import SWITCHES, play_or_say
from thousand_troubles import POINTS

CAMPAIGNS, EACH = 1100, 25
OFTEN = 20  # campaigns in which each switch changes something, at least


@pytest.mark.parametrize("first", range(0, CAMPAIGNS, EACH))
def test_campaigns_in_trouble(first: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    exercised: Counter[str] = Counter()
    for seed in range(first, first + EACH):
        campaign = play_or_say(seed)
        exercised.update([name for name, count in campaign.exercised.items() if count])
        exercised["drawn moments"] += campaign.strict.moments
        exercised["lifted reasons"] += campaign.strict.lifted
    told = _tell_the_others(tmp_path_factory, first, exercised)
    if told is not None:
        _was_enough(told)


def _tell_the_others(places: pytest.TempPathFactory, first: int, mine: Counter[str]) -> Counter[str] | None:
    """Chunks run in several processes: each leaves its counts; who finds those of all has the sum."""
    base = places.getbasetemp()
    shared = Path(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "thousand"
    shared.mkdir(exist_ok=True)
    (shared / f"{first}.tmp").write_text(json.dumps(mine))
    (shared / f"{first}.tmp").rename(shared / f"{first}.json")
    files = list(shared.glob("*.json"))
    if len(files) < CAMPAIGNS // EACH:
        return None
    return sum((Counter(json.loads(file.read_text())) for file in files), Counter())


def _was_enough(told: Counter[str]) -> None:
    rare = {switch: told[switch] for switch in SWITCHES if told[switch] < OFTEN}
    assert not rare, f"too little came of {rare} in {CAMPAIGNS} campaigns"
    spared = [point for point in dict.fromkeys(POINTS) if not told[f"crash at {point}"]]
    assert not spared, f"no conductor died at {spared}"
    assert told["drawn moments"] > 2 * CAMPAIGNS
    assert told["lifted reasons"] > CAMPAIGNS


@pytest.mark.parametrize("seed", [2864, 4078])
def test_nothing_follows_a_job_that_may_live_on(seed: int) -> None:
    """Slurm calls it NODE_FAIL while its processes go on; two jobs that follow it are started, and do nothing."""
    campaign = play_or_say(seed)
    assert any(event.value.get("state") == "void" for event in campaign.log.events() if event.event == "job_report")


def test_nothing_follows_a_job_whose_follower_began() -> None:
    """Its end was not told yet: what followed it would begin at once, within the time that starts are to lie apart."""
    play_or_say(3692)


@pytest.mark.parametrize("seed", [5170, 5246])
def test_clocks_that_are_taken_up_again_and_runs_that_nobody_reaches(seed: int) -> None:
    """An amendment takes a drained component up again; a slow run whose node is lost ends at its time limit."""
    play_or_say(seed)


def test_what_probes_a_held_queue_may_have_a_node_that_was_let_in_since_its_order() -> None:
    """Its release says anew which nodes it must not have, and a person let one of them in by then."""
    play_or_say(20148)


def test_a_filler_beside_jobs_of_another_component() -> None:
    """They are ordered in the decision that weighs what the filler may take, and no part of its mix."""
    play_or_say(20261180)


def test_the_same_seed_gives_the_same_log_to_the_byte() -> None:
    """Of each kind of campaign, under another hash seed, time zone, directory and process."""
    program = (
        "import sys; sys.path[:0] = sys.argv[1:3]; import test_a_thousand_fault_campaigns as t; print(t.hash_of_some())"
    )
    here = Path(__file__).parent
    elsewhere = (
        ({"PYTHONHASHSEED": "1", "TZ": "UTC"}, "/"),
        ({"PYTHONHASHSEED": "77", "TZ": "Pacific/Auckland"}, here),
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program, str(here), str(here.parent / "support")],
            env=os.environ | environment,
            cwd=place,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for environment, place in elsewhere
    }
    assert said == {hash_of_some()}


def hash_of_some() -> str:
    return hashlib.sha256(b"".join(play_or_say(seed).log.bytes() for seed in range(240, 252))).hexdigest()
