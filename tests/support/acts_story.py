"""Campaigns in which people do things, told event by event: two clusters, three components, criteria of the same name."""

from __future__ import annotations

import json
import random
from typing import Any

from msgspec.structs import replace

from shakedown.events.lines import encode_event
from shakedown.metrics.judging.default_criteria import criteria_of
from shakedown.metrics.judging.people import Act, acts_of
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.judging.settlement import settle
from shakedown.metrics.judging.without import copied
from shakedown.metrics.rows.table import Record
from shakedown.model.events import Event
from shakedown.model.filling import ClockTerms
from shakedown.model.frozen import digest, freeze
from shakedown.model.judging import Contract, ContractRow, Criterion
from shakedown.model.nouns import (
    Case,
    Check,
    Cluster,
    Component,
    Document,
    FigureSpec,
    NodeType,
    Partition,
    Party,
    Procedure,
    Retry,
    Shape,
    System,
    Test,
)
from shakedown.model.resources import Resources
from shakedown.model.waived import waived_criterion

PARTIES = (Party("site", ("Ada",)), Party("vendor", ("Bo",)))
CASES = ("stream/a", "stream/b", "linpack/a")
LATE = Criterion("late", "passed / attempts", ">=", 0.9, "%", must=">= 90%", epochs="last")
ASKED = [(), (), ("waive",), ("amend",), ("rule", "clock"), ("withdraw", "again", "pause"), ("drain", "cancel", "cap")]
DONE = Criterion("done", "passed / attempts", ">=", 0.9, "%", must=">= 90%", leave_out=("ruled site",))


def plan(parties: tuple[Party, ...] = PARTIES, consent: tuple[str, ...] = ()) -> Document:
    """A plan of a performance part and a stability part, each with a criterion ``done``, and a part of procedures."""
    clusters = tuple(
        Cluster(name, "slurm", (Partition("batch", name, f"{name}n[1-4]", 4, "node"),)) for name in ("c3", "c4")
    )
    minute = Shape(time_limit_s=60.0)
    places = {name: f"{'c3' if name.endswith('a') else 'c4'}:batch" for name in CASES}
    cases = tuple(Case(name, name.split("/")[0], place, shape=minute) for name, place in places.items())
    rate = Criterion("rate", "value", ">=", 90.0, of="rate", must=">= 90", enough=2, epochs="last")
    right = Criterion("right", "correct / completed", "=", 1.0, "%", must="= 100%")
    parts = (
        Component("speed", "performance", CASES, 2, criteria=(DONE, rate, right)),
        Component("days", "stability", CASES[:2], criteria=(DONE, right), duration_s=500.0),
        Component("hands", "vendor", (), procedures=(Procedure("diag", "every node", "vendor", 1),)),
    )
    sound = (Check("output contains", "output", "ok", 'output contains "ok"'),)
    tests = tuple(
        Test(name, checks=sound, figures=(FigureSpec("rate", "", "higher"),)) for name in ("stream", "linpack")
    )
    row = ContractRow("c:1", "c", "stream", "rate", ">= 80", "contract", low=80.0)
    cases = tuple(replace(case, rows=("c:1",)) if case.test == "stream" else case for case in cases)
    cases = (replace(cases[0], files=(("deck", "/in/deck"),)), *cases[1:])
    return Document(
        "p",
        System("two", clusters, (NodeType("node"),)),
        parts,
        cases,
        tests,
        contracts=(Contract("c", rows=(row,)),),
        parties=parties,
        consent=consent,
    )


