"""Whether a conductor may go on with a record: not where it has events that this version cannot obey, nor where it is over and
sealed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from shakedown.engine import State
from shakedown.events.reader import read_events
from shakedown.model.errors import RecordError
from shakedown.model.events import EVENTS, Event
from shakedown.model.layout import Layout

CLOSED = "it is over and sealed, and nothing of it runs again"
WAY_OUT = (
    "run the plan as a new campaign: shakedown run PLAN; or amend the plan, which opens this one again: shakedown amend"
)


def is_closed(layout: Layout) -> bool:
    """Purpose: whether the campaign is over, and was sealed after its end."""
    return closed_by(read_events(layout.log))


def closed_by(events: Iterable[Event]) -> bool:
    """Purpose: whether a log, from its first event on, is that of a campaign which is over and was sealed after its end.

    Running a component again opens a campaign that is over, but not one that is sealed.
    """
    over = sealed = False
    for event in events:
        if event.event == "campaign_end":
            over = True
        elif event.event in ("submit_order", "amended") or (event.event == "again" and not sealed):
            over = sealed = False
        elif event.event == "sealed":
            sealed = over
    return over and sealed


def refuse_unknown(layout: Layout, state: State) -> None:
    """Raises RecordError where the log has events that this version does not know: one of them may forbid what would come next."""
    if not state.campaign.unknown_events:
        return
    names = unknown_names(layout)
    raise RecordError(
        f"the record of {layout.root.name} has events that this version does not know ({', '.join(names)}); "
        "one of them may be an order that it would break",
        hint="go on with the Shakedown that wrote them, or a newer one; 'status', 'runs' and 'report' read what they can",
    )


def unknown_names(layout: Layout) -> list[str]:
    """Purpose: the names of events that this version does not know, each with how often it occurs."""
    counts = Counter(event.event for event in read_events(layout.log) if event.event not in EVENTS)
    return [f"{name}: {count}" for name, count in counts.items()]
