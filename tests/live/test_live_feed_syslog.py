"""The feed to syslog: messages as RFC 5424 wants them, every event there, doubles only of a request not read to its end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syslog_receiver import Connection, Message, TcpReceiver, UdpReceiver, parsed

from shakedown.events.reader import read_events
from shakedown.live.feeds import feed as feeds
from shakedown.live.feeds import syslog_sending
from shakedown.live.feeds.feed import Feed
from shakedown.live.feeds.syslog_message import ERROR, INFO, LONGEST_DATAGRAM, WARNING, Messages, severity_of
from shakedown.live.feeds.syslog_sending import TCP, TLS, UDP, SyslogServer, read_server
from shakedown.model.errors import UsageError
from shakedown.model.events import EVENTS, Event
from shakedown.model.layout import Layout

PLAIN = '<14>1 2026-12-01T02:00:00Z - shakedown - - [x a="b"] \ufeffgood'.encode()
TEXT = st.text(st.characters(codec="utf-8") | st.sampled_from('"\\]\n\x00\x1b\x9b\u202e'), max_size=40)


@pytest.fixture
def receiver() -> Iterator[TcpReceiver]:
    made = TcpReceiver()
    yield made
    made.close()


@pytest.fixture
def datagrams() -> Iterator[UdpReceiver]:
    made = UdpReceiver()
    yield made
    made.close()


@pytest.fixture
def feed(site: Path, tmp_path: Path) -> Callable[..., Feed]:
    def make(port: int, transport: str = TCP, said: list[str] | None = None, **more: Any) -> Feed:
        say = (said if said is not None else []).append
        server = SyslogServer("127.0.0.1", port, transport, **more)
        messages = Messages(16, "login1", 77, 8000, say)
        return Feed(site, messages.of, server.send, tmp_path / "place.json", say, lambda _: None)

    return make


def logged(site: Path) -> list[Event]:
    return list(read_events(Layout(site / "campaigns/p-1").log))


def seqs(messages: list[Message]) -> list[int]:
    return [message.seq for message in messages]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as line:
        return int(line.getsockname()[1])


# ---- every event


def test_every_event_is_a_message_and_later_ones_come_after_it(
    site: Path, receiver: TcpReceiver, feed: Callable[..., Feed], people: Any
) -> None:
    assert feed(receiver.port).run(once=True)
    events = logged(site)
    assert seqs(receiver.got) == [event.seq for event in events]
    for event, message in zip(events, receiver.got, strict=True):
        assert (message.kind, message.app, message.host, message.process) == (event.event, "shakedown", "login1", "77")
        assert message.sd_id == "shakedown@32473" and message.data["campaign"] == "p-1"
        assert abs(message.time.timestamp() - event.time) < 1e-5 and message.facility == 16
        assert (message.data.get("run", ""), message.data.get("case", "")) == (event.run, event.case)
        assert message.text.startswith("p-1: ") and len(message.text) > len(f"p-1: {event.event}: ")
    failed = [message for message in receiver.got if message.data.get("verdict") == "failed"]
    assert {message.severity for message in failed} == {WARNING} and len(failed) == 2
    assert "bad" in failed[0].text and "failed: exit status 3: no" in failed[0].text
    assert feed(receiver.port).run(once=True) and len(receiver.got) == len(events)
    people(site, "change", "p-1", "--by", "Ada", "--because", "a new cable")
    assert feed(receiver.port).run(once=True)
    assert seqs(receiver.got) == [event.seq for event in logged(site)] and len(receiver.got) > len(events)


@pytest.mark.parametrize(("died_after", "first"), [(3, 0), (9, 0), (-1, 0), (4, 1), (-1, 2)])
def test_what_a_server_that_died_had_not_read_to_the_end_comes_again(
    site: Path,
    receiver: TcpReceiver,
    feed: Callable[..., Feed],
    monkeypatch: pytest.MonkeyPatch,
    died_after: int,
    first: int,
) -> None:
    monkeypatch.setattr(feeds, "MANY", 12)
    receiver.dies_after = [None] * first + [died_after, died_after]
    said: list[str] = []
    done = [feed(receiver.port, said=said).run(once=True) for _ in range(3)]
    assert done == [False, False, True] and "nothing is lost" in said[0]
    whole = [seq for connection in receiver.connections if connection.whole for seq in seqs(connection.messages)]
    assert whole == [event.seq for event in logged(site)]
    broken = [connection for connection in receiver.connections if not connection.whole]
    assert [len(connection.messages) for connection in broken] == [max(0, died_after)] * 2


def test_an_outage_is_waited_for(site: Path, feed: Callable[..., Feed]) -> None:
    class Enough(Exception): ...

    said: list[str] = []
    one = feed(port := free_port(), said=said)
    started: list[TcpReceiver] = []

    def wait(_: float) -> None:
        if started:
            raise Enough
        if len(waits) == 2:
            started.append(TcpReceiver(port=port))
        waits.append(1)

    waits: list[int] = []
    one.wait = wait
    with pytest.raises(Enough):
        one.run(once=False)
    started[0].close()
    assert seqs(started[0].got) == [event.seq for event in logged(site)]
    assert [text.partition(":")[0] for text in said] == ["the server does not take it", "the server takes it again"]
    assert "Connection refused" in said[0]


def test_a_feed_that_is_killed_goes_on_where_it_was(
    site: Path, tmp_path: Path, receiver: TcpReceiver, people: Any
) -> None:
    killed: list[int] = []

    def heard(connection: Connection) -> None:
        if connection.messages and not killed:
            killed.append(int(connection.messages[0].process))
            assert killed[0] != os.getpid()
            os.kill(killed[0], signal.SIGKILL)

    receiver.heard = heard
    words = ["feed", "syslog", f"127.0.0.1:{receiver.port}", "--once", "--position", str(tmp_path / "p.json"), "--json"]
    assert people(site, *words).returncode == -signal.SIGKILL
    done = people(site, *words)
    assert done.returncode == 0, done.stderr
    wanted = [event.seq for event in logged(site)]
    assert json.loads(done.stdout) == {"events": len(wanted), "sent": len(wanted), "refused": 0, "cut": 0, "all": True}
    assert seqs(receiver.connections[-1].messages) == wanted
    assert len(receiver.connections) == 2  # the one that was killed, and the one that was not


def test_a_server_that_does_not_end_its_side_is_no_proof(
    site: Path, receiver: TcpReceiver, feed: Callable[..., Feed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syslog_sending, "TIMEOUT_S", 0.2)
    receiver.stays_open = True
    said: list[str] = []
    assert not feed(receiver.port, said=said).run(once=True)
    assert "did not read to the end" in said[0] and "--unconfirmed" in said[0]
    assert feed(receiver.port, confirmed=False).run(once=True)


def test_an_end_that_comes_before_all_bytes_have_arrived_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syslog_sending, "TIMEOUT_S", 0.2)
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        ends: list[socket.socket] = []

        def end_at_once() -> None:
            ends.append(listening.accept()[0])
            ends[0].shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=end_at_once)
        thread.start()
        answer = SyslogServer("127.0.0.1", listening.getsockname()[1]).send([b"x" * 7000] * 20)
        thread.join()
        ends[0].close()
    assert answer.outcome == "later" and "did not read to the end" in answer.says


def test_a_server_that_wants_tls_is_told(receiver: TcpReceiver) -> None:
    receiver.says = b"\x15\x03\x03\x00\x02\x02\x46"
    with pytest.raises(UsageError, match="speaks TLS") as told:
        SyslogServer("127.0.0.1", receiver.port).send([PLAIN])
    assert told.value.hint == "send with --tls"


# ---- TLS


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    """A certificate of 127.0.0.1 that signs itself; its key lies beside it."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl that makes a certificate")
    made = tmp_path / "authority.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"
    words += f" -addext subjectAltName=IP:127.0.0.1 -keyout {tmp_path / 'key.pem'} -out {made}"
    subprocess.run([openssl, *words.split()], check=True, capture_output=True)
    return made


