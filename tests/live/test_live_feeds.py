"""Feeds: every event once, over outages of the server and of the feed; and names that a person can write, as lines."""

from __future__ import annotations

import http.server
import json
import re
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.events.reader import read_events
from shakedown.live.feeds import feed as feeds
from shakedown.live.feeds.feed import Feed
from shakedown.live.feeds.items import JSON, OLCF, Lines, as_json
from shakedown.live.feeds.line_protocol import line_of
from shakedown.live.feeds.olcf import OlcfNames
from shakedown.live.feeds.points import Point, points_of
from shakedown.live.feeds.sending import HttpServer, with_words
from shakedown.model.errors import UsageError
from shakedown.model.events import Event
from shakedown.model.layout import Layout

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


class Server:
    """A server that does what it is told: ``answers`` says the status of each request, 0 hangs up; afterwards it takes everything.

    ``got``: the items of the requests that it took. Lines that hold ``bad`` are refused with status 400, and the rest with them.
    """

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.got: list[str] = []
        self.bad = ""
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                status = outer.answers.pop(0) if outer.answers else 204
                if status == 0:
                    self.close_connection = True
                    return
                if outer.bad and outer.bad in body:
                    status = 400
                if status == 204:
                    outer.got += (
                        [json.dumps(one) for one in json.loads(body)] if body.startswith("[") else body.splitlines()
                    )
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None: ...

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()
        self.address = f"http://127.0.0.1:{self.http.server_port}/write?db=x"


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.http.shutdown()
    made.http.server_close()


@pytest.fixture
def feed(site: Path, tmp_path: Path, server: Server) -> Callable[..., Feed]:
    def make(form: str = JSON, **more: Any) -> Feed:
        said: list[str] = more.pop("said", [])
        items = as_json if form == JSON else Lines(form).of
        send = HttpServer(server.address, {}, form == JSON).send
        return Feed(site, items, send, tmp_path / "place.json", said.append, lambda _: None, **more)

    return make


def seqs(items: list[str]) -> list[int]:
    return [json.loads(item)["seq"] for item in items]


def logged(site: Path) -> list[int]:
    return [event.seq for event in read_events(Layout(site / "campaigns/p-1").log)]


def test_every_event_comes_once_and_later_ones_after_it(
    site: Path, server: Server, feed: Callable[..., Feed], people: Any
) -> None:
    assert feed().run(once=True)
    assert seqs(server.got) == logged(site)
    assert feed().run(once=True) and len(server.got) == len(logged(site))
    people(site, "change", "p-1", "--by", "Ada", "--because", "a new cable")
    before = len(server.got)
    assert feed().run(once=True)
    assert seqs(server.got) == logged(site) and len(server.got) > before


def test_names_of_olcf_tell_each_run_from_its_submission_to_its_check(
    site: Path, tmp_path: Path, server: Server, feed: Callable[..., Feed], people: Any
) -> None:
    assert feed(OLCF).run(once=True)
    events = [(line.partition(",")[0], *_parsed(line)) for line in server.got]
    mine = [one for one in events if one[0] == "events" and one[1]["test_id"] == "p-1.r000002"]
    mine.sort(key=lambda one: one[3])
    named = {one[2]["event_name"]: one for one in mine}
    assert list(named) == [
        "submit_start", "submit_end", "job_queued", "binary_execute_start", "binary_execute_end", "check_start", "check_end",
    ]  # fmt: skip
    _, tags, fields, _ = named["check_end"]
    assert tags == {"app": "bad", "test": "bad", "test_id": "p-1.r000002", "runtag": "p-1", "machine": "here"}
    assert (fields["event_value"], fields["event_type"], fields["event_subtype"]) == ("1", "check", "end")
    assert fields["event_filename"] == "Event_200_check_end.txt" and fields["check_alias"] == "unclassified"
    assert fields["output_txt"] == "no" and fields["comment"] == "exit status 3: no" and fields["user"] == "[NO_VALUE]"
    assert all("=" + '"' in line.partition(" ")[2] for line in server.got if line.startswith("events,"))
    checks = {one[1]["test_id"]: one[2]["event_value"] for one in events if one[2].get("event_name") == "check_end"}
    assert checks == {"p-1.r000001": "0", "p-1.r000002": "1", "p-1.r000003": "0", "p-1.r000004": "1"}
    metrics = [one for one in events if one[0] == "metrics" and one[1]["test_id"] == "p-1.r000001"]
    assert [list(one[2]) for one in metrics] == [["ok-ok-execution_time"]] and float(
        metrics[0][2]["ok-ok-execution_time"]
    ) > 0
    health = Counter((one[1]["test"], one[2]["status"]) for one in events if one[0] == "node_health")
    assert health == {("ok", "SUCCESS"): 2, ("bad", "FAILED"): 2}
    points = [(one[0], tuple(sorted(one[1].items())), one[3]) for one in events]
    assert len(set(points)) == len(points)  # none takes another's place
    before = list(server.got)
    people(site, "change", "p-1", "--by", "Ada", "--because", "a new cable")
    assert feed(OLCF).run(once=True) and server.got == before  # no event of the harness
    (tmp_path / "place.json").unlink()
    assert feed(OLCF).run(once=True)
    assert server.got == before * 2  # the same once more


