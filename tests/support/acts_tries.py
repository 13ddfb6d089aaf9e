"""What one side may try to bend a settlement: told event by event, in campaigns that would be rejected without the try."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acts_story import CASES, Acted
from msgspec.structs import replace

from shakedown.model.nouns import Component, Document

# ---- what runs -------------------------------------------------------------------------------------------------------


def speed(told: Acted, bad: bool = True, rate: float = 100.0, first: int = 1) -> None:
    """Two results of each case; the last one fails where it is ``bad``: five of six passed, 83.3 %, must be 90 %."""
    for repeat in (first, first + 1):
        for case in CASES:
            failed = bad and (case, repeat) == (CASES[-1], first + 1)
            told.run("speed", case, "failed" if failed else "passed", repeat, rate)


def days(told: Acted, bad: bool = False, count: int = 18) -> None:
    """Runs of ten seconds one after the other; of nine bad ones four fail."""
    before = sum(event.event == "submit_order" and event.value["component"] == "days" for event in told.events)
    for number in range(1, count + 1):
        verdict = "failed" if bad and 3 <= number <= 6 else "passed"
        told.run("days", CASES[number % 2], verdict, before + number)


def over(told: Acted) -> int:
    """The clock has run for its time, the nodes were looked at, and the vendor says so: the event of that."""
    if not any(event.event == "drain_request" for event in told.events):
        told.now = max(told.now, 3000.0)
        told.say("finding", {"kind": "time_is_up", "component": "days"})
    evidence = [{"name": "log", "sha256": "ab" * 32, "bytes": 3}]
    said = {"component": "hands", "procedure": "diag", "met": True, "by": "Bo", "evidence": evidence}
    seen = told.say("attested", said, "seen")
    told.end()
    return seen


def amend(
    told: Acted,
    change: Callable[[Component], Component],
    more: Callable[[Document], Document] | None = None,
    by: str = "Bo",
) -> int:
    """One side has another first component, or another plan, put into force."""
    old = told.documents[told.record.document]
    first, *rest = old.components
    new = replace(old, components=(change(first), *rest), about=f"changed at {told.now}")
    new = more(new) if more else new
    return told.say("amended", {"document": told.keep(new), "by": by, "difference": ["another plan"]}, "fair")


def done(**fields: Any) -> Callable[[Component], Component]:
    """The criterion ``done`` of speed with other fields."""
    return lambda part: replace(part, criteria=(replace(part.criteria[0], **fields), *part.criteria[1:]))


def same(part: Component) -> Component:
    return part


def waive(told: Acted, by: str = "Bo") -> int:
    said = {"what": "criterion", "component": "speed", "name": "done", "restriction": "no linpack", "by": by}
    return told.say("waived", said, "in case")


# ---- the tries -----------------------------------------------------------------------------------------------------


def backdated_restart(told: Acted, by: str = "Bo") -> None:
    speed(told, bad=False)
    days(told, bad=True, count=9)
    told.say("clock", {"component": "days", "act": "restart", "from": told.now - 25.0, "by": by}, "a new switch")
    days(told)


def drain_when_it_looks_good(told: Acted, by: str = "Bo") -> None:
    speed(told, bad=False)
    days(told, count=5)
    told.say("drain_request", {"component": "days", "by": by}, "it looks good")


def amend_out_and_in(told: Acted, by: str = "Bo") -> None:
    speed(told)
    amend(told, lambda part: replace(part, cases=part.cases[:2]), by=by)
    amend(told, lambda part: replace(part, cases=CASES), by=by)
    for repeat in (1, 2):
        told.run("speed", CASES[-1], "passed", repeat)
    days(told)


def rule_on_slow_passes(told: Acted, by: str = "Bo") -> None:
    speed(told, bad=False, rate=80.0)
    for number in range(1, 7):
        told.say("ruled", {"as": "site", "by": by}, "a slow switch", run=f"r{number:06d}")
    days(told)


def change_after_bad_runs(told: Acted, by: str = "Bo") -> None:
    speed(told, bad=False, rate=80.0)
    told.say("changed", {"by": by}, "new firmware")
    days(told)


def loosened_bound(told: Acted, by: str = "Bo") -> None:
    speed(told)
    amend(told, done(bound=0.5, must=">= 50%"), by=by)
    days(told)


def backdated_stop(told: Acted, by: str = "Bo") -> None:
    speed(told, bad=False)
    days(told, bad=True, count=9)
    told.say("clock", {"component": "days", "act": "stop", "from": told.now - 90.0, "by": by}, "a blip")
    told.say("clock", {"component": "days", "act": "go on", "by": by}, "and on")
    days(told, count=9)


def raised_enough(told: Acted, by: str = "Bo") -> None:
    speed(told)
    amend(told, done(enough=1000), by=by)
    days(told)


def waiver_ahead(told: Acted, by: str = "Bo") -> None:
    waive(told, by)
    speed(told)
    days(told)
