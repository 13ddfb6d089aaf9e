"""Figures: every way to write a number, every pick, and why there is none."""

from __future__ import annotations

import json
import math
import statistics
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.checks.figures import Figure, take
from shakedown.checks.numbers import number
from shakedown.checks.text import Contents, Missing, Text, decode
from shakedown.model.figures import Table
from shakedown.model.nouns import FigureSpec

Pick = Literal["last", "first", "min", "max", "mean", "median", "sum"]
PICKS: tuple[Pick, ...] = ("last", "first", "min", "max", "mean", "median", "sum")
FINITE = st.floats(allow_nan=False, allow_infinity=False)
MODEST = st.floats(-1e98, 1e98).filter(lambda x: x == 0 or abs(x) > 1e-98)

SPEED = r"speed = (?P<value>\S+)"


def figure(spec: FigureSpec, contents: Contents) -> Figure:
    """The only figure that a spec without a table gives."""
    (found,) = take(spec, contents)
    return found


def by_regex(pick: Pick = "last", required: bool = True, regex: str = SPEED) -> FigureSpec:
    return FigureSpec("speed", regex=regex, pick=pick, required=required)


def by_json(path: str = "triad.gb_s", pick: Pick = "last", required: bool = True) -> FigureSpec:
    return FigureSpec("speed", json=path, pick=pick, required=required)


def text(content: str, **options: Any) -> Text:
    return decode("output", content.encode(), **options)


def expected(pick: Pick, values: list[float]) -> float:
    table: dict[Pick, float] = {"last": values[-1], "first": values[0], "min": min(values), "max": max(values)}
    total = math.fsum(values)
    return (table | {"mean": total / len(values), "median": statistics.median(values), "sum": total})[pick]


@given(FINITE)
def test_every_finite_number_is_read_as_it_was_written(value: float) -> None:
    assert number(repr(value)) == value
    assert number(f" {value:.17E} ") == value
    assert number(f"{value:.17E}".replace("E", "D")) == value  # as Fortran writes double precision


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("nan", "'nan' is no finite number"),
        ("-Infinity", "'-Infinity' is no finite number"),
        ("-nan(ind)", "'-nan(ind)' is no finite number"),
        ("1e999", "'1e999' is too large for a number"),
        ("1,234", "'1,234' may be 1234 or 1.234"),
        ("0,5", "'0,5' is not a number"),
        ("12,34.5", "'12,34.5' is not a number"),
        ("1_000", "'1_000' is not a number"),
        ("12.1 GB/s", "'12.1 GB/s' is not a number"),
        ("****", "'****' is not a number"),
        ("", "what should be a number is empty"),
        ("\x1b[1m5", "'\\x1b[1m5' is not a number"),
    ],
)
def test_what_is_no_number_is_said_and_never_guessed(written: str, problem: str) -> None:
    assert number(written) == problem


def test_commas_between_thousands_are_read_where_they_can_be_nothing_else() -> None:
    assert [number(text) for text in ("1,234.5", "-12,345,678", "1,048,576")] == [1234.5, -12345678.0, 1048576.0]


@pytest.mark.parametrize(
    ("line", "regex", "value"),
    [
        ("speed = 900 KB/s", SPEED, None),
        ("speed = 1.2GB/s", r"speed = (?P<value>[\d.]+)", None),
        ("speed = 25 MiB/s", r"speed = (?P<value>\S+)\s", None),
        ("speed = 25 MiB/s", r"speed = (?P<value>\S+) MiB/s", 25.0),  # the unit is taken in
        ("speed = 25 MB/s", SPEED, 25.0),
        ("speed = 25 MByte/s", SPEED, 25.0),
        ("speed = 25\nGB/s", SPEED, 25.0),  # of the next line
        ("speed = 25 GB", SPEED, 25.0),  # of another kind
        ("speed = 25 GB/shot", SPEED, 25.0),
        ("speed = 25 GBX", SPEED, 25.0),
        ("speed = 3 GBps", SPEED, None),
        ("speed = 3 MBps", SPEED, 3.0),
        ("speed = 3 (GB/s)", SPEED, None),
        ("speed = 3 [GB/sec]", SPEED, None),
        ("speed = 3 gigabytes/second", SPEED, None),
        ("speed = 3 megabytes/sec", SPEED, 3.0),
        *((f"speed = 3 {word}", SPEED, None) for word in ("GBit/s", "GB per second", "Gbytes per sec", "GBYTE/S")),
        *(
            (f"speed = 3 {word}", SPEED, None)
            for word in ("gb/s", "GB/sec/node", "gbps", "mbps", "MBPS", "Giga Bytes/s")
        ),
        *(
            (f"speed = 3 {word}", SPEED, 3.0)
            for word in ("mb/s", "MBYTE/S", "MB per second", "mbytes per sec", "MB/s/node")
        ),
        *((f"speed = 3 {word}", SPEED, 3.0) for word in ("per node", "big", "gaps", "mb per shot")),
    ],
)
def test_a_number_in_another_unit_of_the_same_kind_is_not_the_figures(
    line: str, regex: str, value: float | None
) -> None:
    """A program that goes from MB/s to KB/s would be a thousand times faster than it is."""
    spec = FigureSpec("speed", unit="MB/s", regex=regex)
    found = figure(spec, text(f"{line}\n"))
    assert found.value == value
    assert value is not None or "and the figure is in MB/s" in found.problem