def test_a_feed_that_begins_again_in_the_middle_knows_what_was_before(
    site: Path, server: Server, feed: Callable[..., Feed]
) -> None:
    assert feed(OLCF).run(once=True)
    whole, server.got = server.got, []
    layout = Layout(site / "campaigns/p-1")
    names = OlcfNames(layout, "here", {"ok": "ok", "bad": "bad"})
    late = [event for event in read_events(layout.log) if event.event == "verdict"]
    lines = [line_of(point) for event in late for point in names.points_of(event)]
    assert lines and set(lines) <= set(whole)


def test_what_a_run_of_many_nodes_says_of_them(site: Path) -> None:
    names = OlcfNames(Layout(site / "campaigns/p-1"), "here", {"ok": "ok"})

    def told(nodes: str, **value: Any) -> list[tuple[str, Any]]:
        event = Event("verdict", 90, 1.5, run="r000001", value={"nodes": nodes, **value}, reason="why")
        return [
            (one.tags["node"], one.fields["status"])
            for one in names.points_of(event)
            if one.measurement == "node_health"
        ]

    assert told("n1", verdict="incorrect") == [("n1", "HW-FAIL")]
    assert told("n1", verdict="performance") == [("n1", "PERF-FAIL")]
    assert told("n[1-3]", verdict="passed") == told("n[1-3]", verdict="failed") == []  # whose it was nobody knows
    assert told("n[1-3]", verdict="node_fail", failed_nodes=["n2"]) == [("n2", "FAILED")]
    assert told("n1", verdict="spared") == told("n1", verdict="undetermined") == []


