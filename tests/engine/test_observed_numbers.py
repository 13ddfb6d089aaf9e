"""A number that is observed narrows a budget: the real engine and loop in virtual time, and a monitor whose numbers a test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from stage import Campaign, random_deaths, small_document

from shakedown.engine import explain
from shakedown.engine.state.moments import moment
from shakedown.model.nouns import Document, Limits
from shakedown.model.observing import Answer, Observe, Question
from shakedown.model.ports import Ports
from shakedown.queries.status import _budgets as shown_budgets
from shakedown.twin import Fates

structs = msgspec.structs.replace
STEADY = Fates(mean_s=100, spread_s=1)
FS = Observe("fs", "command", "lfs-load", full=100.0, every_s=30.0, oldest_s=300.0)


class Monitor:
    """Says ``numbers`` by the time since the begin; a text is a trouble, None says nothing at all."""

    def __init__(self, campaign: Campaign, numbers: Callable[[float, str], float | str | None]) -> None:
        self.campaign, self.numbers = campaign, numbers
        self.began = campaign.clock.now()
        self.asked: list[Question] = []
        self.count = 0

    def ask(self, questions: Sequence[Question]) -> None:
        self.asked += questions
        self.count += len(questions)
        self.campaign.clock.at(self.campaign.clock.now() + 1.0, lambda: True)

    def poll(self) -> Sequence[Answer]:
        found = []
        for question in list(self.asked):
            said = self.numbers(self.campaign.clock.now() - self.began, question.query)
            if said is None:
                continue
            self.asked.remove(question)
            found.append(Answer(question.name, trouble=said) if isinstance(said, str) else Answer(question.name, said))
        return found


def plan_of(word: Observe = FS, amount: float = 4.0, repeats: int = 6) -> Document:
    """Runs of one unit each on four nodes, each of which loads one of the budget."""
    plain = small_document(tests=1, repeats=repeats, budgets={word.budget: amount})
    rest = structs(plain.components[1], after=(), cases=("t0",))
    return structs(plain, components=(rest,), limits=Limits(observed=(word,)))


def campaign_of(document: Document, numbers: Callable[[float, str], float | str | None], **options: Any) -> Campaign:
    campaign = Campaign(document, fates=STEADY, **options)
    monitor = Monitor(campaign, numbers)
    campaign.change_ports = lambda ports: structs(ports, observer=monitor) if isinstance(ports, Ports) else ports
    campaign.monitor = monitor  # type: ignore[attr-defined]
    return campaign


def live_over_time(campaign: Campaign) -> list[tuple[float, int]]:
    """(when, how many runs may run), from the log alone."""
    live, found = set[str](), []
    for event in campaign.events():
        if event.event == "submit_order":
            live.add(event.run)
        elif event.event == "verdict":
            live.discard(event.run)
        found.append((event.time, len(live)))
    return found


def most_between(campaign: Campaign, begin: float, end: float) -> int:
    return max((count for time, count in live_over_time(campaign) if begin <= time < end), default=0)


def test_what_others_take_is_left_to_them() -> None:
    """Half is used by others from the beginning: two of four runs start; when they are gone, four do."""
    word = structs(FS, means="others")
    campaign = campaign_of(plan_of(word, repeats=12), lambda at, _: 50.0 if at < 250 else 0.0)
    began = campaign.clock.now()
    campaign.run()
    assert most_between(campaign, began, began + 250) == 2
    assert most_between(campaign, began + 290, began + 400) == 4
    first = campaign.events("observed")[0].value
    assert {key: first[key] for key in ("budget", "number", "full", "beside", "ours")} == {
        "budget": "fs", "number": 50.0, "full": 100.0, "beside": 2.0, "ours": 0.0
    }  # fmt: skip
    assert campaign.events("submit_order")[0].time >= campaign.events("observed")[0].time, (
        "nothing before the first number"
    )


def test_our_own_runs_are_no_others() -> None:
    """The number is all that is used. What our running runs take is taken off it: with nobody else there is room for all four."""
    holder: list[Campaign] = []

    def used(at: float, query: str) -> float:
        return 25.0 * len(holder[0].world.live)

    campaign = campaign_of(plan_of(repeats=12), used)
    holder.append(campaign)
    began = campaign.clock.now()
    campaign.run()
    assert most_between(campaign, began, began + 1000) == 4
    assert max(event.value["beside"] for event in campaign.events("observed")) == 0.0


def test_a_reason_to_wait_says_what_was_observed_and_when() -> None:
    said: list[str] = []

    def look(campaign: Campaign, wait: int) -> None:
        said.extend(one.text for one in explain(campaign.state_now(), now=campaign.clock.now()))

    campaign = campaign_of(plan_of(structs(FS, means="others")), lambda at, _: 83.0 if at < 900 else 0.0, script=look)
    campaign.run()
    assert any(
        "0 of 0.68 is taken and it needs 1; observed 83 of 100 used by others (as of " in text for text in said
    ), said[:3]


def test_silence_is_shown_as_no_limit() -> None:
    """Nobody says a number: what is taken is told, and not that there is nothing to take."""
    said: list[str] = []

    def look(campaign: Campaign, wait: int) -> None:
        state, now = campaign.state_now(), campaign.clock.now()
        said.extend(one.text for one in explain(state, now=now) if one.key == "budget:fs")
        said.extend(one["said"] for one in shown_budgets(state, now).values())

    numbers = lambda at, _: "exit status 1" if at < 900 else 0.0  # noqa: E731
    campaign_of(plan_of(structs(FS, means="others")), numbers, script=look).run()
    silent = [text for text in said if "no number yet" in text]
    assert any(text.startswith("fs: 0 is taken and it needs 1; no number yet") for text in silent)
    assert any(text.startswith("0 taken; no number yet") for text in silent)
    assert not [text for text in silent if " of 0" in text]
    assert any(" of 4 taken" in text and "; observed 0 of 100" in text for text in said), (
        "with a number the limit is told"
    )


def test_the_record_says_of_a_wait_what_is_so_for_as_long_as_it_lasts() -> None:
    """The number changes all the time, and so do words with an amount or an age: one wait has one sentence."""
    campaign = campaign_of(plan_of(structs(FS, means="others")), lambda at, _: 60.0 + at % 97 / 3 if at < 900 else 0.0)
    campaign.run()
    said = {event.reason for event in campaign.events("waiting") if event.value["key"] == "budget:fs"}
    assert said == {"fs has no room for 1 more beside what others take, as it is observed"}


@pytest.mark.parametrize("then", ["hold", "ignore"])
def test_a_silent_monitor_is_told_once_and_what_the_plan_says_is_done(then: str) -> None:
    """It says half is taken, then nothing for half an hour, then that all is free."""
    word = structs(FS, means="others", when_silent=then)
    numbers = lambda at, _: 50.0 if at < 100 else "exit status 1: no route to host" if at < 1900 else 0.0  # noqa: E731
    campaign = campaign_of(plan_of(word, repeats=90), numbers)
    began = campaign.clock.now()
    campaign.run()
    told = [event for event in campaign.events("finding") if event.value["kind"] == "observed_silent"]
    assert len(told) == 1 and "no route to host" in told[0].reason and told[0].value["then"] == then
    assert 300 <= told[0].time - began <= 420
    starts = [event.time - began for event in campaign.events("submit_order")]
    silent = [at for at in starts if told[0].time - began + 1 < at < 1890]
    assert bool(silent) == (then == "ignore")
    assert most_between(campaign, began + 150, told[0].time) == 2, "an old number counts until it is too old"
    if then == "ignore":
        assert most_between(campaign, told[0].time + 1, began + 1800) == 4
    assert max(starts) > 1900
    troubles = [event for event in campaign.events("observed") if "number" not in event.value]
    assert len(troubles) == 1, "the same trouble is recorded once"


@pytest.mark.parametrize("ending", ["exit status 1", None], ids=["it fails", "it does not answer"])
def test_silence_is_counted_from_the_last_number_that_came(ending: str | None) -> None:
    """The number never changes: it is recorded every half minute. It ends 27 s after a record, and is told a minute later."""
    word = structs(FS, means="others", every_s=2.0, within_s=1.0, oldest_s=60.0, when_silent="ignore")
    campaign = campaign_of(plan_of(word, repeats=8), lambda at, _: 50.0 if at < 27 else ending)
    began = campaign.clock.now()
    campaign.run()
    told = next(event for event in campaign.events("finding") if event.value["kind"] == "observed_silent")
    last = campaign.events("observed")[-1] if ending is None else campaign.events("observed")[-2]
    assert 23 <= last.value["at"] - began <= 27, "the last number is recorded, though nothing changed by it"
    assert 60 <= told.time - last.value["at"] <= 62
    assert f"for 1 min 00 s: no number since {moment(last.value['at'])}" in told.reason
    assert len(campaign.events("observed")) <= 3


def test_a_silence_has_the_cause_that_it_has_now() -> None:
    """One cause follows the other. Each is recorded when half the time that a number may be old is over; the newest is told."""
    causes = {100: "it says 'full'", 340: "cannot reach mds", 1000: "it says nothing", 1400: "exit status 3"}

    def numbers(at: float, query: str) -> float | str:
        said = [why for since, why in causes.items() if at >= since]
        return 0.0 if at > 2000 else said[-1] if said else 50.0

    campaign = campaign_of(plan_of(structs(FS, means="others"), repeats=40), numbers)
    campaign.run()
    (told,) = (event for event in campaign.events("finding") if event.value["kind"] == "observed_silent")
    assert "cannot reach mds" in told.reason
    assert [event.reason for event in campaign.events("observed") if "number" not in event.value] == list(
        causes.values()
    )


def test_a_cause_whose_words_change_all_the_time_is_recorded_now_and_then() -> None:
    campaign = campaign_of(
        plan_of(structs(FS, means="others"), repeats=8), lambda at, _: 0.0 if at > 3000 else f"{at:g} s old"
    )
    began = campaign.clock.now()
    campaign.run()
    troubles = [event.time - began for event in campaign.events("observed") if "number" not in event.value]
    assert 3000 / 180 - 2 <= len(troubles) <= 3000 / 150 + 2


def test_one_who_never_answers_is_silent_too() -> None:
    campaign = campaign_of(plan_of(structs(FS, when_silent="ignore")), lambda at, _: None)
    began = campaign.clock.now()
    campaign.run()
    assert campaign.events("observed") == []
    assert campaign.events("submit_order")[0].time - began >= 300, (
        "the first number is waited for as long as one may be old"
    )
    assert campaign.monitor.count == 1, "who has not answered is not asked again"  # type: ignore[attr-defined]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1.0])
def test_what_is_no_amount_is_no_number(number: float) -> None:
    campaign = campaign_of(plan_of(structs(FS, when_silent="ignore")), lambda at, _: number)
    campaign.run()
    assert [event.reason for event in campaign.events("observed")] == [f"{number} is no amount"]


def test_only_numbers_that_matter_are_recorded() -> None:
    """The number moves with every answer, and no run more or less could start by it: it is recorded twice in its longest age."""
    campaign = campaign_of(
        plan_of(structs(FS, means="others"), repeats=40), lambda at, _: 1.0 + (at % 7) / 10, amnesia=True
    )
    began = campaign.clock.now()
    campaign.run()
    seconds = campaign.clock.now() - began
    assert campaign.monitor.count > seconds / 40  # type: ignore[attr-defined]
    assert len(campaign.events("observed")) <= seconds / 150 + 2


def test_each_target_has_a_number_of_its_own() -> None:
    """Of two targets one is full of others' work: all runs go to the other one."""
    document = plan_of(structs(FS, query="lfs-load {target}", means="others"), amount=2.0)
    document = structs(document, system=structs(document.system, targeted=(("fs", ("a", "b")),)))
    campaign = campaign_of(document, lambda at, query: 100.0 if query == "lfs-load a" else 0.0)
    campaign.run()
    targets = {event.value["targets"]["fs"] for event in campaign.events("submit_order")}
    assert targets == {"b"}
    assert {event.value["budget"] for event in campaign.events("observed")} == {"fs@a", "fs@b"}


