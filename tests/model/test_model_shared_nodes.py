"""Whether a node is in a folded set, found without unfolding it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shakedown.model.shared_nodes import has_node, names_in

_NUMBER = st.tuples(st.integers(0, 120), st.integers(0, 9), st.sampled_from([0, 0, 3, 4])).map(
    lambda it: f"{it[0]:0{it[2]}d}-{it[0] + it[1]:0{it[2]}d}" if it[1] else f"{it[0]:0{it[2]}d}"
)
_PART = st.one_of(
    st.tuples(
        st.sampled_from(["n", "rack1-n"]),
        st.lists(_NUMBER, min_size=1, max_size=3),
        st.sampled_from(["", "-ib", "x[1-2]"]),
    ).map(lambda it: f"{it[0]}[{','.join(it[1])}]{it[2]}"),
    st.sampled_from(["login", "n7", "n007"]),
)
_SETS = st.lists(_PART, min_size=1, max_size=3).map(",".join)


@given(_SETS, st.data())
def test_a_node_is_in_a_set_where_it_is_one_of_its_names(text: str, data: st.DataObject) -> None:
    names = names_in(text)
    for name in names[:20]:
        assert has_node(text, name), (text, name)
    other = data.draw(
        st.sampled_from(
            [f"n{number:0{width}d}{end}" for number in (0, 1, 7, 12) for width in (1, 3, 5) for end in ("", "-ib")]
        )
    )
    assert has_node(text, other) == (other in names), (text, other)


def test_what_is_no_set_holds_nothing() -> None:
    assert (
        not has_node("", "n1")
        and not has_node("(null)", "n1")
        and not has_node("n[", "n1")
        and not has_node("n[a-b]", "na")
    )
