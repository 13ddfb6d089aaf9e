"""Units of work and of what programs count: each word has one meaning, and work is no rate."""

from __future__ import annotations

import pytest

from shakedown.model import formulas
from shakedown.model.units import COUNTS, UNITS, parse_quantity


@pytest.mark.parametrize(
    ("written", "unit", "value"),
    [
        ("2.5 TFLOP", "GFLOP", 2500.0),
        ("1e12 flop", "TFLOP", 1.0),
        ("3 Mop", "kops", 3000.0),
        ("0.25 GUP/s", "MUP/s", 250.0),  # HPCC
        ("0.25 GUPS", "GUP/s", 0.25),
        ("1.5 GTEPS", "MTEPS", 1500.0),  # Graph500
        ("900 MLUPS", "GLUP/s", 0.9),  # lattice Boltzmann codes
        ("3.6 GDoF/s", "MDOF/s", 3600.0),
        ("60 Mcells/min", "Mcell/s", 1.0),
        ("2 Matom-step/s", "katom-step/s", 2000.0),  # LAMMPS
        ("0.065 TFLOPS/W", "GFLOP/s/W", 65.0),  # Green500
        ("65 GFLOP/J", "GFlops/W", 65.0),
    ],
)
def test_what_programs_print_is_converted(written: str, unit: str, value: float) -> None:
    assert parse_quantity(written).to(unit) == pytest.approx(value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("GFLOP", "GFLOP/s"),
        ("GFLOP", "GFLOPS"),
        ("Mops", "MIOPS"),
        ("GUP/s", "GLUP/s"),
        ("Gcell/s", "Gzone/s"),
        ("GTEPS", "GUPS"),
    ],
)
def test_what_does_not_measure_the_same_is_not_compared(one: str, other: str) -> None:
    with pytest.raises(ValueError, match="do not measure the same thing"):
        parse_quantity(f"1 {one}").to(other)


def test_counts_have_a_rate_each_and_no_word_of_them_is_a_rate() -> None:
    dimensions = {dimension for dimension, _ in UNITS.values()}
    assert {f"{count}/s" for count in COUNTS} <= dimensions
    assert not any("/" in unit for unit, (dimension, _) in UNITS.items() if dimension in COUNTS)


@pytest.mark.parametrize(
    ("formula", "figures", "unit", "value"),
    [
        ("work / time", {"work": (3.0, "TFLOP"), "time": (2.0, "s")}, "GFLOP/s", 1500.0),
        ("rate * time", {"rate": (3.0, "GUP/s"), "time": (1.0, "min")}, "GUP", 180.0),
        ("rate / power", {"rate": (1.0, "PFLOP/s"), "power": (20.0, "kW")}, "GFLOPS/W", 50.0),
    ],
)
def test_a_formula_makes_rates_of_work(
    formula: str, figures: dict[str, tuple[float, str]], unit: str, value: float
) -> None:
    found = formulas.value(formula, {name: formulas.amount(*of) for name, of in figures.items()}, unit)
    assert found == pytest.approx(value)
