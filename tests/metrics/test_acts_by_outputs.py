"""What kept outputs say of runs by a plan that was not in force: it is known, consented to or not, in several components."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from acts_story import CASES, PARTIES, Acted, plan
from msgspec.structs import replace

from shakedown.metrics.judging import from_outputs
from shakedown.metrics.judging.from_outputs import UNREAD, Answer, Question
from shakedown.metrics.judging.scorecard import NOT_KNOWN, ActScore, Scorecard
from shakedown.model.nouns import Check, Document, FigureSpec, Party, Retry

OUTPUT = {"pack": "p1", "offset": 0, "bytes": 9, "crc": 1}
OTHER = Check("output contains", "output", "sum", 'output contains "sum"')


def without_check(document: Document) -> Document:
    return replace(document, tests=tuple(replace(test, checks=()) for test in document.tests))


def answering(words: dict[str, str]) -> Callable[[Sequence[Question]], list[Answer | None]]:
    """Kept outputs that say so of some runs; all others come out as they did."""

    def evaluate(questions: Sequence[Question]) -> list[Answer | None]:
        verdicts = [words.get(one.row.run, one.row.verdict) for one in questions]
        return [Answer(word, "as it is", dict(one.row.figures)) if word else None
                for word, one in zip(verdicts, questions, strict=True)]  # fmt: skip

    return evaluate


def run(told: Acted, component: str, case: str, verdict: str = "passed", repeat: int = 1) -> str:
    """A run whose output is kept."""
    name = told.run(component, case, verdict, repeat)
    told.events[-1] = replace(told.events[-1], value=told.events[-1].value | {"output": OUTPUT})
    return name


def amended(document: Document, after: Document, verdict: str = "passed", by: str = "Bo") -> Acted:
    """Each case of both components ran once before an amendment, and once after it."""
    told = Acted(replace(document, components=document.components[:2]))
    after = replace(after, components=after.components[:2])
    for repeat in (1, 2):
        if repeat == 2:
            told.say("amended", {"document": told.keep(after), "by": by, "difference": ["checks"]}, "as agreed")
        for case in CASES:
            run(told, "speed", case, "passed" if repeat == 1 else verdict, repeat)
        for case in CASES[:2]:
            run(told, "days", case, "passed" if repeat == 1 else verdict, repeat)
    told.now += 600.0
    told.say("finding", {"kind": "time_is_up", "component": "days"})
    told.end()
    return told


def amendment(card: Scorecard) -> ActScore:
    return next(one for one in card.acts if one.kind == "amend")


@pytest.mark.parametrize("run", ["r000008", "r000010"], ids=["of the first component", "of the second"])
@pytest.mark.parametrize("parties", [(), PARTIES])
def test_a_check_that_was_taken_out_is_known_to_fail_without_the_amendment(
    run: str, parties: tuple[Party, ...]
) -> None:
    document = plan(parties)
    told = amended(document, without_check(document))
    assert amendment(told.card()).without == NOT_KNOWN
    card = told.card(evaluate=answering({run: "incorrect"}))
    assert amendment(card).without == "rejected"
    assert card.without_acts == "rejected"
    component = "speed" if run == "r000008" else "days"
    assert f"right of {component} is not met instead of met" in amendment(card).difference
    assert card.outcome == ("disputed" if parties else "accepted with restrictions")
    if parties:
        assert "rejected if it does not" in card.summary


def test_outputs_that_pass_the_check_as_well_leave_nothing_to_dispute() -> None:
    document = plan()
    told = amended(document, without_check(document))
    told.agree(amendment(told.card()).number, "Ada")
    assert amendment(told.card(evaluate=answering({}))).without == "accepted"
    told = amended(document, without_check(document))
    card = told.card(evaluate=answering({}))
    assert "nobody can tell" not in card.summary
    assert "accepted if it does not" in card.summary


def test_an_amendment_without_effect_is_judged_by_what_is_in_effect() -> None:
    """The plan asks for consent: without it the old check counts, on what ran since as well."""
    document = plan(consent=("amend",))
    told = amended(document, without_check(document))
    assert told.card().outcome == "disputed"
    card = told.card(evaluate=answering({"r000008": "incorrect"}))
    assert (card.outcome, amendment(card).standing) == ("rejected", "no effect")
    assert told.card(evaluate=answering({})).outcome == "accepted"


@pytest.mark.parametrize("why", ["gone", "says too little", "attempted again", "given up", "too many", "no output"])
def test_where_the_outputs_do_not_say_all_it_is_not_known(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    document, words = plan(()), {"r000008": "incorrect"}
    speed, *rest = document.components
    if why == "attempted again":
        speed = replace(speed, retry=(Retry("failed", 1),))
        words = {"r000008": "failed"}
    elif why == "given up":
        speed = replace(speed, stop_after=1)
    elif why == "too many":
        monkeypatch.setattr(from_outputs, "MOST_OUTPUTS", 3)
    elif why == "gone":
        words = {"r000008": UNREAD}
    elif why == "says too little":
        words = {"r000008": ""}
    document = replace(document, components=(speed, *rest))
    told = amended(document, without_check(document))
    if why == "no output":
        told.events = [replace(event, value={key: word for key, word in event.value.items() if key != "output"})
                       for event in told.events]  # fmt: skip
    card = told.card(evaluate=answering(words))
    assert amendment(card).without == NOT_KNOWN


def test_an_output_that_is_gone_leaves_the_outcome_disputed_until_the_other_party_agrees() -> None:
    document = plan()
    told = amended(document, without_check(document))
    number = amendment(told.card()).number
    for word in ("incorrect", UNREAD):  # one side removes what shows that its act mattered, and wins nothing
        card = told.card(evaluate=answering({"r000008": word}))
        assert (card.outcome, card.undisputed) == ("disputed", "accepted with restrictions")
    assert card.summary == (
        f"disputed: accepted with restrictions if the amendment by Bo (event {number}) counts, and nobody can tell how it comes out"
        " if it does not, since the kept output of 1 run (r000008) is gone, changed or not readable; site has not agreed to it"
    )
    assert any(f"event {number}: Bo amended" in line and "(r000008) is gone" in line for line in card.remarks)
    told.agree(number, "Ada")
    card = told.card(evaluate=answering({"r000008": UNREAD}))
    assert card.outcome == "accepted with restrictions"
    assert amendment(card).without == NOT_KNOWN


def test_an_output_that_is_gone_changes_nothing_where_nothing_hangs_on_it() -> None:
    """One run fails whatever is asked: flattered as the others are, it is rejected without the amendment as well."""
    document = plan()
    told = amended(document, without_check(document))
    told.events = [
        replace(event, value=event.value | {"verdict": "incorrect"})
        if event.run == "r000001" and event.event == "verdict"
        else event
        for event in told.events
    ]
    assert told.card(evaluate=answering({"r000008": UNREAD})).outcome == "rejected"


def test_an_output_that_is_gone_is_told_where_two_amendments_cover_each_other() -> None:
    """The check is out by either of them: alone neither matters, and both are of one side."""
    document = plan()
    told = amended(document, without_check(document))
    told.events.pop()
    easier = replace(told.documents[told.record.document], about="once more")
    told.say("amended", {"document": told.keep(easier), "by": "Bo", "difference": ["about"]}, "as agreed")
    told.end()
    for word in ("incorrect", UNREAD):
        assert told.card(evaluate=answering({"r000008": word})).outcome == "disputed"


def test_a_harder_plan_whose_outputs_are_gone_rejects_nobody() -> None:
    """The site has a figure read otherwise, runs are incorrect by that, and their outputs are removed."""
    document = plan()
    read = (FigureSpec("rate", "", "higher", regex="x"),)
    after = replace(document, tests=tuple(replace(test, figures=read) for test in document.tests))
    told = amended(document, after, verdict="incorrect", by="Ada")
    right = {f"r{number:06d}": "passed" for number in range(6, 11)}
    for words in (right, dict.fromkeys(right, UNREAD)):
        card = told.card(evaluate=answering(words))
        assert (card.outcome, card.undisputed) == ("disputed", "rejected")
    assert "nobody can tell how it comes out if it does not" in card.summary


def test_another_program_is_not_known_whatever_its_output_says() -> None:
    document = plan(())
    after = without_check(document)
    after = replace(after, cases=tuple(replace(case, files=(("deck", "/in/small"),)) for case in after.cases))
    told = amended(document, after)
    assert amendment(told.card(evaluate=answering({}))).without == NOT_KNOWN


@pytest.mark.parametrize("what", ["a check in the place of another", "a figure that is read otherwise"])
def test_what_only_a_harder_plan_found_wrong_is_known_by_the_outputs(what: str) -> None:
    document = plan(())
    test = document.tests[0]
    changed = (
        replace(test, checks=(OTHER,))
        if "check" in what
        else replace(test, figures=(FigureSpec("rate", "", "higher", regex="x"),))
    )
    after = replace(document, tests=(changed, *document.tests[1:]))
    told = amended(document, after, verdict="incorrect")
    assert amendment(told.card()).without in (NOT_KNOWN, "rejected")
    words = {f"r{number:06d}": "passed" for number in range(6, 11)}
    linpack = {"r000008": "incorrect"}
    assert amendment(told.card(evaluate=answering(words | linpack))).without == "rejected"  # its test is as it was
