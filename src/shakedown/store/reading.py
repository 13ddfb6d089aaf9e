"""Reading the index: streams of runs with filters, counts, notes. ``runs_of`` is the main one.

Regular expressions are RE2's: a person at a browser can write any of them, and none takes longer than the text is long. They are
held against the distinct names, never against the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import re2
from sqlalchemy import Connection, Select, and_, func, or_, select

from shakedown.model.errors import UsageError
from shakedown.store.tables import NAMED, campaigns, figures, minutes, names, notes, runs

SORTABLE = ("at", "started", "elapsed", "ordered", "run")
LONGEST_PATTERN = 300  # letters
_FACTS = [column for column in campaigns.c if column.name != "position"]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which runs of a stream. ``campaign`` "" is all of them. ``patterns``: column of ``NAMED`` -> regular expression that its name
    must hold somewhere. ``since`` and ``until``: seconds since 1970, of the last change. ``sort``: a column of ``SORTABLE``.
    """

    campaign: str = ""
    patterns: Mapping[str, str] = field(default_factory=dict)
    bad: bool | None = None
    live: bool | None = None
    since: float | None = None
    until: float | None = None
    sort: str = "at"
    rising: bool = False
    limit: int = 100
    offset: int = 0


def campaigns_in(connection: Connection) -> list[dict[str, Any]]:
    """Purpose: every campaign with its facts and its runs by state, the newest first."""
    rows = connection.execute(select(*_FACTS).order_by(campaigns.c.last.desc()))
    counts = counts_of(connection)
    return [dict(row._mapping) | {"states": counts.get(row.id, {})} for row in rows]


def campaign_named(connection: Connection, name: str) -> dict[str, Any] | None:
    """Purpose: the facts of one campaign; None where there is none of this name."""
    row = connection.execute(select(*_FACTS).where(campaigns.c.name == name)).first()
    return None if row is None else dict(row._mapping)


def counts_of(connection: Connection, campaign: int | None = None) -> dict[int, dict[str, int]]:
    """Purpose: campaign -> state -> how many runs are in it, from the counts by minute."""
    which = [minutes.c.campaign == campaign] if campaign is not None else []
    rows = select(minutes.c.campaign, names.c.text, func.sum(minutes.c.count)).join(
        names, names.c.id == minutes.c.state
    )
    found: dict[int, dict[str, int]] = {}
    for number, state, count in connection.execute(rows.where(*which).group_by(minutes.c.campaign, names.c.text)):
        found.setdefault(number, {})[state] = int(count)
    return found


def runs_of(connection: Connection, wanted: Filter) -> tuple[list[dict[str, Any]], int]:
    """Purpose: the runs that a filter lets through, with names as words and the campaign by name, and how many there are in all.

    Errors: UsageError for a regular expression that is none.
    """
    where = _where(connection, wanted)
    if where is None:
        return [], 0
    total = connection.scalar(select(func.count()).select_from(runs).where(*where)) or 0
    column = runs.c[wanted.sort if wanted.sort in SORTABLE else "at"]
    order = column.asc() if wanted.rising else column.desc()
    chosen: Select[Any] = (
        select(runs).where(*where).order_by(order, runs.c.run).limit(wanted.limit).offset(wanted.offset)
    )
    rows = [dict(row._mapping) for row in connection.execute(chosen)]
    return _in_words(connection, rows), int(total)


def run_times(connection: Connection, wanted: Filter) -> list[tuple[float, float, str, str]]:
    """Purpose: (start, seconds, state, test) of the runs that a filter lets through and that began and ended; at most ``limit``,
    the newest first.
    """
    where = _where(connection, wanted)
    if where is None:
        return []
    chosen = select(runs.c.started, runs.c.elapsed, runs.c.state, runs.c.test).where(
        *where, runs.c.started.is_not(None), runs.c.elapsed.is_not(None)
    )
    rows = connection.execute(chosen.order_by(runs.c.at.desc()).limit(wanted.limit)).all()
    words = _words(connection, {number for row in rows for number in (row[2], row[3])})
    return [(start, seconds, words[state], words[test]) for start, seconds, state, test in rows]


def counted_by_minute(connection: Connection, campaign: int) -> list[tuple[int, str, int]]:
    """Purpose: (minute, state, how many runs came into that state then and are still in it)."""
    rows = select(minutes.c.minute, names.c.text, func.sum(minutes.c.count)).join(names, names.c.id == minutes.c.state)
    chosen = (
        rows.where(minutes.c.campaign == campaign).group_by(minutes.c.minute, names.c.text).order_by(minutes.c.minute)
    )
    return [(int(minute), state, int(count)) for minute, state, count in connection.execute(chosen)]


