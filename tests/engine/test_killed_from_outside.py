"""A job that somebody ended, nobody says who, is attempted again; the third time it is taken for the payload's own doing."""

from __future__ import annotations

from engine_by_hand import ByHand, begun
from stage import small_document

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
