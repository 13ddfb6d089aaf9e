"""JSON and YAML as a whole and by lines, statistics of several numbers, and text with colours."""

from __future__ import annotations

import json
import statistics
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.checks.extract import check
from shakedown.checks.figures import Figure, take
from shakedown.checks.numbers import combine
from shakedown.checks.text import decode
from shakedown.model import json_paths
from shakedown.model.figures import FigureSpec, Table
from shakedown.model.nouns import Check

PRETTY = """{
  "host": "n001",
  "results": [
    {"size": 8, "bw": 1.5, "runs": [{"t": 3}, {"t": 5}]},
    {"size": 16, "bw": 2.5, "runs": [{"t": 7}]}
  ],
  "a.b": {"c": 4}
}
"""
YAML = """\
Final Summary:
  HPCG result is VALID with a GFLOP/s rating of: 12.5
runs:
- {time: 1.5e1, ok: true}
- {time: 2, ok: false}
"""


def value(spec: FigureSpec, content: str) -> float | str | None:
    (found,) = take(spec, decode("output", content.encode()))
    return found.problem or found.value


@pytest.mark.parametrize(
    ("path", "pick", "wanted"),
    [
        ("results[0].bw", "last", 1.5),
        ("results[-1].bw", "last", 2.5),
        ("results[*].bw", "mean", 2.0),
        ("results[*].runs[*].t", "sum", 15.0),
        ("results[*].runs[*].t", "count", 3.0),
        ('["a.b"].c', "last", 4.0),
        (
            "results[7].bw",
            "last",
            "figure x: a JSON line with results[7].bw is missing: it is nowhere in the output, whose last line is '}'",
        ),
        ("host", "last", "figure x: host is text, not a number"),
    ],
)
def test_a_text_that_is_one_json_value_is_followed_by_keys_and_places(path: str, pick: str, wanted: object) -> None:
    assert value(FigureSpec("x", json=path, pick=pick), PRETTY) == wanted  # type: ignore[arg-type]


def test_lines_of_json_are_still_records_of_their_own() -> None:
    lines = 'noise\n{"a": {"b": [1, 2]}}\n{"a": {"b": [3, 4]}}\n'
    assert value(FigureSpec("x", json="a.b[1]"), lines) == 4
    assert value(FigureSpec("x", json="a.b[*]", pick="sum"), lines) == 10
    assert value(FigureSpec("x", json="[0]"), "[5, 6]\n[7, 8]\n") == 7


def test_yaml_is_followed_the_same_way_and_its_exponents_are_numbers() -> None:
    assert value(FigureSpec("x", yaml="runs[*].time", pick="max"), YAML) == 15.0
    assert value(FigureSpec("x", yaml="Final Summary.HPCG result is VALID with a GFLOP/s rating of"), YAML) == 12.5


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a: 1\nb: x: y\nc: 2\n", "'mapping values are not allowed in this context' in line 2, 'b: x: y'"),
        ("a: [1\n", "'did not find expected ',' or ']'' in line 2"),
    ],
)
def test_what_is_no_yaml_is_told_with_its_line_and_the_way_out(text: str, where: str) -> None:
    said = value(FigureSpec("x", yaml="c"), text)
    assert said == f"figure x: it is not YAML: {where}; 'regex' takes a number from any text"


