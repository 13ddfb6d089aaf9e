"""Events that can be read and make no sense: the first one that the engine or the rows cannot take, with its place.

It is asked once something else came out wrong, so it may take its time: every event is folded as ``resume`` and ``report`` do.
"""

from __future__ import annotations

from shakedown.conductor.documents import Documents
from shakedown.conductor.driving import fold_one
from shakedown.engine import State
from shakedown.events.reader import Reader, line_of
from shakedown.events.seal_check import Damage
from shakedown.metrics.table import Record
from shakedown.model.errors import ShakedownError
from shakedown.model.events import Event
from shakedown.model.layout import Layout


def nonsense_of(layout: Layout) -> Damage | None:
    """Purpose: the first event that says what cannot be, None where all of them make sense."""
    state, record, documents = State(), Record(), Documents(layout)
    try:
        for event in Reader(layout.log).events():
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
    said = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    path, number = line_of(layout.log, event.seq)
    why = f"this '{event.event}' makes no sense: {said}"
    return Damage(f"log/{path.name}", why, int(path.stem), number, event=event.seq)
