"""The event for a command that cannot be carried out."""

from __future__ import annotations

from shakedown.model.events import Event
from shakedown.model.ports import Command


def refusal(command: Command, why: str) -> Event:
    """The event for a command that cannot be carried out, with the reason."""
    return Event(
        "command_refused", value={"request": command.request, "what": command.what, "who": command.who}, reason=why
    )