class Acted:
    """A campaign that is told. ``say`` adds an event; ``card`` settles it; ``lines`` and ``plans``: what is in files."""

    def __init__(self, document: Document) -> None:
        self.documents: dict[str, Document] = {}
        self.events: list[Event] = []
        self.now, self.runs, self.amending, self.twice = 1000.0, 0, False, False
        self._told: list[Event] = []  # the events that were folded
        self._folded, self._known = Record(), Record()
        self.say("campaign_start", {"campaign": "p-1", "plan": "p", "document": self.keep(document), "seed": 1})

    def keep(self, document: Document) -> str:
        name = digest(freeze(document))
        self.documents[name] = document
        return name

    def say(self, event: str, value: dict[str, Any] | None = None, reason: str = "", **fields: Any) -> int:
        self.now += 1.0
        self.events.append(Event(event, len(self.events) + 1, self.now, value=value or {}, reason=reason, **fields))
        return len(self.events)

    def run(
        self,
        component: str,
        case: str,
        verdict: str = "passed",
        repeat: int = 1,
        rate: float = 100.0,
        attempt: int = 1,
        lasts: float = 10.0,
    ) -> str:
        """A run of ten seconds, or as long as it lasts, from its order to its verdict."""
        run = self.order(component, case, repeat, attempt)
        return self.judge(run, verdict, rate, lasts)

    def order(self, component: str, case: str, repeat: int = 1, attempt: int = 1) -> str:
        """A run that lives until it is judged."""
        self.runs += 1
        run = f"r{self.runs:06d}"
        ids = {"component": component, "repeat": repeat, "attempt": attempt}
        self.say("submit_order", ids, run=run, job=f"j{self.runs:06d}", case=case)
        return run

    def judge(self, run: str, verdict: str = "passed", rate: float = 100.0, lasts: float = 10.0) -> str:
        """The verdict on a run that lives, as of the result that it was ordered of."""
        order = next(event for event in self.events if event.event == "submit_order" and event.run == run)
        begin, self.now = self.now, self.now + lasts
        facts = {"verdict": verdict, "started": begin, "ended": self.now, "elapsed_s": lasts, "figures": {"rate": rate}}
        self.say("verdict", order.value | facts, f"it {verdict}", run=run, job=order.job, case=order.case)
        return run

    def limit(self, case: str) -> float:
        """The time limit of a case in the plan in force; a minute at first."""
        plan = self.documents[self.record.document]
        return next((one.shape.time_limit_s for one in plan.cases if one.id == case), 0.0)

    def end(self) -> None:
        self.say("campaign_end", {"counts": {}})

    def agree(self, number: int, by: str, digest_of: str = "", **more: Any) -> int:
        act = next(act for act in acts_of(self.record) if act.number == number)
        return self.say("agreed", {"acts": [[number, digest_of or act.digest]], "by": by} | more, "so be it")

    @property
    def acts(self) -> tuple[Act, ...]:
        return acts_of(self.record)

    @property
    def record(self) -> Record:
        """The rows of all events until now, which are folded once; a record of its own for all who ask before the next event."""
        if self._told != self.events:
            if self.events[: len(self._told)] != self._told:  # a test told something of them otherwise
                self._told, self._folded = [], Record()
            for event in self.events[len(self._told) :]:
                self._folded.add(event)
            self._told, self._known = list(self.events), copied(self._folded)
        return self._known

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(encode_event(event)) for event in self.events]

    @property
    def plans(self) -> dict[str, Any]:
        return {name: json.loads(freeze(document)) for name, document in self.documents.items()}

    def card(self, **more: Any) -> Scorecard:
        record = self.record
        return settle(self.documents[record.document], record, self.documents.__getitem__, lambda: self.events, **more)


def drawn(seed: int, amending: bool = False, twice: bool = False) -> Acted:
    """A campaign by chance: what runs, what fails, who says what, who agrees, whether the plan asks for consent. ``amending``: the
    plan is amended most of all, and little fails. ``twice``: what somebody says, somebody says again.
    """
    draw = random.Random(f"amending {seed}" if amending else f"twice {seed}" if twice else seed)
    parties = PARTIES if seed % 3 else ()
    asked = draw.choice(ASKED if not amending else [(), ("amend",)])
    document = plan(parties, asked if parties else ())
    speed, days, *rest = document.components
    days = replace(days, criteria=(*days.criteria, LATE))
    document = replace(document, components=(speed, days, *rest))
    if seed % 5 == 1:
        document = replace(document, issues=("major", "minor"))
    told = Acted(document)
    told.amending, told.twice = amending, twice
    told.say("fingerprint", {"digest": "f0"}, "as it is at first")
    bad, often = draw.choice([0.05, 0.3] if twice else [0.0, 0.0, 0.0, 0.1, 0.4]), draw.choice([0.3, 1.0])
    if draw.random() < (0.9 if amending else 0.3):
        _amend(told, draw, draw.choice(["Ada", "Bo"]))  # while programs are built
    drains = CASES.index(draw.choice(CASES)) if draw.random() < 0.15 and not amending else len(CASES)
    for repeat in (1, 2):
        for place, case in enumerate(CASES):
            if repeat == 2 and place >= drains:
                _drain(told, case, draw.choice(["Ada", "Bo"]) if place == drains else "")
                continue
            if repeat == 2 and draw.random() < 0.05:
                _cancel(told, case, draw.choice(["Ada", "Bo"]))
                continue
            word = draw.choice(["failed", "incorrect"]) if draw.random() < bad else "passed"
            rate = 75.0 if draw.random() < 0.05 else draw.choice([88.0, 95.0, 95.0, 100.0])
            lasts = 10.0 if draw.random() < 0.5 or told.limit(case) < 70.0 else 70.0
            run = told.run("speed", case, word, repeat, rate, lasts=lasts)
            _somebody_acts(told, draw, 0.25 * often)
            if word == "failed":
                _once_more(told, draw, run, case, repeat)
    lost = random.Random(f"lost {seed}")  # of its own, so that every other story is as it was
    share = 0.2 if lost.random() < 0.3 else 0.0
    for repeat in range(1, 6 if amending else 20):
        case, word = draw.choice(CASES[:2]), "failed" if draw.random() < bad else "passed"
        if lost.random() < share:
            _could_not_be_judged(told, case, repeat, word if lost.random() < 0.5 else "")
        else:
            told.run("days", case, word, repeat)
        _somebody_acts(told, draw, 0.15 * often)
    if draw.random() < 0.2 and not amending:
        told.say("drain_request", {"component": "days", "by": draw.choice(["Ada", "Bo"])}, "it looks good")
    else:
        told.now = max(told.now, 1900.0)
        told.say("finding", {"kind": "time_is_up", "component": "days"})
    if draw.random() < 0.9:
        _attest(told, "Bo")
    told.end()
    for _ in range(draw.randrange(5)):
        _somebody_acts(told, draw, 1.0, afterwards=True)
    if draw.random() < 0.3 and not amending:
        _rejudge(told, draw)
    return told


