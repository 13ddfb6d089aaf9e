"""Each example of docs/concepts/judging.md is run through the plan reader, the fold of the log and the scorecard.

The form is said in a comment at the top of that page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from shakedown.metrics.issues import told_issues
from shakedown.metrics.judging.people import acts_of
from shakedown.metrics.judging.scorecard import exit_status
from shakedown.metrics.judging.settlement import settle
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.events import EVENTS, Event
from shakedown.model.nouns import Document, System
from shakedown.model.waived import issue_digest, waived_criterion
from shakedown.plans import finding, read_plan

PAGE = (Path(__file__).parents[2] / "docs/concepts/judging.md").read_text()
EXAMPLES = [
    (PAGE[: found.start()].count("\n") + 1, found.group(1))
    for found in re.finditer(r"^ *```yaml example\n(.*?)^ *```", PAGE, flags=re.MULTILINE | re.DOTALL)
]
KEYS = {
    "rules",
    "component",
    "parties",
    "consent",
    "scores",
    "baselines",
    "issues",
    "contract",
    "expect",
    "needs",
    "log",
    "ended",
    "gives",
}
OF_THE_PLAN = (
    "parties",
    "consent",
    "scores",
    "baselines",
    "issues",
    "contract",
    "expect",
)  # keys of an amendment that are none of the component
VERDICTS = {"p": "passed", "f": "failed", "i": "incorrect", "P": "performance", "t": "timeout", "n": "node_fail"}
VERDICTS |= {"u": "undetermined", "c": "interrupted"}
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

    def __init__(self, document: Document, changed: Callable[[dict[str, Any]], Document]) -> None:
        self.plans, self.changed = {"d" * 64: document}, changed
        self.cases = {case.test: case.id for case in document.cases}
        self.events: list[Event] = []
        self.name = document.components[0].name
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
        if "amend" in left:
            self.amend(left)
            return
        if "agree" in left:
            record = fold_runs(self.events)
            acts = {act.number: act.digest for act in acts_of(record)} | {row.seq: row.digest for row in record.seals}
            left = {"agreed": {"acts": [[left["agree"], acts[left["agree"]]]], "by": left["by"]}}
        run, because, of = (left.pop(key, "") for key in ("run", "because", "of"))
        ((name, value),) = left.items()
        if name == "waived":
            value |= self.as_it_is(value["name"])
        if name == "verdict":
            value = {"component": self.name, "attempt": 1} | value
        case = (
            (self.cases[of] if of else next(iter(self.cases.values()))) if name in ("verdict", "submit_order") else ""
        )
        self.add(name, run=run, case=case, value=value, reason=because)

    def as_it_is(self, name: str) -> dict[str, str]:
        """What a waiver says of the criterion that it is given for, or of the issue that this event opened."""
        if name.isdigit():
            (one,) = [one for one in told_issues(fold_runs(self.events)) if one.number == int(name)]
            return {"digest": issue_digest(one.kind, one.what), "asked": f"{one.kind}: {one.what}"}
        document = list(self.plans.values())[-1]
        component = document.components[0]
        (criterion,) = [one for one in component.criteria if one.name == name]
        digest = waived_criterion(document, component, criterion)
        return {"digest": digest, "asked": f"{criterion.measure}, must {criterion.must}"}

    def amend(self, line: dict[str, Any]) -> None:
        """Another plan is in force: the example with these keys of the component, or of the plan, changed; null takes one out."""
        document = self.changed(line["amend"])
        new = f"{len(self.plans)}" * 64
        digest = next(
            (known for known, plan in self.plans.items() if plan == document), new
        )  # a digest is of what it says
        self.plans[digest] = document
        self.cases |= {case.test: case.id for case in document.cases}
        value = {"document": digest, "components": [self.name], "difference": ["another plan"], "by": line["by"]}
        self.add("amended", value=value, reason=line.get("because", ""))

    def runs(self, written: str, test: str, more: dict[str, Any]) -> None:
        """``57p f 2t``: so many of each; ``n>p``: a run and its retry. Lists give each result its figure."""
        figures = {name: list(values) for name, values in more.items() if isinstance(values, list)}
        others = {name.removesuffix("_mode"): value for name, value in more.items() if name not in (*figures, "lasts")}
        lasts = float(more.get("lasts", 0)) * 3600
        for word in written.split():
            found = re.fullmatch(r"(\d*)([a-zA-Z](?:>[a-zA-Z])*)", word)
            assert found, f"'{word}' names no runs"
            for _ in range(int(found.group(1) or 1)):
                self.result(test, found.group(2).split(">"), figures, others, lasts)

    def result(
        self, test: str, letters: list[str], figures: dict[str, list[float]], others: dict[str, Any], lasts: float
    ) -> None:
        key = (test, others.get("mode", ""))
        self.repeats[key] = others.pop("repeat", self.repeats.get(key, 0) + 1) - 1
        repeat = self.repeats[key] = self.repeats.get(key, 0) + 1
        for attempt, letter in enumerate(letters, 1):
            self.ordered += 1
            run, job = f"r{self.ordered:06d}", f"j{self.ordered:06d}"
            ids = {"component": self.name, "repeat": repeat, "attempt": attempt} | others
            self.add("submit_order", run=run, job=job, case=self.cases[test], value=ids)
            begin, self.now = self.now, self.now + lasts
            took = lasts or 1.0
            facts = ids | {"verdict": VERDICTS[letter], "started": begin, "ended": begin + took, "elapsed_s": took}
            if letter in "piP":
                facts["figures"] = {name: values.pop(0) for name, values in figures.items() if values}
            self.add("verdict", run=run, case=self.cases[test], value=facts, reason="as told")
            if attempt < len(letters):
                again = {"component": self.name, "repeat": repeat, "attempt": attempt + 1}
                self.add("retry", run=run, case=self.cases[test], value=again)


def _plan(root: Path, example: dict[str, Any]) -> Document:
    component = {"tests": ["a"]} | example.get("component", {})
    more = component.pop("more", "")
    written = TEST if component.pop("check", True) else re.sub("^check: .*\n", "", TEST, flags=re.MULTILINE)
    written = written.replace('[output contains "ok"]', f'[output contains "ok", {more}]') if more else written
    kind = component.pop("kind", "performance")
    for name in (
        "site.yaml",
        "systems/machine.yaml",
        "plans/p.yaml",
        *(f"tests/{t}.yaml" for t in component["tests"] or ["a"]),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / "site.yaml").write_text("site: s\n")
    (root / "systems/machine.yaml").write_text(SYSTEM)
    if not component["tests"]:
        del component["tests"]
    for test in [*component.get("tests", ()), *component.get("set_up", ()), *component.get("clean_up", ())]:
        expected = example.get("expect", {}).get(test)
        known = f"expect: [{{verdict: {expected}, because: it is known}}]\n" if expected else ""
        first = example.get("needs", {}).get(test)
        known += f"needs: {first}\n" if first else ""
        (root / f"tests/{test}.yaml").write_text(written.replace("NAME", test) + known)
    plan = {"plan": "p", "system": "machine", "components": [{kind: component}]}
    plan |= {key: example[key] for key in ("parties", "consent", "scores", "baselines", "issues") if key in example}
    if "contract" in example:
        contract = {
            "contract": "c",
            "columns": ["test", "where", "figure", "must", "basis"],
            "rows": example["contract"],
        }
        (root / "contracts").mkdir(exist_ok=True)
        (root / "contracts/c.yaml").write_text(yaml.safe_dump(contract))
        plan["contract"] = "c"
    (root / "plans/p.yaml").write_text(yaml.safe_dump(plan, sort_keys=False))

    def nowhere() -> System:
        raise AssertionError

    return read_plan(root, "p", nowhere)


def came_out(example: dict[str, Any], root: Path) -> dict[str, Any]:
    """What the code makes of an example, under the words that ``gives`` uses."""
    document = _plan(root, example)

    def changed(keys: dict[str, Any]) -> Document:
        whole = {key: value for key, value in keys.items() if key in OF_THE_PLAN}
        own = {key: value for key, value in keys.items() if key not in whole}
        mine = {key: value for key, value in (example.get("component", {}) | own).items() if value is not None}
        return _plan(root, example | whole | {"component": mine})

    log = Log(document, changed)
    for line in example["log"]:
        log.line(line)
    if example.get("ended", True):
        log.add("campaign_end", value={"counts": {}})
    record = fold_runs(log.events)
    card = settle(log.plans[record.document], record, lambda digest: log.plans[digest], lambda: log.events)
    criteria = [item for component in card.components for item in component.criteria]
    found: dict[str, Any] = {
        "plan": card.outcome,
        "summary": card.summary,
        "exit status": exit_status(card),
        "restrictions": len(card.restrictions),
        "without": [act.without for act in card.acts],
        "did": [act.what for act in card.acts],
        "without all": card.without_acts,
        "takes away": [", ".join(act.takes) for act in card.acts],
        "restriction": " | ".join(card.restrictions),
        "remark": " | ".join(card.remarks),
    }
    found |= {item.name: item.outcome_words for item in criteria}
    return found | {f"{item.name} is": item.arithmetic for item in criteria}


# Rules that no log alone shows -> the tests that do.
ELSEWHERE = {
    "W9": "engine/test_a_sweep_ends_without_nodes_that_are_out.py",
    "W10": "metrics/test_metrics_criteria.py",
    **dict.fromkeys(("N2", "N3", "N5"), "conductor/test_undetermined.py"),
    "N6": "conductor/test_doubted_marks.py",
    **dict.fromkeys(("F1", "F2", "C2"), "metrics/test_metrics_fill.py"),
    **dict.fromkeys(("S4", "S6"), "metrics/test_metrics_scores.py"),
    **dict.fromkeys(("E1", "E2", "E3"), "metrics/test_metrics_scaling.py"),
    **dict.fromkeys(("L1", "L2", "L3", "L4", "L5"), "metrics/test_metrics_ladders.py"),
    "H6": "metrics/test_metrics_rulings.py",
    "H7": "metrics/test_metrics_loads.py",
    **dict.fromkeys(("A11", "A14"), "conductor/test_acts_by_kept_outputs.py"),
    **dict.fromkeys(("B2", "B4", "B5", "B6"), "conductor/test_acts_signed.py"),
    **dict.fromkeys(("R1", "R2", "R4", "R6"), "register/test_register_of_a_site.py"),
    **dict.fromkeys(("R3", "R5"), "register/test_register_interrupted.py"),
    **dict.fromkeys(("R7", "R8"), "register/test_set_back.py"),
    "R9": "register/test_renamed.py",
}


def test_every_rule_has_a_number_of_its_own_and_an_example() -> None:
    """A number is an anchor that people cite: it stands once, and before its rule."""
    numbered = re.findall(r'^(?:- )?<a id="(\w+)"></a>\*\*(\w+)\*\* \S', PAGE, flags=re.MULTILINE)
    rules = [number for _, number in numbered]
    assert len(rules) == PAGE.count("<a id=") == len(set(rules)) >= 80
    assert all(anchor == number.lower() for anchor, number in numbered)
    shown = {rule for _, text in EXAMPLES for rule in yaml.safe_load(text)["rules"]}
    assert shown <= set(rules) and not shown & ELSEWHERE.keys()
    assert set(rules) - shown == ELSEWHERE.keys()
    for file in ELSEWHERE.values():
        assert (Path(__file__).parents[1] / file).is_file(), file


@pytest.mark.parametrize(("line", "text"), EXAMPLES, ids=[f"line {line}" for line, _ in EXAMPLES])
def test_the_example_comes_out_as_the_page_says(
    line: int, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(finding, "CATALOGUE_TESTS", str(tmp_path / "none"))  # a hundred files that no example names
    example = yaml.safe_load(text)
    assert set(example) <= KEYS and example["gives"], f"line {line}"
    found = came_out(example, tmp_path / "site")
    assert {name: found.get(name) for name in example["gives"]} == example["gives"]
