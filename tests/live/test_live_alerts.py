"""Alerts: what is news, gathered, in the shape of each chat, told until somebody takes it; nothing of before the first start."""

from __future__ import annotations

import json
import shutil
import socketserver
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from stories import SHAKEDOWN

from shakedown.events.looks import Looks
from shakedown.live.alerts import watchman as watching
from shakedown.live.alerts.kinds import KINDS, TEST, USUAL
from shakedown.live.alerts.news import News, lines_of, news_of, title_of
from shakedown.live.alerts.targets import SHAPES, Command, Mail, _shaped
from shakedown.live.alerts.watchman import Watchman
from shakedown.model.events import Event
from shakedown.model.layout import Layout


class Phone:
    """Somebody who is told; ``deaf``: takes nothing."""

    def __init__(self) -> None:
        self.deaf = False
        self.heard: list[list[News]] = []

    def __call__(self, news: Sequence[News]) -> str:
        if self.deaf:
            return "nobody answers"
        self.heard.append(list(news))
        return ""

    @property
    def texts(self) -> list[str]:
        return [f"{one.kind}: {one.text}" for news in self.heard for one in news]


@pytest.fixture
def phone() -> Phone:
    return Phone()


@pytest.fixture
def watch(site: Path, tmp_path: Path, phone: Phone) -> Callable[..., Watchman]:
    def make(kinds: Sequence[str] = tuple(KINDS), **more: Any) -> Watchman:
        said: list[str] = more.pop("said", [])
        return Watchman(site, phone, kinds, tmp_path / "far.json", tmp_path / "told.jsonl", said.append, **more)

    return make


def test_the_first_start_tells_nothing_of_before_and_then_every_news_once(
    site: Path, watch: Callable[..., Watchman], phone: Phone, people: Any
) -> None:
    assert watch().run(once=True) and phone.heard == []
    people(site, "run", "p", "-q")
    assert watch().run(once=True)
    failures = sorted(text for text in phone.texts if text.startswith("failures"))
    assert [text.partition(":")[2].split()[0] for text in failures] == ["r000002", "r000004"]
    assert "failures: r000002 bad on" in failures[0] and failures[0].endswith("failed: exit status 3: no")
    assert [text for text in phone.texts if text.startswith("outcome")] == [
        "outcome: it is over: rejected: 1 criterion of 1 not met (functionality: passed)"
    ]
    assert [text for text in phone.texts if text.startswith("criteria")] == [
        "criteria: functionality: passed is not met: 2 passed / 4 wanted = 50.0%, must = 100%"
    ]
    before = len(phone.heard)
    assert watch().run(once=True) and len(phone.heard) == before


def test_what_was_not_taken_is_told_again_and_kept(
    site: Path, watch: Callable[..., Watchman], phone: Phone, people: Any, tmp_path: Path
) -> None:
    watch().run(once=True)
    people(site, "run", "p", "-q")
    phone.deaf = True
    said: list[str] = []
    assert not watch(said=said).run(once=True)
    assert said == ["not taken: nobody answers; it is tried again"]
    phone.deaf = False
    assert watch().run(once=True)
    assert sum(text.startswith("failures") for text in phone.texts) == 2
    kept = [json.loads(line) for line in (tmp_path / "told.jsonl").read_text().splitlines()]
    assert [line["not_taken"] for line in kept] == ["nobody answers", ""]
    assert kept[1]["title"].startswith("Shakedown: p-2: ")


def test_only_kinds_that_are_asked_for(site: Path, watch: Callable[..., Watchman], phone: Phone, people: Any) -> None:
    watch(["acts"]).run(once=True)
    people(site, "run", "p", "-q")
    people(site, "change", "p-2", "--by", "Ada", "--because", "a new cable")
    watch(["acts"]).run(once=True)
    assert phone.texts == ["acts: changed by Ada: a new cable"]


def test_messages_are_no_more_often_than_asked_for_and_gather_what_came(
    site: Path, watch: Callable[..., Watchman], phone: Phone, people: Any
) -> None:
    now = [1000.0]

    class Enough(Exception): ...

    steps = iter(range(100))

    def wait(seconds: float) -> None:
        now[0] += seconds
        step = next(steps)
        if step in (1, 2, 3):
            people(site, "change", "p-1", "--by", "Ada", "--because", f"cable {step}")
        if step == 60:
            raise Enough

    watch().run(once=True)
    with pytest.raises(Enough):
        watch(["acts"], wait=wait, clock=lambda: now[0], every_s=60.0).run(once=False)
    assert [[one.text[-7:] for one in news] for news in phone.heard] == [["cable 1"], ["cable 2", "cable 3"]]


