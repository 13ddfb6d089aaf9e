"""What a verdict, the scheduler's words and the exit status say, and what of all that counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.checks.classify.ending import of_verdict, weigh
from shakedown.checks.judge import judge
from shakedown.model.events import VERDICTS
from shakedown.model.failures import FAMILIES, UNCLASSIFIED, Failure
from shakedown.model.nouns import Case, Test
from shakedown.model.ports import Evidence, JobReport
from shakedown.plans.failures import shipped_failures

UNKNOWN = Failure(UNCLASSIFIED, "unknown", "ERROR: no sea", "output")
ECHO = Failure("exit-status", "program-error", "srun: error: n001: task 0: Exited with exit code 1", "output", 8)
LIBRARY = Failure("missing-library", "missing-library", "libx.so.1: cannot open", "output", 90)


@pytest.mark.parametrize(
    ("verdict", "words", "status", "name"),
    [
        ("timeout", "", None, "time-limit"),
        ("node_fail", "Slurm lost a node of n[001-002]", None, "node-failure"),
        ("node_fail", "launch failure on n002: Slurm cancelled it before it took its claim", None, "launch-failure"),
        ("cancelled", "", None, "cancelled"),
        ("interrupted", "it was preempted by other work", None, "preempted"),
        ("interrupted", "", None, "interrupted"),
        ("lost", "", None, "lost"),
        ("submit_failed", "", None, "submit-refused"),
        ("submit_failed", "nothing shows that it ran: Slurm started it on n001 and it ended", None, "never-began"),
        ("build_failed", "", None, "build-failed"),
        ("incorrect", "", 0, "incorrect-answer"),
        ("performance", "", 0, "outside-bounds"),
        ("failed", "it ran out of memory", 137, "out-of-memory"),
        ("failed", "it ran out of memory", None, "out-of-memory"),
        ("failed", "", 139, "segmentation-fault"),
        ("failed", "", -11, "segmentation-fault"),
        ("failed", "", 137, "killed"),
        ("failed", "", -9, "killed"),
        ("failed", "", 143, "killed"),
        ("failed", "", 134, "abort"),
        ("failed", "", 135, "bus-error"),
        ("failed", "", 136, "floating-point-exception"),
        ("failed", "", 132, "illegal-instruction"),
        ("failed", "", 127, "command-not-found"),
        ("failed", "", 126, "cannot-execute"),
        ("failed", "", 152, "cpu-time-limit"),
        ("failed", "", 153, "file-too-large"),
        ("failed", "", 1, UNCLASSIFIED),
        ("failed", "", 200, UNCLASSIFIED),
        ("failed", "", None, UNCLASSIFIED),
    ],
)
def test_without_an_output(verdict: str, words: str, status: int | None, name: str) -> None:
    failure = of_verdict(verdict, words, status)
    assert failure is not None
    assert failure.name == name
    assert failure.family in FAMILIES


def test_a_run_that_passed_has_none() -> None:
    assert of_verdict("passed", "it ran out of memory", 137) is None


@pytest.mark.parametrize(
    ("words", "status", "found", "name"),
    [
        ("", 137, LIBRARY, "missing-library"),
        ("it ran out of memory", 137, LIBRARY, "out-of-memory"),
        ("", 139, ECHO, "segmentation-fault"),
        ("", 139, UNKNOWN, "segmentation-fault"),
        ("", 143, UNKNOWN, "killed"),
        ("", 1, UNKNOWN, UNCLASSIFIED),
        ("", 1, ECHO, "exit-status"),
        ("", 1, Failure(UNCLASSIFIED, "unknown"), UNCLASSIFIED),
    ],
)
def test_what_tells_more_wins(words: str, status: int, found: Failure, name: str) -> None:
    failure = weigh("failed", words, status, found)
    assert failure is not None and failure.name == name


def test_an_incorrect_run_with_an_error_in_its_output_has_the_error() -> None:
    assert weigh("incorrect", "", 0, LIBRARY) == LIBRARY
    assert weigh("incorrect", "", 0, UNKNOWN) == UNKNOWN
    nothing = weigh("incorrect", "output contains 'ok': it is nowhere", 0, Failure(UNCLASSIFIED, "unknown"))
    assert nothing is not None and nothing.name == "incorrect-answer"


@given(st.sampled_from(sorted(VERDICTS)), st.text(max_size=60), st.one_of(st.none(), st.integers(-300, 300)))
def test_every_verdict_against_a_run_has_a_class(verdict: str, words: str, status: int | None) -> None:
    failure = of_verdict(verdict, words, status)
    assert (failure is None) == (verdict in ("passed", "spared", "undetermined"))
    assert failure is None or (failure.name and failure.family in FAMILIES and failure.line.isprintable())


def test_names_given_here_and_in_the_catalogue_have_one_family() -> None:
    families = {one.name: one.family for one in shipped_failures()}
    for status in (-11, -7, -9, -6, -8, -4, -13, -24, -25, 127):
        failure = of_verdict("failed", "", status)
        assert failure is not None and families[failure.name] == failure.family
    for verdict in ("timeout", "node_fail", "cancelled"):
        failure = of_verdict(verdict)
        assert failure is not None and families[failure.name] == failure.family


def test_the_verdict_has_it() -> None:
    evidence = Evidence("r1", excerpt="libx.so.1: cannot open", failure=LIBRARY)
    judged = judge(Case("c", "t", "p"), Test("t"), JobReport("j1", "failed", "marks", exit_status=127), evidence)
    assert judged.value()["failure"] == {
        "class": "missing-library",
        "family": "missing-library",
        "line": "libx.so.1: cannot open",
        "source": "output",
    }
    passed = judge(Case("c", "t", "p"), Test("t"), JobReport("j1", "completed", "marks", exit_status=0), evidence)
    assert "failure" not in passed.value()
