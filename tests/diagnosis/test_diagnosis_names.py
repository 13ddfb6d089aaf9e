"""Node sets as schedulers write them, and as damaged records might."""

from __future__ import annotations

import pytest

from shakedown.diagnosis.node_names import fold, in_order, unfold


def test_sets_are_unfolded_and_folded() -> None:
    assert unfold("c5n[0001-0003,0007]") == ("c5n0001", "c5n0002", "c5n0003", "c5n0007")
    assert unfold("login1") == ("login1",)
    assert unfold("n1,n2,n1") == ("n1", "n2")
    assert unfold("x[1-2]y[3-4]") == ("x1y3", "x1y4", "x2y3", "x2y4")
    assert fold(["c5n0003", "c5n0001", "c5n0002"]) == "c5n[0001-0003]"
    assert fold(["c3:n1"]) == "c3:n1"


@pytest.mark.parametrize(
    "text",
    ["", "n[1-", "n]1[", "n[5-1]", "n[a-b]", "n[1-999999999999]", "n[1-1000]x[1-1000]y[1-1000]", "n 1", "n\x1b[2J", "@all",
     ",", "(null)"],
)  # fmt: skip
def test_what_is_no_node_set_is_none_and_takes_no_time(text: str) -> None:
    assert unfold(text) is None


def test_nodes_are_in_the_order_people_count_in() -> None:
    assert in_order(["n10", "n9", "a2", "n1-b2", "n1-b10"]) == ["a2", "n1-b2", "n1-b10", "n9", "n10"]
