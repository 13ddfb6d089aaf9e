"""Seals say how they came out and which is the newest; a page in hand is held against the record."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from shakedown.audit.page_check import PageCheck, check_page
from shakedown.audit.sealing import seal_campaign, signature_page
from shakedown.audit.verifying import verify_campaign
from shakedown.conductor.commands.offline import carry_out
from shakedown.events.inbox import post
from shakedown.events.reader import read_events
from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout
from shakedown.report.page.page_text import differences, lines_of_page
from shakedown.report.page.pdf import pdf_text, trouble
from shakedown.report.writing import make_report

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def pages(two_campaigns: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``p-1`` with the pages of its first seal, ``first.html``, ``first.pdf`` and ``sign.html``; then a waiver, a second seal."""
    site = Path(shutil.copytree(two_campaigns, tmp_path_factory.mktemp("pages") / "site"))
    (site / "plans/p.yaml").write_text(
        (site / "plans/p.yaml").read_text().replace("[ok]", "[bad]")
    )  # as p-1 began with
    layout = Layout(site / "campaigns/p-1")
    make_report(layout.root, pdf=not trouble())
    shutil.copy(layout.report, site / "first.html")
    if not trouble():
        shutil.copy(layout.root / "report.pdf", site / "first.pdf")
    shutil.copy(layout.root / "signature.html", site / "sign.html")
    said = {"what": "criterion", "component": "functionality", "name": "passed", "restriction": "no jobs", "by": "Bo"}
    post(layout, "waive", said, "agreed")
    carry_out(layout)
    signature_page(layout, seal_campaign(layout, "bo"))
    return site


def held(site: Path, file: Path) -> PageCheck:
    return check_page(Layout(site / "campaigns/p-1"), file)


def altered(site: Path, tmp_path: Path, name: str, before: str, after: str) -> Path:
    text = (site / name).read_text()
    assert before in text
    (tmp_path / name).write_text(text.replace(before, after))
    return tmp_path / name


def test_the_report_and_the_page_to_sign_say_alike_what_a_seal_covers(pages: Path) -> None:
    told, signed = (pages / "first.html").read_text(), (pages / "sign.html").read_text()
    covers = re.findall(r"covers events 1 to (\d+)", told)
    assert covers == re.findall(r"the whole record up to event (\d+)", signed) and "has grown" not in told


# ---- seals -----------------------------------------------------------------------------------------------------------------------


def test_each_seal_says_how_it_came_out_by_whom_for_whom_and_which_is_the_newest(pages: Path, people: Run) -> None:
    found = verify_campaign(Layout(pages / "campaigns/p-1"))
    first, second = found.sealed
    assert (first.outcome, first.by, first.party, first.newest) == ("rejected", "Ada", "site", False)
    assert (second.outcome, second.by, second.party, second.newest) == ("disputed", "bo", "vendor", True)
    assert [seal.digest for seal in found.sealed] == found.seals
    done = people(pages, "verify", "p-1")
    assert done.returncode == 0
    for seal, place in ((first, "an older seal"), (second, "the newest seal")):
        groups = " ".join(seal.digest[at : at + 8] for at in range(0, 64, 8))
        line = rf"sealed as {groups}\n  {seal.outcome}, sealed by {seal.by} for {seal.party} on [-\d]+ [:\d]+ UTC, "
        assert re.search(line + f"events 1 to {seal.events}: {place}\n", done.stdout), done.stdout


def test_the_holder_of_an_older_page_is_told(pages: Path, people: Run) -> None:
    first, second = verify_campaign(Layout(pages / "campaigns/p-1")).sealed
    done = people(pages, "verify", "p-1", "--digest", first.digest[:16])
    assert done.returncode == 1
    headline, told, *_ = done.stdout.splitlines()
    assert headline == "p-1: the record is whole; but:"
    wanted = (
        rf"a newer seal stands: outcome disputed, sealed by bo for vendor on [-\d]+ [:\d]+ UTC \({second.digest[:16]}, "
        rf"{second.events - first.events} events later\); what came after: event \d+: Bo waived .*: agreed"
    )
    assert re.fullmatch(wanted, told), told
    assert people(pages, "verify", "p-1", "--digest", second.digest).returncode == 0
    data = json.loads(people(pages, "verify", "p-1", "--digest", first.digest, "--json").stdout)
    assert (data["newer"], data["whole"]) == (told, True)


