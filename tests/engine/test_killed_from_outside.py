"""A job that somebody ended, nobody says who, is attempted again; the third time it is taken for the payload's own doing."""

from __future__ import annotations

import msgspec
from engine_by_hand import ByHand, begun
from stability_plan import document, machine
from stage import small_document

from shakedown.model.filling import Pack, Sweep
from shakedown.model.nouns import Case, Component, Retry, Shape

SCRIPT = "its job script was ended by signal 9 (SIGKILL), and how its payload ended is not known"


def ended(hand: ByHand, number: int, cause: str) -> list[str]:
    """The job of that number runs and is ended."""
    job, run = f"j{number:06d}", f"r{number:06d}"
    hand.play("submit_accepted", job=job, value={"id": str(number)})
    hand.play("job_report", job=job, run=run, value={"state": "running", "source": "queue", "nodes": "n1"})
    value = {"state": "interrupted", "source": "queue", "nodes": "n1"} | ({"cause": cause} if cause else {})
    hand.play("job_report", job=job, run=run, value=value, reason=SCRIPT if cause else "it was preempted by other work")
    tally = hand.state.tallies[0]
    before = dict(tally.verdicts)
    hand.settle()
    return [verdict for verdict, count in tally.verdicts.items() if count > before.get(verdict, 0)]


def test_what_kills_it_three_times_is_no_accident() -> None:
    hand = begun(small_document(tests=1, repeats=1))
    assert [ended(hand, number, "killed") for number in (1, 2, 3)] == [["interrupted"], ["interrupted"], ["failed"]]
    assert hand.state.tallies[0].closed == 1


def test_what_the_scheduler_explains_is_attempted_as_often_as_the_plan_says() -> None:
    hand = begun(small_document(tests=1, repeats=1))
    assert [ended(hand, number, "") for number in (1, 2, 3, 4)] == [["interrupted"]] * 4


# ---- jobs of several runs ----------------------------------------------------------------------------------------------


def killed_whenever_it_has(killer: str, component: Component, cause: str = "killed") -> ByHand:
    """Each job in which a case runs is ended from outside, with all that runs in it; other jobs run to their end."""
    names = tuple(f"c{number}" for number in range(3))
    cases = tuple(Case(name, "t", "c:batch", shape=Shape(units=1, time_limit_s=30.0)) for name in names)
    hand = begun(document(machine(2, targets=False), cases, msgspec.structs.replace(component, cases=names)))
    for _ in range(8):
        if component.sweep:
            hand.play("surveyed", value={"idle": {"c:batch": [1, 2]}})
            hand.settle()
        for job in list(hand.state.jobs):
            _comes_to_its_end(hand, job, killer, cause)
    return hand


def _comes_to_its_end(hand: ByHand, job: str, killer: str, cause: str) -> None:
    runs = {name: hand.state.runs[name].case for name in hand.state.jobs[job].parts}
    hand.play("submit_accepted", job=job, value={"id": job[1:]})
    hand.play("job_report", job=job, value={"state": "running", "source": "queue", "nodes": "n1"})
    kills = killer in runs.values() and hand.state.runs[next(iter(runs))].repeat == 1
    for run, case in runs.items():
        hand.play("job_report", job=job, run=run, value={"state": "running", "source": "marks", "part": True})
        if not kills or (case != killer and hand.state.jobs[job].at_once == 1):
            end = {"state": "completed", "source": "marks", "part": True, "exit": 0, "elapsed_s": 1.0}
            hand.play("job_report", job=job, run=run, value=end)
            hand.settle()
            value = {"verdict": "passed", "component": "many", "final": True, "repeat": hand.state.runs[run].repeat}
            hand.play("verdict", case=case, run=run, job=job, value=value)
    said = {"state": "interrupted", "cause": cause} if kills else {"state": "completed"}
    hand.play("job_report", job=job, value=said | {"source": "queue"}, reason=SCRIPT)
    hand.settle()


def verdicts_by_case(hand: ByHand) -> dict[str, list[str]]:
    told: dict[str, list[str]] = {}
    for event in hand.log:
        if event.event == "verdict":
            told.setdefault(event.case, []).append(event.value["verdict"])
    return told


def test_a_run_that_kills_its_pack_is_found_out_alone_and_costs_the_others_nothing() -> None:
    pack = Component("many", "functionality", (), pack=Pack(runs=3, at_once=3, allocations=0))
    hand = killed_whenever_it_has("c1", pack)
    assert verdicts_by_case(hand) == {
        "c0": ["interrupted", "interrupted", "passed"],
        "c1": ["interrupted", "interrupted", "failed"],
        "c2": ["interrupted", "interrupted", "passed"],
    }
    alone = [event.value["parts"] for event in hand.log if event.event == "submit_order"]
    assert alone == [3] * 6 + [1] * 3
    why = next(e.reason for e in hand.log if e.event == "verdict" and e.value["verdict"] == "failed")
    assert "this one with no run beside it: that is its own doing" in why


def test_a_pack_that_the_scheduler_says_why_it_ended_is_attempted_as_often_as_the_plan_says() -> None:
    pack = Component("many", "functionality", (), pack=Pack(runs=3, at_once=3, allocations=0))
    assert verdicts_by_case(killed_whenever_it_has("c1", pack, cause=""))["c1"] == ["interrupted"] * 4


def test_a_run_that_kills_the_job_of_a_sweep_is_found_out_on_its_node() -> None:
    retry = (Retry("interrupted", times=9),)
    sweep = Component("many", "functionality", (), sweep=Sweep(4), retry=retry)
    told = verdicts_by_case(killed_whenever_it_has("c1", sweep))
    assert (sorted(told["c1"]), told["c0"]) == (["failed", "interrupted", "interrupted", "passed"], ["passed"] * 2)


def test_a_run_of_a_pack_that_is_no_result_of_its_case_is_interrupted() -> None:
    """It stood still, or somebody gave its job other nodes: that is what its end is called by whoever hears of it."""
    pack = Component("many", "functionality", (), pack=Pack(runs=3, at_once=3, allocations=0))
    names = tuple(f"c{number}" for number in range(3))
    cases = tuple(Case(name, "t", "c:batch", shape=Shape(units=1, time_limit_s=30.0)) for name in names)
    hand = begun(document(machine(2, targets=False), cases, msgspec.structs.replace(pack, cases=names)))
    hand.play("submit_accepted", job="j000001", value={"id": "1"})
    end = {"state": "interrupted", "source": "marks", "part": True, "elapsed_s": 1.0}
    hand.play("job_report", job="j000001", run="r000001", value=end, reason="it stood still for 30.0 s while it ran")
    hand.settle()
    (verdict,) = (event for event in hand.log if event.event == "verdict")
    assert (verdict.value["verdict"], verdict.reason) == ("interrupted", "it stood still for 30.0 s while it ran")
