"""What people take away stays on the page with who, why, how many, and the outcome with everything counted. By hand."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from record_rows import Book, criterion

from shakedown.metrics.judging.admits import admits_more, is_as_tight
from shakedown.metrics.judging.criteria import exit_status, score
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.judging.taken_away import weaker
from shakedown.metrics.rows.rows import EpochRow
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.judging import Contract, ContractRow, Criterion
from shakedown.model.nouns import Document, Mode

HOUR = 3600.0
ALL = criterion("passed / attempts", "= 100%")


def two(first: Criterion = ALL, second: Criterion = ALL, **fields: Any) -> Book:
    """Two components on two clusters' partitions, whose criteria have one name; what a test does concerns ``st`` alone."""
    book = Book()
    book.component("st", "a", criteria=(first,), **fields)
    book.component("ft", "b", partition="c:big", criteria=(second,))
    book.run("ft", "b", begin=0.0)
    return book


def amended(book: Book, by: str = "S", why: str = "a typo") -> None:
    """An amendment comes into force now."""
    book.record.amended = len(book.record.runs) + 1
    book.record.epoch += 1
    book.record.epochs.append(EpochRow(book.record.epoch, "amended", by, why))


def judged(book: Book, *earlier: Document) -> Scorecard:
    book.record.ended = book.record.last
    return score(book.document(), book.record, earlier=earlier)


# ---- runs --------------------------------------------------------------------------------------------------------------


def test_a_clock_that_is_started_anew_after_a_bad_run() -> None:
    """Of the three runs the failed one and a good one are from before the restart: 1 of 1 is met, 2 of 3 would not be."""
    book = two(duration_s=10 * HOUR)
    book.run("st", "a", "failed", begin=0.0, elapsed_s=HOUR)
    book.run("st", "a", begin=HOUR, elapsed_s=HOUR)
    book.say(3, "clock", act="restart", cause="vendor", by="V", why="a new switch")
    book.run("st", "a", begin=4 * HOUR, elapsed_s=9 * HOUR)
    book.record.time_up["st"] = 13 * HOUR
    card = judged(book)
    assert [found.outcome for component in card.components for found in component.criteria] == ["met", "met", "met"]
    assert (card.outcome, exit_status(card)) == ("accepted with restrictions", 0)
    assert card.restrictions == (
        "st: 2 runs (1 passed, 1 failed) from before its clock was started anew, by V: a new switch; with everything counted "
        "k would be not met (2 passed / 3 attempts = 66.7% (1 failed), must = 100%)",
    )
    assert card.summary == (
        "accepted with restrictions (1 thing taken away by what people did): all 3 criteria are met"
    )


def test_a_case_that_is_amended_out_and_in_again() -> None:
    """The failed result was taken out of the plan and wanted again: only the new one counts, and the page has both."""
    book = two()
    whole = book.document()
    without = replace(whole, components=(replace(whole.components[0], cases=()), *whole.components[1:]))
    book.run("st", "a", "failed", result=10, repeat=1)
    amended(book, by="V", why="it is broken")
    amended(book, why="back again")
    book.run("st", "a", result=11, repeat=1, epoch=3)
    amended(book, why="other words")
    card = judged(book, whole, without, whole)
    assert card.outcome == "accepted with restrictions"
    assert card.restrictions == (
        "st: 1 run (1 failed) that an amendment took out and wanted again do not count, by V: it is broken; with everything "
        "counted k would be not met (1 passed / 2 attempts = 50.0% (1 failed), must = 100%)",
    )


@pytest.mark.parametrize(("mode", "field"), [("set-up", "set_up"), ("clean-up", "clean_up")])
def test_a_set_up_or_a_clean_up_that_is_amended_out_and_in_again(mode: str, field: str) -> None:
    """It failed, was taken out, and wanted again: only the new one counts, and the page has both."""
    book = two()
    whole = with_step(book.document(), field, ("b",))
    without = with_step(whole, field, ())
    name = mode.replace("-", " ")
    book.run("st", "a")
    book.run("st", "b", "failed", mode=mode, result=10, repeat=1)
    amended(book, by="V", why="no need")
    gone = judged_by(without, book, whole)
    assert gone.outcome == "accepted with restrictions"
    assert gone.restrictions == (
        "st: case b was taken out of the plan, and 1 run (1 failed) with it, by V: no need",
        f"st: {name} ({name}, must = 100%) was taken out, by V: no need; as it was it would be not met (0 passed / 1 {mode} = 0% "
        "(b failed as r3), must = 100%)",
    )
    amended(book, why="back again")
    book.run("st", "b", mode=mode, result=11, repeat=1, epoch=3)
    card = judged_by(whole, book, whole, without)
    assert card.outcome == "accepted with restrictions"
    assert card.restrictions == (
        "st: 1 run (1 failed) that an amendment took out and wanted again do not count, by V: no need; with everything counted "
        f"{name} would be not met (1 passed / 2 {mode}s = 50.0% (b failed as r3), must = 100%)",
    )
    assert "1 run judged that the plan in force no longer asks for: not counted" in card.remarks


