"""What a reader sees of small numbers: the strip of dots without a style sheet, whole counts on an axis, differences of nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from shakedown.metrics.cases import FigureSummary
from shakedown.metrics.statistics import describe
from shakedown.model.nouns import FigureSpec
from shakedown.report.counts import TestCount as CountOfTest
from shakedown.report.figures.counts import draw_counts
from shakedown.report.figures.style import style
from shakedown.report.page.filters import name, percent, strip
from shakedown.report.words import show_change

TEMPLATES = Path(__file__).parents[2] / "src/shakedown/report/templates"
VALUES = (1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 9.0)


def looks(part: ElementTree.Element, inherited: dict[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each shape with the attributes that it has or inherits, as WeasyPrint draws it."""
    own = inherited | part.attrib
    if len(part) == 0:
        yield part.tag, own
    for child in part:
        yield from looks(child, own)


def test_the_strip_needs_no_style_sheet_to_circle_an_outlier() -> None:
    spec = FigureSpec("rate", unit="GB/s", better="higher")
    summary = describe(list(VALUES))
    assert summary is not None and summary.outliers == (7,)
    shapes = list(looks(ElementTree.fromstring(strip(FigureSummary(spec, VALUES, summary, None, (), 0))), {}))
    circles = [look for tag, look in shapes if tag == "circle"]
    assert len(circles) == 9
    assert [look["fill"] for look in circles if look.get("class") == "far"] == ["none"]
    assert all(look["stroke"] != "none" for look in circles if look.get("class") == "far")
    assert all(look["fill"].startswith("#") for look in circles if look.get("class") != "far")
    assert all(look["stroke"].startswith("#") for tag, look in shapes if tag == "line")


def test_an_axis_of_few_runs_has_whole_numbers() -> None:
    (drawing,) = draw_counts([CountOfTest("functionality", f"t{number}", attempts=1) for number in range(12)])
    with style():
        ticks = [float(tick) for tick in drawing._figure.axes[0].get_xticks()]
    assert ticks and all(tick == int(tick) for tick in ticks)


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [
        (-0.004, 1, "0.0"),
        (0.004, 1, "0.0"),
        (-0.004, 2, "0.00"),
        (-0.06, 1, "-0.1"),
        (0.06, 2, "+0.06"),
        (12, 1, "+12.0"),
    ],
)
def test_a_difference_that_rounds_to_nothing_has_no_sign(value: float, digits: int, said: str) -> None:
    assert show_change(value, digits) == said


def test_a_share_that_rounds_to_nothing_has_no_sign() -> None:
    assert [percent(value) for value in (-0.0001, 0.012, None)] == ["0.0%", "+1.2%", "–"]


def test_a_name_breaks_after_its_parts() -> None:
    assert name("bandwidth_congested") == '<span class="part">bandwidth_</span><span class="part">congested</span>'


def test_a_name_with_keys_is_whole_and_breaks_before_them() -> None:
    text = "bandwidth[transport=rdma,size=1048576]"
    parts = re.findall(r'<span class="part">([^<]*)</span>', name(text))
    assert parts == ["bandwidth", "[transport=rdma,", "size=1048576]"] and "".join(parts) == text


def test_no_template_cuts_the_name_of_a_figure() -> None:
    """A row of a table is known by its keys, which come last."""
    for file in sorted(TEMPLATES.glob("*.html")):
        assert not re.search(r"(figure|spec)\.name \| line\(", file.read_text()), file.name