def test_a_report_that_is_made_right_before_the_seal_is_right_up_to_it(pages: Path, tmp_path: Path) -> None:
    layout = Layout(Path(shutil.copytree(pages / "campaigns/p-1", tmp_path / "p-1")))
    post(layout, "rule", {"run": "r000001", "as": "site", "by": "Ada"}, "the switch was off")
    carry_out(layout)
    make_report(layout.root, pdf=False)
    event = seal_campaign(layout, "Ada").event
    found = verify_campaign(layout, page=layout.report)
    assert (found.whole, found.newer) == (True, "") and found.page is not None and found.page.through == event - 1
    told = f"report.html: made before the newest seal (event {event}), and nothing else was recorded between"
    assert told in found.checked
    post(layout, "rule", {"run": "r000001", "as": "test", "by": "Ada"}, "no, it was the test")
    carry_out(layout)
    seal_campaign(layout, "Ada")
    assert "a newer seal stands" in verify_campaign(layout, page=layout.report).newer


@pytest.mark.parametrize("change", ["gone", "cut"])
def test_a_report_says_that_a_sealed_pack_is_gone_or_cut(pages: Path, tmp_path: Path, people: Run, change: str) -> None:
    layout = Layout(Path(shutil.copytree(pages / "campaigns/p-1", tmp_path / "p-1")))
    layout.packs.mkdir(exist_ok=True)
    pack, content = layout.packs / "000009.pack", b"what a run said"
    pack.write_bytes(content)
    post(layout, "rule", {"run": "r000001", "as": "site", "by": "Ada"}, "the switch was off")
    carry_out(layout)
    seal_campaign(layout, "Ada")
    if change == "gone":
        pack.unlink()
    else:
        pack.write_bytes(content[1:])
    done = people(tmp_path, "report", str(layout.root), "--no-pdf")
    assert done.returncode == 3
    said = "it was sealed and is gone" if change == "gone" else "it was sealed with 15 bytes and has 14"
    assert done.stdout.startswith("DAMAGED") and f"packs/{pack.name}: {said}" in done.stdout.splitlines()[0]
    assert "DAMAGED" in layout.report.read_text() and said in layout.report.read_text()


def test_an_act_after_the_newest_seal_is_told(pages: Path, tmp_path: Path) -> None:
    layout = Layout(Path(shutil.copytree(pages / "campaigns/p-1", tmp_path / "p-1")))
    post(layout, "rule", {"run": "r000001", "as": "site", "by": "Ada"}, "the switch was off")
    carry_out(layout)
    found = verify_campaign(layout)
    (line,) = [line for line in found.unchecked if line.startswith("1 act after the newest seal: ")]
    assert line.endswith("Ada ruled r000001 as site: the switch was off")


# ---- pages -----------------------------------------------------------------------------------------------------------------------


def test_a_page_is_what_the_record_gives_as_it_was_then(pages: Path) -> None:
    through = verify_campaign(Layout(pages / "campaigns/p-1")).sealed[0].events
    for name, kind in (("first.html", "the report"), ("sign.html", "the page to sign")):
        found = held(pages, pages / name)
        assert (found.differs, found.kind, found.through) == ([], kind, through)
        assert found.checked == [f"{name}: {kind} of events 1 to {through}, as the record gives it"]


def test_a_page_of_an_older_seal_is_told_and_is_no_damage(pages: Path, people: Run) -> None:
    done = people(pages, "verify", "p-1", "--page", "first.html")
    assert done.returncode == 1
    assert done.stdout.splitlines()[1].startswith("a newer seal stands: outcome disputed")
    assert "NOT what the record gives" not in done.stdout
    newest = people(pages, "verify", "p-1", "--page", "campaigns/p-1/signature.html")
    assert newest.returncode == 0, newest.stdout


