"""The section on stability: ten days of C5's mix, as a person reads them and as a spreadsheet does."""

from __future__ import annotations

import csv
import html
import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from stability_story import HOUR, NODES, TABLE, save_story, story_plan

from shakedown.metrics.nodes_used import _in_order
from shakedown.model.filling import ClockTerms, Window
from shakedown.model.nouns import Partition
from shakedown.model.windows import open_in
from shakedown.report import write_report
from shakedown.report.figure_files import list_figures
from shakedown.report.figures.clock import _windows


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_story(tmp_path_factory.mktemp("site") / "campaigns/c5-stability-1")


@pytest.fixture(scope="module")
def page(told: Path) -> str:
    write_report(told)
    text = (told / "report.html").read_text()
    section = text[text.index('<h2 id="stability">') : text.index('<h2 id="utilisation">')]
    words = re.sub(r"<svg.*?</svg>|<[^>]+>", " ", section, flags=re.DOTALL)
    return " ".join(html.unescape(words).split())


def table(campaign: Path, name: str, **wanted: str) -> list[dict[str, str]]:
    with (campaign / "report/tables" / name).open(newline="") as stream:
        return [row for row in csv.DictReader(stream) if all(row[key] == value for key, value in wanted.items())]


@pytest.mark.parametrize(
    "words",
    [
        "for 7 h 00 min of that it stood still, or does not count",
        "213 runs from before it was started, or started anew, do not count",
        "2026-11-03 23:12:00 started anew – Ada Example: the switch is in",
        "2026-11-07 10:00:00 stopped site Ada Example: the site's file system hung said at 2026-11-07 11:00:00",
        "200 nodes x 249.6 h = 49930 available node-hours) = 95.4%",
        "mean time to interrupt, of jobs 35.52 h (17.24 to 88.35 h)",
        "minisweep filler",
        "1 d 22 h",
        "Never more than allowed ran.",
        "capped copies 6 ufs Ada Example: it walks through the metadata targets",
        "budget set amount 6 f2/mdt@mdt2 Ada Example: mdt2 is slow",
        "excluded c5n199, c5n200 the plan: 3 runs failed by them",
    ],
)
def test_it_says(page: str, words: str) -> None:
    assert words in page


def test_its_figures_are_in_the_list(told: Path) -> None:
    names = [figure.name for figure in list_figures(told)]
    assert names[1:6] == [
        "clock-01-stability",
        "nodes-in-use-01-stability",
        "holes-01-stability",
        "days-01-stability",
        "loads",
    ]


def test_the_tables_give_the_numbers_again(told: Path, page: str) -> None:
    """Days add up to the whole, shares to one; the clock's spans, the runs and the nodes give the contractual share."""
    spans = [(float(row["begin"]), float(row["end"])) for row in table(told, "clock-spans.csv", maintenance="no")]
    ran = sum(end - begin for begin, end in spans) / HOUR
    whole = {row["name"]: row for row in table(told, "utilisation.csv")}
    contractual = whole["contractual node-hours / clock node-hours"]
    assert float(contractual["hours"]) == pytest.approx(ran)
    hours = 0.0
    for row in table(told, "runs.csv", counted="yes", verdict="passed"):
        begin, end = float(row["started"]), float(row["started"]) + float(row["elapsed_s"])
        hours += sum(max(0.0, min(end, high) - max(begin, low)) for low, high in spans) / HOUR * TABLE[row["test"]][0]
    assert float(contractual["share"]) == pytest.approx(hours / (NODES * ran))
    days = table(told, "days.csv")
    assert sum(float(day["contractual"]) for day in days) == pytest.approx(hours)
    assert sum(float(day["clock_hours"]) for day in days) == pytest.approx(ran)
    shares = table(told, "shares.csv", filler="no")
    assert sum(float(row["share"]) for row in shares) == pytest.approx(1)
    small = next(row for row in shares if row["test"] == "esm4-small")
    assert float(small["hole_s"]) > 1.9 * 24 * HOUR and float(small["points_off"]) < -2
    assert len(table(told, "node-use.csv")) == NODES
    assert max(float(row["load"]) for row in table(told, "loads.csv")) == 8
    orders = table(told, "standing-orders.csv")
    assert sum(bool(row["event"]) for row in orders) == 9
    assert {row["order"] for row in orders if not row["event"]} == {"window"}


