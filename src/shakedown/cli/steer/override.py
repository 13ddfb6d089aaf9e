"""What the commands for standing orders share: find the campaign, check the order, record it, say what happens."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from shakedown.cli.output import emit, printable
from shakedown.engine.state.phases import CampaignPhase
from shakedown.model.errors import UsageError


def give(
    site: str | None,
    campaign: str | None,
    what: str,
    values: Sequence[dict[str, Any]],
    who: str,
    because: str,
    as_json: bool,
    words: str,
) -> int:
    """Purpose: give orders, each a value of the command ``what``; ``words`` say what is so now. Errors: UsageError."""
    from shakedown.cli.record import folds_of
    from shakedown.cli.steer.requests import find_started
    from shakedown.conductor.commands.asking import record_wishes
    from shakedown.conductor.commands.overrides import after_orders, check_all, refuse_closed, standing_orders
    from shakedown.events.inbox import FileInbox
    from shakedown.events.reader import read_events
    from shakedown.queries.status import look

    layout, state = find_started(site, campaign, what, who)
    refuse_closed(what, read_events(layout.log))
    if waiting := standing_orders(FileInbox(layout).poll()):
        state = after_orders(
            look(layout, folds_of(layout.root)), waiting
        )  # read after the inbox: what left it is in the log
    ended = state.phase == CampaignPhase.ENDED
    check_all(state, max(state.time, time.time()), what, values, because)
    said = [{name: found for name, found in value.items() if found is not None} | {"by": who} for value in values]
    data = record_wishes(layout, what, said, because)
    lines = [f"{words}; {data['said']}"]
    if data["recorded"] and not ended:
        lines.append(f"hint: nobody drives {layout.root.name}; go on with: shakedown resume {layout.root.name}")
    emit(data | {"orders": said}, as_json, lambda: printable("\n".join(lines)))
    return 0


def read_moment(option: str, text: str | None) -> float | None:
    """Purpose: seconds since 1970 of an ISO time with its zone. Errors: UsageError, also where it says no zone."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageError(
            f"{option} '{text}' is no time", hint="such as 2026-11-22T06:00Z or 2026-11-22T06:00+01:00"
        ) from error
    if moment.tzinfo is None:
        hint = f"'{text.strip()}Z' is in UTC, '{text.strip()}+01:00' is an hour ahead of it"
        raise UsageError(f"{option} '{text}' does not say in which zone", hint=hint)
    return moment.timestamp()


def expanded(text: str) -> list[str]:
    """Purpose: the names of a node set as people write it: n[1-4,7]. Errors: UsageError."""
    from shakedown.machine.slurm_words import expand

    nodes = expand(text)
    if not nodes:
        raise UsageError(f"'{text[:100]}' is no set of nodes", hint="such as n7 or n[1-4,9]")
    return nodes


def in_parts(nodes: list[str]) -> list[dict[str, Any]]:
    """Purpose: as many commands as it takes to name all of these nodes."""
    from shakedown.conductor.commands.overrides import MOST_NODES

    return [{"nodes": nodes[first : first + MOST_NODES]} for first in range(0, len(nodes), MOST_NODES)]
