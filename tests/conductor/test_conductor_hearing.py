"""What reaches the loop at an awkward moment, or is not what it ought to be: nothing of it ends a conductor."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace
from stage import Campaign, small_document

from shakedown.checks.trim import size
from shakedown.conductor.commands.registry import commands_for
from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.loop import hear, log_reports
from shakedown.conductor.record.differences import differences
from shakedown.engine import decide
from shakedown.model.events import VALUE_LIMIT, Event
from shakedown.model.judging import Contract, ContractRow
from shakedown.model.nouns import Component, Document
from shakedown.model.ports import CheckResult, Evidence, JobReport


def staged(document: Document | None = None) -> tuple[Campaign, Conductor]:
    """A campaign of one run, which a cluster has; nobody drives it on but the test."""
    campaign = Campaign(document or small_document(tests=1, repeats=1, budgets={}))
    conductor = campaign._conductor(100)
    conductor.watch, conductor.commands = None, commands_for(campaign.documents.__getitem__)
    conductor.log("campaign_start", value={"campaign": "toy"})
    conductor.log("driver_start")
    order(conductor)
    conductor.log("submit_accepted", job="j000001", value={"id": "7"})
    return campaign, conductor


def order(conductor: Conductor) -> list[Event]:
    """What is decided, logged and not carried out."""
    return [conductor.log(order.event) for order in decide(conductor.state, conductor.state.time).orders]


def report(conductor: Conductor, **value: Any) -> None:
    conductor.log("job_report", job="j000001", run="r000001", value=value)


class Arrived:
    """A port that has something to say, once."""

    def __init__(self, *things: Any) -> None:
        self.things = list(things)

    def poll(self) -> list[Any]:
        things, self.things = self.things, []
        return things


def test_a_run_whose_job_was_put_back_while_its_output_was_read_is_judged_by_that() -> None:
    _, conductor = staged()
    report(conductor, state="failed", source="marks", exit=137, elapsed_s=5.0)
    assert [event.event for event in order(conductor)] == ["check_start"]
    report(conductor, state="requeued", source="queue", restart=1)
    conductor.ports.collector = Arrived(Evidence("r000001"))  # type: ignore[assignment]
    hear(conductor)
    verdicts = [event for event in order(conductor) if event.event == "verdict"]
    assert [(event.run, event.value["verdict"]) for event in verdicts] == [("r000001", "interrupted")]


LAST = 'the last line of its output is "oops"'  # which does not say what killed it


@pytest.mark.parametrize(("source", "words"), [("marks", ": it ran out of memory; {last}"), ("local", ": {last}")])
def test_the_schedulers_words_about_a_failed_job_are_in_the_verdict(source: str, words: str) -> None:
    """A status alone does not tell a kill for memory from any other. Of a local job it says what the status says already."""
    campaign, conductor = staged()
    ended = {"state": "failed", "source": source, "exit": 137, "elapsed_s": 5.0}
    conductor.log("job_report", job="j000001", run="r000001", value=ended, reason="it ran out of memory")
    order(conductor)
    conductor.ports.collector = Arrived(Evidence("r000001", excerpt="oops"))  # type: ignore[assignment]
    hear(conductor)
    conductor.commit()
    (verdict,) = [event for event in campaign.events() if event.event == "verdict"]
    assert verdict.reason == f"exit status 137 (a command was ended by signal 9 (SIGKILL)){words.format(last=LAST)}"


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_run_whose_job_was_put_back_before_its_output_was_read_is_not_read(cancelled: bool) -> None:
    _, conductor = staged()
    report(conductor, state="failed", source="marks", exit=137, elapsed_s=5.0)
    if cancelled:
        conductor.log("cancel_request", value={"all": True}, reason="enough")
    report(conductor, state="requeued", source="queue", restart=1)
    done = [(event.event, event.run) for event in order(conductor)]
    assert ("verdict", "r000001") in done
    assert ("check_start", "r000001") not in done


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("cancel", {"runs": 5}),
        ("cancel", {"runs": [["r000001"]]}),
        ("cancel", {"cases": [{}]}),
        ("cancel", {"cases": "t0"}),
        ("attest", {"component": "first", "procedure": ["x"]}),
        ("rule", {"run": None, "as": {}}),
        ("waive", {"component": [], "name": 7}),
        ("stop", {"more": [1]}),
    ],
)
def test_a_wish_of_the_wrong_shape_is_refused_or_harmless(what: str, value: dict[str, Any]) -> None:
    campaign, conductor = staged()
    campaign.inbox.post(what, reason="so", **value)
    hear(conductor)
    assert not campaign.inbox.waiting, "it does not come back"
    heard = [event for event in campaign.events() if event.event in ("command_refused", "stop_request")]
    assert [event.event for event in heard] == ["stop_request" if what == "stop" else "command_refused"]


@pytest.mark.parametrize(
    ("what", "value", "reason"),
    [
        ("change", {"by": "\u0430nna"}, "so"),
        ("stop", {}, "\u200b"),
        ("cancel", {"all": True, "by": "Anna\u200b"}, "so"),
        (
            "waive",
            {"component": "first", "name": "passed", "restriction": "none", "by": "Ada"},
            "so",
        ),
    ],
)
def test_words_that_show_nothing_or_look_like_others_are_refused(what: str, value: dict[str, Any], reason: str) -> None:
    """Of every command, in one place: nothing of it is carried out."""
    campaign, conductor = staged()
    campaign.inbox.post(what, reason=reason, **value)
    hear(conductor)
    (event,) = [event for event in campaign.events() if event.value.get("request")]
    assert event.event == "command_refused"
    assert re.search("two alphabets|no visible character|invisible character|restricts nothing", event.reason)


def test_a_run_that_the_scheduler_did_not_take_yet_can_be_cancelled_by_name() -> None:
    campaign, conductor = staged()
    conductor.log("submit_deferred", job="j000001", reason="job submit limit reached")
    assert [entry.void_run for entry in conductor.state.waiting.delayed] == ["r000001"]
    campaign.inbox.post("cancel", reason="wrong deck", runs=["r000001"])
    hear(conductor)
    verdicts = [event for event in order(conductor) if event.event == "verdict"]
    assert [(event.run, event.value["verdict"]) for event in verdicts] == [("r000001", "cancelled")]


def test_a_run_that_an_amendment_does_not_want_is_held_against_no_row_of_the_new_plan() -> None:
    """Rows are named by their place: c:1, which asked about its test, is another one now, and asks about another test."""
    plain = small_document(tests=2, repeats=1, budgets={})
    only = (Component("only", "functionality", ("t0",)),)
    mine = ContractRow("c:1", "c", "t0", "elapsed", "<= 1 h", "contract", high=3600.0, unit="s", verdict=True)
    other = replace(mine, test="t1", must="<= 1 s", high=1.0)
    cases = tuple(replace(case, rows=("c:1",)) if case.id == "t0" else case for case in plain.cases)
    before = replace(plain, components=only, cases=cases, contracts=(Contract("c", (mine,)),))
    after = replace(plain, components=(), cases=plain.cases[1:], contracts=(Contract("c", (other,)),))
    campaign, conductor = staged(before)
    report(conductor, state="completed", source="marks", elapsed_s=5.0)
    order(conductor)
    campaign.amend(after)
    conductor.commands = commands_for(campaign.documents.__getitem__)
    evidence = Evidence("r000001", (CheckResult('output contains "ok"', True),), (("rate", 1.0),))
    conductor.ports.collector = Arrived(evidence)  # type: ignore[assignment]
    hear(conductor)
    conductor.commit()
    [verdict] = campaign.events("verdict")
    assert (verdict.run, verdict.value["verdict"]) == ("r000001", "passed"), verdict.reason


@pytest.mark.parametrize(("unit", "refused"), [("MB/s", True), ("", False)])
def test_values_on_record_keep_the_unit_that_they_were_taken_in(unit: str, refused: bool) -> None:
    """A rate of 12 was a plain number; read as 12 MB/s it would be another value."""
    campaign, conductor = staged()
    (test, *others) = campaign.document.tests
    changed = replace(test, figures=(replace(test.figures[0], unit=unit),), checks=())
    campaign.amend(replace(campaign.document, tests=(changed, *others)))
    hear(conductor)
    said = [event for event in campaign.events() if event.event in ("amended", "command_refused")]
    wanted = ("command_refused", "figure rate of test t0 is a plain number on record and would be in MB/s")
    assert [(event.event, event.reason) for event in said] == [wanted if refused else ("amended", "a change")]


def test_another_order_of_the_components_is_a_difference() -> None:
    document = small_document()
    turned = replace(document, components=document.components[::-1])
    assert differences(document, turned) == ["the order of the components is changed"]
    assert differences(document, document) == []


def test_a_verdict_fits_an_event_whatever_nodes_it_ran_on() -> None:
    """Every other node of a large machine folds into kilobytes; what was checked makes room for them."""
    _, conductor = staged()
    nodes = f"n[{','.join(f'{number:04d}' for number in range(1, 1000, 2))}]"
    report(conductor, state="completed", source="marks", elapsed_s=5.0, nodes=nodes)
    order(conductor)
    checks = tuple(CheckResult(f"output contains {number}", False, "it is nowhere" * 9) for number in range(20))
    conductor.ports.collector = Arrived(Evidence("r000001", checks))  # type: ignore[assignment]
    hear(conductor)
    [verdict] = [event for event in conductor.pending if event.event == "verdict"]
    assert verdict.value["nodes"] == nodes
    assert size(verdict.value) <= VALUE_LIMIT


def test_a_job_that_somebody_gave_fewer_nodes_is_not_what_was_asked_for() -> None:
    """``scontrol update jobid=7 numnodes=1`` while it waited: it ran to its end, on another number of nodes."""
    _, conductor = staged()
    wanted = conductor.state.index.cases[conductor.state.jobs["j000001"].case].shape.nodes
    nodes = f"n[1-{wanted + 1}]"
    log_reports(conductor, [JobReport("j000001", "completed", "marks", "7", exit_status=0, elapsed_s=5.0, nodes=nodes)])
    [verdict] = [event for event in order(conductor) if event.event == "verdict"]
    assert verdict.value["verdict"] == "interrupted"
    assert f"it ran on {wanted + 1} nodes ({nodes}) and asks for {wanted}" in verdict.reason


def test_a_job_whose_node_was_booted_under_it_holds_nothing_any_more() -> None:
    _, conductor = staged()
    said = JobReport(
        "j000001", "node_fail", "marks", "7", nodes="n1", failed_nodes=("n1",), dead=True, message="n1 was booted"
    )
    log_reports(conductor, [said])
    order(conductor)
    assert "j000001" not in conductor.state.jobs
