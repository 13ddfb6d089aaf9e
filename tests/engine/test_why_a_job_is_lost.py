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
