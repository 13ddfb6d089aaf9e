"""The effect of a network load on tests: each quantity that a test measured without the load and under it (paper 004, table II).

The figures' names tell the two apart: ``latency`` is measured without the load, and ``latency_congested`` or ``congested_latency``
under it; table figures have a row in brackets. ``latency_p99`` and ``latency_congested_p99``: 99 of 100 samples are at least this
good.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from shakedown.metrics.cases import CaseSummary, FigureSummary
from shakedown.model.nouns import FigureSpec

CONGESTED, P99 = "congested", "_p99"


class Congestion(Struct, frozen=True):
    """One quantity of a case in a mode: medians over its runs, in ``unit``; None where there is no value.

    An impact is how many times worse the quantity is under the load: 1 is no change, 2 is twice the time or half the rate.
    """

    component: str
    case: str
    mode: str
    quantity: str
    unit: str
    better: str
    count: int
    isolated: float
    congested: float
    isolated_p99: float | None = None
    congested_p99: float | None = None

    @property
    def impact(self) -> float | None:
        """The impact from the two averages."""
        return self._worse(self.isolated, self.congested)

    @property
    def impact_p99(self) -> float | None:
        """The impact from the two 99th percentiles."""
        return self._worse(self.isolated_p99, self.congested_p99)

    def _worse(self, isolated: float | None, congested: float | None) -> float | None:
        if isolated is None or congested is None:
            return None
        over, under = (isolated, congested) if self.better == "higher" else (congested, isolated)
        return over / under if under > 0 else None


def congestion_of(cases: Iterable[CaseSummary]) -> Iterator[Congestion]:
    """Purpose: every quantity that was measured without a load and under it, in the order of the plan and of the test's figures."""
    for case in cases:
        for mode in dict.fromkeys(figure.mode for figure in case.figures):
            mine = {figure.spec.name: figure for figure in case.figures if figure.mode == mode}
            for figure in mine.values():
                found = _quantity(case, figure, mine)
                if found is not None:
                    yield found


def _quantity(case: CaseSummary, figure: FigureSummary, others: Mapping[str, FigureSummary]) -> Congestion | None:
    """The quantity whose value without a load is this figure; None without a loaded counterpart, or if either has no value."""
    base, row = _parts(figure.spec.name)
    loaded = _loaded(base, row, others)
    if loaded is None or not _alike(figure.spec, loaded.spec):
        return None
    isolated, congested = _median(figure), _median(loaded)
    if isolated is None or congested is None:
        return None
    last, last_loaded = others.get(base + P99 + row), _loaded(base, row, others, P99)
    return Congestion(
        case.component,
        case.case.id,
        figure.mode,
        row[1:-1].removeprefix("Name=") or base.replace("_", " "),
        figure.spec.unit,
        figure.spec.better,
        min(len(figure.values), len(loaded.values)),
        isolated,
        congested,
        _median(last),
        _median(last_loaded),
    )


def _parts(name: str) -> tuple[str, str]:
    """Splits a figure's name: ``latency[Name=a]`` -> ``latency`` and ``[Name=a]``."""
    base, bracket, row = name.partition("[")
    return base, bracket + row


def _loaded(base: str, row: str, others: Mapping[str, FigureSummary], suffix: str = "") -> FigureSummary | None:
    names = (f"{base}_{CONGESTED}{suffix}{row}", f"{CONGESTED}_{base}{suffix}{row}")
    return next((others[name] for name in names if name in others), None)


def _alike(one: FigureSpec, other: FigureSpec) -> bool:
    return one.unit == other.unit and one.better == other.better and one.better in ("lower", "higher")


def _median(figure: FigureSummary | None) -> float | None:
    return figure.summary.median if figure is not None and figure.summary is not None else None
