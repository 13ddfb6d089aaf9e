"""JUnit XML of a campaign: what CI shows is what the scorecard says, and nothing that is not met is green."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from shakedown.model.errors import UsageError
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Case, Component, Party, Test
from shakedown.report.writing import make_report

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder

pytestmark = pytest.mark.usefixtures("without_figures")


def suites(campaign: Path) -> dict[str, ElementTree.Element]:
    """The suites by name. The report goes elsewhere: campaigns are shared between tests."""
    folder = campaign.parent / "junit"
    file = folder / "junit.xml"
    make_report(campaign, folder, junit=file)
    return {suite.get("name", ""): suite for suite in ElementTree.parse(file).getroot()}


def states(suite: ElementTree.Element) -> dict[str, str]:
    """Each test case by name: what its mark says, or "passed"."""
    found = {}
    for case in suite:
        marks = [child for child in case if child.tag != "system-out"]
        assert len(marks) < 2
        found[case.get("name", "")] = f"{marks[0].tag} {marks[0].get('message')}" if marks else "passed"
    return found


def test_results_count_once_by_their_last_attempt(new: Callable[..., CampaignBuilder]) -> None:
    builder = new(
        components=(Component("main", "functionality", ("hello",)), Component("late", "stability", ("hello",))),
        cases=(Case("hello", "hello", "local:all"), Case("wrong", "wrong", "local:all", expect="failed")),
        tests=(Test("hello"), Test("wrong")),
    )
    builder.run("hello", "main", "timeout", attempt=1, reason="it took too long")
    builder.run("hello", "main", "passed", attempt=2, seconds=2.5, figures={"rate": 0.1})
    builder.run("hello", "main", "incorrect", repeat=2, reason="output has no <sum>")
    builder.run("hello", "main", "node_fail", repeat=3, reason="n7 failed")
    builder.run("wrong", "late", "failed", reason="as it must")
    builder.end()
    found = suites(builder.save())

    assert states(found["main"]) == {
        "hello #1": "passed",
        "hello #2": "failure incorrect: output has no <sum>",
        "hello #3": "error node_fail: n7 failed",
    }
    assert states(found["late"]) == {"wrong #1": "passed"}  # it ends as its case expects
    first = found["main"][0]
    assert first.get("time") == "2.500"
    assert (first.findtext("system-out") or "").splitlines() == [
        "r000001, attempt 1: timeout it took too long",
        "r000002, attempt 2: passed rate=0.1",
    ]
    counts = {key: found["main"].get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "3", "failures": "1", "errors": "1", "skipped": "0"}


def test_criteria_that_are_not_decided_or_waived_are_never_green(new: Callable[..., CampaignBuilder]) -> None:
    def bound(name: str, least: float, enough: int = 1) -> Criterion:
        must = f">= {least:.0%}"
        return Criterion(name, "passed / attempts", ">=", least, "%", enough=enough, must=must)

    criteria = (bound("half", 0.5), bound("all", 1.0), bound("many", 0.5, enough=50), bound("taken", 1.0))
    builder = new(components=(Component("main", "functionality", ("hello",), repeats=2, criteria=criteria),))
    builder.run("hello", "main")
    builder.run("hello", "main", "failed", repeat=2, reason="exit status 1")
    what = {"what": "criterion", "component": "main", "name": "taken"}
    builder.add("waived", value=what | {"by": "Ada", "restriction": "half of it"}, reason="agreed")
    builder.end()
    found = states(suites(builder.save())["criteria"])
    assert found["main: half"] == "passed"
    assert found["main: all"].startswith("failure ") and "50" in found["main: all"]
    assert found["main: many"].startswith("skipped undecided: ")
    assert found["main: taken"] == "skipped not met, waived: half of it"


@pytest.mark.parametrize(
    ("bound", "waived", "parties", "over", "mark"),
    [
        (0.5, False, False, True, "passed"),
        (1.0, True, False, True, "skipped accepted with restrictions"),
        (1.0, True, True, True, "failure disputed: accepted with restrictions if the waiver by Ada"),
        (1.0, False, True, True, "failure rejected"),
        (0.5, False, False, False, "skipped incomplete"),
    ],
)
def test_the_outcome_is_green_where_it_is_accepted_without_restrictions_alone(
    new: Callable[..., CampaignBuilder], bound: float, waived: bool, parties: bool, over: bool, mark: str
) -> None:
    most = Criterion("most", "passed / attempts", ">=", bound, "%", must=f">= {bound:.0%}")
    sides = (Party("site", ("Ada",)), Party("vendor", ("Bo",))) if parties else ()
    builder = new(
        components=(Component("main", "functionality", ("hello",), repeats=2, criteria=(most,)),), parties=sides
    )
    builder.run("hello", "main")
    if over:
        builder.run("hello", "main", "failed", repeat=2, reason="exit status 1")
    if waived:
        what = {"what": "criterion", "component": "main", "name": "most", "by": "Ada", "restriction": "half of it"}
        builder.add("waived", value=what, reason="agreed")
    builder.end()
    found = states(suites(builder.save())["outcome"])
    assert list(found) == ["is accepted"] and found["is accepted"].startswith(mark)


def test_what_is_still_open_or_cannot_run_is_skipped(small: CampaignBuilder) -> None:
    small.add("submit_order", run="r9", job="j9", case="hello", value={"component": "main", "repeat": 4, "attempt": 1})
    small.add("unavailable", case="hello", reason="no such compiler", value={"component": "main"})
    found = states(suites(small.save())["main"])
    assert found["hello #4"] == "skipped it is not over yet"
    assert found["hello"] == "skipped unavailable: no such compiler"


def test_hostile_text_is_well_formed(small: CampaignBuilder) -> None:
    small.run("hello", "main", "failed", reason="<script>\x00\x1b[31m]]>&\ud800" + "x" * 1000)
    small.end()
    (mark,) = suites(small.save())["main"].iter("failure")
    assert "<script>\\x00" in (mark.text or "") and "\x1b" not in (mark.text or "")
    assert len(mark.get("message") or "") <= 300


def test_a_whole_story_agrees_with_its_scorecard(large: Path) -> None:
    found = suites(large)
    written = make_report(large, large.parent / "again")
    marks = Counter(
        child.tag for suite in found.values() for case in suite for child in case if child.tag != "system-out"
    )
    assert sum(int(suite.get("failures", "0")) for suite in found.values()) == marks["failure"] > 0
    not_met = [one for part in written.scorecard.components for one in part.criteria if one.outcome == "not met"]
    assert int(found["criteria"].get("failures", "0")) == len(not_met)
    for part in written.scorecard.components:
        if part.name in found and not part.warm_ups:
            failed = int(found[part.name].get("failures", "0")) + int(found[part.name].get("errors", "0"))
            assert failed == part.judged - part.passed, part.name


def test_a_file_that_cannot_be_written_is_a_sentence(small: CampaignBuilder, tmp_path: Path) -> None:
    small.end()
    (tmp_path / "file").write_text("")
    with pytest.raises(
        UsageError, match=r"file/junit.xml cannot be written: .*\nhint: give another FILE after --junit"
    ):
        make_report(small.save(), junit=tmp_path / "file/junit.xml")
