"""What is easily lost among many: one job behind hundreds in doubt, one of two runs that two amendments no longer want."""

from __future__ import annotations

import msgspec
import pytest
from engine_by_hand import ByHand
from stage import small_document

from shakedown.engine import Policy, State, decide, index_plan
from shakedown.engine.state.job_index import job_index_of, same
from shakedown.model.events import NO_LONGER_WANTED, Event
from shakedown.model.nouns import Component, Document, Patience, Retry

MANY = 600  # more than are looked at in one go


def on_a_cluster(runs: int) -> ByHand:
    """As many runs of one case, all with the scheduler."""
    document = small_document(nodes=runs, tests=1, repeats=runs, budgets={})
    _, rest = document.components
    document = msgspec.structs.replace(document, components=(msgspec.structs.replace(rest, after=()),))
    hand = ByHand(State(plan=index_plan(document)))
    hand.play("campaign_start")
    hand.play("driver_start")
    hand.settle()
    return hand


def test_a_job_behind_hundreds_in_doubt_is_not_forgotten() -> None:
    """One cluster does not answer for hours; what is known of the jobs of another is acted upon all the same."""
    hand = on_a_cluster(MANY)
    names = list(hand.state.jobs)
    assert len(names) == MANY
    for name in names[:-1]:
        hand.play("job_report", job=name, value={"state": "no_answer", "source": "queue"})
    hand.play("job_report", job=names[-1], value={"state": "timeout", "source": "queue"})
    orders = [order.event for order in decide(hand.state, hand.state.time).orders]
    assert [(event.event, event.job) for event in orders] == [("verdict", names[-1])]


def without(document: Document, *names: str) -> Document:
    kept = tuple(component for component in document.components if component.name not in names)
    return msgspec.structs.replace(document, components=kept)


def amend(hand: ByHand, document: Document, of_old: bool = False) -> None:
    """``of_old``: as records had it before live runs came back to their results."""
    before = hand.state.index
    returns = bool(hand.state.results.cut_off or any(run.home for run in hand.state.runs.values())) and not of_old
    hand.state.plan = index_plan(document, before=before)
    value = {"document": "d", "components": [component.name for component in before.components]}
    hand.play("amended", value=value | ({"returns": True} if returns else {}))


def test_two_runs_of_one_case_that_two_amendments_do_not_want_both_come_to_their_end() -> None:
    plain = small_document(tests=1, repeats=1, budgets={})
    twins = tuple(Component(name, "performance", ("t0",)) for name in ("one", "other", "kept"))
    document = msgspec.structs.replace(plain, components=twins)
    hand = ByHand(State(plan=index_plan(document)))
    hand.play("campaign_start")
    hand.play("driver_start")
    hand.settle()
    assert len(hand.state.runs) == 3
    amend(hand, without(document, "one", "other"))
    amend(hand, without(document, "one", "other"))
    for job in list(hand.state.jobs):
        hand.play("job_report", job=job, value={"state": "cancelled", "source": "queue"})
    done = hand.settle()
    assert done.count("verdict") == 3
    assert done[-1] == "campaign_end"
    assert all(tally.in_flight == 0 and tally.over for tally in hand.state.tallies)


def two_components() -> ByHand:
    """A job of each of two components is with the scheduler, then an amendment takes the first component out."""
    plain = small_document(tests=1, repeats=1, budgets={})
    both = tuple(Component(name, "performance", ("t0",)) for name in ("one", "other"))
    document = msgspec.structs.replace(plain, components=both)
    hand = ByHand(State(plan=index_plan(document)))
    hand.play("campaign_start")
    hand.play("driver_start")
    hand.settle()
    assert [job.component for job in hand.state.jobs.values()] == [0, 1]
    amend(hand, without(document, "one"))
    return hand


def test_a_job_asks_by_the_limits_of_its_own_component_when_an_amendment_numbers_them_anew() -> None:
    state = two_components().state
    of = {job.id: (job.component, job.key.component if job.key else -1) for job in state.jobs.values()}
    assert of == {"j000001": (1, 1), "j000002": (0, 0)}
    assert [one.name for one in state.index.components] == ["other", NO_LONGER_WANTED]
    assert same(state.job_index, job_index_of(state.jobs.values()))


def test_what_an_amendment_took_out_is_judged_when_its_job_is_given_back_and_never_ordered_again() -> None:
    hand = two_components()
    hand.play("claim_order", job="j000001", run="r000001")
    hand.play("claim_taken", job="j000001", run="r000001")
    assert hand.settle() == ["verdict"]
    assert "r000001" not in hand.state.runs


def end(hand: ByHand, job: str, state: str = "timeout") -> list[Event]:
    """A job of one run fails; what is ordered for that."""
    hand.play("job_report", job=job, value={"state": state, "source": "queue"})
    orders = [order.event for order in decide(hand.state, hand.state.time).orders]
    for event in orders:
        hand.play(event.event, case=event.case, run=event.run, job=event.job, value=event.value, reason=event.reason)
    return orders


def test_a_run_that_is_live_when_its_component_is_taken_out_is_judged_as_that_components() -> None:
    hand = two_components()
    (verdict,) = end(hand, "j000001")
    assert (verdict.event, verdict.run, verdict.value["component"]) == ("verdict", "r000001", "one")


