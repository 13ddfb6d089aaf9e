"""The order of a stream of runs, and places in it: a page begins behind a row, so that rows that arrive meanwhile move nothing.

``order_of`` and ``beyond`` are the main functions. The order is the same in every database: by the sorted column, runs without a
value last, then by campaign and run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Double, Integer, and_, or_, select

from shakedown.store.tables import NAMED, campaigns, names, runs

_MAY_BE_MISSING = frozenset(column.name for column in runs.c if column.nullable)
_LARGEST = 2**31 - 1  # that every database takes for a whole number
_LONGEST = 20_000  # letters of a value
Value = float | int | str | None


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a stream: behind the row of this run, or ``before`` it. ``value``: what its sorted column had; it may have changed
    since.
    """

    value: Value
    campaign: str
    run: str
    before: bool = False


def order_of(sort: str, rising: bool, backwards: bool = False) -> tuple[Any, ...]:
    """Purpose: the ORDER BY terms; ``backwards`` for the same stream from its end."""
    missing = [(runs.c[sort].is_(None), True)] if sort in _MAY_BE_MISSING else []
    terms = [*missing, (_column(sort), rising), (runs.c.campaign, True), (runs.c.run, True)]
    return tuple(term.asc() if up != backwards else term.desc() for term, up in terms)


def beyond(place: Place, sort: str, rising: bool, campaign: int) -> Any:
    """Purpose: the condition for runs behind a place, or before it. ``campaign``: the id of the place's campaign."""
    column, backwards = _column(sort), place.before
    among_same = (
        or_(runs.c.campaign < campaign, and_(runs.c.campaign == campaign, runs.c.run < place.run))
        if backwards
        else or_(runs.c.campaign > campaign, and_(runs.c.campaign == campaign, runs.c.run > place.run))
    )
    missing = runs.c[sort].is_(None)
    if place.value is None:
        return or_(~missing, and_(missing, among_same)) if backwards else and_(missing, among_same)
    up = rising != backwards
    further = column > place.value if up else column < place.value
    # Said twice: by the first of them a database begins at the place in its index.
    reached = column >= place.value if up else column <= place.value
    found = and_(reached, or_(further, among_same))
    return found if backwards or sort not in _MAY_BE_MISSING else or_(found, missing)


def fits(sort: str, place: Place) -> bool:
    """Purpose: whether a column can have the value of a place, and no text is too long or odd to be asked for."""
    value, kind = place.value, runs.c[sort].type
    if any(len(text) > _LONGEST or "\0" in text for text in (place.campaign, place.run)):
        return False
    if value is None:
        return sort in _MAY_BE_MISSING
    if sort in (*NAMED, "campaign") or not isinstance(kind, Double | Integer):
        return isinstance(value, str) and len(value) <= _LONGEST and "\0" not in value
    if isinstance(value, str) or not math.isfinite(value):
        return False
    return isinstance(kind, Double) or (isinstance(value, int) and abs(value) <= _LARGEST)


def _column(sort: str) -> Any:
    """What is sorted by; a column of names is sorted by the text of the names."""
    column: Any = runs.c[sort]
    if sort in NAMED:
        return select(names.c.text).where(names.c.id == column).scalar_subquery()
    if sort == "campaign":
        return select(campaigns.c.name).where(campaigns.c.id == column).scalar_subquery()
    return column