def test_a_set_up_that_another_one_replaces() -> None:
    book = two()
    book.cases["c"] = replace(book.cases["b"], id="c", test="c")
    before = with_step(book.document(), "set_up", ("b",))
    after = with_step(before, "set_up", ("c",))
    book.run("st", "a")
    book.run("st", "b", "failed", mode="set-up", result=10, repeat=1)
    amended(book, by="V", why="an easier one")
    book.run("st", "c", mode="set-up", result=11, repeat=1, epoch=2)
    card = judged_by(after, book, before)
    assert card.restrictions == (
        "st: case b was taken out of the plan, and 1 run (1 failed) with it, by V: an easier one",
    )


def judged_by(document: Document, book: Book, *earlier: Document) -> Scorecard:
    book.record.ended = book.record.last
    return score(document, book.record, earlier=earlier)


def with_step(document: Document, field: str, cases: tuple[str, ...]) -> Document:
    return replace(document, components=(replace(document.components[0], **{field: cases}), *document.components[1:]))


def test_cases_and_components_that_are_amended_out_for_good() -> None:
    book = two()
    book.component("gone", "d", criteria=(ALL,))
    book.cases["e"] = replace(book.cases["a"], id="e", test="e")
    before = book.document()
    book.run("st", "a")
    book.run("st", "e", "incorrect")
    book.run("gone", "d", "failed")
    del book.components["gone"]
    amended(book)
    after = book.document()
    amended(book, by="T", why="other words")
    card = judged(book, before, after)
    assert card.outcome == "accepted with restrictions"
    assert card.restrictions == (
        "st: case e was taken out of the plan, and 1 run (1 incorrect) with it, by S: a typo; with everything counted k would be "
        "not met (1 passed / 2 attempts = 50.0% (1 incorrect), must = 100%)",
        "gone: the component was taken out of the plan, and 1 run (1 failed) with it, by S: a typo",
        "component gone was taken out of the plan, by S: a typo",
    )


def test_a_case_that_is_made_a_filler_takes_its_failed_runs_along() -> None:
    """The case is there, and counts nowhere: its failed run is told, with what would be if it counted."""
    book = two()
    book.cases["e"] = replace(book.cases["a"], id="e", test="e")
    before = book.document()
    (st, *rest) = before.components
    before = replace(before, components=(replace(st, cases=("a", "e")), *rest))
    after = replace(before, components=(replace(st, cases=("a",), fillers=("e",)), *rest))
    book.run("st", "a")
    book.run("st", "e", "failed")
    amended(book, by="T", why="it fills")
    book.run("st", "e", "failed", mode="filler")
    card = judged_by(after, book, before)
    assert card.restrictions == (
        "st: case e is only a filler now, and 1 run (1 failed) of it counts no more, by T: it fills; with everything counted k "
        "would be not met (1 passed / 2 attempts = 50.0% (1 failed), must = 100%)",
    )


def test_a_mode_that_is_taken_out_takes_its_failed_runs_along() -> None:
    book = two()
    before = book.document()
    (st, *rest) = before.components
    modes = (Mode("isolated", 1), Mode("fill", 1, copies=1))
    before = replace(before, components=(replace(st, modes=modes), *rest))
    after = replace(before, components=(replace(st, modes=modes[1:]), *rest))
    book.run("st", "a", "failed", mode="isolated")
    book.run("st", "a", mode="fill")
    amended(book, by="T", why="fill tells all")
    card = judged_by(after, book, before)
    assert card.restrictions == (
        "st: case a in mode isolated was taken out of the plan, and 1 run (1 failed) with it, by T: fill tells all; with "
        "everything counted k would be not met (1 passed / 2 attempts = 50.0% (1 failed), must = 100%)",
    )
    without = replace(before, components=(st, *rest))
    assert (
        judged_by(without, book, before)
        .restrictions[0]
        .startswith(
            "st: case a in mode isolated was taken out of the plan, and 1 run (1 failed) with it, by T: fill tells all"
        )
    )