@pytest.mark.parametrize(
    ("regex", "line", "unit", "whole"),
    [
        (r"rate: (?P<value>[\d.]+)", "rate: 1.5e+05", "MB/s", "1.5e+05"),
        (r"rate: (?P<value>[\d.]+)", "rate: 1.5D+03 MB/s", "MB/s", "1.5D+03"),
        (r"rate: (?P<value>[\d.]+)", "rate: 1,234.5", "MB/s", "1,234.5"),
        (r"rate: (?P<value>[\d.]+)", "rate: 1,234", "", "1,234"),
        (r"rate: (?P<value>[\d.]+)", "rate: 12,5", "MB/s", "12,5"),
        (r"rate: (?P<value>[\d.]+)", "rate: 12,5", "", ""),  # two numbers
        (r"rate: (?P<value>[\d.]+).*MB/s", "rate: 1.5e+05 MB/s", "MB/s", "1.5e+05"),
        (r"rate: (?P<value>\d)", "rate: 12", "", "12"),
        (r"rate: (?P<value>\d+\.\d\d)", "rate: 1.2345", "", "1.2345"),
        (r"rate: (?P<value>\d+\.\d\d)", "rate: 1.2300", "", ""),
        (r"(?P<value>\d+) MB/s", "1234.56 MB/s", "MB/s", "1234.56"),
        (r"(?P<value>\d+) MB/s", "1,234.56 MB/s", "MB/s", "1,234.56"),
        (r"(?P<value>\d+\.\d+) MB/s", "1,234.56 MB/s", "MB/s", "1,234.56"),
        (r"(?P<value>\d+) MB/s", "1.2e+03 MB/s", "MB/s", "1.2e+03"),
        (r".*(?P<value>\d) MB/s", "1234 MB/s", "MB/s", "1234"),
        (r"(?P<value>[\d.]+) eV", "drift = -1.2 eV", "eV", "-1.2"),
        (r"drift = -?(?P<value>[\d.]+) eV", "drift = -1.2 eV", "eV", ""),
        (r"drift = (?P<value>[\d.]+) eV", "drift = 1.2 eV, -3", "eV", ""),
        (r"took (?P<value>[\d.]+)", "took 1m30s", "s", "1m30s"),
        (r"took (?P<value>[\d.]+)", "took 1:30:05", "s", "1:30:05"),
        (r"(?P<value>[\d.]+)s", "took 1h 30m 5s", "s", "1h 30m 5s"),
        (r"rank \d+:(?P<value>\d+)", "rank 3:12", "s", ""),
        (r"(?P<value>[\d.]+) MB/s", "rank 3:12.5 MB/s", "MB/s", ""),
        (r"MPI v(?P<value>\d+)", "MPI v3.1", "", ""),
        (r"MPI (?P<value>\d+)\.", "MPI 3.1", "", ""),
        (r"MPI (?P<value>\d+\.\d+)", "MPI 3.1.4", "", ""),
        (r"at 10.*\.(?P<value>\d+)$", "at 10.0.0.25", "", ""),
        (r"share (?P<value>[\d.]+)", "share 12.5%", "", ""),
        (r"faster (?P<value>[\d.]+)", "faster 3.6X", "", ""),
        (r"n=(?P<value>\d+)", "n=4, m=5", "", ""),
        (r"is (?P<value>[\d.]*\d)", "It is 12.5.", "", ""),
        (r"ranks \d+-(?P<value>\d+)", "ranks 1-2", "", ""),
        (r"(?P<value>\d+)$", "ranks 1-2", "", ""),
        (r"ranks (?P<value>\d+)", "ranks 1-2", "", ""),
        (r"^x,(?P<value>\d+)", "x,12,345.5,7", "", ""),
        (r"^(?P<value>[^,]+)", "12,345.5", "", ""),
        (r"id (?P<value>\d+)", "id 12e4f", "", ""),
        (r"speed=(?P<value>[\d.]+)", "speed=+1.5 speed=1.5", "", ""),
    ],
)
def test_a_number_that_the_expression_cuts_is_none(regex: str, line: str, unit: str, whole: str) -> None:
    found = figure(FigureSpec("x", unit=unit, regex=regex), text(f"{line}\n"))
    assert (found.value is None) == (whole != ""), found.problem
    assert not whole or f"is only a part of '{whole}'; an expression such as" in found.problem


