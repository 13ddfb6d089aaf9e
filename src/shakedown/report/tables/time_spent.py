"""The CSV files of where the time went: by cause and over time, nodes idle while jobs waited, availability, outages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shakedown.metrics.availability import FORMULAS, Availability
from shakedown.metrics.time_spent import HOUR_US, TimeSpent
from shakedown.report.tables.csv_files import Cell, to_csv

Rows = Iterable[Sequence[Cell]]
_SPENT = ("group", "component", "cause", "node_microseconds", "node_hours", "share")
_OVER_TIME = ("begin", "end", "group", "node_microseconds", "node_hours")
_PENDING = ("partitions", "begin", "end", "nodes", "node_hours", "jobs")
_AVAILABILITY = ("name", "value", "unit", "arithmetic", "formula")
_OUTAGES = ("begin", "end", "end_known", "scheduled", "cause", "by", "because")
_NODES_OUT = ("cluster", "node", "begin", "end", "end_known", "kind", "failed", "because")
_OF_NODES = ("cluster", "node", "failures", "down_hours", "of_hours", "availability", "repairs_hours")


def time_tables(spent: TimeSpent | None, availability: Availability | None) -> dict[str, bytes]:
    """Purpose: the tables by their file names; without rows where the campaign has not begun."""
    return {
        "time-spent.csv": to_csv(_SPENT, _spent(spent) if spent else ()),
        "time-spent-over-time.csv": to_csv(_OVER_TIME, _over_time(spent) if spent else ()),
        "idle-while-pending.csv": to_csv(_PENDING, _pending(spent) if spent else ()),
        "availability.csv": to_csv(_AVAILABILITY, _availability(availability) if availability else ()),
        "outages.csv": to_csv(_OUTAGES, _outages(availability) if availability else ()),
        "nodes-out.csv": to_csv(_NODES_OUT, _nodes_out(spent) if spent else ()),
        "node-availability.csv": to_csv(_OF_NODES, _of_nodes(availability) if availability else ()),
    }


def _spent(spent: TimeSpent) -> Rows:
    for part in spent.parts:
        yield part.group, part.component, part.cause, part.node_us, part.node_hours, spent.share(part.node_us)


def _over_time(spent: TimeSpent) -> Rows:
    for one in spent.slices:
        for group, node_us in one.groups.items():
            yield one.begin, one.end, group, node_us, node_us / HOUR_US


def _pending(spent: TimeSpent) -> Rows:
    for one in spent.pending:
        yield one.ground, one.begin, one.end, one.nodes, one.node_us / HOUR_US, one.jobs


def _availability(found: Availability) -> Rows:
    for name, value, unit, how in found.numbers():
        yield name, value, unit, how, FORMULAS[name]


def _outages(found: Availability) -> Rows:
    for one in found.outages:
        yield one.begin, one.end, one.known, one.scheduled, one.cause, one.by, one.why


def _nodes_out(spent: TimeSpent) -> Rows:
    for one in spent.outs:
        yield one.cluster, one.node, one.begin, one.end, one.known, one.kind, one.failed, one.why


def _of_nodes(found: Availability) -> Rows:
    for one in found.node_list:
        repairs = " ".join(f"{lasted / 3600:.6g}" for lasted in one.repairs_s)
        yield one.cluster, one.node, one.failures, one.down_s / 3600, one.of_s / 3600, one.share, repairs
