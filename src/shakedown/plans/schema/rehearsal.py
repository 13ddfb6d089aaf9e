"""Every key of a rehearsal's file, and of ``twin`` in a system's file, which has the same keys."""

from __future__ import annotations

from typing import Any

from yaml.nodes import Node

from shakedown.model.units import parse_duration, parse_known, parse_quantity
from shakedown.plans.schema import week
from shakedown.plans.schema.amounts import known_amount
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.records import Either, Key, ListOf, MapOf, Record
from shakedown.plans.schema.scalars import Choice, Duration, InvalidValue, Kind, Name, Parsed, Text, Whole, YesNo
from shakedown.plans.schema.scheduling import ZONE
from shakedown.plans.schema.test import BUDGET_NAME

_LONGEST_S = 1e9
_DURATION = Duration()
_NAME = Name("a name")
_CASE = Name("a test's or a case's name", r"[A-Za-z0-9][^\x00-\x20]*", "a test, or a case as 'shakedown list' shows it")
_NODE = Name("a node's name", r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def _span(text: str) -> float:
    """A duration in seconds, which may be zero. Raises InvalidValue."""
    value = parse_duration(text)
    if not 0 <= value < _LONGEST_S:
        raise InvalidValue(f"'{text}' is too long a time", "write a duration such as 90s, 2h or 1h30m")
    return value


def _share(text: str) -> float:
    value = parse_known(text, "share")
    if not 0 <= value <= 1:
        raise InvalidValue(f"'{text}' is not a share", "it lies between 0% and 100%")
    return value


def _number(text: str) -> float:
    """A plain number, not below 0."""
    quantity = parse_quantity(text)
    if quantity.unit or not 0 <= quantity.value < 1e12:
        raise InvalidValue(f"'{text}' is no plain number above zero", "write it as 1.5, without a unit")
    return quantity.value


def _factor(text: str) -> float:
    value = _number(text)
    if not 1 <= value <= 1000:
        raise InvalidValue(f"'{text}' is no factor on a time", "it lies between 1 and 1000: 1.3 is 30 % slower")
    return value


def _plain(text: str) -> float:
    """A plain number."""
    quantity = parse_quantity(text)
    if quantity.unit or not -1e18 < quantity.value < 1e18:
        raise InvalidValue(f"'{text}' is no plain number", "write it as 1.5, without a unit: it is in the figure's own")
    return quantity.value


_PLAIN = Parsed("a plain number", _plain)
_SPAN = Parsed("a duration such as 90s, 2h or 0s", _span)
_SHARE = Parsed("a share such as 5%", _share)
_NUMBER = Parsed("a plain number", _number)
_FACTOR = Parsed("a factor such as 1.3", _factor)
_AMOUNT = Parsed("an amount, such as 40 GB/s or 8", known_amount)
_SHARES = MapOf(_NAME, _SHARE, "shares by test", "TEST")

_TIME = Either(
    scalar=_DURATION,
    keys=Record(
        "a map with mean",
        {
            "mean": Key(_DURATION, "the mean of its run times on a healthy machine", True),
            "spread": Key(_SPAN, "their standard deviation; without it 0s"),
            "tail": Key(_SHARE, "the share of its runs that take much longer, drawn apart; without it none"),
            "tail_factor": Key(_FACTOR, "how many times as long those take; without it 2"),
            "source": Key(Text(), "where the numbers are from; without it the file"),
        },
    ),
)

_TIMES = Record(
    "a map with tests",
    {
        "tests": Key(
            MapOf(_CASE, _TIME, "run times by test or case", "TEST"), "how long runs of a test, or case, take"
        ),
        "from": Key(
            _NAME, "a past campaign: run times, builds and figures that are not written are as they were there"
        ),
        "assumed": Key(_SHARE, "the share of its walltime that a run takes of which nothing is known; without it 50%"),
    },
)

_FIGURE = Record(
    "a map with mean",
    {
        "mean": Key(_PLAIN, "its mean on a healthy machine, in the figure's own unit", True),
        "spread": Key(_NUMBER, "its standard deviation; without it 0"),
        "source": Key(Text(), "where the numbers are from; without it the file"),
    },
)

_BUILDS = Record(
    "a map that describes builds",
    {
        "slots": Key(
            Whole(1, most=100_000), "how many builds the login nodes carry out at once; without it any number"
        ),
        "time": Key(_DURATION, "the mean time of a build; without it 30s"),
        "spread": Key(_SPAN, "its standard deviation; without it 0s"),
        "failing": Key(_SHARE, "the share of the builds that fail; without it none"),
        "times": Key(
            MapOf(_NAME, _DURATION, "times by build or test", "NAME"), "the mean time of a build, or of a test's"
        ),
        "broken": Key(ListOf(_NAME, "a list of names"), "builds, tests and toolchains of which nothing builds"),
    },
)

_DEATH = Record(
    "a map with node and after",
    {
        "node": Key(_NODE, "the node", True),
        "after": Key(_SPAN, "when it fails, after the begin", True),
        "repair": Key(_DURATION, "how long it is down; without it as nodes.repair"),
    },
)

_NODES = Record(
    "a map that describes how nodes fail",
    {
        "mtbf": Key(_DURATION, "mean time between failures of one node; without it none fails"),
        "repair": Key(_SPAN, "how long a node that failed is down; without it 4h"),
        "slow": Key(MapOf(_NODE, _FACTOR, "factors by node", "NODE"), "how many times as long runs on a node take"),
        "slow_share": Key(_SHARE, "the share of the nodes that are slow, drawn; without it none"),
        "slow_factor": Key(_FACTOR, "how many times as long runs on those take; without it 1"),
        "bad": Key(MapOf(_NODE, _SHARE, "shares by node", "NODE"), "how likely a run on a node comes to a bad end"),
        "bad_as": Key(Choice(("failed", "node_fail")), "what that end is; without it failed"),
        "deaths": Key(ListOf(_DEATH, "a list of such"), "failures of certain nodes at certain times"),
    },
)

_HANG = Record(
    "a map with after and lasts",
    {
        "target": Key(_NAME, "the target that answers nobody; without it all of them"),
        "after": Key(_SPAN, "from when, after the begin", True),
        "lasts": Key(_DURATION, "for how long", True),
    },
)

_METADATA = Record(
    "a map that describes metadata targets",
    {
        "sigma": Key(_NUMBER, "contention among those that load a target; without it 0.05 (assumed)"),
        "kappa": Key(_NUMBER, "cost of keeping each two of them coherent; without it 0.01 (assumed)"),
        "healthy": Key(_NUMBER, "the load of a target up to which the written run times hold; without it 8 (assumed)"),
        "share": Key(_SHARE, "the share of a run's time that it spends on metadata; without it 10% (assumed)"),
        "shares": Key(_SHARES, "the same by test"),
        "hangs_past": Key(_NUMBER, "a run that begins while more load its target hangs; without it none does"),
        "every_run": Key(_NUMBER, "what a run loads that the plan gives no load; without it nothing"),
        "target": Key(_NAME, "where runs work that no budget places; without it the first target"),
        "hangs": Key(ListOf(_HANG, "a list of such"), "times at which a target answers nobody"),
    },
)

_BANDWIDTH = Record(
    "a map with capacity",
    {
        "capacity": Key(_AMOUNT, "what can be moved at most", True),
        "share": Key(_SHARE, "the share of a run's time that it moves data; without it 10% (assumed)"),
        "shares": Key(_SHARES, "the same by test"),
    },
)

_STORAGE = Record(
    "a map with metadata and bandwidth",
    {
        "metadata": Key(MapOf(BUDGET_NAME, _METADATA, "metadata targets by budget", "BUDGET"), "metadata targets"),
        "bandwidth": Key(
            MapOf(BUDGET_NAME, _BANDWIDTH, "bandwidths by budget", "BUDGET"), "bandwidths that are shared"
        ),
    },
)

_WEEK_TIME = Parsed("a time of the week, such as 'Mon 06:00' or 06:00", week.time_of_week)
_DAYS = Parsed("days, such as Mon-Fri or daily", week.days)

_OTHER = Record(
    "a map with cluster",
    {
        "cluster": Key(_NAME, "whose users they are", True),
        "from": Key(_WEEK_TIME, "from when: a time of the day, or of the week; without it always"),
        "to": Key(_WEEK_TIME, "to when; a time of the next day, or week, where it is not later"),
        "days": Key(Either(scalar=_DAYS, items=ListOf(_DAYS, "a list of days", 1)), "on which days; without it daily"),
        "zone": Key(ZONE, "the time zone of its times; without it the rehearsal's"),
        "loads": Key(
            MapOf(BUDGET_NAME, _AMOUNT, "amounts by budget", "BUDGET"), "what they load then, of targets on each"
        ),
        "pending": Key(Whole(most=10_000_000), "how many of their jobs wait then; without it none"),
    },
)

_MAINTENANCE = Record(
    "a map with after and lasts",
    {
        "after": Key(_SPAN, "when it begins, after the begin of the rehearsal", True),
        "lasts": Key(_DURATION, "how long it is", True),
        "nodes": Key(Text("a node set, such as n[001-128]"), "of which nodes; without it all"),
        "announced": Key(
            _SPAN, "from so long before it no job starts that could run into it; without it from the first moment"
        ),
        "running": Key(
            Choice(("killed", "left")), "what becomes of a job that runs then all the same; without it killed"
        ),
    },
)

_HOLE = Record(
    "a map with tests and after",
    {
        "tests": Key(ListOf(_NAME, "a list of tests", 1), "whose submissions go nowhere", True),
        "after": Key(_SPAN, "from when, after the begin", True),
        "lasts": Key(_DURATION, "how long until a person notices; without it as harness.notice"),
    },
)

_HARNESS = Record(
    "a map that describes a harness in front of the scheduler",
    {
        "build_first": Key(YesNo(), "every job waits for a build of its own; without it no"),
        "forgets": Key(_SHARE, "the share of the submissions that go nowhere until a person notices; without it none"),
        "notice": Key(_DURATION, "how long it takes until a person notices; without it 72h"),
        "holes": Key(ListOf(_HOLE, "a list of such"), "times at which a test's submissions go nowhere"),
        "in_job": Key(
            MapOf(_NAME, _DURATION, "times by test", "TEST"),
            "tests whose jobs build the next before they end, until when",
        ),
    },
)

_QUEUE = Record(
    "a map that describes the scheduler",
    {
        "cycle": Key(_SPAN, "between two looks for jobs that may pass a larger one; without it at once"),
        "depth": Key(
            Whole(1, most=10_000_000),
            "how many jobs a look takes in, from the first that does not start; without it all",
        ),
        "backfill": Key(YesNo(), "whether a job may pass a larger one that it does not hold up; without it yes"),
        "size": Key(_NUMBER, "weight of a job's share of the nodes in whose turn it is; without it 0"),
        "age": Key(_NUMBER, "weight of how long it waits, at most 7 d; without it 0"),
    },
)

_FAULTS = Record(
    "a map of shares",
    {
        "failed": Key(_SHARE, "runs that fail before their time"),
        "incorrect": Key(_SHARE, "runs that end well with wrong answers"),
        "timeout": Key(_SHARE, "runs that hang until their walltime"),
        "node_fail": Key(_SHARE, "runs that lose a node"),
        "requeued": Key(_SHARE, "runs that the scheduler puts back into the queue"),
    },
)

_MACHINE = {
    "begins": Key(_WEEK_TIME, "the time of the week at which the rehearsal begins, such as 'Mon 08:00'"),
    "zone": Key(ZONE, "the time zone of its times of the week; without it UTC"),
    "times": Key(_TIMES, "how long runs take; without it as contracts say, or a share of their walltime"),
    "figures": Key(
        MapOf(
            _CASE,
            MapOf(Name("a figure's name", r"[^\x00-\x20]+"), _FIGURE, "figures by name", "FIGURE"),
            "figures by test or case",
            "TEST",
        ),
        "what runs measure on a healthy machine; figures that are not here are not modelled",
    ),
    "builds": Key(_BUILDS, "how long builds take, and how many go on at once"),
    "nodes": Key(_NODES, "how nodes fail, and which are slow"),
    "storage": Key(_STORAGE, "how the shared file system slows down"),
    "others": Key(ListOf(_OTHER, "a list of such"), "what other people do, by the hour of the week"),
    "maintenance": Key(ListOf(_MAINTENANCE, "a list of such"), "times at which nobody gets nodes"),
    "harness": Key(_HARNESS, "a harness between the plan and the scheduler, as in paper 004"),
    "scheduler": Key(_QUEUE, "how the scheduler chooses"),
    "faults": Key(_FAULTS, "shares of the runs that end badly, whatever else happens"),
}

REHEARSAL = Record(
    "a map of keys",
    {
        "rehearsal": Key(_NAME, "what the rehearsal is called; 'shakedown rehearse' names it", True),
        "about": Key(Text(), "a sentence for people"),
        "extends": Key(_NAME, "another rehearsal that this one changes: maps merge, all else replaces"),
        **_MACHINE,
    },
)


class _AsInRehearsals:
    """The keys of a rehearsal inside another file; they are described with rehearsals."""

    words = "a map of keys as in a rehearsal's file"

    def __init__(self) -> None:
        self.kind: Kind = Record(self.words, _MACHINE)

    def read(self, node: Node, label: str, problems: Problems) -> Any:
        return self.kind.read(node, label, problems)

    def schema(self) -> dict[str, Any]:
        return self.kind.schema()


TWIN = Key(
    _AsInRehearsals(), "how rehearsals simulate the system: the keys of a rehearsal's file, which go before these"
)
