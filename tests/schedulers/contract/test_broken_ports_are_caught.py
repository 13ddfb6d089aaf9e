"""The contract is strict: each of these ports is broken in one way, and the clause beside it says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import scheduler_bench
import scheduler_contract
from contract_fixtures import MakeBench
from msgspec.structs import replace
from scheduler_bench import SpoolBench
from scheduler_contract import CONTRACT

from shakedown.model.ports import JobReport, SubmitAnswer

Port = Any


def believes_every_end_is_good(port: Port) -> None:
    poll = port.poll
    port.poll = lambda jobs: [replace(r, state="completed") if r.state == "failed" else r for r in poll(jobs)]


def asks_by_number_alone(port: Port) -> None:
    poll = port.poll
    port.poll = lambda jobs: [
        r if jobs[r.job].scheduler_id else JobReport(r.job, "absent", "queue") for r in poll(jobs)
    ]


def says_that_it_cancelled(port: Port) -> None:
    port.cancel = lambda jobs: [job.id for job in jobs]


def forgets_that_a_job_is_held(port: Port) -> None:
    submit = port.submit
    port.submit = lambda orders: submit([replace(order, held=False) for order in orders])


def holds_in_words(port: Port) -> None:
    port.hold = lambda jobs: [job.id for job in jobs]


def releases_in_words(port: Port) -> None:
    port.release = lambda orders: [order.id for order in orders]


def promises_every_claim(port: Port) -> None:
    port.take_claim = lambda job: True


def takes_no_answer_for_a_refusal(port: Port) -> None:
    submit = port.submit
    port.submit = lambda orders: [
        SubmitAnswer(a.job, "refused", transient=True) if a.outcome == "unknown" else a for a in submit(orders)
    ]


def takes_no_answer_for_an_acceptance(port: Port) -> None:
    submit = port.submit
    port.submit = lambda orders: [
        replace(a, outcome="accepted") if a.outcome == "unknown" else a for a in submit(orders)
    ]


def takes_an_unknown_word_for_a_failure(port: Port) -> None:
    poll = port.poll
    port.poll = lambda jobs: [replace(r, state="failed") if r.state == "unknown" else r for r in poll(jobs)]


def takes_silence_for_absence(port: Port) -> None:
    poll = port.poll
    port.poll = lambda jobs: [replace(r, state="absent") if r.state == "no_answer" else r for r in poll(jobs)]


def overlooks_requeues(port: Port) -> None:
    poll = port.poll
    port.poll = lambda jobs: [replace(r, state="queued", restart=0) if r.state == "requeued" else r for r in poll(jobs)]


def reads_no_marks(port: Port) -> None:
    poll = port.poll
    port.poll = lambda jobs: [
        JobReport(r.job, "absent", "queue") if r.source == "marks" and r.state == "failed" else r for r in poll(jobs)
    ]


def ignores_the_order_of_jobs(port: Port) -> None:
    submit = port.submit
    port.submit = lambda orders: submit([replace(order, after=("", "")) for order in orders])


def ignores_nodes(port: Port) -> None:
    submit = port.submit
    port.submit = lambda orders: submit([replace(order, node=0, exclude=()) for order in orders])


def answers_in_another_order(port: Port) -> None:
    submit = port.submit
    port.submit = lambda orders: list(reversed(submit(orders)))


def runs_a_job_at_each_submission(port: Port) -> None:
    """Its jobs take no claim: the script is the bare payload."""
    submit = port.spool.submit

    def bare(name: str, script: Any, *words: Any, **more: Any) -> Any:
        payload = min(port.places.layout.payloads.glob("*.sh"))
        return submit(name, payload, *words, **more)

    port.spool.submit = bare


def keeps_no_output(port: Port) -> None:
    port._output = lambda job: {}


BROKEN: dict[Callable[[Port], None], str] = {
    believes_every_end_is_good: "the_exit_status_is_the_payloads",
    asks_by_number_alone: "a_job_is_adopted_by_its_name_after_a_crash",
    says_that_it_cancelled: "a_running_job_is_cancelled_and_a_waiting_one_never_begins",
    forgets_that_a_job_is_held: "a_job_that_is_submitted_held_begins_when_it_is_released",
    holds_in_words: "a_waiting_job_is_held_and_released",
    releases_in_words: "a_job_that_is_submitted_held_begins_when_it_is_released",
    promises_every_claim: "a_claim_is_taken_once_and_a_job_without_it_never_begins",
    takes_no_answer_for_a_refusal: "an_answer_that_was_lost_is_unknown_and_the_job_is_found_by_its_name",
    takes_no_answer_for_an_acceptance: "an_answer_that_was_lost_is_unknown_and_the_job_is_found_by_its_name",
    takes_an_unknown_word_for_a_failure: "a_word_that_nobody_knows_is_told_as_unknown",
    takes_silence_for_absence: "a_scheduler_that_is_away_has_said_nothing_of_any_job",
    overlooks_requeues: "a_job_that_is_put_back_into_the_queue_is_told_and_begins_again",
    reads_no_marks: "a_job_that_the_scheduler_forgot_is_judged_by_its_own_marks",
    ignores_the_order_of_jobs: "a_job_after_another_begins_when_that_one_is_over",
    ignores_nodes: "a_job_runs_on_the_node_that_it_was_told",
    answers_in_another_order: "every_order_is_answered_in_its_place",
    runs_a_job_at_each_submission: "the_same_order_twice_begins_once",
    keeps_no_output: "a_run_is_measured_and_its_output_is_kept",
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_a_broken_port_fails_its_clause(
    broken: Callable[[Port], None], make_bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:

    def change(port: Any) -> Any:
        broken(port)
        return port

    for module in (scheduler_bench, scheduler_contract):  # what never comes about is not waited for long
        monkeypatch.setattr(module, "LIMIT_S", 3.0)
    for _ in range(
        3
    ):  # what a broken port begins too early comes late, now and then, on a busy machine, and is not seen
        bench = make_bench(SpoolBench)
        bench.change_port = change
        try:
            CONTRACT[BROKEN[broken]].tried(bench)
        except AssertionError:
            return
    pytest.fail(f"no clause is broken by {broken.__name__}")
