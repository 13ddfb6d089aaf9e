"""Measured beside a model: laws and noise worked out by hand from the formulas that the modules cite."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.metrics.comparing.beside_model import Beside, beside, beside_law, law_speedup
from shakedown.metrics.scaling import Series, Step
from shakedown.model.errors import UsageError
from shakedown.model.scaling import Measurement, Scaling, fitted_serial, points_of
from shakedown.twin.models.noise_quantum import quantum_noise
from shakedown.twin.models.noise_sources import Placement, Source

MS, US = 1e-3, 1e-6


def series(scaling: Scaling, *pairs: tuple[float, float]) -> Series:
    measured = [
        Measurement(size, value, size if scaling.kind == "weak" and not scaling.higher else 1.0, 3)
        for size, value in pairs
    ]
    points = points_of(scaling, measured)
    steps = tuple(Step(f"t/{point.size:g}", point.size, 0, point) for point in points)
    serial = fitted_serial(scaling, points)
    about = ("c", "t", "", "", scaling.along, scaling.kind, scaling.figure, "s")
    return Series(*about, scaling.higher, steps, serial)


# ---- laws --------------------------------------------------------------------------------------------------------------


def test_amdahl_and_gustafson() -> None:
    assert law_speedup("strong", 0.1, 4.0) == pytest.approx(1 / (0.1 + 0.9 / 4))
    assert law_speedup("weak", 0.1, 4.0) == pytest.approx(3.7)


def test_run_times_beside_amdahls_law_by_hand() -> None:
    """1, 2 and 4 nodes: 100, 60 and 50 s. s = (0.5 x 0.1 + 0.75 x 0.25) / (0.5^2 + 0.75^2) = 0.2923."""
    one, two, four = beside_law(series(Scaling("nodes"), (1, 100.0), (2, 60.0), (4, 50.0)))
    share = (0.5 * 0.1 + 0.75 * 0.25) / (0.5**2 + 0.75**2)
    assert (one.about, one.model, one.deviation) == ("nodes=1", 100.0, 0.0)
    assert two.model == pytest.approx(100 * (share + (1 - share) / 2)) == pytest.approx(64.6154, abs=1e-4)
    assert four.model == pytest.approx(46.9231, abs=1e-4) and four.deviation == pytest.approx(0.06557, abs=1e-5)
    assert two.deviation == pytest.approx(-0.0714286, abs=1e-6), "faster than the law: less time"


def test_rates_of_weak_scaling_beside_gustafsons_law_by_hand() -> None:
    """1, 2 and 4 nodes: 10, 19 and 34 GB/s. s = (1 x 0.1 + 3 x 0.6) / (1 + 9) = 0.19: 18.1 and 34.3 GB/s."""
    scaling = Scaling("nodes", kind="weak", figure="rate", higher=True)
    _, two, four = beside_law(series(scaling, (1, 10.0), (2, 19.0), (4, 34.0)))
    assert [two.model, four.model] == pytest.approx([18.1, 34.3])
    assert two.deviation == pytest.approx(19 / 18.1 - 1) and four.deviation == pytest.approx(34 / 34.3 - 1)


def test_one_size_has_no_law() -> None:
    assert beside_law(series(Scaling("nodes"), (1, 100.0))) == []


def test_a_row_is_the_median_and_its_range() -> None:
    assert beside("t/a", "noise", "%", [3.0, 1.0, 2.0, 4.0], 2.0) == Beside(
        "t/a", "noise", "%", 4, 2.5, 1.0, 4.0, 2.0, 0.25
    )
    assert beside("t/a", "noise", "%", [1.0], 0.0).deviation is None, "nothing is so many times nothing"


# ---- noise of a loop of fixed work -------------------------------------------------------------------------------------

TICK = Source("tick", 10 * MS, 100 * US)


@pytest.mark.parametrize(
    ("sources", "place", "noise", "worst"),
    [
        ((), (4, 4, 4), 0.0, 0.0),
        ((TICK,), (4, 4, 4), 100 * (1 / 0.99 - 1), 100 * (1 / 0.99 - 1)),
        # a daemon of 4 % on one of four cores at a time: 1 % of each, beside the tick
        ((TICK, Source("d", 1.0, 40 * MS, "node")), (4, 4, 4), 100 * (1 / 0.98 - 1), 100 * (1 / 0.98 - 1)),
        # with a core idle it is there
        ((TICK, Source("d", 1.0, 40 * MS, "node")), (3, 3, 4), 100 * (1 / 0.99 - 1), 100 * (1 / 0.99 - 1)),
        # on one of two nodes, of three: two of them have it
        ((Source("m", 10 * MS, 100 * US, every=2),), (12, 4, 4), 100 * (1 / 0.99 - 1) * 2 / 3, 100 * (1 / 0.99 - 1)),
        # every sample of 1 ms is hit ten times at least: that is no noise to the kernel
        ((Source("fast", 100 * US, 1 * US),), (4, 4, 4), 100 * (1 / 0.99 / 1.01 - 1), 100 * (1 / 0.99 / 1.01 - 1)),
        # a random one may miss a sample
        ((Source("r", 100 * US, 1 * US, pattern="random"),), (1, 1, 1), 100 * (1 / 0.99 - 1), 100 * (1 / 0.99 - 1)),
    ],
)
def test_what_sources_take_of_a_quantum_by_hand(sources: Any, place: Any, noise: float, worst: float) -> None:
    found = quantum_noise(sources, Placement(*place), 1 * MS)
    assert list(found) == pytest.approx([noise, worst], abs=1e-12)


def test_sources_that_take_everything_are_refused() -> None:
    both = (Source("a", 10 * MS, 6 * MS), Source("b", 10 * MS, 5 * MS))
    with pytest.raises(UsageError, match="take all of a core's time"):
        quantum_noise(both, Placement(4, 4, 4), 1 * MS)
