"""The parts of a dashboard: panels with one query each, and variables. Plain declarations; ``dashboards`` turns them into JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from shakedown.metrics.failures import NO_FAILURE
from shakedown.model.events import ACTS, VERDICTS

Kind = Literal["numbers", "table", "points", "lines", "bars"]
NOT_PASSED: Final = tuple(verdict for verdict in VERDICTS if verdict not in NO_FAILURE)
SAID_BY_PEOPLE: Final = (*sorted(ACTS), "noted")  # kinds of events
WIDE, HALF = 24, 12


@dataclass(frozen=True, slots=True)
class Panel:
    """``about``: a sentence that explains the panel. ``unit``: in Grafana's words. ``series``: the query gives series over time,
    else a table. ``legend``: for Prometheus, the name of a series.
    """

    title: str
    kind: Kind
    query: str
    about: str
    unit: str = ""
    series: bool = False
    legend: str = ""
    width: int = HALF
    height: int = 9


@dataclass(frozen=True, slots=True)
class Variable:
    """A choice of the reader. ``query``: returns the possible values; "" where the reader writes a regular expression."""

    name: str
    label: str
    query: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """One kind of server. ``kind``: Grafana's word for it."""

    name: str
    kind: str
    about: str
    variables: tuple[Variable, ...]
    panels: tuple[Panel, ...]
