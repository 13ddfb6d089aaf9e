"""The pages: what they show, who may look, and that nothing of a test's output is ever more than text."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.live.conftest import Browser

from shakedown.live import pages
from shakedown.live.charts import counts_over_time
from shakedown.live.views import grouped
from shakedown.metrics.failures import failure_of
from shakedown.model.events import VERDICTS, Event
from shakedown.store.tables import NAMED

Browse = Callable[..., Browser]
PAGES = (
    "/",
    "/runs",
    "/campaign/p-1",
    "/campaign/p-1/runs",
    "/campaign/p-1/runs/r000001",
    "/campaign/p-1/runs/r000002",
    "/campaign/p-1/scorecard",
    "/campaign/p-1/nodes",
    "/campaign/p-1/notes",
)


class Tags(HTMLParser):
    """The tags of a page, and whether each is closed."""

    VOID = frozenset({"meta", "link", "input", "br"})

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
            if address.startswith(("/c", "/r")) or address == "/"
            else []
        )
        base = address.partition("?")[0]
        for link in links:
            whole = base + link if link.startswith("?") else link
            if whole not in seen and not whole.startswith("#") and whole not in todo:
                todo.append(whole)
    assert "/campaign/p-1/scorecard" in seen and "/campaign/p-1/runs/r000004" in seen and "/static/live.css" in seen


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
    assert runs("rows=1&page=1&sort=run&rising=1") == ["r000002"]
    page = browser.get("/campaign/p-1/runs?column=run&column=exit&bad=1&rows=1").text
    assert re.findall(r'scope="col">([^<]+)<', page) == ["run", "exit"]
    assert 'href="?column=run&amp;column=exit&amp;bad=1&amp;rows=1&amp;page=1"' in page


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
        ("/campaign/p-1/runs?page=-1", 400, "page=-1: it is a whole number from 0"),
        ("/campaign/p-1/runs?sort=color", 400, "sort=color: runs are sorted by one of at, started"),
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
            ["case", "state", "nodes", "since", "until", "rows", "page", "sort", "live", "bad", "column", "as", "token"]
        ),
        st.text(max_size=20),
    )
)
def test_no_address_is_a_fault(shown: Browser, words: dict[str, str]) -> None:
    from urllib.parse import urlencode

    assert shown.get(f"/runs?{urlencode(words, errors='replace')}").status in (200, 400)


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
        assert tags.open == [] and not {"img", "b"} & {tag for tag, _ in tags.seen}
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
    assert set(pages.USUAL) <= set(pages.COLUMNS) and set(NAMED) <= set(pages.COLUMNS)
