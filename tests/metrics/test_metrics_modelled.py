"""Which numbers a rehearsal may decide a criterion on: every measure says what it reads, and each is asked for its sources."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from shakedown.metrics.judging.default_criteria import USUAL_CRITERION
from shakedown.metrics.ladders import LadderRow, RungRow
from shakedown.metrics.modelled import ladders_known, not_modelled
from shakedown.model import measures as declared
from shakedown.model.measures import MEASURES

SCALING = SimpleNamespace(figure="loop")
DOCUMENT: Any = SimpleNamespace(
    tests=(
        SimpleNamespace(
            name="slow", figures=(SimpleNamespace(name="lat"), SimpleNamespace(name="loop")), scaling=SCALING
        ),
        SimpleNamespace(name="ok", figures=(), scaling=None),
    ),
    contracts=(SimpleNamespace(rows=(SimpleNamespace(name="r", test="slow", figure="lat", basis="contract"),)),),
)
POPULATION: Any = SimpleNamespace(
    cases=[SimpleNamespace(case=SimpleNamespace(test=name, rows=rows)) for name, rows in (("slow", ("r",)), ("ok", ()))]
)
# What a criterion of each kind rests on, where nobody says anything of the machine. A criterion on a score says it by itself.
NAMED = {
    "none": "",
    "score": "",
    "figure": "slow.lat is",
    "rows": "slow.lat is",
    "scaling": "slow.loop is",
    "ladder": "ok.lat, slow.lat are",
    "files": "no files",
}


def why(measure: str, *known: str, of: str = "lat", real: bool = False, usual: bool = False) -> str:
    criterion: Any = SimpleNamespace(measure=measure, of=of, basis="", test="")
    criterion = USUAL_CRITERION if usual else criterion
    component = SimpleNamespace(ladder=SimpleNamespace(figure="lat"))
    record = SimpleNamespace(rehearsal={} if real else {"modelled": list(known)})
    return not_modelled(criterion, POPULATION, SimpleNamespace(document=DOCUMENT, component=component, record=record))  # type: ignore[arg-type]


def test_a_test_without_the_figure_is_not_asked_for_it() -> None:
    assert why("value", "slow.lat") == ""


def test_the_test_that_has_the_figure_is() -> None:
    assert "slow.lat is" in why("value") and "ok" not in why("value").partition("on this")[0]


def test_every_test_has_a_run_time() -> None:
    assert "ok.elapsed" in why("value", "slow.elapsed", of="elapsed")


def test_every_measure_says_what_it_reads() -> None:
    assert [one.name for one in MEASURES if not one.reads] == []
    reads = {one.name: one.reads for one in MEASURES}
    assert [name for name, kind in reads.items() if kind == "none" and "of" in declared.measures()[name].keys] == []
    assert (reads["efficiency"], reads["largest size"], reads["identical"]) == ("scaling", "ladder", "files")


@pytest.mark.parametrize("measure", [one.name for one in MEASURES])
def test_no_measure_is_decided_on_numbers_without_a_source(measure: str) -> None:
    said, named = why(measure), NAMED[declared.measures()[measure].reads]
    assert said.startswith("not modelled: ") and named in said if named else said == ""
    assert why(measure, real=True) == ""


@pytest.mark.parametrize("measure", [one.name for one in MEASURES if one.reads != "files"])
def test_with_a_source_every_measure_is_decided(measure: str) -> None:
    assert why(measure, "slow.lat", "slow.loop", "ok.lat") == ""


def test_without_criteria_a_ladder_on_a_figure_is_not_decided() -> None:
    assert "slow.lat" in why("passed / wanted", usual=True)


def test_a_measure_of_a_package_that_does_not_say_it_may_read_every_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = replace(MEASURES[0], name="theirs", reads="")
    monkeypatch.setattr("shakedown.metrics.modelled.measure_named", lambda name: theirs)
    assert "ok.elapsed, slow.elapsed, slow.lat and 1 more are" in why("theirs")
    assert "slow.loop is" in why("theirs", "slow.elapsed", "ok.elapsed", "slow.lat")
    assert why("theirs", "slow.elapsed", "ok.elapsed", "slow.loop", "slow.lat") == ""


def test_a_ladder_on_a_figure_that_is_made_up_says_of_no_size_that_it_holds() -> None:
    rungs = (RungRow("s/1", "1", "holds", 1, 3.0), RungRow("s/2", "2", "fails", 1, 1.0, "lat is too far off"))
    row = LadderRow("c", "slow", "slow", "n", "1", "2", True, False, rungs, figure="lat", within=0.2)
    (said,) = ladders_known([row], {"modelled": []})
    assert said.in_words().startswith("slow is not modelled: nobody says what slow.lat is")
    assert [(one.state, one.value, one.why) for one in said.rungs] == [("not known", None, "")] * 2
    assert ladders_known([row], {"modelled": ["slow.lat"]}) == ladders_known([row], {}) == (row,)
    by_verdicts = replace(row, figure="")
    assert ladders_known([by_verdicts], {"modelled": []}) == (by_verdicts,)
