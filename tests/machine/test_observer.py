"""Numbers that commands and servers say: what is one, what is none, and that nobody is held up or flooded by it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from shakedown.machine import ask_server
from shakedown.machine.observer import MOST_BYTES, ProcessObserver, number_of
from shakedown.model.observing import Answer, Question
from shakedown.processes.reactor import Reactor

Ask = Callable[..., Answer]


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """Ask one question and wait for its answer."""
    reactor = Reactor()
    observer = ProcessObserver(reactor, tmp_path)

    def answer(query: str, **options: Any) -> Answer:
        observer.ask([Question("fs", **({"source": "command", "query": query} | options))])
        end = reactor.now() + 60
        while not (found := observer.poll()):
            assert reactor.now() < end, "nothing is answered"
            reactor.wait(end)
        assert observer.poll() == [] and len(found) == 1, "each question is answered once"
        return found[0]

    yield answer
    observer.close()
    reactor.close()


@pytest.mark.parametrize(("text", "number"), [("83\n", 83.0), (" 8.5e1 % \n", 85.0), ("0", 0.0), ("-0", 0.0)])
def test_a_number_is_one_number(text: str, number: float) -> None:
    assert number_of(text) == number


@pytest.mark.parametrize(
    "text", ["", " \n", "nan", "inf", "-inf", "-3", "1e31", "12 13", "load: 3", "\x1b[31mred", "0x10", "1_0"]
)
def test_anything_else_is_told_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"^it says ('.*', which is no (number|amount)|nothing, where)") as told:
        number_of(text)
    assert str(told.value).isprintable()


def test_a_command_runs_in_the_directory_of_the_site(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "load").write_text("42\n")
    assert ask("echo a warning >&2; cat load") == Answer("fs", 42.0)


def test_a_command_that_fails_says_why(ask: Ask) -> None:
    assert ask("echo 42; echo 'no such file system: /lustre' >&2; exit 3") == Answer(
        "fs", trouble="exit status 3: no such file system: /lustre"
    )
    assert ask("kill -9 $$").trouble == "ended by signal 9"


def test_a_command_that_hangs_is_ended_with_all_it_began(ask: Ask, tmp_path: Path) -> None:
    for within_s in (0.5, 8.0, 60.0):  # on a busy machine a shell needs longer to begin
        found = ask("sleep 1000 & echo $! >child.new; mv child.new child; echo 3; wait", within_s=within_s)
        assert found == Answer("fs", trouble=f"no answer within {within_s:g} s")
        if (tmp_path / "child").exists():
            break
    status = Path(f"/proc/{(tmp_path / 'child').read_text().strip()}/status")
    until = time.monotonic() + 60.0
    while is_alive(status) and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_alive(status)


def is_alive(status: Path) -> bool:
    try:
        return "State:\tZ" not in status.read_text()
    except OSError:
        return False


def test_what_a_command_leaves_behind_does_not_keep_its_number(ask: Ask) -> None:
    assert ask("sleep 1000 & echo 3", within_s=50.0) == Answer("fs", 3.0)


@pytest.mark.parametrize("where", ["", " >&2"])
def test_a_command_that_floods_is_ended(ask: Ask, where: str) -> None:
    assert ask(f"yes{where}", within_s=50.0).trouble == f"it says more than {MOST_BYTES} bytes"


def test_letters_that_are_none_do_no_harm(ask: Ask) -> None:
    told = ask(r"printf '\377\000\033[2J'").trouble
    assert told.endswith("which is no number") and told.isprintable()


# ---- servers -----------------------------------------------------------------------------------------------------------


class Monitor:
    """A server that gives one answer, and remembers how it was asked."""

    def __init__(self) -> None:
        self.status, self.body, self.headers = 200, b"", dict[str, str]()
        self.asked: list[tuple[str, dict[str, str]]] = []
        monitor = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                monitor.asked.append((self.path, dict(self.headers)))
                self.send_response(monitor.status)
                for name, value in monitor.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(monitor.body)

            def log_message(self, *_: Any) -> None:
                """Nothing is to be seen."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def says(self, said: Any, status: int = 200) -> None:
        self.body, self.status = said if isinstance(said, bytes) else json.dumps(said).encode(), status

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def monitor() -> Iterator[Monitor]:
    found = Monitor()
    yield found
    found.close()


def of_prometheus(*values: Any, kind: str = "vector") -> dict[str, Any]:
    result = values[0] if kind != "vector" else [{"metric": {"n": str(n)}, "value": v} for n, v in enumerate(values)]
    return {"status": "success", "data": {"resultType": kind, "result": result}}


def of_influx(*rows: Any, columns: tuple[str, ...] = ("time", "last")) -> dict[str, Any]:
    return {
        "results": [{"statement_id": 0, "series": [{"name": "load", "columns": list(columns), "values": list(rows)}]}]
    }


