"""Made-up logs of stability campaigns: clocks that stop, start anew and are spoken of late, fillers, dead nodes, held jobs."""

from __future__ import annotations

import random
from typing import Any

from shakedown.model.events import Event
from shakedown.model.filling import ClockTerms, Fill
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Case, Cluster, Component, Document, Limits, NodeType, Partition, Shape, System, Test

HOUR = 3600.0
MEASURES = (
    ("runs", ">=", 3.0, ""), ("node-hours", ">=", 4.0, ""), ("hours per node", ">=", 1.0, "h"),
    ("mean time to interrupt", ">=", 90.0, "min"), ("longest hole", "<=", 7200.0, "s"),
    ("contractual node-hours / clock node-hours", ">=", 0.3, "%"), ("our node-hours / clock node-hours", ">=", 0.4, "%"),
    ("delivered node-hours / calendar node-hours", ">=", 0.2, "%"),
    ("delivered node-hours / available node-hours", ">=", 0.2, "%"), ("passed / attempts", ">=", 0.5, "%"),
)  # fmt: skip
VERDICTS = ("passed",) * 6 + ("failed", "performance", "incorrect", "node_fail", "interrupted", "lost", "submit_failed")
ACTS = ("clock", "clock", "paused", "paused", "continued", "continued", "drain_request", "budget_set", "amended")


def document(draw: random.Random) -> Document:
    """Two tests and a filler on eight nodes, another component beside them, four metadata targets."""
    partitions = (Partition("batch", "c", "n[1-8]", 8, "t"), Partition("low", "c", "n[5-8]", 4, "t"),
                  Partition("one", "c", "big", 1, "t"))  # fmt: skip
    budgets = (("f2/mdt", 2.0), ("f2/bandwidth", 10.0))
    targeted = (("f2/mdt", ("mdt0", "mdt1")),)
    system = System("s", (Cluster("c", "slurm", partitions),), (NodeType("t"),), budgets=budgets, targeted=targeted)
    loads = (("f2/mdt", 1.0), ("f2/bandwidth", 2.5))
    cases = (
        Case("a/1", "a", "c:batch", shape=Shape(1, units=1), loads=loads),
        Case("a/2", "a", "c:low", shape=Shape(2, units=2), loads=loads),
        Case("b/1", "b", "c:batch", shape=Shape(3, units=3), loads=loads[:1]),
        Case("f/1", "f", "c:batch", shape=Shape(1, units=1)),
        Case("o/1", "o", "c:one", shape=Shape(1, units=1)),
    )
    causes = tuple((cause, draw.choice(("runs", "stops", "restarts"))) for cause in ("machine", "site", "maintenance"))
    terms = ClockTerms(
        draw.choice(("first order", "first order", "declared")),
        draw.choice(((), causes)),
        draw.random() < 0.5,
        draw.random() < 0.5,
    )
    criteria = tuple(
        Criterion(f"{name} {per}", name, comparison, bound, unit, per=per)  # type: ignore[arg-type]
        for name, comparison, bound, unit in MEASURES
        for per in ("", "test", "case")
        if per != "case" or name in ("runs", "node-hours", "passed / attempts")
    )
    fill = Fill(ramp_s=draw.choice((0.0, HOUR)))
    st = Component("st", "stability", ("a/1", "a/2", "b/1"), criteria=criteria, duration_s=draw.choice((6, 30)) * HOUR,
                   mix=draw.choice(((), (("a", 0.25), ("b", 0.75)))), fillers=("f/1",), clock=terms, fill=fill)  # fmt: skip
    other = Component("other", "site", ("o/1", "b/1"), 3)
    limits = Limits(budgets=draw.choice(((), (("f2/mdt", 1.0),))))
    return Document("p", system, (st, other), cases, tuple(Test(name) for name in "abfo"), limits=limits)


