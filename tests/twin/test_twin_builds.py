"""Builds on login slots: never more at once than there are, in turn, with the times and the failures that are said."""

from __future__ import annotations

from statistics import fmean, stdev

import msgspec
import pytest
import scipy
from machine_simulated import Rig, taking
from stability_plan import case

from shakedown.model.nouns import Build
from shakedown.model.ports import BuildReport
from shakedown.model.scenario import Builds


def built(terms: Builds, count: int, cases: tuple[object, ...] = ()) -> list[tuple[float, BuildReport]]:
    """So many builds, all wanted at once: (when it was said, what was said)."""
    builds = tuple(Build(f"{number:064d}", f"b{number}", "", "make") for number in range(count))
    rig = Rig(taking(1.0, builds=terms), cases, builds=builds)  # type: ignore[arg-type]
    rig.machine.builder.start(builds)
    said = [(rig.now, report) for report in rig.machine.builder.poll()]
    while sum(report.state != "started" for _, report in said) < count:
        rig.clock.wait(None)
        said += [(rig.now, report) for report in rig.machine.builder.poll()]
    return said


def spans(said: list[tuple[float, BuildReport]], state: str = "") -> list[tuple[float, float]]:
    begun = {report.key: at for at, report in said if report.state == "started"}
    return [(begun[report.key], at) for at, report in said if report.state in ("done", state or "failed")]


@pytest.mark.parametrize("slots", [1, 3, 7])
def test_never_more_builds_at_once_than_slots_and_never_fewer_while_any_waits(slots: int) -> None:
    """Counted at every instant from what is said of each build."""
    found = spans(built(Builds(slots=slots, mean_s=600.0, spread_s=100.0), 40))
    for at in sorted(begin for begin, _ in found):
        on = sum(begin <= at < end for begin, end in found)
        waiting = sum(begin > at for begin, _ in found)
        assert on <= slots
        assert on == slots or not waiting


def test_first_come_first_served() -> None:
    said = built(Builds(slots=2, mean_s=100.0), 6)
    assert [report.key for _, report in said if report.state == "started"] == [f"{n:064d}" for n in range(6)]
    assert max(at for at, _ in said) == pytest.approx(300.0)


def test_without_slots_all_are_built_at_once() -> None:
    assert {begin for begin, _ in spans(built(Builds(mean_s=100.0), 20))} == {0.0}


def test_times_have_their_mean_and_spread_and_a_share_fails() -> None:
    said = built(Builds(mean_s=1000.0, spread_s=50.0, failing=0.2), 1500)
    done = [end - begin for begin, end in spans(said, "done")]
    assert (fmean(done), stdev(done)) == pytest.approx((1000.0, 50.0), rel=0.1)
    failed = sum(report.state == "failed" for _, report in said)
    assert scipy.stats.binomtest(failed, 1500, 0.2).pvalue > 0.001
    assert all(report.message for _, report in said if report.state == "failed")


@pytest.mark.parametrize("word", ["b0", "t", "intel-oneapi"])
def test_a_build_is_broken_by_its_name_its_test_or_its_toolchain(word: str) -> None:
    """Paper 004, VI.C: nothing that NOAA had was built by oneAPI."""
    one = msgspec.structs.replace(case("t", 1, 100.0), build="0" * 64, toolchain="intel-oneapi")
    said = built(Builds(broken=(word,)), 2, (one,))
    ends = {report.key[-1]: report for _, report in said if report.state != "started"}
    assert (ends["0"].state, ends["0"].message) == ("failed", f"{word} does not build here")
    assert ends["1"].state == "done"


def test_a_test_has_its_own_build_time_and_the_time_limit_holds() -> None:
    one = msgspec.structs.replace(case("t", 1, 100.0), build="0" * 64)
    said = built(Builds(mean_s=10.0, times=(("t", 1700.0), ("b1", 1900.0))), 3, (one,))
    ends = {report.key[-1]: (at, report.state) for at, report in said if report.state != "started"}
    assert ends == {"0": (1700.0, "done"), "1": (1800.0, "failed"), "2": (10.0, "done")}
