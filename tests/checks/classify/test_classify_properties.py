"""Whatever a program writes: classification never fails, ends, and says the same of lines that are the same."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_failures import CLASSES, KNOWN

from shakedown.checks.classify.catalogue import Classifier
from shakedown.checks.classify.likeness import LONGEST, likeness
from shakedown.checks.classify.lines import MATCHED, SHOWN, clean, shown
from shakedown.checks.classify.reading import MOST_LOOKS, Scan, scan_parts
from shakedown.model.failures import FailureClass, FailureLine
from shakedown.queries.failures import text_of

EXAMPLES = [(one.name, line) for one in CLASSES for line in one.examples]
PIECES = [group.texts[0].replace("...", " ") for one in CLASSES for group in one.lines if group.texts]
LIMIT_S = 60.0  # far more than any of this takes; without bounds it would be hours


def scanned(text: str) -> Scan:
    scan = Scan(lambda: KNOWN)
    scan.feed(text)
    return scan


@given(st.binary(max_size=4000))
def test_any_bytes_are_classified(data: bytes) -> None:
    failure = scanned(data.decode("utf-8", "replace")).failure()
    assert failure.name
    assert failure.line.isprintable() and len(failure.line) <= SHOWN


@given(
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=40)), max_size=30),
    st.sampled_from(["\n", "\r", "\r\n", " "]),
)
def test_any_mixture_of_what_is_known_is_classified(pieces: list[str], between: str) -> None:
    failure = scanned(between.join(pieces)).failure()
    assert failure.line.isprintable() and len(failure.line) <= SHOWN


@given(st.text(max_size=300))
def test_a_clean_line_is_clean(text: str) -> None:
    line = clean(text)
    assert "\x1b" not in line and "\n" not in line and len(line) <= MATCHED + 5
    assert clean(line) == line
    assert shown(line).isprintable()


@given(
    st.sampled_from(EXAMPLES), st.integers(0, 999_999), st.sampled_from(["[{}] ", "{}: ", "[1,{}]<stderr>: ", "<{}> "])
)
def test_rank_prefixes_are_no_matter(example: tuple[str, str], rank: int, prefix: str) -> None:
    name, line = example
    assert scanned(prefix.format(rank) + line).failure().name == name
    assert likeness(prefix.format(rank) + line) == likeness(prefix.format(1) + line)


@given(st.sampled_from(EXAMPLES), st.data())
def test_colours_are_no_matter(example: tuple[str, str], data: st.DataObject) -> None:
    name, line = example
    place = data.draw(st.integers(0, len(line)))
    assert scanned(f"{line[:place]}\x1b[1;31m{line[place:]}\x1b[0m").failure().name == name


@given(st.integers(0, 10**9), st.integers(0, 99999), st.integers(1, 9999))
def test_places_times_and_numbers_make_no_difference_to_likeness(number: int, node: int, task: int) -> None:
    lines = [
        f"2026-11-22T10:00:{number % 60:02d} [{task}] n{node:05d}: cannot read {number} of /lustre/r{task}/x.nc at 0x{number:x}",
        "2026-01-02T11:11:11 [7] n00001: cannot read 7 of /lustre/f2/a/b/y.nc at 0xabc",
    ]
    assert len({likeness(line) for line in lines}) == 1


def test_likeness_tells_signals_and_codes_apart() -> None:
    assert likeness("killed by signal 9 on n001") != likeness("killed by signal 15 on n002")
    assert likeness("solver ended with code 3") != likeness("solver ended with code 4")
    assert likeness("cell 3 is wet") == likeness("cell 4 is wet")


@given(st.text(min_size=12, max_size=200))
def test_a_class_made_of_a_likeness_finds_its_line(text: str) -> None:
    line = shown(clean(f"failed badly: {text}"))
    made = text_of(likeness(line))
    own = FailureClass("ours", "unknown", "", "", (FailureLine(99, "here", (made,)),))
    found = Classifier((), (own,)).best(clean(line))
    assert found is not None, made
    assert len(likeness(line)) <= LONGEST


@pytest.mark.parametrize(
    "text",
    [
        "error " * 200_000,
        "a" * 1_000_000 + " error",
        "error: " + "x.so" * 250_000,
        "Assertion " + "a " * 500_000,
        "[" * 1_000_000 + "error",
        "version `" + "A_" * 400_000 + "' not found",
        "/" * 1_000_000 + " error",
        "lib" * 300_000 + ".so not found",
        "error\x1b[" * 100_000,
        "\x1b]" * 300_000 + "error",
        "error 1:1:1 " * 80_000,
        "::::: error" * 90_000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_lines_of_a_megabyte_take_no_time(text: str) -> None:
    begin = time.monotonic()
    scanned(text).failure()
    KNOWN.matches(text)
    likeness(text)
    assert time.monotonic() - begin < LIMIT_S


def test_thousands_of_different_lines_are_bounded() -> None:
    words = ["".join(chr(97 + (number // 26**place) % 26) for place in range(4)) for number in range(50 * MOST_LOOKS)]
    scan = Scan(lambda: KNOWN)
    begin = time.monotonic()
    scan.feed("\n".join(f"error: the {word} is wrong" for word in words))
    assert time.monotonic() - begin < LIMIT_S
    assert scan.failure().line == "error: the aaaa is wrong"


def test_only_the_beginning_and_the_end_of_very_much_are_looked_at() -> None:
    scan = Scan(lambda: KNOWN)
    scan_parts(scan, ["step\n" * 1000 + "Segmentation fault\n" + "step\n" * 1000], head=1000, tail=1000)
    assert scan.failure().name == "unclassified"
    scan_parts(scan, ["x\n", "y\nNo space left on device\n" + "step\n" * 10], head=1, tail=100)
    assert scan.failure().name == "disk-full"


def test_the_catalogue_is_not_asked_for_where_nothing_was_said() -> None:
    def never() -> Classifier:
        raise AssertionError("asked for")

    scan = Scan(never)
    scan.feed("")
    scan.feed("\n\n  \n")
    assert scan.failure().name == "unclassified"
