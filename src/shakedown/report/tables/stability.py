"""The CSV files of components that run for a time: clocks, days, shares, nodes, interrupts, rates, loads, standing orders."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from shakedown.metrics.interrupts import Interrupts
from shakedown.metrics.rows.facts import number
from shakedown.metrics.stability import Stability
from shakedown.report.evidence import Evidence
from shakedown.report.tables.csv_files import Cell, to_csv

Rows = Iterable[Sequence[Cell]]

_CLOCKS = ("component", "at", "act", "cause", "because", "by", "event", "said")
_DAYS = (
    "component", "day", "begin", "end", "hours", "nodes", "all_nodes", "clock_hours", "maintenance_hours", "contractual", "ours",
    "delivered", "share", "of_clock", "ours_of_clock",
)  # fmt: skip
_SHARES = (
    "component", "test", "filler", "runs", "right", "node_hours", "right_node_hours", "share", "asked", "points_off", "hole_s",
    "hole_begin", "hole_end",
)  # fmt: skip
_INTERRUPTS = (
    "component", "clock_h", "interrupts", "mean_h", "mean_low_95_h", "mean_high_95_h", "by_verdict", "system_interrupts",
    "system_mean_h", "system_low_95_h", "system_high_95_h", "runs",
)  # fmt: skip
_RATES = (
    "component", "by", "name", "count", "attempts", "share", "share_low_95", "share_high_95", "node_hours", "per_1000_node_hours",
    "per_1000_low_95", "per_1000_high_95", "count_after", "attempts_after", "share_after", "per_1000_after",
)  # fmt: skip


def stability_tables(evidence: Evidence) -> dict[str, bytes]:
    """Purpose: the tables by their file names."""
    parts = evidence.stability
    return {
        "clocks.csv": to_csv(_CLOCKS, (row for one in parts for row in _words(one))),
        "clock-spans.csv": to_csv(
            ("component", "begin", "end", "maintenance"), (row for one in parts for row in _spans(one))
        ),
        "days.csv": to_csv(_DAYS, (row for one in parts for row in _days(one))),
        "shares.csv": to_csv(_SHARES, (row for one in parts for row in _shares(one))),
        "node-use.csv": to_csv(
            ("component", "cluster", "node", "hours"), (row for one in parts for row in _nodes(one))
        ),
        "interrupts.csv": to_csv(_INTERRUPTS, (_interrupts(one.interrupts) for one in parts if one.interrupts)),
        "failure-rates.csv": to_csv(_RATES, (row for one in parts for row in _rates(one))),
        "loads.csv": to_csv(("budget", "time", "load", "asked", "limit"), _loads(evidence)),
        "observed.csv": to_csv(
            ("budget", "time", "number", "full", "charged", "others", "limit", "why"), _observed(evidence)
        ),
        "standing-orders.csv": to_csv(
            ("time", "order", "component", "case", "by", "what", "because", "event"), _orders(evidence)
        ),
    }


def _words(one: Stability) -> Rows:
    for word in one.words:
        yield one.component.name, word.at, word.act, word.cause, word.why, word.by, word.kind or "the plan", word.said


def _spans(one: Stability) -> Rows:
    if one.clock is not None:
        for maintenance, spans in ((False, one.clock.spans), (True, one.clock.maintenance)):
            for begin, end in spans:
                yield one.component.name, begin, end, maintenance


def _days(one: Stability) -> Rows:
    for day in one.days:
        yield (
            day.component, day.number, day.begin, day.end, (day.end - day.begin) / 3600, day.nodes, day.all_nodes,
            day.clock_s / 3600, day.maintenance_s / 3600, day.contractual, day.ours, day.delivered, day.share, day.of_clock,
            day.ours_of_clock,
        )  # fmt: skip


def _shares(one: Stability) -> Rows:
    for share in one.shares:
        hole = (share.hole.seconds, share.hole.begin, share.hole.end) if share.hole else (None, None, None)
        none = (0.0, None, None) if not share.filler and share.hole is None else hole
        yield (
            share.component, share.test, share.filler, share.runs, share.right, share.node_hours, share.right_node_hours,
            share.share, share.asked, share.points, *none,
        )  # fmt: skip


def _nodes(one: Stability) -> Rows:
    if one.nodes is not None:
        for (cluster, node), seconds in one.nodes.seconds.items():
            yield one.component.name, cluster, node, seconds / 3600


def _interrupts(found: Interrupts) -> Sequence[Cell]:
    verdicts = " ".join(f"{verdict}={count}" for verdict, count in found.jobs)
    own = (found.count, _hours(found.mean), *_ends(found.interval), verdicts)
    system = (found.system, _hours(found.system_mean), *_ends(found.system_interval))
    return found.component, found.seconds / 3600, *own, *system, " ".join(found.runs)


def _hours(seconds: float | None) -> float | None:
    return None if seconds is None else seconds / 3600


def _ends(interval: tuple[float, float | None] | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval[0] / 3600, _hours(interval[1]))


def _rates(one: Stability) -> Rows:
    for rate in one.rates:
        before, after = rate.before, rate.after
        yield (
            rate.component, rate.by, rate.name, before.hits, before.count, before.share, *(before.interval or (None, None)),
            rate.node_hours, rate.per_thousand, *(rate.per_thousand_interval or (None, None)), after.hits, after.count, after.share,
            rate.per_thousand_after,
        )  # fmt: skip


def _loads(evidence: Evidence) -> Rows:
    for load in evidence.loads:
        for time, amount, asked in load.together():
            yield load.name, time, amount, asked, load.limit_at(time)


def _observed(evidence: Evidence) -> Rows:
    limits = {load.name: load for load in evidence.loads}
    for row in evidence.record.observed:
        value, name = row.value, str(row.value.get("budget", ""))
        at = number(value.get("at")) or row.time
        said = (number(value.get(key)) for key in ("number", "full", "ours", "beside"))
        yield name, at, *said, limits[name].limit_at(at) if name in limits else None, row.reason


def _orders(evidence: Evidence) -> Rows:
    for row in evidence.orders:
        value = dict(row.value)
        component, by = str(value.pop("component", "")), str(value.pop("by", "") or value.pop("who", ""))
        what = json.dumps(
            {key: value[key] for key in sorted(value) if key not in ("request", "who")}, ensure_ascii=False
        )
        yield row.time, row.kind, component, row.case, by, what if value else "", row.reason, row.seq or None
