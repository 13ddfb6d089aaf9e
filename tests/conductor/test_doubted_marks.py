"""A run whose own marks are not believed: told as a finding, undetermined, attempted again, and failed at the third attempt."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from stage import Campaign, small_document

from shakedown.conductor.commands.registry import commands_for
from shakedown.conductor.driver.loop import hear, log_reports
from shakedown.engine import decide
from shakedown.model.nouns import Check, Document, Test
from shakedown.model.ports import CheckResult, Evidence, JobReport
from shakedown.model.void_starts import PAYLOAD_CHANGED, TOKEN_CHANGED

WELL, WRONG = CheckResult("output contains done", True), CheckResult("output contains done", False, "it is nowhere")
DOUBT = "its end mark has more than one line: somebody else wrote into it"
OUTPUT = {"file": "outputs/o", "bytes": 0, "directory": "work/d", "doubt": DOUBT}


class Arrived:
    """A collector that has something to say."""

    def __init__(self, *things: Any) -> None:
        self.things = things

    def poll(self) -> tuple[Any, ...]:
        return self.things


def _document() -> Document:
    document = small_document(tests=1, repeats=1, budgets={})
    test = Test("t0", checks=(Check("contains", "output", "done", "output contains done"),))
    return msgspec.structs.replace(document, components=document.components[:1], tests=(test, *document.tests[1:]))


def _attempts(count: int, check: CheckResult) -> Campaign:
    """A campaign of one run, each attempt at which ends so; its jobs come to their end by their marks."""
    campaign = Campaign(_document())
    conductor = campaign._conductor(100)
    conductor.watch, conductor.commands = None, commands_for(campaign.documents.__getitem__)
    conductor.log("campaign_start", value={"campaign": "toy", "document": next(iter(campaign.documents))})
    conductor.log("driver_start")

    def act() -> None:
        while orders := decide(conductor.state, conductor.state.time).orders:
            for order in orders:
                conductor.log(order.event)

    act()
    for number in range(1, count + 1):
        (job,) = conductor.state.jobs.values()
        conductor.log("submit_accepted", job=job.id, value={"id": str(number)})
        log_reports(
            conductor,
            [JobReport(job.id, "completed", "marks", exit_status=0, elapsed_s=5.0, output=OUTPUT, doubt=DOUBT)],
        )
        act()
        conductor.ports.collector = Arrived(Evidence(job.run, (check,)))  # type: ignore[assignment]
        hear(conductor)
        act()
    conductor.commit()
    return campaign


@pytest.mark.parametrize(
    ("kind", "why", "nodes"), [("payload_changed", PAYLOAD_CHANGED, "n001"), ("token_changed", TOKEN_CHANGED, "")]
)
def test_a_payload_or_token_that_was_changed_is_a_finding_and_no_node_is_blamed(
    kind: str, why: str, nodes: str
) -> None:
    campaign = Campaign(_document())
    conductor = campaign._conductor(100)
    conductor.watch = None
    conductor.log("campaign_start", value={"campaign": "toy", "document": next(iter(campaign.documents))})
    conductor.log("driver_start")
    for order in decide(conductor.state, conductor.state.time).orders:
        conductor.log(order.event)
    (job,) = conductor.state.jobs.values()
    conductor.log("submit_accepted", job=job.id, value={"id": "1"})
    log_reports(conductor, [JobReport(job.id, "refused", "marks", nodes=nodes, message=why)])
    assert conductor.state.pools.in_vain == {}
    conductor.commit()
    (found,) = [event for event in campaign.events("finding") if event.value["kind"] == kind]
    assert found.job == job.id
    assert found.reason.startswith(why)


def test_a_run_whose_marks_are_doubted_never_passes() -> None:
    campaign = _attempts(3, WELL)
    first, second, third = campaign.events("verdict")
    again = f"could not be judged: {DOUBT}; the result is attempted again while there is time"
    assert [(event.value["verdict"], event.reason) for event in (first, second)] == [("undetermined", again)] * 2
    own = f"{DOUBT}; it is attempt 3, so that is taken for its own doing"
    assert (third.value["verdict"], third.reason) == ("failed", own)
    told = [event for event in campaign.events("finding") if event.value["kind"] == "marks_doubted"]
    assert [(event.run, event.reason) for event in told] == [(run, DOUBT) for run in ("r000001", "r000002", "r000003")]


def test_each_run_of_a_job_that_is_doubted_has_a_finding_of_its_own() -> None:
    """Some of them are judged by then: their ends were told while the job ran."""
    campaign = Campaign(_document())
    conductor = campaign._conductor(100)
    conductor.log("campaign_start", value={"campaign": "toy", "document": next(iter(campaign.documents))})
    conductor.log("driver_start")
    conductor.log(decide(conductor.state, conductor.state.time).orders[0].event)
    conductor.log("submit_accepted", job="j000001", value={"id": "1"})
    doubted = {"r000003": DOUBT, "r000007": "its mark is gone"}
    report = JobReport("j000001", "completed", "marks", exit_status=0, output=OUTPUT, doubt="some", doubted=doubted)
    log_reports(conductor, [report])
    conductor.commit()
    told = [(event.run, event.job, event.reason) for event in campaign.events("finding")]
    assert told == [
        ("r000001", "j000001", "some"),
        ("r000003", "j000001", DOUBT),
        ("r000007", "j000001", "its mark is gone"),
    ]


def test_what_speaks_against_such_a_run_stands() -> None:
    (verdict,) = _attempts(1, WRONG).events("verdict")
    assert verdict.value["verdict"] == "incorrect"
    assert verdict.reason == f"output contains done: it is nowhere; {DOUBT}"
