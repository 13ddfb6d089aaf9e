"""Campaigns that people drain, cancel, amend and take up again, with tests that need others and runs that are attempted again.

A small engine says what follows from each: what waits is cancelled, what fails is given up or attempted again, what needs something
that is lost is not run.
"""

from __future__ import annotations

import random
from typing import Any

from acts_story import PARTIES, Acted
from msgspec.structs import replace

from shakedown.model.judging import Criterion
from shakedown.model.nouns import (
    Case,
    Cluster,
    Component,
    Document,
    Need,
    NodeType,
    Partition,
    Retry,
    Shape,
    System,
    Test,
)  # fmt: skip

ASKED = [(), (), ("amend",), ("drain", "cancel"), ("again", "amend")]
Want = tuple[str, str, int]  # component, case, repeat
SAID = {"drain_request": "drained", "cancel_request": "cancelled"}


def drawn(seed: int) -> Acted:
    """A campaign by chance: what passes, who ends what when, who agrees."""
    draw = random.Random(f"ends {seed}")
    parties = PARTIES if seed % 4 else ()
    story = _Story(draw, _plan(draw, parties, draw.choice(ASKED) if parties else ()))
    story.play()
    return story.told


def _plan(draw: random.Random, parties: tuple[Any, ...], consent: tuple[str, ...]) -> Document:
    system = System("c", (Cluster("c", "slurm", (Partition("batch", "c", "n[1-4]", 4, "node"),)),), (NodeType("node"),))
    bound = draw.choice([0.5, 0.7, 1.0])
    most = Criterion("most", "passed / attempts", ">=", bound, "%", must=f">= {bound * 100:g}%")
    right = Criterion("right", "correct / completed", "=", 1.0, "%", must="= 100%")
    retry = draw.choice([(), (Retry("failed", 1),), (Retry("failed", 2),)])
    parts = (
        Component("first", "functionality", ("make",), draw.choice([1, 2]), criteria=(right,), retry=retry),
        Component("speed", "performance", ("solve", "plot"), 3, criteria=(most, right), retry=retry),
        Component("days", "stability", ("make",), criteria=(most,), duration_s=300.0, retry=retry),
    )
    shape = Shape(time_limit_s=100.0)
    cases = (
        Case("make", "make", "c:batch", shape=shape),
        Case("solve", "solve", "c:batch", shape=shape, needs=(Need("make"),)),
        Case("plot", "plot", "c:batch", shape=shape, needs=(Need("solve"),)),
    )
    tests = tuple(Test(name) for name in ("make", "solve", "plot"))
    return Document("p", system, parts, cases, tests, parties=parties, consent=consent)