def test_a_conductor_that_is_gone_and_a_disk_without_room_are_told_once(
    site: Path, watch: Callable[..., Watchman], phone: Phone, people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site / "tests/ok.yaml").write_text("test: ok\nrun: {command: sleep 60}\n")
    watch().run(once=True)
    conductor = subprocess.Popen([*SHAKEDOWN, "run", "p", "-q"], cwd=site)
    while people(site, "status", "p-2").returncode != 0 or "running" not in people(site, "runs", "p-2").stdout:
        assert conductor.poll() is None
    conductor.kill()
    conductor.wait()
    monkeypatch.setattr(watching, "_little_room", lambda _: "its file system has 1.0 % of room left")
    for _ in range(3):
        watch(["silent", "disk"]).run(once=True)
    assert phone.texts == [
        "silent: nobody drives it: shakedown resume goes on with it",
        "disk: its file system has 1.0 % of room left",
    ]
    monkeypatch.setattr(watching, "_little_room", lambda _: "")
    watch(["silent", "disk"]).run(once=True)
    assert phone.texts[2:] == ["disk: its file system has room again"]
    people(site, "cancel", "--all", "--because", "enough")
    people(site, "resume", "-q")


def test_a_record_that_was_changed_and_a_campaign_that_is_gone_are_told(
    site: Path, watch: Callable[..., Watchman], phone: Phone
) -> None:
    watch().run(once=True)
    log = site / "campaigns/p-1/log/000001.jsonl"
    text = log.read_bytes()
    log.write_bytes(text.replace(b'"verdict":"failed"', b'"verdict":"passed"', 1))
    for _ in range(2):
        assert watch(["damage"]).run(once=True)
    assert len(phone.texts) == 1 and "damage: DAMAGED: " in phone.texts[0] and "000001.jsonl" in phone.texts[0]
    log.write_bytes(text)
    watch(["damage"]).run(once=True)
    (site / "campaigns/p-1").rename(site / "campaigns/moved-1")
    watch(["damage"]).run(once=True)
    assert phone.texts[1:] == ["damage: its record is whole again"]
    shutil.rmtree(site / "campaigns/moved-1")
    watch(["damage"]).run(once=True)
    assert phone.texts[2:] == ["damage: its directory is not there any more"]


def test_a_record_that_was_found_whole_is_not_read_again_at_each_look(
    site: Path, watch: Callable[..., Watchman], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Path | None] = []

    def looked(layout: Layout, looks: Looks | None = None) -> None:
        given.append(looks.shelf.folder if looks is not None else None)

    monkeypatch.setattr(watching, "damage_of", looked)
    watch(["damage"]).run(once=True)
    assert given == [Looks(Layout(site / "campaigns/p-1")).shelf.folder]


def test_a_campaign_of_another_name_is_no_news(site: Path, watch: Callable[..., Watchman], phone: Phone) -> None:
    watch().run(once=True)
    (site / "campaigns/p-1").rename(site / "campaigns/moved-1")
    shutil.copytree(site / "campaigns/moved-1", site / "campaigns/copied-1")
    watch().run(once=True)
    assert [text for text in phone.texts if not text.startswith("damage")] == []


def test_a_storm_of_failures_is_one_message_of_few_lines() -> None:
    news = [News("failures", "p-1", 1.0, f"r{n} failed") for n in range(500)] + [
        News("nodes", "p-2", 1.0, "excluded n1")
    ]
    assert title_of(news) == "Shakedown: p-1, p-2: 500 failures, 1 news of nodes"
    assert len(lines_of(news)) == 12
    assert lines_of(news)[10:] == ["and 490 more failures", "p-2: excluded n1"]


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (Event("verdict", 1, 1.0, case="a", run="r1", value={"verdict": "passed"}), None),
        (Event("verdict", 1, 1.0, case="a", run="r1", value={"verdict": "cancelled"}), None),
        (Event("verdict", 1, 1.0, case="a", run="r1", value={"verdict": "node_fail", "nodes": "n7"}), "failures"),
        (Event("excluded", 1, 1.0, value={"nodes": "n7", "by": "Ada"}), "nodes"),
        (Event("finding", 1, 1.0, value={"kind": "node_left_out", "nodes": ["n7"]}), "nodes"),
        (Event("finding", 1, 1.0, value={"kind": "fell_out"}), "holes"),
        (Event("finding", 1, 1.0, value={"kind": "disk_full"}), "disk"),
        (Event("finding", 1, 1.0, value={"kind": "queue_held"}), "findings"),
        (Event("waived", 1, 1.0, value={"by": "Ada"}), "acts"),
        (Event("campaign_end", 1, 1.0), "outcome"),
        (Event("job_report", 1, 1.0, value={"state": "running"}), None),
    ],
)
def test_what_is_news(event: Event, kind: str | None) -> None:
    news = news_of("p-1", event)
    assert (news.kind if news else None) == kind