def _could_not_be_judged(told: Acted, case: str, repeat: int, word: str) -> None:
    """What a run wrote is gone; another attempt has this word, or none is made before the time is over."""
    run = told.run("days", case, "undetermined", repeat)
    told.say("retry", {"component": "days", "repeat": repeat, "attempt": 2}, "again", run=run, case=case)
    if word:
        told.run("days", case, word, repeat, attempt=2)


def _once_more(told: Acted, draw: random.Random, run: str, case: str, repeat: int) -> None:
    """Attempts again, as often as the plan in force says."""
    rules = told.documents[told.record.document].components[0].retry
    for attempt in range(2, 2 + (rules[0].times if rules else 0)):
        told.say("retry", {"component": "speed", "repeat": repeat, "attempt": attempt}, "again", run=run, case=case)
        word = draw.choice(["passed", "failed"])
        run = told.run("speed", case, word, repeat, attempt=attempt)
        if word == "passed":
            return


def _cancel(told: Acted, case: str, by: str) -> None:
    """What waits is cancelled before it began."""
    told.say("cancel_request", {"cases": [case], "by": by}, "wrong input")
    told.runs += 1
    ids = {"component": "speed", "repeat": 2, "attempt": 1, "verdict": "cancelled"}
    told.say("verdict", ids, "wrong input", run=f"r{told.runs:06d}", case=case)


def _drain(told: Acted, case: str, by: str) -> None:
    """What waits is not wanted any more: the first case is drained by somebody, the others follow from that."""
    if by:
        told.say("drain_request", {"component": "speed", "by": by}, "enough")
    told.runs += 1
    ids = {"component": "speed", "repeat": 2, "attempt": 1, "verdict": "cancelled"}
    told.say("verdict", ids, "it was drained", run=f"r{told.runs:06d}", case=case)


def _rejudge(told: Acted, draw: random.Random) -> None:
    """Runs that failed are judged again, by another who finds that they passed."""
    act = {"by": "Bo", "because": "a check was wrong"}
    failed = [row for row in told.record.current() if row.verdict in ("failed", "incorrect")]
    for row in failed[: draw.choice([1, 5])]:
        again = {
            "verdict": "passed",
            "component": row.component,
            "repeat": row.repeat,
            "attempt": 1,
            "supersedes": row.seq,
        }
        facts = {"figures": {"rate": 100.0}, "rejudged": act}
        told.say("verdict", again | facts, "it passed", run=row.run, job=row.job, case=row.case)
    passed = [row for row in told.record.current() if row.verdict == "passed"]
    other = random.Random(len(told.events))
    for row in other.sample(
        passed, min(len(passed), other.choice([0, 0, 1]))
    ):  # one that passed has failed, without values
        again = {
            "verdict": "failed",
            "component": row.component,
            "repeat": row.repeat,
            "attempt": 1,
            "supersedes": row.seq,
        }
        told.say(
            "verdict", again | {"figures": {}, "rejudged": act}, "it failed", run=row.run, job=row.job, case=row.case
        )
    told.say("rejudged", {"by": "Bo", "examined": 9, "replaced": len(failed)}, "a check was wrong")


