"""What becomes of the parts of a job whose disk was full: none is blamed, and what never began waits again without an attempt."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import msgspec
from engine_by_hand import ByHand, begun
from stability_plan import document, machine

from shakedown.conductor.driver.beside_submitting import take_parts
from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.loop import _claim_again
from shakedown.engine import Decision, decide
from shakedown.model.filling import Pack
from shakedown.model.nouns import Case, Component, Shape

JOB, FULL = "j000001", "the file system of /c is full (0 B are free)"


def packed(count: int, at_once: int = 2) -> ByHand:
    """A pack of so many cases, whose one job runs."""
    names = tuple(f"c{number}" for number in range(count))
    cases = tuple(Case(name, "t", "c:batch", shape=Shape(units=1, time_limit_s=30.0)) for name in names)
    pack = Component("many", "functionality", names, pack=Pack(runs=count, at_once=at_once, allocations=0))
    hand = begun(document(machine(2, targets=False), cases, pack))
    hand.play("submit_accepted", job=JOB, value={"id": "1"})
    hand.play("job_report", job=JOB, value={"state": "running", "source": "queue", "nodes": "n1"})
    return hand


def full(hand: ByHand) -> None:
    hand.play("finding", value={"kind": "disk_full", "room_at": hand.state.time}, reason=FULL)


def over(hand: ByHand, why: str = "") -> None:
    hand.play("job_report", job=JOB, value={"state": "completed", "source": "queue"}, reason=why)
    hand.state.time += 300.0  # marks are given time to be seen


def test_a_part_that_never_began_waits_again_with_the_disk_as_the_reason() -> None:
    hand = packed(2)
    full(hand)
    over(hand)
    hand.settle()
    orders = [event for event in hand.log if event.event == "claim_order"]
    assert [event.reason.partition(" (from")[0] for event in orders] == [
        "its job is over (completed) and it had not begun: the disk was full"
    ] * 2
    for event in orders:
        hand.play("claim_taken", job=JOB, run=event.run, value={"part": True})
    assert not [event for event in hand.log if event.event == "verdict"]
    assert hand.state.driver.no_room == FULL, "nothing is ordered before there is room"
    hand.play("finding", value={"kind": "disk_has_room"}, reason="there is room again; it goes on")
    hand.settle()
    again = [event for event in hand.log if event.event == "submit_order" and event.job != JOB]
    assert {event.value["attempt"] for event in again} == {1}


def test_what_the_script_says_of_its_claims_is_the_reason_too() -> None:
    hand = packed(1)
    over(hand, "it began no more of its runs")
    hand.settle()
    (order,) = (event for event in hand.log if event.event == "claim_order")
    assert order.reason.endswith("and it had not begun: it began no more of its runs")


def test_a_part_that_could_not_write_its_end_is_never_taken_for_the_one_that_killed_its_job() -> None:
    """Alone in its job, and for the third time: without the disk that is its own doing."""
    verdicts = {}
    for was_full in (False, True):
        hand = packed(1, at_once=1)
        run = next(iter(hand.state.jobs[JOB].parts))
        hand.state.runs[run].spent = (("interrupted", 2),)
        began = {"state": "running", "source": "marks", "part": True}
        hand.play("job_report", job=JOB, run=run, value=began)
        if was_full:
            full(hand)
        over(hand)
        hand.settle()
        (verdict,) = (event for event in hand.log if event.event == "verdict")
        verdicts[was_full] = verdict.value["verdict"], "the disk was full (from" in verdict.reason
    assert verdicts == {False: ("failed", False), True: ("interrupted", True)}


def test_a_part_whose_end_its_node_could_not_write_names_the_node_and_the_file_system() -> None:
    """A file system that one node alone sees read-only is full for nobody else."""
    hand = packed(2)
    run = next(iter(hand.state.jobs[JOB].parts))
    hand.play("job_report", job=JOB, run=run, value={"state": "running", "source": "marks", "part": True})
    hand.play("job_report", job=JOB, value={"state": "completed", "source": "queue", "nodes": "n1"})
    hand.state.time += 300.0
    hand.settle()
    (verdict,) = (event for event in hand.log if event.event == "verdict")
    assert (verdict.value["verdict"], verdict.reason) == (
        "interrupted",
        "its job ended (completed) while it ran; it told no end of this run: n1 may have been unable to write to the campaign's "
        "file system then",
    )


# ---- where nobody can tell ---------------------------------------------------------------------------------------------


class Disk:
    """A scheduler's port whose claims cannot be written for a while."""

    def __init__(self) -> None:
        self.away, self.asked = True, list[list[str]]()

    def take_parts(self, job: Any, runs: list[str]) -> list[str] | None:
        self.asked.append(list(runs))
        return None if self.away else list(runs)

    def cancel(self, jobs: Any) -> list[str]:
        return []


def driving(hand: ByHand, disk: Disk) -> Conductor:
    def log(name: str, **fields: Any) -> None:
        hand.play(name, **fields)

    conductor = SimpleNamespace(state=hand.state, ports=SimpleNamespace(scheduler=disk), next_claims=0.0, log=log)
    return cast(Conductor, conductor)


def turn(hand: ByHand, conductor: Conductor) -> Decision:
    """One decision, of which the claims are carried out."""
    decision = decide(hand.state, hand.state.time)
    orders = [order for order in decision.orders if order.kind == "claim_part"]
    for order in decision.orders:
        hand._fold(msgspec.structs.replace(order.event, seq=hand.state.seq + 1, time=hand.state.time))
    take_parts(conductor, orders)
    _claim_again(conductor, decision, hand.state.time)
    return decision


def said(hand: ByHand) -> list[str]:
    return [event.event for event in hand.log if event.event.startswith("claim_")]


def test_that_nobody_can_tell_of_parts_is_told_once_and_none_is_taken_for_begun() -> None:
    hand, disk = packed(3), Disk()
    conductor = driving(hand, disk)
    over(hand)
    for _ in range(5):
        turn(hand, conductor)
        hand.state.time += 6.0
    assert said(hand) == ["claim_order"] * 3 + ["claim_unknown"]
    assert len(disk.asked) == 5 and all(len(runs) == 3 for runs in disk.asked)

    disk.away = False
    for _ in range(3):
        turn(hand, conductor)
        hand.state.time += 6.0
    assert said(hand) == ["claim_order"] * 3 + ["claim_unknown"] + ["claim_taken"] * 3
    assert not [event for event in hand.log if event.event == "verdict"]


def test_a_conductor_that_takes_over_orders_them_anew() -> None:
    hand, disk = packed(2), Disk()
    conductor = driving(hand, disk)
    over(hand)
    turn(hand, conductor)
    assert said(hand)[-1] == "claim_unknown"
    hand.play("driver_start")
    disk.away = False
    over(hand)
    turn(hand, conductor)
    assert said(hand)[-4:] == ["claim_order"] * 2 + ["claim_taken"] * 2
