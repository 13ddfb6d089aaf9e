"""Names on the page break where their parts end, and never inside a word; what stands around them stays as it is."""

from __future__ import annotations

import re

import pytest

from shakedown.report.page.filters import name, named


def parts(markup: str) -> list[str]:
    return re.findall(r'<span class="part">(.*?)</span>', markup)


def test_a_case_breaks_after_slashes_commas_and_underscores_and_before_its_partition() -> None:
    case = "stencil/solver=cg,nodes_asked=4@batch"
    assert parts(name(case)) == ["stencil/", "solver=cg,", "nodes_", "asked=4", "@batch"]
    assert re.sub("<.*?>", "", name(case)) == case, "it is copied as it is"


def test_only_long_names_in_a_sentence_break() -> None:
    text = "the worst of 8 cases is stencil/solver=cg,nodes=4; 32 passed / 32 wanted, <b> and n/m"
    made = named(text)
    assert parts(made) == ["stencil/", "solver=cg,", "nodes=4;"]
    assert made.endswith("32 passed / 32 wanted, &lt;b&gt; and n/m")


@pytest.mark.parametrize("text", ["", "functionality", "32 correct / 32 completed = 100%"])
def test_what_has_no_long_name_is_left_alone(text: str) -> None:
    assert named(text) == text