@pytest.mark.parametrize(
    ("regex", "line", "unit", "whole"),
    [
        (r"rate (?P<value>[\d.]+)", "rate 4.3k img/s", "img/s", "4.3k"),
        (r"rate (?P<value>[\d.]+)k img/s", "rate 4.3k img/s", "img/s", "4.3k"),
        (r"rate (?P<value>[\d.]+)", "rate 12.5M req/s", "", "12.5M"),
        (r"rate (?P<value>[\d.]+)", "rate 12.5 Mreq/s", "req/s", "12.5 Mreq/s"),
        (r"rate (?P<value>[\d.]+)", "rate 2.1G", "MB/s", "2.1G"),
        (r"rate (?P<value>[\d.]+)", "rate 2.1Gi", "GB", "2.1Gi"),
        (r"rate (?P<value>[\d.]+)", "rate 2.1G", "GB", ""),
        (r"rate (?P<value>[\d.]+)", "rate 2.1 G", "GB", ""),
        (r"rate (?P<value>[\d.]+)k", "rate 4.3k img/s", "kimg/s", ""),
        (r"rate (?P<value>[\d.]+)k", "rate 4.3k", "", ""),  # the expression says so
        (r"rate (?P<value>[\d.]+)", "rate 4.3 m", "m", ""),
        (r"rate (?P<value>[\d.]+)", "rate 4.3 k=5", "", ""),
        (r"rate (?P<value>[\d.]+)", "rate 300K", "K", ""),
        (r"id (?P<value>\d+)", "id 12M4", "", ""),
    ],
)
def test_a_number_with_thousands_or_millions_behind_it_is_not_taken_without_them(
    regex: str, line: str, unit: str, whole: str
) -> None:
    found = figure(FigureSpec("x", unit=unit, regex=regex), text(f"{line}\n"))
    assert (found.value is None) == (whole != ""), found.problem
    assert not whole or f"is only a part of '{whole}', and the figure " in found.problem


@pytest.mark.parametrize(
    ("word", "unit", "taken"),
    [
        *((word, "GFLOP/s", False) for word in ("TFlops/s", "Tflops/sec", "TFLOPS/s", "teraflops", "TFLOP", "TF/s")),
        *((word, "GFLOP/s", True) for word in ("GFlops/s", "gflop/sec", "GFLOPs", "gigaflops", "GF/s", "GFLOP/s/core")),
        *((word, "s", False) for word in ("ms/op", "ms/step", "ms per step", "msec/iteration", "µsec", "min")),
        *((word, "s", True) for word in ("s/step", "sec per step", "seconds", "Sec.", "steps/ms")),
        *((word, "ops/s", False) for word in ("kops", "kIOPS", "MIOPS", "Kops/sec", "Mop/s")),
        *((word, "kW", False) for word in ("Watts", "W", "MWatts", "mWatts", "watt")),
        *((word, "MUP/s", False) for word in ("Giga Updates/s", "GUPS", "GUPs", "Gup/s")),
        ("kilowatts", "kW", True),
        ("GFLOPS/Watt", "GFLOP/s/W", True),
        ("MFlops/W", "GFLOP/s/W", False),
        ("ghz", "MHz", False),
        ("years/day", "s", True),
    ],
)
def test_units_are_known_in_the_spellings_of_programs(word: str, unit: str, taken: bool) -> None:
    found = figure(FigureSpec("x", unit=unit, regex=SPEED), text(f"speed = 3 {word}\n"))
    assert found.value == (3.0 if taken else None), found.problem


