"""Settlements of several components that were worked out by hand from docs/concepts/judging.md.

``settled_by_hand.yaml`` has them. A line of ``log`` is of the component that ``in`` names, or of that of the line before.
``runs: 2p f`` are so many results of the test ``of`` (a where none is named), ``f>p`` one with a retry, each lasting so many hours;
``amend`` puts the same plan with other keys into force, ``agree`` is an agreement to an act. Every other line is an event with its
value. ``contrary_acts.yaml`` is a table of what two sides say against each other of one thing.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import recompute_acts as script
import yaml

from shakedown.events.lines import encode_event
from shakedown.metrics.judging.people import acts_of
from shakedown.metrics.judging.rows_beside import rows_beside
from shakedown.metrics.judging.scorecard import Scorecard, exit_status
from shakedown.metrics.judging.settlement import settle
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.events import Event
from shakedown.model.frozen import freeze
from shakedown.model.nouns import Document, System
from shakedown.model.waived import waived_criterion, waived_row
from shakedown.plans import finding, read_plan

SCENARIOS = list(yaml.load_all((Path(__file__).parent / "settled_by_hand.yaml").read_text(), yaml.CSafeLoader))
TABLE = yaml.load((Path(__file__).parent / "contrary_acts.yaml").read_text(), yaml.CSafeLoader)
BOTH = {"parties": {"site": ["Ada"], "vendor": ["Bo"]}}
SCENARIOS += [
    BOTH | row | {"components": before["components"], "log": [*before["log"], *row["acts"]]}
    for row in TABLE["rows"]
    if (before := TABLE["campaigns"][row["of"]])
]
VERDICTS = {"p": "passed", "f": "failed", "i": "incorrect", "P": "performance", "t": "timeout"}
VERDICTS |= {"c": "interrupted", "u": "undetermined"}
OF_THE_PLAN = ("parties", "consent")
SYSTEM = """system: machine
clusters:
  c:
    scheduler: slurm
    partitions:
      batch: {nodes: "n[1-8]", type: rome, time_limit: 1d}
      fast: {nodes: "m[1-4]", type: milan, time_limit: 1d}