COVER_SAYS = "in the cover: the record gives: Rejected; the page says: Accepted"
ALTERED = [
    ("first.html", "<strong>Rejected</strong>", "<strong>Accepted</strong>", COVER_SAYS),
    (
        "first.html", "<b>1</b><span>attempts judged", "<b>9</b><span>attempts judged",
        "in 'What stands against acceptance': the record gives: 1attempts judged; the page says: 9attempts judged",
    ),
    ("first.html", "For the vendor", "For no", "in 'What is signed': the record gives: For the vendor; the page says: For no"),
    ("sign.html", '<p class="outcome">Rejected</p>', '<p class="outcome">Accepted</p>', COVER_SAYS),
    ("sign.html", "<p>None.</p>", "<p>Some.</p>", "in 'Restrictions': the record gives: None.; the page says: Some."),
]  # fmt: skip


@pytest.mark.parametrize("name, before, after, told", ALTERED)
def test_a_page_that_was_altered_by_hand_is_refused(
    pages: Path, tmp_path: Path, name: str, before: str, after: str, told: str
) -> None:
    assert held(pages, altered(pages, tmp_path, name, before, after)).differs == [told]


@pytest.mark.parametrize("name", ["first.html", "sign.html"])
def test_a_page_whose_style_hides_something_is_refused(pages: Path, tmp_path: Path, name: str) -> None:
    file = altered(pages, tmp_path, name, "</style>", ".missing, ol { display: none }</style>")
    (told,) = held(pages, file).differs
    assert told.startswith(
        "it says what the record gives, and its markup, style or a figure is another one, from line "
    )


def test_a_page_of_another_record_is_none_of_this_campaign(pages: Path, people: Run, tmp_path: Path) -> None:
    digest = re.findall(r"no seal: <code>([0-9a-f]{64})", (pages / "first.html").read_text())[0]
    strange = altered(pages, tmp_path, "first.html", digest, "0" * 64)
    done = people(pages, "verify", "p-1", "--page", str(strange))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: {strange} is no report of p-1: no record digest on it is one that this campaign ever had\n"
        "hint: name the campaign that it was made from; a page of a rehearsal, or one without its digest, cannot be checked\n"
    )
    done = people(pages, "verify", "p-2", "--page", "sign.html")
    assert done.returncode == 2
    assert done.stderr.startswith("error: sign.html is no page of p-2: it has no seal ")
    done = people(pages, "verify", "p-1", "--page", "nothing.html")
    assert (done.returncode, done.stderr) == (
        2,
        "error: the page nothing.html cannot be read: No such file or directory\n",
    )


def test_a_page_of_another_version_says_so(pages: Path, tmp_path: Path) -> None:
    generator = re.search(r'content="(Shakedown [^"]*)"', (pages / "first.html").read_text())
    assert generator
    file = altered(pages, tmp_path, "first.html", generator[1], "Shakedown 0.0.1")
    file.write_text(file.read_text().replace("Rejected", "Abgelehnt"))
    assert held(pages, file).differs[-1].startswith("it says that Shakedown 0.0.1 made it, and this is ")


def test_a_pdf_is_held_against_the_record_too(pages: Path, tmp_path: Path) -> None:
    if trouble():
        pytest.skip(trouble())
    found = held(pages, pages / "first.pdf")
    assert found.differs == []
    from shakedown.report.page.pdf import to_pdf

    text = (pages / "first.html").read_text().replace("<strong>Rejected</strong>", "<strong>Accepted</strong>")
    (tmp_path / "forged.pdf").write_bytes(to_pdf(text.encode()))
    told = held(pages, tmp_path / "forged.pdf").differs
    assert any("Rejected" in line and "Accepted" in line for line in told), told
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    with pytest.raises(UsageError, match="this PDF cannot be read"):
        pdf_text(b"%PDF-1.7 nothing")


def test_templates_that_are_not_here_leave_a_page_unchecked_and_refused(pages: Path, tmp_path: Path) -> None:
    file = altered(pages, tmp_path, "first.html", "</dl>", "<dt>templates/report.html of the site</dt></dl>")
    assert (
        held(pages, file).differs[0].startswith("it was made with templates of a site that are not here as they were")
    )


