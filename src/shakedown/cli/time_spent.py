"""What ``shakedown nodes --time`` shows: where the node-hours of a campaign went, and how available the machine was."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from shakedown.cli.output import emit, printable, table

if TYPE_CHECKING:
    from shakedown.metrics.availability import Availability
    from shakedown.metrics.time_spent import TimeSpent
    from shakedown.report.reading import CampaignRead

_WIDTH = 80


def show_time_spent(read: CampaignRead, everything: bool, as_json: bool) -> None:
    """Purpose: print it. Errors: UsageError where the campaign has not begun."""
    from shakedown.metrics.availability import availability
    from shakedown.metrics.time_spent import causes_in_words
    from shakedown.model.errors import UsageError
    from shakedown.report.time_spent import spent_time

    spent = spent_time(read.layout, read.document, read.record)
    if spent is None:
        raise UsageError("no time has passed in this campaign yet", hint="shakedown status says what it waits for")
    found = availability(read.record, spent)
    says = [f"{limit.share:6.1%}  {limit.says}" for limit in causes_in_words(read.document, spent)]
    emit(_data(spent, found), as_json, lambda: printable("\n".join(_lines(spent, found, says, everything))))


def _data(spent: TimeSpent, found: Availability | None) -> dict[str, Any]:
    from shakedown.metrics.availability import FORMULAS
    from shakedown.metrics.time_spent import GROUPS, HOUR_US

    hours = {"node_hours": spent.node_hours, "node_microseconds": spent.node_us}
    groups = [
        {"group": name, "node_microseconds": amount, "node_hours": amount / HOUR_US, "share": spent.share(amount)}
        | {"about": GROUPS[name]}
        for name, amount in spent.groups().items()
    ]
    causes = [
        {"group": part.group, "component": part.component, "cause": part.cause, "node_microseconds": part.node_us}
        | {"node_hours": part.node_hours, "share": spent.share(part.node_us)}
        for part in spent.parts
    ]
    idle = [
        {"partitions": one.ground, "begin": one.begin, "end": one.end, "nodes": one.nodes, "jobs": one.jobs}
        | {"node_hours": one.node_us / HOUR_US}
        for one in spent.pending
    ]
    data: dict[str, Any] = {"begin": spent.begin, "end": spent.end, "nodes": spent.nodes, **hours}
    data |= {"groups": groups, "causes": causes, "idle_while_pending": idle, "nodes_out": spent.outs}
    data |= {"untimed_runs": spent.untimed, "trouble": spent.trouble}
    if found is not None:
        numbers = found.numbers()
        data["availability"] = [
            {"name": name, "value": value, "unit": unit, "arithmetic": how, "formula": FORMULAS[name]}
            for name, value, unit, how in numbers
        ]
        data |= {"outages": found.outages, "node_availability": found.node_list}
    return data


def _lines(spent: TimeSpent, found: Availability | None, says: list[str], everything: bool) -> Iterator[str]:
    from shakedown.metrics.time_spent import HOUR_US
    from shakedown.metrics.words import plural, show_number, show_share
    from shakedown.model.units import show_duration
    from shakedown.report.words import show_time

    lasted = show_duration(spent.end - spent.begin)
    nodes, begin = plural(spent.nodes, "node"), show_time(spent.begin)
    yield f"{show_number(spent.node_hours)} node-hours: {nodes} for {lasted} from {begin} UTC"
    yield ""
    rows = [
        (name, show_number(amount / HOUR_US), show_share(spent.share(amount)))
        for name, amount in spent.groups().items()
    ]
    yield table(("what it went to", "node-hours", "share"), rows, right=(1, 2))
    if everything:
        causes = [
            (part.cause, part.component, show_number(part.node_hours), show_share(spent.share(part.node_us)))
            for part in spent.parts
        ]
        yield "\n" + table(("cause", "component", "node-hours", "share"), causes, right=(2, 3))
    elif says:
        yield "\nwhat kept the most of them:"
        yield from (textwrap.fill(line, _WIDTH, subsequent_indent=" " * 8, break_on_hyphens=False) for line in says)
    if spent.trouble:
        yield f"\nthe causes are not known: {spent.trouble}"
    if spent.untimed:
        yield f"\n{plural(spent.untimed, 'run')} in none of these: it is not known when they ran"
    amount = spent.idle_while_pending_us
    yield (
        f"\nidle while jobs that fitted waited at the scheduler: {show_number(amount / HOUR_US)} node-hours"
        f" ({show_share(spent.share(amount))}) in {plural(len(spent.pending), 'stretch', 'stretches')}"
    )
    if found is not None:
        numbers = [
            (name, show_share(value) if unit == "share" else show_duration(value), how)
            for name, value, unit, how in found.numbers()
            if value is not None
        ]
        yield "\n" + table(("availability", "", "how"), numbers, right=(1,))
