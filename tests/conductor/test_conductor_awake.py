"""A loop that stood still, and a clock that was set: both are said, and nobody is blamed for the silence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from stage import Campaign, small_document

from shakedown.conductor.driver.awake import Awake
from shakedown.conductor.driver.loop import act
from shakedown.engine import decide, evolve
from shakedown.model.events import Event
from shakedown.model.nouns import Build
from shakedown.model.ports import BuildReport


@dataclass
class Clock:
    steady: float = 100.0
    behind: float = 0.0

    def awake(self) -> Awake:
        return Awake(lambda: self.behind, lambda: self.steady)

    def pass_by(self, seconds: float) -> None:
        self.steady += seconds


def kinds(events: list[Event]) -> list[tuple[str, float]]:
    return [(event.value["kind"], event.value["seconds"]) for event in events]


def test_a_wait_that_took_as_long_as_it_was_meant_to_is_no_finding() -> None:
    clock = Clock()
    awake = clock.awake()
    awake.sleep(600.0, lambda: clock.pass_by(600.5))
    clock.pass_by(1.0)

    assert awake.events() == []


def test_a_wait_for_an_answer_is_no_standing_still() -> None:
    """sbatch is waited for on purpose. What goes beyond that is told."""
    clock, waited = Clock(), [3.0]
    awake = Awake(lambda: 0.0, lambda: clock.steady, lambda: waited[0])
    clock.pass_by(6.0)
    waited[0] += 6.0
    assert awake.events() == []
    clock.pass_by(66.0)
    waited[0] += 6.0
    assert kinds(awake.events()) == [("stood_still", 60.0)]


@pytest.mark.parametrize("asleep", [True, False])
def test_standing_still_is_said_once_with_its_length(asleep: bool) -> None:
    """Stopped in its sleep, or while it wrote to a disk that did not answer."""
    clock = Clock()
    awake = clock.awake()
    if asleep:
        awake.sleep(2.0, lambda: clock.pass_by(62.0))
    else:
        clock.pass_by(60.0)
    found = awake.events()

    assert kinds(found) == [("stood_still", 60.0)]
    assert found[0].reason.startswith("the conductor stood still for 1 min")
    assert awake.events() == []


def test_a_clock_that_is_set_is_said_once_however_slowly_the_difference_is_made_up() -> None:
    clock = Clock()
    awake = clock.awake()
    clock.behind = 86400.0
    assert kinds(awake.events()) == [("clock_set", 86400.0)]
    while clock.behind > 50_000:
        clock.pass_by(1000.0)  # the loop stood still, too: so much more was made up
        clock.behind -= 50.0
        assert [kind for kind, _ in kinds(awake.events())] == ["stood_still"]
    clock.behind -= 86400.0
    [found] = awake.events()
    assert found.value["seconds"] == -86400.0
    assert found.reason.startswith("the clock of this machine was set back by")


# ---- what the engine makes of it ---------------------------------------------------------------------------------------


def silent(state: str, stood_still: bool, source: str = "accounting") -> list[str]:
    """The verdicts on a run of a cluster of which a source said ``state``, long after that, with and without a gap."""
    campaign = Campaign(small_document(tests=1, repeats=1, budgets={}))
    conductor = campaign._conductor(100)
    conductor.watch = None
    conductor.log("campaign_start", value={"campaign": "toy"})
    conductor.log("driver_start")
    for order in decide(conductor.state, conductor.state.time).orders:
        conductor.log(order.event)
    conductor.log("submit_accepted", job="j000001", value={"id": "7"})
    conductor.log("job_report", job="j000001", run="r000001", value={"state": "running", "source": source})
    if state != "running":
        conductor.log("job_report", job="j000001", run="r000001", value={"state": state, "source": "queue"})
    later = conductor.state.time + 10 * 86400
    if stood_still:
        event = Event("finding", seq=conductor.state.seq + 1, time=later, value={"kind": "stood_still", "seconds": 9e5})
        evolve(conductor.state, event)
    orders = decide(conductor.state, later).orders
    return [order.event.value["verdict"] for order in orders if order.event.event == "verdict"]


@pytest.mark.parametrize("state", ["running", "absent", "no_answer"])
def test_no_deadline_passes_in_a_time_in_which_nobody_was_asked(state: str) -> None:
    assert silent(state, stood_still=False) == ["lost"]
    assert silent(state, stood_still=True) == []


class Builder:
    """Nothing is built; ``told`` hears when it is asked."""

    def __init__(self, told: list[str]) -> None:
        self.told = told

    def poll(self) -> list[BuildReport]:
        self.told.append("heard")
        return []

    def start(self, builds: Sequence[Build]) -> None:
        self.told.append("started")


@pytest.mark.parametrize("source", ["local", "queue"])
def test_what_has_the_process_itself_is_believed_whatever_the_clock_says(source: str) -> None:
    """A clock that leaps by days makes no running job lost that its own scheduler still has."""
    assert silent("running", stood_still=False, source=source) == []


def test_where_the_loop_stood_still_between_hearing_and_deciding_it_hears_first() -> None:
    """A disk that did not answer a commit: a deadline has passed by then, and so did what would have kept it."""
    campaign = Campaign(small_document(tests=1, repeats=1, budgets={}))
    conductor = campaign._conductor(100)
    conductor.watch = None
    conductor.log("campaign_start", value={"campaign": "toy"})
    conductor.log("driver_start")
    told: list[str] = []
    gaps = [Event("finding", value={"kind": "stood_still", "seconds": 60.0})]
    conductor.noticed = lambda: [gaps.pop()] if gaps else []
    conductor.watch = lambda state, event: told.append(event.event)
    conductor.ports.builder = Builder(told)
    act(conductor)

    assert told[:2] == ["finding", "heard"]
    assert "submit_order" in told
    assert conductor.state.driver.awake_since > 0
