"""Node sets as numbers: the same nodes as the text has, however it is written."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.diagnosis.node_names import unfold
from shakedown.diagnosis.node_sets import NodeSets

_NUMBER = st.tuples(st.integers(0, 130), st.integers(0, 12), st.integers(0, 4)).map(
    lambda it: f"{it[0]:0{it[2]}d}-{it[0] + it[1]:0{it[2]}d}" if it[1] else f"{it[0]:0{it[2]}d}"
)
_RANGES = st.lists(_NUMBER, min_size=1, max_size=3).map(",".join)
_PART = st.tuples(
    st.sampled_from(["n", "rack1-n", "n1", "c:", "x_", "", "N"]), _RANGES, st.sampled_from(["", "-ib", "5", "y[1-2]"])
)
_SETS = st.lists(
    st.one_of(
        _PART.map(lambda it: f"{it[0]}[{it[1]}]{it[2]}"), st.sampled_from(["n7", "login", "n007", "", "n[", "n[3-1]"])
    ),
    min_size=1,
    max_size=3,
).map(",".join)


@given(st.lists(_SETS, min_size=1, max_size=4), st.sampled_from(["", "big"]))
def test_numbers_name_the_nodes_that_the_text_has(texts: list[str], cluster: str) -> None:
    sets = NodeSets()
    for text in [*texts, *texts]:
        names, numbers = unfold(text), sets.numbers(text, cluster)
        assert (names is None) == (numbers is None), text
        if names is not None and numbers is not None:
            before = f"{cluster}:" if cluster else ""
            assert sorted(sets.names[number] for number in numbers.tolist()) == sorted(
                before + name for name in names
            ), text
    assert len(set(sets.names)) == len(sets.names)


@given(_SETS, _SETS)
def test_bits_meet_where_names_do(one: str, other: str) -> None:
    sets = NodeSets()
    meet = set(unfold(one) or ()) & set(unfold(other) or ())
    assert (sets.bits(one) & sets.bits(other)).bit_count() == len(meet)
    assert sets.bits(one).bit_count() == len(unfold(one) or ())


@pytest.mark.parametrize(
    "text", ["n[1-999999999999]", "n[000000-999999,000000-000001]", "", "(null)", "n[1-", "n[a-b]"]
)
def test_what_is_no_node_set_is_none_here_too(text: str) -> None:
    assert NodeSets().numbers(text) is None


def test_a_set_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from shakedown.diagnosis import node_sets

    sets = NodeSets()
    first = sets.numbers("n[0001-0064],login")
    monkeypatch.setattr(node_sets, "unfold", lambda text: pytest.fail(f"{text} is read again"))
    again = sets.numbers("n[0001-0064],login")
    assert first is not None and again is first and np.array_equal(first, again)
