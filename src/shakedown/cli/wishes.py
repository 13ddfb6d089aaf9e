"""Wishes to a driver: a file in the inbox, and a sentence on when it is carried out."""

from __future__ import annotations

from typing import Any

from shakedown.model.layout import Layout


def leave_wish(layout: Layout, what: str, value: dict[str, Any], reason: str) -> dict[str, Any]:
    """Purpose: post a command; says whether a driver is there to carry it out."""
    from shakedown.events.inbox import post
    from shakedown.events.lease import holder

    request = post(layout, what, value, reason)
    held = holder(layout)
    if held is not None and not held.gone:
        said = f"request {request} is left for the conductor: {held}"
    else:
        said = f"request {request} waits: nobody drives {layout.root.name}; it is carried out by: shakedown resume"
    return {"request": request, "campaign": layout.root.name, "said": said}
