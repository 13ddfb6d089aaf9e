"""Fold one logged event into the state, in place, in constant time. Replay of a record needs nothing else of the engine.

``model.event_kinds`` is the table of contents: each kind of event names the function that folds it. A kind that names none does not
change the state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from shakedown.engine.fold import (
    again,
    amendments,
    builds,
    campaign,
    drills,
    findings,
    jobs,
    observing,
    overrides,
    queue_guard,
    verdicts,
)
from shakedown.engine.state.state import State
from shakedown.model.event_kinds import EVENT_KINDS, EventKind
from shakedown.model.events import EVENTS, Event, is_afterwards

Handler = Callable[[State, Event], None]


def evolve(state: State, event: Event) -> None:
    """Purpose: change ``state`` to what it is after ``event``. Raises ValueError where the number of the event is not the next one:
    the record is damaged.
    """
    if event.seq != state.seq + 1:
        raise ValueError(f"event {event.seq} follows event {state.seq}")
    state.seq, state.time = event.seq, event.time
    if not is_afterwards(event):
        state.campaign.last = event.time
    handler = HANDLERS.get(event.event)
    if handler is not None:
        handler(state, event)
    elif event.event not in EVENTS:
        state.campaign.unknown_events += 1


_FILES = (again, amendments, builds, campaign, drills, findings, jobs, observing, overrides, queue_guard, verdicts)


def handlers(kinds: Iterable[EventKind]) -> dict[str, Handler]:
    """Purpose: an event's name -> the function that its declaration names. Where the kind opens an epoch, that is done first.

    Errors: KeyError or AttributeError where there is no such file or function.
    """
    files = {module.__name__.rpartition(".")[2]: module for module in _FILES}
    found: dict[str, Handler] = {}
    for kind in kinds:
        if kind.fold:
            file, _, name = kind.fold.partition(".")
            found[kind.name] = getattr(files[file], name)
        if kind.opens_epoch:
            found[kind.name] = partial(_in_a_new_epoch, kind.opens_epoch, found.get(kind.name))
    return found


def _in_a_new_epoch(new: str, handler: Handler | None, state: State, event: Event) -> None:
    """Open an epoch, then fold the event. After a change of the machine, components that are over may have another outcome; a new
    plan judges all of them anew anyway.
    """
    if new == "machine":
        campaign.opens_epoch(state, event)
    else:
        state.epoch += 1
    if handler is not None:
        handler(state, event)


HANDLERS = handlers(EVENT_KINDS)
