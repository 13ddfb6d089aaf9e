"""Criteria that cannot do what they were meant to: check warns, and says nothing of those that can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from shakedown.model.measures import MEASURES, measures
from shakedown.model.units import parse_duration, parse_quantity
from shakedown.plans.checking import check_site
from shakedown.plans.components import criteria_advice

TESTS = {
    "rates": "run: {command: x}\nfigures: {rate: {json: a, unit: GB/s, better: higher},"
    " lag: {json: b, unit: s, better: lower}, ranks: {json: c}}\n",
    "plain": "run: {command: x}\n",
    "old": "run: {command: x}\nfigures: {rate: {json: a, unit: GB/s}}\n"
    "expect: [{verdict: build_failed, because: too old}]\n",
}
DONE = "done: {measure: passed / wanted, must: '= 100%'}"


def warned(site: Any, here: Any, keys: str, *criteria: str, tests: str = "rates") -> list[str]:
    for name, text in TESTS.items():
        site.write(f"tests/{name}.yaml", f"test: {name}\n{text}")
    stated = "".join(f"        {criterion}\n" for criterion in criteria)
    text = f"plan: p\nsystem: here\ncomponents:\n  - KIND:\n      tests: [{tests}]\n      {keys}\n      criteria:\n{stated}"
    kind = "stability" if "duration" in keys else "performance"
    site.write("plans/p.yaml", text.replace("KIND", kind))
    checked = check_site(Path(site.path), lambda: here)
    assert checked.problems == ()
    return [problem.message.removeprefix(f"{kind}: ") for problem in checked.warnings]


# ---- enough ----------------------------------------------------------------------------------------------------------

VALUE = "measure: value, of: rate, must: '>= 1 GB/s'"
MODES = "modes: {isolated: {repeats: 3, warm_up: 5}, fill: {repeats: 2, copies: 4}}"


@pytest.mark.parametrize(
    ("keys", "criterion", "tests", "most"),
    [
        ("repeats: 3", f"{VALUE}, enough: 4", "rates", "3 values of rate"),
        ("repeats: 3", f"{VALUE}, enough: 3", "rates", ""),
        ("repeats: 3", f"{VALUE}, enough: 4", "rates, plain", "3 values of rate"),  # plain gives none
        ("repeats: 3", f"{VALUE}, enough: 4", "rates, old", "3 values of rate"),  # what is expected to fail gives none
        ("repeats: 3", f"{VALUE}, per: case, enough: 4", "rates, old", "3 values of rate of rates"),
        ("repeats: 3", f"{VALUE}, per: case, enough: 3", "rates, old", ""),
        ("repeats: 3", f"{VALUE}, per: case", "rates, plain", "0 values of rate of plain"),
        ("repeats: 3", "measure: passed / wanted, must: '>= 9%', enough: 7", "rates, plain", "6 runs"),
        ("repeats: 3", "measure: correct / completed, must: '>= 9%', test: plain, enough: 4", "rates, plain", "3 runs"),
        ("repeats: 3\n      retry: {timeout: 1}", "measure: passed / attempts, must: '>= 9%', enough: 6", "rates", ""),
        (
            "repeats: 3\n      retry: {timeout: 1}",
            "measure: passed / attempts, must: '>= 9%', enough: 7",
            "rates",
            "6 runs",
        ),
        (MODES, f"{VALUE}, mode: isolated, enough: 4", "rates", "3 values of rate"),
        (MODES, f"{VALUE}, mode: fill, enough: 9", "rates", "8 values of rate"),
        (MODES, f"{VALUE}, enough: 11", "rates", ""),
        (MODES, "measure: fill / isolated, of: rate, must: '<= 9%', enough: 4", "rates", "3 values of rate of rates"),
        ("duration: 1h", f"{VALUE}, enough: 1000", "rates", ""),  # nobody knows how many there will be
    ],
)
def test_more_than_can_ever_come_stays_undecided(
    site: Any, here: Any, keys: str, criterion: str, tests: str, most: str
) -> None:
    found = [text for text in warned(site, here, keys, f"a: {{{criterion}}}", DONE, tests=tests) if "enough is" in text]
    assert len(found) == bool(most)
    assert not most or f"there are never more than {most}: it stays undecided" in found[0]


def test_a_floor_of_runs_above_what_can_come_cannot_be_met(site: Any, here: Any) -> None:
    (said,) = warned(site, here, "repeats: 3", "a: {measure: runs, must: '>= 4'}", DONE)
    assert said == "criteria.a: it must be >= 4, and there are never more than 3 runs"
    assert warned(site, here, "repeats: 3", "a: {measure: runs, must: '>= 3'}", DONE) == []


@pytest.mark.parametrize("must", ["> 100%", "< 0%"])
def test_no_share_is_above_all_or_below_nothing(site: Any, here: Any, must: str) -> None:
    found = warned(site, here, "repeats: 3", f"a: {{measure: correct / completed, must: '{must}'}}", DONE)
    assert f"criteria.a: no share is {must}: it cannot be met" in found


@pytest.mark.parametrize(("copies", "told"), [(4, False), (5, True)])
def test_copies_of_a_fill_that_never_run_at_once(site: Any, here: Any, copies: int, told: bool) -> None:
    """The machine has four cores."""
    found = warned(site, here, f"modes: {{fill: {{copies: {copies}}}}}", DONE)
    said = f"{copies} copies of rates never run at once, 4 fit: no figure of its fill runs counts"
    assert found == ([said] if told else [])


# ---- direction -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("criterion", "said"),
    [
        ("measure: value, of: rate, must: '<= 1 GB/s'", "of rate higher is better, and it must be <= 1 GB/s"),
        ("measure: value, of: lag, must: '> 1 s'", "of lag lower is better, and it must be > 1 s"),
        ("measure: value, of: elapsed, must: '>= 1 s'", "of elapsed lower is better, and it must be >= 1 s"),
        ("measure: value, of: rate, statistic: sd, must: '>= 1 GB/s'", "of sd lower is better"),
        ("measure: sd / mean, of: rate, must: '>= 1%'", "of sd / mean lower is better, and it must be >= 1%"),
        ("measure: passed / attempts, must: '<= 5%'", "of passed / attempts higher is better, and it must be <= 5%"),
        ("measure: value, of: rate, must: '>= 1 GB/s'", ""),
        ("measure: value, of: rate, must: '= 1 GB/s'", ""),
        ("measure: value, of: rate, statistic: sd, must: '<= 1 GB/s'", ""),
        ("measure: value, of: ranks, must: '<= 1'", ""),  # nobody says which is better
        ("measure: sd / mean, of: lag, must: '<= 1%'", ""),
    ],
)
def test_a_bound_against_the_direction(site: Any, here: Any, criterion: str, said: str) -> None:
    found = [text for text in warned(site, here, "repeats: 3", f"a: {{{criterion}}}", DONE) if "is better" in text]
    assert len(found) == bool(said)
    assert not said or found[0].startswith(f"criteria.a: {said}")


def test_bounds_from_both_sides_are_a_band(site: Any, here: Any) -> None:
    band = ("a: {measure: value, of: rate, must: '>= 1 GB/s'}", "b: {measure: value, of: rate, must: '<= 2 GB/s'}")
    assert warned(site, here, "repeats: 3", *band, DONE) == []


@pytest.mark.parametrize(
    ("figure", "must", "against"),
    [
        ("rate", "<= 1 GB/s", True),
        ("rate", ">= 1 GB/s", False),
        ("lag", ">= 1 s", True),
        ("elapsed", ">= 1 s", True),
        ("rate", "1 GB/s +-5%", False),
        ("ranks", "<= 4", False),
    ],
)
def test_a_contract_row_against_the_direction(site: Any, here: Any, figure: str, must: str, against: bool) -> None:
    site.write(
        "contracts/c.yaml",
        f"contract: c\ncolumns: [test, figure, must, basis]\nrows:\n  - [rates, {figure}, '{must}', contract]\n",
    )
    found = [text for text in warned(site, here, "repeats: 3", DONE) if "is better" in text]
    assert len(found) == against


@pytest.mark.parametrize(
    ("figure", "must", "idle"),
    [
        ("rate", ">= 0 GB/s", True),
        ("rate", "1 GB/s -150%", True),
        ("lag", ">= 0 s", True),
        ("rate", "> 0 GB/s", False),
        ("rate", "1 GB/s -50%", False),
        ("ranks", ">= 0", False),  # nothing says that it is never below
    ],
)
def test_a_contract_row_that_anything_meets(site: Any, here: Any, figure: str, must: str, idle: bool) -> None:
    site.write(
        "contracts/c.yaml",
        f"contract: c\ncolumns: [test, figure, must, basis]\nrows:\n  - [rates, {figure}, '{must}', contract]\n",
    )
    told = [text for text in warned(site, here, "repeats: 3", DONE) if "whatever comes" in text or "is better" in text]
    assert [f"it is met whatever comes: must {must}" in text for text in told] == [True] * idle, told


# ---- runs that fail --------------------------------------------------------------------------------------------------

CORRECT = "c: {measure: correct / completed, must: '= 100%'}"


@pytest.mark.parametrize(
    ("keys", "criteria", "tests", "said"),
    [
        ("repeats: 5", (CORRECT,), "rates", "4 of the 5 runs of rates may fail and every criterion is still met"),
        ("repeats: 5", (CORRECT,), "rates, plain", "5 of the 5 runs of rates may fail and every criterion is still met; of plain"),
        ("repeats: 5", (CORRECT, DONE), "rates, plain", ""),
        ("repeats: 5", (CORRECT, DONE.replace("wanted", "wanted, test: plain")), "rates, plain", "5 of the 5 runs of rates"),
        ("repeats: 5", (f"a: {{{VALUE}, enough: 5}}",), "rates", ""),
        ("repeats: 5", (f"a: {{{VALUE}, enough: 3}}",), "rates", "2 of the 5 runs of rates may fail"),
        ("repeats: 5", (f"a: {{{VALUE}, test: rates, enough: 5}}", CORRECT), "rates, plain", "5 of the 5 runs of plain"),
        ("duration: 1h", (CORRECT,), "rates", "any number of the runs of rates may fail"),
        ("duration: 1h", ("u: {measure: contractual node-hours / clock node-hours, must: '>= 90%'}",), "rates", ""),
        ("repeats: 1", (CORRECT,), "rates", ""),
        ("repeats: 5", ("x: {measure: passed / wanted, must: '>= 0%'}",), "rates", "5 of the 5 runs of rates"),
    ],
)  # fmt: skip
def test_criteria_that_overlook_runs_that_fail(
    site: Any, here: Any, keys: str, criteria: tuple[str, ...], tests: str, said: str
) -> None:
    found = [text for text in warned(site, here, keys, *criteria, tests=tests) if "may fail" in text]
    assert len(found) == bool(said)
    assert not said or found[0].startswith(said)


def test_nothing_is_advised_of_runs_that_fail_by_a_measure_that_does_not_say_whether_it_sees_them(
    site: Any, here: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = measures()
    unsaid = replace(every["correct / completed"], sees_failures=None)
    monkeypatch.setattr(criteria_advice, "measures", lambda: {**every, unsaid.name: unsaid})
    assert [text for text in warned(site, here, "repeats: 5", CORRECT) if "may fail" in text] == []


def test_every_measure_that_is_shipped_says_whether_it_sees_runs_that_fail() -> None:
    assert [measure.name for measure in MEASURES if measure.sees_failures is None] == []


# ---- out of reach, and true after a drain ------------------------------------------------------------------------------

DAY = "duration: 1d"


@pytest.mark.parametrize(
    ("keys", "criterion", "said"),
    [
        ("repeats: 3", "measure: value, of: elapsed, must: '<= 0 s'", "no run takes <= 0 s: it cannot be met"),
        (
            "repeats: 3",
            "measure: value, of: elapsed, must: '= 100 d'",
            "and a run is ended after 600 s: it cannot be met",
        ),
        ("repeats: 3", "measure: sd / mean, of: rate, must: '<= 1000%'", "<= 1000% is more than 100%"),
        (MODES, "measure: fill / isolated, of: rate, must: '<= 1000%'", "it can only be met"),
        (MODES, "measure: fill / isolated, of: elapsed, must: '<= 1000%'", ""),  # ten times as long may be
        (DAY, "measure: hours per node, must: '>= 30 h'", "the component runs for 24 h: it cannot be met"),
        (DAY, "measure: hours per node, must: '>= 24 h'", ""),
        (DAY, "measure: mean time to interrupt, must: '>= 30 h'", "the component runs for 24 h: it stays undecided"),
        (DAY, "measure: node-hours, must: '>= 25'", "1 node has 24 node-hours in 24 h: it cannot be met"),
        (DAY, "measure: node-hours, must: '>= 24'", ""),
        (
            "sweep: {}",
            "measure: passed / wanted, must: '>= 9%', enough: 2",
            "never more than 1 runs: it stays undecided",
        ),
    ],
)
def test_bounds_that_nothing_can_reach(site: Any, here: Any, keys: str, criterion: str, said: str) -> None:
    found = warned(site, here, keys, f"a: {{{criterion}}}", DONE)
    words = ("cannot be met", "stays undecided", "can only be met", "more than 100%")
    told = [text for text in found if text.startswith("criteria.a: ") and any(word in text for word in words)]
    assert len(told) == bool(said), found
    assert not said or said in told[0]


@pytest.mark.parametrize(
    ("keys", "criteria", "told"),
    [
        (DAY, (CORRECT, "p: {measure: passed / attempts, must: '>= 95%'}"), True),
        (DAY, (CORRECT, "p: {measure: passed / attempts, must: '>= 95%', enough: 100}"), False),
        (DAY, (CORRECT, "r: {measure: runs, must: '>= 500'}"), False),
        (DAY, (CORRECT, "h: {measure: longest hole, must: '<= 1 h'}"), True),
        ("repeats: 9", (CORRECT,), True),
        ("repeats: 9", (CORRECT, DONE), False),
        ("repeats: 9", (f"a: {{{VALUE}, enough: 9}}",), False),
        ("repeats: 2", (CORRECT,), False),
    ],
)
def test_criteria_that_a_drain_would_make_true(
    site: Any, here: Any, keys: str, criteria: tuple[str, ...], told: bool
) -> None:
    found = [text for text in warned(site, here, keys, *criteria) if "a drain" in text]
    assert len(found) == told
    assert not told or ("only the planned time" in found[0]) == (keys == DAY)


@pytest.mark.parametrize(
    ("must", "hint"),
    [
        (">= 0,5 GB/s", "'0,5 GB/s' has a decimal comma; write 0.5"),
        (
            ">= 1,000 GB/s",
            "'1,000 GB/s' has a comma in a number; write 1000, or 1.000 where the comma is a decimal point",
        ),
        (">= 1,000,000 GB/s", "'1,000,000 GB/s' has a comma in a number; write 1000000"),
        (">= 1_000 GB/s", "'1_000 GB/s' has something between the digits of a number; write 1000"),
        (">= 12 345 678 GB/s", "'12 345 678 GB/s' has something between the digits of a number; write 12345678"),
    ],
)
@pytest.mark.parametrize("where", ["criterion", "row"])
def test_a_decimal_comma_says_what_to_write(site: Any, here: Any, must: str, hint: str, where: str) -> None:
    criterion = f"a: {{measure: value, of: rate, must: '{must if where == 'criterion' else '>= 1 GB/s'}'}}"
    row = must if where == "row" else ">= 1 GB/s"
    columns = "columns: [test, figure, must, basis]"
    site.write("contracts/c.yaml", f"contract: c\n{columns}\nrows:\n  - [rates, rate, '{row}', contract]\n")
    site.write("tests/rates.yaml", f"test: rates\n{TESTS['rates']}")
    site.write("plans/p.yaml", "plan: p\nsystem: here\ncontract: c\ncomponents:\n  - performance:\n      tests: [rates]\n"
               f"      criteria:\n        {criterion}\n        {DONE}\n")  # fmt: skip
    (problem,) = check_site(Path(site.path), lambda: here).problems
    message, _, way = hint.partition("; ")
    assert message.split(" GB/s'")[0].strip("'") in problem.message and message.partition("' ")[2] in problem.message
    assert problem.hint == way


@pytest.mark.parametrize("text", ["99,5%", "1,5 h", "0,2"])
def test_no_number_with_a_comma_is_read_as_another(text: str) -> None:
    for parse in (parse_quantity, parse_duration):
        with pytest.raises(ValueError, match="has a decimal comma; write"):
            parse(text)


@pytest.mark.parametrize("text", ["1_000 s", "1'000 s", "1 000 s", "1\u202f000 s"])
def test_no_number_with_marks_between_its_digits_is_read_as_another(text: str) -> None:
    for parse in (parse_quantity, parse_duration):
        with pytest.raises(ValueError, match="has something between the digits of a number; write 1000"):
            parse(text)


# ---- shares that no count can be ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "criterion", "said"),
    [
        (
            "repeats: 9",
            "measure: passed / wanted, must: '= 95%'",
            "of 9 runs no share is = 95%, only 88.89% or 100% and the like",
        ),
        ("repeats: 20", "measure: passed / wanted, must: '= 95%'", ""),
        ("repeats: 10", "measure: passed / wanted, must: '= 90%'", ""),
        ("repeats: 9", "measure: passed / wanted, must: '>= 95%'", ""),
        ("repeats: 9", "measure: passed / wanted, must: '= 100%'", ""),
        ("repeats: 9", "measure: correct / completed, must: '= 95%'", "of 9 runs no share is = 95%"),
        ("repeats: 30", "measure: correct / completed, must: '= 95%'", ""),  # 20 of 30 may come to their end
        ("repeats: 9\n      retry: {timeout: 2}", "measure: passed / attempts, must: '= 95%'", ""),  # 20 of 27 attempts
        ("repeats: 9", "measure: passed / wanted, per: case, must: '= 50%'", "of 9 runs of rates no share is = 50%"),
        ("duration: 1h", "measure: correct / completed, must: '= 95%'", ""),
        ("repeats: 9", "measure: runs, must: '= 8.5'", "no number of runs is = 8.5"),
    ],
)
def test_an_exact_share_that_no_count_can_be_is_told(
    site: Any, here: Any, keys: str, criterion: str, said: str
) -> None:
    found = [
        line
        for line in warned(site, here, keys, f"one: {{{criterion}}}", DONE)
        if "no share is" in line or "no number" in line
    ]
    assert len(found) == bool(said), found
    assert not said or said in found[0]


@pytest.mark.parametrize(("beside", "hidden"), [(">= 0 GB/s", False), (">= 1 GB/s", True), ("> 0 GB/s", True)])
def test_a_lower_bound_of_nothing_makes_no_band(site: Any, here: Any, beside: str, hidden: bool) -> None:
    """``> 0`` says that there is something; ``>= 0`` says nothing, and the other bound stands alone."""
    high, low = (
        "high: {measure: value, of: rate, must: '<= 5 GB/s'}",
        f"low: {{measure: value, of: rate, must: '{beside}'}}",
    )
    told = [line for line in warned(site, here, "repeats: 3", high, low, DONE) if "the better it is" in line]
    assert bool(told) is not hidden, told
    assert all("criteria.high" in line for line in told)


def test_a_row_that_asks_for_nothing_makes_no_band_either(site: Any, here: Any) -> None:
    rows = "  - [rates, rate, '<= 1 GB/s', contract]\n  - [rates, rate, '>= 0 GB/s', site]\n"
    site.write("contracts/c.yaml", f"contract: c\ncolumns: [test, figure, must, basis]\nrows:\n{rows}")
    (found,) = [text for text in warned(site, here, "repeats: 3", DONE) if "is better" in text]
    assert "it must be <= 1 GB/s" in found


@pytest.mark.parametrize(
    ("keys", "criteria", "way"),
    [
        ("repeats: 5", (CORRECT,), "passed / wanted and passed / attempts count"),
        ("repeats: 5", ("x: {measure: passed / wanted, must: '>= 0%'}",), "passed / wanted above 0 % and passed / attempts count"),
        (DAY, ("r: {measure: correct / completed, must: '= 100%'}",), "hours per node, passed / wanted, or an"),
        (DAY, ("w: {measure: passed / wanted, must: '= 100%'}",), "hours per node, or an"),
        ("repeats: 9", ("w: {measure: passed / wanted, must: '>= 20%'}",), "per node, more than half of passed / wanted, or an"),
    ],
)  # fmt: skip
def test_the_way_out_is_not_what_the_plan_asks_for_already(
    site: Any, here: Any, keys: str, criteria: tuple[str, ...], way: str
) -> None:
    warned(site, here, keys, *criteria)
    ways = [problem.hint or "" for problem in check_site(Path(site.path), lambda: here).warnings]
    assert any(way in one for one in ways), ways


def test_a_ladder_that_is_asked_for_a_size_is_not_made_true_by_a_run_or_two(site: Any, here: Any) -> None:
    size = "up: {measure: largest size, must: '>= 2'}"
    test = "parameters: {n: [1, 2, 4, 8]}\nrun: {time_limit: 1min, command: 'echo {n}'}\n"
    site.write("tests/steps.yaml", f"test: steps\n{test}")
    assert warned(site, here, "ladder: n", size, tests="steps") == []
    (some,) = warned(site, here, "ladder: n", "some: {measure: passed / wanted, must: '>= 20%'}", tests="steps")
    assert some.startswith("every criterion can be met by a run or two")


# ---- figures of one name in several tests ------------------------------------------------------------------------------

LIKE = "run: {command: x}\nfigures: {rate: {json: a, unit: MB/s, better: higher}}\n"


@pytest.mark.parametrize(
    ("criterion", "tests", "pooled"),
    [
        (VALUE, "rates, like", True),
        ("measure: sd / mean, of: rate, must: '<= 5%'", "like, rates", True),
        (VALUE, "rates, plain", False),
        (VALUE, "rates, old", False),  # what is expected to fail gives none
        (f"{VALUE}, test: like", "rates, like", False),
        (f"{VALUE}, per: case", "rates, like", False),
        ("measure: value, of: elapsed, must: '<= 5 s'", "rates, like", False),
    ],
)
def test_figures_that_have_only_their_name_in_common(
    site: Any, here: Any, monkeypatch: pytest.MonkeyPatch, criterion: str, tests: str, pooled: bool
) -> None:
    monkeypatch.setitem(TESTS, "like", LIKE)
    said = [
        text for text in warned(site, here, "repeats: 3", f"c: {{{criterion}}}", DONE, tests=tests) if "makes" in text
    ]
    names = tests.replace(",", " and")
    assert said == [f"criteria.c: it makes one number of the 'rate' of 2 tests: {names}"] * pooled


@pytest.mark.parametrize(
    ("figure", "criterion", "said"),
    [
        ("unit: MB/s, better: lower", VALUE, "of 'rate' higher is better in test rates, and lower in test like"),
        ("unit: MB/s, better: lower", f"{VALUE}, per: case", "of 'rate' higher is better in test rates"),  # one bound
        (
            "unit: s, better: higher",
            "measure: sd / mean, of: rate, must: '<= 5%'",
            "'rate' is in GB/s in test rates, and in s",
        ),
        ("unit: s, better: lower", "measure: sd / mean, of: rate, must: '<= 5%', per: case", ""),
        ("unit: MB/s", VALUE, ""),
    ],
)
def test_figures_of_other_directions_or_kinds_make_no_number(
    site: Any, here: Any, figure: str, criterion: str, said: str
) -> None:
    site.write("tests/rates.yaml", f"test: rates\n{TESTS['rates']}")
    site.write("tests/like.yaml", f"test: like\nrun: {{command: x}}\nfigures: {{rate: {{json: a, {figure}}}}}\n")
    criteria = f"criteria: {{c: {{{criterion}}}}}"
    site.write(
        "plans/p.yaml", f"plan: p\nsystem: here\ncomponents: [{{performance: {{tests: [rates, like], {criteria}}}}}]\n"
    )
    problems = [problem.message for problem in check_site(Path(site.path), lambda: here).problems]
    assert len(problems) == bool(said) and all(said in text for text in problems)
