"""Every key of a plan's file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shakedown.plans.keys_of_test import BUDGET_NAME
from shakedown.plans.kinds import Choice, Duration, Identifier, Name, Parsed, Text, Whole, Wrong
from shakedown.plans.records import Either, Key, ListOf, MapOf, OneKey, Record

KINDS = ("vendor", "functionality", "performance", "stability", "site")
MEASURES = ("passed / attempts", "passed / wanted", "correct / completed", "value", "sd / mean")
_NAME = Name("a name")
_TEST = Name("a test's name")
_DURATION = Duration()


@dataclass(frozen=True, slots=True)
class Must:
    """A bound as written: how it compares, and the text of the amount."""

    comparison: str
    amount: str
    text: str


def _must(text: str) -> Must:
    match = re.fullmatch(r"\s*(<=|>=|==|=|<|>|≤|≥)\s*([^<>=\s].*?)\s*", text)
    if match is None:
        raise Wrong(f"'{text}' is not a bound", "write a comparison and an amount, such as '>= 95%' or '<= 20 s'")
    sign = {"==": "=", "≤": "<=", "≥": ">="}.get(match.group(1), match.group(1))
    return Must(sign, match.group(2), text.strip())


def _times(text: str) -> tuple[int, float]:
    """How often, and the first wait in seconds: '2', '5 with backoff', '5 with backoff 30s'."""
    match = re.fullmatch(r"\s*(\d{1,6})(?:\s+with\s+backoff(?:\s+(\S.*?))?)?\s*", text)
    if match is None:
        raise Wrong(f"'{text}' is not a number of attempts", "write 2, '5 with backoff' or '5 with backoff 30s'")
    if "backoff" not in text:
        return int(match.group(1)), 0.0
    return int(match.group(1)), _DURATION.convert(match.group(2)) if match.group(2) else 10.0


_WHERE = MapOf(
    Identifier("a parameter"),
    Either(scalar=Text("text", True), items=ListOf(Text("text", True), "a list", 1)),
    "parameters and their values",
    "PARAMETER",
)

_SELECTION = Either(
    scalar=Name("a test's name, or tag:WORD", r"(tag:)?[A-Za-z0-9][A-Za-z0-9_.+-]*"),
    keys=Record(
        "a map with test and where",
        {
            "test": Key(_TEST, "a test's name", True),
            "where": Key(_WHERE, "parameters that its cases have; a list means any of them", True),
        },
    ),
)

_CRITERION = Record(
    "a map with measure and must",
    {
        "measure": Key(Choice(MEASURES), "what is measured: " + ", ".join(MEASURES), True),
        "must": Key(Parsed("a bound, such as '>= 95%'", _must), "what it must be: a comparison and an amount", True),
        "of": Key(Text("a figure's name"), "the figure, for value and sd / mean; elapsed is always there"),
        "test": Key(_TEST, "only this test's runs; without it all of the component's"),
        "statistic": Key(Choice(("mean", "median", "min", "max", "sd")), "of the figure's values; without it median"),
        "per": Key(Choice(("case",)), "case: every case on its own, the worst counts"),
        "enough": Key(Whole(1), "the fewest results to judge by; without it 1"),
    },
)

_COMPONENT = Record(
    "a map that describes a component",
    {
        "name": Key(_NAME, "what it is called; without it the kind"),
        "tests": Key(ListOf(_SELECTION, "a list of tests", 1), "which tests: NAME, {test, where} or tag:WORD", True),
        "repeats": Key(Whole(1), "wanted results of each case; without it 1"),
        "after": Key(
            Either(scalar=_NAME, items=ListOf(_NAME, "a list of components")),
            "components that must be over before it begins",
        ),
        "retry": Key(
            MapOf(
                Name("a verdict"), Parsed("a number of attempts", _times), "numbers of attempts by verdict", "VERDICT"
            ),
            "how often a result is attempted again after a verdict",
        ),
        "criteria": Key(MapOf(_NAME, _CRITERION, "a map of criteria", "CRITERION"), "what it must satisfy"),
    },
)

_LIMITS = Record(
    "a map of limits",
    {
        "copies": Key(MapOf(_TEST, Whole(1), "numbers by test", "TEST"), "runs of a test at once, at most"),
        "budgets": Key(
            MapOf(
                BUDGET_NAME,
                Text("an amount, or a share such as 50%"),
                "amounts by budget",
                "BUDGET",
            ),
            "what runs may load together: an amount, or a share of the system's",
        ),
        "builds": Key(Whole(1), "builds at once; without it 2"),
        "queued": Key(Whole(1), "jobs at the scheduler at once; without it the engine decides"),
    },
)

PLAN = Record(
    "a map of keys",
    {
        "plan": Key(Name("the plan's name"), "what the plan is called", True),
        "about": Key(Text(), "a sentence for people"),
        "system": Key(Name("a system's name"), "here (the machine the command runs on), or a name from systems/", True),
        "seed": Key(Whole(), "where the order of equals is drawn from; without it 0"),
        "components": Key(
            ListOf(
                OneKey(
                    f"a map with one key: {', '.join(KINDS)}",
                    {kind: Key(_COMPONENT, f"a component of kind {kind}") for kind in KINDS},
                    "KIND",
                ),
                "a list of components",
                1,
            ),
            "the parts of the plan, in order",
            True,
        ),
        "limits": Key(_LIMITS, "policy of the whole campaign"),
    },
)
