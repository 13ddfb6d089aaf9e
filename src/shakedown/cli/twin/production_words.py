"""What ``shakedown twin production`` says of a year, in 80 columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from shakedown.cli.output import printable, table
from shakedown.metrics.words import plural, show_number
from shakedown.model.units import show_duration

if TYPE_CHECKING:
    from shakedown.twin.production.compare import Comparison, Line
    from shakedown.twin.production.easy import Rules
    from shakedown.twin.production.measure import Measures, SizeClass
    from shakedown.twin.production.year import Year

WIDTH, MARGIN = 80, 12


def in_words(year: Year) -> str:
    """Purpose: the whole result as text: what was played, the measures (a trace's own beside ours), waits by size, reasons."""
    parts = [_head(year)]
    if year.comparison is not None:
        parts.append(_beside(year.comparison))
    else:
        parts.append(_alone(year.ours or year.own))
    parts.append(_sizes(year))
    parts.append(_tried(year))
    if year.comparison is not None:
        parts.append(_verdict(year.comparison))
    return "\n\n".join(part for part in parts if part)


def _head(year: Year) -> str:
    whose = "EASY backfill on counts of processors" if year.ours is not None else "a trace's own schedule, measured"
    lines = [f"a year of production (model): {whose}"]
    lines.append(_named("workload", f"{year.source}: {year.jobs} jobs, offered load {_share(year.offered_load)}"))
    lines.append(_named("machine", f"{year.processors} processors or nodes ({year.machine_from})"))
    if year.ours is not None:
        lines.append(_named("scheduler", _rules(year.rules)))
        lines.append(_named("", f"{year.backfilled} jobs were backfilled, {year.killed} ended at their limit"))
    lines += [_named("left out", f"{count} {why}") for why, count in year.left_out]
    lines += [_named("note", note) for note in year.notes]
    if year.closed:
        total = show_duration(sum(end - begin for begin, end in year.closed))
        times = plural(len(year.closed), "time")
        text = f"the trace stood still {times}, {total} in all, while jobs waited: there nothing was started"
        lines.append(_named("outages", text + " (--outages none to do without)"))
    return "\n".join(lines)


def _rules(rules: Rules) -> str:
    cycle = f"every {show_duration(rules.cycle_s)}" if rules.cycle_s else "at every event"
    backfill = f"EASY backfill, depth {rules.depth}, {cycle}" if rules.depth else "no backfill"
    return f"order {rules.order}; {backfill}; at its limit a job {'is ended' if rules.kill else 'runs on'}"


def _named(name: str, text: str) -> str:
    first, rest = name.ljust(MARGIN), " " * MARGIN
    return textwrap.fill(printable(text), WIDTH, initial_indent=first, subsequent_indent=rest)


def _alone(one: Measures | None) -> str:
    if one is None:
        return ""
    waits = one.waits
    rows = [
        ["utilisation, to the last end", _share(one.utilisation)],
        ["utilisation, to last submission", _share(one.utilisation_of_submissions)],
        ["most held at once", str(one.most_busy)],
        ["mean wait", _time(waits.mean_s)],
        ["median wait", _time(waits.median_s)],
        ["90 % of jobs wait at most", _time(waits.ninetieth_s)],
        ["longest wait", _time(waits.longest_s)],
        ["mean bounded slowdown", _number(waits.bounded_slowdown)],
    ]
    return table(["from the first submission", ""], rows, right=(1,))


def _beside(comparison: Comparison) -> str:
    rows = [
        [line.name, _shown(line, line.own), _shown(line, line.ours), _difference(line), _agrees(line)]
        for line in comparison.lines
    ]
    return table(["", "the trace", "ours", "difference", ""], rows, right=(1, 2, 3))


def _agrees(line: Line) -> str:
    return "" if line.agrees is None else ("agrees" if line.agrees else "DIFFERS")


def _shown(line: Line, value: float | None) -> str:
    return {"share": _share, "seconds": _time, "number": _number}[line.kind](value)


def _difference(line: Line) -> str:
    if line.own is None or line.ours is None:
        return ""
    if line.kind == "share":
        return f"{100 * (line.ours - line.own):+z.2f} points"
    if line.kind == "seconds":
        sign = "-" if line.ours < line.own else "+"
        return sign + _time(abs(line.ours - line.own))
    return f"{line.ours - line.own:+z.3g}"


def _sizes(year: Year) -> str:
    """A line a class of sizes; with both schedules, the trace's before ours."""
    one = year.own or year.ours
    if one is None:
        return ""
    if year.own is None or year.ours is None:
        headings = ["processors", "jobs", "work", "mean wait", "90 % wait"]
        rows = [[*_class(found), _time(found.waits.mean_s), _time(found.waits.ninetieth_s)] for found in one.sizes]
        return table(headings, rows, right=range(1, 5))
    headings = ["processors", "jobs", "work", "mean: trace", "ours", "90 %: trace", "ours"]
    rows = []
    for found, ours in zip(year.own.sizes, year.ours.sizes, strict=True):  # of the same jobs
        pairs = (found.waits.mean_s, ours.waits.mean_s, found.waits.ninetieth_s, ours.waits.ninetieth_s)
        rows.append([*_class(found), *map(_time, pairs)])
    return table(headings, rows, right=range(1, 7))


def _tried(year: Year) -> str:
    """What --fit tried, the nearest first; it is taken."""
    rows = [
        [
            one.rules.order,
            str(one.rules.depth),
            _time(one.mean_wait_s),
            _time(one.off_s),
            f"{100 * one.furthest_apart:.1f} points",
        ]
        for one in year.tried
    ]
    headings = ["order tried", "depth", "mean wait", "off by, per job", "distributions apart"]
    return table(headings, rows, right=range(1, 5)) if rows else ""


def _class(found: SizeClass) -> list[str]:
    sizes = str(found.least) if found.least == found.most else f"{found.least}-{found.most}"
    return [sizes, str(found.jobs), _share(found.share)]


def _verdict(comparison: Comparison) -> str:
    lines = []
    if comparison.same is not None and comparison.furthest_apart is not None:
        text = (
            f"{_share(comparison.same)} of jobs wait as long as in the trace to within a minute or a tenth; the cumulated "
            f"distributions of waits are at most {100 * comparison.furthest_apart:.1f} points apart"
        )
        lines.append(_named("waits", text))
    agree = [line.name for line in comparison.lines if line.agrees]
    differ = [line.name for line in comparison.lines if line.agrees is False]
    lines += [_named("agrees", "; ".join(agree))] if agree else []
    lines += [_named("differs", "; ".join(differ))] if differ else []
    lines += [_named("likely why", reason) for reason in comparison.reasons]
    return "\n".join(lines)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f} %"


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else ("0 s" if seconds == 0 else show_duration(seconds))


def _number(value: float | None) -> str:
    return "-" if value is None else show_number(value, 4)
