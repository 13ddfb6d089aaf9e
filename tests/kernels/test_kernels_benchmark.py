"""The comparison with plain programs: how it decides, without running any."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def benchmark() -> Iterator[ModuleType]:
    path = Path(__file__).parents[2] / "benchmarks" / "kernels.py"
    spec = importlib.util.spec_from_file_location("benchmark_of_kernels", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize(
    ("ratio", "same", "verdict"),
    [
        (1.0, 1.0, "met"),
        (0.95, 1.05, "met"),
        (0.94, 1.0, "not met"),
        (1.06, 1.0, "not met"),
        (1.0, 0.94, "the machine is too busy to tell"),
        (0.5, 1.06, "the machine is too busy to tell"),
    ],
)
def test_the_verdict(benchmark: ModuleType, ratio: float, same: float, verdict: str) -> None:
    assert benchmark.verdict(ratio, same) == verdict


def counter(log: list[str], name: str, values: Iterator[float]) -> Callable[[], float]:
    def run() -> float:
        log.append(name)
        return next(values)

    return run


def test_runs_are_interleaved_and_their_order_turns(benchmark: ModuleType) -> None:
    log: list[str] = []
    row = benchmark.measure("k", "u", counter(log, "p", cycle([10.0])), counter(log, "k", cycle([9.8])), 10)
    assert "".join(log) == "pk" + "pkp" * 10  # turned round it reads the same, but the values change places
    assert (row.plain, row.ours, row.verdict) == (10.0, 9.8, "met")
    assert row.ratio == pytest.approx(0.98)


def test_a_busy_machine_is_tried_again(benchmark: ModuleType) -> None:
    log: list[str] = []
    quiet_at_last = iter([0.0, 9.0, 10.0, 0.0, 10.0, 10.0])  # warm, first, last; and once more
    row = benchmark.compare("k", "u", counter(log, "p", quiet_at_last), counter(log, "k", cycle([9.8])), 1)
    assert (row.verdict, row.same, log.count("k")) == ("met", 1.0, 4)


def test_a_machine_that_stays_busy_is_not_asked_for_ever(benchmark: ModuleType) -> None:
    log: list[str] = []
    row = benchmark.compare("k", "u", counter(log, "p", cycle([0.0, 9.0, 10.0])), counter(log, "k", cycle([9.5])), 1)
    assert (row.verdict, log.count("k")) == ("the machine is too busy to tell", 6)
    assert benchmark.status_of(row) == 4


@pytest.mark.parametrize(("many", "verdict"), [(20.0, "met"), (25.0, "met"), (26.0, "not met"), (9.0, "met")])
def test_a_crowd_moves_no_more_than_one_rank(benchmark: ModuleType, many: float, verdict: str) -> None:
    log: list[str] = []
    row = benchmark.crowd(counter(log, "1", iter([20.0, 15.0])), counter(log, "8", iter([7.0, many])), 2)
    assert ("".join(log), row.verdict) == ("1818", verdict)


def test_a_figure_is_found_under_its_keys(benchmark: ModuleType) -> None:
    text = '{"record":"start","triad":1}\n{"record":"result","triad":{"gb_s":3.5}}\n'
    assert benchmark.figure(text, "triad", "gb_s") == 3.5
    with pytest.raises(SystemExit):
        benchmark.figure(text, "triad", "mb_s")
