"""The catalogue of the package, line by line: every example, every text, and what may stand around them."""

from __future__ import annotations

import re

import pytest
from known_failures import CLASSES, KNOWN

from shakedown.checks.classify.lines import clean, lines_and_shapes
from shakedown.checks.classify.needed import bare, needed
from shakedown.checks.classify.reading import Scan
from shakedown.model.failures import FAMILIES, FailureClass

EXAMPLES = [(one.name, line) for one in CLASSES for line in one.examples]
TEXTS = [(one.name, text.replace("...", " 7 ")) for one in CLASSES for group in one.lines for text in group.texts]
ISSUE = {
    "out-of-memory",
    "killed",
    "time-limit",
    "node-failure",
    "mpi-error",
    "fabric-error",
    "missing-library",
    "file-system-error",
    "segmentation-fault",
    "wrong-launch-line",
}


def name_of(line: str) -> str:
    found = KNOWN.best(clean(line))
    return found.name if found else ""


@pytest.mark.parametrize(("name", "line"), EXAMPLES)
def test_an_example_is_of_its_class(name: str, line: str) -> None:
    assert name_of(line) == name


def test_every_text_is_of_its_class() -> None:
    """A text that another class takes would never say anything."""
    assert [(text, name_of(text)) for name, text in TEXTS if name_of(text) != name] == []


@pytest.mark.parametrize("one", CLASSES, ids=lambda one: one.name)
def test_a_class_is_complete(one: FailureClass) -> None:
    assert one.about.endswith(".") and one.hint.endswith(".") and one.suspect and one.examples
    assert one.family in FAMILIES
    assert all(group.source for group in one.lines)
    assert [line for line in one.unlike if name_of(line) == one.name] == []


def test_the_names_that_people_expect_are_there() -> None:
    assert {one.name for one in CLASSES} >= ISSUE
    assert set(FAMILIES) >= ISSUE


def test_no_line_is_lost_by_looking_only_where_it_may_be() -> None:
    """The quick look at a line's shape must find whatever the slow look knows."""
    lost = []
    for _, line in [*EXAMPLES, *TEXTS]:
        for seen, shape in lines_and_shapes(f"step 1 of 2\n{line}\nstep 2 of 2\n"):
            places = KNOWN.places(bare(clean(shape)))
            if KNOWN.best(clean(seen)) != KNOWN.best(clean(seen), places=places):
                lost.append(line)
    assert lost == []


def test_every_pattern_of_the_package_names_words_that_it_needs() -> None:
    """A pattern of which nothing is known has to be tried on every line."""
    assert [text for one in CLASSES for group in one.lines for text in group.patterns if not needed(text)] == []


@pytest.mark.parametrize("around", ["{}", "\x1b[31m{}\x1b[0m", "[3] {}", "12: {}", "{}\r", "<n001> {}", "   {}   "])
def test_colours_ranks_and_blanks_are_no_matter(around: str) -> None:
    wrong = [(name, line) for name, line in EXAMPLES if name_of(around.format(line)) != name]
    assert wrong == []


def test_patterns_find_nothing_in_ordinary_output() -> None:
    """What programs say that are well."""
    ordinary = """
    step 100, time 1.5e-3, residual 3.2e-9, 0 errors, no failures
    Error norm: 1.2e-12 (tolerance 1e-10): passed
    All 24 tests passed. Maximum error = 3.1e-16
    srun: job 4711 queued and waiting for resources
    srun: job 4711 has been allocated resources
    Loading module gcc/12.2
    signal to noise ratio 3.5
    memory used: 12 GiB of 256 GiB; free memory limit 8 GiB
    killer whales: 7
    Kill rate 0.3
    Number of processes: 4
    exit
    Completed, exit 0
    The following floating-point exceptions are signalling: IEEE_UNDERFLOW_FLAG
    Aborted runs so far: 0
    MPI_Init took 0.3 s
    using cuda device 0
    Writing checkpoint file, not the last one
    ASSERT enabled
    Terminated normally
    """
    assert [(line, name_of(line)) for line in ordinary.splitlines() if name_of(line)] == []
    scan = Scan(lambda: KNOWN)
    scan.feed(ordinary)
    assert scan.failure().name == "unclassified"


def test_patterns_are_bounded() -> None:
    """Repetitions inside repetitions, and unbounded ones in the middle, are what explodes."""
    for one in CLASSES:
        for group in one.lines:
            for pattern in group.patterns:
                assert not re.search(r"\)[*+]|\.\*.*\.\*|\.\+.*\.\+", pattern), (one.name, pattern)
