"""Availability as computing centres report it: scheduled, overall, per node; mean times to interrupt, to failure and to repair.

Start reading at ``availability``. The period is the campaign, from its begin to its end. The formulas of the system are
those by which the leadership computing facilities of the U.S. Department of Energy report each year (for example "High Performance
Computing Facility Operational Assessment, CY 2011, Oak Ridge Leadership Computing Facility", section "Resource Availability"); a
scheduled outage is one that was announced. Nodes are counted in the way in which Stearley, "Defining and Measuring Supercomputer
Reliability, Availability, and Serviceability" (Sandia National Laboratories, 2005), counts components: each by its own hours.
``FORMULAS`` states every formula in words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct

from shakedown.metrics.clock import MAINTENANCE, length
from shakedown.metrics.interrupts import mean_time_interval
from shakedown.metrics.overlap import Span
from shakedown.metrics.rows.rows import NoteRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.time_spent import DOWN, Out, TimeSpent
from shakedown.metrics.words import plural
from shakedown.model.clocks import merged, without

UNSCHEDULED = ("machine", "vendor", "site")  # causes of pauses and stopped clocks that nobody announced
FORMULAS = {
    "scheduled availability": "(period - scheduled outages - unscheduled outages) / (period - scheduled outages)",
    "overall availability": "(period - scheduled outages - unscheduled outages) / period",
    "mean time to interrupt by outages (MTTI)": "(period - scheduled outages - unscheduled outages) / (number of both + 1)",
    "mean time to failure (MTTF)": "(period - unscheduled outages) / (number of unscheduled outages + 1)",
    "mean time to repair": "unscheduled outages / their number",
    "availability of nodes": "1 - node-hours of nodes that were down / node-hours of the period, both without scheduled outages",
    "mean time to failure of a node": "node-hours of nodes that were not down / failures of nodes",
    "mean time to repair of a node": "hours from a node's failure until the record shows it at work or idle again / such failures",
}


class Outage(Struct, frozen=True):
    """A period in which, as people said, the machine could not be used. ``known``: people said when it ended; else ``end`` is the
    period's end.
    """

    begin: float
    end: float
    scheduled: bool
    cause: str
    why: str
    by: str
    known: bool = True


class NodeAvailability(Struct, frozen=True):
    """One node that was down for a time. ``down_s``: the seconds it was down, out of ``of_s``, the period without scheduled
    outages. ``repairs_s``: the length of each of its failures whose end is known.
    """

    cluster: str
    node: str
    failures: int
    down_s: float
    of_s: float
    repairs_s: tuple[float, ...]

    @property
    def share(self) -> float | None:
        return 1 - self.down_s / self.of_s if self.of_s > 0 else None


class Availability(Struct, frozen=True):
    """A campaign's availability, in seconds. ``scheduled_s`` and ``unscheduled_s``: the total lengths of the outages; time in both
    kinds counts as scheduled. ``node_list``: the nodes that were down at any time; the other nodes of the plan's ``nodes`` were
    never down.
    """

    period_s: float
    scheduled_s: float
    unscheduled_s: float
    outages: tuple[Outage, ...]
    nodes: int
    node_list: tuple[NodeAvailability, ...]

    @property
    def up_s(self) -> float:
        return max(0.0, self.period_s - self.scheduled_s - self.unscheduled_s)

    def count(self, scheduled: bool) -> int:
        return sum(one.scheduled == scheduled for one in self.outages)

    @property
    def scheduled(self) -> float | None:
        return _over(self.up_s, self.period_s - self.scheduled_s)

    @property
    def overall(self) -> float | None:
        return _over(self.up_s, self.period_s)

    @property
    def mtti_s(self) -> float:
        return self.up_s / (len(self.outages) + 1)

    @property
    def mttf_s(self) -> float:
        return max(0.0, self.period_s - self.unscheduled_s) / (self.count(False) + 1)

    @property
    def mttr_s(self) -> float | None:
        return _over(self.unscheduled_s, self.count(False))

    @property
    def node_s(self) -> float:
        """Node-seconds of the period without scheduled outages."""
        return self.nodes * (self.period_s - self.scheduled_s)

    @property
    def node_down_s(self) -> float:
        return sum(one.down_s for one in self.node_list)

    @property
    def of_nodes(self) -> float | None:
        down = _over(self.node_down_s, self.node_s)
        return None if down is None else 1 - down

    @property
    def node_failures(self) -> int:
        return sum(one.failures for one in self.node_list)

    @property
    def node_mttf_s(self) -> float | None:
        return _over(self.node_s - self.node_down_s, self.node_failures)

    @property
    def node_mttf_interval(self) -> tuple[float, float | None] | None:
        """The 95 % interval of the nodes' mean time to failure, from the exact interval of the count; no upper end if no node
        failed.
        """
        return mean_time_interval(self.node_s - self.node_down_s, self.node_failures)

    @property
    def repairs_s(self) -> tuple[float, ...]:
        return tuple(lasted for one in self.node_list for lasted in one.repairs_s)

    @property
    def node_mttr_s(self) -> float | None:
        return _over(sum(self.repairs_s), len(self.repairs_s))

    def numbers(self) -> tuple[tuple[str, float | None, str, str], ...]:
        """Every number, in the order of FORMULAS: the formula's name, the value, its unit (share or s), and the calculation in
        words.
        """
        planned, other = self.count(True), self.count(False)
        hours = {name: seconds / 3600 for name, seconds in _times(self).items()}
        known = f"{len(self.repairs_s)} of {plural(self.node_failures, 'failure')} whose end is known"
        said = (
            (self.scheduled, "share", "{up:.4g} h / ({period:.4g} h - {planned:.4g} h)"),
            (self.overall, "share", "{up:.4g} h / {period:.4g} h"),
            (self.mtti_s, "s", f"{{up:.4g}} h / ({planned} scheduled + {other} unscheduled + 1)"),
            (self.mttf_s, "s", f"({{period:.4g}} h - {{other:.4g}} h) / ({other} unscheduled + 1)"),
            (self.mttr_s, "s", f"{{other:.4g}} h / {other} unscheduled"),
            (self.of_nodes, "share", "1 - {down:.4g} node-hours / {node:.6g} node-hours"),
            (
                self.node_mttf_s,
                "s",
                f"({{node:.6g}} - {{down:.4g}}) node-hours / {plural(self.node_failures, 'failure')}",
            ),
            (self.node_mttr_s, "s", f"{{repair:.4g}} h / {known}"),
        )
        return tuple(
            (name, value, unit, how.format(**hours)) for name, (value, unit, how) in zip(FORMULAS, said, strict=True)
        )


def _times(one: Availability) -> dict[str, float]:
    return {
        "up": one.up_s,
        "period": one.period_s,
        "planned": one.scheduled_s,
        "other": one.unscheduled_s,
        "down": one.node_down_s,
        "node": one.node_s,
        "repair": sum(one.repairs_s),
    }


def _over(top: float, bottom: float) -> float | None:
    return top / bottom if bottom > 0 else None


def availability(record: Record, spent: TimeSpent | None) -> Availability | None:
    """Purpose: the availability of the machine during a campaign; None if the campaign has not begun."""
    if spent is None:
        return None
    period = (spent.begin, spent.end)
    outages = tuple(outages_of(record, period))
    planned = merged((one.begin, one.end) for one in outages if one.scheduled)
    other = merged((one.begin, one.end) for one in outages if not one.scheduled)
    for span in planned:
        other = without(other, span)
    of_s = spent.end - spent.begin - length(planned)
    nodes = tuple(_node(name, outs, planned, of_s) for name, outs in _by_node(spent.outs))
    return Availability(spent.end - spent.begin, length(planned), length(other), outages, spent.nodes, nodes)


def outages_of(record: Record, period: Span) -> Iterator[Outage]:
    """Purpose: the outages: periods in which people paused a component or stopped its clock because of the machine, its vendor, the
    site or maintenance. Overlapping periods of several components, both scheduled or both unscheduled, are one outage.
    """
    told: list[Outage] = []
    open_: dict[tuple[str, bool], tuple[float, NoteRow]] = {}
    for row in record.standing:
        value = row.value
        stops = row.kind == "paused" or (row.kind == "clock" and value.get("act") == "stop")
        goes_on = (row.kind == "continued" and not row.case) or (
            row.kind == "clock" and value.get("act") in ("go on", "start", "restart")
        )
        said = value.get("from")
        at = float(said) if isinstance(said, int | float) and not isinstance(said, bool) else row.time
        key = (str(value.get("component") or ""), row.kind == "clock")
        if stops and value.get("cause") in (MAINTENANCE, *UNSCHEDULED):
            open_.setdefault(key, (at, row))
        elif goes_on and key in open_:
            told.append(_outage(*open_.pop(key), at, period, known=True))
    told += [_outage(at, row, period[1], period, known=False) for at, row in open_.values()]
    for scheduled in (True, False):
        last: Outage | None = None
        for one in sorted((one for one in told if one.scheduled == scheduled), key=lambda one: (one.begin, one.end)):
            if one.end <= one.begin:
                continue
            if last is None or one.begin > last.end:
                if last is not None:
                    yield last
                last = one
            else:
                late = one if one.end > last.end else last
                last = Outage(last.begin, late.end, scheduled, last.cause, last.why, last.by, late.known)
        if last is not None:
            yield last


def _outage(at: float, row: NoteRow, end: float, period: Span, known: bool) -> Outage:
    low, high = period
    cause = str(row.value.get("cause") or "")
    by = str(row.value.get("by") or row.value.get("who") or "")
    return Outage(max(low, at), min(high, end), cause == MAINTENANCE, cause, row.reason, by, known)


def _by_node(outs: Sequence[Out]) -> Iterator[tuple[tuple[str, str], list[Out]]]:
    found: dict[tuple[str, str], list[Out]] = defaultdict(list)
    for out in outs:
        if out.kind == DOWN:
            found[out.cluster, out.node].append(out)
    yield from sorted(found.items())


def _node(name: tuple[str, str], outs: Sequence[Out], planned: Sequence[Span], of_s: float) -> NodeAvailability:
    spans = merged((one.begin, one.end) for one in outs)
    for span in planned:
        spans = without(spans, span)
    failed = [one for one in outs if one.failed]
    repairs = tuple(one.end - one.begin for one in failed if one.known)
    return NodeAvailability(*name, len(failed), length(spans), of_s, repairs)