def test_over_tls_the_certificate_counts(
    site: Path, authority: Path, feed: Callable[..., Feed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MANY", 12)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority, authority.with_name("key.pem"))
    receiver = TcpReceiver(context)
    try:
        with pytest.raises(UsageError, match="its certificate is not accepted"):
            feed(receiver.port, TLS).run(once=True)
        receiver.dies_after = [None, 5]
        assert not feed(receiver.port, TLS, ca_file=authority).run(once=True)
        assert feed(receiver.port, TLS, ca_file=authority).run(once=True)
    finally:
        receiver.close()
    whole = [seq for connection in receiver.connections if connection.whole for seq in seqs(connection.messages)]
    assert whole == [event.seq for event in logged(site)]


def test_tls_with_a_server_that_has_none_is_told(receiver: TcpReceiver, monkeypatch: pytest.MonkeyPatch) -> None:
    receiver.dies_after, receiver.says = [-1], b"no such thing here\n"
    with pytest.raises(UsageError, match="no TLS with this server"):
        SyslogServer("127.0.0.1", receiver.port, TLS).send([PLAIN])


# ---- UDP


def test_datagrams_hold_a_message_each_and_long_ones_are_cut_and_told(
    site: Path, tmp_path: Path, datagrams: UdpReceiver
) -> None:
    said: list[str] = []
    messages = Messages(16, "login1", 77, LONGEST_DATAGRAM, said.append)
    server = SyslogServer("127.0.0.1", datagrams.port, UDP, wait=lambda _: None)
    long = {event.seq: event for event in logged(site)}
    assert Feed(site, messages.of, server.send, tmp_path / "p.json", said.append).run(once=True)
    assert sorted(seqs(datagrams.got())) == sorted(long) and said == []
    events = [
        Event("verdict", seq, 5.0, run="r1", case="é" * size, reason="ü" * 900) for seq, size in ((7, 9), (8, 700))
    ]
    made = [message for event in events for message in messages.of(Path("p-1"), event)]
    assert server.send(made).outcome == "taken"
    got = datagrams.got()
    assert [message.data.get("case") for message in got] == ["é" * 9, None]  # a name is whole or not there
    assert all(message.text.endswith("ü…") or message.text.endswith("é…") for message in got)
    assert max(datagrams.sizes) <= LONGEST_DATAGRAM and messages.cut == 2
    assert said == [f"p-1: event 7 is cut to {LONGEST_DATAGRAM} bytes; the record has all of it"]


def test_a_host_where_nobody_takes_datagrams_is_an_outage(site: Path, feed: Callable[..., Feed]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind(("127.0.0.1", 0))
        port = line.getsockname()[1]
    said: list[str] = []
    assert not feed(port, UDP, said, wait=lambda _: None).run(once=True)
    assert "Connection refused" in said[0] and "nothing is lost" in said[0]


# ---- messages


@given(TEXT, TEXT, TEXT, st.integers(300, 1200))
def test_any_text_makes_a_message_that_is_read_back(name: str, case: str, reason: str, longest: int) -> None:
    event = Event(
        "verdict", 42, 1.6e9 + 0.25, case=case, run="r7", value={"verdict": "failed", "nodes": name}, reason=reason
    )
    messages = Messages(23, "log\nhost é", 1, longest, lambda _: None)
    (made,) = messages.of(Path("p-1"), event)
    message = parsed(made)
    assert len(made) <= longest and message.host == "log_host__"
    assert (message.facility, message.severity, message.time.isoformat()) == (
        23,
        WARNING,
        "2020-09-13T12:26:40.250000+00:00",
    )
    assert (message.data["campaign"], message.data["seq"]) == ("p-1", "42")
    for key, text in (("case", case), ("nodes", name)):
        if text.isprintable() and not messages.cut:
            assert message.data.get(key, "") == text


def test_words_that_would_forge_a_message_stay_in_theirs() -> None:
    evil = '"] forged\n<0>1 - - - - - -\x1b[31m\u202e\ud800'
    (made,) = Messages(16, "", 1, 8000, lambda _: None).of(Path(evil), Event(evil, 1, 0.0, run=evil, reason=evil))
    message = parsed(made)
    assert message.host == "-" and " " not in message.kind and len(message.kind) == 32
    assert message.data["run"] == '"] forged\\n<0>1 - - - - - -\\x1b[31m\\u202e\\ud800' and message.time.year == 1970


@pytest.mark.parametrize("name", EVENTS)
def test_every_kind_of_event_has_a_sentence(name: str) -> None:
    if name == "verdict":
        return  # it has one of its own
    (made,) = Messages(16, "h", 1, 8000, lambda _: None).of(Path("p-1"), Event(name, 1, 5.0, run="r1"))
    message = parsed(made)
    assert message.kind == name and len(message.text) > len("p-1: ") + len(name)


@pytest.mark.parametrize(
    ("event", "severity"),
    [
        (Event("verdict", value={"verdict": "passed"}), INFO),
        (Event("verdict", value={"verdict": "cancelled"}), INFO),
        (Event("verdict", value={"verdict": "timeout"}), WARNING),
        (Event("build_end", value={"state": "failed"}), WARNING),
        (Event("build_end", value={"state": "done"}), INFO),
        (Event("submit_refused"), WARNING),
        (Event("finding", value={"kind": "fell_out"}), ERROR),
        (Event("finding", value={"kind": "payload_changed"}), ERROR),
        (Event("finding", value={"kind": "clock_set"}), INFO),
        (Event("excluded"), INFO),
    ],
)
def test_the_severity_is_by_what_the_event_is(event: Event, severity: int) -> None:
    assert severity_of(event) == severity


# ---- the command


@pytest.mark.parametrize(
    ("address", "transport", "host", "port"),
    [
        ("loghost", TCP, "loghost", 601),
        ("loghost", UDP, "loghost", 514),
        ("loghost", TLS, "loghost", 6514),
        ("10.0.0.7:5140", TCP, "10.0.0.7", 5140),
        ("[::1]", UDP, "::1", 514),
        ("[fe80::1%eth0]:99", TCP, "fe80::1%eth0", 99),
    ],
)
def test_an_address_is_a_host_and_perhaps_a_port(address: str, transport: str, host: str, port: int) -> None:
    server = read_server(address, transport)
    assert (server.host, server.port) == (host, port)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["syslog", "udp://loghost"], "'udp://loghost' is no HOST or HOST:PORT"),
        (["syslog", "loghost:0"], "there is no port 0"),
        (["syslog", "loghost:70000"], "there is no port 70000"),
        (["syslog", "loghost", "--names", "olcf"], "--names says nothing to a feed of syslog"),
        (["syslog", "loghost", "--token-file", "site.yaml"], "--token-file says nothing to a feed of syslog"),
        (["json", "http://there", "--udp"], "--udp says nothing to a feed of json"),
        (["influx", "http://there", "--facility", "user"], "--facility says nothing to a feed of influx"),
        (["syslog", "loghost", "--udp", "--tls"], "--udp and --tls exclude each other"),
        (["syslog", "loghost", "--ca-file", "site.yaml"], "--ca-file is of use with --tls alone"),
        (["syslog", "loghost", "--tls", "--ca-file", "site.yaml"], "site.yaml holds no certificate"),
    ],
)
def test_misuse_has_its_sentence(site: Path, people: Any, words: list[str], says: str) -> None:
    done = people(site, "feed", *words, "--once")
    assert done.returncode == 2 and says in done.stderr and "hint: " in done.stderr and "Traceback" not in done.stderr
