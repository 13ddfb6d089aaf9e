"""Every key of a plan's file."""

from __future__ import annotations

import re
from datetime import datetime

from shakedown.model.events import CONSENT
from shakedown.model.judging import SEVERITIES
from shakedown.model.units import parse_known, parse_quantity
from shakedown.plans.parties import Speaker
from shakedown.plans.schema.baselines import BASELINE
from shakedown.plans.schema.criteria import CRITERION
from shakedown.plans.schema.observing import OBSERVED
from shakedown.plans.schema.other_words import in_its_place
from shakedown.plans.schema.records import Either, Key, ListOf, MapOf, OneKey, Record
from shakedown.plans.schema.scalars import Choice, Duration, Identifier, InvalidValue, Name, Parsed, Text, Whole
from shakedown.plans.schema.scheduling import MOST, STAGGER, ZONE, keys_of_filling
from shakedown.plans.schema.scores import SCORE
from shakedown.plans.schema.test import BUDGET_NAME, NO_CREDENTIALS
from shakedown.plans.unavailable import CHOICES as UNAVAILABLE

KINDS = ("vendor", "functionality", "performance", "stability", "site")
_NAME = Name("a name")
_TEST = Name("a test's name")
_DURATION = Duration()
MOST_RESULTS = MOST  # of one case: each that is wanted takes its place in memory


def _times(text: str) -> tuple[int, float]:
    """The number of attempts and the first wait in seconds: '2', '5 with backoff', '5 with backoff 30s'. Raises InvalidValue."""
    match = re.fullmatch(r"\s*(\d{1,6})(?:\s+with\s+backoff(?:\s+(\S.*?))?)?\s*", text)
    if match is None:
        raise InvalidValue(f"'{text}' is not a number of attempts", "write 2, '5 with backoff' or '5 with backoff 30s'")
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


_ZONE = "write 2026-12-01T18:00Z where it is in UTC, or 2026-12-01T18:00+01:00 where it is an hour ahead of it"