def test_an_outage_is_waited_for_and_told_once(
    site: Path, server: Server, feed: Callable[..., Feed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MANY", 5)
    said: list[str] = []
    server.answers = [204, 503, 0, 500, 429, 204, 0]
    waits: list[float] = []
    one = feed(said=said)
    one.wait = waits.append
    monkeypatch.setattr(feeds, "LOOK_S", 0.5)

    class Enough(Exception): ...

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if seqs(server.got)[-1:] == logged(site)[-1:]:
            raise Enough

    one.wait = wait
    with pytest.raises(Enough):
        one.run(once=False)
    assert seqs(server.got) == logged(site)
    assert waits[:4] == [0.5, 1.0, 2.0, 4.0]
    assert [text.partition(":")[0] for text in said] == ["the server does not take it", "the server takes it again"] * 2


def test_with_once_an_outage_ends_it_and_the_next_time_goes_on(
    site: Path, server: Server, feed: Callable[..., Feed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MANY", 7)
    server.answers = [204, 204, 503]
    assert not feed().run(once=True)
    assert len(server.got) == 14 < len(logged(site))
    assert feed().run(once=True)
    assert seqs(server.got) == logged(site)


def test_what_the_server_refuses_is_left_out_alone_and_told(
    site: Path, server: Server, feed: Callable[..., Feed]
) -> None:
    said: list[str] = []
    server.bad = '"seq":7,'
    one = feed(said=said)
    assert one.run(once=True)
    assert seqs(server.got) == [seq for seq in logged(site) if seq != 7]
    assert (one.counts.sent, one.counts.refused) == (len(server.got), 1)
    assert len(said) == 1 and said[0].startswith("refused for good: 400")


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "denied access: 401"),
        (403, "denied access: 403"),
        (404, "accepts no events at this address: 404"),
        (307, "accepts no events at this address: 307"),
    ],
)
def test_a_server_that_will_never_take_it_ends_the_feed(
    server: Server, feed: Callable[..., Feed], status: int, says: str
) -> None:
    server.answers = [status]
    with pytest.raises(UsageError, match=re.escape(says)):
        feed().run(once=False)
    assert not server.got


def flip(log: Path) -> None:
    """A verdict of a record is changed, and nothing else."""
    text = log.read_bytes()
    assert b'"verdict":"failed"' in text
    log.write_bytes(text.replace(b'"verdict":"failed"', b'"verdict":"passed"', 1))


def test_nothing_of_a_damaged_record_is_sent_and_it_is_told(
    site: Path, server: Server, feed: Callable[..., Feed]
) -> None:
    said: list[str] = []
    flip(site / "campaigns/p-1/log/000001.jsonl")
    assert not feed(said=said).run(once=True)
    assert server.got == [] and len(said) == 1 and said[0].startswith("p-1: DAMAGED: ")


class Enough(Exception): ...


def until(times: int, act: Callable[[int], None]) -> Callable[[float], None]:
    """A wait that does something at each call, and ends the feed after so many."""
    calls: list[int] = []

    def wait(_: float) -> None:
        calls.append(1)
        if len(calls) > times:
            raise Enough
        act(len(calls))

    return wait


def test_damage_is_told_once_where_nothing_new_comes(
    site: Path, server: Server, feed: Callable[..., Feed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "LOOK_FOR_DAMAGE_S", 0.0)
    log, said = site / "campaigns/p-1/log/000001.jsonl", list[str]()
    whole = log.read_bytes()

    def act(number: int) -> None:
        if number in (1, 6):
            flip(log)
        elif number == 4:
            log.write_bytes(whole)

    one = feed(said=said)
    one.wait = until(8, act)
    with pytest.raises(Enough):
        one.run(once=False)
    assert said == [said[0]] * 2 and re.match(r"p-1: DAMAGED: log/000001\.jsonl, line \d+, .*event \d+", said[0])
    assert list(one.untrusted) == ["p-1"] and seqs(server.got) == logged(site)


def test_an_event_that_was_changed_a_moment_after_a_look_is_not_sent(
    site: Path, server: Server, feed: Callable[..., Feed], people: Any
) -> None:
    before = len(logged(site))

    def change(number: int) -> None:
        if number == 1:
            people(site, "change", "p-1", "--by", "Ada", "--because", "a new cable")
            newest = max(
                (site / "campaigns/p-1/log").glob("*.jsonl"), key=lambda path: (path.stat().st_size > 300, path)
            )
            assert b"a new cable" in newest.read_bytes()
            newest.write_bytes(newest.read_bytes().replace(b"a new cable", b"an old cable"))

    one = feed()
    one.wait = until(2, change)
    with pytest.raises(Enough):
        one.run(once=False)
    assert len(server.got) == before and "DAMAGED" in one.untrusted["p-1"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (rb"\n[^\n]*\n[^\n]*\n", b"\n", r"DAMAGED: log/000001\.jsonl: it ends at byte \d+"),
        (rb"\n[^\n]*\n", b"\nrubbish\n", r"DAMAGED: log/000001\.jsonl"),
        (rb'"v":1', b'"v":99', r"/log/000001\.jsonl: line 1: a newer Shakedown wrote this"),
        (None, b"", r"DAMAGED: log.*000001\.jsonl is missing"),
    ],
)
def test_a_record_that_cannot_be_trusted_is_told_once_and_the_others_go_on(
    site: Path, server: Server, people: Any, tmp_path: Path, old: bytes | None, new: bytes, says: str
) -> None:
    shutil.copytree(site / "campaigns/p-1", site / "campaigns/a-1")
    log = site / "campaigns/a-1/log/000001.jsonl"
    if old is None:
        log.unlink()
    else:
        log.write_bytes(re.sub(old, new, log.read_bytes(), count=1))
    words = ["feed", "json", server.address, "--once", "--position", str(tmp_path / "p.json"), "--json"]
    done = people(site, *words)
    told = [line for line in done.stderr.splitlines() if line]
    assert done.returncode == 3 and len(told) == 1 and re.match(f"a-1: .*{says}.*: nothing more of it is sent", told[0])
    assert re.search(says, json.loads(done.stdout)["damaged"]["a-1"]) and "hint" not in told[0]
    assert seqs(server.got) == logged(site) and {json.loads(item)["campaign"] for item in server.got} == {"p-1"}


def test_a_record_that_cannot_be_read_is_told_and_comes_later(
    site: Path, server: Server, feed: Callable[..., Feed], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stale(*_: Any) -> None:
        raise OSError(116, "Stale file handle")

    said: list[str] = []
    with monkeypatch.context() as away:
        away.setattr(feeds, "damage_of", stale)
        assert not feed(said=said).run(once=True)
    assert said == ["p-1: it cannot be read: Stale file handle: nothing more of it is sent"] and server.got == []
    assert feed().run(once=True) and seqs(server.got) == logged(site)


def test_damage_of_what_was_sent_is_told_too(site: Path, server: Server, feed: Callable[..., Feed]) -> None:
    assert feed().run(once=True)
    before = len(server.got)
    flip(site / "campaigns/p-1/log/000001.jsonl")
    said: list[str] = []
    assert not feed(said=said).run(once=True)
    assert len(server.got) == before and len(said) == 1 and "DAMAGED" in said[0]


def test_a_campaign_of_another_name_is_no_new_one(
    site: Path, server: Server, feed: Callable[..., Feed], people: Any
) -> None:
    assert feed().run(once=True)
    before = len(server.got)
    (site / "campaigns/p-1").rename(site / "campaigns/moved-1")
    shutil.copytree(site / "campaigns/moved-1", site / "campaigns/copied-1")
    assert feed().run(once=True)
    assert len(server.got) == before


def test_another_campaign_of_a_known_name_is_sent_from_its_beginning(
    site: Path, server: Server, feed: Callable[..., Feed], people: Any
) -> None:
    assert feed().run(once=True)
    server.got.clear()
    people(site, "run", "p", "-q")
    shutil.rmtree(site / "campaigns/p-1")
    (site / "campaigns/p-2").rename(site / "campaigns/p-1")
    assert feed().run(once=True)
    assert seqs(server.got) == logged(site)
    assert feed().run(once=True) and len(server.got) == len(logged(site))


@pytest.mark.parametrize("status", [302, 401, 404])
def test_a_server_that_took_something_is_waited_for_whatever_it_says(
    site: Path, server: Server, feed: Callable[..., Feed], people: Any, status: int
) -> None:
    assert feed().run(once=True)
    people(site, "change", "p-1", "--by", "Ada", "--because", "a new cable")
    said: list[str] = []
    server.answers = [status]
    assert not feed(said=said).run(once=True)
    assert "nothing is lost" in said[0]
    assert feed().run(once=True)
    assert seqs(server.got) == logged(site)


def test_a_place_that_is_none_is_a_sentence(site: Path, tmp_path: Path, feed: Callable[..., Feed]) -> None:
    (tmp_path / "place.json").write_text("[1]")
    with pytest.raises(UsageError, match="is not the place of a feed"):
        feed().run(once=True)


# ---- points and lines


def test_a_verdict_has_its_own_point_and_one_for_each_figure() -> None:
    value = {
        "verdict": "passed",
        "component": "memory",
        "attempt": 2,
        "elapsed_s": 1.5,
        "exit": 0,
        "figures": {"triad": 17, "bad": "x"},
    }
    event = Event("verdict", 42, 1.6e9 + 0.25, case="stream/n=2", run="r7", value=value, reason="fine")
    lines = [line_of(point) for point in points_of("p-1", event, {"stream/n=2": "stream"})]
    at = 1600000000250000042
    tags = "campaign=p-1,case=stream/n\\=2,component=memory"
    assert lines[1:] == [
        f'shakedown_run,{tags},test=stream,verdict=passed seq=42i,run="r7",reason="fine",elapsed_s=1.5,attempt=2i,exit=0i'
        f" {at}",
        f'shakedown_figure,{tags},figure=triad,test=stream seq=42i,run="r7",value=17.0 {at}',
    ]
    assert lines[0].startswith("shakedown_event,campaign=p-1,event=verdict seq=42i,")


def test_the_lines_of_a_real_campaign_are_different_points(site: Path) -> None:
    events = list(read_events(Layout(site / "campaigns/p-1").log))
    points = [point for event in events for point in points_of("p-1", event, {})]
    keys = Counter((point.measurement, tuple(sorted(point.tags.items())), point.time_ns) for point in points)
    assert max(keys.values()) == 1
    assert sum(point.measurement == "shakedown_event" for point in points) == len(events)
    assert sum(point.measurement == "shakedown_run" for point in points) == 4


@given(TEXT, TEXT, TEXT, TEXT)
def test_a_name_of_any_letters_comes_back_from_its_line(tag: str, text: str, key: str, other: str) -> None:
    line = line_of(Point("m", {"a": tag, "b": other}, {"x": text, "y": 1, key: 0.5}, 7))
    assert "\n" not in line and line.isprintable()
    tags, fields, time = _parsed(line)
    assert time == 7
    for name, said in (("a", tag), ("b", other)):
        shown = re.sub(r"\\[xuUnrt]\S*", "", said)
        if said.isprintable() and said.strip() and "\\" not in said:
            assert tags[name] == said.strip(), (line, shown)
    if text.isprintable():
        assert fields["x"] == text or key == "x"


def _parsed(line: str) -> tuple[dict[str, str], dict[str, str], int]:
    """Read a line as InfluxDB does, letter by letter: a backslash keeps the letter after it."""
    parts: list[list[str]] = [[]]
    word, quoted, place = "", False, 0
    while place < len(line):
        letter = line[place]
        if letter == "\\" and place + 1 < len(line):
            after = line[place + 1]
            word += after if after in (', ="\\' if quoted or after != "\\" else "") else letter + after
            place += 2
            continue
        if letter == '"' and len(parts) == 2 and (quoted or word.endswith("\0")):
            quoted = not quoted
        elif letter in ", " and not quoted:
            parts[-1].append(word)
            word = ""
            if letter == " ":
                parts.append([])
        elif letter == "=" and not quoted:
            word += "\0"
        else:
            word += letter
        place += 1
    parts[-1].append(word)
    assert len(parts) == 3, line
    pairs = [dict(one.split("\0", 1) for one in some) for some in (parts[0][1:], parts[1])]
    return pairs[0], pairs[1], int(parts[2][0])


# ---- the command


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["influx", "influx:8086"], "'influx:8086' is no address of a server"),
        (["json", "http://me:secret@there/x"], "would be seen by everybody who lists processes"),
        (["influx", "http://there/write?db=x&p=secret"], "would be seen by everybody who lists processes"),
        (["telegraf", "http://there"], "'telegraf' is not one of 'influx', 'json', 'syslog'"),
    ],
)
def test_misuse_has_its_sentence(site: Path, people: Any, words: list[str], says: str) -> None:
    done = people(site, "feed", *words)
    assert done.returncode == 2 and says in done.stderr and "secret" not in done.stderr


def test_the_command_sends_with_the_token_of_a_file(site: Path, people: Any, server: Server, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("word\n")
    words = ["--once", "--position", str(tmp_path / "p.json"), "--token-file", str(tmp_path / "token"), "--json"]
    done = people(site, "feed", "influx", server.address, *words)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["events"] == len(logged(site))
    assert {headers["authorization"] for headers in server.headers} == {"Token word"}
    server.answers = [503] * 3
    people(site, "change", "p-1", "--by", "Ada", "--because", "a new cable")
    done = people(site, "feed", "influx", server.address, *words)
    assert done.returncode == 4 and "nothing is lost" in done.stderr
    assert with_words("http://h/write?db=x&precision=s", precision="ns") == "http://h/write?db=x&precision=ns"
