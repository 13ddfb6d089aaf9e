"""Records made readable: nothing in here knows a kernel by name."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shakedown.kernels.launch import default_ranks, is_complete, read_records
from shakedown.kernels.summary import Table, summarise


def test_lines_that_are_no_records_are_kept_apart() -> None:
    output = '{"record":"start"}\nMPI says hello\n\n[1]\n{"no":1}\n{"record":3}\n{"record":"end","complete":true}\n'
    records, others = read_records(output)
    assert [r["record"] for r in records] == ["start", "end"]
    assert others == ["MPI says hello", "[1]", '{"no":1}', '{"record":3}']


def test_only_an_end_that_says_so_is_complete() -> None:
    assert is_complete([{"record": "end", "complete": True}])
    assert not is_complete([{"record": "end", "complete": False}])
    assert not is_complete([{"record": "result", "complete": True}])


def test_results_with_the_same_keys_share_a_table() -> None:
    records: list[dict[str, Any]] = [
        {"record": "result", "copy": {"gb_s": 10.123456789, "slow": {"x": 1}}, "complete": True},
        {"record": "result", "triad": {"gb_s": None}, "ranks": 4},
    ]
    assert summarise(records) == [
        Table("result", ("", "gb_s"), (("copy", "10.1235"), ("triad", "-"))),
        Table("result", ("", "value"), (("ranks", "4"),)),
    ]


def test_records_of_one_kind_become_rows_and_their_lists_are_left_out() -> None:
    records = [{"record": "rank", "rank": r, "cores": "0-1", "edges": [1, 2]} for r in range(2)]
    assert summarise(records) == [Table("rank", ("rank", "cores"), (("0", "0-1"), ("1", "0-1")))]


def test_a_matrix_is_shown_while_it_fits() -> None:
    record = {"record": "matrix", "name": "bandwidth", "unit": "MB/s", "row": "sender", "labels": ["a", "b"]}
    (shown,) = summarise([{**record, "rows": [[None, 1.5], [2, None]]}])
    assert shown == Table("bandwidth, MB/s", ("sender", "a", "b"), (("a", "-", "1.5"), ("b", "2", "-")))
    assert summarise([{**record, "labels": list("abcdefghijklmn"), "rows": [[0] * 14] * 14}]) == []


def test_values_per_node_become_columns_where_there_are_several_nodes() -> None:
    def of(name: str, values: list[float]) -> dict[str, Any]:
        return {"record": "nodes", "name": name, "unit": "GB/s", "labels": ["a", "b"][: len(values)], "values": values}

    (shown,) = summarise([of("copy", [1, 2]), of("add", [3, 4])])
    assert shown == Table("nodes", ("", "copy GB/s", "add GB/s"), (("a", "1", "3"), ("b", "2", "4")))
    assert summarise([of("copy", [1])]) == []


def test_threads_fill_a_machine_for_stream_and_the_others_get_a_partner() -> None:
    assert (default_ranks("stream"), default_ranks("pairs"), default_ranks("new")) == (1, 2, 2)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)


@given(st.dictionaries(st.text(max_size=5), SCALARS | st.dictionaries(st.text(max_size=3), SCALARS), max_size=4))
def test_any_record_is_read_back_and_summarised(fields: dict[str, Any]) -> None:
    record = {**fields, "record": "result"}
    records, others = read_records(json.dumps(record) + "\n")
    assert (records, others) == ([record], [])
    for table in summarise(records):
        assert all(len(row) == len(table.headings) for row in table.rows)
