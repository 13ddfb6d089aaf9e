"""Numbers that narrow budgets, asked of real servers: InfluxDB and Prometheus of Debian."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from real_servers import Server, needs_influx, needs_prometheus, prometheus_of

from shakedown.machine.observer import ProcessObserver
from shakedown.model.observing import INFLUXQL, PROMQL, Answer, Question
from shakedown.processes.reactor import Reactor

Ask = Callable[..., Answer]


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """One question and its answer, as a conductor asks it."""
    reactor = Reactor()
    observer = ProcessObserver(reactor, tmp_path)

    def answer(query: str, server: Server, source: str, **options: Any) -> Answer:
        observer.ask([Question("fs", source, query, server.address, within_s=60.0, **options)])
        end = reactor.now() + 100
        while not (found := observer.poll()):
            assert reactor.now() < end, "nothing is answered"
            reactor.wait(end)
        return found[0]

    yield answer
    observer.close()
    reactor.close()


@needs_influx
def test_influxdb_says_the_newest_number_of_a_target(ask: Ask, influx: Server) -> None:
    influx.ask("/write?db=acceptance", b"load,mdt=mdt0 busy=40\nload,mdt=mdt1 busy=83.5\n")
    influx.ask("/write?db=acceptance&precision=s", b"load,mdt=old busy=1 1500000000\n")
    words = {"source": INFLUXQL, "database": "acceptance"}
    assert ask("SELECT last(busy) FROM load WHERE mdt = 'mdt1'", influx, **words) == Answer("fs", 83.5)
    assert "s old" in ask("SELECT last(busy) FROM load WHERE mdt = 'old'", influx, **words).trouble
    assert ask("SELECT last(busy) FROM load WHERE mdt = 'none'", influx, **words).trouble == "the query finds nothing"
    assert "gives 3 series" in ask("SELECT last(busy) FROM load GROUP BY mdt", influx, **words).trouble
    assert "400" in ask("SELECT sum(", influx, **words).trouble
    assert "database not found" in ask("SELECT last(v) FROM t", influx, INFLUXQL, database="none").trouble


@needs_prometheus
def test_prometheus_says_a_vector_of_one_or_a_scalar(ask: Ask, tmp_path: Path) -> None:
    prometheus = prometheus_of("http://127.0.0.1:1", tmp_path / "prometheus")
    prometheus.start()
    with contextlib.closing(contextlib.ExitStack()) as closing:
        closing.callback(prometheus.kill)
        assert ask("vector(83.5)", prometheus, PROMQL) == Answer("fs", 83.5)
        assert ask("6 * 7", prometheus, PROMQL) == Answer("fs", 42.0)
        assert (
            ask("vector(1) / 0", prometheus, PROMQL).trouble
            == "it says 'inf', which is no amount: it is a number from 0 on"
        )
        assert ask("nothing_of_this_name", prometheus, PROMQL).trouble == "the query finds nothing"
        assert "400" in ask("sum(", prometheus, PROMQL).trouble
