"""A rehearsal whose run times are those of a past campaign: out of that one's own record on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from machine_simulated import rehearse, taking
from stability_plan import small_stability

from shakedown.events.campaigns import create_campaign
from shakedown.events.lease import Lease
from shakedown.events.opening import open_log
from shakedown.model.errors import RecordError, UsageError
from shakedown.model.frozen import freeze
from shakedown.model.scenario import RunTime, Scenario
from shakedown.rehearsal.history import with_past_times
from shakedown.twin.machine.run_times import times_of


def recorded(site: Path, name: str, scenario: Scenario, most: int = 1_000_000) -> None:
    """A campaign in the site's record, or the first so many of its events."""
    plan = small_stability()
    layout = create_campaign(site / "campaigns", name, freeze(plan))
    events = rehearse(plan, scenario, poll_s=5.0).log.events()[:most]
    with Lease.acquire(layout) as lease:
        log, _ = open_log(layout.log, lease)
        log.append(events)
        log.close()


def test_the_times_of_a_campaign_come_back_as_they_were(tmp_path: Path) -> None:
    plan = small_stability()
    tests = [case.test for case in plan.cases]
    was = {test: 30.0 + number for number, test in enumerate(tests)}
    recorded(tmp_path, "past-1", Scenario(times=tuple((test, RunTime(seconds)) for test, seconds in was.items())))
    written = Scenario(times=(("cm4", RunTime(11.0)),), times_from="past-1")
    found = times_of(plan, with_past_times(written, tmp_path))
    assert {case: round(time.mean_s, 3) for case, time in found.items()} == was | {"cm4": 11.0}
    assert found["spear"].source.startswith("campaign past-1, ")


def test_a_scenario_that_names_no_campaign_is_left_alone(tmp_path: Path) -> None:
    scenario = taking(5.0)
    assert with_past_times(scenario, tmp_path) is scenario


@pytest.mark.parametrize(
    ("name", "message"), [("past-2", "no campaign 'past-2'"), ("empty", "no run of campaign empty")]
)
def test_a_campaign_that_is_not_there_or_has_no_run_is_told(tmp_path: Path, name: str, message: str) -> None:
    recorded(tmp_path, "empty", taking(5.0), most=2)
    with pytest.raises(UsageError, match=message):
        with_past_times(Scenario(times_from=name), tmp_path)


def test_nothing_is_taken_from_a_damaged_record(tmp_path: Path) -> None:
    recorded(tmp_path, "past-1", taking(5.0))
    path = tmp_path / "campaigns/past-1/log/000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"attempt":1', b'"attempt":2', 1))
    with pytest.raises(RecordError, match=r"the record of past-1 is damaged: log/000001\.jsonl, line "):
        with_past_times(Scenario(times_from="past-1"), tmp_path)
