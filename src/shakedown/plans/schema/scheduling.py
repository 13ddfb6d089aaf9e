"""Every key of a plan that keeps a machine busy, leaves room for others, or makes sure that each node is used."""

from __future__ import annotations

from shakedown.model.filling import CAUSES
from shakedown.model.units import parse_known, parse_quantity
from shakedown.plans.schema import week
from shakedown.plans.schema.records import Either, Key, ListOf, MapOf, Record
from shakedown.plans.schema.scalars import Choice, Duration, Identifier, InvalidValue, Name, Parsed, Text, Whole, YesNo
from shakedown.plans.schema.test import BUDGET_NAME

_NAME = Name("a name")
_TEST = Name("a test's name")
_PARAMETER = Identifier("a parameter's name")
_DURATION = Duration()
_ACTS = ("runs", "stops", "restarts")
_COUNTS = Choice(("counts", "does not count"))
MOST = 1_000_000  # of anything that takes its place in memory


def _busy(text: str) -> float:
    """A share of the nodes, above zero, as a fraction of one. Raises InvalidValue."""
    parse_known(text, "share")
    share = parse_quantity(text).value / 100
    if not 0 < share <= 1:
        raise InvalidValue(f"'{text}' is not a share of the nodes", "write a share above 0% and up to 100%")
    return share


def _worse(text: str) -> float:
    """A share above zero, as a fraction of one. Raises InvalidValue."""
    parse_known(text, "share")
    share = parse_quantity(text).value / 100
    if share <= 0:
        raise InvalidValue(f"'{text}' is not a share above zero", "write a share above 0%, such as 20%")
    return share


def at_most(text: str) -> tuple[float, str]:
    """Purpose: the longest allowed time in seconds, and how it is shown: "<= 120s" or "120s"."""
    written = text.strip().removeprefix("<=").strip()
    return _DURATION.convert(written), f"<= {written}"


def _budgets(words: str) -> Key:
    amount = Text("an amount, such as 20 GB/s or 4 per target, or a share such as 50%")
    return Key(MapOf(BUDGET_NAME, amount, "amounts by budget", "BUDGET"), words)


def _copies(words: str, least: int) -> Key:
    return Key(MapOf(_TEST, Whole(least), "numbers by test", "TEST"), words)


STAGGER = Key(_DURATION, "the least time between two runs of one test that may start")

LIMITS = Record(
    "a map of limits",
    {
        "copies": _copies("runs of a test at once, at most", 1),
        "budgets": _budgets("what its runs may load together: an amount, or a share of the system's"),
        "stagger": STAGGER,
    },
)

FILL = Record(
    "a map that says how full the machine is kept",
    {
        "target": Key(
            Parsed("a share such as 98%", _busy), "the share of the nodes that is to be busy; without it 100%"
        ),
        "queue_ahead": Key(_DURATION, "for so long there is always enough at the scheduler; without it one run waits"),
        "survive": Key(_DURATION, "for so long there is enough without a conductor, within the budgets"),
        "ramp": Key(_DURATION, "over this time the nodes that it may take grow from none to all; without it at once"),
        "drain": Key(YesNo(), "near its end a run is ordered only where it can be over in time; without it yes"),
    },
)

_TIME = Parsed("a time of the week, such as 'Mon 06:00'", week.time_of_week)
_DAYS = Parsed("days, such as Mon-Fri or daily", week.days)
ZONE = Parsed("a time zone, such as Europe/Berlin", week.zone)

WINDOW = Record(
    "a map with from and to",
    {
        "from": Key(_TIME, "when it begins: a day and a time; with days a time alone", True),
        "to": Key(_TIME, "when it ends; a time of the next day, or week, where it is not later", True),
        "days": Key(
            Either(scalar=_DAYS, items=ListOf(_DAYS, "a list of days", 1)), "the days on which it begins, or daily"
        ),
        "zone": Key(ZONE, "the time zone of its times; without it the plan's"),
        "budgets": _budgets("what its runs may load together then; 0 for nothing"),
        "copies": _copies("runs of a test at once then, at most; 0 for none", 0),
        "closed": Key(YesNo(), "nothing new of it is ordered then; without it no"),
    },
)

YIELD = Record(
    "a map with clusters and when",
    {
        "clusters": Key(
            ListOf(Name("a cluster's name"), "a list of clusters", 1), "whose waiting jobs are counted", True
        ),
        "when": Key(
            Record(
                "a map with pending",
                {
                    "pending": Key(Whole(1), "it begins where so many jobs wait on any of them", True),
                    "until": Key(Whole(), "it ends where no more wait on all of them; without it half of pending"),
                },
            ),
            "how many waiting jobs call for it",
            True,
        ),
        "budgets": _budgets("what its runs may load together then; 0 for nothing"),
        "copies": _copies("runs of a test at once then, at most; 0 for none", 0),
        "closed": Key(YesNo(), "nothing new of it is ordered then; without it no"),
    },
)