def _moment(text: str) -> float:
    """A time with a time zone, in seconds since 1970. Raises InvalidValue."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InvalidValue(f"'{text}' is no moment", "write 2026-12-01T18:00Z or 2026-12-01T18:00+01:00") from error
    if moment.tzinfo is None:
        raise InvalidValue(f"'{text}' does not say in which zone", _ZONE)
    return moment.timestamp()


def _overlap(text: str) -> float:
    """A share above zero, as a fraction of one: '90%' is exactly 0.9. Raises InvalidValue."""
    parse_known(text, "share")
    share = parse_quantity(text).value / 100
    if not 0 < share <= 1:
        raise InvalidValue(f"'{text}' is not a share of a run's time", "write a share above 0% and up to 100%")
    return share


_MODE = {
    "repeats": Key(Whole(1, most=MOST_RESULTS), "wanted results of each case, in a fill of each copy; without it 1"),
    "warm_up": Key(
        Whole(most=MOST_RESULTS), "results of each case (and copy) that come first and count nowhere; without it 0"
    ),
    "overlap": Key(
        Parsed("a share such as 90%", _overlap),
        "the least share of a run's time with such a machine, for its figures to count; without it 95%",
    ),
}

_MODES = Record(
    "a map with isolated, fill or both",
    {
        "isolated": Key(
            Record("a map with repeats and warm_up", _MODE), "one run at a time, with the machine to itself"
        ),
        "fill": Key(
            Record(
                "a map with repeats, warm_up and copies",
                {**_MODE, "copies": Key(Whole(), "copies of a case at once; without it as many as fill the machine")},
            ),
            "many copies of one case at once, one case after the other",
        ),
    },
)

_PROCEDURE = Record(
    "a map with name",
    {
        "name": Key(_NAME, "what it is called; attest names it", True),
        "about": Key(Text(), "what is to be done and seen"),
        "who": Key(Text(), "the party that does it"),
        "evidence": Key(Whole(), "the fewest files that show it; without it 0"),
        "clause": Key(Text(), "the clause that asks for it"),
    },
)

_COMPONENT = Record(
    "a map that describes a component",
    {
        "name": Key(_NAME, "what it is called; without it the kind"),
        "about": Key(Text(), "a sentence for people"),
        "tests": Key(
            ListOf(_SELECTION, "a list of tests", 1, once=True),
            "which tests: NAME, {test, where} or tag:WORD; needed unless there are procedures",
        ),
        "repeats": Key(Whole(1, most=MOST_RESULTS), "wanted results of each case; without it 1"),
        "modes": Key(_MODES, "for performance: how its cases are run, instead of repeats"),
        "duration": Key(_DURATION, "for stability: runs follow each other until this has passed since the first"),
        "mix": Key(
            MapOf(_TEST, Text("a share such as 40%"), "shares by test", "TEST"),
            "the share of the node-hours that each test has in duration; without it all the same",
        ),
        **keys_of_filling(_SELECTION),
        "set_up": Key(
            Either(scalar=_SELECTION.kinds[0], items=ListOf(_SELECTION, "a list of tests", 1, once=True)),
            "tests that come first, once each: nothing else of it begins until they passed",
        ),
        "clean_up": Key(
            Either(scalar=_SELECTION.kinds[0], items=ListOf(_SELECTION, "a list of tests", 1, once=True)),
            "tests that come when all else of it is over, once each, whatever came out",
        ),
        "procedures": Key(ListOf(_PROCEDURE, "a list of procedures", 1), "what people do and attest"),
        "deadline": Key(
            Parsed("a moment such as 2026-12-01T18:00Z", _moment),
            "when it is to be over, as planned; the report says whether that was kept, and only a criterion on `late` judges by it",
        ),
        "after": Key(
            Either(scalar=_NAME, items=ListOf(_NAME, "a list of components", once=True)),
            "components that must be over before it begins",
        ),
        "gate": Key(Choice(("over", "met")), "what those in after must be: over, or over and met; without it over"),
        "retry": Key(
            MapOf(
                Name("a verdict"), Parsed("a number of attempts", _times), "numbers of attempts by verdict", "VERDICT"
            ),
            "how often a result is attempted again after a verdict",
        ),
        "criteria": Key(MapOf(_NAME, CRITERION, "a map of criteria", "CRITERION"), "what it must satisfy"),
    },
    in_its_place(
        ("system", "contract", "scores", "baselines", "parties", "consent", "issues", "seed", "zone"),
        "it stands beside components, not in one",
    )
    | in_its_place(
        ("build", "run", "check", "figures", "parameters", "software", "needs", "scaling", "expect", "loads"),
        "a test has {}: it stands in a file of tests/",
    ),
)

_LIMITS = Record(
    "a map of limits",
    {
        "copies": Key(MapOf(_TEST, Whole(1), "numbers by test", "TEST"), "runs of a test at once, at most"),
        "budgets": Key(
            MapOf(
                BUDGET_NAME,
                Text("an amount, such as 20 GB/s or 4 per target, or a share such as 50%"),
                "amounts by budget",
                "BUDGET",
            ),
            "what runs may load together: an amount, or a share of the system's",
        ),
        "observe": OBSERVED,
        "builds": Key(Whole(1), "builds at once; without it 2"),
        "queued": Key(Whole(1), "jobs at the scheduler at once; without it the engine decides"),
        "stagger": STAGGER,
        "exclude_after": Key(Whole(1), "a node that failed so many runs is given no more; without it never"),
    },
)

PLAN = Record(
    "a map of keys",
    {
        "plan": Key(Name("the plan's name"), "what the plan is called", True),
        "about": Key(Text(), "a sentence for people"),
        "system": Key(Name("a system's name"), "here (the machine the command runs on), or a name from systems/", True),
        "contract": Key(
            Either(
                scalar=Name("a contract's name"),
                items=ListOf(Name("a contract's name"), "a list of contracts", 1),
            ),
            "the contract, or several, whose rows its figures are judged by",
        ),
        "no_credentials": NO_CREDENTIALS,
        "seed": Key(Whole(), "where the order of equals is drawn from; without it 0"),
        "zone": Key(ZONE, "the time zone of windows that name none; without it UTC"),
        "unavailable": Key(
            Choice(UNAVAILABLE),
            "what comes of cases that cannot run: refuse to start, or start without them and restrict the acceptance; "
            "without it refuse",
        ),
        "parties": Key(
            MapOf(_NAME, ListOf(Speaker(), "a list of names and public SSH keys", 1), "a map of parties", "PARTY"),
            "who speaks for which side: names, or public SSH keys; an act is one-sided until every side agreed to it",
        ),
        "consent": Key(
            ListOf(Choice(CONSENT), "a list of kinds of acts"),
            "kinds of acts that have no effect on the outcome until every party agreed to them; the outcome is disputed "
            "without consent to those that cannot be undone",
        ),
        "issues": Key(
            Record(
                "a map with restrict",
                {
                    "restrict": Key(
                        ListOf(Choice(SEVERITIES), "a list of severities", 1), "severities: major, minor, note", True
                    )
                },
            ),
            "open issues of which severities restrict the acceptance; without it none by its severity alone",
        ),
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
        "scores": Key(
            MapOf(_NAME, SCORE, "a map of scores", "SCORE"), "numbers of several tests that the contract is settled on"
        ),
        "baselines": Key(
            MapOf(_NAME, BASELINE, "a map of baselines", "BASELINE"),
            "what criteria on a change are held against: other campaigns, or values; frozen when the campaign begins",
        ),
        "limits": Key(_LIMITS, "policy of the whole campaign"),
    },
    in_its_place(_COMPONENT.keys, "write components: [{{performance: {{{}: ...}}}}], with the kind that it is"),
)
