"""How much of an output is looked at: an amount, the same wherever it is looked at, and what patterns need."""

from __future__ import annotations

import io
import random
import re
from typing import Any

import pytest
from known_failures import KNOWN

from shakedown.checks.classify import reading
from shakedown.checks.classify.catalogue import Classifier
from shakedown.checks.classify.needed import bare, needed
from shakedown.checks.classify.reading import HEAD, TAIL, Scan, scan_parts
from shakedown.model.failures import FailureClass, FailureLine
from shakedown.plans.failures import shipped_failures
from shakedown.queries.failures import try_text

CAUSE = "write: No space left on device\n"
WORDS = (
    "alpha",
    "error",
    "failed",
    "cannot",
    "open",
    "file",
    "memory",
    "limit",
    "signal",
    "node",
    "residual",
    "not",
    "found",
    "warning",
    "timeout",
    "reset",
)


@pytest.fixture(scope="module")
def different_lines() -> str:
    """A megabyte of lines of which hardly two are alike, and most of which some class may know."""
    rng = random.Random(7)
    return "".join(f"error: {' '.join(rng.choices(WORDS, k=9))}\n" for _ in range(18_000))


def test_a_cause_behind_a_megabyte_of_different_lines_is_found(different_lines: str) -> None:
    for text in (different_lines + CAUSE, CAUSE + different_lines):
        scan = Scan(lambda: KNOWN)
        scan.feed(text)
        assert scan.failure().name == "disk-full"


def test_few_of_many_different_lines_are_looked_at_in_full(
    different_lines: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    best = KNOWN.best

    def asking(line: str, **more: Any) -> Any:
        asked.append(line)
        return best(line, **more)

    monkeypatch.setattr(KNOWN, "best", asking)
    scan = Scan(lambda: KNOWN)
    scan.feed(different_lines)
    assert len(asked) <= reading.MOST_LOOKS * (len(different_lines) // reading.BLOCK + 1)
    asked.clear()
    scan = Scan(lambda: KNOWN)
    scan.feed(CAUSE + different_lines)
    assert len(asked) < reading.MOST_LOOKS, "what weighs less than the cause is left out"


def test_lines_that_differ_in_numbers_are_looked_at_once_unless_a_number_tells() -> None:
    scan = Scan(lambda: KNOWN, lists=True)
    scan.feed("".join(f"rank {rank}: Segmentation fault\n" for rank in range(1, 500)))
    assert len(scan.listed) == 1
    for first, second, name in (
        ("ECC errors: 0, uncorrectable ECC: 0", "ECC errors: 3, uncorrectable ECC: 3", "hardware-error"),
        ("task 3: Exited with exit code 1", "task 3: Exited with exit code 139", "segmentation-fault"),
    ):
        scan = Scan(lambda: KNOWN)
        scan.feed(f"{first}\n{second}\n")
        assert scan.failure().name == name


def test_a_text_that_is_tried_has_the_limit_of_an_output() -> None:
    step = "step 7 of 9, residual 0.3, " + "x" * 900 + "\n"
    head, tail = step * (HEAD // len(step) + 1), step * (TAIL // len(step) + 1)
    for text, name in (
        (head + CAUSE + tail, "unclassified"),
        (head + tail + CAUSE, "disk-full"),
        (CAUSE + tail, "disk-full"),
    ):
        scan = Scan(lambda: KNOWN)
        scan_parts(scan, [text])
        tried = try_text(KNOWN, io.BytesIO(text.encode()))
        assert tried.failure == scan.failure()
        assert tried.failure.name == name
        assert tried.unread == max(0, len(text) - HEAD - TAIL)
        assert [line.number for line in tried.lines] == (
            [text[: text.index(CAUSE)].count("\n") + 1] if name != "unclassified" else []
        )


def test_of_equals_the_first_line_counts_whatever_else_may_be_in_them() -> None:
    scan = Scan(lambda: KNOWN)
    scan.feed(
        "a.out: file x: No space left on device\nb.out: Exceeded step memory limit handler: off; file system full\n"
    )
    assert scan.failure().line.startswith("a.out")


def test_a_pattern_of_which_nothing_is_known_leaves_other_lines_alone() -> None:
    ours = FailureClass("ours", "unknown", "", "", (FailureLine(99, "here", (), (r"\bE\d\d\d\b",)),))
    known = Classifier(shipped_failures(), (ours,))
    many = "".join(f"step {chr(97 + number % 26) * (number // 26 + 1)}\n" for number in range(1000))
    scan = Scan(lambda: known)
    scan.feed(many + CAUSE)
    assert scan.failure().name == "disk-full"
    scan.feed("it ended with E417\n")
    assert scan.failure().name == "ours"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("plain text", ("plain text",)),
        ("(x+x+)+y", ()),
        ("abc|defg", ("abc", "defg")),
        ("abc|", ()),
        ("(?i)abcdef", ()),
        ("abc{0,2}def", ("def",)),
        ("(?:abcd)?xyz", ("xyz",)),
        ("[]abc]food", ("food",)),
        ("food(?=barbar)", ("food",)),
        (r"ab\.cd\d+x", ("ab.cd",)),
        ("(?P<n>hello)+", ("hello",)),
        ("x(?:aaa|bbbb)y", ("aaa", "bbbb")),
        (r"Exit \d{1,3} of job", (" of job",)),
        ("(?P=n)hello", ()),
    ],
)
def test_what_a_pattern_needs(pattern: str, words: tuple[str, ...]) -> None:
    assert needed(pattern) == words


def test_every_example_that_a_pattern_finds_holds_what_it_needs() -> None:
    for one in shipped_failures():
        for pattern in (pattern for group in one.lines for pattern in group.patterns):
            for example in one.examples:
                if re.search(pattern, example, re.IGNORECASE):
                    assert any(bare(word) in bare(example.lower()) for word in needed(pattern)), (pattern, example)
