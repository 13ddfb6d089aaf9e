"""When each component was in a window of its plan, in which limits were lower or nothing new was ordered.

No event records this: it follows from the plan and the time, so callers compute it here.
"""

from __future__ import annotations

from msgspec import Struct

from shakedown.metrics.rows.rows import NoteRow
from shakedown.metrics.rows.table import Record
from shakedown.model.errors import UsageError
from shakedown.model.filling import Window
from shakedown.model.nouns import Document
from shakedown.model.units import show_duration
from shakedown.model.windows import open_in


class WindowSpell(Struct, frozen=True):
    """A period in which a component was in a window of the plan in force."""

    component: str
    window: Window
    begin: float
    end: float

    @property
    def what(self) -> str:
        """What the window restricted, in words."""
        less = "nothing new is ordered" if self.window.closed else "less is allowed"
        return f"{less} in the window {self.window.text} {self.window.zone}, for {show_duration(self.end - self.begin)}"

    def as_order(self) -> NoteRow:
        """The period as a row among the standing orders. No event belongs to it: ``seq`` is 0."""
        value = {"component": self.component, "by": "the plan", "until": self.end, "closed": self.window.closed}
        kind = "closed window" if self.window.closed else "window"
        return NoteRow(kind, self.begin, self.what, value | {"window": self.window.text}, 0)


def window_spells(document: Document, record: Record) -> tuple[WindowSpell, ...]:
    """Purpose: all window periods between the campaign's begin and the component's end, by time.

    A window in a time zone that this machine does not know gives none; the chart of the clock mentions it.
    """
    if record.started is None:
        return ()
    ends: dict[str, float] = {}
    for row in record.current():
        ends[row.component] = max(row.time, ends.get(row.component, row.time))
    found: list[WindowSpell] = []
    for component in document.components:
        end = ends.get(component.name, record.last) if record.ended is not None else record.last
        for window in component.windows:
            try:
                spans = open_in(window, record.started, end)
            except UsageError:
                continue
            found += [WindowSpell(component.name, window, *span) for span in spans]
    return tuple(sorted(found, key=lambda spell: (spell.begin, spell.component, spell.window.text)))
