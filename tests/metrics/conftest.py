"""A story is a campaign told event by event: what was wanted, what ran, how it was judged."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.scorecard import CriterionScore, Scorecard
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.events import Event
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Case, Cluster, Component, Document, FigureSpec, NodeType, Partition, System, Test

FIGURES = (FigureSpec("triad", unit="GB/s", better="higher"), FigureSpec("errors", unit=""))


class Story:
    """Collects cases, criteria and events; ``card`` judges them. Case ids are ``test/...``; the component is ``main``."""

    def __init__(self) -> None:
        self.cases: dict[str, Case] = {}
        self.criteria: list[Criterion] = []
        self.repeats = 1
        self.events: list[Event] = []
        self.add("campaign_start", value={"campaign": "c1", "plan": "p", "document": "d" * 64, "seed": 7})

    def add(self, event: str, **fields: Any) -> int:
        seq = len(self.events) + 1
        self.events.append(Event(event, seq=seq, time=1000.0 + seq, **fields))
        return seq

    def case(self, case: str, **fields: Any) -> str:
        self.cases[case] = Case(case, case.split("/", maxsplit=1)[0], "local:all", **fields)
        return case

    def run(self, case: str, verdict: str = "passed", repeat: int = 1, attempt: int = 1, **value: Any) -> str:
        """One attempt from its order to its verdict. ``value`` are further facts of the verdict."""
        if case not in self.cases:
            self.case(case)
        run = f"r{sum(event.event == 'submit_order' for event in self.events) + 1:06d}"
        ids = {"component": "main", "repeat": repeat, "attempt": attempt}
        self.add("submit_order", run=run, job=f"j{run[1:]}", case=case, value=ids)
        self.add("verdict", run=run, case=case, value=ids | {"verdict": verdict} | value, reason=f"it {verdict}")
        return run

    def runs(self, case: str, verdicts: str, **value: Any) -> list[str]:
        """One run a letter: p passed, f failed, i incorrect, P performance, t timeout; each another repeat."""
        words = {"p": "passed", "f": "failed", "i": "incorrect", "P": "performance", "t": "timeout"}
        return [self.run(case, words[letter], repeat=n, **value) for n, letter in enumerate(verdicts, 1)]

    def values(self, case: str, values: list[float], figure: str = "triad") -> None:
        for repeat, value in enumerate(values, 1):
            facts = {"elapsed_s": value} if figure == "elapsed" else {"figures": {figure: value}}
            self.run(case, repeat=repeat, **facts)

    def must(self, measure: str, comparison: Any, bound: float, **fields: Any) -> None:
        name = fields.pop("name", f"k{len(self.criteria)}")
        self.criteria.append(Criterion(name, measure, comparison, bound, **fields))

    def end(self) -> None:
        self.add("campaign_end", value={"counts": {}})

    def document(self) -> Document:
        system = System(
            "box",
            (Cluster("local", "local", (Partition("all", "local", "localhost", 1, "host"),)),),
            (NodeType("host"),),
        )
        tests = tuple(Test(name, figures=FIGURES) for name in dict.fromkeys(case.test for case in self.cases.values()))
        component = Component("main", "performance", tuple(self.cases), self.repeats, criteria=tuple(self.criteria))
        return Document("p", system, (component,), tuple(self.cases.values()), tests)

    def record(self) -> Record:
        return fold_runs(self.events)

    def card(self, ended: bool = True) -> Scorecard:
        if ended:
            self.end()
        return score(self.document(), self.record())

    def only(self, ended: bool = True) -> CriterionScore:
        """The one criterion of the story, judged."""
        (criterion,) = self.card(ended).components[0].criteria
        return criterion


@pytest.fixture
def story() -> Story:
    return Story()