def test_what_no_plan_wanted_and_was_never_begun_is_no_component() -> None:
    """An order that was taken back when its case was taken out: nothing was attempted, and nothing is taken away."""
    book = two()
    before = book.document()
    book.run("st", "a")
    book.run("no longer wanted", "e", "cancelled")
    amended(book, by="T", why="no need")
    assert judged_by(before, book, before).restrictions == ()


def test_everything_is_counted_beside_a_change_also_what_is_ruled_out() -> None:
    """The failure is from before the change, and ruled out too: with everything counted it counts."""
    book = two(replace(ALL, epochs="last", leave_out=("ruled site",)), repeats=3)
    book.run("st", "a", "failed", ruling="site")
    book.run("st", "a")
    book.record.epoch = 2
    book.record.epochs.append(EpochRow(2, "changed", "V", "new cables"))
    book.run("st", "a", epoch=2)
    (said,) = [said for said in judged(book).restrictions if "epoch 2" in said]
    assert said.endswith(
        "with everything counted k would be not met (2 passed / 3 attempts = 66.7% (1 failed), must = 100%)"
    )


@pytest.mark.parametrize("epochs", ["last", "2"])
def test_a_change_that_is_declared_after_a_bad_run(epochs: str) -> None:
    book = two(replace(ALL, epochs=epochs), repeats=2)
    book.run("st", "a", "failed")
    book.record.epoch = 2
    book.record.epochs.append(EpochRow(2, "changed", "V", "new cables"))
    book.run("st", "a", epoch=2)
    card = judged(book)
    assert card.outcome == "accepted with restrictions"
    assert card.restrictions == (
        "st: k counts from epoch 2 on, opened by V: new cables; 1 run (1 failed) from before do not count; with everything "
        "counted k would be not met (1 passed / 2 attempts = 50.0% (1 failed), must = 100%)",
    )


@pytest.mark.parametrize("epochs", ["last", "2"])
@pytest.mark.parametrize(("word", "how"), [("fingerprint", "the fingerprint"), ("finding", "the conductor")])
def test_an_epoch_that_nobody_declared_takes_no_bad_run_out(word: str, how: str, epochs: str) -> None:
    """It is undecided until somebody stands by the change, and the sentence names no person where there is none."""
    book = two(replace(ALL, epochs=epochs), repeats=2)
    book.run("st", "a", "failed")
    book.record.epoch = 2
    book.record.epochs.append(EpochRow(2, word, "root" if word == "fingerprint" else "", "a knob", seq=7))
    book.run("st", "a", epoch=2)
    card = judged(book)
    assert card.outcome == "incomplete"
    found = f"which nobody declared (found by {how}, event 7: a knob)"
    assert card.summary == (
        f"incomplete: undecided: st: k (met from epoch 2 on, {found}; not met from epoch 1 on (1 passed / 2 attempts = "
        "50.0% (1 failed), must = 100%))"
    )
    assert card.restrictions == (
        f"st: k counts from epoch 2 on, {found}; 1 run (1 failed) from before do not count; with everything "
        "counted k would be not met (1 passed / 2 attempts = 50.0% (1 failed), must = 100%)",
    )


def test_an_epoch_that_nobody_declared_counts_back_to_the_last_one_that_somebody_did() -> None:
    """A failure in an epoch before the declared one is out of count; one after it is not."""
    for bad, outcome in ((1, "accepted with restrictions"), (2, "incomplete"), (3, "incomplete"), (4, "rejected")):
        book = two(replace(ALL, epochs="last"), repeats=4)
        for number, word in ((1, ""), (2, "changed"), (3, "finding"), (4, "fingerprint")):
            if word:
                book.record.epoch = number
                book.record.epochs.append(EpochRow(number, word, "V", "new cables", seq=number))
            book.run("st", "a", "failed" if number == bad else "passed", epoch=number)
        assert judged(book).outcome == outcome, bad


def test_an_amendment_that_names_an_epoch_knew_it() -> None:
    """The number was said after the epoch began: that is a word of people, and weighed as one."""
    for amended_by, outcome in ((5, "incomplete"), (9, "accepted with restrictions")):
        book = two(replace(ALL, epochs="2"), repeats=2)
        book.run("st", "a", "failed")
        book.record.epoch, book.record.amended = 2, amended_by
        book.record.epochs.append(EpochRow(2, "finding", "", "a knob", seq=7))
        book.run("st", "a", epoch=2)
        assert judged(book).outcome == outcome


