"""The pages: what they show, who may look, and that nothing of a test's output is ever more than text."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.live.conftest import Browser

from shakedown.live import pages
from shakedown.live.charts import counts_over_time
from shakedown.live.judged import Judged, Worked
from shakedown.live.views import grouped
from shakedown.metrics.failures import failure_of
from shakedown.model.events import VERDICTS, Event
from shakedown.store.reading import SHOWN

Browse = Callable[..., Browser]
PAGES = (
    "/",
    "/runs",
    "/campaign/p-1",
    "/campaign/p-1/runs",
    "/campaign/p-1/runs/r000001",
    "/campaign/p-1/runs/r000002",
    "/campaign/p-1/runs?draw=1&node=n1",
    "/campaign/p-1/why?of=r000002",
    "/campaign/p-1/why?of=functionality",
    "/campaign/p-1/scorecard",
    "/campaign/p-1/nodes",
    "/campaign/p-1/nodes?colour=failures",
    "/campaign/p-1/nodes?colour=speed",
    "/campaign/p-1/figures",
    "/campaign/p-1/notes",
    "/campaign/p-1/notes?kind=%5Edriver",
)


class Tags(HTMLParser):
    """The tags of a page, and whether each is closed."""

    VOID = frozenset({"meta", "link", "input", "br", "img"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()


@pytest.mark.parametrize("address", PAGES)
def test_every_page_is_whole_and_loads_nothing_from_elsewhere(site: Path, browse: Browse, address: str) -> None:
    answer = browse(site).get(address)
    assert answer.status == 200
    tags = Tags(answer.text)
    assert tags.open == []
    assert [one["src"] for tag, one in tags.seen if tag == "script"] == ["/static/live.js"]
    assert not any(name.startswith("on") or name == "style" for _, one in tags.seen for name in one)
    for _, one in tags.seen:
        for name in ("src", "href", "action"):
            value = one.get(name) or ""
            assert not re.match(r"(?i)\s*([a-z]+:|//)", value), value


def test_what_is_linked_is_there(site: Path, browse: Browse) -> None:
    browser, seen, todo = browse(site), set(), ["/"]
    while todo:
        address = todo.pop()
        seen.add(address)
        answer = browser.get(address)
        assert answer.status == 200, address
        links = (
            [one.get("href") or "" for tag, one in Tags(answer.text).seen if tag in ("a", "link")]
            if address.startswith(("/c", "/r", "/h")) or address == "/"
            else []
        )
        base = address.partition("?")[0]
        for link in links:
            whole = base + link if link.startswith("?") else link
            few = "&" not in whole  # a stream leads to itself with every other filter and order
            if few and whole not in seen and not whole.startswith("#") and whole not in todo:
                todo.append(whole)
    assert "/campaign/p-1/scorecard" in seen and "/campaign/p-1/runs/r000004" in seen and "/static/live.css" in seen
    assert "/history?figure=elapsed" in seen and "/campaign/p-1/why?of=functionality" in seen
    assert any(address.startswith("/campaign/p-1/figures/") and ".svg?event=" in address for address in seen)


def test_the_first_page_and_that_of_a_campaign_count_its_runs(site: Path, browse: Browse) -> None:
    browser = browse(site)
    assert browser.get("/?as=json").data["campaigns"][0]["groups"] == {
        "passed": 2, "failed": 2, "other": 0, "running": 0, "queued": 0,
    }  # fmt: skip
    text = browser.get("/campaign/p-1").text
    assert "over; as of event" in text and "Last failures" in text and "exit status 3" in text
    assert '<svg role="img" aria-label="Runs judged in each 1 min"' in text


def test_what_is_not_passed_is_what_failures_counts() -> None:
    """Each verdict is passed, a failure, or neither: the counts, the chart and ``failures`` say the same of it."""
    for verdict in VERDICTS:
        counts = grouped({verdict: 3})
        (group,) = [name for name, count in counts.items() if count == 3]
        fails = failure_of(Event("verdict", 1, 1.0, run="r1", value={"verdict": verdict})) is not None
        assert group == ("passed" if verdict == "passed" else "failed" if fails else "other"), verdict
        shown = str(counts_over_time([(0, verdict, 3)], ()))
        assert f"3 {'passed' if group == 'passed' else 'not passed' if fails else 'with another verdict'}" in shown, (
            verdict
        )


def test_filters_are_in_the_address(site: Path, browse: Browse) -> None:
    browser = browse(site)

    def runs(words: str) -> list[str]:
        return [row["run"] for row in browser.get(f"/campaign/p-1/runs?as=json&{words}").data["rows"]]

    assert runs("sort=run&rising=1") == ["r000001", "r000002", "r000003", "r000004"]
    assert runs("case=%5Eok&sort=run") == ["r000003", "r000001"]
    assert runs("state=fail&sort=run&rising=1") == runs("bad=1&sort=run&rising=1") == ["r000002", "r000004"]
    assert runs("live=1") == []
    assert runs("reason=status%203&case=ok") == []
    assert runs("since=2001-01-01T00:00&until=2002-01-01T00:00") == []
    places = [quote(f'["r{number:06d}","p-1","r{number:06d}"]') for number in range(4)]
    assert runs(f"rows=1&sort=run&rising=1&after={places[1]}") == ["r000002"]
    assert runs(f"rows=1&sort=run&rising=1&before={places[3]}") == ["r000002"]
    assert runs("run=2$") == ["r000002"] and runs("run=9$") == []
    assert runs("exit=%5E3$&sort=run") == runs("state=fail&exit=3&sort=run") == ["r000004", "r000002"]
    assert runs("started=%5E20&elapsed=%5E%5Cd%2B%5C.%5Cd%7B3%7D$&sort=run") == runs("campaign=%5Ep-&sort=run")
    assert runs(f"exit=3&sort=run&rising=1&rows=1&after={places[2]}") == ["r000004"]
    assert runs("sort=case&rising=1")[:2] == ["r000002", "r000004"] and runs("sort=case")[:2] == ["r000001", "r000003"]
    page = browser.get("/campaign/p-1/runs?column=run&column=exit&bad=1&rows=1").text
    assert re.findall(r'scope="col"[^>]*><a [^>]*>([^<]+)<', page) == ["run", "exit"]
    assert 'rel="prev"' not in page
    later = unescape(re.findall(r'rel="next" href="([^"]*)"', page)[0])
    assert later.startswith("?column=run&column=exit&bad=1&rows=1&after=")
    second = browser.get("/campaign/p-1/runs" + later).text
    assert 'rel="prev" href="?column=run&amp;column=exit&amp;bad=1&amp;rows=1&amp;before=' in second
    assert 'rel="next"' not in second and 'href="?column=run&amp;column=exit&amp;bad=1&amp;rows=1">first' in second


@pytest.mark.parametrize(
    ("address", "status", "says"),
    [
        ("/campaign/p-2", 404, "there is no campaign &#39;p-2&#39;"),
        ("/campaign/p-1/runs/r9", 404, "p-1 has no run &#39;r9&#39;"),
        ("/campaign/..%2F..%2Fetc", 404, "There is no such page"),
        ("/campaign/%2e%2e/runs", 404, "there is no campaign &#39;..&#39;"),
        ("/static/..%2Fserver.py", 404, "There is no such page"),
        ("/static/server.py", 404, "There is no such page"),
        ("/campaign/p-1/runs?case=(", 400, "&#39;(&#39; is not a regular expression: missing )"),
        ("/campaign/p-1/runs?rows=0", 400, "rows=0: it is a whole number from 1 to 1000"),
        ("/campaign/p-1/runs?after=r1", 400, "after=r1: it is no place in a stream of runs"),
        ("/campaign/p-1/runs?after=[1,%22p-9%22,%22r1%22]", 400, "there is no campaign &#39;p-9&#39; to go on behind"),
        ("/campaign/p-1/runs?sort=run&before=[1,%22p-1%22,%22r1%22]", 400, "no run of this stream has such a place"),
        (
            "/campaign/p-1/runs?sort=exit&after=[3000000000,%22p-1%22,%22r1%22]",
            400,
            "no run of this stream has such a place",
        ),
        ("/campaign/p-1/runs?after=[1,%22p-1%22,%22r%22]&before=[1,%22p-1%22,%22r%22]", 400, "and not both"),
        ("/campaign/p-1/runs?sort=color", 400, "sort=color: runs are sorted by one of campaign, run"),
        ("/campaign/p-1/runs?exit=(", 400, "&#39;(&#39; is not a regular expression: missing )"),
        ("/campaign/p-1/why?of=r9", 404, "p-1 has no run and no case &#39;r9&#39;"),
        ("/campaign/p-1/nodes?colour=red", 400, "colour=red: the map is coloured by one of state, failures"),
        ("/campaign/p-1/figures/..%2Fx.svg", 404, "There is no such page"),
        ("/campaign/p-1/figures/x.svg", 404, "there is no figure &#39;x&#39;"),
        ("/campaign/p-1/figures?only=(", 400, "&#39;(&#39; is not a regular expression: missing )"),
        ("/compare?before=p-9", 400, "there is no campaign &#39;p-9&#39;"),
        ("/compare?before=p-1", 400, "there is nothing to compare by campaign: only p-1"),
        ("/compare?before=p-1&by=colour", 400, "--by &#39;colour&#39; is not a way to compare runs"),
        ("/compare?least=x", 400, "least=x: it is a share of change such as 2%"),
        ("/history?figure=nothing", 400, "no campaign here measured &#39;nothing&#39;"),
        ("/history?figur=elapsed", 400, "there is no word &#39;figur&#39;"),
        ("/compare.svg", 400, "nothing was asked for that could be drawn"),
        ("/campaign/p-1/runs?cse=%5Ex", 400, "there is no word &#39;cse&#39;"),
        ("/campaign/p-1/runs?column=colour", 400, "there is no column &#39;colour&#39;"),
        ("/campaign/p-1/runs?since=yesterday", 400, "since=yesterday: it is a moment such as"),
    ],
)
def test_what_cannot_be_is_a_sentence(site: Path, browse: Browse, address: str, status: int, says: str) -> None:
    answer = browse(site).get(address)
    assert (answer.status, says in answer.text) == (status, True), answer.text
    assert "content-security-policy" in answer.headers


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "case",
                "state",
                "nodes",
                "since",
                "until",
                "rows",
                "after",
                "sort",
                "live",
                "bad",
                "column",
                "as",
                "token",
            ]
        ),
        st.text(max_size=20),
    )
)
def test_no_address_is_a_fault(shown: Browser, words: dict[str, str]) -> None:
    from urllib.parse import urlencode

    assert shown.get(f"/runs?{urlencode(words, errors='replace')}").status in (
        (303,) if "" in words.values() else (200, 400)
    )


@pytest.fixture
def shown(site: Path, browse: Browse) -> Browser:
    return browse(site)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_it_only_shows(site: Path, browse: Browse, method: str) -> None:
    answer = browse(site).get("/campaign/p-1", method)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_a_page_of_another_name_is_refused(site: Path, browse: Browse) -> None:
    """A foreign page whose name was pointed at this machine reads nothing."""
    assert browse(site, host="evil.example").get("/").status == 400
    assert browse(site, host="localhost:9").get("/").status == 200


def test_without_the_token_nothing_is_shown(site: Path, browse: Browse) -> None:
    browser = browse(site, token="secret-word")
    for address in (*PAGES, "/metrics", "/changes", "/static/live.css", "/nothing"):
        assert browser.get(address).status == 401, address
    assert browser.get("/?token=wrong").status == 401
    assert browser.get("/metrics", authorization="Bearer secret-word").status == 200
    answer = browser.get("//evil.example/runs?bad=1&token=secret-word")
    assert (answer.status, answer.headers["location"]) == (303, "/evil.example/runs?bad=1")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert browser.get("/", cookie=cookie.partition(";")[0]).status == 200


def test_two_servers_of_one_host_do_not_log_out_each_others_readers(site: Path, browse: Browse) -> None:
    """A browser keeps one jar of cookies for all ports of a host."""
    jar: dict[str, str] = {}
    for port, token in (("8132", "first"), ("8133", "second")):
        browser = browse(site, token=token)
        browser.host = f"127.0.0.1:{port}"
        name, _, value = browser.get(f"/?token={token}").headers["set-cookie"].partition(";")[0].partition("=")
        jar[name] = value
        said = "; ".join(f"{name}={value}" for name, value in jar.items())
        assert browser.get("/", cookie=said).status == 200
    first = browse(site, token="first")
    first.host = "127.0.0.1:8132"
    assert first.get("/", cookie=said).status == 200 and len(jar) == 2


def test_a_figure_that_is_opened_by_its_own_address_has_its_colours_and_runs_nothing(
    site: Path, browse: Browse
) -> None:
    browser = browse(site)
    page = browser.get("/campaign/p-1/figures").text
    address = re.search(r"/campaign/p-1/figures/[^\"?]+\.svg", page)
    assert address is not None
    policy = browser.get(address[0]).headers["content-security-policy"].split("; ")
    assert "style-src 'unsafe-inline'" in policy and "default-src 'none'" in policy and "sandbox" in policy
    assert not any(word.startswith("script-src") for word in policy)
    assert "'unsafe-inline'" not in browser.get("/campaign/p-1/figures").headers["content-security-policy"]


def test_what_is_older_than_the_counts_above_it_says_so(
    site: Path, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = browse(site)
    whole = browser.get("/campaign/p-1").text
    assert "what runs are as of event" in whole and "older than the counts" not in whole
    of = Judged.of

    def older(self: Judged, what: str, *more: Any, **words: Any) -> Worked:
        worked = of(self, what, *more, **words)
        return replace(worked, value=worked.value | {"events": 3}) if what == "status" else worked

    monkeypatch.setattr(Judged, "of", older)
    text = browser.get("/campaign/p-1").text
    assert re.search(r"are older than the counts above: they are as of event 3, worked out at 20\d\d-", text)


def test_what_tests_print_is_only_text(
    finished: Path, tmp_path: Path, people: Callable[..., object], browse: Browse
) -> None:
    site = tmp_path / "hostile"
    for folder in ("tests", "plans", "systems"):
        (site / folder).mkdir(parents=True)
    (site / "site.yaml").write_text("site: hostile\n")
    (site / "tests/h.yaml").write_text(
        "test: h\nrun:\n  command: |\n"
        "    printf '<script>alert(1)</script> \\033[31mred\\033[0m \\007 \\000 </pre><img src=x onerror=alert(2)>\\n'\n"
        "    echo 'Error: <b onclick=alert(3)>bold</b> \"quoted\"' >&2\n    exit 7\n"
    )
    (site / "plans/p.yaml").write_text("plan: p\nsystem: here\ncomponents:\n  - functionality: {tests: [h]}\n")
    people(site, "run", "p", "-q")
    browser = browse(site)
    for address in PAGES:
        answer = browser.get(address.replace("r000002", "r000001"))
        assert answer.status == 200, answer.text
        tags = Tags(answer.text)
        assert tags.open == [] and "b" not in {tag for tag, _ in tags.seen}
        assert all(
            one["src"] and one["src"].startswith("/campaign/p-1/figures/") for tag, one in tags.seen if tag == "img"
        )
        assert [tag for tag, _ in tags.seen].count("script") == 1
        assert not set("\x07\x00\x1b") & set(answer.text)


@pytest.mark.parametrize("address", ["/", "/runs", "/runs?bad=1", *PAGES[2:]])
def test_a_damaged_record_has_the_word_on_each_page(site: Path, browse: Browse, address: str) -> None:
    log = site / "campaigns/p-1/log/000001.jsonl"
    text = log.read_bytes()
    log.write_bytes(text.replace(b'"verdict":"failed"', b'"verdict":"passed"', 1))
    browser = browse(site)
    assert "DAMAGED" in browser.get(address).text
    joined = "&" if "?" in address else "?"
    assert "000001.jsonl" in browser.get(f"{address}{joined}as=json").data["damaged"]["p-1"]
    assert 'shakedown_damaged{campaign="p-1"} 1' in browser.get("/metrics").text


def test_metrics_are_what_prometheus_reads(site: Path, browse: Browse) -> None:
    answer = browse(site).get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.text.splitlines()
    assert 'shakedown_runs{campaign="p-1",state="failed"} 2' in lines
    assert 'shakedown_runs{campaign="p-1",state="passed"} 2' in lines
    assert 'shakedown_over{campaign="p-1"} 1' in lines
    told = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(told) == len(set(told)) == 7


def test_every_column_and_every_state_can_be_chosen() -> None:
    assert set(pages.USUAL) | set(pages.FIRST) <= set(pages.COLUMNS) and set(SHOWN) == set(pages.COLUMNS)


def test_a_form_leaves_no_empty_words_in_the_address(site: Path, browse: Browse) -> None:
    answer = browse(site).get("/campaign/p-1/runs?case=%5Ebad&state=&since=&sort=run&as=json")
    assert (answer.status, answer.headers["location"]) == (303, "?case=%5Ebad&sort=run&as=json")


def test_the_page_of_a_campaign_says_what_status_says(site: Path, browse: Browse) -> None:
    page = browse(site).get("/campaign/p-1?as=json").data
    (component,) = page["status"]["components"]
    assert (component["name"], component["wanted"], component["closed"]) == ("functionality", 4, 4)
    assert page["status"]["phase"] == "ended" and page["status"]["events"] == page["seq"]


def test_what_is_told_often_hides_nothing_else(site: Path, browse: Browse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind of events that say why something waits is left out until it is asked for; here a kind that this campaign has."""
    browser = browse(site)
    told = re.compile(r"<tr><td[^>]*>[^<]*</td><td>([^<]*)</td>")

    def kinds(asked: str) -> set[str]:
        return set(told.findall(browser.get(f"/campaign/p-1/notes?kind={asked}").text))

    often, *others = sorted(kinds("."))
    monkeypatch.setattr("shakedown.live.views.WAITING", often)
    assert others and kinds("") == set(others)
    assert kinds(".") == {often, *others}


