"""How long runs take: where the number comes from, how it is drawn, and that the walltime ends what takes longer."""

from __future__ import annotations

import random
from statistics import fmean, stdev

import msgspec
import pytest
import scipy
from machine_simulated import Rig, plan_of, taking
from stability_plan import case, machine

from shakedown.model.judging import Contract, ContractRow
from shakedown.model.nouns import Case, Document, FigureSpec, Test
from shakedown.model.scenario import Nodes, RunTime, Scenario
from shakedown.twin.machine.machine import slow_nodes
from shakedown.twin.machine.run_times import drawn, times_of

LIMIT_S = 14_500.0


def with_rows(*rows: ContractRow, unit: str = "min") -> Document:
    """A plan whose only case has these rows in force; its test measures its run time in ``unit``."""
    one = msgspec.structs.replace(case("t", 1, LIMIT_S), rows=tuple(row.name for row in rows))
    tests = (Test("t", figures=(FigureSpec("wall_time", unit), FigureSpec("rate", "GB/s", "higher"))),)
    return plan_of([one], tests=tests, contracts=(Contract("c", rows),))


def row(number: int, figure: str, **fields: object) -> ContractRow:
    fields.setdefault("unit", "min" if figure == "wall_time" else "s")
    return ContractRow(f"c:{number}", "c", "t", figure, "so", "contract", **fields)  # type: ignore[arg-type]


def only(plan: Document, scenario: Scenario | None = None) -> RunTime:
    (time,) = times_of(plan, scenario or Scenario()).values()
    return time


def test_a_case_goes_before_its_test_and_what_is_written_before_a_contract() -> None:
    plan = with_rows(row(1, "elapsed", value=100.0, low=95.0, high=105.0))
    for_case, for_test = RunTime(1.0, source="case"), RunTime(2.0, source="test")
    deep = plan_of([msgspec.structs.replace(plan.cases[0], id="t/x=1@c:batch")])
    assert only(deep, Scenario(times=(("t", for_test), ("t/x=1@c:batch", for_case)))) == for_case
    assert only(deep, Scenario(times=(("t", for_test),))) == for_test
    assert only(plan).source.startswith("contract row c:1")


def test_a_contract_gives_its_value_in_seconds_and_a_quarter_of_its_tolerance() -> None:
    found = only(with_rows(row(1, "wall_time", high=80.0), row(2, "wall_time", value=70.0, low=70.0, high=71.4)))
    assert (found.mean_s, found.spread_s) == pytest.approx((4200.0, 1.4 * 60 / 4)), "the row with a value says most"


def test_a_bound_alone_gives_95_percent_of_it_and_says_that_it_is_assumed() -> None:
    found = only(with_rows(row(1, "wall_time", high=80.0), row(2, "rate", unit="GB/s", value=40.0)))
    assert found.mean_s == pytest.approx(80 * 60 * 0.95)
    assert "assumed" in found.source


def test_a_row_on_the_spread_of_the_run_time_says_nothing_of_the_run_time() -> None:
    found = only(with_rows(row(1, "elapsed", high=20.0, statistic="sd")))
    assert found.mean_s == LIMIT_S / 2


def test_what_nobody_knows_is_a_share_of_the_walltime() -> None:
    found = only(plan_of([case("t", 1, 1000.0)]), Scenario(assumed=0.3))
    assert found.mean_s == pytest.approx(300.0)
    assert "30 % of its walltime (assumed)" in found.source


def test_times_are_normal_with_their_mean_and_spread() -> None:
    """Paper 004, Table IV, CM4: Kolmogorov and Smirnov find nothing in 4,000 runs."""
    time = RunTime(4148.1, 11.3)
    sample = [drawn(time, random.Random(f"cm4:{number}")) for number in range(4000)]
    assert scipy.stats.kstest(sample, "norm", args=(4148.1, 11.3)).pvalue > 0.001
    assert (fmean(sample), stdev(sample)) == pytest.approx((4148.1, 11.3), rel=0.05)


def test_the_tail_is_drawn_apart_and_leaves_the_spread_alone() -> None:
    time = RunTime(1000.0, 5.0, tail_share=0.1, tail_factor=1.9)
    sample = [drawn(time, random.Random(f"x:{number}")) for number in range(4000)]
    late = [seconds for seconds in sample if seconds > 1450]
    assert scipy.stats.binomtest(len(late), 4000, 0.1).pvalue > 0.001
    assert fmean(late) == pytest.approx(1900, rel=0.01)
    assert stdev(seconds for seconds in sample if seconds < 1450) == pytest.approx(5.0, rel=0.1)


def test_no_time_is_negative_however_wide_the_spread() -> None:
    assert min(drawn(RunTime(10.0, 1000.0), random.Random(f"w:{number}")) for number in range(2000)) == 0.1


def test_what_takes_longer_than_its_walltime_ends_there() -> None:
    times = (("t", RunTime(999.0)), ("u", RunTime(901.0)))
    late = Rig(Scenario(times=times), (case("t", 1, 1000.0), case("u", 1, 900.0)))
    for name in "tu":
        late.order(name, of=name)
    late.until(2000)
    assert [(late.state(name), late.lasted(name)) for name in "tu"] == [("completed", 999.0), ("timeout", 900.0)]


def test_a_run_is_as_slow_as_its_slowest_node() -> None:
    wide = case("t", 4, 1000.0)
    rig = Rig(taking(100.0, nodes=Nodes(slow=(("n2", 1.2), ("n3", 1.5)))), (wide,))
    for name in "ab":
        rig.order(name)
    rig.until(500)
    assert [rig.lasted(name) for name in "ab"] == pytest.approx([150.0, 100.0])


def test_a_share_of_the_nodes_is_slow_by_their_names() -> None:
    plan = plan_of([case("t", 1, 100.0)], system=machine(1000))
    slow = slow_nodes(plan, Nodes(slow_share=0.05, slow_factor=1.3, slow=(("n0007", 2.0),)), seed=3)
    assert scipy.stats.binomtest(len(slow) - 1, 999, 0.05).pvalue > 0.001
    assert slow["n0007"] == 2.0
    assert set(slow.values()) == {2.0, 1.3}
    assert slow == slow_nodes(plan, Nodes(slow_share=0.05, slow_factor=1.3, slow=(("n0007", 2.0),)), seed=3)


def test_a_case_without_any_figure_of_time_has_no_row_on_it() -> None:
    """A rate in GB/s that is called time is none."""
    odd = (Test("t", figures=(FigureSpec("time", "GB/s"),)),)
    one = Case("t", "t", "c:batch", rows=("c:1",), shape=case("t", 1, 600.0).shape)
    rows = ContractRow("c:1", "c", "t", "time", "so", "contract", value=3.0, unit="GB/s")
    plan = plan_of([one], tests=odd, contracts=(Contract("c", (rows,)),))
    assert only(plan).mean_s == 300.0