class _Story:
    """``over``: how each result came out for good; ``drained``: components whose drain holds, "" = all; ``tries``: failures so
    far; ``up``: the time of the component that runs for a time is up.
    """

    def __init__(self, draw: random.Random, document: Document) -> None:
        self.draw, self.told = draw, Acted(document)
        self.over: dict[Want, str] = {}
        self.drained: set[str] = set()
        self.tries: dict[Want, int] = {}
        self.rounds = {"first": 1, "speed": 1}
        self.up, self.repeat, self.restless = False, 0, draw.choice([0.1, 0.3])
        self.bad = draw.choice([0.0, 0.1, 0.4])

    @property
    def plan(self) -> Document:
        return self.told.documents[self.told.record.document]

    def play(self) -> None:
        while self._one() or (self.draw.random() < 0.3 and len(self.told.events) < 150 and self._act(taking_up=True)):
            if self.draw.random() < self.restless:
                self._act()
        self.told.end()
        for _ in range(self.draw.randrange(4)):
            self._agree()

    def _one(self) -> bool:
        """The next result that may begin, or that is lost; then one of the component that runs for a time."""
        waiting = [want for want in self._wanted() if want not in self.over]
        for want in waiting:
            if want[0] in self.drained or "" in self.drained:
                self._verdict(want, "cancelled", "it was drained")
                return True
            needed = self._needed(want)
            if needed is None or self.over.get(needed) == "passed":
                self._run(want)
                return True
            if needed in self.over:
                self._verdict(want, "not_run", f"{needed[1]} comes first")
                return True
        if self.up:
            return False
        if {"days", ""} & self.drained or self._has_had_its_time():
            self.told.say("finding", {"kind": "time_is_up", "component": "days"})
            self.up = True
        else:
            self.repeat += 1
            self.over.pop(("days", "make", self.repeat), None)
            self._run(("days", "make", self.repeat))
        return True

    def _wanted(self) -> list[Want]:
        found = []
        for part in self.plan.components[:2]:
            for repeat in range(part.repeats * self.rounds[part.name]):
                found += [(part.name, case, repeat + 1) for case in part.cases]
        return found

    def _needed(self, want: Want) -> Want | None:
        component, case, repeat = want
        if case == "make":
            return None
        if case == "plot":
            return component, "solve", repeat
        return "first", "make", min(repeat, self.plan.components[0].repeats * self.rounds["first"])

    def _has_had_its_time(self) -> bool:
        from shakedown.metrics.clock import time_has_passed

        self.told.now += 1.0
        return time_has_passed(self.plan.components[2], replace_last(self.told))

    def _run(self, want: Want) -> None:
        component, case, repeat = want
        word = self.draw.choice(["failed", "incorrect", "node_fail"]) if self.draw.random() < self.bad else "passed"
        attempt = self.tries.get(want, 0) + 1
        run = self.told.run(component, case, word, repeat, attempt=attempt, lasts=20.0)
        if word in ("passed", "incorrect"):
            self.over[want] = word
            return
        if self.draw.random() < 0.3:
            self._act()  # before anybody settles it
        self.tries[want] = attempt
        part = next(part for part in self.plan.components if part.name == component)
        ids: dict[str, Any] = {"component": component, "repeat": repeat}
        spent = self.told.record.row_of(run)
        assert spent is not None
        same = [row for row in self.told.record.current() if row.result == spent.result and row.verdict == word]
        times = ({"node_fail": 2} | {one.verdict: one.times for one in part.retry}).get(word, 0)
        ended = {component, ""} & self.drained or want in self.over or (component == "days" and self.up)
        if ended or len(same) > times:
            self.told.say("given_up", ids, "no more", run=run, case=case)
            self.over[want] = word
        else:
            self.told.say("retry", ids | {"attempt": attempt + 1}, "again", run=run, case=case)
            if component == "days":
                self.repeat -= 1

    def _verdict(self, want: Want, verdict: str, why: str) -> None:
        component, case, repeat = want
        self.told.runs += 1
        ids = {"component": component, "repeat": repeat, "attempt": self.tries.get(want, 0) + 1, "verdict": verdict}
        self.told.say("verdict", ids | {"final": True}, why, run=f"r{self.told.runs:06d}", case=case)
        self.over[want] = verdict

    # ---- what people do ------------------------------------------------------------------------------------------------

    def _act(self, taking_up: bool = False) -> bool:
        by = self.draw.choice(["Ada", "Bo"])
        words = ["amend", "again"] if taking_up else ["drain", "drain", "cancel", "amend", "again", "agree", "rule"]
        word = self.draw.choice(words)
        if word == "drain":
            component = self.draw.choice(["first", "speed", "speed", "days", ""])
            self.told.say("drain_request", ({"component": component} if component else {}) | {"by": by}, "enough")
            self.drained.add(component)
        elif word == "cancel":
            self._cancel(by)
        elif word == "amend":
            self._amend(by)
        elif word == "again":
            component = self.draw.choice(["first", "speed"])
            self.told.say("again", {"component": component, "by": by}, "new cables")
            self.drained -= {component}
            self.rounds[component] += 1
        elif word == "rule" and self.told.runs:
            run = f"r{self.draw.randrange(self.told.runs) + 1:06d}"
            for _ in range(self.draw.choice([1, 2])):
                self.told.say("ruled", {"as": self.draw.choice(["site", "none"]), "by": by}, "a disk", run=run)
        else:
            self._agree()
        return True

    def _cancel(self, by: str) -> None:
        """What waits of a case is cancelled at once, and no later round of it."""
        case = self.draw.choice(["make", "solve", "plot"])
        self.told.say("cancel_request", {"cases": [case], "by": by}, "wrong input")
        for want in self._wanted():
            if want[1] == case and want not in self.over:
                self._verdict(want, "cancelled", "wrong input")

    def _amend(self, by: str) -> None:
        first, speed, days = self.plan.components
        if self.draw.random() < 0.3:
            speed = replace(speed, repeats=self.draw.choice([2, 3, 4]))
        if self.draw.random() < 0.3:
            speed = replace(speed, gate=self.draw.choice(["over", "met"]), after=self.draw.choice([(), ("first",)]))
        new = replace(self.plan, components=(first, speed, days), about=f"changed at {self.told.now}")
        stopped = {"stopped": {"days": self.told.now}} if self.up else {}
        said = {"document": self.told.keep(new), "by": by, "difference": ["it"]} | stopped
        self.told.say("amended", said, "as agreed")
        self.drained, self.up = set(), False

    def _agree(self) -> None:
        acts = [
            event.seq for event in self.told.events if event.event in ("drain_request", "cancel_request", "amended")
        ]
        if acts and self.told.documents[self.told.events[0].value["document"]].parties:
            self.told.agree(self.draw.choice(acts), self.draw.choice(["Ada", "Bo"]))


def replace_last(told: Acted) -> Any:
    """The record as it stands now, with the time that has passed since its last event."""
    record = told.record
    record.last = max(record.last, told.now)
    return record
