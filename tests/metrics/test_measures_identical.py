"""identical: runs that left the same files, groups across parameters, who differs, and what can still become of it."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from shakedown.metrics.identical import identical
from shakedown.metrics.judging.populations import CaseRuns, Population
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Case, Check, Component, Document, System, Test
from shakedown.model.recorded import MOST_EACH, Recorded, differing, listing, read_recorded, summed

FILES = "out/*.nc"
TEST = Test("m", checks=(Check("recorded", FILES, "", f"file {FILES} recorded"),))


def row(run: str, case: str, content: str, verdict: str = "passed") -> RunRow:
    """A run that left two files, the second of which holds ``content``; "" of one of which nothing was recorded."""
    sums = {"out/a.nc": "a" * 64, "out/b.nc": (content * 64)[:64]}
    kept = {FILES: summed(sums)} if content else {}
    return RunRow(run, case, "c", 1, 1, verdict, "", 1, 0.0, int(run[1:]), recorded=kept)


def measured(cases: dict[str, str], across: tuple[str, ...] = (), to_come: int = 0, files: str = FILES) -> Measured:
    """``cases``: "n=1,toolchain=gcc" -> a letter a run, the content that it left; "-" of a run without a record."""
    runs, number = [], 0
    for name, contents in cases.items():
        pairs = tuple((key, value) for key, _, value in (one.partition("=") for one in name.split(",")))
        case = Case(f"m/{name}", "m", "box:all", parameters=pairs)
        rows = []
        for content in contents:
            number += 1
            rows.append(row(f"r{number}", case.id, content.strip("-")))
        runs.append(CaseRuns(case, (("", len(rows) + to_come),), tuple(rows)))
    component = Component("c", "functionality", ())
    document = Document("p", System("box", (), ()), (component,), tuple(one.case for one in runs), (TEST,))
    criterion = Criterion("same", "identical", "=", 1.0, "%", files=files, across=across)
    return identical(criterion, Population(tuple(runs), ()), MeasureContext(document, Record(), component))


def test_runs_of_each_case_are_compared_among_themselves() -> None:
    same = measured({"n=1": "xxx", "n=2": "yy"})
    assert (same.value, same.count, same.low, same.high) == (1.0, 5, 1.0, 1.0)
    assert same.arithmetic == "5 identical / 5 runs compared = 100%"


def test_who_differs_from_the_rest_is_named_with_the_files() -> None:
    one = measured({"n=1": "xxyx", "n=2": "zz"})
    assert one.value == 5 / 6
    assert one.arithmetic == ("5 identical / 6 runs compared = 83.3%; r3 (m/n=1) differs from the other 3 in out/b.nc")
    many = measured({"n=1": "xxxxxxabcd-"})
    assert many.arithmetic.endswith(
        "; r7 (m/n=1), r8 (m/n=1), r9 (m/n=1) and 2 more differ from the other 6 in out/b.nc"
    )
    nothing = measured({"n=1": "xx-"})
    assert nothing.arithmetic.endswith("; r3 (m/n=1) differs from the other 2: nothing was recorded of it")


def test_two_runs_that_recorded_nothing_are_not_identical() -> None:
    assert measured({"n=1": "--"}).value == 0.0
    assert measured({"n=1": "--"}).arithmetic.endswith("r1 (m/n=1), r2 (m/n=1) recorded nothing")
    assert measured({"n=1": "x--"}).value == 1 / 3


def test_cases_are_joined_across_parameters() -> None:
    cases = {"n=1,toolchain=gcc": "xx", "n=1,toolchain=icx": "y", "n=2,toolchain=gcc": "z", "n=2,toolchain=icx": "z"}
    joined = measured(cases, across=("toolchain",))
    assert (joined.value, joined.count) == (4 / 5, 5)
    assert "r3 (m/n=1,toolchain=icx) differs from the other 2 (m/n=1,toolchain=gcc) in out/b.nc" in joined.arithmetic
    alone = measured(cases)
    assert (alone.value, alone.count) == (1.0, 2)
    assert alone.arithmetic.endswith("; 3 runs had no other to be compared with")
    assert measured(cases, across=("toolchain", "n")).value == 2 / 5


def test_nothing_to_compare_is_no_value() -> None:
    assert measured({"n=1": "x", "n=2": "x"}).value is None
    assert measured({"n=1": "x"}).reason == f"no two runs recorded {FILES}, so nothing is compared"
    assert measured({"n=1": "x"}, to_come=2).reason.endswith("; 2 to come")
    assert measured({"n=1": "xx"}, files="other").value is None


def test_a_run_that_did_not_come_to_its_end_is_not_compared() -> None:
    case = Case("m", "m", "box:all")
    rows = (row("r1", "m", "x"), row("r2", "m", "x"), row("r3", "m", "", "failed"), row("r4", "m", "x", "incorrect"))
    component = Component("c", "functionality", ())
    document = Document("p", System("box", (), ()), (component,), (case,), (TEST,))
    population = Population((CaseRuns(case, (("", 4),), rows),), ())
    criterion = Criterion("same", "identical", "=", 1.0, "%", files=FILES)
    found = identical(criterion, population, MeasureContext(document, Record(), component))
    assert (found.value, found.count) == (1.0, 3)


def test_a_pattern_with_names_is_that_of_each_case() -> None:
    template = Check("recorded", "out-{n}", "", "file out-{n} recorded")
    own = Check("recorded", "out-1", "", "file out-1 recorded")
    case = Case("m/n=1", "m", "box:all", parameters=(("n", "1"),), checks=((template.text, own),))
    kept = {"out-1": summed({"out-1": "a" * 64})}
    rows = tuple(RunRow(f"r{n}", case.id, "c", 1, 1, "passed", "", 1, 0.0, n, recorded=kept) for n in (1, 2))
    component = Component("c", "functionality", ())
    document = Document("p", System("box", (), ()), (component,), (case,), (Test("m", checks=(template,)),))
    criterion = Criterion("same", "identical", "=", 1.0, "%", files="out-{n}")
    population = Population((CaseRuns(case, (("", 2),), rows),), ())
    assert identical(criterion, population, MeasureContext(document, Record(), component)).value == 1.0


@given(st.lists(st.text("xyz-", min_size=1, max_size=5), min_size=1, max_size=3), st.integers(0, 3))
def test_the_share_by_counting_and_its_bounds_hold_whatever_comes(contents: list[str], coming: int) -> None:
    now = measured({f"n={place}": text for place, text in enumerate(contents)}, to_come=coming)
    compared = [text for text in contents if len(text) > 1]
    if not compared:
        assert now.value is None
        return
    hits = sum(max(Counter(text.replace("-", "")).values(), default=0) for text in compared)
    assert now.value == hits / sum(map(len, compared))
    assert now.low is not None
    assert now.high is not None
    for more in ("x" * coming, "w" * coming, "-" * coming):
        later = measured({f"n={place}": text + more for place, text in enumerate(contents)})
        assert later.value is not None
        assert now.low - 1e-12 <= later.value <= now.high + 1e-12


def test_what_is_kept_is_small_and_read_back() -> None:
    sums = {f"f{number}": f"{number:064x}" for number in range(MOST_EACH + 1)}
    assert summed(sums).each == {}
    few = dict(list(sums.items())[:3])
    kept = summed(few)
    assert kept.each == {"f0": "0" * 12, "f1": "0" * 12, "f2": "0" * 12}
    assert summed(dict(reversed(few.items()))) == kept, "the order in which files are found says nothing"
    assert summed({"g": sums["f0"], "f1": sums["f1"], "f2": sums["f2"]}).sum != kept.sum, "names count"
    assert listing({"b": "2", "a": "1"}) == "1  a\n2  b\n"
    assert read_recorded({"p": [kept.sum, 3, kept.each]}) == {"p": kept}
    assert read_recorded({"p": 7}) == read_recorded(None) == {}
    assert differing(Recorded("1", 2, {"a": "1", "b": "2"}), Recorded("2", 2, {"b": "3", "a": "1"})) == ["b"]
    assert differing(Recorded("1", 2), Recorded("2", 2, {"b": "3"})) == []