@pytest.mark.parametrize("path", ["", ".a", "a..b", "a[", "a[x]", "a.[0", "a]"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        json_paths.parse(path)


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_statistics_are_those_of_the_libraries(numbers: list[float]) -> None:
    numpy = pytest.importorskip("numpy")
    assert combine("sd", numbers) == statistics.stdev(numbers)
    assert combine("count", numbers) == len(numbers)
    for share in (5, 95, 99):
        assert combine(f"p{share}", numbers) == pytest.approx(
            float(numpy.percentile(numbers, share)), rel=1e-9, abs=1e-6
        )


def test_one_value_has_no_standard_deviation() -> None:
    spec = FigureSpec("x", regex=r"t=(?P<value>\d+)", pick="sd")
    assert value(spec, "t=4\n") == "figure x: one value alone has no sd"


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", "\r\r\n", "\x1b[2K\r", "\x1b[2K\x1b[1G"])
def test_lines_end_as_a_terminal_ends_them(end: str) -> None:
    """What progress shows last is the newest; it is a line of its own for figures, tables and checks."""
    shown = decode("output", end.join(["rate = 1.0", "rate = 2.0", "rate = 3.0", ""]).encode())
    assert take(FigureSpec("x", regex=r"^rate = (?P<value>\S+)$"), shown) == (Figure("x", 3.0),)
    assert take(FigureSpec("x", regex=r"^rate = (?P<value>\S+)$", pick="sum"), shown) == (Figure("x", 6.0),)
    assert take(FigureSpec("x", table=Table(columns=("_", "_", "x"), column="x")), shown) == (Figure("x", 3.0),)
    assert check(Check("matches", "output", "^rate = 2.0$"), shown).held
    assert check(Check("matches", "output", "1.0.*2.0"), shown).held is False


def test_lines_that_carriage_returns_end_are_no_long_line_and_the_gap_cuts_none_of_them() -> None:
    head, tail = b"rate = 1\r" * 100 + b"rate =", b" 2\r" + b"rate = 3\r" * 100
    shown = decode("output", head, tail, 1000, limit=50)
    assert shown.parts == ("rate = 1\n" * 100, "rate = 3\n" * 100)
    assert [problem for problem in shown.problems if "longer than" in problem] == []


def test_a_mark_of_the_byte_order_is_no_part_of_a_name() -> None:
    csv = b"\xef\xbb\xbfOp,bw\r\nread,12.5\r\n"
    spec = FigureSpec("bw", table=Table(separator=",", column="bw", by=("Op",)))
    assert take(spec, decode("x.csv", csv)) == (Figure("bw[Op=read]", 12.5),)


FIO = (
    '{\n  "fio version" : "fio-3.36",\n  "jobs" : [\n    { "read" : {\n "bw" : 12.5 } },\n {"read":{"bw":3}}\n  ]\n}\n'
)
WARNING = "fio: this platform does not support {process} affinity\n[n001:12] UCX WARN a, b,\n"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (FIO, ""),
        (WARNING + FIO, ""),
        (WARNING + FIO + "slurmstepd: error: x\n", ""),
        (WARNING + FIO.replace('{\n  "fio', '{  "fio'), ""),
        (WARNING + FIO[:-20], "the JSON value that begins in line 3 is cut off: the text ends within it"),
        (FIO[:-20], "the JSON value that begins in line 1 is cut off: the text ends within it"),
        (FIO[:20], "is missing"),  # the key is not there
        (
            FIO + FIO,
            "there are 2 JSON values, the first of which begin in lines 1 and 9: nobody can tell which one counts",
        ),
        (FIO[:-20] + "\n" + FIO, "the JSON value that begins in line 1 is damaged in line "),
        (
            FIO.replace("12.5 }", "12.5 WARN }"),
            "the JSON value that begins in line 1 is damaged in line 5, '\"bw\" : 12.5 WARN } },'",
        ),
        (WARNING + '{"jobs":[{"read":{"bw":15.5}}]}\n' + FIO[:-20], ""),  # a record of its own, as before
    ],
)
def test_a_json_value_among_other_lines_is_read_where_it_is_the_only_one_and_whole(content: str, problem: str) -> None:
    spec = FigureSpec("x", json="jobs[*].read.bw", pick="sum")
    (found,) = take(spec, decode("output", content.encode()))
    assert found.value == (None if problem else 15.5)
    assert problem in found.problem


@pytest.mark.parametrize(
    ("path", "pick", "value"),
    [
        ("runs[*].t", "sum", None),
        ("runs[*].t", "min", None),
        ("runs[*].t", "count", 2.0),
        ("runs[*].t", "last", 3.0),
        ("runs[*].n", "sum", 6.0),
        ("sets[*].of[*].t", "sum", None),
        ("sets[*].of[*].n", "sum", 3.0),  # an empty list lacks nothing
        ("names[*]", "sum", 3.0),
    ],
)
def test_all_items_of_a_list_have_the_number_or_nothing_is_said_of_all(
    path: str, pick: Any, value: float | None
) -> None:
    runs = [{"n": 1, "t": 2}, {"n": 2}, {"n": 3, "t": 3}]
    content = {"runs": runs, "sets": [{"of": runs[:2]}, {"of": []}], "names": {"a": 1, "b": 2}}
    for spec in (FigureSpec("x", pick=pick, json=path), FigureSpec("x", pick=pick, yaml=path)):
        (found,) = take(spec, decode("output", json.dumps(content).encode()))
        assert found.value == value
        of = "3" if path.startswith("runs") else "2"
        assert value is not None or f"{path} is missing in 1 of {of} items" in found.problem


def test_colours_do_not_stand_between_a_name_and_its_number() -> None:
    coloured = "\x1b[1;32mTriad:\x1b[0m \x1b[38;5;208m91234.9\x1b[0m\x1b[K MB/s\n"
    assert take(FigureSpec("x", regex=r"Triad: (?P<value>[\d.]+) MB/s"), decode("output", coloured.encode())) == (
        Figure("x", 91234.9),
    )


def test_a_run_time_in_yaml_is_a_time_as_in_any_text() -> None:
    assert value(FigureSpec("x", yaml="runs[0].t", unit="s"), "runs:\n- {t: 1m30s}\n") == 90.0
    assert value(FigureSpec("x", yaml="t", unit="GB/s"), "t: 1m30s\n") == "figure x: '1m30s' is not a number"
