"""Which figures a rehearsal is asked for: those of tests that have them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from shakedown.metrics.modelled import not_modelled

DOCUMENT: Any = SimpleNamespace(
    tests=(
        SimpleNamespace(name="slow", figures=(SimpleNamespace(name="lat"),)),
        SimpleNamespace(name="ok", figures=()),
    )
)
POPULATION: Any = SimpleNamespace(
    cases=[SimpleNamespace(case=SimpleNamespace(test=name, rows=())) for name in ("slow", "ok")]
)


def why(of: str, *known: tuple[str, str]) -> str:
    criterion: Any = SimpleNamespace(measure="value", of=of, basis="")
    return not_modelled(criterion, POPULATION, DOCUMENT, {"modelled": [f"{test}.{figure}" for test, figure in known]})


def test_a_test_without_the_figure_is_not_asked_for_it() -> None:
    assert why("lat", ("slow", "lat")) == ""


def test_the_test_that_has_the_figure_is() -> None:
    assert "slow.lat is" in why("lat") and "ok" not in why("lat").partition("on this")[0]


def test_every_test_has_a_run_time() -> None:
    assert "ok.elapsed" in why("elapsed", ("slow", "elapsed"))
