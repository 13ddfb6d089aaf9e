"""Every address of the page, asked for anything: no answer is a fault, whatever stands in the path, in the words or in the headers.

The addresses are those that the application has: a new one is tried here without anybody naming it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.live.conftest import Browser

from shakedown.live.indexing import Indexer
from shakedown.live.pages import COLUMNS
from shakedown.live.server import application
from shakedown.store.index import Index

TOKEN = "secret-word"
FINE = {200, 202, 303, 307, 400, 403, 404, 405, 409, 413}
NAMES = (
    "p-1", "r000002", "r000099", "live.css", "nodes-in-use.svg", "run-time", "..", ".", "campaigns", "p-1/../p-1", "p-1\0", "log",
)  # fmt: skip
HOSTILE = (
    "", "0", "-1", "1e999", "nan", "99999999999999999999", "1", "^(a+)+$", "(", "[", "\\", "(?<=x)", "\\C", "%", "%s", "{{7*7}}",
    "' OR 1=1 --", "\0", "\n", "\r\nx: y", "\x1b[31m", "\u202e", "\ud800", "\U0001f600", "<script>", "../../etc/passwd",
    "/etc/passwd", "//evil.example", "2026-11-22T06:00", "0001-01-01T00:00+14:00", "9999-12-31T23:59-14:00", "infinity%", "0%",
    "100%", "1" * 400, "functionality", "r000002", "elapsed", "p-1", "state", "json",
    '[1,"p-1","r000002"]', '[null,"p-1",""]', '["\\ud800","p-1","x"]', '[1e300,"p-1","r"]', '["\\u0000","p-1","x"]',
)  # fmt: skip
WORDS = (
    *COLUMNS, "node", "since", "until", "bad", "live", "sort", "rising", "rows", "column", "draw", "as", "of", "kind",
    "colour", "only", "event", "before", "after", "by", "least", "figure", "test", "campaign", "told", "token", "",
)  # fmt: skip
KNOWN = {  # address -> words that it knows, of each kind of them one
    "/campaign/{name}/runs": (
        "case", "exit", "started", "nodes", "node", "since", "sort", "rows", "after", "before", "column", "draw", "live",
    ),
    "/campaign/{name}/why": ("of",), "/campaign/{name}/notes": ("kind",), "/campaign/{name}/nodes": ("colour",),
    "/campaign/{name}/figures": ("only",), "/campaign/{name}/runs/r000002": ("told",), "/compare": ("before", "by", "least"),
    "/history": ("figure", "test", "least"), "/": ("as", "token"),
}  # fmt: skip
anything = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=20))
some_name = st.one_of(st.sampled_from(NAMES), anything)


@pytest.fixture(scope="module")
def opened(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """The finished site, which nobody changes here: a form without the word of the page is refused."""
    from shakedown.store.index import sqlite_url

    index = Index(sqlite_url(tmp_path_factory.mktemp("fuzz") / "index.sqlite"))
    indexer = Indexer(finished, index)
    indexer.refresh()
    return Browser(application(indexer, ["127.0.0.1"], TOKEN, wait_s=None, rulings=True))


def paths(browser: Browser) -> list[str]:
    return [route.path for route in browser.app.app.routes if route.path != "/changes"]  # that one has no end


def quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def asked(browser: Browser, path: str, names: list[str], words: list[tuple[str, str]], method: str = "GET") -> int:
    places = iter(names)
    address = re.sub(r"\{\w+\}", lambda _: quoted(next(places)), path)
    query = urlencode(
        [(key.encode("utf-8", "surrogatepass"), value.encode("utf-8", "surrogatepass")) for key, value in words]
    )
    return browser.get(f"{address}?{query}", method, authorization=f"Bearer {TOKEN}").status


def test_all_addresses_are_tried(opened: Browser) -> None:
    assert len(paths(opened)) == 18 and "/campaign/{name}/say" in paths(opened)


@settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_no_address_is_a_fault(opened: Browser, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(paths(opened)))
    names = data.draw(st.lists(some_name, min_size=2, max_size=2))
    words = data.draw(st.lists(st.tuples(st.sampled_from(WORDS), anything), max_size=4))
    method = data.draw(st.sampled_from(["GET", "GET", "GET", "HEAD", "POST", "PUT", "TRACE"]))
    assert asked(opened, path, names, words, method) in FINE


@pytest.mark.parametrize("value", HOSTILE)
def test_no_word_of_any_address_is_a_fault(opened: Browser, value: str) -> None:
    """Each word alone, at the addresses that know it, of a campaign that is there; and each as a part of the path."""
    for path, word in ((path, word) for path, words in KNOWN.items() for word in words):
        assert asked(opened, path, ["p-1"], [(word, value)]) in FINE, (path, word)
    for path in paths(opened):
        assert asked(opened, path, [value, "r000002"], []) in FINE, path
        assert asked(opened, path, ["p-1", value], []) in FINE, path


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py", "/static/..%2fserver.py", "/static/%2e%2e/server.py", "/static//etc/passwd",
        "/static/..\\server.py", "/campaign/../campaigns", "/campaign/..%2f..%2fetc", "/campaign/p-1/../../site.yaml", "/%00",
        "/campaign/%ff%fe", "/campaign/p-1/figures/..%2f..%2flog.svg", "/campaign/p-1/runs/..%2fr000001", "//etc/passwd",
        "//evil.example/",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_what_is_shown(opened: Browser, path: str) -> None:
    answer = opened.get(path, authorization=f"Bearer {TOKEN}")
    assert answer.status == 404, answer.text[:300]
    assert "site: story" not in answer.text and "root:" not in answer.text


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "evil.example:8130", "127.0.0.1@evil.example", "localhost", "[::1]", "0x7f000001",
     "127.1", "127.0.0.2", "", " ", "127.0.0.1,evil.example", "\u0661\u0662\u0667.0.0.1".encode().decode("latin-1")],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/metrics", "/changes", "/static/live.css", "/campaign/p-1?as=json"])
def test_only_the_names_that_were_given_are_answered_to(opened: Browser, host: str, path: str) -> None:
    """A foreign page whose name was pointed here (DNS rebinding) gets nothing, with the token even."""
    answer = Browser(opened.app, host).get(path, authorization=f"Bearer {TOKEN}")
    assert (answer.status, answer.headers.get("content-security-policy") is not None) == (400, True)


@pytest.mark.parametrize(
    "header", ["cookie", "authorization", "origin", "content-type", "if-none-match", "range", "accept"]
)
@pytest.mark.parametrize(
    "value", ["", "\0", "\xff", "a" * 5000, "Bearer", "Bearer a b", 'x=;=;"', "text/html; q=", "bytes=0-", "null"]
)
def test_no_header_is_a_fault(opened: Browser, header: str, value: str) -> None:
    said: dict[str, Any] = {"authorization": f"Bearer {TOKEN}"} | {header.replace("-", "_"): value}
    assert opened.get("/campaign/p-1/notes", **said).status in FINE | {401}
    assert opened.get("/campaign/p-1/say", "POST", b"run=r000002", **said).status in FINE | {401}


@pytest.mark.parametrize(
    "name",
    [
        "a b",
        "<b>x",
        "x\"y'z",
        "x\\y",
        "x\ny",
        "x\x1b[31my",
        "\u202ex",
        "%2e%2e",
        "x%2fy",
        "x?y#z&=",
        "{{7*7}}",
        "x\udcff",
    ],
)
def test_a_campaign_of_any_name_is_shown_or_left_out(site: Path, index: Index, name: str) -> None:
    """A directory can be called anything but a slash; also what is no UTF-8."""
    (site / "campaigns/p-1").rename(site / "campaigns" / name)
    indexer = Indexer(site, index)
    indexer.refresh()
    browser = Browser(application(indexer, ["127.0.0.1"], wait_s=None))
    for path in paths(browser):
        names = [name, "r000002"] if "{run}" in path else [name, "x.svg"]
        assert asked(browser, path, names, []) in FINE, path
    metrics = browser.get("/metrics").text
    assert all(
        re.fullmatch(r'#.*|[a-z_]+\{campaign="[^\n]*"(,state="\w+")?\} \S+', line) for line in metrics.splitlines()
    )
    assert "<b>x" not in browser.get("/").text and "49" not in re.findall(r'class="in">([^<]*)', browser.get("/").text)
