"""Windows of the week: whatever is written becomes spans in which the times that are meant lie, and no other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shakedown.model.filling import Window
from shakedown.model.nouns import Cluster, NodeType, Partition, System
from shakedown.plans.components.lints import covers_week
from shakedown.plans.context import Context, Elsewhere
from shakedown.plans.library import Library
from shakedown.plans.narrowing import Room, read_windows, read_yields
from shakedown.plans.schema import week
from shakedown.plans.schema.plan import PLAN
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import InvalidValue
from shakedown.plans.schema.source_positions import place
from shakedown.plans.schema.yaml_nodes import read_nodes
from shakedown.plans.systems import Machine

HERE = System(
    name="here",
    clusters=(Cluster("local", "local", (Partition("all", "local", "localhost", 1, "host"),)),),
    node_types=(NodeType("host", cores=4),),
)
DAY = 24 * 60
WEEK = 7 * DAY  # in minutes
NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MINUTE = st.integers(0, DAY - 1)
DAYS = st.integers(0, 6)


@pytest.fixture
def cluster_here() -> System:
    """A machine with a Slurm cluster."""
    return replace(HERE, clusters=(Cluster("c5", "slurm", HERE.clusters[0].partitions),))


def windows(here: Any, entry: str, zone: str = "") -> tuple[tuple[Window, ...], list[str]]:
    """The windows that a component with this entry has, and what is wrong with it."""
    return _read(here, f"windows: [{{{entry}, closed: yes}}]", "windows", zone)


def _read(here: Any, key: str, name: str, zone: str = "") -> tuple[Any, list[str]]:
    problems = Problems()
    text = f"plan: p\nsystem: here\n{zone}components: [{{stability: {{tests: [a], duration: 1d, {key}}}}}]\n"
    root = read_nodes(text.encode(), "p.yaml", problems)
    assert root is not None
    values = PLAN.read(root, "", problems)
    if values is None or len(problems):
        return (), [str(problem) for problem in problems.found]
    ((_, component),) = values["components"]
    context = Context(Machine(here), Library(), Elsewhere(), "", problems=problems)
    node = place(root, "components", 0, "stability", name)
    room = Room(context, ["a"], values.get("zone", "UTC"))
    read: Any = read_windows if name == "windows" else read_yields
    return read(node, component[name], room), [str(problem) for problem in problems.found]


def clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def inside(window: Window, minute: int) -> bool:
    """Whether a minute of the week lies in a window, as the noun says."""
    time = minute * 60.0
    if window.to_s > window.from_s:
        return window.from_s <= time < window.to_s
    return time >= window.from_s or time < window.to_s


@given(DAYS, MINUTE, DAYS, st.integers(0, DAY), st.integers(0, WEEK - 1))
def test_a_window_holds_from_its_first_minute_to_its_last(
    first: int, begin: int, last: int, end: int, asked: int
) -> None:
    start, stop = first * DAY + begin, last * DAY + end
    if (first, begin) == (last, end):
        return
    found, wrong = windows(HERE, f'from: "{NAMES[first]} {clock(begin)}", to: "{NAMES[last]} {clock(end)}"')
    assert wrong == []
    (window,) = found
    assert window.text == f"{NAMES[first]} {clock(begin)} to {NAMES[last]} {clock(end)}"
    meant = (asked - start) % WEEK < ((stop - start) % WEEK or WEEK)
    assert inside(window, asked) == meant


@given(st.lists(DAYS, min_size=1, max_size=7), MINUTE, st.integers(0, DAY), st.integers(0, WEEK - 1))
def test_a_window_of_days_begins_on_each_of_them_and_lasts_a_day_at_most(
    days: list[int], begin: int, end: int, asked: int
) -> None:
    if begin == end:
        return
    named = ", ".join(NAMES[day] for day in days)
    found, wrong = windows(HERE, f'days: [{named}], from: "{clock(begin)}", to: "{clock(end)}"')
    assert wrong == []
    assert len(found) == len(set(days))
    long = (end - begin) % DAY or DAY
    meant = any((asked - day * DAY - begin) % WEEK < long for day in days)
    assert any(inside(window, asked) for window in found) == meant


@given(st.text(max_size=20))
def test_any_text_is_a_time_of_the_week_or_is_told(text: str) -> None:
    for read in (week.time_of_week, week.days, week.zone):
        try:
            read(text)
        except InvalidValue as error:
            assert str(error)


@pytest.mark.parametrize(
    ("written", "days"),
    [
        ("daily", (0, 1, 2, 3, 4, 5, 6)),
        ("Mon-Fri", (0, 1, 2, 3, 4)),
        ("Sat-Mon", (5, 6, 0)),
        ("sunday", (6,)),
        ("Wed - Wed", (2,)),
    ],
)
def test_days_are_named_one_by_one_or_from_one_to_another(written: str, days: tuple[int, ...]) -> None:
    assert week.days(written) == days


def test_the_zone_is_the_windows_own_or_the_plans_or_utc() -> None:
    plain = 'from: "Mon 06:00", to: "Mon 18:00"'
    assert windows(HERE, plain)[0][0].zone == "UTC"
    assert windows(HERE, plain, "zone: Europe/Berlin\n")[0][0].zone == "Europe/Berlin"
    assert windows(HERE, f"{plain}, zone: Asia/Tokyo", "zone: Europe/Berlin\n")[0][0].zone == "Asia/Tokyo"


@pytest.mark.parametrize("name", ["../etc/passwd", "Europe", "/etc/localtime", "a" * 300, "Europe/Berlin/x"])
def test_a_zone_that_is_none_is_told_whatever_it_is(name: str) -> None:
    with pytest.raises(InvalidValue, match="there is no time zone"):
        week.zone(name)


def test_room_for_others_ends_at_half_of_what_called_for_it(cluster_here: Any) -> None:
    (room,), wrong = _read(cluster_here, "yield_to: {clusters: [c3, c3], when: {pending: 51}, closed: yes}", "yield_to")
    assert wrong == []
    assert (room.clusters, room.pending, room.until, room.closed) == (("c3",), 51, 25, True)
    (room,), _ = _read(cluster_here, "yield_to: [{clusters: [c3], when: {pending: 1}, copies: {a: 0}}]", "yield_to")
    assert (room.until, room.copies) == (0, (("a", 0),))


def test_a_machine_without_slurm_has_nobody_to_make_room_for() -> None:
    _, wrong = _read(HERE, "yield_to: {clusters: [c3], when: {pending: 5}, closed: yes}", "yield_to")
    assert [line.partition(": ")[2].partition(": ")[2] for line in wrong] == [
        "yield_to: this system has no Slurm cluster that could be asked\nhint: leave it out"
    ]


@given(st.lists(st.tuples(st.integers(0, 13), st.integers(0, 14)), max_size=6))
def test_spans_cover_the_week_where_no_half_day_is_left_out(spans: list[tuple[int, int]]) -> None:
    half = week.DAY_S / 2
    halves = {
        number
        for begin, end in spans
        for number in (range(begin, end) if end > begin else [*range(begin, 14), *range(end)])
    }
    assert covers_week((begin * half, end * half) for begin, end in spans) == (halves == set(range(14)))