@pytest.mark.parametrize(
    ("line", "unit", "value"),
    [
        ("Mflops: 2004", "GFLOP/s", None),
        ("Mflops: 2004", "MFLOP/s", 2004.0),
        ("mean_GFLOPS = 2004", "TFLOP/s", None),
        ("Bandwidth (MB/s): 2004", "GB/s", None),
        ("Bandwidth (MB/s): 2004", "MB/s", 2004.0),
        ("Mean [MiB] 2004", "GB/s", None),
        ("Bandwidth (MB/s): 2004 GB/s", "GB/s", 2004.0),  # the word behind the number counts
        ("25 MB/s 2004", "GB/s", 2004.0),  # the unit of the number before it
        ("MB/s\n2004", "GB/s", 2004.0),
        ("IOPS 2004 kiops", "kops/s", 2004.0),  # a label, as IO500 has it: no sign joins it to the number
        ("min: 2004", "s", 2004.0),
        ("Mop/s/process = 2004", "Gop/s", None),
        ("Mop/s/process = 2004", "Mop/s", 2004.0),
        ("TFlops/s: 2004", "GFLOP/s", None),
        ("Time in milliseconds = 2004", "s", None),
        ("Mops: 2004", "ops/s", None),
        ("BW GBytes/sec 2004", "MB/s", None),
        ("BW GBytes/sec 2004", "GB/s", 2004.0),
        ("rate (in GB per second): 2004", "MB/s", None),
        ('"bandwidth_gbs": 2004', "MB/s", None),
        ("gbps: 2004", "GB/s", None),
        ("gbps: 2004", "Gbit/s", None),  # who knows
        ("gbps: 2004", "Gbps", 2004.0),  # the same letters: this is meant
        ("gbps: 2004", "GBps", 2004.0),
        ("ranks 2004", "s", 2004.0),
        ("pings/second: 2004", "ms", 2004.0),
        ("harmonic_mean_TEPS:     !  2004", "Gedge/s", None),
        ("rate_GB_per_sec: 2004", "MB/s", None),
        ("rate_GB_per_sec: 2004", "GB/s", 2004.0),
        ("rate(GB/s);2004", "MB/s", None),
        ("rate GB/s: *2004*", "MB/s", None),
        ("run_id: 2004", "s", 2004.0),
        ("throughput (tok/s): 2004", "ktok/s", None),  # units that are not known, too
        ("throughput (ktok/s): 2004", "tok/s", None),
        ("throughput (tok/s): 2004", "tok/s", 2004.0),
        ("throughput (tok/s): 2004", "samples/s", 2004.0),
        ("tok/s: 2004", "Mtok/s", None),
        ("VALID with a GFLOP/s rating of=2004", "TFLOP/s", None),  # HPCG
        ("VALID with a GFLOP/s rating of=2004", "GFLOP/s", 2004.0),
        ("Mop/s total     =  2004", "Gop/s", None),  # NPB
        ("time (ms) | fwd: 12.34 | bwd: 2004", "s", None),  # DeepSpeed
        ("time (ms) | fwd: 12.34 | bwd: 2004", "ms", 2004.0),
        ("time at end (sec) : cpu=  98.7  wall= 2004", "min", None),  # Abinit
        ("time (ms): 12.34 | elapsed: 2004", "s", 2004.0),  # that of the number behind it
    ],
)
def test_a_unit_before_a_number_is_held_against_that_of_the_figure(line: str, unit: str, value: float | None) -> None:
    found = figure(FigureSpec("x", unit=unit, regex=r"(?P<value>2004)"), text(f"{line}\n"))
    assert found.value == value
    assert value is not None or f"and the figure is in {unit}; say " in found.problem


@pytest.mark.parametrize(
    ("line", "regex", "unit", "value"),
    [
        ("2004;msec;task-clock", r"(?P<value>2004)", "s", None),
        ("2004;msec;task-clock", r"(?P<value>2004);[^;]*;task", "s", None),  # this names no unit
        ("2004;msec;task-clock", r"(?P<value>2004);msec", "s", 2004.0),
        *(
            (f"rate 2004{sign}GB/s", r"(?P<value>2004)", "MB/s", None)
            for sign in (",", " | ", ": ", "=", "_", " @ ", '","')
        ),
        ("rate 2004,GB/s", r"(?P<value>2004)", "GB/s", 2004.0),
        ("# agg_perf: 2004 # MiB/s", r"(?P<value>2004)", "GB/s", None),  # Darshan
        ("domain 1: 2004 elapsed seconds", r"(?P<value>2004) elapsed", "ms", None),  # WRF
        ("t=2004, ms=3", r"(?P<value>2004)", "s", 2004.0),
        ("t=2004, ms 3", r"(?P<value>2004)", "s", 2004.0),
        ("t 2004, min", r"(?P<value>2004)", "s", 2004.0),
        ("rtt 1/2004/3e1/4.5 ms", r"(?P<value>2004)", "us", None),
        ("rtt 1/2004/3e1/4.5 ms", r"(?P<value>2004)", "ms", 2004.0),
    ],
)
def test_a_unit_behind_a_sign_or_behind_the_last_of_several_numbers_is_held_against_that_of_the_figure(
    line: str, regex: str, unit: str, value: float | None
) -> None:
    found = figure(FigureSpec("x", unit=unit, regex=regex), text(f"{line}\n"))
    assert found.value == value, found.problem
    assert value is not None or f"and the figure is in {unit}; an expression that names " in found.problem


