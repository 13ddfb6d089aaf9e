"""What runs measure: their run time is theirs, and a healthy machine meets its contract, by whichever rows it is written."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machine_simulated import Rig, taking
from stability_plan import BUDGET, case

from shakedown.model.contracts import holds
from shakedown.model.judging import Contract, ContractRow
from shakedown.model.nouns import FigureSpec, Test
from shakedown.model.ports import CollectOrder
from shakedown.model.scenario import Faults, Metadata, Nodes, Scenario

FIGURES = (
    FigureSpec("runtime", "min", "lower"),
    FigureSpec("bandwidth", "GB/s", "higher"),
    FigureSpec("latency", "us", "lower"),
    FigureSpec("nodes", ""),
    FigureSpec("free", ""),
)


def row(number: int, figure: str, **fields: object) -> ContractRow:
    return ContractRow(f"c:{number}", "c", "t", figure, "so", "contract", **fields)  # type: ignore[arg-type]


def measured(
    rows: tuple[ContractRow, ...], scenario: Scenario, runs: int = 1, target: str = "", limit_s: float = 90_000.0
) -> list[dict[str, float]]:
    """The figures of so many runs that begin together, and their run times as ``elapsed``."""
    one = msgspec.structs.replace(case("t", 1, limit_s), rows=tuple(one.name for one in rows))
    test = Test("t", figures=FIGURES)
    rig = Rig(scenario, (one,), tests=(test,), contracts=(Contract("c", rows),))
    for number in range(runs):
        rig.order(f"j{number}", target=target)
    rig.until(100_000)
    found = []
    for number in range(runs):
        rig.report(f"j{number}")
        rig.machine.collector.start([CollectOrder(f"r-j{number}", one, test, {})])
        rig.until(rig.now + 10)
        (evidence,) = rig.machine.collector.poll()
        found.append({**dict(evidence.figures), "elapsed": rig.lasted(f"j{number}")})
    return found


@settings(max_examples=60)
@given(st.floats(0.01, 1e6), st.floats(0.001, 0.5), st.integers(0, 4), st.booleans())
def test_a_healthy_machine_meets_rows_of_every_shape(value: float, width: float, shape: int, other: bool) -> None:
    bounds = [
        {"low": value},
        {"high": value},
        {"low": value * (1 - width), "high": value * (1 + width), "value": value},
        {"low": value, "high": value, "value": value},
        {"low": value * (1 - width), "high": value * (1 + width)},
    ][shape]
    rows: tuple[ContractRow, ...] = (row(1, "bandwidth", **bounds),)
    if other:  # a wider row of another basis beside it
        rows += (row(2, "bandwidth", low=bounds.get("low", value) * 0.5, high=bounds.get("high", value) * 2),)
    for figures in measured(rows, taking(100.0), runs=8):
        assert all(holds(one, figures["bandwidth"]) for one in rows), figures


def test_a_figure_that_is_the_run_time_is_the_runs_own_in_its_unit() -> None:
    (figures,) = measured((), taking(600.0))
    assert figures["runtime"] == pytest.approx(10.0)
    (slow,) = measured((), taking(600.0, nodes=Nodes(slow=(("n1", 1.5),))))
    assert slow["runtime"] * 60 == pytest.approx(slow["elapsed"]) == pytest.approx(900.0)


def test_a_slow_node_makes_figures_worse_in_the_direction_that_is_worse() -> None:
    exact = tuple(
        row(n, name, low=100.0, high=100.0, value=100.0) for n, name in enumerate(("bandwidth", "latency", "nodes"))
    )
    (figures,) = measured(exact, taking(600.0, nodes=Nodes(slow=(("n1", 1.25),))))
    assert (figures["bandwidth"], figures["latency"], figures["nodes"]) == pytest.approx((80.0, 125.0, 100.0))


def test_a_busy_target_makes_figures_worse_as_much_as_the_run_took_longer() -> None:
    busy = (Metadata(BUDGET, sigma=0.5, kappa=0.0, healthy=1.0, share=0.2),)
    rows = (row(1, "bandwidth", low=100.0, high=100.0, value=100.0),)
    for figures in measured(rows, taking(1000.0, metadata=busy), runs=3, target="mdt0"):
        assert figures["elapsed"] == pytest.approx(1000 * (1 + 0.2 * 1.0))
        assert figures["bandwidth"] == pytest.approx(100 / 1.2)


def test_a_job_that_was_started_again_measures_its_last_start() -> None:
    one = case("t", 1, 90_000.0)
    test = Test("t", figures=FIGURES)
    rig = Rig(taking(600.0, faults=Faults(requeued=1.0)), (one,), tests=(test,))
    rig.order("a")
    rig.until(5000)
    assert rig.job("a").restart == 1

    class View:
        id, run, scheduler_id, restart = "a", "its-second-run", "1", 1

    rig.machine.scheduler.poll({"a": View()})
    rig.machine.collector.start([CollectOrder("its-second-run", one, test, {})])
    rig.until(5010)
    (evidence,) = rig.machine.collector.poll()
    assert dict(evidence.figures)["runtime"] == pytest.approx(10.0)
