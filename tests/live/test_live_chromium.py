"""The live page in Debian's Chromium while a campaign runs: every view, wide and narrow, dark and light, by keyboard, by address.

One server and one browser for all of it. ``slow`` of the campaign ``go-1`` waits for a file, so that it runs for as long as the
tests want; ``steady-1`` is a rehearsal of half a day on sixteen nodes, of which some fail.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import rehearsal_site
import warm_commands
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright
from served_page import served
from stories import SHAKEDOWN

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="scripts/slurm-packages installs chromium")

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
PATIENCE_MS = 120_000
VIEWS = {
    "campaigns": "/",
    "failures-of-all": "/runs?bad=1",
    "now": "/campaign/go-1",
    "now-rehearsed": "/campaign/steady-1",
    "failures": "/campaign/go-1/runs?bad=1",
    "runs": "/campaign/steady-1/runs?draw=1&rows=20",
    "run": "/campaign/go-1/runs/r000002",
    "why-run": "/campaign/go-1/why?of=r000002",
    "why-case": "/campaign/go-1/why?of=slow",
    "scorecard": "/campaign/steady-1/scorecard",
    "nodes": "/campaign/steady-1/nodes",
    "nodes-failures": "/campaign/steady-1/nodes?colour=failures",
    "nodes-speed": "/campaign/steady-1/nodes?colour=speed",
    "figures": "/campaign/steady-1/figures",
    "notes": "/campaign/go-1/notes",
    "findings": "/campaign/steady-1/notes?kind=%5Efinding",
    "compare": "/compare?before=p-1&after=steady-1",
    "history": "/history?figure=elapsed",
    "not-there": "/campaign/nothing",
}
# Words of at most so many letters that stand on two lines, with what comes before them: narrow tables scroll, they break no word.
BROKEN_WORDS = """() => {
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode;
    const box = text.parentElement.getBoundingClientRect();
    if (!box.width || text.parentElement.closest("svg, script, pre, option, datalist")) continue;
    for (const word of text.data.matchAll(/[\\p{L}\\p{N}_]{2,20}/gu)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].filter((one) => one.width > 0).map((one) => Math.round(one.top)));
      if (lines.size > 1) found.push(word[0]);
    }
  }
  return found;
}"""
# What sticks out of the page to the right, or is cut by what it stands in although that cannot be scrolled.
CLIPPED = """() => {
  const found = [];
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
  for (const one of document.querySelectorAll("body *")) {
    const style = getComputedStyle(one);
    const box = one.getBoundingClientRect();
    if (!box.width || one.closest("svg, .skip, option, datalist")) continue;
    const inside = one.parentElement.closest(".wide, pre, figure");
    if (box.right > wide + 1 && !inside) found.push(`${one.tagName} ${one.textContent.slice(0, 40)} ends at ${box.right}`);
    const cuts = style.overflowX === "hidden" || style.overflowX === "clip";
    if (cuts && one.scrollWidth > one.clientWidth + 1) found.push(`${one.tagName} ${one.textContent.slice(0, 40)} is cut`);
  }
  return found;
}"""


@dataclass
class Served:
    """The site that is served: its address, a way to let its campaign go on, and pages that keep what their console said."""

    site: Path
    address: str
    browser: Browser
    conductor: subprocess.Popen[bytes]
    said: list[str] = field(default_factory=list)

    def open(self, address: str) -> Page:
        page = self.browser.new_context(viewport=WIDE, color_scheme="light").new_page()  # type: ignore[arg-type]
        page.set_default_timeout(PATIENCE_MS)
        page.on(
            "console", lambda message: self.said.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.goto(f"{self.address}{address}")
        while page.title().startswith("Not yet"):
            page.wait_for_load_state("load")
            page.reload()
        return page


@pytest.fixture(scope="module")
def shown(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("chromium")
    site = Path(shutil.copytree(finished, place / "site", symlinks=True))
    for name, text in rehearsal_site.FILES.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text if name != "site.yaml" else "site: story\n")
    (site / "tests/slow.yaml").write_text(
        "test: slow\nrun:\n  command: |\n    while [ ! -e {campaign}/../../go ]; do sleep 0.05; done; echo fine\n"
    )
    (site / "plans/go.yaml").write_text(
        "plan: go\nsystem: here\ncomponents:\n  - functionality: {tests: [ok, bad, slow], repeats: 2}\n"
    )
    words = (
        "rehearse",
        "steady",
        "--scenario",
        "busy",
        "--fault",
        "node_fail=4%",
        "--id",
        "steady-1",
        "-q",
        "--no-try",
        "--open-gates",
    )
    done = warm_commands.run(words, cwd=site, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 1, 4), done.stderr
    conductor = subprocess.Popen(
        [*SHAKEDOWN, "run", "go", "-q"], cwd=site, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        with served(site, place / "cache", "--rehearsals") as (_, address), sync_playwright() as player:
            browser = player.chromium.launch(
                executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage", "--no-proxy-server"]
            )
            yield Served(site, address.rstrip("/"), browser, conductor)
            browser.close()
    finally:
        (site / "go").touch()
        conductor.wait(60)


def _loaded(page: Page) -> None:
    """Every picture is there, also those further down."""
    for picture in page.locator("main img").all():
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("complete", True, timeout=PATIENCE_MS)
        assert picture.evaluate("one => one.naturalWidth") > 0, picture.get_attribute("src")
    page.evaluate("window.scrollTo(0, 0)")


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_can_be_read_wide_and_narrow_dark_and_light(shown: Served, view: str, tmp_path: Path) -> None:
    shown.said.clear()
    page = shown.open(VIEWS[view])
    if view == "now":
        page.get_by_role("heading", name="What runs").wait_for()
    _loaded(page)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    for scheme, size in (("light", WIDE), ("dark", NARROW)):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        picture = tmp_path / f"{view}-{scheme}.png"
        page.screenshot(path=picture, full_page=True)
        assert picture.stat().st_size > 5_000
        assert page.evaluate(CLIPPED) == []
        assert page.evaluate(BROKEN_WORDS) == []
        found = Axe().run(page).response["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in serious] == []
    assert [words for words in shown.said if not (view == "not-there" and "404" in words)] == []
    page.context.close()


def test_the_checks_of_this_file_find_what_they_look_for(shown: Served) -> None:
    """A word on two lines, something wider than the page, a label that lacks: each is found."""
    page = shown.open("/")
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    page.evaluate(
        """() => { const box = document.createElement("div");
        box.innerHTML = "<p>considerable</p><input>";
        document.querySelector("main").append(box);
        box.firstChild.style.cssText = "width: 2em; overflow-wrap: anywhere";
        const wide = document.createElement("div"); wide.textContent = "x"; wide.style.width = "900px";
        document.querySelector("main").append(wide); }"""
    )
    assert "considerable" in page.evaluate(BROKEN_WORDS)
    assert len(page.evaluate(CLIPPED)) >= 2
    assert "label" in [one["id"] for one in Axe().run(page).response["violations"]]
    page.context.close()


def test_filters_sort_and_columns_are_chosen_by_hand_and_stand_in_the_address(shown: Served) -> None:
    page = shown.open("/campaign/p-1/runs")
    page.get_by_text("Filters, columns, order").click()
    page.locator("input[name=case]").fill("^bad")
    page.get_by_text("Columns", exact=True).click()
    page.locator("input[name=column][value=exit]").check()
    page.locator("input[name=column][value=run]").check()
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(re.compile("case="))
    asked = parse_qs(urlsplit(page.url).query)
    assert (
        asked["case"] == ["^bad"]
        and "exit" in asked["column"]
        and "" not in [one for some in asked.values() for one in some]
    )
    assert page.locator("table.runs tbody tr").count() == 2
    page.get_by_role("link", name="run", exact=True).click()
    page.wait_for_url(re.compile("sort=run"))
    header = page.locator("th[aria-sort]")
    assert header.get_attribute("aria-sort") == "ascending"
    first = page.locator("table.runs tbody td a").first.inner_text()
    header.get_by_role("link").click()
    page.wait_for_url(lambda url: "rising" not in url)
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    assert page.locator("table.runs tbody td a").first.inner_text() > first
    again = shown.open(page.url.removeprefix(shown.address))
    assert again.locator("main table").inner_text() == page.locator("main table").inner_text()
    again.get_by_label("without the filter case").click()
    again.wait_for_url(lambda url: "case=" not in url)
    assert again.locator("table.runs tbody tr").count() == 4
    again.context.close()
    page.context.close()


def test_a_square_of_the_map_leads_to_the_runs_of_its_node(shown: Served) -> None:
    page = shown.open("/campaign/steady-1/nodes")
    page.locator("svg.map a").first.click()
    page.wait_for_url(re.compile("node=t01"))
    nodes = page.locator("table.runs td.of-nodes").all_inner_texts()
    assert nodes and all(re.search(r"t01\b|t\[01[-,\]]", text) for text in nodes), nodes
    page.context.close()


def test_it_is_used_by_keyboard(shown: Served) -> None:
    page = shown.open("/campaign/p-1/runs")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    seen: list[str] = []
    while "Filters, columns, order" not in seen[-1:]:
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        seen.append(page.evaluate("document.activeElement.textContent.trim()"))
        assert outline != "none" and len(seen) < 30, seen
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("^ok$")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("test="))
    assert parse_qs(urlsplit(page.url).query)["test"] == ["^ok$"]
    assert page.locator("table.runs tbody tr").count() == 2
    page.context.close()


def test_a_tab_that_nobody_looks_at_holds_no_connection(shown: Served) -> None:
    """Browsers have six connections to a server: with one in each tab the seventh tab would stay empty."""
    page = shown.open("/campaign/p-1")
    expect(page.locator("#live")).to_have_text(re.compile("^as of"))
    closed: Callable[[str], str] = lambda state: (  # noqa: E731
        f"Object.defineProperty(document, 'hidden', {{value: {state}, configurable: true}});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    with page.expect_event("requestfailed", lambda request: "/changes" in request.url):
        page.evaluate(closed("true"))
    with page.expect_request(re.compile("/changes")):
        page.evaluate(closed("false"))
    page.context.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_runs_are_ruled_on_by_keyboard_with_and_without_scripts(shown: Served, scripts: bool, tmp_path: Path) -> None:
    """On a page of its own, for that of the others takes no rulings."""
    site = Path(shutil.copytree(shown.site, tmp_path / "site", symlinks=True))
    with served(site, tmp_path / "cache", "--allow-rulings") as (_, address):
        page = shown.browser.new_context(viewport=NARROW, java_script_enabled=scripts).new_page()  # type: ignore[arg-type]
        page.goto(address)
        page.goto(f"{address.partition('?')[0]}campaign/p-1/runs?bad=1")
        for box in page.get_by_role("checkbox", name=re.compile("choose r0")).all():
            box.focus()
            page.keyboard.press("Space")
        page.get_by_label("whose failure").focus()
        page.keyboard.type("vendor")
        for words in ("out-of-memory", "INC-17", "Anna", "the switch was off"):
            page.keyboard.press("Tab")
            page.keyboard.type(words)
        if scripts:
            assert page.evaluate(CLIPPED) == [] and page.evaluate(BROKEN_WORDS) == []
            found = Axe().run(page).response["violations"]
            assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
        page.screenshot(path=tmp_path / "form.png", full_page=True)
        page.keyboard.press("Enter")
        told = page.get_by_role("status")
        expect(told).to_contain_text("ruled vendor, class out-of-memory, ticket INC-17; recorded in p-1: event")
        page.get_by_role("link", name="r000002").click()
        while not scripts and "INC-17" not in page.locator("dl.facts").inner_text():
            page.reload()
        expect(page.locator("dl.facts")).to_contain_text("INC-17", timeout=PATIENCE_MS)
        page.context.close()


def test_what_is_begun_in_the_form_of_rulings_is_left_alone(shown: Served, tmp_path: Path) -> None:
    """The page does not come again below a box that is ticked, whatever happens to the campaign meanwhile."""
    site = Path(shutil.copytree(shown.site, tmp_path / "site", symlinks=True))
    with served(site, tmp_path / "cache", "--allow-rulings") as (_, address):
        page = shown.browser.new_context(viewport=WIDE).new_page()  # type: ignore[arg-type]
        page.goto(address)
        page.goto(f"{address.partition('?')[0]}campaign/p-1/runs?bad=1")
        page.get_by_role("checkbox", name="choose r000002").check()
        page.get_by_role("heading").first.click()
        with page.expect_request(re.compile("/runs")) as again:
            words = ("rule", "--campaign", "p-1", "r000004", "--as", "site", "--by", "Bo", "--because", "a link")
            assert (
                warm_commands.run(words, cwd=site, capture_output=True, text=True, timeout=300, check=False).returncode
                == 0
            )
            page.wait_for_timeout(2_500)
            assert page.get_by_role("checkbox", name="choose r000002").is_checked()
            page.get_by_role("checkbox", name="choose r000002").uncheck()
            page.get_by_role("heading").first.click()
        assert again.value.url.endswith("/campaign/p-1/runs?bad=1")
        page.context.close()


def test_an_open_page_follows_its_campaign_and_leaves_the_reader_where_he_is(shown: Served) -> None:
    """The last test of this file: it lets the campaign end."""
    page = shown.open("/campaign/go-1")
    page.evaluate("window.mark = 1")
    link = page.locator("main a", has_text=re.compile("^r0000")).last
    link.focus()
    to = link.get_attribute("href")
    (shown.site / "go").touch()
    expect(page.locator("main .lead")).to_contain_text("over;", timeout=PATIENCE_MS)
    assert page.evaluate("window.mark") == 1
    assert page.evaluate("document.activeElement.getAttribute('href')") == to
    expect(page.get_by_role("heading", name="What runs")).to_have_count(0, timeout=PATIENCE_MS)
    assert shown.conductor.wait(60) == 1
    page.context.close()
