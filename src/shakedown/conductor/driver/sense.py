"""Events that can be read but make no sense: the first one that the engine or the rows cannot take, with its place.

This is slow, since every event is folded as ``resume`` and ``report`` do. It is used by ``verify``, and after other errors.
"""

from __future__ import annotations

from typing import Any

from shakedown.conductor.driver.startup import fold_one
from shakedown.conductor.record.documents import Documents
from shakedown.engine import State
from shakedown.events.reader import Reader, line_of
from shakedown.events.seal_check import Damage
from shakedown.metrics.rows.table import Record
from shakedown.model.errors import ShakedownError
from shakedown.model.events import Event
from shakedown.model.layout import Layout


def nonsense_of(layout: Layout, kinds: bool = True) -> Damage | None:
    """Purpose: the first event that says what cannot be, None where all of them make sense.

    ``kinds``: a fact of another kind than in every event is one, too. Without it only what cannot be folded or kept is.
    """
    state, record, documents = State(), Record(), Documents(layout)
    try:
        for event in Reader(layout.log).events():
            strange = (_of_another_kind(event) if kinds else "") or _too_large(event)
            if strange:
                return _damage_at(layout, event, strange)
            try:
                record.add(event)
                fold_one(state, event, documents)
            except ShakedownError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever a handler does not expect
                return _at(layout, event, error)
    except ShakedownError:
        return None  # that is said by whoever reads it
    return None


def _at(layout: Layout, event: Event, error: Exception) -> Damage:
    said = f"{error} is missing, or names nothing that there is" if isinstance(error, KeyError) else str(error)
    return _damage_at(layout, event, said)


def _damage_at(layout: Layout, event: Event, said: str) -> Damage:
    path, number = line_of(layout.log, event.seq)
    why = f"this '{event.event}' makes no sense: {said}"
    return Damage(f"log/{path.name}", why, int(path.stem), number, event=event.seq)


_WORDS = "component state source id message verdict kind document campaign plan name mode by who digest words request"
_NUMBERS = (
    "repeat attempt elapsed_s halted_s exit started ended began restart seed supersedes epoch not_before now at parts"
)
_LISTS = "checks problems failed_nodes components difference orders"
_TABLES = "output figures failure driver rehearsal rejudged targets counts terms altered"
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(_WORDS.split(), (str,)),
    **dict.fromkeys(_NUMBERS.split(), (int, float)),
    **dict.fromkeys(_LISTS.split(), (list,)),
    **dict.fromkeys(_TABLES.split(), (dict,)),
}


def _of_another_kind(event: Event) -> str:
    """A sentence on the first value whose type is not the one it has in every event; "" where there is none."""
    for name, value in event.value.items():
        kinds = _KINDS.get(name)
        if kinds is not None and value is not None and not isinstance(value, kinds):
            return f"'{name}' is {type(value).__name__}, not {kinds[-1].__name__}"
    return ""


def _too_large(event: Event) -> str:
    """A sentence on the first whole number of more than 64 bits, "" where there is none: no program of ours writes one, and a state
    that has one cannot be kept.
    """
    waiting: list[Any] = [event.value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)
        elif isinstance(found, int) and not -(2**63) <= found < 2**64:
            return (
                f"it has a number of {len(str(found))} digits"
                if found.bit_length() < 10_000
                else "it has an endless number"
            )
    return ""
