"""Every query of every panel of the dashboards, run on the real servers: it gives what the record says."""

from __future__ import annotations

import json
import re
import subprocess
import time
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from real_servers import Server, needs_influx, needs_postgres, needs_prometheus, prometheus_of
from served_page import served

from shakedown.live.grafana.dashboards import SOURCES, dashboard
from shakedown.live.indexing import Indexer
from shakedown.metrics.rows.table import Record
from shakedown.model.layout import Layout
from shakedown.queries.status import look_at_runs
from shakedown.store.index import Index

Run = Callable[..., subprocess.CompletedProcess[str]]
RATE = "test: rate\nrun: {command: 'echo rate 7'}\nfigures: {speed: {regex: 'rate (?P<value>\\d+)', unit: MB/s, better: higher}}\n"


@pytest.fixture
def told(site: Path, people: Run) -> Path:
    """The finished site, where people ruled and noted, beside a campaign with a figure."""
    (site / "tests/rate.yaml").write_text(RATE)
    (site / "plans/q.yaml").write_text("plan: q\nsystem: here\ncomponents: [{functionality: {tests: [rate]}}]\n")
    assert people(site, "run", "q", "-q").returncode == 0
    who = ("--campaign", "p-1", "--by", "Anna", "--because", 'a link, it\'s "theirs"')
    assert people(site, "rule", "r000002", "--as", "vendor", *who).returncode == 0
    assert people(site, "note", "r000004", "--class", "out-of-memory", "--ticket", "17", *who).returncode == 0
    return site


def records(site: Path) -> dict[str, Record]:
    return {name: look_at_runs(Layout(site / "campaigns" / name)) for name in ("p-1", "q-1")}


