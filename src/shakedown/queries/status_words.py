"""Parts of a campaign's state as sentences, for a terminal and for the live page. Most take a row of ``queries.status``."""

from __future__ import annotations

from typing import Any

from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model.units import show_duration
from shakedown.report.words import show_time


def silent_in_words(data: dict[str, Any]) -> list[str]:
    """Purpose: a warning that the driver is alive but does not answer, so the data are old; [] where it answers."""
    if not data.get("silent_s"):
        return []
    then = "shakedown resume --if-needed, or --take-over, replaces it"
    if data["silent_s"] < data["replaced_after_s"]:
        then = f"after {show_duration(data['replaced_after_s'])} shakedown resume --if-needed replaces it"
    return [f"its conductor has not answered for {show_duration(data['silent_s'])}; what follows is as of then; {then}"]


def shut_in_words(pool: dict[str, Any], time: float) -> str:
    """Purpose: a pool whose scheduler accepts no jobs, and when the next job is tried there."""
    times = "once" if pool["refused"] == 1 else f"{pool['refused']} times"
    due = f"in {pool['until'] - time:.0f} s" if pool["until"] > time else "now"
    return f"{pool['partition']} took no job, {times} in a row; one is tried again {due}"


def clock_in_words(clock: dict[str, Any]) -> str:
    """For example: stability: the clock ran 3 d 4 h of 10 d 0 h, and runs; it stood still 2 h 00 min (maintenance)."""
    now = "its time is over" if clock["over"] else "and runs" if clock["runs"] else "and stands still"
    text = (
        f"{clock['component']}: the clock ran {show_duration(clock['ran_s'])} of {show_duration(clock['of_s'])}, {now}"
    )
    stood = [f"{show_duration(seconds)} ({cause})" for cause, seconds in clock["stood_still_s"].items() if seconds >= 1]
    return f"{text}; it stood still {', '.join(stood)}" if stood else text


def deadline_in_words(one: dict[str, Any]) -> str:
    """For example: performance: to be over by 2026-12-01 18:00:00 UTC (at first 2026-11-20 18:00:00 UTC); missed, 2 h 00 min late
    so far.
    """
    if one["planned"] is None:
        return (
            f"{one['component']}: at first to be over by {show_time(one['first'])} UTC; an amendment took the date away"
        )
    late = f", {show_duration(one['late_s'])} late{' so far' if one['kept'] is None else ''}" if one["late_s"] else ""
    first = f" (at first {show_time(one['first'])} UTC)" if one["moved"] else ""
    return f"{one['component']}: to be over by {show_time(one['planned'])} UTC{first}; {one['state']}{late}"


def said_of_run(record: Record, row: RunRow) -> list[str]:
    """Purpose: the class of a run's failure, its ticket and the ruling in force, each with the person who entered it."""
    lines = []
    if row.failure_class:
        by = f" (by {row.said_by}; found: {row.failure_class})" if row.said_class else ""
        lines.append(f"  class {row.cause}{by}{': ' + row.failure_line if row.failure_line else ''}")
    if row.ticket:
        lines.append(f"  ticket {row.ticket}{f' (by {row.ticket_by})' if row.ticket_by else ''}")
    if row.ruling and not row.superseded_by:
        mine = [one for one in record.rulings if one.run == row.run and one.seq not in record.withdrawn]
        for one in mine[-1:]:
            why = f": {one.reason}" if one.reason else ""
            lines.append(f"  ruled {row.ruling} by {one.by or 'somebody'} (event {one.seq}){why}; the verdict stands")
    return lines
