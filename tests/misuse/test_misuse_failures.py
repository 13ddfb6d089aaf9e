"""Classes of failures that are written wrongly: the place, what is wrong, and the way out."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.plans.failures import site_failures
from shakedown.plans.schema.problems import Problems

GOOD = """\
failures:
  - class: no-sea
    family: program-error
    about: The ocean has no water.
    lines: [{weight: 70, texts: is above the sea}]
"""


def changed(old: str, new: str) -> dict[str, str]:
    assert old in GOOD
    return {"failures/ours.yaml": GOOD.replace(old, new)}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "about:",
            "abuot:",
            "error: failures/ours.yaml:4:5: unknown key 'abuot' in failures\nhint: did you mean 'about'?",
        ),
        (
            "weight: 70",
            "weight: 170",
            "error: failures/ours.yaml:5:22: failures.lines.weight: 170 is more than 100, the most that is possible",
        ),
        (
            "weight: 70, ",
            "",
            "error: failures/ours.yaml:5:13: 'weight' is missing in failures.lines",
        ),
        (
            "texts: is above the sea",
            "texts: sea",
            "error: failures/ours.yaml:5:33: failures.lines.texts: 'sea' would match too many lines\n"
            "hint: write at least 4 characters in a row; '...' stands for anything",
        ),
        (
            "texts: is above the sea",
            "patterns: '(sea'",
            "error: failures/ours.yaml:5:36: failures.lines.patterns: '(sea' is not a regular expression",
        ),
        (
            "texts: is above the sea",
            "patterns: 'x*'",
            "error: failures/ours.yaml:5:36: failures.lines.patterns: 'x*' matches an empty line\n"
            "hint: write a part that must be there",
        ),
        (
            ", texts: is above the sea",
            "",
            "error: failures/ours.yaml:5:13: these lines have neither texts nor patterns\nhint: texts: [what such a line holds]",
        ),
        (
            "family: program-error",
            "family: program",
            "error: failures/ours.yaml:3:13: failures.family: 'program' is not one of",
        ),
        (
            "class: no-sea",
            "class: No Sea",
            "error: failures/ours.yaml:2:12: failures.class: 'No Sea' cannot be a class's name\n"
            "hint: use small letters, digits and '-', a letter first: out-of-memory",
        ),
    ],
)
def test_what_is_wrong_with_a_class(told: Any, old: str, new: str, message: str) -> None:
    assert message in told(changed(old, new))


def test_two_classes_of_one_name(told: Any) -> None:
    said = told({"failures/a.yaml": GOOD, "failures/b.yaml": GOOD})
    assert said == "error: failures/b.yaml:2:12: there is a class 'no-sea' already\nhint: it is in failures/a.yaml:2"


def test_a_file_that_would_not_be_read(told: Any) -> None:
    assert told({"failures/ours.yml": GOOD}) == (
        "error: failures/ours.yml: a file that ends in .yml is not read\nhint: rename it to ours.yaml"
    )


def test_a_site_without_any_has_none(tmp_path: Any) -> None:
    problems = Problems()
    assert site_failures(str(tmp_path), problems) == ((), ())
    assert len(problems) == 0