def _attest(told: Acted, by: str) -> int:
    evidence = [{"name": "log", "sha256": "ab" * 32, "bytes": 3}]
    return told.say(
        "attested", {"component": "hands", "procedure": "diag", "met": True, "by": by, "evidence": evidence}, "seen"
    )


def _somebody_acts(told: Acted, draw: random.Random, chance: float, afterwards: bool = False) -> None:
    if not afterwards and draw.random() < 0.06:
        _found(told, draw)
    if draw.random() > chance:
        return
    before = len(told.events)
    _says(told, draw, afterwards)
    for event in told.events[before:] if told.twice and draw.random() < 0.6 else ():
        if event.event in ("ruled", "waived", "changed", "clock", "paused", "continued", "amended", "capped"):
            by = {"by": draw.choice(["Ada", "Bo"])} if len(told.events) % 2 else {}
            told.say(event.event, event.value | by, "once more", run=event.run)


def _as_it_is(told: Acted, component: str, name: str) -> dict[str, str]:
    """What a waiver says that it is of, in every other place: older records do not say it."""
    plan = told.documents[told.record.document]
    part = next((one for one in plan.components if one.name == component), None)
    asked = [one for one in criteria_of(part) if one.name == name] if part is not None else []
    known = part is not None and asked and len(told.events) % 2
    return {"digest": waived_criterion(plan, part, asked[0])} if part is not None and known else {}


def _says(told: Acted, draw: random.Random, afterwards: bool) -> None:
    by, back = draw.choice(["Ada", "Bo", "Cy"]), told.now - draw.choice([0.0, 30.0, 80.0])
    component = draw.choice(["speed", "days"])
    words = ["rule", "waive", "agree", "agree", "withdraw"] if afterwards else ["rule", "waive", "agree", "change"]
    words += [] if afterwards else ["clock", "pause", "cap", "amend", "again"]
    words = ["amend", "amend", "amend", "agree", "again"] if told.amending and not afterwards else words
    word = draw.choice(words)
    if word == "rule":
        token = {"together": f"t{told.now}"} if draw.random() < 0.5 else {}
        for run in draw.sample(range(1, told.runs + 1), min(told.runs, draw.choice([1, 2]))):
            party = draw.choice(["site", "vendor", "excused", "none"])
            told.say("ruled", {"as": party, "by": by} | token, "an outage", run=f"r{run:06d}")
    elif word == "waive":
        name = draw.choice(["done", "right"])
        value = {"what": "criterion", "component": component, "name": name, "restriction": "less", "by": by}
        told.say("waived", value | _as_it_is(told, component, name), "so")
    elif word == "change":
        told.say("changed", {"by": by}, "new firmware")
    elif word == "clock":
        act = draw.choice(["stop", "go on", "restart"])
        told.say("clock", {"component": "days", "act": act, "from": back, "by": by}, "a stop")
    elif word == "pause":
        cause = draw.choice(["maintenance", "vendor", "other"])
        told.say(
            "paused",
            {"component": "days", "cause": cause, "by": by} | ({"from": back} if draw.random() < 0.5 else {}),
            "x",
        )
        if draw.random() < 0.3:
            told.agree(len(told.events), draw.choice(["Ada", "Bo"]))  # while it is open
        told.now += 20.0
        told.say("continued", {"component": "days", "by": by}, "x")
    elif word == "cap":
        told.say("capped", {"test": "stream", "copies": 1, "by": by}, "too loud")
    elif word == "again":
        told.say("again", {"component": "speed", "by": by}, "new cables")
    elif word == "amend":
        _amend(told, draw, by)
    else:
        _of_others(told, draw, by, word)


def _found(told: Acted, draw: random.Random) -> None:
    """The machine, or what runs read, is not what it was, and nobody says so."""
    if draw.random() < 0.5:
        told.say("fingerprint", {"digest": f"f{told.now}"}, "a knob was turned")
    else:
        told.say("finding", {"kind": "conditions_changed", "difference": ["a deck"]}, "a deck was changed")


