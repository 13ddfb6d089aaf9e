"""What people say of runs on a page that is served with --allow-rulings: it comes through the inbox, and from nowhere else."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.live.conftest import Answer, Browser

from shakedown.events.inbox import FileInbox
from shakedown.events.lease import Lease
from shakedown.live.sayings import LONGEST_FORM
from shakedown.metrics.rows.table import Record
from shakedown.model.layout import Layout
from shakedown.queries.status import look_at_runs

Browse = Callable[..., Browser]
TOKEN = "secret-word"
WHO = [("by", "Anna"), ("because", "the switch was off")]
SAY = "/campaign/p-1/say"


class Speaker:
    """Somebody who was let in, and fills in the form of a page."""

    def __init__(self, browser: Browser) -> None:
        self.browser, self.cookie = browser, f"shakedown_token_8130={TOKEN}"

    def open(self, address: str) -> str:
        answer = self.browser.get(address, cookie=self.cookie)
        assert answer.status == 200, answer.text
        return answer.text

    def word(self, address: str = "/campaign/p-1/runs/r000002") -> str:
        found = re.search(r'name="word" value="([0-9a-f]{64})"', self.open(address))
        assert found is not None
        return found[1]

    def say(self, *items: tuple[str, str], address: str = SAY, **headers: str) -> Answer:
        words = [("word", self.word()), *items, *WHO]
        return self.browser.post(address, words, **({"cookie": self.cookie} | headers))


@pytest.fixture
def speaker(site: Path, browse: Browse) -> Speaker:
    return Speaker(browse(site, token=TOKEN, rulings=True))


def record_of(site: Path) -> Record:
    return look_at_runs(Layout(site / "campaigns/p-1"))


def test_a_ruling_a_class_and_a_ticket_of_one_form_are_recorded_as_the_commands_record_them(
    site: Path, speaker: Speaker, people: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = speaker.say(("run", "r000002"), ("as", "site"), ("class", "out-of-memory"), ("ticket", "INC-17"))
    assert done.status == 303 and done.headers["location"].startswith("/campaign/p-1/runs/r000002?told=")
    text = speaker.open(done.headers["location"])
    assert re.search(r"r000002: ruled site, class out-of-memory, ticket INC-17; recorded in p-1: event \d+", text)
    assert 'role="status"' in text
    row = record_of(site).row_of("r000002")
    assert row is not None
    assert (row.ruling, row.cause, row.said_by, row.ticket) == ("site", "out-of-memory", "Anna", "INC-17")
    assert [one.party for one in record_of(site).rulings] == ["site"]
    log = people(site, "log", "--event", "ruled", "--event", "noted").stdout
    assert "r000002  site Anna: the switch was off" in log and "out-of-memory INC-17 Anna" in log
    assert people(site, "verify", "p-1").returncode == 0


def test_several_runs_are_chosen_in_the_table_and_are_one_act(site: Path, speaker: Speaker) -> None:
    text = speaker.open("/campaign/p-1/runs?bad=1")
    assert sorted(re.findall(r'name="run" value="(r\d+)" form="saying"', text)) == ["r000002", "r000004"]
    done = speaker.say(("run", "r000002"), ("run", "r000004"), ("run", "r000002"), ("as", "vendor"))
    assert done.headers["location"].startswith("/campaign/p-1/runs?bad=1&told=")
    assert "r000002, r000004: ruled vendor; recorded in p-1: event" in speaker.open(done.headers["location"])
    record = record_of(site)
    assert {row.run: row.ruling for row in record.current() if row.ruling} == {"r000002": "vendor", "r000004": "vendor"}
    assert len({act.together for act in record.acts if act.kind == "rule"}) == 1


def test_where_somebody_drives_it_waits_in_the_inbox_for_him(site: Path, speaker: Speaker) -> None:
    layout = Layout(site / "campaigns/p-1")
    before = record_of(site).seq
    with Lease.acquire(layout):
        done = speaker.say(("run", "r000002"), ("as", "site"))
        assert "left for the conductor of p-1" in speaker.open(done.headers["location"])
        (left,) = FileInbox(layout).poll()
        assert (left.what, left.value["run"], left.value["as"], left.reason) == ("rule", "r000002", "site", WHO[1][1])
    assert record_of(site).seq == before


def test_programs_say_it_with_the_token_and_get_data(site: Path, speaker: Speaker) -> None:
    words = [("run", "r000004"), ("ticket", "17"), *WHO]
    done = speaker.browser.post(f"{SAY}?as=json", words, authorization=f"Bearer {TOKEN}", origin="")
    assert (done.status, len(done.data["requests"]), len(done.data["recorded"])) == (200, 1, 1)
    assert record_of(site).row_of("r000004").ticket == "17"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("items", "status", "says"),
    [
        ([("as", "site")], 400, "no run is chosen"),
        ([("run", "r000002")], 400, "the form says nothing"),
        ([("run", "r000002"), ("as", "moon")], 400, "&#39;moon&#39; is no party"),
        ([("run", "r000099"), ("as", "site")], 400, "there is no run &#39;r000099&#39;"),
        ([("run", "r000002"), ("run", "../../x"), ("as", "site")], 400, "there is no run &#39;../../x&#39;"),
        ([("run", "r000002"), ("as", "none")], 400, "r000002 has no ruling that could be taken back"),
        ([("run", "r000002"), ("class", "out-of-memry")], 400, "did you mean &#39;out-of-memory&#39;"),
        ([("run", "r000002"), ("as", "site"), ("by", " ")], 400, "your name is missing"),
        ([("run", "r000002"), ("as", "site"), ("by", "An\u200bna")], 400, "invisible character"),
        ([("run", "r000002"), ("as", "site"), ("because", "")], 400, "the reason is missing"),
        ([("run", "r000002"), ("as", "site"), ("because", "x" * 2001)], 400, "2001 characters long; at most 2000"),
        ([("run", "r000002"), ("as", "site"), ("seq", "1")], 400, "there is no field &#39;seq&#39;"),
        ([("run", f"r{n:06d}") for n in range(1, 502)] + [("as", "site")], 400, "501 runs are chosen; at most 500"),
    ],
)
def test_a_form_that_is_wrong_is_refused_in_words_and_nothing_is_left(
    site: Path, speaker: Speaker, items: list[tuple[str, str]], status: int, says: str
) -> None:
    before = record_of(site).seq
    said = dict(WHO) | dict(items)
    rest = [(key, said[key]) for key in ("by", "because")]
    words = [("word", speaker.word()), *(one for one in items if one[0] not in said or one[0] not in dict(WHO)), *rest]
    answer = speaker.browser.post(SAY, words, cookie=speaker.cookie)
    assert answer.status == status and says in answer.text, answer.text
    assert record_of(site).seq == before and not FileInbox(Layout(site / "campaigns/p-1")).poll()


def test_a_form_of_another_page_is_refused(site: Path, speaker: Speaker) -> None:
    """A foreign page, also one at another port of this host, which browsers send the cookie with."""
    one = [("run", "r000002"), ("as", "site"), *WHO]
    mine = [("word", speaker.word()), *one]
    for words, headers, status in (
        (one, {}, 403),
        ([("word", "0" * 64), *one], {}, 403),
        (mine, {"origin": "http://evil.example"}, 403),
        (mine, {"origin": "http://127.0.0.1:9"}, 403),
        (mine, {"origin": "null"}, 403),
        (mine, {"sec_fetch_site": "same-site"}, 403),
        (mine, {"sec_fetch_site": "cross-site"}, 403),
        (mine, {"cookie": "shakedown_token_8130=wrong"}, 401),
        (mine, {"content_type": "text/plain"}, 400),
        (mine, {"content_type": "multipart/form-data; boundary=x"}, 400),
        (mine, {"host": "evil.example"}, 400),
    ):
        answer = speaker.browser.post(SAY, words, **({"cookie": speaker.cookie} | headers))
        assert answer.status == status, (headers, answer.text)
    assert not record_of(site).rulings and not FileInbox(Layout(site / "campaigns/p-1")).poll()
    assert speaker.say(("run", "r000002"), ("as", "site")).status == 303  # and its own is not


def test_a_form_without_end_is_not_read(speaker: Speaker) -> None:
    words = [("word", speaker.word()), ("run", "r000002"), ("because", "x" * LONGEST_FORM)]
    assert speaker.browser.post(SAY, words, cookie=speaker.cookie).status == 413


def test_without_the_flag_or_a_token_there_is_neither_a_form_nor_a_way_in(site: Path, browse: Browse) -> None:
    for browser in (browse(site, token=TOKEN), browse(site, rulings=True)):
        for address in ("/campaign/p-1/runs/r000002", "/campaign/p-1/runs?bad=1"):
            answer = browser.get(address, authorization=f"Bearer {TOKEN}")
            assert answer.status == 200 and "saying" not in answer.text and "read only" in answer.text
        done = browser.post(SAY, [("run", "r000002"), ("as", "site"), *WHO], authorization=f"Bearer {TOKEN}")
        assert (done.status, done.headers["allow"]) == (405, "GET, HEAD")
    assert not record_of(site).rulings


@pytest.mark.parametrize(
    "address", ["/", "/campaign/p-1", "/campaign/p-1/runs/r000002", "/metrics", "/static/live.css"]
)
def test_other_addresses_take_no_form(speaker: Speaker, address: str) -> None:
    assert speaker.say(("run", "r000002"), ("as", "site"), address=address).status == 405


def test_another_campaign_is_not_there(site: Path, speaker: Speaker) -> None:
    for name in ("p-2", "..", "%2e%2e", "..%2fcampaigns%2fp-1", "p-1%00"):
        answer = speaker.say(("run", "r000002"), ("as", "site"), address=f"/campaign/{name}/say")
        assert answer.status in (404, 405), name
    assert not record_of(site).rulings


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(body=st.one_of(st.binary(max_size=200), st.text(max_size=100).map(lambda text: text.encode(errors="replace"))))
def test_no_form_is_a_fault(speaker: Speaker, body: bytes) -> None:
    said: dict[str, Any] = {"cookie": speaker.cookie, "content_type": "application/x-www-form-urlencoded"}
    assert speaker.browser.get(SAY, "POST", body, **said).status in (400, 403)
    bearer = {"authorization": f"Bearer {TOKEN}", "content_type": said["content_type"]}
    assert speaker.browser.get(SAY, "POST", b"run=r000002&as=site&by=A&because=" + body, **bearer).status in (303, 400)
