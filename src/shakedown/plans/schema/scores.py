"""Every key of a score, and of its parts."""

from __future__ import annotations

import math

from shakedown.model.laws import parse_law
from shakedown.model.scores import MEANS, TAKES, score_kinds
from shakedown.model.units import parse_duration, parse_known, parse_quantity
from shakedown.plans.schema.criteria import BOUND
from shakedown.plans.schema.records import Either, Key, MapOf, Record
from shakedown.plans.schema.scalars import Choice, Identifier, InvalidValue, Name, Parsed, Text, Whole

_MOST_FASTER = 100.0  # as a share: a hundred times


def _number(text: str) -> float:
    """A plain number above 0, or a product, as people write sizes: ``2880 * 32768 * 4``. Raises InvalidValue."""
    found = 1.0
    for factor in text.split("*"):
        quantity = parse_quantity(factor)
        if quantity.unit:
            raise InvalidValue(f"'{text}' is no plain number", "write it without a unit")
        found *= quantity.value
    if not 0 < found < 1e30:
        raise InvalidValue(f"'{text}' is no amount", "it is above 0")
    return found


def _seconds(text: str) -> float:
    """A run time in seconds; a plain number is in seconds too."""
    try:
        value = _number(text)
    except ValueError:
        value = parse_duration(text)
    if not 0 < value < math.inf:
        raise InvalidValue(f"'{text}' is no run time", "it is above 0, such as 92.43 s")
    return value


def _weight(text: str) -> float:
    value = parse_known(text, "share")
    if not 0 < value <= 1:
        raise InvalidValue(f"'{text}' is no weight", "write a share above 0% and up to 100%")
    return parse_quantity(text).value / 100


def _faster(text: str) -> float:
    value = parse_known(text, "share")
    if not 0 < value <= _MOST_FASTER:
        raise InvalidValue(f"'{text}' is not a share to be faster by", "it is above 0%, such as 10%")
    return value


def _law(text: str) -> str:
    parse_law(text)
    return " ".join(text.split())


NUMBER = Parsed("a number above 0", _number)
SECONDS = Parsed("a run time, such as 92.43 s", _seconds)
_FIGURE = Name("a figure's name", r"[A-Za-z0-9_].*", "it begins with a letter or a digit")
_TIME = Either(scalar=SECONDS, keys=MapOf(_FIGURE, SECONDS, "run times by figure", "FIGURE"))

_LOAD = {
    "size": Key(NUMBER, "the complexity measure of the problem, n in a law; products may be written: 2880 * 32768"),
    "nodes": Key(NUMBER, "how many nodes it takes; without it those of the case"),
    "tasks": Key(NUMBER, "how many ranks; without it those of the case"),
    "threads": Key(NUMBER, "threads of a rank; without it the cores of a rank of the case"),
}

_PART = Record(
    "a map that describes a part of a score",
    {
        "test": Key(Name("a test's name"), "whose runs count; needed unless the plan gives the time"),
        "component": Key(Name("a component's name"), "the component whose runs count, where several run the case"),
        "where": Key(
            MapOf(Identifier("a parameter"), Text("text", True), "parameters and their values", "PARAMETER"),
            "which case of the test, where it has several",
        ),
        "mode": Key(Choice(("isolated", "fill")), "whose runs count, where the component has both modes"),
        "figure": Key(
            Either(
                scalar=_FIGURE,
                keys=MapOf(_FIGURE, Parsed("a weight such as 66%", _weight), "weights by figure", "FIGURE"),
            ),
            "what is measured: a figure, or several with weights that make 100% together; without it elapsed",
        ),
        "time": Key(SECONDS, "the run time that the plan gives, where nothing is measured; the report says so"),
        "proposed": Key(
            Text("an amount"),
            "what the vendor proposed for its value, such as 7.7 s; shown beside it, and decides nothing",
        ),
        "must": Key(BOUND, "what this part must be alone, such as '>= 4'"),
        "tflop": Key(NUMBER, "ssp: the reference count of floating point operations, in 10^12"),
        **_LOAD,
        "baseline": Key(
            Record(
                "a map with time and what it was measured on",
                {
                    **_LOAD,
                    "time": Key(_TIME, "the run time of before; of several figures each, or their weighted sum", True),
                },
            ),
            "ci: what the application is compared with",
        ),
        "law": Key(
            Parsed("a law of complexity, such as n^3", _law),
            "ci: how the work grows: a product of n (the size), nodes, tasks, threads, with powers; without it the work is equal",
        ),
        "unit": Key(Text("a unit"), "geometric: the unit that the figure is taken in; without it its own"),
        "reference": Key(
            Text("an amount"), "geometric: what a value is divided by; what divides it where lower is better"
        ),
        "group": Key(Text("a group's name"), "geometric: the group whose mean it is in"),
    },
)

SCORE = Record(
    "a map with kind and parts",
    {
        "kind": Key(Choice(tuple(score_kinds())), "what it is: " + ", ".join(score_kinds()), True),
        "about": Key(Text(), "a sentence for people"),
        "parts": Key(
            MapOf(Name("a part's name"), _PART, "a map of parts", "PART"), "its applications, or its figures", True
        ),
        "must": Key(BOUND, "what the score must be, such as '>= 489'; without it it is shown and decides nothing"),
        "each": Key(BOUND, "ci, geometric: what each part must be alone, unless it says another bound itself"),
        "nodes": Key(
            Either(
                scalar=Whole(1),
                keys=MapOf(Name("a partition's name"), Whole(1), "numbers of nodes by partition", "PARTITION"),
            ),
            "ssp: the nodes of the system, or of each partition of unlike nodes; without it those of the partition of its cases",
        ),
        "mean": Key(Choice(MEANS), "ci: the mean that the bound is on; all three are shown; without it arithmetic"),
        "take": Key(
            Choice(TAKES),
            "whose value counts: of the run of record, or the median or mean of all that count; without it record",
        ),
        "faster": Key(
            Parsed("a share such as 10%", _faster),
            "what the score would be if a part ran so much faster; without it 10%",
        ),
        "clause": Key(Text(), "the clause that asks for it"),
    },
)
