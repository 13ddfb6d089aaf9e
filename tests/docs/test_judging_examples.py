"""Each example of docs/concepts/judging.md is run through the plan reader, the fold of the log and the scorecard.

The form is said in a comment at the top of that page.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from shakedown.metrics.judging.criteria import exit_status, score
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.events import EVENTS, Event
from shakedown.model.nouns import Document, System
from shakedown.plans import read_plan

PAGE = (Path(__file__).parents[2] / "docs/concepts/judging.md").read_text()
EXAMPLES = [
    (PAGE[: found.start()].count("\n") + 1, found.group(1))
    for found in re.finditer(r"^```yaml example\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
]
VERDICTS = {"p": "passed", "f": "failed", "i": "incorrect", "P": "performance", "t": "timeout", "n": "node_fail"}
VERDICTS |= {"u": "undetermined"}
SYSTEM = """system: machine
clusters: {c: {scheduler: slurm, partitions: {batch: {nodes: "n[1-8]", type: t, time_limit: 1d}}}}
node_types: {t: {sockets: 1, cores: 4}}
"""
TEST = """test: NAME
run: {nodes: 2, time_limit: 1h, command: "true"}
check: [output contains "ok"]
figures: {rate: {regex: 'rate (?P<value>[0-9.]+)', unit: GB/s, better: higher}}
"""


class Log:
    """The events of an example. ``now`` is in seconds; each line goes on by one second unless it says an hour."""

    def __init__(self, document: Document) -> None:
        self.cases = {case.test: case.id for case in document.cases}
        self.events: list[Event] = []
        self.now, self.ordered = 0.0, 0
        self.repeats: dict[tuple[str, str], int] = {}
        start = {"campaign": "p-1", "plan": "p", "document": "d" * 64, "seed": 1}
        self.add("campaign_start", value=start)

    def add(self, event: str, **fields: Any) -> None:
        assert event in EVENTS, f"'{event}' is no event of the log"
        self.now += 1
        self.events.append(Event(event, seq=len(self.events) + 1, time=self.now, **fields))

    def line(self, line: dict[str, Any]) -> None:
        """Runs of a test, or an event of the log by its name with its value."""
        left = dict(line)
        if "hour" in left:
            self.now = left.pop("hour") * 3600.0
        if "runs" in left:
            self.runs(left.pop("runs"), left.pop("of", "a"), left)
            return
        run, because = left.pop("run", ""), left.pop("because", "")
        ((name, value),) = left.items()
        self.add(name, run=run, value=value, reason=because)

    def runs(self, written: str, test: str, more: dict[str, Any]) -> None:
        """``57p f 2t``: so many of each; ``n>p``: a run and its retry. Lists give each result its figure."""
        figures = {name: list(values) for name, values in more.items() if isinstance(values, list)}
        others = {name: value for name, value in more.items() if name not in figures}
        for word in written.split():
            found = re.fullmatch(r"(\d*)([a-zA-Z](?:>[a-zA-Z])*)", word)
            assert found, f"'{word}' names no runs"
            for _ in range(int(found.group(1) or 1)):
                self.result(test, found.group(2).split(">"), figures, others)

    def result(self, test: str, letters: list[str], figures: dict[str, list[float]], others: dict[str, Any]) -> None:
        key = (test, others.get("mode", ""))
        repeat = self.repeats[key] = self.repeats.get(key, 0) + 1
        for attempt, letter in enumerate(letters, 1):
            self.ordered += 1
            run, job = f"r{self.ordered:06d}", f"j{self.ordered:06d}"
            ids = {"component": "performance", "repeat": repeat, "attempt": attempt} | others
            self.add("submit_order", run=run, job=job, case=self.cases[test], value=ids)
            facts = ids | {"verdict": VERDICTS[letter], "started": self.now, "ended": self.now + 1, "elapsed_s": 1.0}
            if letter in "piP":
                facts["figures"] = {name: values.pop(0) for name, values in figures.items() if values}
            self.add("verdict", run=run, case=self.cases[test], value=facts, reason="as told")
            if attempt < len(letters):
                again = {"component": "performance", "repeat": repeat, "attempt": attempt + 1}
                self.add("retry", run=run, case=self.cases[test], value=again)


def _plan(root: Path, example: dict[str, Any]) -> Document:
    component = {"tests": ["a"]} | example.get("component", {})
    for name in ("site.yaml", "systems/machine.yaml", "plans/p.yaml", *(f"tests/{t}.yaml" for t in component["tests"])):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / "site.yaml").write_text("site: s\n")
    (root / "systems/machine.yaml").write_text(SYSTEM)
    for test in component["tests"]:
        (root / f"tests/{test}.yaml").write_text(TEST.replace("NAME", test))
    plan = {"plan": "p", "system": "machine", "components": [{"performance": component}]}
    (root / "plans/p.yaml").write_text(yaml.safe_dump(plan))

    def nowhere() -> System:
        raise AssertionError

    return read_plan(root, "p", nowhere)


def came_out(example: dict[str, Any], root: Path) -> dict[str, Any]:
    """What the code makes of an example, under the words that ``gives`` uses."""
    document = _plan(root, example)
    log = Log(document)
    for line in example["log"]:
        log.line(line)
    if example.get("ended", True):
        log.add("campaign_end", value={"counts": {}})
    card = score(document, fold_runs(log.events))
    criteria = card.components[0].criteria
    found: dict[str, Any] = {
        "plan": card.outcome,
        "summary": card.summary,
        "exit status": exit_status(card),
        "restrictions": len(card.restrictions),
    }
    found |= {item.name: item.outcome_words for item in criteria}
    return found | {f"{item.name} is": item.arithmetic for item in criteria}


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize(("line", "text"), EXAMPLES, ids=[f"line {line}" for line, _ in EXAMPLES])
def test_the_example_comes_out_as_the_page_says(
    line: int, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    example = yaml.safe_load(text)
    assert set(example) <= {"component", "log", "ended", "gives"} and example["gives"], f"line {line}"
    found = came_out(example, tmp_path / "site")
    assert {name: found.get(name) for name in example["gives"]} == example["gives"]
