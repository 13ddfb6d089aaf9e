"""Campaigns with set-ups, clean-ups and drills that people do, told by chance, and what people say of them afterwards."""

from __future__ import annotations

import random
from typing import Any

from acts_story import CASES, DONE, PARTIES, Acted, plan
from msgspec.structs import replace

from shakedown.model.judging import Criterion
from shakedown.model.nouns import Component, Drill

MOST = Criterion("most", "passed / attempts", ">=", 0.5, "%", must=">= 50%", leave_out=("ruled site",))
DRILL = Drill("oss", 60.0, settle_s=60.0, evidence=1, lost=1, hole_s=70.0, written=(("hole", "<= 70s"),))
FILE = [{"name": "console", "sha256": "ab" * 32, "bytes": 3}]


def drawn(seed: int) -> Acted:
    """A part that is set up and cleaned up, and one that runs for a time with a drill in it; then words of people."""
    draw = random.Random(f"steps {seed}")
    asked = draw.choice([(), (), ("rule",), ("drill",), ("clock",)])
    whole = plan(PARTIES if seed % 3 else (), asked if seed % 3 else ())
    speed = Component("speed", "performance", CASES[:1], 2, criteria=(DONE,), set_up=CASES[2:], clean_up=CASES[1:2])
    days = Component(
        "days", "stability", CASES[:2], criteria=(MOST,), duration_s=400.0, drills=(DRILL,), set_up=CASES[2:]
    )
    told = Acted(replace(whole, components=(speed, days)))
    bad = draw.choice([0.0, 0.05, 0.3])
    _step(told, draw, "speed", CASES[2], "set-up")
    for repeat in (1, 2):
        told.run("speed", CASES[0], _verdict(draw, bad), repeat)
    if draw.random() < 0.2:
        told.say("again", {"component": "speed", "by": draw.choice(["Ada", "Bo"])}, "to see")
        _step(told, draw, "speed", CASES[2], "set-up", 2)
        for repeat in (3, 4):
            told.run("speed", CASES[0], _verdict(draw, bad), repeat)
    _step(told, draw, "speed", CASES[1], "clean-up")
    _step(told, draw, "days", CASES[2], "set-up")
    begin = told.now
    for repeat in range(1, 11):
        if repeat == 3:
            said(told, draw, "begun")
        told.run("days", draw.choice(CASES[:2]), draw.choice(["failed", "node_fail", "passed", _verdict(draw, bad)])
                 if 3 <= repeat <= 5 else _verdict(draw, bad), repeat, lasts=draw.choice([20.0, 35.0, 50.0]))  # fmt: skip
        if repeat == 4:
            said(told, draw, "ended")
        told.now += draw.choice([0.0, 5.0, 20.0])
    told.now = max(told.now, begin + 420.0)
    told.say("finding", {"kind": "time_is_up", "component": "days"})
    told.end()
    for _ in range(draw.randrange(0, 6)):
        _word(told, draw, begin)
    return told


def _verdict(draw: random.Random, bad: float) -> str:
    return draw.choice(["failed", "incorrect", "node_fail"]) if draw.random() < bad else "passed"


def _step(told: Acted, draw: random.Random, component: str, case: str, mode: str, repeat: int = 1) -> None:
    """A run of a set-up or clean-up: 10 s."""
    told.runs += 1
    run, job = f"r{told.runs:06d}", f"j{told.runs:06d}"
    ids = {"component": component, "repeat": repeat, "attempt": 1, "mode": mode}
    told.say("submit_order", ids, run=run, job=job, case=case)
    begin, told.now = told.now, told.now + 10.0
    verdict = "failed" if draw.random() < 0.1 else "passed"
    facts = {"verdict": verdict, "started": begin, "ended": told.now, "elapsed_s": 10.0}
    told.say("verdict", ids | facts, f"it {verdict}", run=run, job=job, case=case)


def said(told: Acted, draw: random.Random, act: str, at: float | None = None, by: str = "Bo") -> int:
    value: dict[str, Any] = {
        "component": "days",
        "drill": "oss",
        "act": act,
        "by": by,
        "evidence": FILE if act == "ended" else [],
    }
    return told.say("drilled", value | ({} if at is None else {"from": at}), "as planned")


def _word(told: Acted, draw: random.Random, begin: float) -> None:
    """A ruling, a word that moves the drill, a stop of the clock that is said later, an agreement."""
    by = draw.choice(["Ada", "Bo", "Bo"])
    kind = draw.choice(["rule", "rule", "rule", "moved", "moved", "clock", "agree", "agree"])
    runs = [row for row in told.record.current() if row.verdict != "passed" and not row.mode]
    if kind == "rule" and runs:
        party = draw.choice(["site", "application", "excused", "vendor"])
        told.say("ruled", {"as": party, "by": by}, "a link", run=draw.choice(runs).run)
    elif kind == "moved":
        at = begin + draw.randrange(0, 300)
        said(told, draw, "begun", at, by)
        said(told, draw, "ended", at + draw.randrange(10, 80), by)
    elif kind == "clock":
        at, mark = begin + draw.randrange(0, 200), f"t{told.now}"
        for act, moment in (("stop", at), ("go on", at + draw.randrange(10, 90))):
            told.say("clock", {"component": "days", "act": act, "from": moment, "together": mark, "by": by}, "a blip")
    elif kind == "agree" and told.documents[told.record.document].parties and told.record.acts:
        rows = [row for row in told.record.acts if row.kind != "agree"]
        numbers = {act.number for act in told.acts} & {row.seq for row in rows}
        if numbers:
            told.agree(draw.choice(sorted(numbers)), draw.choice(["Ada", "Bo"]))
