"""Turn declarations of panels into the JSON that Grafana imports, with Grafana's own SDK. ``dashboard`` is the main function."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.builders import prometheus, stat, table, timeseries
from grafana_foundation_sdk.builders.common import ReduceDataOptions
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models.common import GraphDrawStyle
from grafana_foundation_sdk.models.dashboard import DataSourceRef, VariableOption
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from shakedown.live.grafana.influx import INFLUX
from shakedown.live.grafana.panels import Panel, Source, Variable
from shakedown.live.grafana.prometheus import PROMETHEUS
from shakedown.live.grafana.sql import SQL

SOURCES = {source.name: source for source in (INFLUX, PROMETHEUS, SQL)}
SERVER = "server"  # the variable by which a reader chooses the data source
_STYLES = {"points": GraphDrawStyle.POINTS, "lines": GraphDrawStyle.LINE, "bars": GraphDrawStyle.BARS}


@dataclass
class _Words(Dataquery):
    """A query as plain text, for servers without a class in the SDK: InfluxDB and PostgreSQL. It is its own builder."""

    words: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return self.words


class _AsWords(Builder[Dataquery]):
    def __init__(self, words: dict[str, Any]) -> None:
        self.words = words

    def build(self) -> Dataquery:
        return _Words(self.words)


def dashboard(source: Source) -> str:
    """Purpose: the dashboard for one kind of server, as text."""
    made = (
        build.Dashboard(f"Shakedown: campaigns ({source.name})")
        .uid(f"shakedown-{source.name}")
        .description(source.about)
        .tags(["shakedown", "acceptance"])
        .timezone("utc")
        .time("now-24h", "now")
        .refresh("30s")
        .with_variable(build.DatasourceVariable(SERVER).label("Server").type(source.kind))
    )
    for variable in source.variables:
        made = made.with_variable(_variable(source, variable))
    for panel in source.panels:
        made = made.with_panel(_panel(source, panel))
    return json.dumps(made.build(), cls=JSONEncoder, sort_keys=True, indent=2) + "\n"


def _server(source: Source) -> DataSourceRef:
    return DataSourceRef(type_val=source.kind, uid=f"${{{SERVER}}}")


def _variable(source: Source, variable: Variable) -> Any:
    if not variable.query:
        everything = VariableOption(text=".*", value=".*", selected=True)
        return build.TextBoxVariable(variable.name).label(variable.label).default_value(".*").current(everything)
    made = build.QueryVariable(variable.name).label(variable.label).query(variable.query).datasource(_server(source))
    made = made.multi(True).include_all(True).current(VariableOption(text="All", value="$__all", selected=True))
    return made if source is SQL else made.all_value(".*")  # SQL lists them


def _panel(source: Source, panel: Panel) -> Any:
    made: Any
    if panel.kind == "numbers":
        made = stat.Panel().reduce_options(ReduceDataOptions().values(source is SQL))  # rows of a table, or last values
    elif panel.kind == "table":
        made = table.Panel()
    else:
        made = timeseries.Panel().draw_style(_STYLES[panel.kind])
    made = made.title(panel.title).description(panel.about).datasource(_server(source)).span(panel.width)
    made = made.height(panel.height).unit(panel.unit) if panel.unit else made.height(panel.height)
    return made.with_target(_QUERIES[source.name](panel))


def _influx(panel: Panel) -> Builder[Dataquery]:
    form = "table" if panel.kind == "table" else "time_series"
    return _AsWords({"refId": "A", "rawQuery": True, "query": panel.query, "resultFormat": form})


def _prometheus(panel: Panel) -> Builder[Any]:
    made = prometheus.Dataquery().ref_id("A").expr(panel.query).legend_format(panel.legend)
    return made.range() if panel.series else made.instant().format(PromQueryFormat.TIME_SERIES)


def _sql(panel: Panel) -> Builder[Dataquery]:
    form = "time_series" if panel.series else "table"
    return _AsWords({"refId": "A", "rawQuery": True, "editorMode": "code", "rawSql": panel.query, "format": form})


_QUERIES: dict[str, Callable[[Panel], Builder[Any]]] = {"influx": _influx, "prometheus": _prometheus, "sql": _sql}
