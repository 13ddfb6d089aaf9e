"""A site's own template and style sheet: what they can change, what they cannot reach, and how their faults are told."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jinja2 import Environment

from shakedown.model.errors import FileProblems, UsageError
from shakedown.report.page.site_templates import css_faults
from shakedown.report.writing import make_report

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder

pytestmark = pytest.mark.usefixtures("without_figures")
EXTENDS = '{% extends "shakedown/report.html" %}\n'


@pytest.fixture
def site(small: CampaignBuilder, tmp_path: Path) -> Path:
    """A site with templates/ and one finished campaign, campaigns/one."""
    home = tmp_path / "site"
    (home / "templates").mkdir(parents=True)
    (home / "site.yaml").write_text("site: here\n")
    small.root = home / "campaigns/one"
    small.run("hello", "main")
    small.end()
    small.save()
    return home


def page(site: Path, template: str | None = None, sheet: str | None = None) -> str:
    if template is not None:
        (site / "templates/report.html").write_text(template)
    if sheet is not None:
        (site / "templates/report.css").write_text(sheet)
    return make_report(site / "campaigns/one").page.read_text()


def test_a_template_changes_blocks_and_the_rest_stays(site: Path) -> None:
    plain = page(site)
    text = page(
        site,
        EXTENDS
        + "{% block letterhead %}<p>The Laboratory</p>{% endblock %}\n"
        + "{% block failures %}{% endblock %}\n"
        + "{% block signatures %}{{ super() }}<p>{{ scorecard.outcome | upper }}, {{ totals.attempts }}</p>{% endblock %}",
    )
    assert "<p>The Laboratory</p>" in text and "<p>ACCEPTED, 1</p>" in text and "Name, function" in text
    assert 'id="failures"' in plain and 'id="failures"' not in text
    assert "How to compute each number again" in text
    assert "templates/report.html of the site" in text, "the page says that it was changed, and by which file"


def test_every_block_that_the_guide_names_is_there(site: Path) -> None:
    guide = Path(__file__).parents[2] / "docs/guides/report.md"
    base = Path(__file__).parents[2] / "src/shakedown/report/templates/report.html"
    blocks = re.findall(r"{% block (\w+) %}", base.read_text())
    assert len(blocks) > 15
    for block in blocks:
        assert f"`{block}`" in guide.read_text(), block


def test_a_style_sheet_comes_after_ours_and_cannot_end_the_style(site: Path) -> None:
    text = page(site, sheet='h1 { color: teal; }\n.x { content: "</style><script>"; }\n')
    assert text.index("h1 { color: teal; }") > text.index("--ink")
    assert "<script>" in text and "</style><script>" not in text
    assert "templates/report.css of the site" in text


def test_included_files_of_the_folder_are_found(site: Path) -> None:
    (site / "templates/logo.html").write_text("<b>{{ document.plan }}</b>")
    assert "<b>small</b>" in page(site, EXTENDS + '{% block letterhead %}{% include "logo.html" %}{% endblock %}')


def test_a_campaign_elsewhere_has_the_plain_face_unless_a_site_is_named(site: Path, tmp_path: Path) -> None:
    (site / "templates/report.html").write_text(EXTENDS + "{% block letterhead %}LETTER{% endblock %}")
    moved = tmp_path / "moved"
    shutil.copytree(site / "campaigns/one", moved)
    assert "LETTER" not in make_report(moved).page.read_text()
    assert "LETTER" in make_report(moved, site=site).page.read_text()


# ---- what it cannot reach ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attack",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ page.__globals__ }}",
        "{{ record.__class__.__init__.__globals__ }}",
        "{{ self._TemplateReference__context }}",
        "{{ scorecard.components.__class__ }}",
        "{{ pictures.machine.append(1) }}",
        "{% include '../site.yaml' %}",
        "{% include '/etc/hostname' %}",
        "{% include 'link.html' %}",
        "{% include 'shakedown/../report.py' %}",
    ],
)
def test_attacks_end_in_a_fault_of_the_template(site: Path, attack: str) -> None:
    (site / "templates/link.html").symlink_to("/etc/hostname")
    with pytest.raises(UsageError) as caught:
        page(site, EXTENDS + "{% block letterhead %}\n" + attack + "\n{% endblock %}")
    assert str(caught.value).startswith("error: templates/report.html:3:1: ")


def test_no_path_is_handed_out(site: Path) -> None:
    from shakedown.metrics.judging.criteria import score
    from shakedown.report.evidence import find_evidence
    from shakedown.report.figures.registry import draw_all
    from shakedown.report.page.page import page_facts
    from shakedown.report.reading import read_campaign

    read = read_campaign(site / "campaigns/one")
    evidence = find_evidence(read.document, read.record, score(read.document, read.record))
    facts = page_facts(read, evidence, draw_all(read.layout.root, evidence))
    assert not any(isinstance(fact, os.PathLike) for fact in facts.values())
    assert str(site) not in repr(facts)


# ---- faults ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (EXTENDS + "{% block cover %}\n{{ scorecard.outcom }}\n{% endblock %}",
         "error: templates/report.html:3:1: 'shakedown.metrics.judging.scorecard.Scorecard object' has no attribute 'outcom'"),
        (EXTENDS + "{% block cover %}\n{% if %}\n{% endblock %}",
         "error: templates/report.html:3:1: Expected an expression, got 'end of statement block'"),
        (EXTENDS + "{% block cover %}\n\n{{ 1 | nofilter }}{% endblock %}",
         "error: templates/report.html:4:1: No filter named 'nofilter'."),
        (EXTENDS + "{% block cover %}{{ 1 / 0 }}{% endblock %}", "error: templates/report.html:2:1: division by zero"),
        (EXTENDS + "{% block cover %}{{ missing_thing }}{% endblock %}",
         "error: templates/report.html:2:1: 'missing_thing' is undefined"),
        ('\n{% extends "ours.html" %}', "error: templates/report.html:2:1: there is no template ours.html"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_file_and_line(site: Path, template: str, message: str) -> None:
    with pytest.raises(FileProblems) as caught:
        page(site, template)
    assert str(caught.value) == f"{message}\nhint: what a template may use is in docs/guides/report.md"
    assert caught.value.status == 2
    assert not (site / "campaigns/one/report.html").exists(), "nothing is written"


def test_what_nobody_would_see_is_a_fault(site: Path) -> None:
    with pytest.raises(FileProblems) as caught:
        page(site, EXTENDS + "{% block letterhed %}x{% endblock %}\n{# fine #}\n<p>{{ version }}</p>")
    assert str(caught.value) == (
        "error: templates/report.html:2:1: the report has no block 'letterhed'\nhint: did you mean 'letterhead'?\n"
        "error: templates/report.html:4:1: this stands outside of every block: nobody would see it\n"
        "hint: put it into a block, such as {% block letterhead %}"
    )


def test_a_page_of_the_site_s_own_need_not_extend_ours(site: Path) -> None:
    text = page(site, "<h1>{{ scorecard.outcome }}</h1>")
    assert "\n<h1>accepted</h1>\n</face-" in text and text.index("data-settled") < text.index("<h1>accepted")


def test_a_fault_in_an_included_file_names_that_file(site: Path) -> None:
    (site / "templates/logo.html").write_text("\n\n{{ nothing.here }}")
    with pytest.raises(FileProblems) as caught:
        page(site, EXTENDS + '{% block letterhead %}{% include "logo.html" %}{% endblock %}')
    assert str(caught.value).startswith("error: templates/logo.html:3:1: 'nothing' is undefined")


@pytest.mark.parametrize(
    ("sheet", "faults"),
    [
        ("a { color: red }\n\nb { color: blue", ["3:3: this brace is never closed"]),
        ("a { color: red }\n}\n", ["2:1: this brace closes nothing"]),
        ("a {}\n  /* b {", ["2:3: this comment is never closed"]),
        ('a { content: "x\n}', ["1:14: this string is not closed on its line"]),
        ('@import "x.css";', ["1:1: a report holds everything itself: nothing is loaded from elsewhere"]),
        ("a { background: URL( 'http://x' ) }", ["1:17: a report holds everything itself: nothing is loaded from elsewhere"]),
        ("a { background: url(data:image/png;base64,AA==) } /* { */ b::after { content: '}' }", []),
    ],
)  # fmt: skip
def test_faults_of_a_style_sheet(sheet: str, faults: list[str]) -> None:
    found = css_faults(sheet, "templates/report.css")
    assert [f"{one.line}:{one.column}: {one.message}" for one in found] == faults


def test_a_broken_style_sheet_stops_the_report(site: Path) -> None:
    with pytest.raises(FileProblems) as caught:
        page(site, sheet="a {\n")
    assert str(caught.value) == "error: templates/report.css:1:3: this brace is never closed"


def test_a_template_that_is_no_text(site: Path) -> None:
    (site / "templates/report.html").write_bytes(b"ok\n\xff\xfe")
    with pytest.raises(FileProblems) as caught:
        page(site)
    assert str(caught.value) == "error: templates/report.html:2:1: this is no UTF-8 text"


def test_ours_are_compiled_once_and_a_changed_one_of_the_site_anew(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block = "{% block letterhead %}WORD{% endblock %}"
    assert "first" in page(site, EXTENDS + block.replace("WORD", "first"))
    compiled: list[str | None] = []
    really = Environment.compile

    def told(self: Environment, source: str, name: str | None = None, *more: Any, **named: Any) -> Any:
        compiled.append(name)
        return really(self, source, name, *more, **named)

    monkeypatch.setattr(Environment, "compile", told)
    assert "second" in page(site, EXTENDS + block.replace("WORD", "second"))
    assert compiled == ["report.html"]