class Log:
    """Events in the order of a driver's clock."""

    def __init__(self, draw: random.Random, plan: Document) -> None:
        self.draw, self.plan, self.now = draw, plan, 1000.0
        self.events: list[Event] = []
        self.cases = {case.id: case for case in plan.cases}
        self.number = 0
        self.live: list[dict[str, Any]] = []
        self.add("campaign_start", value={"campaign": "c", "plan": "p", "document": "d"})

    def add(self, event: str, **fields: Any) -> None:
        self.events.append(Event(event, seq=len(self.events) + 1, time=self.now, **fields))

    def order(self) -> None:
        """A run of the mix, of the filler, or of the other component; held now and then."""
        component, case, mode = self.draw.choice(
            [
                ("st", "a/1", ""),
                ("st", "a/2", ""),
                ("st", "b/1", ""),
                ("st", "f/1", "filler"),
                ("other", "o/1", ""),
                ("other", "b/1", ""),
            ]
        )
        self.number += 1
        run = f"r{self.number:06d}"
        value: dict[str, Any] = {"component": component, "repeat": self.number, "attempt": 1}
        value |= {"mode": mode} if mode else {}
        targets = {"f2/mdt": self.draw.choice(("mdt0", "mdt1"))} if self.cases[case].loads else {}
        held = self.draw.random() < 0.3
        value |= {"held": True} if held else {"targets": targets} if targets else {}
        self.add("submit_order", run=run, job=f"j{run[1:]}", case=case, value=value)
        self.live.append({"run": run, "case": case, "value": value, "held": held, "targets": targets, "began": None})

    def go_on_with(self, one: dict[str, Any]) -> None:
        ids = {"run": one["run"], "job": f"j{one['run'][1:]}"}
        if one["held"]:
            one["held"] = False
            self.add("release_order", **ids, case=one["case"], value={"targets": one["targets"]})
        elif one["began"] is None and self.draw.random() < 0.85:
            one["began"] = self.now - self.draw.choice((0.0, 30.0))
            self.add("job_report", **ids, value={"state": "running", "began": one["began"]})
        else:
            self.end(one, ids)

    def end(self, one: dict[str, Any], ids: dict[str, str]) -> None:
        self.live.remove(one)
        verdict = self.draw.choice(VERDICTS)
        if self.draw.random() < 0.7:
            self.add("job_report", **ids, value={"state": "completed", "elapsed_s": 1.0})
        self.now += self.draw.choice((0.0, 7.0))
        value = {key: one["value"][key] for key in ("component", "repeat", "attempt", "mode") if key in one["value"]}
        value |= {"verdict": verdict}
        if verdict != "submit_failed" and one["began"] is not None:
            elapsed = self.now - one["began"] - self.draw.choice((0.0, 3.0))
            value |= {
                "started": one["began"],
                "ended": self.now,
                "elapsed_s": max(0.0, elapsed),
                "nodes": self.nodes(one["case"]),
            }
        self.add("verdict", run=one["run"], job=ids["job"], case=one["case"], value=value)
        if verdict != "passed" and self.draw.random() < 0.4:
            self.add(
                "ruled",
                run=one["run"],
                value={"as": self.draw.choice(("site", "vendor", "application", "none")), "by": "A"},
            )
        if verdict == "node_fail" and self.draw.random() < 0.5:
            self.add("retry", run=one["run"], case=one["case"], value=value | {"attempt": 2})

    def nodes(self, case: str) -> str:
        """Folded names, or nothing where nobody told."""
        if case == "o/1" or self.draw.random() < 0.1:
            return self.draw.choice(("", "elsewhere"))
        first = self.draw.randrange(5, 7) if case == "a/2" else self.draw.randrange(1, 7)
        units = self.cases[case].shape.units
        return f"n[{first}-{first + units - 1}]" if units > 1 else f"n{first}"

    def say(self) -> None:
        """Somebody says something, perhaps of a time that is past."""
        event = self.draw.choice(ACTS)
        value: dict[str, Any] = {"component": self.draw.choice(("st", "st", "st", "other")), "by": "A"}
        if event == "paused" and self.draw.random() < 0.5:
            value["clock"] = self.draw.choice(("runs", "stops", "restarts"))
            value["from"] = self.now - self.draw.choice((0.0, HOUR))
        if event in ("clock", "paused"):
            value["cause"] = self.draw.choice(("maintenance", "site", "vendor", "machine", "other", ""))
        if event == "clock":
            value |= {"act": self.draw.choice(("start", "stop", "stop", "go on", "go on", "restart"))}
            value |= {"from": self.now - self.draw.choice((0.0, HOUR, 3 * HOUR))}
        if event in ("drain_request", "amended") and self.draw.random() < 0.7:
            return
        if event == "amended":
            value = {"document": "d"}
            value |= {"stopped": {"st": self.now - HOUR}} if self.draw.random() < 0.5 else {}
        if event == "budget_set":
            value = {"budget": self.draw.choice(("f2/mdt", "f2/mdt@mdt1")), "amount": 1.0}
        if event == "paused" and self.draw.random() < 0.2:
            value = {"component": "st", "phase": "first"}
        self.add(event, value=value)


def made_up(seed: int, steps: int = 60) -> tuple[Document, list[Event]]:
    """Purpose: a plan and a log, by the seed."""
    draw = random.Random(seed)
    plan = document(draw)
    log = Log(draw, plan)
    for _ in range(steps):
        log.now += draw.choice((0.0, 11.0, 600.0, 1800.0, 2500.5))
        choice = draw.random()
        if choice < 0.12:
            log.say()
        elif choice < 0.5 or not log.live:
            log.order()
        else:
            log.go_on_with(draw.choice(log.live))
    if draw.random() < 0.4:
        log.add("finding", value={"kind": "time_is_up", "component": "st"})
        log.now += draw.choice((0.0, 900.0))
    if draw.random() < 0.5:
        log.add("campaign_end", value={"counts": {}})
    return plan, log.events
