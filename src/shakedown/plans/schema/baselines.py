"""Every key of a baseline, which criteria on a change compare with."""

from __future__ import annotations

from shakedown.model.units import Quantity, parse_duration, parse_quantity
from shakedown.plans.schema.records import Key, ListOf, MapOf, Record
from shakedown.plans.schema.scalars import Choice, Identifier, InvalidValue, Name, Parsed, Text, Whole


def _amount(text: str) -> Quantity:
    """A value with its unit; a plain number is in the figure's own unit."""
    try:
        quantity = parse_quantity(text)
    except ValueError:
        try:
            quantity = Quantity(parse_duration(text), "s")
        except ValueError:
            hint = "write a number with its unit, such as 100.2 GB/s or 90 s"
            raise InvalidValue(f"'{text}' is no value of a figure", hint) from None
    if not abs(quantity.value) < 1e30:
        raise InvalidValue(f"'{text}' is too large a number")
    return quantity


_VALUES = Record(
    "a map with test, and values or runs",
    {
        "test": Key(Name("a test's name"), "whose values they are", True),
        "component": Key(Name("a component's name"), "only of this component; without it of whichever runs the case"),
        "where": Key(
            MapOf(Identifier("a parameter"), Text("text", True), "parameters and their values", "PARAMETER"),
            "which of its cases: parameters, toolchain; without it all of them",
        ),
        "partition": Key(Text("a partition's name"), "only there; without it anywhere"),
        "mode": Key(Choice(("isolated", "fill")), "only in this mode; without it in any"),
        "figure": Key(Text("a figure's name"), "the figure that they are of; elapsed is always there"),
        "values": Key(
            ListOf(Parsed("a value, such as 100.2 GB/s", _amount), "a list of values", 1),
            "one of each run; a plain number is in the figure's unit",
        ),
        "runs": Key(Whole(1), "for failures since: how many runs there were"),
        "failed": Key(Whole(), "for failures since: how many of these did not pass; without it 0"),
    },
)

BASELINE = Record(
    "a map with campaign, or with values",
    {
        "campaign": Key(Name("a campaign's name"), "the campaign of this site whose runs it is; its values are frozen"),
        "epoch": Key(Whole(1), "only this epoch of the campaign; without it all of it"),
        "values": Key(ListOf(_VALUES, "a list of values", 1), "the values themselves, where no campaign has them"),
    },
)
