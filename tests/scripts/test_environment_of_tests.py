"""What a test leaves in the environment reaches no other test: tests/conftest.py puts it right."""

from __future__ import annotations

import os

NAME = "LEFT_BY_A_TEST"


def test_a_test_that_sets_changes_and_takes_away_variables() -> None:
    os.environ[NAME] = "1"
    os.environ["HOME"] = "/nowhere"
    del os.environ["PATH"]


def test_the_next_one_finds_the_environment_of_before() -> None:
    assert NAME not in os.environ
    assert os.environ["HOME"] != "/nowhere" and os.environ["PATH"]