def test_another_number_by_an_amendment_is_waited_for() -> None:
    """The plan is amended: the budget is observed from then on, and by that alone it is narrowed."""
    document = plan_of(structs(FS, means="others"), repeats=40)

    def amend(campaign: Campaign, wait: int) -> None:
        if wait == 20:
            campaign.amend(document)

    campaign = campaign_of(structs(document, limits=Limits()), lambda at, _: 75.0, script=amend)
    campaign.run()
    at = campaign.events("amended")[0].time
    assert not [event for event in campaign.events("observed") if event.time < at]
    first = campaign.events("observed")[0].time
    assert first - at < 60
    assert not [event for event in campaign.events("submit_order") if at < event.time < first]
    assert most_between(campaign, first + 130, first + 1000) == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_conductor_that_dies_again_and_again_obeys_all_the_same(seed: int) -> None:
    """The oracle holds every order against what was observed."""
    numbers = lambda at, _: float((37 * int(at / 60 + seed)) % 101)  # noqa: E731
    word = structs(FS, means="others", smooth_s=120.0, smooth_by="most")
    campaign = campaign_of(plan_of(word, repeats=25), numbers, dies=random_deaths(seed, most=12), seed=seed)
    campaign.run()
    assert campaign.crashes and campaign.events("observed")