def test_a_template_that_leaves_out_the_acts_is_told(pages: Path, tmp_path: Path) -> None:
    site = Path(shutil.copytree(pages, tmp_path / "site"))
    (site / "templates").mkdir()
    page = site / "templates/report.html"
    page.write_text('{% extends "shakedown/report.html" %}{% block letterhead %}<p>The Centre</p>{% endblock %}')
    layout = Layout(site / "campaigns/p-1")
    make_report(layout.root)
    assert check_page(layout, layout.report).differs == []
    page.write_text('{% extends "shakedown/report.html" %}{% block scorecard %}<p>fine</p>{% endblock %}')
    make_report(layout.root)
    told = check_page(layout, layout.report).differs
    assert told and told[0].startswith("its templates leave out, in 'Scorecard': ")
    page.write_text("changed")
    assert (
        check_page(layout, layout.report)
        .differs[0]
        .startswith("it was made with templates of a site that are not here")
    )


def test_every_difference_of_two_pages_is_found() -> None:
    wanted = lines_of_page("<h1>A</h1><style>x</style><h2>One</h2><p>a <b>b</b></p><ul><li>c</li><li>d</li></ul>")
    assert wanted == [("the cover", "A"), ("'One'", "One"), ("'One'", "a b"), ("'One'", "c"), ("'One'", "d")]
    there = lines_of_page("<h1>A</h1><h2>One</h2><p>a b</p><ul><li>d</li><li>e</li></ul>")
    assert list(differences(wanted, there)) == ["in 'One': the page lacks: c", "in 'One': only the page says: e"]


def test_nothing_but_the_log_is_read_for_a_page(pages: Path) -> None:
    """The page of an earlier moment has nothing of what came later."""
    events = list(read_events(Layout(pages / "campaigns/p-1").log))
    assert events[-1].seq > held(pages, pages / "first.html").through


# ---- wrong use -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, told",
    [
        (
            ("verify", "p-1", "--register"),
            "--register looks at all campaigns of a site, so CAMPAIGN cannot be given with it\n"
            "hint: check one campaign in a command of its own: shakedown verify CAMPAIGN",
        ),
        (
            ("verify", "--register", "--digest", "00000000", "--page", "x"),
            "--register looks at all campaigns of a site, so --digest and --page cannot be given with it\n"
            "hint: check one campaign in a command of its own: shakedown verify CAMPAIGN",
        ),
        (
            ("register", "--by", "Ada"),
            "--by and --because go with --anew\nhint: without it the register is only shown",
        ),
        (("register", "--anew", "--by", "Ada"), "--because is missing\nhint: who and why are kept in the record"),
        (("list", "campaign"), "there is no list of 'campaign'\nhint: did you mean 'campaigns'?"),
    ],
)
def test_wrong_use_is_told(pages: Path, people: Run, words: tuple[str, ...], told: str) -> None:
    done = people(pages, *words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {told}\n")


def test_files_are_held_against_the_plan_that_is_in_force(site: Path, people: Run) -> None:
    """After an amendment they are not as at the start, and verify does not say so."""
    plan = site / "plans/p.yaml"
    assert "the plan and the system: 2 of 2 are as at the start" in people(site, "verify", "p-2").stdout
    plan.write_text(f"about: in other words\n{plan.read_text()}")
    amended = people(site, "amend", "p", "--campaign", "p-2", "--by", "Bo", "--because", "words")
    assert amended.returncode == 0, amended.stderr
    assert "2 of 2 are as when the plan was amended last" in people(site, "verify", "p-2").stdout
    plan.write_text(f"{plan.read_text()}\n")
    told = people(site, "verify", "p-2").stdout
    assert "plans/p.yaml was changed since the plan was amended last" in told and "as they were frozen" in told


@pytest.mark.parametrize("by", ["Ada (site)", "site", "Ada, Bo"])
def test_a_name_that_speaks_for_no_party_is_told_at_once(site: Path, people: Run, by: str) -> None:
    """``acts`` shows a name with its party; who gives that back as a name speaks for nobody. The act is recorded all the same."""
    ruling = ("rule", "r000001", "--as", "site", "--because", "a disk", "--campaign", "p-1", "--by")
    seal = ("seal", "p-1", "--because", "over", "--by")
    said = "speaks for no party of the plan (site: Ada; vendor: Bo): this is one-sided until each of them agrees"
    for words in (ruling, seal):
        done = people(site, *words, by)
        assert (done.returncode, done.stderr.strip()) == (0, f"note: {by} {said}")
        assert people(site, *words, "ada").stderr == ""