def test_names_do_nothing_in_a_chat() -> None:
    news = [News("failures", "p-1", 1.0, "<!channel> *x* @all [a](http://evil)")]
    assert "<!channel>" not in _shaped("slack", news)["text"] and "&lt;!channel&gt;" in _shaped("slack", news)["text"]
    plain = _shaped("mattermost", news)["text"]
    assert "@all" not in plain and "\\[a\\]\\(http" in plain and "\\*x\\*" in plain
    card = _shaped("teams", news)["attachments"][0]
    assert card["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert [text["type"] for text in card["content"]["body"]] == ["TextBlock"] * 2
    assert _shaped("json", news)["news"] == [{"kind": "failures", "campaign": "p-1", "time": 1.0, "text": news[0].text}]


# ---- where they go


@pytest.fixture
def mail_server() -> Iterator[tuple[int, list[str]]]:
    """A mail server that takes one message after another. What it was told comes back as lines."""
    told: list[str] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            def answer(text: str) -> None:
                self.wfile.write(f"{text}\r\n".encode())

            answer("220 here")
            data = False
            while line := self.rfile.readline().decode().rstrip("\r\n"):
                told.append(line)
                word = line.split()[0].upper() if line.split() else ""
                if data and line != ".":
                    continue
                answer({"EHLO": "250 here", "DATA": "354 go on", "QUIT": "221 bye"}.get(word, "250 well"))
                data = word == "DATA"
                if data:
                    while (text := self.rfile.readline().decode().rstrip("\r\n")) != ".":
                        told.append(text)
                    answer("250 taken")
                    data = False
                if word == "QUIT":
                    return

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_address[1], told
        server.shutdown()


def test_mail_is_sent_and_a_server_that_is_away_is_told(mail_server: tuple[int, list[str]]) -> None:
    port, told = mail_server
    news = [News("failures", "p-1", 1.0, "r7 failed: Größe <b>")]
    assert Mail(("ada@example.org",), "shakedown@here", "127.0.0.1", port)(news) == ""
    assert "Subject: Shakedown: p-1: 1 failure" in told and "To: ada@example.org" in told
    assert any(line.startswith("rcpt TO:<ada@example.org>") for line in told)
    assert "Connection refused" in Mail(("ada@example.org",), "x@here", "127.0.0.1", 1)(news)


def test_a_command_gets_the_text_and_its_status_says_whether_it_took_it(tmp_path: Path) -> None:
    news = [News("failures", "p-1", 1.0, "r7 failed")]
    out = tmp_path / "out"
    assert Command(("sh", "-c", f'echo "$SHAKEDOWN_TITLE" > {out}; cat >> {out}'))(news) == ""
    assert out.read_text().splitlines() == [title_of(news), title_of(news), "p-1: r7 failed"]
    assert Command(("sh", "-c", "exit 7"))(news) == "sh: exit status 7"
    assert Command(("/no/such/program",))(news) == "/no/such/program: No such file or directory"
    assert Command(("sleep", "30"), patience_s=0.05)(news) == "sleep did not end in 0 s"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["webhook", "https://hooks.example.org/secret"], "the address of a webhook is a secret"),
        (["webhook", "nothing.txt"], "nothing.txt cannot be read as the address of a webhook"),
        (["mail", "ada"], "'ada' is no address of mail"),
        (["mail", "a@b", "--server", "host:smtp"], "--server 'host:smtp' is no server"),
        (["command", "true", "--every", "often"], "--every: 'often' is"),
        (["pager", "x"], "'pager' is not one of 'webhook', 'mail', 'command'"),
        (["webhook", "site.yaml"], "site.yaml holds no address of a webhook"),
    ],
)
def test_misuse_has_its_sentence(site: Path, people: Any, words: list[str], says: str) -> None:
    done = people(site, "alert", *words)
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr


def test_a_test_goes_out_at_once(site: Path, people: Any, tmp_path: Path) -> None:
    done = people(
        site, "alert", "--test", "command", "--", "sh", "-c", f'(echo "$SHAKEDOWN_TITLE"; cat) > {tmp_path}/out'
    )
    assert done.returncode == 0, done.stderr
    title = "Shakedown: this site: this is a test"
    text = "this site: this is a test of its alerts: nothing happened"
    assert (tmp_path / "out").read_text().splitlines() == [title, title, text]
    done = people(site, "alert", "--test", "--json", "command", "false")
    assert done.returncode == 4 and json.loads(done.stdout) == {"taken": False, "why": "false: exit status 1"}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_title_of_a_test_says_that_it_is_one(shape: str) -> None:
    """In every chat, and as a subject of mail: nobody reads that something is over."""
    news = [News(TEST, "this site", 0.0, "this is a test of its alerts: nothing happened")]
    told = json.dumps(_shaped(shape, news))
    assert title_of(news) == "Shakedown: this site: this is a test"
    assert title_of(news) in told and "it is over" not in told and "outcome" not in told


def test_the_usual_kinds_are_kinds() -> None:
    assert set(USUAL) < set(KINDS)