def notes_of(
    connection: Connection, campaign: int | None, limit: int, kinds: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Purpose: what was found and done, the newest first; of some kinds only, where they are named."""
    wanted = list(kinds)
    conditions: list[Any] = [notes.c.campaign == campaign] if campaign is not None else []
    conditions += [names.c.text.in_(wanted)] if wanted else []
    chosen = (
        select(notes, names.c.text.label("kind_name"), campaigns.c.name.label("campaign_name"))
        .join(names, names.c.id == notes.c.kind)
        .join(campaigns, campaigns.c.id == notes.c.campaign)
        .where(*conditions)
        .order_by(notes.c.time.desc(), notes.c.seq.desc())
        .limit(limit)
    )
    rows = [dict(row._mapping) for row in connection.execute(chosen)]
    return [row | {"kind": row["kind_name"], "campaign": row["campaign_name"]} for row in rows]


def figures_of(connection: Connection, campaign: int, run: str) -> dict[str, float]:
    """Purpose: the figures of one run by name."""
    rows = select(names.c.text, figures.c.value).join(names, names.c.id == figures.c.figure)
    found = connection.execute(rows.where(figures.c.campaign == campaign, figures.c.run == run))
    return {row.text: row.value for row in found}


def has_run(connection: Connection, campaign: int, run: str) -> bool:
    """Purpose: whether the index has a run of this name."""
    return connection.scalar(select(func.count()).where(runs.c.campaign == campaign, runs.c.run == run)) == 1


def compiled(pattern: str) -> Any:
    """Purpose: a regular expression of a person. Errors: UsageError where it is none, with what RE2 says."""
    if len(pattern) > LONGEST_PATTERN:
        raise UsageError(f"a regular expression of {len(pattern)} letters is too long: at most {LONGEST_PATTERN}")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 20
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        said = (
            error.args[0].decode("utf-8", "replace") if error.args and isinstance(error.args[0], bytes) else str(error)
        )
        raise UsageError(f"'{pattern}' is not a regular expression: {said}") from error


def _where(connection: Connection, wanted: Filter) -> list[Any] | None:
    """The conditions of a filter; None where nothing can meet them."""
    conditions: list[Any] = []
    if wanted.campaign:
        number = connection.scalar(select(campaigns.c.id).where(campaigns.c.name == wanted.campaign))
        if number is None:
            return None
        conditions.append(runs.c.campaign == number)
    for kind, pattern in wanted.patterns.items():
        if kind not in NAMED or not pattern:
            continue
        found = _matching(connection, kind, pattern)
        if not found:
            return None
        conditions.append(or_(*(runs.c[kind].in_(some) for some in _groups(found))))
    conditions += [runs.c.bad == int(wanted.bad)] if wanted.bad is not None else []
    conditions += [runs.c.live == int(wanted.live)] if wanted.live is not None else []
    conditions += [runs.c.at >= wanted.since] if wanted.since is not None else []
    conditions += [runs.c.at <= wanted.until] if wanted.until is not None else []
    return [and_(*conditions)] if conditions else []


def _matching(connection: Connection, kind: str, pattern: str) -> list[int]:
    expression = compiled(pattern)
    rows = connection.execute(select(names.c.id, names.c.text).where(names.c.kind == kind))
    return [number for number, text in rows if expression.search(text)]


def _in_words(connection: Connection, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    words = _words(connection, {row[kind] for row in rows for kind in NAMED})
    numbers = {row["campaign"] for row in rows}
    called = {}
    if numbers:
        chosen = select(campaigns.c.id, campaigns.c.name).where(campaigns.c.id.in_(numbers))
        called = {row.id: row.name for row in connection.execute(chosen)}
    return [row | {kind: words[row[kind]] for kind in NAMED} | {"campaign": called[row["campaign"]]} for row in rows]


def _words(connection: Connection, numbers: set[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for some in _groups(sorted(numbers)):
        chosen = select(names.c.id, names.c.text).where(names.c.id.in_(some))
        found |= {row.id: row.text for row in connection.execute(chosen)}
    return found


def _groups(values: list[int]) -> list[list[int]]:
    return [values[start : start + 500] for start in range(0, len(values), 500)]
