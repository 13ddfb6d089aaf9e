"""Campaigns in which cases and repeats are taken out of the plan and put in again, told as the engine would order: by chance."""

from __future__ import annotations

import random

from acts_story import CASES, PARTIES, Acted, plan
from msgspec.structs import replace

from shakedown.model.judging import Criterion
from shakedown.model.nouns import Component, Document, Retry

DONE = Criterion("done", "passed / attempts", ">=", 0.9, "%", must=">= 90%")
EASY = Criterion("most", "passed / wanted", ">=", 0.5, "%", must=">= 50%")


def drawn(seed: int, live: bool = False) -> Acted:
    """A plan of counted results alone, amended up to five times; who agrees to what is drawn. ``live``: some are live then."""
    draw = random.Random(f"live, out and in {seed}" if live else f"out and in {seed}")
    whole = plan(PARTIES if seed % 4 else (), draw.choice([(), (), ("amend",)]) if seed % 4 else ())
    retry = (Retry("failed", 1),) if live and seed % 3 else ()
    part = Component("speed", "performance", CASES, draw.choice([1, 2]), criteria=(DONE, EASY), retry=retry)
    told = Acted(replace(whole, components=(part,)))
    closed: set[tuple[str, int]] = set()
    bad, said = draw.choice([0.2, 0.5]), []
    _run(told, draw, closed, bad)
    runs = _left_live(told, draw, closed) if live else {}
    for _ in range(draw.randrange(1, 6)):
        now = told.documents[told.record.document]
        said.append(_amend(told, draw, now, part))
        after = told.documents[told.record.document]
        closed &= _wanted(after)  # what a plan does not want is forgotten
        closed |= runs.keys() & _wanted(after)  # but for what is live all the while
        for want in [want for want in runs if draw.random() < 0.4]:
            _judge(told, draw, want, runs.pop(want))
        if draw.random() < 0.8:
            _run(told, draw, closed, bad / 4)
        if draw.random() < 0.2:
            run = f"r{draw.randrange(1, told.runs + 1):06d}"
            told.say("ruled", {"as": "site", "by": draw.choice(["Ada", "Bo"])}, "outage", run=run)
    for want, run in runs.items():
        _judge(told, draw, want, run)
    told.end()
    for number in said if told.documents[told.record.document].parties else ():
        for by in draw.choice([(), ("Ada",), ("Bo",), ("Ada", "Bo")]):
            told.agree(number, by)
    return told


def _left_live(told: Acted, draw: random.Random, closed: set[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """Some results are not judged yet when the plan is amended: their runs go on, whatever is wanted meanwhile."""
    chosen = draw.sample(sorted(closed), draw.choice([0, 1, 2]))
    ordered = [event for event in told.events if event.event == "submit_order"]
    wants = {event.run: (event.case, event.value["repeat"]) for event in ordered}
    runs = {want: run for run, want in wants.items() if want in chosen}
    ends = ("verdict", "given_up")
    told.events = [event for event in told.events if event.event not in ends or event.run not in runs.values()]
    told.events = [replace(event, seq=place) for place, event in enumerate(told.events, 1)]
    return runs


def _judge(told: Acted, draw: random.Random, want: tuple[str, int], run: str) -> None:
    told.judge(run, word := "failed" if draw.random() < 0.6 else "passed")
    if word == "failed":
        _fails(told, draw, want, run)


def _fails(told: Acted, draw: random.Random, want: tuple[str, int], run: str) -> None:
    """It is attempted once more where the plan says so and wants it now; else it is given up, where the plan has attempts."""
    plan, (case, repeat) = told.documents[told.record.document], want
    ids = {"component": "speed", "repeat": repeat}
    row = told.record.row_of(run)
    if plan.components[0].retry and want in _wanted(plan) and row is not None and row.attempt == 1:
        told.say("retry", ids | {"attempt": 2}, "again", run=run, case=case)
        word = draw.choice(["failed", "passed"])
        run = told.run("speed", case, word, repeat, attempt=2)
        if word == "passed":
            return
    if plan.components[0].retry:
        told.say("given_up", ids, "no more", run=run, case=case)


def _wanted(document: Document) -> set[tuple[str, int]]:
    (part,) = document.components
    return {(case, repeat) for case in part.cases for repeat in range(1, part.repeats + 1)}


def _run(told: Acted, draw: random.Random, closed: set[tuple[str, int]], bad: float) -> None:
    for case, repeat in sorted(_wanted(told.documents[told.record.document]) - closed):
        run = told.run("speed", case, word := "failed" if draw.random() < bad else "passed", repeat)
        if word == "failed":
            _fails(told, draw, (case, repeat), run)
        closed.add((case, repeat))


def _amend(told: Acted, draw: random.Random, now: Document, part: Component) -> int:
    """A case goes, or all come back; fewer repeats, or more; only words; an easier bound."""
    (speed,) = now.components
    change = draw.choice(["out", "out", "in", "in", "fewer", "more", "words", "bound"])
    if change == "out":
        speed = replace(speed, cases=tuple(draw.sample(CASES, draw.choice([1, 2]))))
    elif change == "in":
        speed = replace(speed, cases=part.cases)
    elif change in ("fewer", "more"):
        speed = replace(speed, repeats=1 if change == "fewer" else 2)
    elif change == "bound":
        speed = replace(speed, criteria=(replace(DONE, bound=0.5, must=">= 50%"), EASY))
    new = replace(now, components=(speed,), about=f"changed at {told.now}")
    value = {"document": told.keep(new), "by": draw.choice(["Ada", "Bo", "Bo"]), "difference": [change]}
    return told.say("amended", value, "as agreed")