def test_good_runs_of_earlier_epochs_restrict_nothing() -> None:
    book = two(replace(ALL, epochs="last"), repeats=2)
    book.run("st", "a")
    book.record.epoch = 2
    book.record.epochs.append(EpochRow(2, "changed", "V", "new cables"))
    book.run("st", "a", epoch=2)
    assert judged(book).outcome == "accepted"


# ---- criteria ----------------------------------------------------------------------------------------------------------

MOST = criterion("passed / attempts", ">= 90%", enough=2)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (replace(MOST, bound=0.5, must=">= 50%"), "was changed from >= 90% to >= 50%"),
        (replace(MOST, bound=0.5, must=">= 50%", comparison=">"), "was changed from >= 90% to >= 50%"),
        (replace(MOST, enough=1), "was changed (enough 2 -> 1)"),
        (replace(MOST, leave_out=("ruled site",)), "was changed (leave_out none -> ruled site)"),
        (
            replace(MOST, measure="passed / wanted", enough=1),
            "was changed (measure passed / attempts -> passed / wanted, enough 2 -> 1)",
        ),
        (criterion("correct / completed", "= 100%", name="other"), "(passed / attempts, must >= 90%) was taken out"),
    ],
)
def test_a_bound_that_is_loosened_or_taken_out(after: Criterion, said: str) -> None:
    """1 of 2 attempts passed; by the bound as it was that is not met."""
    book = two(MOST)
    before = book.document()
    book.run("st", "a", "failed", result=5, retried=True)
    book.run("st", "a", result=5, attempt=2)
    book.components["st"] = replace(book.components["st"], criteria=(after,))
    amended(book, "V", "as agreed")
    card = judged(book, before)
    assert (
        f"st: k {said}, by V: as agreed; as it was it would be not met (1 passed / 2 attempts = 50.0% (1 failed)"
        in card.restrictions[0]
    )
    assert len(card.restrictions) == 1
    met = card.components[0].criteria[0].outcome == "met"
    assert card.outcome == ("accepted with restrictions" if met else "rejected")


def test_raising_enough_does_not_hide_what_was_not_met() -> None:
    """Two attempts were enough and 1 of 2 passed: not met. Now 1,000 are enough: undecided, and what it was is said."""
    book = two(MOST, repeats=2)
    before = book.document()
    book.run("st", "a")
    book.run("st", "a", "failed")
    book.components["st"] = replace(book.components["st"], criteria=(replace(MOST, enough=1000),))
    amended(book, "V", "more data")
    card = judged(book, before)
    assert (card.outcome, exit_status(card)) == ("incomplete", 4)
    assert card.restrictions[0].startswith(
        "st: k was changed (enough 2 -> 1000), by V: more data; as it was it would be not met"
    )


def test_a_planned_time_that_is_shortened() -> None:
    book = two(duration_s=10 * HOUR)
    before = book.document()
    book.run("st", "a", begin=0.0, elapsed_s=4 * HOUR)
    book.components["st"] = replace(book.components["st"], duration_s=4 * HOUR)
    book.record.time_up["st"] = 4 * HOUR
    amended(book, "V", "it looks good")
    card = judged(book, before)
    assert card.outcome == "accepted with restrictions"
    assert card.restrictions == (
        "st: planned time was changed from >= 10 h 00 min to >= 4 h 00 min, by V: it looks good; as it was it would be undecided "
        "(the clock ran 4 h 00 min of 10 h 00 min, must >= 10 h 00 min)",
    )


def test_what_an_amendment_tightens_or_adds_restricts_nothing() -> None:
    book = two(MOST)
    before = book.document()
    book.run("st", "a", result=5)
    book.run("st", "a", result=5, attempt=2)
    more = criterion("correct / completed", "= 100%", name="right")
    book.components["st"] = replace(book.components["st"], criteria=(replace(MOST, bound=0.95, must=">= 95%"), more))
    amended(book)
    assert judged(book, before).outcome == "accepted"


@pytest.mark.parametrize(
    ("before", "after", "is_weaker"),
    [
        (">= 90%", ">= 95%", False), (">= 90%", "> 90%", False), ("> 90%", ">= 90%", True), ("<= 20", "<= 10", False),
        ("<= 20", "<= 30", True), ("<= 20", ">= 10", True), (">= 90%", "= 100%", False), ("= 100%", ">= 90%", True),
        (">= 90%", "= 50%", True), ("<= 20", "< 20", False), ("< 20", "<= 20", True), ("= 4", "= 5", True),
    ],
)  # fmt: skip
def test_what_is_weaker_of_a_figure(before: str, after: str, is_weaker: bool) -> None:
    one, other = criterion("value", before, of="rate"), criterion("value", after, of="rate")
    assert (weaker(one, other), weaker(one, one)) == (is_weaker, False)


