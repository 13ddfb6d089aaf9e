"""The clock of a component, by hand: what moves it, what counts, and what is said of runs from before it was started anew."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from record_rows import Book, criterion

from shakedown.metrics.clock import Clock, component_clock, words_of
from shakedown.metrics.judging.criteria import exit_status, score
from shakedown.metrics.rows.rows import NoteRow
from shakedown.metrics.stability import stability
from shakedown.metrics.utilisation import AVAILABLE, CALENDAR, CONTRACTUAL, OURS, utilisation
from shakedown.model.filling import ClockTerms, Fill

HOUR = 3600.0


def ran(book: Book) -> list[tuple[float, float]]:
    """The spans of the clock of ``st`` in hours."""
    clock = the_clock(book)
    return [(begin / HOUR, end / HOUR) for begin, end in clock.spans]


def the_clock(book: Book) -> Clock:
    clock = component_clock(book.components["st"], book.record)
    assert clock is not None
    return clock


@pytest.fixture
def book() -> Book:
    """Ten hours of one run of two nodes of eight."""
    book = Book()
    book.component("st", "a", duration_s=10 * HOUR)
    book.run("st", "a", begin=0.0, elapsed_s=10 * HOUR)
    return book


def test_without_a_word_it_runs_from_the_first_order_to_the_end_of_the_last_run(book: Book) -> None:
    assert ran(book) == [(0, 10)]


def test_its_time_goes_on_though_nothing_runs_any_more(book: Book) -> None:
    """The machine died in the tenth hour; the two hours until the time was up are no better than the ones before."""
    book.record.time_up["st"] = 12 * HOUR
    assert ran(book) == [(0, 12)]


@pytest.mark.parametrize(
    ("cause", "spans"),
    [
        ("maintenance", [(0, 2), (5, 10)]),
        ("site", [(0, 2), (5, 10)]),
        ("vendor", [(5, 10)]),
        ("machine", [(0, 10)]),
        ("", [(0, 10)]),
    ],
)
def test_a_pause_does_what_its_cause_does_by_default(book: Book, cause: str, spans: list[tuple[float, float]]) -> None:
    book.say(2, "paused", cause=cause)
    book.say(5, "continued")
    assert ran(book) == spans


def test_the_plan_may_say_otherwise(book: Book) -> None:
    terms = ClockTerms(causes=(("machine", "restarts"), ("maintenance", "runs")))
    book.component("st", "a", duration_s=10 * HOUR, clock=terms)
    book.say(1, "paused", cause="maintenance")
    book.say(2, "continued")
    assert ran(book) == [(0, 10)]
    book.say(3, "paused", cause="machine")
    book.say(4, "continued")
    assert ran(book) == [(4, 10)]


def test_between_two_phases_it_stands_still(book: Book) -> None:
    book.say(4, "paused", phase="first")
    book.say(6, "continued")
    assert ran(book) == [(0, 4), (6, 10)]


def test_that_a_case_goes_on_or_another_component_moves_no_clock(book: Book) -> None:
    book.say(2, "paused", cause="site")
    book.say(3, "continued", case="a")
    book.say(4, "continued", component="other")
    assert ran(book) == [(0, 2)]


def test_what_is_said_late_counts_from_when_it_was(book: Book) -> None:
    """At nine o'clock: it stood still from six to eight."""
    book.say(9, "clock", act="stop", **{"from": 6 * HOUR})  # type: ignore[arg-type]
    book.say(9, "clock", act="go on", **{"from": 8 * HOUR})  # type: ignore[arg-type]
    assert ran(book) == [(0, 6), (8, 10)]
    assert [word.said / HOUR for word in words_of(book.components["st"], book.record)] == [0, 9, 9]


def test_ramp_and_drain_count_unless_the_plan_says_no(book: Book) -> None:
    fill = Fill(ramp_s=HOUR)
    book.record.time_up["st"] = 9 * HOUR
    book.component("st", "a", duration_s=10 * HOUR, fill=fill)
    assert ran(book) == [(0, 10)]
    book.component("st", "a", duration_s=10 * HOUR, fill=fill, clock=ClockTerms(ramp=False, drain=False))
    assert ran(book) == [(1, 9)]
    del book.record.time_up["st"]
    book.say(7, "drain_request", component="")
    assert ran(book) == [(1, 7)]


