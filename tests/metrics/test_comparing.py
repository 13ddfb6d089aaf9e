"""Comparisons of campaigns told as stories: what moved, what appeared, what nobody can say; and how often a comparison is wrong."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from msgspec.structs import replace

from shakedown.metrics.comparing.cells import Cell, Pair, Source, cells_of, node_pairs, pairs_of
from shakedown.metrics.comparing.chances import LEVEL
from shakedown.metrics.comparing.compare import LEAST, Comparison, compare
from shakedown.metrics.comparing.history import History, history_of
from shakedown.metrics.rows.rows import RunRow
from shakedown.model.figures import FigureSpec, Pairs
from shakedown.model.nouns import Document, System

TRIAD = [100.3, 101.2, 99.1, 100.5, 99.4, 100.2, 99.8, 100.1]


def slower(values: list[float], share: float) -> list[float]:
    return [value * (1 - share) for value in values]


def source(story: Any, label: str, **fields: Any) -> Source:
    return Source(label, story.document(), story.record(), **fields)


def against(first: Any, *others: Any, least: float = LEAST) -> Comparison:
    return compared([source(story, f"c{n}") for n, story in enumerate((first, *others), 1)], "campaign", least)


def compared(sources: list[Source], by: str, least: float = LEAST, partial: bool = False) -> Comparison:
    cells = cells_of(sources, by)
    baseline = next(iter(cells))
    return compare(pairs_of(cells, baseline, partial), by, baseline, least)


def told(comparison: Comparison, figure: str = "triad") -> dict[str, str]:
    return {move.subject: move.verdict for move in comparison.moves if move.figure == figure}


def campaign(story: Any, **values: list[float]) -> Any:
    """A campaign with one case a/size=NAME for each name, and these values of its triad."""
    story.repeats = 8
    for name, numbers in values.items():
        story.case(f"a/size={name}", parameters=(("size", name),))
        story.values(f"a/size={name}", numbers)
    return story


@pytest.fixture
def new(story: Any) -> Any:
    """Stories, as many as are asked for."""
    return type(story)


def test_a_figure_moved_by_so_much(new: Any) -> None:
    first, second = campaign(new(), x=TRIAD, y=TRIAD), campaign(new(), x=slower(TRIAD, 0.1), y=TRIAD)
    found = against(first, second)
    assert told(found) == {"a/size=x": "worse", "a/size=y": "no change seen"}
    move = found.moves[0]
    assert move.effect is not None and move.first is not None and move.second is not None and move.corrected is not None
    assert move.effect.change == pytest.approx(-0.1) and move.effect.low < -0.1 < move.effect.high
    assert (move.before, move.after, move.first.count, move.second.count, move.unit) == ("c1", "c2", 8, 8, "GB/s")
    assert move.effect.chance < move.corrected <= LEVEL
    assert (found.status, found.tested) == (1, 4)  # two figures and two shares of passed runs
    assert move.corrected == pytest.approx(2 * move.effect.chance)  # every run passed: the shares cost nothing
    back = against(second, first)
    assert (told(back)["a/size=x"], back.status) == ("better", 0)


def test_run_time_is_a_figure_and_less_is_better(new: Any) -> None:
    stories = []
    for factor in (1.0, 1.1):
        one = new()
        one.repeats = 8
        one.values("a", [value * factor for value in TRIAD], "elapsed")
        stories.append(one)
    assert told(against(*stories), "elapsed") == {"a": "worse"}
    assert told(against(*reversed(stories)), "elapsed") == {"a": "better"}


def test_a_figure_without_direction_is_changed_and_nothing_is_worse(new: Any) -> None:
    stories = []
    for factor in (1.0, 1.1):
        one = new()
        one.repeats = 8
        one.values("a", [value * factor for value in TRIAD], "errors")
        stories.append(one)
    found = against(*stories)
    assert (told(found, "errors"), found.status) == ({"a": "changed"}, 0)


def test_a_change_smaller_than_what_matters_is_none(new: Any) -> None:
    first, second = campaign(new(), x=TRIAD), campaign(new(), x=slower(TRIAD, 0.03))
    assert told(against(first, second, least=0.02)) == {"a/size=x": "worse"}
    assert told(against(first, second, least=0.05)) == {"a/size=x": "no change seen"}


def test_too_few_or_too_noisy_runs_leave_it_open(new: Any) -> None:
    """One run and two are never enough. Noise that could hide what matters is told with the runs that would do."""
    for count in (1, 2):
        few = against(campaign(new(), x=TRIAD[:count]), campaign(new(), x=TRIAD))
        assert (told(few), few.status) == ({"a/size=x": "too few runs"}, 4)
        assert few.moves[0].first is not None and few.moves[0].first.count == count
    wild = [80.1, 120.2, 90.3, 110.4, 100.5, 85.6, 115.7, 100.8]
    noisy = against(campaign(new(), x=wild), campaign(new(), x=wild))
    assert (told(noisy), noisy.status) == ({"a/size=x": "too few runs"}, 4)
    assert 200 < noisy.moves[0].enough < 700
    wide = against(campaign(new(), x=wild), campaign(new(), x=wild), least=0.3)
    assert (told(wide), wide.status) == ({"a/size=x": "no change seen"}, 0)


def test_shares_of_passed_runs_are_compared(new: Any) -> None:
    def judged(verdicts: str) -> Any:
        one = new()
        one.repeats = len(verdicts)
        one.runs("a", verdicts)
        return one

    def verdict(before: str, after: str) -> tuple[str, int]:
        found = against(judged(before), judged(after))
        return found.shares[0].verdict, found.status

    assert verdict("p" * 20, "p" * 8 + "f" * 12) == ("worse", 1)
    assert verdict("p" * 8 + "f" * 12, "p" * 20)[0] == "better"
    assert verdict("p" * 20, "p" * 18 + "f" * 2)[0] == "no change seen"
    assert verdict("ppp", "fff") == ("worse", 1)
    assert verdict("pp", "ff") == ("too few runs", 4)
    assert verdict("p" * 11 + "f", "p" * 5 + "f" * 7) == ("too few runs", 4), (
        "1 to 7 of 12: chance 2.7 %, neither equal nor sure"
    )
    assert verdict("p" * 11 + "f", "p" * 8 + "f" * 4) == ("no change seen", 0)
    share = against(judged("pppp"), judged("pfti")).shares[0]
    assert share.second.verdicts == {"passed": 1, "failed": 1, "incorrect": 1, "timeout": 1}


def test_what_appears_vanishes_or_cannot_run_is_told(new: Any) -> None:
    first, second = campaign(new(), x=TRIAD, y=TRIAD, z=TRIAD), campaign(new(), x=TRIAD, w=TRIAD)
    second.case("a/size=y", parameters=(("size", "y"),), unavailable="no such module")
    second.case("a/size=z", parameters=(("size", "z"),))
    found = against(first, second)
    seen = {(one.subject, one.group, one.kind, one.why, one.decides) for one in found.missing}
    assert seen == {
        ("a/size=w", "c1", "case", "", False),
        ("a/size=y", "c2", "unavailable", "no such module", True),
        ("a/size=z", "c2", "no run", "", True),
    }
    assert found.status == 4
    assert against(second, second).unavailable == (("a/size=y", "no such module"),)


def test_a_figure_that_one_plan_does_not_ask_for_is_told(new: Any) -> None:
    first, second = source(campaign(new(), x=TRIAD), "c1"), source(campaign(new(), x=TRIAD), "c2")
    second = replace(second, document=without_figures(second.document))
    found = compared([first, second], "campaign")
    assert [(one.subject, one.group, one.kind) for one in found.missing] == [("triad of a/size=x", "c2", "figure")]


def without_figures(document: Document) -> Document:
    return replace(document, tests=tuple(replace(test, figures=()) for test in document.tests))


def test_rows_of_a_table_are_figures_of_their_own(new: Any) -> None:
    from shakedown.model.figures import Table

    spec = FigureSpec("lat", unit="us", better="lower", table=Table(by=("size",)))
    sources = []
    for label, factor in (("c1", 1.0), ("c2", 1.2)):
        one = new()
        one.repeats = 8
        for repeat, value in enumerate(TRIAD, 1):
            one.run("a", repeat=repeat, figures={"lat[size=8]": value, "lat[size=16]": value * factor})
        found = source(one, label)
        tests = tuple(replace(test, figures=(spec,)) for test in found.document.tests)
        sources.append(replace(found, document=replace(found.document, tests=tests)))
    moves = {move.figure: move.verdict for move in compared(sources, "campaign").moves}
    assert moves == {"lat[size=16]": "worse", "lat[size=8]": "no change seen"}


@pytest.mark.parametrize("by", ["toolchain", "partition", "size"])
def test_runs_of_one_campaign_by_what_they_differ_in(new: Any, by: str) -> None:
    one = new()
    one.repeats = 8
    for name, numbers in (("x", TRIAD), ("y", slower(TRIAD, 0.1))):
        case = one.case(f"a/{name}", **({by: name} if by == "toolchain" else {}))
        if by != "toolchain":
            changed = {"parameters": (("size", name),)} if by == "size" else {"partition": f"local:{name}"}
            one.cases[case] = replace(one.cases[case], **changed)
        one.values(case, numbers)
    found = compared([source(one, "c1")], by, partial=True)
    names = {"partition": "local:"}
    assert (found.baseline, found.groups) == (f"{names.get(by, '')}x", (f"{names.get(by, '')}y",))
    assert (told(found), found.status) == ({"a": "worse"}, 1)


def test_a_parameter_may_be_called_like_anything(new: Any) -> None:
    stories = []
    for slow in (0.0, 0.1):
        one = new()
        one.repeats = 8
        for name, value in (("mode", "x"), ("mode", "y"), ("test", "z")):
            case = one.case(f"a/{name}={value}", parameters=((name, value),))
            one.values(case, slower(TRIAD, slow if value == "y" else 0.0))
        stories.append(one)
    assert told(against(*stories)) == {
        "a/parameter mode=y": "worse",
        "a/parameter mode=x": "no change seen",
        "a/parameter test=z": "no change seen",
    }


def test_epochs_of_one_campaign(new: Any) -> None:
    one = new()
    one.repeats = 16
    one.values("a", TRIAD)
    one.add("changed", value={"what": "BIOS", "by": "Ada"}, reason="an update")
    for repeat, value in enumerate(slower(TRIAD, 0.1), 9):
        one.run("a", repeat=repeat, figures={"triad": value})
    sources = [source(one, f"c1#{epoch}", epoch=epoch) for epoch in (1, 2)]
    found = compared(sources, "campaign", partial=True)
    assert (found.groups, told(found)) == (("c1#2",), {"a": "worse"})
    assert told(compared([source(one, "c1")], "epoch", partial=True)) == {"a": "worse"}


def test_two_systems_with_one_partition_each_are_comparable(new: Any) -> None:
    first, second = source(campaign(new(), x=TRIAD), "c1"), source(campaign(new(), x=slower(TRIAD, 0.1)), "c2")
    system: System = replace(second.document.system, name="other")
    cases = tuple(replace(case, partition="far:big") for case in second.document.cases)
    second = replace(second, document=replace(second.document, system=system, cases=cases))
    assert told(compared([first, second], "campaign")) == {"a/size=x": "worse"}
    assert compared([first, second], "system").groups == ("other",)


def test_each_node_against_all_others(new: Any) -> None:
    one = new()
    one.repeats = 24
    for repeat in range(24):
        node = f"n{repeat % 3}"
        value = TRIAD[repeat % 8] * (0.8 if node == "n1" else 1.0)
        one.run("a", repeat=repeat + 1, figures={"triad": value}, nodes=node)
    pairs = node_pairs(cells_of([source(one, "c1")], "node"), lambda text: text.split(","))
    found = compare(pairs, "node", "all other nodes", 0.05)
    worse = {move.after: move.first.count for move in found.moves if move.verdict == "worse" and move.first}
    assert worse == {"n1": 16}


# ---- history -----------------------------------------------------------------------------------------------------------


def every(subject: Pairs, cases: object) -> bool:
    return True


def looked_back(*stories: Any, figure: str = "triad") -> History:
    return history_of(figure, [source(story, f"c{n}") for n, story in enumerate(stories, 1)], 0.02, every)


def test_a_history_has_a_line_a_campaign_and_finds_where_the_level_changed(new: Any) -> None:
    values = (TRIAD, TRIAD, slower(TRIAD, 0.1), slower(TRIAD, 0.1))
    found = looked_back(*(campaign(new(), x=one) for one in values))
    assert [(line.campaign, line.count, round(line.median, 2)) for line in found.lines] == [
        ("c1", 8, 100.15), ("c2", 8, 100.15), ("c3", 8, 90.14), ("c4", 8, 90.14)
    ]  # fmt: skip
    (change,) = found.changes
    assert (change.campaign, change.run, change.after, change.verdict) == ("c3", "r000001", ("c2", "r000008"), "worse")
    assert change.effect.change == pytest.approx(-0.1)
    # of eight values the pair at the ends covers 99.2 %, the next one 93.0 %: 93.6 % of the way inwards
    assert found.lines[0].interval == pytest.approx((99.1 + 0.935644 * 0.3, 101.2 - 0.935644 * 0.7))


def test_a_steady_history_has_no_changes(new: Any) -> None:
    assert looked_back(*(campaign(new(), x=TRIAD) for _ in range(4))).changes == ()


# ---- how often a comparison is wrong -----------------------------------------------------------------------------------------

RUN = RunRow("r", "a", "main", 1, 1, "passed", "", 1, 0.0, 1)
SPEC = FigureSpec("rate", unit="GB/s", better="higher")


def drawn(noise: random.Random, cases: int, runs: int, spread: float, slow: float = 0.0) -> dict[Pairs, Cell]:
    """Cases with as many runs; the first is slower by a share."""
    cells: dict[Pairs, Cell] = {}
    for case in range(cases):
        level = 100.0 * (1 - slow if case == 0 else 1.0)
        values = [(RUN, level * math.exp(noise.gauss(0, spread))) for _ in range(runs)]
        subject = (("test", f"t{case}"),)
        cells[subject] = Cell(subject, {}, [(RUN, True)] * runs, {"rate": SPEC}, {"rate": values})
    return cells


def test_equal_noisy_campaigns_are_called_changed_in_less_than_one_of_a_hundred() -> None:
    """1,000 pairs, of few and of many runs, with noise that is larger than the smallest change that matters."""
    noise, wrong = random.Random(20), 0
    for number in range(1000):
        runs = (3, 5, 10)[number % 3]
        pair = Pair("a", "b", drawn(noise, 8, runs, 0.05), drawn(noise, 8, runs, 0.05))
        found = compare([pair], "campaign", "a")
        wrong += any(move.verdict in ("worse", "better") for move in found.moves)
    assert wrong < 10


def test_one_test_of_forty_that_is_five_per_cent_slower_is_found() -> None:
    noise, seen = random.Random(21), 0
    for _ in range(20):
        pair = Pair("a", "b", drawn(noise, 40, 30, 0.02), drawn(noise, 40, 30, 0.02, slow=0.05))
        found = compare([pair], "campaign", "a")
        seen += [move.subject for move in found.moves if move.verdict == "worse"] == ["t0"]
    assert seen >= 19
