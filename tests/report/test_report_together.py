"""A number and its unit stay on one line of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shakedown.report.page.together import keep_together
from shakedown.report.writing import make_report

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder

SPACE = "\N{NO-BREAK SPACE}"
UNIT = '<span class="unit">'  # in which no line breaks after the slash


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("it took 39.3 s, must <= 40 s", f"it took 39.3{SPACE}s, must <= 40{SPACE}s"),
        ("2 h 10 min, 5 d", f"2{SPACE}h 10{SPACE}min, 5{SPACE}d"),
        ("100 GB/s and 3 MiB", f"{UNIT}100{SPACE}GB/s</span> and 3{SPACE}MiB"),
        (">= 0.1 TFLOP/s, 8e+01 Gbit/s", f">= {UNIT}0.1{SPACE}TFLOP/s</span>, {UNIT}8e+01{SPACE}Gbit/s</span>"),
        ('<b title="at 3 GB/s">3 GB/s</b>', f'<b title="at 3 GB/s">{UNIT}3{SPACE}GB/s</span></b>'),
        ("3 GB/session", "3 GB/session"),
        ("3 sockets, 4 dots and 2 min-max", "3 sockets, 4 dots and 2 min-max"),
        ("<pre>sleep 5 s</pre> <code>dd 5 d</code> 5 s", f"<pre>sleep 5 s</pre> <code>dd 5 d</code> 5{SPACE}s"),
        ('<svg viewBox="0 0 1 1"><text>5 s</text></svg>', '<svg viewBox="0 0 1 1"><text>5 s</text></svg>'),
    ],
)
def test_what_is_kept_together(text: str, kept: str) -> None:
    assert keep_together(text) == kept


@pytest.mark.usefixtures("without_figures")
def test_the_head_of_the_page(small: CampaignBuilder) -> None:
    """How long a campaign took stands in its first lines."""
    small.run("hello", "main", seconds=39.3)
    small.end()
    page = make_report(small.save()).page.read_text()
    assert f"UTC, 5.1{SPACE}s" in page and "UTC, 5.1 s" not in page