def test_each_floor_says_where_it_is_computed_from(told: Path, page: str) -> None:
    said = {row["criterion"]: row["computed_from"] for row in table(told, "recipes.csv")}
    assert said["nodes"] == "node-use.csv, rows with component = stability: the least of hours"
    assert said["floor"].startswith(
        "shares.csv, rows with component = stability: the sum of right; for each test on its own"
    )
    for text in said.values():
        name = text.split(",")[0]
        assert table(told, name), name


def test_a_component_whose_clock_was_never_started(tmp_path: Path) -> None:
    """It is said, nothing is drawn of its time, and every run is said not to count."""
    plan = story_plan(0.2)
    declared = replace(plan.components[0], clock=ClockTerms("declared"))
    campaign = save_story(tmp_path / "c", 0.2, replace(plan, components=(declared,)))
    write_report(campaign)
    page = (campaign / "report.html").read_text()
    assert (
        "The clock has not run." in page and "from before its clock was started, or started anew, do not count" in page
    )
    assert [figure.name for figure in list_figures(campaign)] == ["loads", "time-spent", "nodes"]


def test_a_closed_window_is_told_beside_the_clock_and_among_the_orders(tmp_path: Path) -> None:
    """No event tells it: the plan and the clock on the wall do."""
    plan = story_plan(0.2)
    closed = Window("daily 02:00 to 03:00", 2 * HOUR, 3 * HOUR, closed=True)
    every_day = tuple(
        replace(closed, from_s=24 * HOUR * day + 2 * HOUR, to_s=24 * HOUR * day + 3 * HOUR) for day in range(7)
    )
    campaign = save_story(
        tmp_path / "c", 0.2, replace(plan, components=(replace(plan.components[0], windows=every_day),))
    )
    write_report(campaign)
    orders = table(campaign, "standing-orders.csv", order="closed window")
    assert orders and all(row["component"] == "stability" and row["by"] == "the plan" for row in orders)
    assert "nothing new is ordered in the window daily 02:00 to 03:00 UTC" in orders[0]["because"]
    page = (campaign / "report.html").read_text()
    assert "it was in a closed window of the plan, in which nothing new is ordered: daily 02:00 to 03:00 from" in page


def test_closed_windows_come_first_in_the_figure_of_the_clock_and_none_is_left_out() -> None:
    less = [Window(f"less {hour}", hour * HOUR, (hour + 1) * HOUR) for hour in range(5)]
    closed = Window("Mon 06:00 to 07:00", 6 * HOUR, 7 * HOUR, closed=True)
    monday = 4 * 24 * HOUR  # the first one after 1970 began
    names = [name for name, _ in _windows((*less, closed), (monday, monday + 24 * HOUR))]
    assert names == ["closed: Mon 06:00 to 07:00", "window: less 0", "window: less 1", "3 more windows"]


def test_nodes_come_in_the_same_order_in_every_report() -> None:
    """Partitions are met in any order, and share nodes."""
    parts = [
        Partition("a", "c", "n[2-10]", 9, "t"),
        Partition("b", "c", "n[1-3]", 3, "t"),
        Partition("x", "b", "m1", 1, "t"),
    ]
    wanted = [("b", "m1"), *(("c", f"n{number}") for number in range(1, 11))]
    assert list(_in_order(parts)) == list(_in_order(parts[::-1])) == wanted


# ---- weekly windows --------------------------------------------------------------------------------------------------------

MONDAY = 1_792_368_000.0  # 2026-10-19 00:00 UTC


def test_a_window_over_the_week_s_end() -> None:
    window = Window("Fri 18:00 to Mon 06:00", 4 * 86400 + 18 * HOUR, 6 * HOUR)
    found = open_in(window, MONDAY, MONDAY + 7 * 86400)
    hours = [((begin - MONDAY) / HOUR, (end - MONDAY) / HOUR) for begin, end in found]
    assert hours == [(0, 6), (114, 168)]


def test_a_window_keeps_the_clock_on_the_wall() -> None:
    """Berlin left summer time on 25 October 2026: 06:00 was 04:00 UTC on the Monday before, and 05:00 on the one after."""
    window = Window("Mon 06:00 to Mon 18:00", 6 * HOUR, 18 * HOUR, "Europe/Berlin")
    found = open_in(window, MONDAY, MONDAY + 14 * 86400)
    assert [((begin - MONDAY) / HOUR, (end - MONDAY) / HOUR) for begin, end in found] == [(4, 16), (173, 185)]