def test_a_run_that_is_live_when_its_component_comes_back_is_its_result_and_nothing_is_ordered_beside_it() -> None:
    hand = two_components()
    both = hand.state.index.document
    twins = tuple(Component(name, "performance", ("t0",)) for name in ("one", "other"))
    amend(hand, msgspec.structs.replace(both, about="a third", components=both.components))
    amend(hand, msgspec.structs.replace(both, components=twins))
    (one, other, gone) = hand.state.tallies
    assert [(tally.wanted, tally.in_flight, tally.waiting) for tally in (one, other, gone)] == [
        (1, 1, 0),
        (1, 1, 0),
        (0, 0, 0),
    ]
    assert not [order for order in decide(hand.state, hand.state.time).orders if order.event.event == "submit_order"]
    assert same(hand.state.job_index, job_index_of(hand.state.jobs.values()))
    assert end(hand, "j000001")[0].value["component"] == "one"
    assert one.verdicts == {"timeout": 1}


@pytest.mark.parametrize(
    ("state", "of_old", "attempt"),
    [("node_fail", False, 2), ("interrupted", False, 2), ("timeout", False, 1), ("node_fail", True, 1)],
)
def test_a_run_that_ends_while_its_component_is_out_has_its_next_attempt_once_that_is_back(
    state: str, of_old: bool, attempt: int
) -> None:
    """What is attempted again by itself is; what is not is wanted anew, as ever."""
    hand = two_components()
    assert [event.value["verdict"] for event in end(hand, "j000001", state)] == [state]
    assert "given_up" in hand.settle()
    (said,) = [event.reason for event in hand.log if event.event == "given_up"]
    assert said == f"{state}, and the plan in force does not want it any more"
    twins = tuple(Component(name, "performance", ("t0",)) for name in ("one", "other"))
    both = msgspec.structs.replace(hand.state.index.document, components=twins)
    amend(hand, msgspec.structs.replace(both, about="a third", components=both.components[1:]), of_old)
    amend(hand, both, of_old)
    ordered = [
        order.event for order in decide(hand.state, hand.state.time).orders if order.event.event == "submit_order"
    ]
    assert [(event.value["component"], event.value["repeat"], event.value["attempt"]) for event in ordered] == [
        ("one", 1, attempt)
    ]
    hand.settle()
    assert not hand.state.results.cut_off
    (run,) = [run for run in hand.state.runs.values() if run.component == 0]
    assert run.spent == (((state, 1),) if attempt == 2 else ())


@pytest.mark.parametrize("of_old", [False, True])
def test_an_attempt_that_waits_when_its_component_is_taken_out_is_the_next_one_once_that_is_back(of_old: bool) -> None:
    """Its run failed before; the attempt after it waits for its back-off, and is dropped with its component."""
    plain = small_document(tests=1, repeats=1, budgets={})
    rule = (Retry("node_fail", 3, 50.0),)
    both = tuple(Component(name, "performance", ("t0",), retry=rule) for name in ("one", "other"))
    document = msgspec.structs.replace(plain, components=both)
    hand = ByHand(State(plan=index_plan(document)))
    hand.play("campaign_start")
    hand.play("driver_start")
    hand.settle()
    end(hand, "j000001", "node_fail")
    assert "retry" in hand.settle()
    amend(hand, without(document, "one"), of_old)
    amend(hand, msgspec.structs.replace(document, about="back"), of_old)
    (again,) = [
        order.event for order in decide(hand.state, hand.state.time).orders if order.event.event == "submit_order"
    ]
    assert (again.value["component"], again.value["attempt"]) == ("one", 1 if of_old else 2)


def test_a_run_that_was_the_last_attempt_is_none_that_goes_on_when_its_component_is_back() -> None:
    hand = two_components()
    hand.state.runs["r000001"].spent = (("node_fail", 5),)
    end(hand, "j000001", "node_fail")
    hand.settle()
    rule = (Retry("node_fail", 5),)
    twins = tuple(Component(name, "performance", ("t0",), retry=rule) for name in ("one", "other"))
    amend(hand, msgspec.structs.replace(hand.state.index.document, components=twins))
    (again,) = [
        order.event for order in decide(hand.state, hand.state.time).orders if order.event.event == "submit_order"
    ]
    assert again.value["attempt"] == 1


def test_in_a_record_of_old_a_run_that_was_taken_out_is_no_results_and_one_is_ordered_anew() -> None:
    hand = two_components()
    twins = tuple(Component(name, "performance", ("t0",)) for name in ("one", "other"))
    amend(hand, msgspec.structs.replace(hand.state.index.document, components=twins), of_old=True)
    assert [(tally.in_flight, tally.waiting) for tally in hand.state.tallies] == [(0, 1), (1, 0), (1, 0)]


def test_a_live_run_whose_case_is_gone_is_judged_by_the_contract_rows_of_the_last_plan_that_had_it() -> None:
    first = small_document(tests=2, repeats=1)
    less = msgspec.structs.replace(first, cases=first.cases[:1])
    index = index_plan(
        msgspec.structs.replace(less, about="the third"), before=index_plan(less, before=index_plan(first))
    )
    kept, gone = first.cases[0].id, first.cases[1].id
    assert index.plan_of(gone) is first
    assert index.plan_of(kept).about == "the third"
    assert index_plan(first, before=index).plan_of(gone) is first


@pytest.mark.parametrize("given", [None, Policy(lost_after_s=5.0)])
def test_the_patience_of_an_amended_system_counts_unless_the_driver_has_its_own(given: Policy | None) -> None:
    document = small_document()
    (cluster,) = document.system.clusters
    calm = msgspec.structs.replace(cluster, patience=Patience(lost_after_s=14400.0))
    amended = msgspec.structs.replace(document, system=msgspec.structs.replace(document.system, clusters=(calm,)))
    first = index_plan(document, given)
    for index in (index_plan(amended, before=first), index_plan(amended, before=index_plan(document, before=first))):
        assert index.policy.lost_after_s == (5.0 if given else 14400.0)
