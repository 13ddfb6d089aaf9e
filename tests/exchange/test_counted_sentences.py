"""Sentences about one thing and about several."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shakedown.metrics.words import so_many

SOURCES = Path(__file__).parents[2] / "src/shakedown"
MORE = re.compile(r"\{len\([a-z_.]+\) - [A-Za-z_0-9.]+\} ([a-z]+s) more")


@pytest.mark.parametrize(("count", "said"), [(0, "0 records end"), (1, "1 record ends"), (2310, "2,310 records end")])
def test_one_and_several(count: int, said: str) -> None:
    assert so_many(count, "record ends", "records end") == said


def test_what_is_left_of_a_list_may_be_one() -> None:
    """A list that is cut says how many lines, cases or tests there are more, with the word for one where it is one."""
    found = [
        f"{path.relative_to(SOURCES)}: {match.group()}"
        for path in sorted(SOURCES.rglob("*.py"))
        for match in MORE.finditer(path.read_text())
    ]
    assert found == []
