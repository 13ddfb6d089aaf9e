"""What a dashboard is made of: panels with one query each, and variables. Plain declarations: ``dashboards`` makes JSON of them."""

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
    """``about``: a sentence for whoever wonders. ``unit``: as Grafana calls it. ``series``: the query gives series over time,
    else a table. ``legend``: of Prometheus, how a series is called.
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
    """What a reader chooses. ``query``: what gives the choices; "" where he writes a regular expression."""

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