node_types: {rome: {sockets: 1, cores: 4}, milan: {sockets: 1, cores: 8}}
"""
TEST = """test: {name}
where: {{partitions: [{partition}]}}
run: {{nodes: 2, time_limit: {limit}, command: "true"}}
check: [output contains "ok"]
figures: {{rate: {{regex: 'rate (?P<value>[0-9.]+)', unit: GB/s, better: higher}}}}
"""
WHERE = {"a": "batch", "b": "batch", "f": "fast"}


def plan_of(root: Path, said: dict[str, Any]) -> Document:
    for folder in ("systems", "plans", "tests", "contracts"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "site.yaml").write_text("site: s\n")
    (root / "systems/machine.yaml").write_text(SYSTEM)
    for name, partition in WHERE.items():
        limit = said.get("limits", {}).get(name, "1h")
        (root / f"tests/{name}.yaml").write_text(TEST.format(name=name, partition=partition, limit=limit))
    plan = {"plan": "p", "system": "machine", "components": said["components"]}
    plan |= {key: said[key] for key in OF_THE_PLAN if key in said}
    if "contract" in said:
        columns = ["test", "where", "figure", "must", "basis"]
        (root / "contracts/c.yaml").write_text(
            yaml.safe_dump({"contract": "c", "columns": columns, "rows": said["contract"]})
        )
        plan["contract"] = "c"
    (root / "plans/p.yaml").write_text(yaml.safe_dump(plan, sort_keys=False))

    def nowhere() -> System:
        raise AssertionError

    return read_plan(root, "p", nowhere)


class Log:
    """The events of a scenario; ``now`` goes on by a second with each."""

    def __init__(self, root: Path, said: dict[str, Any]) -> None:
        self.root, self.said = root, said
        self.plans = {"d" * 64: plan_of(root, said)}
        self.cases = {case.test: case.id for case in self.plans["d" * 64].cases}
        self.events: list[Event] = []
        self.now, self.ordered, self.component = 0.0, 0, ""
        self.repeats: dict[tuple[str, ...], int] = {}
        self.add("campaign_start", {"campaign": "p-1", "plan": "p", "document": "d" * 64, "seed": 1})

    def add(self, event: str, value: dict[str, Any], **fields: Any) -> None:
        self.now += 1
        self.events.append(Event(event, seq=len(self.events) + 1, time=self.now, value=value, **fields))

    def line(self, said: dict[str, Any]) -> None:
        left = dict(said)
        self.component = left.pop("in", self.component)
        self.now = max(self.now, left.pop("hour", 0) * 3600.0)
        because = left.pop("because", "")
        if "runs" in left:
            self.runs(left.pop("runs"), left.pop("of", "a"), left.pop("lasts", 0), left.pop("rate", []), left)
        elif "amend" in left:
            new, document = f"{len(self.plans)}" * 64, plan_of(self.root, self.said | left["amend"])
            digest = next((known for known, plan in self.plans.items() if plan == document), new)
            self.plans[digest] = document
            self.cases |= {case.test: case.id for case in self.plans[digest].cases}
            value = {"document": digest, "difference": ["another plan"], "by": left["by"]}
            self.add("amended", value | ({"stopped": left["stopped"]} if "stopped" in left else {}), reason=because)
        elif "agree" in left:
            record = fold_runs(self.events)
            acts = {act.number: act.digest for act in acts_of(record)} | {row.seq: row.digest for row in record.seals}
            self.add("agreed", {"acts": [[left["agree"], acts[left["agree"]]]], "by": left["by"]})
        else:
            ids: dict[str, Any] = {key: left.pop(key) for key in ("run", "job") if key in left}
            test = left.pop("of", "a")
            ((event, value),) = left.items()
            if event == "verdict":
                value = {"component": self.component, "attempt": 1} | value
            if event in ("verdict", "submit_order"):
                ids["case"] = self.cases[test]
            value |= self.as_it_is(value) if event == "waived" else {}
            self.add(event, value, reason=because, **ids)

    def as_it_is(self, value: dict[str, Any]) -> dict[str, str]:
        """What a waiver says of the criterion, or the row, that it is given for."""
        plan = list(self.plans.values())[-1]
        if value["what"] == "row":
            (row,) = [row for contract in plan.contracts for row in contract.rows if row.name == value["name"]]
            return {"digest": waived_row(plan, row)}
        part = next(one for one in plan.components if one.name == value["component"])
        (criterion,) = [one for one in part.criteria if one.name == value["name"]]
        return {"digest": waived_criterion(plan, part, criterion)}

    def runs(self, written: str, test: str, lasts: float, rates: list[float], others: dict[str, Any]) -> None:
        left, others = list(rates), dict(others)
        for word in written.split():
            found = re.fullmatch(r"(\d*)([a-zA-Z](?:>[a-zA-Z])*)", word)
            assert found, f"'{word}' names no runs"
            for _ in range(int(found[1] or 1)):
                key = (self.component, test, others.get("mode", ""))
                repeat = self.repeats[key] = others.pop("repeat", self.repeats.get(key, 0) + 1)
                self.result(self.cases[test], found[2].split(">"), repeat, lasts * 3600, left, others)

    def result(
        self, case: str, letters: list[str], repeat: int, lasts: float, rates: list[float], others: dict[str, Any]
    ) -> None:
        for attempt, letter in enumerate(letters, 1):
            self.ordered += 1
            run, job = f"r{self.ordered:06d}", f"j{self.ordered:06d}"
            ids = {"component": self.component, "repeat": repeat, "attempt": attempt} | others
            self.add("submit_order", ids, run=run, job=job, case=case)
            begin, self.now = self.now, self.now + lasts
            took = lasts or 1.0
            facts = ids | {
                "verdict": VERDICTS[letter],
                "started": begin,
                "ended": begin + took,
                "elapsed_s": took,
                "figures": {"rate": rates.pop(0)} if rates and letter in "piP" else {},
            }
            self.add("verdict", facts, run=run, job=job, case=case, reason="as told")
            if attempt < len(letters):
                self.add("retry", ids | {"attempt": attempt + 1}, run=run, case=case)


def came_out(log: Log) -> tuple[Scorecard, dict[str, Any]]:
    record = fold_runs(log.events)
    card = settle(log.plans[record.document], record, log.plans.__getitem__, lambda: log.events)
    found: dict[str, Any] = {
        "plan": card.outcome,
        "exit": exit_status(card),
        "summary": card.summary,
        "restrictions": list(card.restrictions),
        "remarks": list(card.remarks),
        "without": [act.without for act in card.acts],
        "all": card.without_acts,
        "takes": [list(act.takes) for act in card.acts],
        "beside": rows_beside(card),
    }
    for part in card.components:
        for item in part.criteria:
            found |= {f"{part.name}.{item.name}": item.outcome_words, f"{part.name}.{item.name} is": item.arithmetic}
    return card, found


@pytest.mark.parametrize("said", SCENARIOS, ids=[one["name"] for one in SCENARIOS])
def test_it_comes_out_as_it_was_worked_out_by_hand(
    said: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So does a program that shares no code with the package."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(finding, "CATALOGUE_TESTS", str(tmp_path / "none"))
    log = Log(tmp_path / "site", said)
    for line in said["log"]:
        log.line(line)
    if said.get("ended", True):
        log.add("campaign_end", {"counts": {}})
    card, found = came_out(log)
    assert {name: found.get(name) for name in said["gives"]} == said["gives"]
    lines = [json.loads(encode_event(event)) for event in log.events]
    again = script.settle(lines, {name: json.loads(freeze(plan)) for name, plan in log.plans.items()})
    live = [act for act in card.acts if act.kind != "agree" and act.standing not in ("withdrawn", "no effect")]
    assert (card.outcome, card.without_acts or card.outcome) == (again["outcome"], again["without_acts"])
    assert {str(act.number): act.without for act in live} == again["without"]
    assert [act.number for act in card.acts if act.takes] == again["takes"]