def test_why_and_the_runs_of_a_node(site: Path, browse: Browse) -> None:
    browser = browse(site)
    assert "exit status 3" in browser.get("/campaign/p-1/why?of=r000002").text
    nodes = browser.get("/campaign/p-1/runs?as=json").data["rows"][0]["nodes"]
    assert len(browser.get(f"/campaign/p-1/runs?as=json&node={nodes}").data["rows"]) == 4
    assert browser.get(f"/campaign/p-1/runs?as=json&node={nodes}x").data["rows"] == []


def test_two_campaigns_beside_each_other_and_a_figure_over_all(site: Path, browse: Browse) -> None:
    shutil.copytree(site / "campaigns/p-1", site / "campaigns/p-2")
    browser = browse(site)
    found = browser.get("/compare?before=p-1&after=p-2&least=5%25&as=json").data["compared"]["comparison"]
    assert found["groups"] == ["p-2"] and found["least"] == 0.05
    assert {share["verdict"] for share in found["shares"]} == {"no change seen"}
    page = re.sub(r"\s+", " ", browser.get("/compare?before=p-1&after=p-2&least=5%25").text)
    assert re.search(
        r"p-2 against p-1: .*\d+ without a change that can be seen; of \d+ figures and \d+ shares of passed runs\.",
        page,
    )
    picture = browser.get("/compare.svg?before=p-1&after=p-2")
    assert picture.headers["content-type"] == "image/svg+xml" and picture.text.lstrip().startswith("<?xml")
    lines = browser.get("/history?figure=elapsed&test=ok&as=json").data["looked"]["lines"]
    assert [(line["campaign"], line["count"]) for line in lines] == [("p-1", 2), ("p-2", 2)]