def test_prometheus_is_asked_with_the_token_of_a_file(ask: Ask, monitor: Monitor, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    monitor.says(of_prometheus([1700000000.1, "12.5"]))
    found = ask('sum(mdt{t="a b"})', source="promql", url=f"{monitor.address}/prom/", token_file="token")
    assert found == Answer("fs", 12.5)
    path, headers = monitor.asked[0]
    assert (
        path == "/prom/api/v1/query?query=sum%28mdt%7Bt%3D%22a+b%22%7D%29"
        and headers["Authorization"] == "Bearer s3cret"
    )


def test_influx_is_asked_for_the_last_number_of_one_series(ask: Ask, monitor: Monitor) -> None:
    monitor.says(of_influx([0, 3], [0, None], [0, 7.25], [0, None]))
    found = ask("SELECT last(v) FROM load", source="influxql", url=monitor.address, database="lustre")
    assert found == Answer("fs", 7.25)
    assert monitor.asked[0][0] == "/query?db=lustre&q=SELECT+last%28v%29+FROM+load&epoch=ms"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (of_prometheus(), "the query finds nothing"),
        (of_prometheus([1, "1"], [1, "2"]), "the query gives 2 series, and one number is wanted"),
        (of_prometheus([[1, "1"]], kind="matrix"), "the query gives a matrix"),
        (of_prometheus([1, "a"], kind="scalar"), "the server says 'a', which is no number"),
        (of_prometheus("1", kind="scalar"), "its answer has no value"),
        ({"status": "error", "error": "parse error"}, "the query fails: parse error"),
        ({"status": "success", "data": 1}, "the query gives a , and one number is wanted"),
        ([], "the server is no Prometheus"),
    ],
)
def test_anything_but_one_number_of_prometheus_is_told(said: Any, told: str) -> None:
    with pytest.raises(ask_server.NoNumber) as found:
        ask_server.of_prometheus(said)
    assert told in str(found.value)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"results": [{"statement_id": 0}]}, "the query finds nothing"),
        (of_influx([0, None]), "the query finds nothing"),
        (of_influx([1600000000000, 3]), "the newest number is 1000 s old"),
        (of_influx([0, 3, 4], columns=("time", "a", "b")), "more than one number"),
        (of_influx([0, "full"]), "the server says 'full', which is no number"),
        ({"error": "database not found: lustre"}, "the query fails: database not found: lustre"),
        ({"results": [{"error": "unable to parse"}]}, "the query fails: unable to parse"),
        ({"results": [{"series": [1]}]}, "the query gives 1 series"),
        ([1], "the server is no InfluxDB"),
    ],
)
def test_anything_but_one_number_of_influx_is_told(said: Any, told: str) -> None:
    with pytest.raises(ask_server.NoNumber) as found:
        ask_server.of_influx(said, 1600001000.0, 300.0)
    assert told in str(found.value)


@pytest.mark.parametrize(
    ("said", "status", "told"),
    [
        (of_prometheus([1, "NaN"]), 200, "it says 'nan', which is no amount"),
        (of_prometheus([1, "-1"]), 200, "it says '-1.0', which is no amount"),
        (b"<html>", 200, "the server does not answer in JSON"),
        (b" " * (1 << 20) + b"1", 200, "the server says more than"),
        (b"who are you?", 401, "the server answers 401 Unauthorized: who are you?"),
    ],
)
def test_no_answer_of_a_server_is_believed(ask: Ask, monitor: Monitor, said: Any, status: int, told: str) -> None:
    monitor.says(said, status)
    found = ask("q", source="promql", url=monitor.address)
    assert found.number is None and told in found.trouble and "Traceback" not in found.trouble


def test_a_redirection_is_not_followed(ask: Ask, monitor: Monitor, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret")
    monitor.headers = {"Location": f"{monitor.address}/elsewhere"}
    monitor.says(b"", 302)
    assert "302" in ask("q", source="promql", url=monitor.address, token_file="token").trouble
    assert len(monitor.asked) == 1


def test_a_server_that_repeats_the_token_does_not_get_it_into_the_record(
    ask: Ask, monitor: Monitor, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("s3cret")
    monitor.says(b"no right for s3cret", 403)
    told = ask("q", source="promql", url=monitor.address, token_file="token").trouble
    assert "no right for [the token]" in told and "s3cret" not in told


def test_a_server_that_is_not_there_and_a_token_that_is_none(ask: Ask, tmp_path: Path) -> None:
    refused = ask("q", source="promql", url="http://127.0.0.1:1")
    assert "the server does not answer: Connection refused" in refused.trouble
    (tmp_path / "token").write_text("two\nlines")
    assert "holds no token" in ask("q", source="promql", url="http://127.0.0.1:1", token_file="token").trouble
    assert "cannot be read as a token" in ask("q", source="promql", url="http://127.0.0.1:1", token_file="none").trouble