@pytest.mark.parametrize(
    ("line", "unit", "value"),
    [
        ('<bw unit="MB/s" ranks="4">2004</bw>', "GB/s", None),
        ('<bw unit="MB/s">2004</bw>', "MB/s", 2004.0),
        ("<m n='4' unit='ms' k='3' value='2004'/>", "s", None),
        ("<m value='2004' n='4' unit='ms'/>", "s", None),
        ("<m value='2004'/><m unit='ms'/>", "s", 2004.0),  # that of another element
        ('<m t="2004" t_unit="ms"/>', "s", None),
        ('<m size="4" size_unit="KiB" memory="2004"/>', "GiB", 2004.0),  # that of another number
        ("<value>2004</value><unit>ms</unit>", "s", None),
        ("<unit>ms</unit><value>2004</value>", "s", None),
        ("2004, unit = GB/s", "MB/s", None),
        ("2004 (unit: GB/s)", "MB/s", None),
        ("2004 (unit: GB/s)", "GB/s", 2004.0),
        ('{"unit": "ms", "n": 3, "value": 2004}', "s", None),
        ('{"unit": "ms", "bandwidth_gb_s": 2004}', "MB/s", None),  # the key counts, too
        ('{"a": {"unit": "ms"}, "value": 2004}', "s", 2004.0),
        ("units of 3: 2004", "s", 2004.0),
    ],
)
def test_a_unit_that_is_said_of_a_number_is_held_against_that_of_the_figure(
    line: str, unit: str, value: float | None
) -> None:
    found = figure(FigureSpec("x", unit=unit, regex=r"(?P<value>2004)"), text(f"{line}\n"))
    assert found.value == value, found.problem
    assert value is not None or f"and the figure is in {unit}; say " in found.problem


@pytest.mark.parametrize(
    ("line", "behind", "unit", "value"),
    [
        ("2004 GB/s", " [A-Z]B/s", "MB/s", None),
        ("2004GB/s", r"\S+", "MB/s", None),
        ("2004 GB/s", " (?:GB|MB)/s", "MB/s", None),
        ("2004 GB/s", " GB/s", "MB/s", 2004.0),
        ("2004 GB/s", " G[Bb]/s", "MB/s", 2004.0),
        ("2004 GB/s", r"(?= GB\/s)", "MB/s", 2004.0),
        ("2004 GB/s", r" \S+", "GB/s", 2004.0),
        ("2004 milliseconds", r" \w+", "s", None),
        ("2004 milliseconds", " milliseconds", "s", 2004.0),
        ("2004 s", r" \w", "ms", None),
        ("2004 (unit: GB/s)", r" \(unit: ", "MB/s", None),
        ("2004 (unit: GB/s)", r" \(unit: GB/s", "MB/s", 2004.0),
    ],
)
def test_a_unit_is_meant_only_where_the_expression_names_it(
    line: str, behind: str, unit: str, value: float | None
) -> None:
    found = figure(FigureSpec("x", unit=unit, regex=rf"(?P<value>[\d.]+){behind}"), text(f"{line}\n"))
    assert found.value == value, found.problem


@pytest.mark.parametrize(
    ("record", "path", "unit", "value"),
    [
        ({"value": 3, "unit": "ms"}, "value", "s", None),
        ({"value": 3, "unit": "ms"}, "value", "ms", 3.0),
        (
            {"runs": [{"real_time": 3, "time_unit": "ns"}]},
            "runs[*].real_time",
            "us",
            None,
        ),  # as Google's benchmark writes
        ({"size_unit": "KiB", "memory": 3}, "memory", "GiB", 3.0),
        ({"unit": "ms", "value": {"mean": 3}}, "value.mean", "ms", 3.0),
    ],
)
def test_a_unit_that_another_key_says_of_a_number_is_held_against_that_of_the_figure(
    record: object, path: str, unit: str, value: float | None
) -> None:
    found = figure(FigureSpec("x", unit=unit, json=path), text(json.dumps(record) + "\n"))
    assert found.value == value, found.problem


@pytest.mark.parametrize(
    ("figure_spec", "content"),
    [
        (FigureSpec("x", unit="GFLOP/s", yaml="CG.Total CG Mflops"), "CG:\n  Total CG Mflops: 2004\n"),
        (FigureSpec("x", unit="GFLOP/s", json="cg[0].mflop_s"), '{"cg":[{"mflop_s":2004}]}\n'),
        (FigureSpec("x", unit="ms", json="load_s"), '{"load_s":2004}\n'),
    ],
    ids=["yaml", "json", "seconds"],
)
def test_a_unit_in_the_last_key_of_a_path_is_held_against_that_of_the_figure(
    figure_spec: FigureSpec, content: str
) -> None:
    found = figure(figure_spec, text(content))
    assert found.value is None and f"and the figure is in {figure_spec.unit}; say so with 'unit: " in found.problem


@pytest.mark.parametrize(
    ("word", "unit"),
    [
        *(("msec", "s"), ("usec", "ms"), ("3 minutes", "s"), ("hours", "s"), ("milliseconds", "s"), ("sec", "ms")),
        *(("(ms)", "s"), ("[ms]", "s"), ("GBps", "MB/s"), ("gigabytes", "MB"), ("TF", "GFLOP/s"), ("Seconds", "min")),
    ],
)
def test_a_word_for_a_unit_is_that_unit(word: str, unit: str) -> None:
    line = f"took {word if word[0].isdigit() else f'350 {word}'}\n"
    found = figure(FigureSpec("took", unit=unit, regex=r"took (?P<value>\d+)"), text(line))
    assert found.value is None and f"and the figure is in {unit}" in found.problem