def test_a_figure_is_kept_by_browsers_only_under_its_event(site: Path, browse: Browse) -> None:
    browser = browse(site)
    page = browser.get("/campaign/p-1/figures?as=json").data
    at = f"/campaign/p-1/figures/{page['figures'][0]['name']}.svg"
    assert browser.get(f"{at}?event={page['seq']}").headers["cache-control"] == "private, max-age=3600"
    assert (
        browser.get(at).headers["cache-control"] == browser.get(f"{at}?event=1").headers["cache-control"] == "no-store"
    )
    only = browser.get("/campaign/p-1/figures?as=json&only=run-time").data["figures"]
    assert only and all(one["name"].startswith("run-time") for one in only)


def test_nodes_that_stand_out_are_told_with_what_to_do(
    site: Path, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nodes_as_rows import Load, Machine, campaign, name_of

    from shakedown.diagnosis.node_report import examine_rows
    from shakedown.diagnosis.trials import Setting
    from shakedown.events.campaigns import read_document
    from shakedown.live import views
    from shakedown.model.frozen import thaw
    from shakedown.model.layout import Layout

    examined = examine_rows(campaign(Machine(40, bad={7: 0.9}), [Load("a/x")], 800, 1), Setting({}, {}))
    layout = Layout(site / "campaigns/p-1")
    document = thaw(read_document(layout, min(layout.documents.glob("*.json")).stem))
    monkeypatch.setattr(views, "_examined", lambda folds: (examined, document))
    for colour in ("state", "failures", "speed"):
        page = browse(site).get(f"/campaign/p-1/nodes?colour={colour}").text
        assert f"{name_of(7)}: " in page and "of its" in page and "What to do: read the evidence" in page
        squares = re.findall(r'<a href="[^"]*node=([^"]+)" tabindex="-1"><title>[^<]*</title><rect class="(\w+)"', page)
        assert len(squares) == 40
        wanted = {"state": "bad", "failures": "level3", "speed": "level0"}[colour]
        assert dict(squares)[name_of(7)] == wanted
