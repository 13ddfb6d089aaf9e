"""A result that needs another one: it waits for it, begins when that has passed, and is not run where it did not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from engine_by_hand import ByHand, begun
from stability_plan import play, sweep_of_five
from stage import small_document

from shakedown.engine import explain, index_plan
from shakedown.engine.state.jobs import Handed
from shakedown.engine.state.snapshot import freeze_state, thaw_state
from shakedown.model.nouns import Component, Document, Need, Retry

replace = msgspec.structs.replace


def chain(repeats: int = 1, retry: tuple[Retry, ...] = (), **more: Any) -> Document:
    """Three tests in one component, the later ones before those that they need."""
    plan = small_document(tests=3, repeats=repeats)
    first, second, third = (case.id for case in plan.cases[:3])
    needs = {second: (Need(first),), third: (Need(second),)}
    cases = tuple(replace(case, needs=needs.get(case.id, ()), build="") for case in plan.cases)
    component = Component("suite", "functionality", (third, second, first), repeats, retry=retry, **more)
    return replace(plan, cases=cases, components=(component,), builds=())


def came_to(hand: ByHand, job: str, run: str, verdict: str, final: bool = True, **more: Any) -> list[str]:
    """A job runs to its end and is judged; the events that follow."""
    case, repeat = hand.state.runs[run].case, hand.state.runs[run].repeat
    component = hand.state.index.components[hand.state.runs[run].component].name
    hand.play("submit_accepted", job=job, value={"id": "7"})
    state = "completed" if verdict == "passed" else "failed"
    hand.play("job_report", job=job, run=run, value={"state": state, "source": "marks"})
    hand.settle()
    value = {"verdict": verdict, "component": component, "repeat": repeat, "attempt": 1, "final": final} | more
    hand.play("verdict", case=case, run=run, job=job, value=value, reason="so it was")
    return hand.settle()


def live(hand: ByHand) -> dict[str, str]:
    return {run.id: run.case for run in hand.state.runs.values()}


def reasons(hand: ByHand) -> list[tuple[str, int, str, str]]:
    return [(one.case, one.count, one.key, one.text) for one in explain(hand.state, now=hand.state.time)]


def test_each_begins_when_what_it_needs_has_passed() -> None:
    document = chain()
    first, second, third = document.cases[0].id, document.cases[1].id, document.cases[2].id
    hand = begun(document)
    assert live(hand) == {"r000001": first}
    assert reasons(hand) == [
        (third, 1, f"need:{second}", f"{second} #1 of component suite comes first, and waits itself"),
        (second, 1, f"need:{first}", f"{first} #1 of component suite comes first, as r000001"),
    ]
    came_to(hand, "j000001", "r000001", "passed")
    assert live(hand) == {"r000002": second}
    came_to(hand, "j000002", "r000002", "performance")
    assert live(hand) == {"r000003": third}, "a right answer is enough, however slow"
    came_to(hand, "j000003", "r000003", "passed")
    assert hand.state.phase == "ended"


def test_what_is_lost_is_told_down_the_line() -> None:
    hand = begun(chain())
    said = came_to(hand, "j000001", "r000001", "incorrect")
    assert said.count("verdict") == 2 and hand.state.phase == "ended"
    assert hand.state.tallies[0].verdicts == {"incorrect": 1, "not_run": 2}
    assert "submit_order" not in said


def test_the_reason_names_the_run_and_the_way_out() -> None:
    document = chain()
    hand = begun(document)
    hand.play("submit_accepted", job="j000001", value={"id": "7"})
    hand.play("job_report", job="j000001", run="r000001", value={"state": "failed", "source": "marks"})
    hand.settle()
    value = {"verdict": "failed", "component": "suite", "repeat": 1, "attempt": 1, "final": True}
    hand.play("verdict", case=document.cases[0].id, run="r000001", job="j000001", value=value, reason="exit status 1")
    (reason,) = [text for _, _, _, text in reasons(hand) if "judged" in text]
    assert reason == (
        f"{document.cases[0].id} #1 of component suite comes first, and was judged failed as r000001; to run it after all: "
        "shakedown again suite"
    )


def test_an_attempt_that_is_made_again_keeps_it_waiting() -> None:
    document = chain(retry=(Retry("failed", 1),))
    hand = begun(document)
    came_to(hand, "j000001", "r000001", "failed", final=False)
    assert live(hand) == {"r000002": document.cases[0].id}, "the first test is attempted again, and nothing else begins"
    came_to(hand, "j000002", "r000002", "passed")
    assert live(hand) == {"r000003": document.cases[1].id}


def test_repeats_go_with_repeats() -> None:
    document = chain(repeats=2)
    first, second, _ = (case.id for case in document.cases[:3])
    hand = begun(document)
    assert sorted(live(hand).values()) == [first, first]
    came_to(hand, "j000002", "r000002", "passed")
    assert live(hand) == {"r000001": first, "r000003": second}
    assert hand.state.runs["r000003"].repeat == 2
    came_to(hand, "j000001", "r000001", "failed", final=False)
    assert {entry.verdict for entry in hand.state.results.given[next(iter(hand.state.results.given))].values()} == {
        "passed",
        "failed",
    }
    assert hand.state.tallies[0].verdicts == {"passed": 1, "failed": 1, "not_run": 2}


def test_a_component_before_it_is_asked_for_its_last_repeat() -> None:
    document = chain(repeats=3)
    first, second, third = (case.id for case in document.cases[:3])
    before = Component("before", "functionality", (first,), 1)
    document = replace(document, components=(before, Component("suite", "functionality", (second, third), 3)))
    hand = begun(document)
    assert live(hand) == {"r000001": first}
    came_to(hand, "j000001", "r000001", "passed")
    assert set(live(hand).values()) == {second}
    assert [(case, count) for case, count, key, _ in reasons(hand) if key.startswith("need:")] == [(third, 1)] * 3


def test_a_later_verdict_counts_for_what_has_not_begun() -> None:
    """Whoever judges again takes back what waits, and lets go what waits; what was judged stands."""
    document = chain()
    first, second, _ = (case.id for case in document.cases[:3])
    hand = begun(document)
    hand.play("paused", value={"component": "suite"}, reason="wait")
    came_to(hand, "j000001", "r000001", "passed")
    assert [key for case, _, key, _ in reasons(hand) if case == second] == ["paused:suite"]
    again = {"component": "suite", "repeat": 1, "attempt": 1, "was": "passed", "supersedes": hand.state.seq}
    hand.play("verdict", case=first, run="r000001", value=again | {"verdict": "incorrect"}, reason="a new check")
    assert hand.settle()[:2] == ["verdict", "verdict"]
    assert hand.state.tallies[0].verdicts == {"incorrect": 1, "not_run": 2}


def test_a_further_attempt_begins_only_while_what_it_needs_has_passed() -> None:
    """The later verdict comes while the run is under way: it ends, and is not attempted again."""
    document = chain(retry=(Retry("node_fail", 3, 60.0),))
    first, second, _ = (case.id for case in document.cases[:3])
    hand = begun(document)
    came_to(hand, "j000001", "r000001", "passed")
    assert live(hand) == {"r000002": second}
    again = {"component": "suite", "repeat": 1, "attempt": 1, "was": "passed", "supersedes": hand.state.seq}
    hand.play("verdict", case=first, run="r000001", value=again | {"verdict": "incorrect"}, reason="a new check")
    assert live(hand) == {"r000002": second}, "what has begun goes on"
    hand.play("submit_accepted", job="j000002", value={"id": "8"})
    hand.play("job_report", job="j000002", run="r000002", value={"state": "node_fail", "source": "marks"})
    assert hand.settle()[:2] == ["verdict", "retry"]
    assert hand.state.waiting.delayed == []
    assert hand.state.tallies[0].verdicts == {"incorrect": 1, "node_fail": 1, "not_run": 2}


def test_a_sweep_sees_each_node_once_with_all_its_tests() -> None:
    """One of its tests needs what a component before it has not made yet: the others are not sent ahead."""
    plan = sweep_of_five(nodes=4)
    names = plan.components[0].cases
    before = Component("before", "functionality", ("see0",), 1)
    see0 = replace(plan.cases[0], id="see0", test="see0")
    needing = tuple(replace(case, needs=(Need("see0"),) if case.id == names[2] else ()) for case in plan.cases)
    tests = (replace(plan.tests[0], name="see0"), *plan.tests)
    plan = replace(plan, cases=(see0, *needing), tests=tests, components=(before, *plan.components))
    campaign = play(plan)
    made = next(event.seq for event in campaign.events("verdict") if event.case == "see0")
    orders = [event for event in campaign.events("submit_order") if event.value["component"] == "sweep"]
    assert min(event.seq for event in orders) > made
    assert len({event.job for event in orders}) == 4 and len(orders) == 20


def handing(files: tuple[str, ...] = ("mesh.txt",), into: str = "") -> Document:
    """The chain, in which the second test is handed a file of the first one."""
    plan = chain()
    first, second = plan.cases[0].id, plan.cases[1].id
    needs = (Need(first, files, into),)
    return replace(plan, cases=tuple(replace(case, needs=needs) if case.id == second else case for case in plan.cases))


def test_files_go_from_the_run_that_passed_to_the_one_that_needs_it() -> None:
    document = handing(into="from")
    hand = begun(document)
    left = {"mesh.txt": {"mesh.txt": "a" * 64}}
    came_to(hand, "j000001", "r000001", "passed", left=left, output={"directory": "work/000/j000001.0"})
    (run,) = hand.state.runs.values()
    assert (run.case, run.handed) == (
        document.cases[1].id,
        [Handed("r000001", "work/000/j000001.0", {"mesh.txt": "a" * 64}, "from")],
    )
    assert thaw_state(freeze_state(hand.state), hand.state.index) == hand.state


def test_files_of_the_attempt_that_passed_are_handed_on() -> None:
    document = replace(handing(), components=(replace(handing().components[0], retry=(Retry("failed", 1),)),))
    hand = begun(document)
    came_to(hand, "j000001", "r000001", "failed", final=False, left={"mesh.txt": {"mesh.txt": "b" * 64}})
    came_to(hand, "j000002", "r000002", "passed", left={"mesh.txt": {"mesh.txt": "a" * 64}})
    (run,) = hand.state.runs.values()
    assert run.handed == [Handed("r000002", "", {"mesh.txt": "a" * 64})]


@pytest.mark.parametrize(
    ("left", "why"),
    [
        (
            {"mesh.txt": "there is no such file"},
            "and did not leave mesh.txt as r000001: there is no such file; to run it",
        ),
        ({}, "and did not leave mesh.txt as r000001: nobody asked for it when the run was judged; to run it"),
    ],
)
def test_what_is_not_handed_a_file_is_not_run(left: dict[str, str], why: str) -> None:
    document = handing()
    hand = begun(document)
    hand.play("submit_accepted", job="j000001", value={"id": "7"})
    hand.play("job_report", job="j000001", run="r000001", value={"state": "completed", "source": "marks"})
    hand.settle()
    value = {"verdict": "passed", "component": "suite", "repeat": 1, "attempt": 1, "final": True, "left": left}
    hand.play("verdict", case=document.cases[0].id, run="r000001", job="j000001", value=value)
    assert why in reasons(hand)[1][3]
    hand.settle()
    assert hand.state.tallies[0].verdicts == {"passed": 1, "not_run": 2}


def test_two_files_of_one_name_are_told_before_anything_runs() -> None:
    document = handing(files=("*.txt", "mesh*"))
    second = document.cases[1]
    again = replace(second, files=(("mesh.txt", "/somewhere/mesh.txt"),))
    document = replace(document, cases=tuple(again if case is second else case for case in document.cases))
    hand = begun(document)
    left = {"*.txt": {"mesh.txt": "a" * 64}, "mesh*": {"mesh.txt": "a" * 64}}
    said = came_to(hand, "j000001", "r000001", "passed", left=left)
    assert said.count("verdict") == 2 and hand.state.tallies[0].verdicts == {"passed": 1, "not_run": 2}


def test_what_is_drained_or_cancelled_takes_along_what_needs_it() -> None:
    hand = begun(chain())
    hand.play("cancel_request", value={"all": True}, reason="enough")
    hand.settle()
    assert hand.state.tallies[0].verdicts == {"cancelled": 2}
    hand = begun(chain())
    hand.play("drain_request", value={"component": "suite"}, reason="enough")
    hand.settle()
    assert hand.state.tallies[0].verdicts == {"cancelled": 2} and list(live(hand)) == ["r000001"]


def test_run_again_it_keeps_the_order() -> None:
    document = chain()
    hand = begun(document)
    came_to(hand, "j000001", "r000001", "failed")
    assert hand.state.phase == "ended"
    hand.play("again", value={"component": "suite"}, reason="mended")
    hand.settle()
    assert list(live(hand).values()) == [document.cases[0].id]
    (run,) = live(hand)
    came_to(hand, hand.state.runs[run].job, run, "passed")
    assert list(live(hand).values()) == [document.cases[1].id]


def test_a_snapshot_holds_what_waits() -> None:
    hand = begun(chain(repeats=2))
    came_to(hand, "j000001", "r000001", "passed")
    assert thaw_state(freeze_state(hand.state), hand.state.index) == hand.state


def test_an_amendment_keeps_what_is_known_of_results_that_are_needed() -> None:
    document = chain(repeats=1)
    hand = begun(document)
    came_to(hand, "j000001", "r000001", "passed")
    amended(hand, replace(document, components=(replace(document.components[0], repeats=1, about="more"),)))
    assert list(live(hand).values()) == [document.cases[1].id]
    assert [one.key for one in explain(hand.state)] == [f"need:{document.cases[1].id}"]


def test_of_what_was_over_before_anything_needed_it_nobody_knows() -> None:
    document = chain()
    first = document.cases[0].id
    alone = replace(
        document,
        cases=tuple(replace(case, needs=()) for case in document.cases),
        components=(Component("suite", "functionality", (first,)),),
    )
    hand = begun(alone)
    came_to(hand, "j000001", "r000001", "passed")
    amended(hand, document)
    assert hand.state.tallies[0].verdicts == {"passed": 1, "not_run": 2}
    hand.play("again", value={"component": "suite"}, reason="once more")
    hand.settle()
    assert list(live(hand).values()) == [first]


def amended(hand: ByHand, document: Document) -> None:
    names = [component.name for component in hand.state.index.components]
    hand.state.plan = index_plan(document, before=hand.state.index)
    hand.play("amended", value={"document": "d" * 64, "components": names}, reason="more of it")
    hand.settle()