def _amend(told: Acted, draw: random.Random, by: str) -> None:
    """A bound is loosened, a case taken out, or a sentence changed."""
    first, old = told.documents[told.events[0].value["document"]], told.documents[told.record.document]
    speed, *rest = old.components
    change = draw.choice(
        [
            *("bound", "case", "words", "expect", "limit", "check", "nodes", "retry", "clock", "longer", "shorter"),
            *("check and bound", "back", "back", "row", "row gone", "row beside", "steer", "input", "input moved"),
            *("constraint", "options", "loads"),
        ]
    )
    if change == "back":
        new = replace(first, about=f"changed at {told.now}")
        told.say("amended", {"document": told.keep(new), "by": by, "difference": [change]}, "as agreed")
        return
    if "bound" in change:
        criteria = (replace(speed.criteria[0], bound=0.5, must=">= 50%"), *speed.criteria[1:])
        speed = replace(speed, criteria=criteria)
    elif change == "case":
        speed = replace(speed, cases=speed.cases[:2])
    elif change == "steer":
        rest = [replace(rest[0], stop_after=rest[0].stop_after + 1), *rest[1:]]
    elif change == "retry":
        speed = replace(speed, retry=(Retry("failed", len(told.documents)),))
    elif change == "clock":
        rest = [replace(rest[0], clock=ClockTerms(drain=not rest[0].clock.drain)), *rest[1:]]
    elif change in ("longer", "shorter"):
        seconds = rest[0].duration_s * (1.5 if change == "longer" else 0.5)
        rest = [replace(rest[0], duration_s=seconds), *rest[1:]]
    old = _easier(old, change)
    moved: dict[str, Any] = {}
    if change.startswith("input"):
        case, *cases = old.cases
        was, place = dict(case.files).get("deck", "/in/deck"), f"/in/{told.now}/deck"
        old = replace(old, cases=(replace(case, files=(("deck", place),)), *cases))
        moved = {"moved": [[place, was]]} if change == "input moved" else {}
    new = replace(old, components=(speed, *rest), about=f"changed at {told.now}")
    told.say("amended", {"document": told.keep(new), "by": by, "difference": [change]} | moved, "as agreed")


def _easier(old: Document, change: str) -> Document:
    """The first case or test is easier to pass, or the machine is smaller."""
    case, *cases = old.cases
    if change == "expect":
        return replace(old, cases=(replace(case, expect="failed"), *cases))
    if change == "limit":
        shape = replace(case.shape, time_limit_s=case.shape.time_limit_s + 60)
        return replace(old, cases=(replace(case, shape=shape), *cases))
    if change == "constraint":
        shape = replace(case.shape, resources=Resources(constraint="good"))
        return replace(old, cases=(replace(case, shape=shape), *cases))
    if change == "loads":
        return replace(old, cases=(replace(case, loads=(("mdt", 2.0),)), *cases))
    if change == "options":
        cluster, *clusters = old.system.clusters
        sent = replace(cluster, options=("--exclude=c3n4",))
        return replace(old, system=replace(old.system, clusters=(sent, *clusters)))
    if change.startswith("row"):
        return _other_rows(old, change)
    if change.startswith("check"):
        test, *tests = old.tests
        return replace(old, tests=(replace(test, checks=test.checks[1:]), *tests))
    if change == "nodes":
        cluster, *clusters = old.system.clusters
        (part,) = cluster.partitions
        count = max(1, part.count - 1)
        smaller = replace(part, nodes=f"{cluster.name}n[1-{count}]", count=count)
        return replace(old, system=replace(old.system, clusters=(replace(cluster, partitions=(smaller,)), *clusters)))
    return old


def _other_rows(old: Document, change: str) -> Document:
    """The row is loosened, or gone, or a more specific one with another bound stands beside it."""
    (contract,) = old.contracts
    rows = {
        "row": tuple(replace(row, low=70.0, must=">= 70") for row in contract.rows[:1]),
        "row gone": (),
        "row beside": (
            *contract.rows[:1],
            ContractRow("c:2", "c", "stream", "rate", ">= 60", "contract", (("partition", ("c3:batch",)),), low=60.0),
        ),
    }[change]
    of_case = {"stream/a": tuple(row.name for row in rows[-1:]), "stream/b": tuple(row.name for row in rows[:1])}
    cases = tuple(replace(case, rows=of_case.get(case.id, ())) for case in old.cases)
    return replace(old, contracts=(replace(contract, rows=rows),), cases=cases)


def _of_others(told: Acted, draw: random.Random, by: str, word: str) -> None:
    acts = [act for act in acts_of(told.record) if act.kind != "agree"]
    if word == "withdraw":
        gone = told.record.withdrawn
        acts = [act for act in acts if act.kind in ("waive", "rule") and not gone.keys() & set(act.events)]
    if not acts:
        return
    act = draw.choice(acts)
    if word == "withdraw":
        told.say("withdrawn", {"events": list(act.events), "by": by}, "no longer")
    else:
        told.agree(act.number, by, "0" * 64 if draw.random() < 0.2 else "")
