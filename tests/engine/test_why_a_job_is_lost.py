"""Why a job is lost, in words: who said what of it last, and where it ran."""

from __future__ import annotations

from typing import Any

import pytest
from one_cluster_job import Story

from shakedown.model.ports import JobReport


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "marks",
            "job 7 on n3 wrote a mark when it began and none of an end, 1 h 00 min past its time limit; nothing else",
        ),
        ("accounting", "accounting still says that job 7 on n3 runs, 1 h 00 min past its time limit; nothing else"),
    ],
)
def test_a_job_that_is_said_to_run_for_ever(source: Any, words: str) -> None:
    story = Story()
    story.hear(JobReport("j000001", "running", source, "7", nodes="n3"), 1.0)
    story.wait(300.0 + 3600.0)
    (verdict,) = story.verdicts()
    assert verdict.value["verdict"] == "lost" and verdict.reason.startswith(words), verdict.reason


@pytest.mark.parametrize(
    ("state", "asked"), [("absent", "marks, queue and accounting were asked"), ("no_answer", "no source answered")]
)
def test_a_job_of_which_nobody_knows(state: str, asked: str) -> None:
    story = Story(first={"nodes": "n3"})
    story.said(state, 2.0)
    story.wait(100_000.0)
    (verdict,) = story.verdicts()
    assert verdict.reason.startswith(asked)
    assert verdict.reason.endswith("none could tell what became of it (scheduler id 7, on n3)")


@pytest.mark.parametrize("silent", ["no_answer", "unknown"])
def test_outages_between_begin_the_patience_with_a_lost_job_anew_no_more(silent: str) -> None:
    """Nobody knows it for a while, then the scheduler is away for a minute, and so on: the times of the first add up."""
    story = Story(first={"nodes": "n3"})
    part = story.conductor.state.index.policy.lost_after_s / 6
    for number in range(5):
        story.said("absent", 2.0 + (part + 60.0) * number)
        story.said(silent, 2.0 + (part + 60.0) * number + part)
        assert story.verdicts() == [], number
    story.said("absent", 2.0 + (part + 60.0) * 5)
    story.wait(2.0 + (part + 60.0) * 5 + part - 1.0)
    assert story.verdicts() == []
    story.wait(2.0 + (part + 60.0) * 5 + part + 1.0)
    assert [verdict.value["verdict"] for verdict in story.verdicts()] == ["lost"]


def test_silence_of_two_kinds_is_one_silence_and_loses_nothing_early() -> None:
    story = Story(first={"nodes": "n3"})
    patience = story.conductor.state.index.policy.no_answer_s
    for number in range(4):
        story.said("no_answer", 2.0 + patience / 4 * number)
        story.said("unknown", 2.0 + patience / 4 * (number + 0.5))
    story.wait(patience - 1.0)
    assert story.verdicts() == []
    story.wait(patience + 3.0)
    assert len(story.verdicts()) == 1


def test_a_job_that_somebody_knows_again_is_no_longer_on_its_way_to_be_lost() -> None:
    story = Story(first={"nodes": "n3"})
    patience = story.conductor.state.index.policy.lost_after_s
    story.said("absent", 2.0)
    story.said("no_answer", patience - 10.0)
    story.said("running", patience - 5.0, nodes="n3")
    story.said("absent", patience)
    story.wait(patience + 100.0)
    assert story.verdicts() == []