@pytest.mark.parametrize(
    ("written", "unit", "value"),
    [
        ("1m30.12s", "s", 90.12),
        ("1h 5m", "s", 3900.0),
        ("1d 2h", "h", 26.0),
        ("12.3s", "s", 12.3),
        ("0:01:30", "s", 90.0),
        ("2:30.5", "min", 2.5083333333333333),
        ("1-02:03:04", "s", 93784.0),
        ("90", "s", 90.0),
        ("2041ms", "ms", 2041.0),
        ("1.5e2 us", "us", 150.0),
    ],
)
def test_a_run_time_is_read_where_the_unit_is_one_of_time(written: str, unit: str, value: float) -> None:
    spec = FigureSpec("wall", regex=r"wall: (?P<value>.+)", unit=unit)
    assert figure(spec, text(f"wall: {written}\n")).value == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("written", "unit"), [("1m30s", "GB/s"), ("1m30s", ""), ("1:99", "s"), ("30s1m", "s"), ("s", "s"), ("12ns", "us")]
)
def test_a_run_time_in_another_unit_or_order_is_no_number(written: str, unit: str) -> None:
    spec = FigureSpec("wall", regex=r"wall: (?P<value>.+)", unit=unit)
    assert figure(spec, text(f"wall: {written}\n")).problem == f"figure wall: '{written}' is not a number"


@given(st.sampled_from(PICKS), st.lists(MODEST, min_size=1, max_size=9))
def test_both_ways_to_say_where_a_figure_is_pick_the_same_value(pick: Pick, values: list[float]) -> None:
    lines = "".join(f"noise\nspeed = {value!r}\n" for value in values)
    records = "".join(json.dumps({"record": "result", "triad": {"gb_s": value}}) + "\n[noise]\n" for value in values)
    found = figure(by_regex(pick), text(lines))
    assert found == figure(by_json(pick=pick), text(records))
    assert found.value == pytest.approx(expected(pick, values), rel=1e-12)


@given(st.text(max_size=200), st.sampled_from(PICKS))
def test_no_text_makes_a_figure_of_nothing(content: str, pick: Pick) -> None:
    contents = decode("output", content.encode(errors="replace"))
    for spec in (by_regex(pick, regex=r"(?P<value>\d+x)"), by_json("a", pick)):
        found = figure(spec, contents)
        assert found.value is None or math.isfinite(found.value)
        assert found.value is not None or found.problem.startswith("figure speed: ")


def test_only_lines_that_have_all_the_keys_count() -> None:
    lines = '{"triad": {"gb_s": 3}}\n{"triad": 7}\n{"other": {"gb_s": 9}}\n"gb_s"\n{"triad": {"gb_s": 4}, "x": "gb_s"}\nend\n'
    assert figure(by_json(), text(lines)).value == 4
    assert figure(by_json(pick="sum"), text(lines)).value == 7


@pytest.mark.parametrize(
    ("path", "content", "unit", "said"),
    [
        ("read.bwMeanMIB", {"read": {"bwMeanMIB": 1024.5}}, "GB/s", "'1024.5 at bwMeanMIB' is in MiB/s"),  # IOR
        ("read.bwMeanMIB", {"read": {"bwMeanMIB": 1024.5}}, "MiB/s", ""),
        (
            "end.bits_per_second",
            {"end": {"bits_per_second": 9e9}},
            "Gbit/s",
            "'9e+09 at bits_per_second' is in bits/s",
        ),  # iperf3
        ("read.clat_ns.mean", {"read": {"clat_ns": {"mean": 5e4}}}, "us", "'50000 at clat_ns' is in ns"),  # fio
        (
            'clat_ns.percentile["99.000000"]',
            {"clat_ns": {"percentile": {"99.000000": 7.5}}},
            "ms",
            "'7.5 at clat_ns' is in ns",
        ),
        ("elapsedMs", {"elapsedMs": 12}, "s", "'12 at elapsedMs' is in ms"),
        ("rateMBPerSec", {"rateMBPerSec": 12}, "GB/s", "'12 at rateMBPerSec' is in MB/s"),
        ("mb_per_sec", {"mb_per_sec": 12}, "GB/s", "'12 at mb_per_sec' is in MB/s"),
        ("mb_per_sec", {"mb_per_sec": 12}, "Mbit/s", ""),  # it may count bits
        ("mb_per_sec", {"mb_per_sec": 12}, "Gbit/s", "'12 at mb_per_sec' is in MB/s or Mbit/s"),
        ("gbps", {"gbps": 12}, "GB/s", "'12 at gbps' may count bits or bytes (Gbps or GBps)"),
        ("bandwidth_gbps", {"bandwidth_gbps": 12}, "MB/s", "'12 at bandwidth_gbps' may count bits or bytes"),
        ("bandwidth_gbps", {"bandwidth_gbps": 12}, "Gbps", ""),
        ("ms_per_step", {"ms_per_step": 12}, "s", "'12 at ms_per_step' is in ms"),
        ("mpiGbps", {"mpiGbps": 12}, "MB/s", "'12 at mpiGbps' is in Gbps"),
        ("readIOPS", {"readIOPS": 12}, "kops/s", "'12 at readIOPS' is in IOPS"),
        ("wait_ns.per_call", {"wait_ns": {"per_call": 3}}, "us", ""),  # who knows what is counted there
        ("nodesPerRack", {"nodesPerRack": 3}, "s", ""),
        ("rms", {"rms": 3}, "ms", ""),
    ],
)
def test_a_unit_in_a_key_is_held_against_that_of_the_figure(path: str, content: Any, unit: str, said: str) -> None:
    found = figure(FigureSpec("x", json=path, unit=unit), text(json.dumps(content)))
    assert (found.value is None) == (said != "")
    assert found.problem.startswith(f"figure x: {said}" if said else "") and (found.problem == "") == (said == "")


