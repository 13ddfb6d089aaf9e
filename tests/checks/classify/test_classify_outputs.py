"""Whole outputs as they are found on machines: the most telling line wins over everything that follows from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from known_failures import KNOWN

from shakedown.checks.classify.reading import Scan, scan_parts
from shakedown.model.failures import Failure

OUTPUTS = Path(__file__).parent / "outputs"


def classify(text: str) -> Failure:
    scan = Scan(lambda: KNOWN)
    scan.feed(text)
    return scan.failure()


def stories() -> list[tuple[str, str, str, str]]:
    """(file, class, a part of the line that wins, text) of each story: '=== class | part' begins one."""
    found = []
    for path in sorted(OUTPUTS.glob("*.txt")):
        for story in path.read_text().split("\n=== ")[1:]:
            head, _, text = story.partition("\n")
            name, _, part = head.partition(" | ")
            found.append((path.stem, name, part, text))
    return found


@pytest.mark.parametrize(("origin", "name", "part", "text"), stories())
def test_the_most_telling_line_wins(origin: str, name: str, part: str, text: str) -> None:
    failure = classify(text)
    assert (failure.name, part in failure.line) == (name, True), failure


@pytest.mark.parametrize(("origin", "name", "part", "text"), stories())
def test_it_wins_wherever_it_stands(origin: str, name: str, part: str, text: str) -> None:
    """Ranks write at once: what stands first is chance, unless two lines tell equally much."""
    backwards = "\n".join(reversed(text.splitlines()))
    assert classify(backwards).name == name


def test_echoes_by_the_thousand_hide_nothing() -> None:
    echo = "".join(f"srun: error: n{rank:05d}: task {rank}: Exited with exit code 1\n" for rank in range(20_000))
    cause = "n00007: ./a.out: error while loading shared libraries: libx.so.1: cannot open shared object file\n"
    assert classify(cause + echo).name == "missing-library"
    assert classify(echo + cause).name == "missing-library"
    scan = Scan(lambda: KNOWN)
    scan_parts(scan, [cause + echo], head=1000, tail=1000)
    assert scan.failure().name == "missing-library", "the beginning is looked at too"


def test_an_unknown_error_is_shown_rather_than_an_echo() -> None:
    failure = classify(
        "step 7\nERROR: the bathymetry of cell (17, 4) is above the sea\nsrun: error: n001: task 0: Exited with exit code 1\n"
    )
    assert failure.name == "unclassified"
    assert failure.line == "ERROR: the bathymetry of cell (17, 4) is above the sea"


def test_of_unknown_lines_the_outspoken_one_is_shown() -> None:
    failure = classify(
        "warning: failed once, will try again\nvalue is wrong somewhere\nFATAL: no sea\nit was not found\n"
    )
    assert (failure.name, failure.line) == ("unclassified", "FATAL: no sea")


def test_nothing_said_is_nothing_known() -> None:
    assert classify("") == Failure("unclassified", "unknown")
    assert classify("step 1\nstep 2\n") == Failure("unclassified", "unknown")
