"""The first two pages: what was tested, what failed, whether to sign, and on what; each on one sheet, whatever the names."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from shakedown.audit.sealing import signed_words
from shakedown.cli.acts import _data
from shakedown.cli.status import _look, _render
from shakedown.conductor.workers.settling import settled
from shakedown.metrics.judging.contract import ContractScore, RowScore
from shakedown.metrics.judging.rows_beside import rows_beside
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.model.frozen import digest, freeze
from shakedown.model.judging import Contract, ContractRow, Criterion
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Component, FigureSpec, Party, Test
from shakedown.queries.status import status
from shakedown.report import write_report
from shakedown.report.evidence import evidence_of
from shakedown.report.page import pdf
from shakedown.report.page.first_pages import MOST, advice, is_cut, restrictions_that_fit
from shakedown.report.page.signature import render_signature_page
from shakedown.report.reading import read_campaign
from shakedown.report.writing import make_report

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder

BEGIN = 1_793_700_000.0  # of the builder's clock
needs_weasyprint = pytest.mark.skipif("pdf.trouble()", reason="WeasyPrint or a library of it is missing")


def words_of(data: bytes) -> list[str]:
    import pypdfium2

    return [" ".join(page.get_textpage().get_text_bounded().split()) for page in pypdfium2.PdfDocument(data)]


@needs_weasyprint
def test_they_say_what_failed_and_what_is_signed_and_the_clauses_come_next(acceptance: Path) -> None:
    first, second, third = words_of((acceptance / "report.pdf").read_bytes())[:3]
    for words in (
        "Rejected",
        "It is not to be signed as an acceptance",
        "What was tested",
        "What stands against acceptance",
    ):
        assert words in first
    assert "For the vendor: The Vendor Company" in second and "What is signed" in second and "For the" not in first
    assert "Requirements, by clause" in third and "Requirements, by clause" not in second


def endless(builder: CampaignBuilder) -> CampaignBuilder:
    """Every name and reason far too long, many components, restrictions and acts."""
    for number in range(20):
        run = builder.run("hello", f"part{number}", "failed", reason="x" * 3000)
        builder.add("ruled", run=run, value={"as": "site", "by": f"{number}" + "Ada " * 900}, reason="because " * 500)
        waived = {
            "what": "criterion",
            "component": f"part{number}",
            "name": "passed",
            "by": "Ada",
            "restriction": "no " * 900,
        }
        builder.add("waived", value=waived, reason="why " * 800)
    builder.end()
    for _ in range(6):
        value = {"digest": "e" * 64, "through": 1, "outcome": "rejected", "by": "Ada " * 900}
        builder.add("sealed", value=value)
    return builder


@needs_weasyprint
@pytest.mark.usefixtures("without_figures")
def test_each_fits_on_a_sheet_whatever_the_names(new: Callable[..., CampaignBuilder]) -> None:
    parts = tuple(Component(f"part{number}", "functionality", ("hello",)) for number in range(20))
    builder = new(components=parts, about="about " * 2000, cases=(Case("hello", "hello", "local:all"),))
    page = write_report(endless(builder).save()).read_text()
    *head, rest = page.split("</section>", 2)
    assert 'class="signing sheet"' in head[1], "the second page ends there"
    two = "</section>".join([*head, '<h2 class="plain">Behind</h2></main></body></html>'])
    first, second, third = words_of(pdf.to_pdf(two.encode()))
    assert "What was tested" in first and "What is signed" in second and "Behind" in third
    assert "and 12 more, in the scorecard" in first and re.search(r"and \d+ more, in the scorecard", second)
    assert rest.count("no no no") >= 20, "the scorecard has every restriction whole"


@pytest.mark.parametrize(
    ("outcome", "restrictions", "words"),
    [
        (
            "accepted",
            (),
            "It can be signed as it is: everything that was asked for is met, and nothing restricts the acceptance.",
        ),
        (
            "accepted with restrictions",
            ("a", "b"),
            "It can be signed with 2 restrictions: who signs accepts what stands under",
        ),
        ("rejected", ("a",), "what is not met stands below. 1 restriction of it would stand all the same."),
        ("incomplete", (), "It is too early to sign: what is still to come or undecided stands below."),
        ("disputed", (), "It is not to be signed before both sides agree"),
    ],
)
def test_whether_to_sign_follows_from_the_outcome(outcome: Any, restrictions: tuple[str, ...], words: str) -> None:
    card = Scorecard("c", "p", "s", outcome, "", True, (), 0, 0, restrictions=restrictions)
    assert words in advice(card)
    rehearsed = Scorecard("c", "p", "s", outcome, "", True, (), 0, 0, rehearsal="on a model")
    assert advice(rehearsed) == "This is a rehearsal: there is nothing to sign."


def sealed(builder: CampaignBuilder, mark: str) -> int:
    value = {"digest": mark * 64, "through": len(builder.events), "outcome": "accepted", "by": "Ada"}
    return builder.add("sealed", 60.0, value=value)


@pytest.mark.usefixtures("without_figures")
@pytest.mark.parametrize("templates", [False, True])
def test_what_a_seal_covers_is_counted_as_the_seal_counts_and_what_came_after_it_is_told(
    new: Callable[..., CampaignBuilder], tmp_path: Path, templates: bool
) -> None:
    """A seal covers its own event, as 'seal', 'verify' and the page to sign say; the digest of the page is no second seal."""
    (tmp_path / "templates").mkdir()
    if templates:
        (tmp_path / "templates/report.css").write_text("h1 { color: #123; }")

    def said() -> str:
        page = make_report(builder.save(), site=tmp_path).page.read_text().partition("What is signed</")[2]
        return " ".join(re.sub("<[^>]*>", " ", page[:6000]).replace(" ", " ").split()).replace(" .", ".")

    builder = new()
    builder.run("hello", "main")
    builder.end()
    text = said()
    assert f"The record, events 1 to {len(builder.events)}, with the outcome accepted, by its digest: " in text
    assert "seal" not in text.partition("For the site")[0]
    first = sealed(builder, "a")
    text = said()
    assert (
        f"by Ada covers events 1 to {first}, with the outcome accepted. Its digest is what is signed: {'a' * 64}."
        in text
    )
    assert "grown" not in text and f"This page shows events 1 to {first}," in text
    builder.add("note", 1.0, value={"by": "Bo", "text": "late"})
    second = sealed(builder, "b")
    builder.add("note", 1.0, value={"by": "Bo", "text": "later"})
    text = said()
    assert f"covers events 1 to {second}, with the outcome accepted. Its digest is what is signed: {'b' * 64}." in text
    assert "The record has grown since: 1 event came after this seal, under none." in text
    assert f"by Ada, covers events 1 to {first}: {'a' * 64}." in text
    assert f"events 1 to {first - 1}" not in text and f"This page shows events 1 to {second + 1}," in text


ASKED = (
    ContractRow("deal:1", "deal", "hello", "bw", ">= 50 GB/s", "vendor", low=50.0, unit="GB/s"),
    ContractRow("deal:2", "deal", "hello", "bv", ">= 1 GB/s", "contract", low=1.0, unit="GB/s"),
    ContractRow("deal:3", "deal", "hullo", "bw", ">= 1 GB/s", "contract", low=1.0, unit="GB/s"),
)


@pytest.mark.usefixtures("without_figures")
@pytest.mark.parametrize("templates", [False, True])
def test_rows_that_no_criterion_asks_about_stand_on_both_pages(
    new: Callable[..., CampaignBuilder], tmp_path: Path, templates: bool
) -> None:
    """One is not met, one has no value, one matches nothing: accepted, and no page says that all that was asked for is met."""
    passed = (Criterion("all", "passed / wanted", "=", 1.0, unit="%", must="= 100%"),)
    builder = new(
        contracts=(Contract("deal", ASKED),),
        cases=(Case("hello", "hello", "local:all", rows=("deal:1", "deal:2")),),
        components=(Component("main", "functionality", ("hello",), criteria=passed),),
        tests=(Test("hello", figures=(FigureSpec("bw", unit="GB/s"),)),),
    )
    builder.run("hello", "main", figures={"bw": 12.0})
    builder.end()
    (tmp_path / "templates").mkdir()
    if templates:
        (tmp_path / "templates/report.css").write_text("h1 { color: #123; }")
    page = make_report(builder.save(), site=tmp_path).page.read_text().replace("\N{NO-BREAK SPACE}", " ")
    first, _, second = page.partition("Restrictions")
    line = (
        "Beside the criteria: 1 contract row is not met (deal:1); 1 contract row is undecided (deal:2);"
        " 1 contract row is judged by nothing (deal:3)."
    )
    assert "every criterion is met, and nothing restricts the acceptance" in first and line in first and line in second
    assert "everything that was asked for is met" not in page
    for words in ("contract row deal:1", "1 contract row: deal:2: no run that", "judged by: deal:3"):
        assert words in first
    sealed = signed_words(Layout(tmp_path / "small-0001"), builder.document, _card(tmp_path), "Ada", BEGIN)
    assert sealed["outcome"] == "accepted" and re.search(
        f"<p>None.</p>\n<p [^>]*>{re.escape(line)}</p>", signing(sealed)
    )
    assert "Beside" not in signing({name: value for name, value in sealed.items() if name != "beside"})


def _card(folder: Path) -> Scorecard:
    return evidence_of(read_campaign(folder / "small-0001")).scorecard


def signing(signed: dict[str, Any]) -> str:
    return render_signature_page("0" * 64, 4, signed).decode()


@pytest.mark.parametrize("outcome", ["accepted", "accepted with restrictions", "rejected", "incomplete"])
def test_rows_that_restrict_are_not_told_beside_the_criteria(outcome: Any) -> None:
    rows = (RowScore(ASKED[0], "not met", waived=True), RowScore(ASKED[2], "unjudged", unavailable=True))
    card = Scorecard(
        "c", "p", "s", outcome, "", True, (), 0, 0, contract=ContractScore((*rows, RowScore(ASKED[1], "met")), ())
    )
    assert rows_beside(card) == ""
    again = replace(card, contract=ContractScore((RowScore(ASKED[0], "not met"), RowScore(ASKED[1], "not met")), ()))
    where = "Beside the criteria" if outcome.startswith("accepted") else "Of the contract"
    assert rows_beside(again) == f"{where}: 2 contract rows are not met (deal:1, deal:2)"
    assert (where in advice(again)) == outcome.startswith("accepted")


@pytest.mark.usefixtures("without_figures")
def test_planned_dates_stand_on_the_first_page_and_in_the_status(new: Callable[..., CampaignBuilder]) -> None:
    parts = [
        Component(name, "functionality", ("hello",), deadline=when)
        for name, when in (("late", BEGIN - 3600), ("due", BEGIN + 1e6))
    ]
    builder = new(components=(*parts, Component("free", "functionality", ("hello",))))
    builder.run("hello", "late", seconds=60.0)
    campaign = builder.save()
    one, other = status(Layout(campaign))["deadlines"]
    assert (one["component"], one["state"], one["kept"] is not None) == ("late", "missed", True)
    assert (other["component"], other["state"], other["kept"]) == ("due", "to come", None)
    assert "late: to be over by 2026-11-03 09:00:00 UTC; missed, 1 h 01 min late" in _render(_look(Layout(campaign)))
    first = write_report(campaign).read_text().partition('class="signing')[0]
    assert "Planned dates" in first and re.search(r"<td>2026-11-03 09:00:00</td>.*1\sh 01\smin</b>", first)
    assert "<td>due</td>" in first and "<td>not yet</td><td>to come</td>" in first


@pytest.mark.usefixtures("without_figures")
@pytest.mark.parametrize("asked", [False, True])
def test_a_missed_date_that_no_criterion_asks_about_stands_wherever_it_is_accepted(
    new: Callable[..., CampaignBuilder], tmp_path: Path, asked: bool
) -> None:
    """Two dates are missed and one is kept. Nobody reads that everything was met; with a criterion the date decides by itself."""
    passed = Criterion("all", "passed / wanted", "=", 1.0, unit="%", must="= 100%")
    soon = Criterion("soon", "late", "<=", 7200.0, unit="s", must="<= 2 h")
    dates = {"early": BEGIN + 1e6, "speed": BEGIN - 3600, "wide": BEGIN - 7200}
    parts = tuple(
        Component(name, "functionality", ("hello",), deadline=when, criteria=(passed, soon) if asked else (passed,))
        for name, when in dates.items()
    )
    builder = new(components=parts, cases=(Case("hello", "hello", "local:all"),))
    for name in dates:
        builder.run("hello", name, seconds=60.0)
    builder.end()
    page = write_report(builder.save()).read_text().replace("\N{NO-BREAK SPACE}", " ")
    first, _, second = page.partition("Restrictions")
    line = "Beside the criteria: 2 planned dates were missed (speed: "
    card = _card(tmp_path)
    if asked:  # wide is later than it may be, and that decides
        assert card.outcome == "rejected" and "planned dates were missed" not in page and not rows_beside(card)
        return
    assert card.outcome == "accepted" and card.restrictions == ()
    assert card.summary.startswith("accepted: all 3 criteria are met; 2 planned dates were missed (speed: 1 h ")
    assert card.summary.endswith(" late), and no criterion asks about them")
    assert line in first and line in second and "nothing restricts the acceptance. Beside" in first
    assert "everything that was asked for is met" not in page
    sealed = signed_words(Layout(tmp_path / "small-0001"), builder.document, card, "Ada", BEGIN)
    assert line in signing(sealed)


@pytest.mark.usefixtures("without_figures")
def test_a_date_that_an_amendment_moved_stands_beside_the_first_one(new: Callable[..., CampaignBuilder]) -> None:
    parts = [Component(name, "functionality", ("hello",), deadline=BEGIN) for name in ("moved", "gone")]
    builder = new(components=tuple(parts))
    later = replace(
        builder.document, components=(replace(parts[0], deadline=BEGIN + 3600), replace(parts[1], deadline=None))
    )
    value = {
        "document": digest(freeze(later)),
        "components": ["moved", "gone"],
        "difference": ["other dates"],
        "by": "Ada",
    }
    builder.add("amended", value=value, reason="the parts came late")
    campaign = builder.save()
    Layout(campaign).document(digest(freeze(later))).write_bytes(freeze(later))
    one, other = status(Layout(campaign))["deadlines"]
    assert (one["planned"], one["first"], one["moved"]) == (BEGIN + 3600, BEGIN, True)
    assert (other["planned"], other["first"], other["state"]) == (None, BEGIN, "taken away")
    assert (one["planned_at"], one["first_at"], one["kept_at"]) == ("2026-11-03T11:00:00Z", "2026-11-03T10:00:00Z", "")
    acts = _data(settled(Layout(campaign)))["acts"]
    assert [(act["said"], act["said_at"], act["as_of_at"]) for act in acts] == [(BEGIN, "2026-11-03T10:00:00Z", "")]
    said = _render(_look(Layout(campaign)))
    assert "moved: to be over by 2026-11-03 11:00:00 UTC (at first 2026-11-03 10:00:00 UTC); to come" in said
    assert "gone: at first to be over by 2026-11-03 10:00:00 UTC; an amendment took the date away" in said
    first = write_report(campaign).read_text().partition('class="signing')[0]
    assert '<td>2026-11-03 11:00:00<br><span class="small">at first 2026-11-03 10:00:00</span></td>' in first
    assert '<td>no date<br><span class="small">at first 2026-11-03 10:00:00</span></td>' in first


@pytest.mark.usefixtures("without_figures")
def test_a_date_that_only_an_amendment_without_effect_moved_is_the_one_from_before(
    new: Callable[..., CampaignBuilder],
) -> None:
    """The vendor moves one date and takes the other away; the site has not agreed, as the plan asks for."""
    parts = [Component(name, "functionality", ("hello",), deadline=BEGIN - 60) for name in ("moved", "gone")]
    parties = (Party("site", ("Ada",)), Party("vendor", ("Bo",)))
    builder = new(components=tuple(parts), parties=parties, consent=("amend",))
    for name in ("moved", "gone"):
        builder.run("hello", name)
    later = replace(
        builder.document, components=(replace(parts[0], deadline=BEGIN + 3600), replace(parts[1], deadline=None))
    )
    value = {"document": digest(freeze(later)), "components": ["moved", "gone"], "difference": ["dates"], "by": "Bo"}
    builder.add("amended", value=value, reason="the parts came late")
    campaign = builder.save()
    Layout(campaign).document(digest(freeze(later))).write_bytes(freeze(later))
    said = [(one["component"], one["planned"], one["state"]) for one in status(Layout(campaign))["deadlines"]]
    assert said == [("moved", BEGIN - 60, "missed"), ("gone", BEGIN - 60, "missed")]
    first = write_report(campaign).read_text().partition('class="signing')[0]
    assert first.count("<td>2026-11-03 09:59:00</td>") == 2 and "at first" not in first


@pytest.mark.usefixtures("without_figures")
def test_the_tables_count_by_the_plan_that_is_judged_by(new: Callable[..., CampaignBuilder]) -> None:
    """The vendor takes a component out; the site has not agreed, as the plan asks for: its runs are in every table."""
    parts = [Component(name, "functionality", ("hello",)) for name in ("kept", "gone")]
    parties = (Party("site", ("Ada",)), Party("vendor", ("Bo",)))
    builder = new(components=tuple(parts), parties=parties, consent=("amend",))
    for name in ("kept", "gone"):
        builder.run("hello", name)
    later = replace(builder.document, components=(parts[0],))
    value = {"document": digest(freeze(later)), "components": ["kept", "gone"], "difference": ["one"], "by": "Bo"}
    builder.add("amended", value=value, reason="it is not needed")
    campaign = builder.save()
    Layout(campaign).document(digest(freeze(later))).write_bytes(freeze(later))
    found = evidence_of(read_campaign(campaign))
    assert [(case.component, case.attempts) for case in found.cases] == [("kept", 1), ("gone", 1)]
    assert [part.name for part in found.scorecard.components] == ["kept", "gone"]
    write_report(campaign)
    lines = (Layout(campaign).root / "report/tables/cases.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == ["kept", "gone"]


def test_restrictions_that_fit_are_whole_and_nothing_is_said_twice() -> None:
    assert restrictions_that_fit(["a"] * 3) == ("a",) * 3 and not is_cut(["a"] * 3)
    assert len(restrictions_that_fit(["a"] * 30)) == MOST.restrictions and is_cut(["a"] * 30)
    assert is_cut(["a" * (MOST.longest + 1)])
