"""What the page says, and that nothing in it is what it should not be: markup of strangers, scripts, the network."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from shakedown.model import nouns
from shakedown.model.judging import Contract, ContractRow, Criterion
from shakedown.model.nouns import Case, Component, FigureSpec, NodeType, Procedure
from shakedown.model.resources import Gpus
from shakedown.report import write_report

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder


class Page(HTMLParser):
    """Tags, attributes and visible text of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        self.text = (
            re.sub(r"\s+([.,:])?", r" \1", "".join(self.words)).replace(" .", ".").replace(" ,", ",").replace(" :", ":")
        )

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.words.append(" ")
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        self.words.append(" ")

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all_of(self, name: str) -> list[str]:
        return [value for attribute, value in self.attributes if attribute == name]


def page_of(campaign: Path) -> Page:
    return Page(write_report(campaign))


def test_a_large_campaign_reads_as_an_acceptance_document(large: Path) -> None:
    page = Page(large / "report.html")
    for words in (
        "Acceptance report", "Rejected", "2 criteria of 8 not met (performance: steady, stability: variation).",
        "275 / 278", "197 passed / 203 attempts = 97.0% (1 failed, 2 timeout, 3 node_fail)", "95% interval 93.7% to 98.6%",
        "the worst of 2 cases is cm4/toolchain=classic", "exit status 139", "step 413 of 8640", "Segmentation fault",
        "expected build_failed: it needs language features of newer standards", "For the site", "For the vendor",
        "get it with: apt-get install hpcc", "c5n[0001-1920]", "5.3 TFLOP/s", "256.0 GiB", "dragonfly", "SLES 15 SP4",
        "plans/c5-phase2.yaml", "stream with gcc", "late mark", "f2/mdt is fully loaded by 8 copies of cm4", "Wilson",
        "2026-11-03 10:00:00 to 2026-11-03 19:07:45 UTC",
    ):  # fmt: skip
        assert words.lower() in page.text.lower(), words
    drawn = "the time line, where the time went, runs by test of two components, failures of one, seven tests, a matrix, rates"
    assert page.tags.count("figure") == 15, drawn


def test_the_slow_node_is_named_and_the_usual_ones_are_not_accused(large: Path) -> None:
    text = Page(large / "report.html").text
    assert re.search(r"c5n0018 pairs, r\d+ [\d.]+ MB/s -\d+\.\d outlier", text)
    assert text.count(" outlier c5n") <= 2 and "within the usual" in text


def test_it_needs_no_network_and_no_script(large: Path) -> None:
    page = Page(large / "report.html")
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    assert policy in page.all_of("content")
    assert not set(page.tags) & {"script", "iframe", "object", "embed", "link", "form", "img", "base"}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    sources = page.all_of("href") + page.all_of("xlink:href") + page.all_of("src")
    assert [source for source in sources if not source.startswith(("#", "report/", "data:image/png;base64,"))] == []


def test_every_link_leads_to_a_file_or_a_place(large: Path) -> None:
    page = Page(large / "report.html")
    for link in page.all_of("href"):
        if link.startswith("report/"):
            assert (large / link).is_file(), link
        elif link.startswith("#"):
            assert link[1:] in page.all_of("id"), link
    assert len(set(page.all_of("id"))) == len(page.all_of("id")), "figures do not share ids"