CLOCK = Record(
    "a map that says what its clock does",
    {
        "start": Key(
            Choice(("first order", "declared")), "when it starts: with its first order, or when a person says so"
        ),
        "causes": Key(
            MapOf(Name("a cause"), Choice(_ACTS), "what the clock does by cause", "CAUSE"),
            f"what it does for a cause ({', '.join(CAUSES)}): runs, stops or restarts",
        ),
        "ramp": Key(_COUNTS, "whether the time of the ramp is clock time; without it it counts"),
        "drain": Key(_COUNTS, "whether the time of the drain is clock time; without it it counts"),
    },
)

PHASE = Record(
    "a map with name and duration",
    {
        "name": Key(_NAME, "what the part is called", True),
        "duration": Key(_DURATION, "how long it is", True),
    },
)

_AT_MOST = Parsed("at most so long, such as '<= 120s'", at_most)

DRILL = Record(
    "a map with name, at and expect",
    {
        "name": Key(_NAME, "what it is called; drill names it", True),
        "about": Key(Text(), "what is to be done to the machine"),
        "at": Key(_DURATION, "when, of the component's clock", True),
        "who": Key(Text(), "the party that does it"),
        "test": Key(_NAME, "a test with one case that does it by itself, once; without it a person does"),
        "evidence": Key(Whole(), "the fewest files that must come with the word on its end; without it 0"),
        "settle": Key(_DURATION, "for how long after its end the load is looked at; without it 10min"),
        "expect": Key(
            Record(
                "a map with lost, hole or back",
                {
                    "lost": Key(Whole(), "the most runs that may be lost"),
                    "hole": Key(_AT_MOST, "the longest time in which no run begins and none ends well"),
                    "back": Key(_AT_MOST, "the longest time from its begin until the load is back"),
                },
            ),
            "what the machine is to do; each is a criterion of the component",
            True,
        ),
        "clause": Key(Text(), "the clause that asks for it"),
    },
)

SWEEP = Record(
    "a map with queued, rounds and wait",
    {
        "queued": Key(
            Whole(1), "the most of its jobs that wait at the scheduler, on all partitions together; without it 16"
        ),
        "rounds": Key(Whole(1, most=MOST), "how often each node is seen; without it 1"),
        "wait": Key(
            _DURATION, "how long it waits for nodes that are down or drained when it saw all others; without it 1d"
        ),
    },
)

PACK = Record(
    "a map with runs, at_once and allocations",
    {
        "runs": Key(Whole(1, most=MOST), "how many runs an allocation has at most; without it 100"),
        "at_once": Key(Whole(1), "how many of them run side by side; without it as many as fit"),
        "allocations": Key(Whole(1), "the most allocations at a time; without it no limit of its own"),
    },
)

LADDER = Record(
    "a map with along and slower",
    {
        "along": Key(_PARAMETER, "the parameter that grows", True),
        "slower": Key(
            Record(
                "a map with figure and by",
                {
                    "figure": Key(Name("a figure's name"), "the figure, or elapsed", True),
                    "by": Key(Parsed("a share such as 20%", _worse), "how much worse it may be at most", True),
                },
            ),
            "a size also fails where the median of this figure is worse than at the smallest size by more than this",
        ),
    },
)


def keys_of_filling(selection: Either) -> dict[str, Key]:
    """Purpose: the keys of a component for this; ``selection`` is the kind of a selection of tests."""
    return {
        "filler": Key(
            Either(scalar=selection.kinds[0], items=ListOf(selection, "a list of tests", 1, once=True)),
            "with duration: tests that take nodes which the others leave idle; no work of the contract",
        ),
        "fill": Key(FILL, "with duration: how full the machine is kept"),
        "phases": Key(
            ListOf(PHASE, "a list of phases", 1), "parts of the duration; a person says when the next one begins"
        ),
        "drills": Key(
            ListOf(DRILL, "a list of drills", 1), "with duration: what is done to the machine under load, and expected"
        ),
        "clock": Key(CLOCK, "with duration: when its clock starts, and what stops it"),
        "windows": Key(ListOf(WINDOW, "a list of windows", 1), "times of each week in which less is allowed"),
        "yield_to": Key(
            Either(keys=YIELD, items=ListOf(YIELD, "a list of such", 1)),
            "clusters whose waiting jobs it makes room for",
        ),
        "sweep": Key(
            Either(scalar=YesNo(), keys=SWEEP), "every node is seen by one job with all its tests: yes, or a map"
        ),
        "pack": Key(Either(scalar=YesNo(), keys=PACK), "many runs share an allocation: yes, or a map"),
        "ladder": Key(
            Either(scalar=_PARAMETER, keys=LADDER),
            "only the sizes run that tell from which on its tests fail: the parameter that grows, or a map",
        ),
        "stop_after": Key(Whole(1), "a case that fails so often in a row is ordered no more; without it never"),
        "limits": Key(LIMITS, "limits of this component alone, beside the plan's"),
    }
