"""Campaigns whose plan is made harder and easier again and again, in warm-ups, attempts, time limits, checks and contract rows.

Each run does what the plan in force makes of it: what it would have done is drawn before that.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from acts_story import PARTIES, Acted
from msgspec.structs import replace

from shakedown.model.judging import Basis, Contract, ContractRow, Criterion
from shakedown.model.nouns import (
    Case,
    Check,
    Cluster,
    Component,
    Document,
    FigureSpec,
    Mode,
    NodeType,
    Partition,
    Retry,
    Shape,
    System,
    Test,
)  # fmt: skip

SOUND = Check("output contains", "output", "ok", 'output contains "ok"')
ZEROS = Check("output contains", "output", "zzz", 'output contains "zzz"')


def drawn(seed: int, valued: bool = False) -> Acted:
    """One case in its modes, or without any; one amendment before it begins in most of them, and few or many after that.

    ``valued``: its criteria look at what runs measured, too.
    """
    draw = random.Random(f"harder {seed}")
    document = _plan(draw, PARTIES if seed % 4 else (), ("amend",) if seed % 4 == 1 else ())
    document = _with_right_answers(document, random.Random(f"right {seed}"))
    told = Acted(_with_values(document, random.Random(f"valued {seed}")) if valued else document)
    often = draw.choice([0.0, 0.2, 0.5])
    if draw.random() < 0.8:
        _amend(told, draw)
    done: set[tuple[str, int]] = set()
    while left := [want for want in _wanted(told) if want not in done]:
        done.add(left[0])
        _result(told, draw, *left[0])
        if draw.random() < often and len(told.documents) < 6:
            _amend(told, draw)
        if draw.random() < 0.1:
            act = draw.choice([event.seq for event in told.events if event.event == "amended"] or [0])
            if act and told.documents[told.events[0].value["document"]].parties:
                told.agree(act, draw.choice(["Ada", "Bo"]))
    told.end()
    return told


def _plan(draw: random.Random, parties: tuple[object, ...], consent: tuple[str, ...]) -> Document:
    system = System("c", (Cluster("c", "slurm", (Partition("batch", "c", "n[1-4]", 4, "node"),)),), (NodeType("node"),))
    modes = draw.choice(
        [(), (Mode("isolated", 3, draw.choice([0, 1])),), (Mode("isolated", 1), Mode("fill", 2, 1, 2, 0.1))]
    )
    bound = draw.choice([0.3, 0.6, 1.0])
    criteria = (
        Criterion("all", "passed / attempts", ">=", bound, "%", must=f">= {bound * 100:g}%"),
        Criterion("done", "passed / wanted", ">=", 0.6, "%", must=">= 60%"),
    )
    retry = draw.choice([(), (Retry("failed", 1),), (Retry("incorrect", 1),)])
    part = Component("speed", "performance", ("a",), 3, criteria=criteria, retry=retry, modes=modes)
    return Document(
        "p", system, (part,), (Case("a", "a", "c:batch", shape=Shape(time_limit_s=100.0), rows=("c:1",)),),
        (Test("a", checks=(SOUND,), figures=(FigureSpec("rate", "", "higher"),)),),
        contracts=(_rows(3.0),), parties=parties, consent=consent,  # type: ignore[arg-type]
    )  # fmt: skip


def _with_right_answers(document: Document, draw: random.Random) -> Document:
    """With a criterion on right answers beside the others, in the place of them, or none; its row may be no commitment."""
    right = Criterion(
        "right",
        "correct / completed",
        ">=",
        draw.choice([0.5, 1.0]),
        "%",
        must=">= so many",
        enough=draw.choice([1, 1, 3]),
    )
    (part,) = document.components
    criteria = draw.choice([part.criteria, (*part.criteria, right), (right,)])
    contracts = (_rows(3.0, draw.choice(["contract", "vendor"])),)
    return replace(document, components=(replace(part, criteria=criteria),), contracts=contracts)


def _with_values(document: Document, draw: random.Random) -> Document:
    """With one criterion or two on values: of a figure, of the run time, of their spread, of the rows."""
    rate = Criterion("rate", "value", ">=", draw.choice([4.0, 4.5, 5.0]), of="rate", must=">= 4 or so")
    least = replace(rate, name="least", statistic="min", leave_out=draw.choice([(), (), ("outliers",)]))
    longest = Criterion(
        "longest", "value", "<=", draw.choice([20.0, 60.0]), of="elapsed", unit="s", must="<= 20 s or so"
    )
    longest = replace(longest, statistic=draw.choice(["max", "mean"]), per=draw.choice(["", "case"]))
    spread = Criterion("spread", "sd / mean", "<=", draw.choice([0.1, 2.0]), "%", of="elapsed", must="<= 10% or so")
    rows = Criterion("rows", "rows met", "=", 1.0, "%", must="= 100%")
    many = replace(rate, name="many", enough=3, statistic="mean")
    (part,) = document.components
    mine = draw.sample([rate, least, longest, spread, rows, many], draw.choice([1, 1, 2]))
    kept = draw.choice([(), part.criteria[1:]])
    return replace(document, components=(replace(part, criteria=(*kept, *mine)),))


def _rows(low: float, basis: Basis = "contract") -> Contract:
    row = ContractRow("c:1", "c", "a", "rate", f">= {low:g}", basis, low=low, verdict=True)
    return Contract("c", rows=(row,))


def _wanted(told: Acted) -> list[tuple[str, int]]:
    """The results that the plan in force wants, in their order: the mode, of a warm-up with what it warms up, and the repeat."""
    (part,) = told.documents[told.record.document].components
    if not part.modes:
        return [("", number + 1) for number in range(part.repeats)]
    found = []
    for mode in part.modes:
        many = mode.copies or 1
        found += [(f"warm-up {mode.name}", number + 1) for number in range(mode.warm_up * many)]
        found += [(mode.name, number + 1) for number in range(mode.repeats * many)]
    return found


def _result(told: Acted, draw: random.Random, mode: str, repeat: int) -> None:
    """The attempts at one result: the plan in force judges each, and says whether another one follows."""
    spent: dict[str, int] = {}
    for attempt in range(1, 9):
        plan = told.documents[told.record.document]
        lasts, rate, fails = draw.choice([10.0, 10.0, 50.0]), draw.choice([5.0, 5.0, 4.0]), draw.random() < 0.2
        wrong = draw.random() < (0.4 if ZEROS in plan.tests[0].checks else 0.1)
        limit, low = plan.cases[0].shape.time_limit_s, plan.contracts[0].rows[0].low or 0.0
        verdict = "timeout" if lasts > limit else "failed" if fails else "incorrect" if wrong else "passed"
        verdict = "performance" if verdict == "passed" and rate < low else verdict
        wrong_ones = [draw.choice(plan.tests[0].checks)] if plan.tests[0].checks else []
        told_of = [[one.text, one not in wrong_ones, ""] for one in plan.tests[0].checks]
        checks = told_of if verdict == "incorrect" and draw.random() < 0.7 else []
        run = _run(told, mode, repeat, attempt, verdict, rate, min(lasts, limit), checks)
        spent[verdict] = spent.get(verdict, 0) + 1
        if {one.verdict: one.times for one in plan.components[0].retry}.get(verdict, 0) < spent[verdict]:
            return
        told.say("retry", {"component": "speed", "repeat": repeat, "attempt": attempt + 1}, "again", run=run, case="a")


def _run(
    told: Acted, mode: str, repeat: int, attempt: int, verdict: str, rate: float, lasts: float, checks: Sequence[object]
) -> str:
    told.runs += 1
    run, job = f"r{told.runs:06d}", f"j{told.runs:06d}"
    ids: dict[str, object] = {"component": "speed", "repeat": repeat, "attempt": attempt}
    if mode:
        ids |= {"mode": "warm-up", "of": mode.split()[1]} if mode.startswith("warm-up") else {"mode": mode}
    told.say("submit_order", ids, run=run, job=job, case="a")
    begin, told.now = told.now, told.now + lasts
    facts = {"verdict": verdict, "started": begin, "ended": told.now, "elapsed_s": lasts, "figures": {"rate": rate}}
    facts |= {"checks": checks} if checks else {}
    told.say("verdict", ids | facts, f"it {verdict}", run=run, job=job, case="a")
    return run


def _amend(told: Acted, draw: random.Random) -> None:
    """One thing is asked otherwise, or two. A row is made harder and easier; no criterion's bound is loosened."""
    new = told.documents[told.record.document]
    for change in draw.sample(["warm", "warm", "retry", "limit", "check", "row", "about"], draw.choice([1, 1, 2])):
        part, case, test = new.components[0], new.cases[0], new.tests[0]
        if change == "warm" and part.modes:
            mode, *modes = part.modes
            part = replace(part, modes=(replace(mode, warm_up=draw.choice([0, 1, 2])), *modes))
        elif change == "retry":
            part = replace(
                part, retry=draw.choice([(), (Retry("failed", 1),), (Retry("failed", 2), Retry("incorrect", 1))])
            )
        elif change == "limit":
            case = replace(case, shape=replace(case.shape, time_limit_s=draw.choice([20.0, 100.0])))
        elif change == "check":
            test = replace(test, checks=draw.choice([(), (SOUND,), (SOUND, ZEROS)]))
        rows = (
            (_rows(draw.choice([3.0, 4.5, 4.5]), new.contracts[0].rows[0].basis),) if change == "row" else new.contracts
        )
        new = replace(
            new, components=(part,), cases=(case,), tests=(test,), contracts=rows, about=f"changed at {told.now}"
        )
    told.say(
        "amended", {"document": told.keep(new), "by": draw.choice(["Ada", "Bo"]), "difference": ["it"]}, "as agreed"
    )