EVIL = '$x^{$<script>alert("1")</script><img src=x onerror=alert(2)>&lt; \x1b[31mred\x1b[0m \u202e{{ 7*7 }} {% raw %}'


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory, new_in: Callable[..., CampaignBuilder]) -> Path:
    """A campaign in which every name and text that a stranger can choose is hostile."""
    case = Case(EVIL, EVIL, "local:all", expect="lost", because=EVIL, rows=("c:1", "c:2"))
    bounds: Any = {"must": EVIL, "high": 0.5, "unit": EVIL, "clause": EVIL, "about": EVIL, "where": ((EVIL, (EVIL,)),)}
    asked = (ContractRow("c:1", EVIL, EVIL, "elapsed", basis="vendor", **bounds),
            ContractRow("c:2", EVIL, EVIL, EVIL, basis="contract", **bounds))  # fmt: skip
    gone = Case("_gone", EVIL, "local:all", unavailable=EVIL)
    criteria = (
        Criterion(EVIL, "value", ">=", 1.0, EVIL, of=EVIL, must=EVIL),
        Criterion("each", "sd / mean", "<=", 1.0, of=EVIL, per="case"),
    )
    builder = new_in(
        tmp_path_factory.mktemp("evil") / "x",
        plan=EVIL,
        about=EVIL,
        components=(
            Component(
                EVIL, "site", (EVIL, "_gone"), 3, criteria=criteria, procedures=(Procedure(EVIL, EVIL, EVIL, 1, EVIL),)
            ),
        ),
        cases=(case, gone),
        contracts=(Contract(EVIL, asked, EVIL, EVIL, ((EVIL, EVIL),)),),
        tests=(nouns.Test(EVIL, figures=(FigureSpec(EVIL, EVIL),), draws=("matrix", "histogram", "io")),),
    )
    rows = [[1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [2.0, 3.0, 1.0]]
    output = builder.record("matrix", name=EVIL, unit=EVIL, labels=[EVIL] * 3, rows=rows)
    output += builder.record("histogram", name=EVIL, unit=EVIL, edges=[1, 2, 4], counts=[5, 0], core=EVIL, host=EVIL)
    output += builder.record("io", operation=EVIL, mode=EVIL, unit=EVIL, transfer=-1, value=3.0)
    for repeat in (1, 2):
        builder.run(EVIL, EVIL, repeat=repeat, output=output, reason=EVIL, figures={EVIL: 2.0})
    run = builder.run(EVIL, EVIL, "failed", 3, reason=EVIL, excerpt=EVIL, checks=[[EVIL, False, EVIL]], problems=[EVIL])
    people_say(builder, run)
    builder.add("finding", run=EVIL, case=EVIL, value={"kind": EVIL}, reason=EVIL)
    builder.add("amended", value={"document": builder.digest, "who": EVIL}, reason=EVIL)
    builder.add("driver_start", value={"driver": {EVIL: EVIL}})
    builder.add("waiting", value={"class": EVIL, "key": EVIL}, reason=EVIL)
    builder.add(EVIL)
    builder.end()
    campaign = builder.save()
    write_report(campaign)
    return campaign


def people_say(builder: CampaignBuilder, run: str) -> None:
    """A ruling, a waiver, an attestation, a change and two fingerprints, all hostile."""
    by = {"by": EVIL, "component": EVIL, "name": EVIL, "procedure": EVIL}
    builder.add("ruled", run=run, value=by | {"as": EVIL}, reason=EVIL)
    builder.add("waived", value=by | {"what": "row", "name": "c:2", "restriction": EVIL}, reason=EVIL)
    builder.add("attested", value=by | {"met": True, "evidence": [{"name": EVIL, "sha256": EVIL}]}, reason=EVIL)
    builder.add("changed", value=by, reason=EVIL)
    for number in (1, 2):
        words = {key: [EVIL] for key in ("since_last", "between_nodes", "unanswered")}
        groups = [{"nodes": EVIL, "digest": EVIL}]
        builder.add("fingerprint", value=words | {"digest": f"{EVIL}{number}", "groups": groups, "facts_file": EVIL})


def test_markup_of_strangers_stays_text(evil: Path) -> None:
    page = Page(evil / "report.html")
    assert not set(page.tags) & {"script", "img"}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert (
        '$x^{$<script>alert("1")</script><img src=x onerror=alert(2)>&lt; red \\u202e{{ 7*7 }} {% raw %}' in page.text
    )
    assert "49" not in page.text.split("{{ 7*7 }}")[1][:20]


def test_no_control_character_and_no_direction_override_gets_through(evil: Path) -> None:
    for path in [evil / "report.html", *evil.glob("report/**/*.svg"), *evil.glob("report/**/*.csv")]:
        text = path.read_text(encoding="utf-8")
        assert not set(text) & (set(map(chr, range(32))) - set("\n\t")), path
        assert (
            "\u202e" not in text and "onerror=alert(2)>" not in text.replace("&gt;", "")
        ) or path.suffix == ".csv", path


def test_clauses_and_parties_of_ten_thousand_letters_are_cut_on_the_page(new: Callable[..., CampaignBuilder]) -> None:
    """They would push what is judged off the page for a dozen pages; the table has them whole."""
    endless = "L" * 10_000
    row = ContractRow(
        "c:1", "c", "hello", "elapsed", "<= 1 s", "contract", high=1.0, unit="s", clause=endless, verdict=True
    )
    builder = new(
        cases=(Case("hello", "hello", "local:all", rows=("c:1",)),),
        contracts=(Contract("c", (row,), title=endless, parties=(("vendor", endless),)),),
        components=(
            Component(
                "main",
                "functionality",
                ("hello",),
                criteria=(Criterion("fast", "value", "<=", 0.1, "s", of="elapsed", clause=endless),),
                procedures=(Procedure("cables", clause=endless),),
            ),
        ),
    )
    builder.run("hello", "main")
    builder.end()
    campaign = builder.save()
    write_report(campaign)

    text = Page(campaign / "report.html").text
    assert max(map(len, re.findall("L+", text))) <= 300
    assert endless in (campaign / "report/tables/contract-rows.csv").read_text()


def test_file_names_of_figures_are_tame(evil: Path) -> None:
    names = [path.name for path in (evil / "report/figures").iterdir()]
    assert len(names) == 21 and all(re.fullmatch(r"[A-Za-z0-9.-]{1,90}", name) for name in names)


# ---- campaigns that hardly were --------------------------------------------------------------------------------------


def test_a_campaign_whose_log_is_empty(small: CampaignBuilder) -> None:
    small.events.clear()
    page = page_of(small.save())
    assert "Incomplete" in page.text and "not begun" in page.text and "Nothing was judged." in page.text


def test_a_campaign_in_which_nothing_was_judged(small: CampaignBuilder) -> None:
    page = page_of(small.save())
    assert "Incomplete 1 result still to come." in page.text
    assert "nothing is judged yet; 1 to come" in page.text
    assert not (small.root / "report/figures").exists() and "figure" not in page.tags


def test_only_unavailable_cases(new: Callable[..., CampaignBuilder]) -> None:
    builder = new(cases=(Case("hello", "hello", "local:all", unavailable="no mpiexec; apt-get install mpich"),))
    builder.end()
    text = page_of(builder.save()).text
    assert "Incomplete 1 case unavailable." in text
    assert "no mpiexec; apt-get install mpich" in text and "not judged" in text


@pytest.mark.usefixtures("without_figures")
def test_accepted_with_restrictions_says_what_is_missing(new: Callable[..., CampaignBuilder]) -> None:
    builder = new(
        components=(Component("main", "functionality", ("hello", "hpcc")),),
        cases=(Case("hello", "hello", "local:all"), Case("hpcc", "hpcc", "local:all", unavailable="get hpcc")),
    )
    builder.run("hello", "main")
    builder.end()
    text = page_of(builder.save()).text
    assert "Accepted with restrictions (1 case unavailable): the criterion on the rest is met." in text
    assert "Every attempt passed." in text and "get hpcc" in text


@pytest.mark.usefixtures("without_figures")
def test_a_superseded_verdict_is_shown_beside_the_one_in_force(small: CampaignBuilder) -> None:
    run = small.run("hello", "main", "incorrect")
    old = len(small.events)
    small.add(
        "verdict", run=run, case="hello", value={"verdict": "passed", "supersedes": old}, reason="the check was wrong"
    )
    small.end()
    text = page_of(small.save()).text
    assert f"r000001 hello incorrect event {old} passed event {old + 1} the check was wrong" in text
    assert "1 verdict superseded by a later one" in text
    assert "Accepted The only criterion is met." in text


@pytest.mark.usefixtures("without_figures")
def test_unknown_events_are_said(small: CampaignBuilder) -> None:
    small.run("hello", "main")
    small.add("teleported", value={"x": 1})
    small.end()
    assert (
        "1 event named 'teleported', which this version does not know: kept, not counted" in page_of(small.save()).text
    )


@pytest.mark.usefixtures("without_figures")
def test_failures_that_are_alike_are_told_once(new: Callable[..., CampaignBuilder]) -> None:
    builder = new(components=(Component("main", "stability", ("hello",), 30),))
    for repeat in range(1, 31):
        builder.run(
            "hello", "main", "failed", repeat, reason=f"exit status 1 after {repeat}.5 s", excerpt=f"line {repeat}"
        )
    builder.end()
    text = page_of(builder.save()).text
    assert "30 runs: r000001, r000002, r000003, r000004..." in text
    assert text.count("line 1 ") == 1 and "line 2" not in text


def test_numbers_that_no_machine_gives_break_nothing(new: Callable[..., CampaignBuilder]) -> None:
    builder = new(
        components=(Component("main", "stability", ("hello",), 9),),
        tests=(nouns.Test("hello", figures=(FigureSpec("f"),)),),
    )
    for repeat, value in enumerate((1e99, -1e99, 0, -0.0, 1e-300, 5e-324, 1e300, float("inf"), True), 1):
        builder.run("hello", "main", repeat=repeat, seconds=abs(float(value)), figures={"f": value})
    builder.add("verdict", run="r000099", case="hello", value={"verdict": "odd", "started": -1e80, "elapsed_s": -5.0})
    builder.end()
    assert "Rejected" in page_of(builder.save()).text or "Accepted" in page_of(builder.save()).text


@pytest.mark.usefixtures("without_figures")
def test_the_system_as_found_has_the_gpus_of_nodes_that_have_some(new: Callable[..., CampaignBuilder]) -> None:
    def rows(*types: NodeType) -> list[list[str]]:
        page = write_report(new(system=replace(new().document.system, node_types=types)).save()).read_text()
        table = page.partition("The system as found</h2>")[2].partition("</table>")[0]
        cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", one) for one in table.split("<tr>")[1:]]
        return [[one.replace("\N{NO-BREAK SPACE}", " ") for one in line] for line in cells]

    host = NodeType("host", cores=2)
    assert all(len(line) == 9 for line in rows(host))
    some = NodeType("gpu", cores=2, gpus=Gpus(4, "H<200>", 2.0**37))
    bare = NodeType("other", cores=2, gpus=Gpus(8))
    assert [line[9] for line in rows(host, some, bare)] == ["GPUs", "–", "4 x H&lt;200&gt;, 128.0 GiB each", "8"]
