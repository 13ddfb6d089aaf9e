"""Commands from people as requests in the campaign's inbox: the only way in, for the command line and for the live page."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from shakedown.conductor.commands.offline import carry_out
from shakedown.conductor.driver.conductor import Commands
from shakedown.events.inbox import post
from shakedown.model.errors import LeaseHeld, UsageError
from shakedown.model.layout import Layout


def record_wishes(
    layout: Layout, what: str, values: Sequence[dict[str, Any]], reason: str, more: Commands | None = None
) -> dict[str, Any]:
    """Purpose: post commands that need no scheduler, and carry them out if nobody drives the campaign. Returns what was recorded.
    Errors: UsageError with the reason where one was refused.
    """
    if len(values) > 1:  # one command of a person is one act, however many events it takes
        token = secrets.token_hex(8)
        values = [{**value, "together": token} for value in values]
    requests = [post(layout, what, value, reason) for value in values]
    data: dict[str, Any] = {"requests": requests, "campaign": layout.root.name}
    try:
        events = carry_out(layout, more)
    except LeaseHeld as held:
        return data | {"recorded": [], "said": f"left for the conductor of {layout.root.name}: {held.message}"}
    mine = {event.value.get("request"): event for event in events}
    if not mine.keys() & set(requests):
        return data | {"recorded": [], "said": f"taken by a conductor of {layout.root.name}; see: shakedown log"}
    refused = [mine[request] for request in requests if request in mine and mine[request].event == "command_refused"]
    if refused:
        raise UsageError(refused[0].reason)
    recorded = [mine[request].seq for request in requests if request in mine]
    places = ", ".join(map(str, recorded))
    return data | {"recorded": recorded, "said": f"recorded in {layout.root.name}: event {places}"}