def test_a_key_that_json_writers_escape_is_found() -> None:
    line = json.dumps({"größe": {"m²": 2.5}})
    assert "größe" not in line
    assert figure(by_json("größe.m²"), text(line)).value == 2.5


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"triad": {"gb_s": NaN}}', "figure speed: triad.gb_s is nan, which is no finite number"),
        ('{"triad": {"gb_s": -Infinity}}', "figure speed: triad.gb_s is -inf, which is no finite number"),
        ('{"triad": {"gb_s": "12"}}', "figure speed: triad.gb_s is text, not a number"),
        ('{"triad": {"gb_s": true}}', "figure speed: triad.gb_s is true or false, not a number"),
        ('{"triad": {"gb_s": null}}', "figure speed: triad.gb_s is null, not a number"),
        ('{"triad": {"gb_s": [1]}}', "figure speed: triad.gb_s is a list, not a number"),
        ('{"triad": {"gb_s": 1' + "0" * 400 + "}}", "figure speed: triad.gb_s is too large for a number"),
        ('{"triad": {"gb_s": nan}}', "figure speed: the line '{\"triad\": {\"gb_s\": nan}}' is not JSON"),
        ("plain\n", "figure speed: a JSON line with triad.gb_s is missing: "
         "it is nowhere in the output, whose last line is 'plain'"),
    ],
)  # fmt: skip
def test_a_record_without_a_finite_number_is_a_problem_and_no_figure(line: str, problem: str) -> None:
    found = figure(by_json(), text(line))
    assert (found.value, found.problem) == (None, problem)


def test_a_value_that_is_no_number_counts_where_it_would_be_picked() -> None:
    contents = text("speed = nan\nspeed = 2\n")
    assert figure(by_regex("last"), contents).value == 2
    assert figure(by_regex("first"), contents).problem == "figure speed: 'nan' is no finite number"
    assert figure(by_regex("min"), contents).problem == (
        "figure speed: the min of all values cannot be taken: 'nan' is no finite number"
    )


@pytest.mark.parametrize("printed", ["1.79769e+308", "-1e100", "1D+100", "4.9e-324", "-2.22507e-308"])
def test_a_number_of_a_size_that_nothing_has_is_no_measurement(printed: str) -> None:
    size = (
        "its size is 1e+100 or more"
        if "+" in printed or "100" in printed
        else "it is not 0, and its size is below 1e-100"
    )
    said = f"{float(printed.replace('D', 'e')):g} is no measurement: {size}"
    for required in (True, False):
        assert figure(by_regex("last", required), text(f"speed = {printed}\n")).problem == f"figure speed: {said}"
    record = '{"triad": {"gb_s": ' + printed.replace("D", "e") + "}}"
    assert figure(by_json(), text(record)) == Figure("speed", None, f"figure speed: {said}")
    several = figure(by_regex("min"), text(f"speed = 3\nspeed = {printed}\n"))
    assert several == Figure("speed", None, f"figure speed: the min of all values cannot be taken: {said}")
    rows = FigureSpec("t", table=Table(after="^# n", columns=("n", "t"), column="t", by=("n",)))
    table = take(rows, text(f"# n t\n1 3\n2 {printed}\n"))
    assert table == (Figure("t[n=1]", 3.0), Figure("t[n=2]", None, f"figure t[n=2]: {said}"))


@pytest.mark.parametrize("printed", ["9.9e99", "-9.9e99", "1e-100", "0", "-0.0", "0e-400"])
def test_a_number_of_a_size_that_something_may_have_is_taken(printed: str) -> None:
    assert figure(by_regex(), text(f"speed = {printed}\n")) == Figure("speed", float(printed))