def panels(name: str) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Title -> the panel and its query, out of the JSON."""
    made = json.loads(dashboard(SOURCES[name]))
    return {one["title"]: (one, one["targets"][0]) for one in made["panels"]}


def variable(name: str, what: str) -> str:
    listed = json.loads(dashboard(SOURCES[name]))["templating"]["list"]
    return str(next(one["query"] for one in listed if one["name"] == what))


@pytest.mark.parametrize("name", SOURCES)
def test_a_dashboard_is_what_grafana_imports(name: str) -> None:
    made = json.loads(dashboard(SOURCES[name]))
    assert made["uid"] == f"shakedown-{name}" and made["schemaVersion"] > 30
    listed = {one["name"]: one for one in made["templating"]["list"]}
    assert listed["server"]["type"] == "datasource" and listed["server"]["query"] == SOURCES[name].kind
    titles = [one["title"] for one in made["panels"]]
    assert len(titles) == len(set(titles)) >= 8
    for one in made["panels"]:
        assert one["datasource"] == {"type": SOURCES[name].kind, "uid": "${server}"} and one["description"]
        assert one["gridPos"]["w"] in (12, 24) and len(one["targets"]) == 1
    assert made == json.loads(dashboard(SOURCES[name]))  # the same every time


def test_the_command_writes_one_file_for_each_server_into_a_new_directory(site: Path, people: Run) -> None:
    done = people(site, "export", "grafana", "boards", "--json")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (site / "boards").iterdir()) == [
        "shakedown-influx.json", "shakedown-prometheus.json", "shakedown-sql.json",
    ]  # fmt: skip
    assert (site / "boards/shakedown-sql.json").read_text() == dashboard(SOURCES["sql"])
    done = people(site, "export", "grafana", "boards")
    assert done.returncode == 2 and "boards exists already" in done.stderr


# ---- InfluxDB ------------------------------------------------------------------------------------------------------------


def influx_rows(influx: Server, query: str) -> Iterator[dict[str, Any]]:
    for word, text in (
        ("$timeFilter", "time > now() - 3650d AND time < now() + 3650d"),
        ("$campaign", "(p-1|q-1)"),
        ("$test", ".*"),
        ("$__interval", "365d"),
    ):
        query = query.replace(word, text)
    assert "$" not in query.replace("$/", "")
    words = urllib.parse.urlencode({"db": "acceptance", "q": query})
    (found,) = json.loads(influx.ask(f"/query?{words}"))["results"]
    assert "error" not in found, (query, found)
    for one in found.get("series", []):
        for values in one["values"]:
            yield dict(zip(one["columns"], values, strict=True)) | one.get("tags", {})


@needs_influx
def test_every_panel_of_influx_says_what_the_record_says(
    told: Path, people: Run, influx: Server, tmp_path: Path
) -> None:
    words = ["feed", "influx", f"{influx.address}/write?db=acceptance", "--position", str(tmp_path / "place")]
    assert people(told, *words, "--once").returncode == 0
    assert {row["value"] for row in influx_rows(influx, variable("influx", "campaign"))} == {"p-1", "q-1"}
    found = {title: list(influx_rows(influx, query["query"])) for title, (_, query) in panels("influx").items()}
    known = records(told)
    runs = [row for record in known.values() for row in record.current()]
    verdicts = Counter(row.verdict for row in runs)
    assert {row["verdict"]: row["count"] for row in found.pop("Runs by verdict")} == verdicts
    over = Counter[str]()
    for row in found.pop("Verdicts over time"):
        over[row["verdict"]] += row["count"]
    assert over == verdicts
    streams = {
        title: sorted((row["campaign"], row["run"], row["verdict"]) for row in found.pop(title))
        for title in ("Runs", "Failures")
    }
    every = sorted((name, row.run, row.verdict) for name, record in known.items() for row in record.current())
    assert streams == {"Runs": every, "Failures": [one for one in every if one[2] != "passed"]}
    assert sorted(row["elapsed_s"] for row in found.pop("Run times")) == sorted(row.elapsed_s or 0 for row in runs)
    assert [(row["figure"], row["value"]) for row in found.pop("Figures")] == [("speed", 7.0)]
    causes = Counter(row.failure_class for row in runs if row.failure_class)
    assert {row["failure"]: row["count"] for row in found.pop("What failures are put down to")} == causes
    events = {name: record.seq for name, record in known.items()}
    counted = Counter[str]()
    for row in found.pop("Events over time"):
        counted[row["campaign"]] += row["count"]
    assert counted == events
    findings = sorted(note.reason for record in known.values() for note in record.of_kind("finding"))
    assert sorted(row["reason"] for row in found.pop("Findings")) == findings
    said = sorted((row["event"], row["run"]) for row in found.pop("What people did and said") if row["run"])
    assert said == [("noted", "r000004"), ("ruled", "r000002")]
    assert not found, "a panel that nobody looked at"


# ---- PostgreSQL ----------------------------------------------------------------------------------------------------------


def filled_in(query: str) -> str:
    """A query as Grafana fills it in."""
    query = re.sub(r"\$__timeFilter\((to_timestamp\([^()]*\))\)", r"\1 BETWEEN '2001-01-01Z' AND '2999-01-01Z'", query)
    query = query.replace("IN ($campaign)", "IN ('p-1','q-1')").replace("${test:sqlstring}", "'.*'")
    assert "$" not in query
    return query


@needs_postgres
def test_every_panel_of_the_index_in_postgresql_says_what_the_record_says(told: Path, postgres: str) -> None:
    from sqlalchemy import text

    index = Index(postgres)
    assert sorted(Indexer(told, index).refresh()) == ["p-1", "q-1"]

    def rows(query: str) -> list[dict[str, Any]]:
        with index.reading() as connection:
            return [dict(row._mapping) for row in connection.execute(text(filled_in(query).replace(":", r"\:")))]

    assert {row["name"] for row in rows(variable("sql", "campaign"))} == {"p-1", "q-1"}
    found = {title: rows(query["rawSql"]) for title, (_, query) in panels("sql").items()}
    for title, (panel, query) in panels("sql").items():
        assert query["format"] == ("time_series" if panel["type"] == "timeseries" else "table")
        assert panel["type"] != "timeseries" or all({"time", "metric"} < row.keys() for row in found[title]), title
    known = records(told)
    runs = [row for record in known.values() for row in record.current()]
    verdicts = Counter(row.verdict for row in runs)
    campaigns = {row["campaign"]: (row["events"], row["epoch"], row["damaged"]) for row in found.pop("Campaigns")}
    assert campaigns == {name: (record.seq, 1, "") for name, record in known.items()}
    assert {row["state"]: row["runs"] for row in found.pop("Runs by state")} == verdicts
    over = Counter[str]()
    for row in found.pop("Verdicts over time"):
        over[row["metric"]] += int(row["runs"])
    assert over == verdicts
    streams = {
        title: {(row["campaign"], row["run"]): row for row in found.pop(title)} for title in ("Runs", "Failures")
    }
    assert set(streams["Runs"]) == {(name, row.run) for name, record in known.items() for row in record.current()}
    assert set(streams["Failures"]) == {("p-1", "r000002"), ("p-1", "r000004")}
    assert streams["Failures"]["p-1", "r000002"]["ruled"] == "vendor"
    last = streams["Failures"]["p-1", "r000004"]
    assert (last["put down to"], last["ticket"], last["exit"]) == ("out-of-memory", "17", 3)
    times = sorted((row["metric"], row["seconds"]) for row in found.pop("Run times"))
    assert times == sorted((row.case, row.elapsed_s) for row in runs)
    assert [(row["metric"], row["value"]) for row in found.pop("Figures")] == [("rate: speed", 7.0)]
    causes = Counter(row.cause for row in runs if row.cause)
    assert {row["put down to"]: row["runs"] for row in found.pop("What failures are put down to")} == causes
    assert found.pop("Copies of each test") == []  # nothing runs
    findings = sorted(note.reason for record in known.values() for note in record.of_kind("finding"))
    assert sorted(row["says"] for row in found.pop("Findings")) == findings
    said = sorted((row["what"], row["run"]) for row in found.pop("What people did and said") if row["run"])
    assert said == [("noted", "r000004"), ("ruled", "r000002")]
    assert not found, "a panel that nobody looked at"
    index.close()


# ---- Prometheus ----------------------------------------------------------------------------------------------------------


@needs_prometheus
def test_every_panel_of_prometheus_says_what_the_record_says(told: Path, tmp_path: Path) -> None:
    with served(told, tmp_path / "cache") as (_, address):
        server = prometheus_of(address, tmp_path / "prometheus")
        try:
            server.start()
            while not _asked(server, "query", query="shakedown_damaged and shakedown_events_total offset 1s"):
                time.sleep(0.2)
            found = {title: _panel(server, query) for title, (_, query) in panels("prometheus").items()}
        finally:
            server.kill()
    known = records(told)
    states = Counter(row.verdict for record in known.values() for row in record.current())
    assert found.pop("Runs by state") == found.pop("Runs by state over time") == {str(k): v for k, v in states.items()}
    assert found.pop("Not passed") == {"p-1": 2}
    assert found.pop("Building") == {"p-1": 0, "q-1": 0}
    assert found.pop("Events in a minute") == {"p-1": 0, "q-1": 0}
    assert found.pop("Age of the last event") == {}  # all of them are over
    assert found.pop("Over") == {"p-1": 1, "q-1": 1}
    assert found.pop("Damaged") == {"p-1": 0, "q-1": 0}
    assert found.pop("Epoch") == {"p-1": 1, "q-1": 1}
    assert not found, "a panel that nobody looked at"


def _panel(server: Server, query: dict[str, Any]) -> dict[str, float]:
    """What a panel shows last: the legend of each series -> its value."""
    words = {"query": query["expr"].replace("$campaign", ".*")}
    legend = query["legendFormat"].strip("{}")
    if query.get("instant"):
        return {one["metric"][legend]: float(one["value"][1]) for one in _asked(server, "query", **words)}
    now = time.time()
    series = _asked(server, "query_range", start=f"{now - 2}", end=f"{now}", step="1", **words)
    return {one["metric"][legend]: float(one["values"][-1][1]) for one in series}


def _asked(server: Server, how: str, **words: str) -> list[dict[str, Any]]:
    answer = json.loads(server.ask(f"/api/v1/{how}?{urllib.parse.urlencode(words)}"))
    assert answer["status"] == "success", answer
    found: list[dict[str, Any]] = answer["data"]["result"]
    return found