@pytest.mark.parametrize(
    ("measure", "before", "after", "is_weaker"),
    [
        ("passed / wanted", "= 100%", ">= 100%", False), ("passed / wanted", ">= 100%", "= 100%", False),
        ("correct / completed", "= 0%", "<= 0%", False), ("passed / wanted", "= 100%", "<= 100%", True),
        ("passed / wanted", "= 100%", ">= 99.9%", True), ("passed / wanted", "> 99%", ">= 100%", False),
        ("sd / mean", "= 100%", ">= 100%", True), ("passed / attempts", ">= 95%", "= 100%", False),
    ],
)  # fmt: skip
def test_what_is_weaker_of_a_share(measure: str, before: str, after: str, is_weaker: bool) -> None:
    """No share of runs is more than all, or less than none: how a bound is written is no matter."""
    one, other = criterion(measure, before, of="rate"), criterion(measure, after, of="rate")
    assert weaker(one, other) == is_weaker == admits_more(one, other)


def test_a_row_whose_bound_does_is_weaker_than_one_whose_bound_does_not() -> None:
    row = ContractRow("c:1", "c", "a", "rate", "> 4", "contract", low=4.0, strict=True)
    easier = replace(row, must=">= 4", strict=False)
    assert is_as_tight(row, easier) and not is_as_tight(easier, row)
    assert is_as_tight(replace(row, low=4.0 * (1 + 1e-12)), row) and is_as_tight(
        replace(row, low=5.0, strict=False), row
    )
    assert not is_as_tight(replace(row, low=None, high=9.0), row) and is_as_tight(replace(row, high=9.0), row)


# ---- rows --------------------------------------------------------------------------------------------------------------


def with_rows(book: Book, *rows: ContractRow) -> Document:
    document = book.document()
    names = tuple(row.name for row in rows)
    cases = tuple(replace(case, rows=names if case.test == "a" else ()) for case in document.cases)
    return replace(document, cases=cases, contracts=(Contract("c", rows),))


@pytest.mark.parametrize(("low", "restricts"), [(8.0, True), (12.0, False), (10.0, False)])
def test_a_contract_row_that_is_loosened(low: float, restricts: bool) -> None:
    """It was >= 10 GB/s, and 9 GB/s were measured (or 13, where it is tightened)."""
    book = two()
    before = with_rows(book, ContractRow("c:1", "c", "a", "rate", ">= 10 GB/s", "contract", low=10.0, unit="GB/s"))
    book.run("st", "a", figures={"rate": 9.0 if low == 8.0 else 13.0})
    amended(book, "V", "as measured")
    book.record.ended = book.record.last
    row = ContractRow("c:7", "c", "a", "rate", f">= {low:g} GB/s", "contract", low=low, unit="GB/s")
    card = score(with_rows(book, row), book.record, earlier=(before,))
    said = (
        "contract row c:1 (a: rate >= 10 GB/s) was taken out or changed, by V: as measured; as it was it would be not met "
        "(0 of 1 value of rate inside >= 10 GB/s, the only one 9 GB/s (r2))"
    )
    assert card.restrictions == ((said,) if restricts else ())
    assert card.outcome == ("accepted with restrictions" if restricts else "accepted")


def test_a_judged_case_that_an_amendment_makes_unavailable_is_in_no_count_and_restricts(story: Any) -> None:
    """Rule W10, also where runs of it were judged before: the engine orders nothing of it any more."""
    story.runs("t/a", "p")
    story.run("t/b", "failed")
    story.must("passed / attempts", "=", 1.0, name="all")
    before = story.document()
    cases = tuple(replace(case, unavailable="it takes 2 nodes" if case.id == "t/b" else "") for case in before.cases)
    after = replace(before, cases=cases)
    story.add("amended", value={"document": "e" * 64, "components": ["main"], "difference": [], "by": "Bo"})
    story.end()
    record = fold_runs(story.events)
    record.plans = {"d" * 64: before, "e" * 64: after}
    (part,) = score(after, record).components
    assert (part.wanted, part.passed, part.to_come) == (1, 1, 0)
    assert [one.case for one in part.unavailable] == ["t/b"]
    assert [one.outcome for one in part.criteria] == ["met"]