def test_a_declared_clock_begins_when_somebody_says_so(book: Book) -> None:
    """Until then there is no clock, and what ran before it does not count."""
    wish = criterion("runs", ">= 1")
    book.component("st", "a", duration_s=10 * HOUR, clock=ClockTerms("declared"), criteria=(wish,))
    assert component_clock(book.components["st"], book.record) is None
    assert book.card(ended=False).components[0].attempts == 0
    book.say(3, "clock", act="start")
    book.run("st", "a", begin=4 * HOUR, elapsed_s=HOUR)
    assert ran(book) == [(3, 10)]
    card = book.card()
    assert (card.components[0].attempts, card.components[0].criteria[0].measured) == (1, 1)
    assert card.remarks == ("1 run of st from before its clock was started, or started anew, does not count",)


def test_a_restart_leaves_earlier_runs_visible_and_uncounted() -> None:
    book = Book()
    wishes = (criterion("passed / attempts", "= 100%", name="passed"), criterion("node-hours", ">= 2", name="work"))
    book.component("st", "a", duration_s=10 * HOUR, criteria=wishes)
    book.run("st", "a", "failed", begin=0.0, elapsed_s=HOUR)
    book.run("st", "a", begin=1 * HOUR, elapsed_s=4 * HOUR)  # it ran when the clock was started anew
    book.say(3, "clock", act="restart", cause="vendor", why="a new switch")
    book.run("st", "a", begin=6 * HOUR, elapsed_s=2 * HOUR)
    passed, work, _ = book.card().components[0].criteria
    assert passed.outcome == "met" and passed.arithmetic == "1 passed / 1 attempts = 100%, must = 100%"
    assert work.arithmetic == "4 node-hours of 1 right run, must >= 2"
    (one,) = stability(book.document(), book.record)
    assert one.before == 2 and one.clock is not None and (one.clock.begin, one.clock.ran) == (3 * HOUR, 5 * HOUR)
    assert len(book.record.runs) == 3


def test_the_utilisations_of_a_clock_that_stood_still() -> None:
    """Ten hours on 8 nodes of 12: 2 of maintenance, 2 of a site's fault, in each of which a run of 2 nodes goes on."""
    book = Book()
    book.component("st", "a", duration_s=10 * HOUR, fillers=("f",))
    book.cases["f"] = book.cases["a"].__class__("f", "f", "c:batch", shape=book.cases["a"].shape)
    book.run("st", "a", begin=0.0, elapsed_s=10 * HOUR)
    book.run("st", "f", begin=0.0, elapsed_s=5 * HOUR, mode="filler")
    book.say(1, "paused", cause="maintenance")
    book.say(3, "continued")
    book.say(6, "clock", act="stop", cause="site")
    book.say(8, "clock", act="go on", cause="site")
    found = {item.name: (item.node_hours, item.of_node_hours) for item in utilisation(book.document(), book.record)}
    assert found[CONTRACTUAL] == pytest.approx((2 * 6, 8 * 6)), "the filler is none of the contract"
    assert found[OURS] == pytest.approx((2 * 6 + 2 * 3, 8 * 6))
    assert found[CALENDAR] == pytest.approx((2 * 10, 12 * 10))
    assert found[AVAILABLE] == pytest.approx((2 * 8, 12 * 8)), (
        "without announced maintenance, but with the site's fault"
    )


def test_fillers_are_in_no_count_and_not_remarked() -> None:
    book = Book()
    book.component("st", "a", duration_s=10 * HOUR, fillers=("f",))
    book.cases["f"] = book.cases["a"].__class__("f", "f", "c:batch", shape=book.cases["a"].shape)
    book.run("st", "a", begin=0.0)
    book.run("st", "f", "failed", begin=0.0, mode="filler")
    card = score(book.document(), book.record)
    assert (card.components[0].attempts, card.remarks) == (1, ())


# ---- the planned time --------------------------------------------------------------------------------------------------


def planned(*names: str) -> Book:
    """Components of ten planned hours with criteria of one name; a run of ten hours in each."""
    book = Book()
    for name in names:
        book.component(name, f"of-{name}", duration_s=10 * HOUR, criteria=(criterion("passed / attempts", "= 100%"),))
        book.run(name, f"of-{name}", begin=0.0, elapsed_s=10 * HOUR)
        book.record.time_up[name] = 10 * HOUR
    return book


