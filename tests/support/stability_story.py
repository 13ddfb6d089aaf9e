"""Ten days of C5's mix on 200 nodes, told event by event: maintenance, a site fault, a vendor's change, a hole of two days of one
test, dead nodes, filler, four metadata targets.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgspec

from shakedown.events.lines import encode_event
from shakedown.events.segments import first_header
from shakedown.model.events import Event
from shakedown.model.filling import ClockTerms, Fill, Window
from shakedown.model.frozen import digest, freeze
from shakedown.model.judging import Criterion
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Cluster, Component, Document, NodeType, Partition, Shape, System, Test

HOUR, DAY = 3600.0, 86400.0
BEGIN = 1_793_700_000.0
TABLE = {  # test -> nodes, run time, share (paper 004, tables III and IV, a tenth of the machine)
    "cm4": (8, 4148.1, 0.28), "esm4-small": (4, 6016.8, 0.12), "esm4-large": (6, 4565.7, 0.14), "spear": (5, 5808.1, 0.14),
    "shield": (16, 4201.2, 0.26), "ufs": (6, 6049.5, 0.06),
}  # fmt: skip
TARGETS = ("mdt0", "mdt1", "mdt2", "mdt3")
NODES = 200


def story_plan(days: float = 10) -> Document:
    """The plan that the story is of."""
    partition = Partition("batch", "c5", f"c5n[1-{NODES}]", NODES, "rome")
    system = System(
        "c5",
        (Cluster("c5", "slurm", (partition,)),),
        (NodeType("rome"),),
        budgets=(("f2/mdt", 8.0),),
        targeted=(("f2/mdt", TARGETS),),
    )
    cases = [
        Case(f"{test}/a", test, "c5:batch", shape=Shape(nodes, units=nodes), loads=(("f2/mdt", 1.0),))
        for test, (nodes, _, _) in TABLE.items()
    ]
    cases.append(Case("minisweep/a", "minisweep", "c5:batch", shape=Shape(1, units=1)))
    criteria = (
        Criterion("right", "correct / completed", "=", 1.0, unit="%"),
        Criterion("floor", "runs", ">=", 100, per="test", must=">= 100"),
        Criterion("work", "node-hours", ">=", 500.0, per="test", must=">= 500"),
        Criterion("nodes", "hours per node", ">=", 24.0, unit="h", must=">= 24 h"),
        Criterion("interrupts", "mean time to interrupt", ">=", 12.0, unit="h", must=">= 12 h"),
        Criterion("holes", "longest hole", "<=", 4 * HOUR, unit="s", must="<= 14400 s"),
        Criterion("full", "contractual node-hours / clock node-hours", ">=", 0.6, unit="%"),
        Criterion("available", "delivered node-hours / available node-hours", ">=", 0.6, unit="%"),
    )
    stability = Component(
        "stability", "stability", tuple(case.id for case in cases[:-1]), duration_s=days * DAY, criteria=criteria,
        mix=tuple((test, share) for test, (_, _, share) in TABLE.items()), fillers=("minisweep/a",),
        fill=Fill(target=0.98, ramp_s=2 * HOUR),
        windows=(Window("Mon 06:00 to 18:00", 6 * HOUR, 18 * HOUR, "America/New_York"),),
        clock=ClockTerms(ramp=False),
    )  # fmt: skip
    tests = tuple(Test(test) for test in (*TABLE, "minisweep"))
    return Document("c5-stability", system, (stability,), tuple(cases), tests)


class Story:
    """One machine with first-fit nodes, minute by minute. ``lines`` are its events by time."""

    def __init__(self, plan: Document, seed: int, document: str) -> None:
        self.draw, self.plan = random.Random(seed), plan
        self.cases = {case.test: case for case in plan.cases}
        self.said: list[tuple[float, str, dict[str, Any]]] = []
        self.free, self.number = set(range(1, NODES + 1)), 0
        self.live: list[tuple[float, list[int], int, dict[str, Any]]] = []
        self.repeats: dict[str, int] = {}
        self.had = dict.fromkeys(TABLE, 0.0)
        self.loads = dict.fromkeys(TARGETS, 0)
        start = {"campaign": "c5-stability-1", "plan": plan.plan, "document": document, "seed": seed}
        self.say(0.0, "campaign_start", value=start)

    def say(self, at: float, event: str, **fields: Any) -> None:
        self.said.append((at, event, fields))

    def allowed(self, target: str, now: float) -> int:
        return 6 if target == "mdt2" and now >= 7 * DAY else 8

    def order(self, now: float, test: str) -> None:
        case, self.number = self.cases[test], self.number + 1
        run, nodes = f"r{self.number:06d}", sorted(self.free)[: case.shape.units]
        self.free -= set(nodes)
        self.repeats[test] = self.repeats.get(test, 0) + 1
        value: dict[str, Any] = {"component": "stability", "repeat": self.repeats[test], "attempt": 1}
        value |= {"mode": "filler"} if test == "minisweep" else {}
        open_targets = [name for name in TARGETS if self.loads[name] < self.allowed(name, now)]
        target = min(open_targets, key=lambda name: self.loads[name]) if case.loads else ""
        if target:
            self.loads[target] += 1
            value["targets"] = {"f2/mdt": target}
        self.say(now, "submit_order", run=run, job=f"j{run[1:]}", case=case.id, value=value)
        usual = 1800.0 if test == "minisweep" else TABLE[test][1]
        fate = self.draw.random()
        verdict = "passed" if fate > 0.02 else "node_fail" if fate < 0.002 else "failed" if fate < 0.012 else "timeout"
        elapsed = (
            {"node_fail": 0.4, "failed": 0.1, "timeout": 2.0}.get(verdict, 1.0) * usual * self.draw.gauss(1.0, 0.01)
        )
        began = now + self.draw.uniform(5, 60)
        self.say(began, "job_report", run=run, job=f"j{run[1:]}", value={"state": "running", "began": began + BEGIN})
        facts = {key: value[key] for key in value if key != "targets"} | {
            "verdict": verdict,
            "nodes": _folded(nodes),
            "target": target,
        }
        facts |= {
            "started": began + BEGIN,
            "ended": began + elapsed + BEGIN,
            "elapsed_s": elapsed,
            "run": run,
            "case": case.id,
        }
        self.live.append((began + elapsed, nodes, self.number, facts))

    def end(self, now: float) -> None:
        """Judge what is over by now."""
        for over in sorted(one for one in self.live if one[0] + 5 <= now):
            self.live.remove(over)
            facts = dict(over[3])
            self.free |= set(over[1])
            target, run, case = facts.pop("target"), facts.pop("run"), facts.pop("case")
            if target:
                self.loads[target] -= 1
            state = {"passed": "completed"}.get(facts["verdict"], facts["verdict"])
            self.say(over[0] + 3, "job_report", run=run, job=f"j{run[1:]}", value={"state": state})
            words = {
                "failed": "the exit status was 1",
                "node_fail": "a node failed",
                "timeout": "it ran into its time limit",
            }
            self.say(
                over[0] + 5,
                "verdict",
                run=run,
                job=f"j{run[1:]}",
                case=case,
                value=facts,
                reason=words.get(facts["verdict"], ""),
            )

    def fill(self, now: float, up: float, closed: set[str]) -> None:
        """The test furthest behind its share first, while it fits; then the filler."""
        most = NODES * 0.98 * min(1.0, max(0.02, now / (2 * HOUR)))
        while NODES - len(self.free) < most:
            behind = sorted((had / TABLE[test][2], test) for test, had in self.had.items() if test not in closed)
            room = any(self.loads[target] < self.allowed(target, now) for target in TARGETS)
            fits = [t for _, t in behind if len(self.free) >= TABLE[t][0] and now + TABLE[t][1] < up]
            test = fits[0] if fits and room else ""
            if not test:
                break
            self.order(now, test)
            self.had[test] += TABLE[test][0] * TABLE[test][1]
        while len(self.free) > NODES * 0.02 and now + 1800 < up and now > 2 * HOUR:
            self.order(now, "minisweep")


def story_events(plan: Document, days: float = 10, seed: int = 4, document: str = "d") -> list[Event]:
    """Purpose: the whole story. Days after the first order: 0.5 the vendor changes a switch and the clock starts anew; 2 to 2.25
    maintenance; 4 the site's file system, said an hour later; 5 to 7 esm4-small falls out; 8 nodes are excluded.
    """
    story, now, up = Story(plan, seed, document), 60.0, (days + 1.2) * DAY
    shut = [(0.5 * DAY, 0.55 * DAY), (2 * DAY, 2.25 * DAY)]
    while now < up + 3 * HOUR:
        story.end(now)
        if now < up and not any(low - 1.2 * HOUR < now < high for low, high in shut):
            fallen = 5 * DAY < now < 7 * DAY
            story.fill(now, up, {"esm4-small"} if fallen else set())
            if fallen:  # what it has missed is not made up for
                story.had["esm4-small"] = max(story.had.values()) / 0.28 * TABLE["esm4-small"][2]
        now += 120.0
    said = {"component": "stability", "by": "Ada Example"}
    story.say(shut[0][0], "paused", value=said | {"cause": "vendor"}, reason="the vendor replaces a switch")
    story.say(shut[0][1], "continued", value=said, reason="the switch is in")
    story.say(shut[1][0], "paused", value=said | {"cause": "maintenance"}, reason="announced for Tuesday")
    story.say(shut[1][1], "continued", value=said, reason="the machine is back")
    fault = said | {"cause": "site"}
    story.say(
        4 * DAY + HOUR,
        "clock",
        value=fault | {"act": "stop", "from": BEGIN + 4 * DAY},
        reason="the site's file system hung",
    )
    story.say(
        4 * DAY + HOUR,
        "clock",
        value=fault | {"act": "go on", "from": BEGIN + 4 * DAY + HOUR},
        reason="it answers again",
    )
    story.say(
        6 * DAY,
        "capped",
        value={"test": "ufs", "copies": 6, "by": "Ada Example"},
        reason="it walks through the metadata targets",
    )
    story.say(
        7 * DAY, "budget_set", value={"budget": "f2/mdt@mdt2", "amount": 6, "by": "Ada Example"}, reason="mdt2 is slow"
    )
    nodes = {"nodes": ["c5n199", "c5n200"], "runs": ["r000100"]}
    story.say(8 * DAY, "excluded", value=nodes, reason="3 runs failed by them")
    story.say(up, "finding", value={"kind": "time_is_up", "component": "stability"}, reason="its time has passed")
    story.say(up + 3 * HOUR, "campaign_end", value={"counts": {}})
    told = sorted(story.said, key=lambda one: one[0])
    return [Event(name, seq=seq, time=BEGIN + at, **fields) for seq, (at, name, fields) in enumerate(told, 1)]


def _folded(nodes: list[int]) -> str:
    parts: list[list[int]] = []
    for node in nodes:
        if parts and parts[-1][1] == node - 1:
            parts[-1][1] = node
        else:
            parts.append([node, node])
    texts = [f"{low}-{high}" if high > low else str(low) for low, high in parts]
    return f"c5n[{','.join(texts)}]" if len(nodes) > 1 else f"c5n{nodes[0]}"


def save_story(root: Path, days: float = 10, plan: Document | None = None) -> Path:
    """Purpose: the story as a campaign's directory; under another plan, where one is given."""
    plan = plan or story_plan(days)
    frozen, layout = freeze(plan), Layout(root)
    for directory in (layout.log, layout.documents, layout.packs):
        directory.mkdir(parents=True, exist_ok=True)
    layout.document(digest(frozen)).write_bytes(frozen)
    lines = map(encode_event, story_events(plan, days, document=digest(frozen)))
    (layout.log / "000001.jsonl").write_bytes(msgspec.json.encode(first_header(1)) + b"\n" + b"".join(lines))
    return root
