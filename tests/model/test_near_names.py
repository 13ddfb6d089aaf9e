"""A name that is none is answered with the one that was meant, or with those that there are."""

from __future__ import annotations

import time

import pytest

from shakedown.model.near_names import near_case, near_node

NODES = [f"c5n{number:04}" for number in range(1, 2001)] + ["login1"]
CASES = [("grid/n=1", "grid"), ("grid/n=2", "grid"), ("plain", "plain")]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("c5n7", "did you mean 'c5n0007'?"),
        ("c5n00007", "did you mean 'c5n0007'?"),
        ("c6n0007", "its nodes are c5n[0001-2000],login1"),
        ("cn50007", "did you mean 'c5n0007'?"),
        ("c5m0007", "did you mean 'c5n0007'?"),
        ("lgin1", "did you mean 'login1'?"),
        ("c5n2001", "its nodes are c5n[0001-2000],login1"),
        ("zzz", "its nodes are c5n[0001-2000],login1"),
    ],
)
def test_a_node_that_is_none(name: str, hint: str) -> None:
    assert near_node(name, NODES) == hint


def test_nodes_that_cannot_be_folded_and_a_long_list_are_still_a_sentence() -> None:
    assert near_node("zzz", ["a[1", "b"]) == "its nodes are a[1, b"
    assert len(near_node("zzz", [f"n{number}" for number in range(0, 9000, 2)])) < 230
    assert near_node("zzz", []) == "it has none"
    assert near_node("n3", ["n1", "n2"], "excluded are:") == "excluded are: n[1-2]"


def test_a_machine_of_twenty_thousand_nodes_is_looked_through_at_once() -> None:
    nodes = [f"nid{number:06}" for number in range(20_000)]
    began = time.process_time()
    assert near_node("nie019999", nodes) == "did you mean 'nid019999'?"
    assert near_node("zzz", nodes) == "its nodes are nid[000000-019999]"
    assert time.process_time() - began < 20


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("grid", "it is a test; its cases are: grid/n=1, grid/n=2"),
        ("grid/n=3", "did you mean 'grid/n=2'?"),
        ("plan", "did you mean 'plain'?"),
        ("gird", "did you mean 'grid'?"),
        ("r000002", None),
        ("r1", "did you mean 'r000001'?"),
        ("R000001", "did you mean 'r000001'?"),
        ("zzz", None),
    ],
)
def test_a_case_or_run_that_is_none(name: str, hint: str | None) -> None:
    assert near_case(name, CASES, ["r000001"]) == hint
