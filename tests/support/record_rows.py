"""A campaign's record written down by hand, row by row: for tests of what rows add up to, however they were folded."""

from __future__ import annotations

from typing import Any

from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.scorecard import CriterionScore, Scorecard
from shakedown.metrics.rows.rows import AttestationRow, NoteRow, OpenRun, RunRow, WaiverRow
from shakedown.metrics.rows.table import Record
from shakedown.model.judging import Criterion
from shakedown.model.nouns import (
    Case,
    Cluster,
    Component,
    Document,
    FigureSpec,
    NodeType,
    Partition,
    Shape,
    System,
    Test,
)

FIGURES = (FigureSpec("rate", unit="GB/s", better="higher"), FigureSpec("energy", unit="kJ"))


class Book:
    """Eight nodes in partition ``c:batch`` and four in ``c:big``; a case takes two nodes of the first unless it says more."""

    def __init__(self, scheduler: str = "slurm", cores: int = 1) -> None:
        self.scheduler, self.cores = scheduler, cores
        self.overlapping: Partition | None = None
        self.cases: dict[str, Case] = {}
        self.components: dict[str, Component] = {}
        self.record = Record(campaign="b1", plan="p", document="d" * 64, started=0.0)

    def component(self, name: str, *cases: str, units: int = 2, partition: str = "c:batch", **fields: Any) -> None:
        for case in cases:
            self.case(case, units, partition)
        self.components[name] = Component(name, fields.pop("kind", "performance"), cases, **fields)

    def case(self, name: str, units: int = 2, partition: str = "c:batch") -> None:
        """A case of the plan; what stands before a slash is its test."""
        self.cases.setdefault(
            name, Case(name, name.split("/", maxsplit=1)[0], partition, shape=Shape(units, units=units))
        )

    def run(
        self, component: str, case: str, verdict: str = "passed", begin: float | None = None, **fields: Any
    ) -> RunRow:
        """One attempt. ``begin``: when it started; it ran for ``elapsed_s``. ``result``: its own unless said."""
        number = len(self.record.runs) + 1
        facts = {"result": number, "elapsed_s": 10.0, "seq": number, "attempt": 1} | fields
        facts.setdefault("repeat", self._repeat(component, case, facts))
        if begin is not None:
            facts |= {"started": begin, "ended": begin + facts["elapsed_s"]}
        row = RunRow(
            run=f"r{number}", case=case, component=component, verdict=verdict, reason="", time=facts.get("ended", 0.0), **facts
        )  # fmt: skip
        self.record.runs.append(row)
        self.record.first_orders.setdefault(component, begin or 0.0)
        self.record.last = max(self.record.last, row.time)
        return row

    def _repeat(self, component: str, case: str, facts: dict[str, Any]) -> int:
        """The number of its result among those of the case in its mode."""
        mode = facts.get("mode", "")
        alike = [row for row in self.record.runs if (row.component, row.case, row.mode) == (component, case, mode)]
        results = list(dict.fromkeys(row.result for row in alike))
        return (results.index(facts["result"]) if facts["result"] in results else len(results)) + 1

    def runs(self, component: str, case: str, verdicts: str, **fields: Any) -> None:
        """One run a letter: p passed, f failed, i incorrect, P performance, n node_fail."""
        words = {"p": "passed", "f": "failed", "i": "incorrect", "P": "performance", "n": "node_fail"}
        for letter in verdicts:
            self.run(component, case, words[letter], **fields)

    def open(self, component: str, case: str, ordered: float = 0.0) -> None:
        name = f"o{len(self.record.open)}"
        self.record.open[name] = OpenRun(name, case, component, 1, 1, "", ordered, 1, 10**6 + len(self.record.open), 1)

    def say(self, hour: float, kind: str, component: str = "st", case: str = "", why: str = "", **value: Any) -> None:
        """A standing order, after so many hours."""
        number = len(self.record.standing) + 1
        self.record.standing.append(NoteRow(kind, hour * 3600, why, {"component": component} | value, number, case))

    def waive(self, component: str, name: str, restriction: str = "", what: str = "criterion", **fields: Any) -> None:
        """``seq``: the event of the waiver; the n-th run was judged by event n."""
        self.record.waivers.append(WaiverRow(what, component, name, restriction, "A. Person", "agreed", **fields))

    def attest(self, component: str, procedure: str, met: bool = True, files: int = 0) -> None:
        evidence = tuple((f"f{n}", "0" * 64) for n in range(files))
        self.record.attestations[component, procedure] = AttestationRow(component, procedure, met, "B", evidence)

    def document(self) -> Document:
        others = (self.overlapping,) if self.overlapping else ()
        partitions = (Partition("batch", "c", "n[1-8]", 8, "t"), Partition("big", "c", "b[1-4]", 4, "t"), *others)
        system = System("s", (Cluster("c", self.scheduler, partitions),), (NodeType("t", cores=self.cores),))
        tests = tuple(Test(name, figures=FIGURES) for name in dict.fromkeys(case.test for case in self.cases.values()))
        return Document("p", system, tuple(self.components.values()), tuple(self.cases.values()), tests)

    def card(self, ended: bool = True, over: tuple[str, ...] = ()) -> Scorecard:
        self.record.ended = self.record.last if ended else None
        return score(self.document(), self.record, over)

    def only(self, ended: bool = True, over: tuple[str, ...] = ()) -> CriterionScore:
        """The one criterion of the one component, judged; the planned time of one that runs for a time stands beside it."""
        (criterion,) = stated(self.card(ended, over))
        return criterion


def stated(card: Scorecard, place: int = 0) -> list[CriterionScore]:
    """The criteria of a component but for its planned time."""
    return [found for found in card.components[place].criteria if found.name != "planned time"]


def criterion(measure: str, must: str, **fields: Any) -> Criterion:
    """A criterion from its bound as written: '>= 95%', '<= 20' (in the figure's own unit)."""
    comparison, amount = must.split()
    bound = float(amount[:-1]) / 100 if amount.endswith("%") else float(amount)
    return Criterion(fields.pop("name", "k"), measure, comparison, bound, must=must, **fields)  # type: ignore[arg-type]