def times(book: Book) -> dict[str, tuple[str, str]]:
    """Component -> how its planned time came out, and why."""
    found: dict[str, tuple[str, str]] = {}
    for component in book.card().components:
        (one,) = [item for item in component.criteria if item.name == "planned time"]
        found[component.name] = (one.outcome, one.reason)
    return found


def test_a_time_that_was_run_is_met_and_says_how_long_it_was() -> None:
    book = planned("st")
    card = book.card()
    assert (card.outcome, card.restrictions) == ("accepted", ())
    last = card.components[0].criteria[-1]
    assert (last.measured, last.bound, last.unit, last.usual) == (10 * HOUR, 10 * HOUR, "s", True)
    assert last.arithmetic == "the clock ran 10 h 00 min of 10 h 00 min, must >= 10 h 00 min"


def test_a_drain_leaves_the_planned_time_undecided_in_its_own_component_only() -> None:
    """Drained after 4 of 10 h, when it looked good: nobody can tell, exit status 4; the other component is not touched."""
    book = planned("st", "night")
    book.record.time_up["st"] = 4 * HOUR
    book.record.runs[0] = replace(book.record.runs[0], elapsed_s=4 * HOUR, ended=4 * HOUR)
    book.say(4, "drain_request", by="V. Endor", why="it looks good")
    assert times(book) == {
        "st": ("undecided", "6 h 00 min of the planned time were not run: drained by V. Endor (it looks good)"),
        "night": ("met", ""),
    }
    card = book.card()
    assert (card.outcome, exit_status(card)) == ("incomplete", 4)
    assert card.summary == (
        "incomplete: undecided: st: planned time (6 h 00 min of the planned time were not run: drained by V. Endor (it looks good))"
    )
    book.waive("st", "planned time", "four hours are enough")
    card = book.card()
    assert (card.outcome, exit_status(card)) == ("accepted with restrictions", 0)
    assert card.restrictions == ("st: planned time is undecided, waived: four hours are enough",)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([("restart", 2)], "2 h 00 min of the planned time were not run: the clock was started anew by S (why)"),
        ([("stop", 5), ("go on", 8)], "3 h 00 min of the planned time were not run: the clock was stopped by S (why)"),
        ([("stop", 5)], "5 h 00 min of the planned time were not run: the clock was stopped by S (why)"),
    ],
)
def test_what_is_said_afterwards_of_the_clock_takes_planned_time_away(words: list[tuple[str, int]], said: str) -> None:
    """After the end, as of an earlier hour: the time that is left is not the time that was planned."""
    book = planned("st")
    for act, hour in words:
        book.say(12, "clock", act=act, by="S", why="why", **{"from": hour * HOUR})  # type: ignore[arg-type]
    assert times(book) == {"st": ("undecided", said)}
    assert book.card().outcome == "incomplete"


def test_a_stop_is_made_good_where_the_clock_runs_on_until_the_time_is_full() -> None:
    book = planned("st")
    book.say(5, "clock", act="stop", by="S", why="power")
    book.say(8, "clock", act="go on", by="S", why="power")
    book.run("st", "of-st", begin=10 * HOUR, elapsed_s=3 * HOUR)
    book.record.time_up["st"] = 13 * HOUR
    assert times(book) == {"st": ("met", "")}


def test_a_cancelled_campaign_has_not_had_its_time_and_its_clock_does_not_run_on() -> None:
    """Cancelled after three hours; the record goes on for two days with words of people."""
    book = planned("st")
    del book.record.time_up["st"]
    book.record.runs[0] = replace(book.record.runs[0], elapsed_s=3 * HOUR, ended=3 * HOUR)
    book.record.cancelled = 3 * HOUR
    book.record.notes.append(NoteRow("cancel_request", 3 * HOUR, "no more money", {"all": True, "by": "B"}, 9))
    book.record.last = 48 * HOUR
    clock = component_clock(book.components["st"], book.record)
    assert clock is not None and (clock.end, clock.ran) == (3 * HOUR, 3 * HOUR)
    assert times(book) == {
        "st": ("undecided", "7 h 00 min of the planned time were not run: cancelled by B (no more money)")
    }


def test_while_it_goes_on_the_clock_runs_up_to_the_last_event() -> None:
    book = planned("st")
    del book.record.time_up["st"]
    book.open("st", "of-st")
    book.record.last = 10.5 * HOUR
    clock = component_clock(book.components["st"], book.record)
    assert clock is not None and clock.end == 10.5 * HOUR