def test_sums_that_leave_the_range_of_measurements_are_a_problem() -> None:
    found = figure(by_regex("sum"), text("speed = 9e99\n" * 20))
    assert found.problem == "figure speed: 1.8e+101 is no measurement: its size is 1e+100 or more"


@pytest.mark.parametrize(
    ("regex", "problem"),
    [
        ("speed = (", "figure speed: 'speed = (' is not a regular expression: "),
        (r"speed = (\d+)", r"figure speed: 'speed = (\\d+)' has no group named 'value'"),
        (r"speed(?P<value>=\d)?", "figure speed: 'speed' matches without its group 'value'"),
    ],
)
def test_a_faulty_pattern_is_a_problem(regex: str, problem: str) -> None:
    found = figure(by_regex(regex=regex), text("speed = 1"))
    assert found.value is None
    assert found.problem.replace("\\", "").startswith(problem.replace("\\", ""))


def test_an_optional_figure_that_is_nowhere_is_no_problem_but_one_that_is_wrong_is() -> None:
    assert figure(by_regex(required=False), text("nothing")).problem == ""
    assert figure(by_regex(required=False), text("speed = no")).problem == "figure speed: 'no' is not a number"
    assert figure(by_regex(required=False), Missing("output", "the output is gone")).problem != ""


def test_of_an_output_with_an_unread_middle_only_the_ends_give_figures() -> None:
    contents = decode("output", b"speed = 1\n", b"x\nspeed = 3\n", skipped=100)
    assert figure(by_regex("first"), contents).value == 1
    assert figure(by_regex("last"), contents).value == 3
    assert figure(by_regex("max"), contents).problem == (
        "figure speed: the max of all values cannot be known: its middle was not read"
    )
    without = decode("output", b"speed = 1\n", b"x\nend\n", skipped=100)
    assert figure(by_regex("last"), without).problem == (
        "figure speed: a match of 'speed = (?P<value>\\S+)' is not at the end of the output, and its middle was not read"
    )


@pytest.mark.parametrize(
    ("pick", "content"),
    [
        ("first", "x" * 21 + " speed = 123.456 GB/s " + "y" * 99 + "\n"),
        ("last", "y" * 99 + " speed = 123.456 GB/s " + "x" * 24 + "\n"),
    ],
)
@pytest.mark.parametrize("skipped", [0, 9])
def test_a_number_across_the_cut_of_a_very_long_line_is_no_shorter_number(
    pick: Pick, content: str, skipped: int
) -> None:
    """Of 64 characters a line the first and the last 32 are seen at first: 123.456 must be neither 12 nor 56."""
    regex = {"first": r"speed = (?P<value>[\d.]+)", "last": r"(?P<value>[\d.]+) GB/s"}[pick]
    head, tail = (content, "z\n") if pick == "first" else ("z\n", f"z\n{content}")
    contents = text(content, limit=64)
    if skipped:  # then the rest is looked for in vain
        contents = decode("output", head.encode(), tail.encode(), skipped, limit=64)
    found = figure(by_regex(pick, regex=regex), contents)
    assert found.value == (None if skipped else 123.456)
    assert ("lies where a very long line was cut" in found.problem) is bool(skipped)


@pytest.mark.parametrize(
    ("pick", "content", "value"),
    [
        ("last", "speed = 7\n" + "x" * 300 + "\nend\n", 7.0),
        ("last", "speed = 7\n" + "x" * 100 + " speed = 8 " + "x" * 200 + "\nend\n", 8.0),
        ("first", "x" * 300 + "\nspeed = 7\nspeed = 8\n", 7.0),
        ("first", "x" * 100 + " speed = 6 " + "x" * 200 + "\nspeed = 7\n", 6.0),
        ("max", "speed = 7\n" + "x" * 100 + " speed = 9 " + "x" * 200 + "\nspeed = 8\n", 9.0),
        ("last", "speed = 7\n" + "x" * 300 + "\nspeed = 8\n", 8.0),
    ],
)
def test_a_value_beside_a_very_long_line_or_within_it_is_found(pick: Pick, content: str, value: float) -> None:
    found = figure(by_regex(pick), text(content, limit=64))
    assert (found.value, found.problem) == (value, "")


def test_a_value_that_is_nowhere_beside_a_very_long_line_is_missing() -> None:
    found = figure(by_regex("last"), text("x" * 300 + "\nend\n", limit=64))
    assert found.problem.endswith("is missing: it is nowhere in the output, whose last line is 'end'")


def test_records_longer_than_a_line_for_regular_expressions_are_read_whole() -> None:
    record = json.dumps({"record": "result", "rows": list(range(100)), "triad": {"gb_s": 5}})
    assert figure(by_json(), text(f"{record}\nend\n", limit=20)).value == 5
