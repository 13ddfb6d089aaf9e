"""The scheduler's core against a naive one that looks at everything at every instant, and what must hold whatever comes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from naive_easy import Job, play

from shakedown.twin.production.columns import Schedule, Workload, workload_of
from shakedown.twin.production.easy import AGEING_BONUS_S, ORDERS, Rules, schedule


def jobs_of(*rows: tuple[float, int, float, float]) -> Workload:
    """(submitted, processors, requested, run) of each job."""
    columns = [np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)]
    return workload_of(columns[0], columns[1].astype(np.int64), columns[2], columns[3])


@dataclass(frozen=True)
class Case:
    jobs: Workload
    processors: int


@some.composite
def cases(draw: some.DrawFn, over: bool = True) -> Case:
    """Few kinds of times, so that much happens at the same instant; jobs that run over, take no time, or ask for none."""
    processors = draw(some.sampled_from([1, 4, 7, 16, 64]))
    sizes = some.one_of(some.integers(1, processors), some.sampled_from([1, processors]))
    times = some.one_of(some.integers(0, 60), some.sampled_from([0, 5, 10]), some.just(12.5))
    rows = []
    for _ in range(draw(some.integers(1, 25))):
        run = draw(times)
        requested = draw(times) if over else run + draw(times)
        rows.append((draw(some.integers(0, 120)), draw(sizes), requested, run))
    return Case(jobs_of(*sorted(rows, key=lambda row: row[0])), processors)


def naive(case: Case, rules: Rules) -> list[Job]:
    """The same jobs for the naive scheduler, priorities written out."""
    jobs, found = case.jobs, []
    for number in range(len(jobs)):
        submit, size = float(jobs.submit_s[number]), int(jobs.processors[number])
        request, run = float(jobs.requested_s[number]), float(jobs.run_s[number])
        first = {
            "fcfs": submit,
            "shortest": request,
            "largest": -float(size),
            "ageing": submit - AGEING_BONUS_S * size / case.processors,
        }[rules.order]
        found.append(Job(number, submit, size, request, min(run, request) if rules.kill else run, (first, number)))
    play(found, case.processors, rules.depth, rules.cycle_s)
    return found


all_rules = some.builds(
    Rules,
    some.sampled_from(ORDERS),
    some.sampled_from([0, 1, 2, 5, 100]),
    some.sampled_from([0.0, 0.0, 1.0, 7.0, 30.0]),
    some.booleans(),
)


@settings(max_examples=300)
@given(cases(), all_rules)
def test_every_start_is_the_naive_one(case: Case, rules: Rules) -> None:
    made = schedule(case.jobs, case.processors, rules)
    theirs = naive(case, rules)

    assert made.start_s.tolist() == [job.start for job in theirs]
    assert made.backfilled.tolist() == [job.backfilled for job in theirs]


@settings(max_examples=150)
@given(cases(over=False), some.sampled_from([0, 1, 3, 100]), some.sampled_from([0.0, 10.0]))
def test_no_head_starts_later_than_any_reservation_it_had(case: Case, depth: int, cycle_s: float) -> None:
    rules = Rules("fcfs", depth, cycle_s)
    made = schedule(case.jobs, case.processors, rules)

    for start, job in zip(made.start_s.tolist(), naive(case, rules), strict=True):
        assert all(start <= promise for promise in job.promises)


@settings(max_examples=150)
@given(cases(), all_rules)
def test_never_more_is_held_than_there_is_and_nothing_starts_before_it_is_submitted(case: Case, rules: Rules) -> None:
    made = schedule(case.jobs, case.processors, rules)

    assert (made.start_s >= case.jobs.submit_s).all()
    for now in made.start_s.tolist():
        held = case.jobs.processors[(made.start_s <= now) & (now < made.end_s)].sum()
        assert held <= case.processors


@given(cases())
def test_without_depth_nobody_overtakes(case: Case) -> None:
    made = schedule(case.jobs, case.processors, Rules(depth=0))

    assert (np.diff(made.start_s) >= 0).all() and not made.backfilled.any()


def starts(jobs: Workload, processors: int, rules: Rules) -> list[float]:
    made: list[float] = schedule(jobs, processors, rules).start_s.tolist()
    return made


def test_a_hole_is_filled_by_what_ends_in_time_or_is_spare() -> None:
    """10 processors: 6 run until 100, the head wants 8; a job of 4 may go until then, one of 2 for ever, one of 3 not."""
    jobs = jobs_of((0, 6, 100, 100), (1, 8, 50, 50), (2, 3, 200, 200), (3, 4, 97, 97), (101, 2, 500, 500))
    assert starts(jobs, 10, Rules()) == [0, 100, 150, 3, 101]
    assert starts(jobs, 10, Rules(depth=1)) == [0, 100, 150, 150, 150], "the job of 3 is all that is looked at"


def test_a_job_that_ends_early_moves_the_reservation_forward() -> None:
    """The head was promised 100; at 10 its processors come free, and nobody was let in past it."""
    jobs = jobs_of((0, 10, 100, 10), (1, 10, 50, 50), (2, 1, 20, 20))
    assert starts(jobs, 10, Rules()) == [0, 10, 60]


def test_what_takes_too_long_is_killed_or_runs_on() -> None:
    jobs = jobs_of((0, 4, 10, 30), (0, 4, 10, 10))
    killed = schedule(jobs, 4, Rules(kill=True))
    assert killed.start_s.tolist() == [0, 10] and killed.killed.tolist() == [True, False]
    assert starts(jobs, 4, Rules(kill=False)) == [0, 30]


def test_a_cycle_holds_backfill_back_and_not_the_head() -> None:
    jobs = jobs_of((0, 6, 100, 100), (1, 8, 50, 50), (2, 4, 40, 40))
    assert starts(jobs, 10, Rules(cycle_s=30.0)) == [0, 100, 30]


def test_nothing_starts_while_the_machine_is_closed() -> None:
    jobs = jobs_of((0, 4, 30, 30), (5, 4, 10, 10), (50, 4, 10, 10))
    for rules in (Rules(), Rules(cycle_s=60.0)):
        made = schedule(jobs, 4, rules, closed=[(20.0, 45.0), (50.0, 70.0)])
        assert made.start_s.tolist() == [0, 45, 70], "what runs goes on"


def test_orders() -> None:
    jobs = jobs_of((0, 10, 10, 10), (1, 2, 50, 50), (2, 9, 20, 20), (3, 5, 30, 30))
    at = {order: starts(jobs, 10, Rules(order, depth=0)) for order in ORDERS}
    assert at["fcfs"] == [0, 10, 60, 80]
    assert at["shortest"] == [0, 30, 10, 30]
    assert at["largest"] == [0, 30, 10, 30]
    assert at["ageing"] == at["largest"], "a day for the whole machine is more than the seconds between them"


def test_thousands_of_jobs_with_a_deep_queue_go_as_the_naive_one_has_them() -> None:
    random = np.random.default_rng(7)
    count, processors = 400, 50
    submit = np.sort(random.integers(0, 2000, count)).astype(np.float64)
    run = random.integers(1, 300, count).astype(np.float64)
    sizes = np.minimum(2 ** random.integers(0, 6, count), processors).astype(np.int64)
    jobs = workload_of(submit, sizes, run * random.integers(1, 4, count), run)
    for rules in (Rules(depth=20), Rules("largest", 10), Rules("shortest", 10, 60.0)):
        made = schedule(jobs, processors, rules)
        assert made.start_s.tolist() == [job.start for job in naive(Case(jobs, processors), rules)]


@pytest.mark.parametrize("rules", [Rules(order="none"), Rules(depth=-1), Rules(cycle_s=-1.0), Rules(cycle_s=np.inf)])
def test_rules_that_make_no_sense_are_refused(rules: Rules) -> None:
    with pytest.raises(ValueError):
        schedule(jobs_of((0, 1, 1, 1)), 4, rules)


def test_jobs_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="asks for 5 processors, the machine has 4"):
        schedule(jobs_of((0, 5, 1, 1)), 4, Rules())
    for rows in ([(5, 1, 1, 1), (0, 1, 1, 1)], [(0, 0, 1, 1)], [(0, 1, 1, -1)], [(np.nan, 1, 1, 1)]):
        with pytest.raises(ValueError):
            jobs_of(*rows)


def test_no_jobs_are_a_schedule_too() -> None:
    empty = np.zeros(0)
    made: Schedule = schedule(workload_of(empty, empty.astype(np.int64), empty, empty), 4, Rules())
    assert len(made.start_s) == 0
