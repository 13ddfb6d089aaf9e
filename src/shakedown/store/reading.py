"""Queries of the index: filtered runs, counts, notes. The main function is ``runs_of``.

Regular expressions are those of RE2, because they come from browsers, and RE2 matches in time linear in the length of the text.
A column with names in the table ``names`` is matched against the distinct names; another column against each distinct value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import re2
from sqlalchemy import Connection, Select, and_, case, func, literal_column, or_, select

from shakedown.model.errors import UsageError
from shakedown.model.shared_nodes import has_node
from shakedown.store.paging import Place, beyond, fits, order_of
from shakedown.store.tables import NAMED, campaigns, figures, minutes, names, notes, runs

SHOWN = (
    "campaign",
    *(column.name for column in runs.c if column.name not in ("campaign", "seq", "minute", "live", "bad")),
)
SORTABLE = SHOWN
LONGEST_PATTERN = 300  # letters
BEGIN_AGAIN = "leave 'after' and 'before' out of the address, and begin at the first page"
_FACTS = [column for column in campaigns.c if column.name != "position"]


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions for runs. ``campaign``: "" for all campaigns. ``patterns``: column of ``SHOWN`` -> regular expression that must
    match a part of its text. ``node``: name of a node that the run must have used. ``since`` and ``until``: seconds since
    1970, of the last change. ``sort``: a column of ``SORTABLE``. ``texts``: column -> function that writes a value as the text for
    ``patterns``, for columns that hold no text; the default is ``str``. None is always written as "". ``place``: where in the
    stream the wanted rows begin, or before which they end; None for its beginning.
    """

    campaign: str = ""
    patterns: Mapping[str, str] = field(default_factory=dict)
    node: str = ""
    bad: bool | None = None
    live: bool | None = None
    since: float | None = None
    until: float | None = None
    sort: str = "at"
    rising: bool = False
    limit: int = 100
    place: Place | None = None
    texts: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)


def campaigns_in(connection: Connection) -> list[dict[str, Any]]:
    """Purpose: every campaign with its facts and the number of its runs in each state, the newest campaign first."""
    rows = connection.execute(select(*_FACTS).order_by(campaigns.c.last.desc()))
    counts = counts_of(connection)
    return [dict(row._mapping) | {"states": counts.get(row.id, {})} for row in rows]


def campaign_named(connection: Connection, name: str) -> dict[str, Any] | None:
    """Purpose: the facts of one campaign; None where there is none of this name."""
    row = connection.execute(select(*_FACTS).where(campaigns.c.name == name)).first()
    return None if row is None else dict(row._mapping)


def counts_of(connection: Connection, campaign: int | None = None) -> dict[int, dict[str, int]]:
    """Purpose: id of the campaign -> state -> number of runs in that state, summed over the counts by minute."""
    which = [minutes.c.campaign == campaign] if campaign is not None else []
    rows = select(minutes.c.campaign, names.c.text, func.sum(minutes.c.count)).join(
        names, names.c.id == minutes.c.state
    )
    found: dict[int, dict[str, int]] = {}
    for number, state, count in connection.execute(rows.where(*which).group_by(minutes.c.campaign, names.c.text)):
        found.setdefault(number, {})[state] = int(count)
    return found


def runs_of(connection: Connection, wanted: Filter) -> tuple[list[dict[str, Any]], int]:
    """Purpose: the matching runs of a page (``limit``, ``place``), with names instead of ids, and the number of all matching runs.

    Errors: UsageError for an invalid regular expression, and for a place that cannot be.
    """
    where = _where(connection, wanted)
    if where is None:
        return [], 0
    late = _late(wanted)
    if late:
        return _of_texts(connection, wanted, where, late)
    begin = _begin(connection, wanted)
    total = connection.scalar(select(func.count()).select_from(runs).where(*where)) or 0
    chosen: Select[Any] = select(runs).where(*where, *begin).order_by(*_order(wanted)).limit(wanted.limit)
    rows = [dict(row._mapping) for row in connection.execute(chosen)]
    return _in_words(connection, _forwards(rows, wanted)), int(total)


def page_of(connection: Connection, wanted: Filter) -> dict[str, Any]:
    """Purpose: ``rows`` and ``total`` as ``runs_of`` gives them, and the places of the pages ``earlier`` and ``later`` than this.

    Before a place with less than a page before it is the first page. Errors: UsageError as ``runs_of``.
    """
    rows, total = runs_of(connection, replace(wanted, limit=wanted.limit + 1))
    more = len(rows) > wanted.limit
    if _backwards(wanted):
        if not more:
            return page_of(connection, replace(wanted, place=None))
        rows, earlier, later = rows[1:], True, True
    else:
        rows, earlier, later = rows[: wanted.limit], wanted.place is not None, more
    return {
        "rows": rows,
        "total": total,
        "earlier": _place(rows[0], wanted, before=True) if earlier and rows else None,
        "later": _place(rows[-1], wanted, before=False) if later and rows else None,
    }


def _place(row: Mapping[str, Any], wanted: Filter, before: bool) -> Place:
    return Place(row[wanted.sort], row["campaign"], row["run"], before)


def _order(wanted: Filter) -> tuple[Any, ...]:
    """The ORDER BY terms. The rows before a place are asked for from the place on, and are turned round afterwards."""
    return order_of(wanted.sort if wanted.sort in SORTABLE else "at", wanted.rising, _backwards(wanted))


def _backwards(wanted: Filter) -> bool:
    return wanted.place is not None and wanted.place.before


def _forwards(rows: list[Any], wanted: Filter) -> list[Any]:
    return rows[::-1] if _backwards(wanted) else rows


def _begin(connection: Connection, wanted: Filter) -> list[Any]:
    """The condition that a place is, if there is one. Errors: UsageError where it cannot be."""
    if wanted.place is None:
        return []
    if not fits(wanted.sort, wanted.place):
        raise UsageError(f"no run of this stream has such a place in '{wanted.sort}'", hint=BEGIN_AGAIN)
    number = connection.scalar(select(campaigns.c.id).where(campaigns.c.name == wanted.place.campaign))
    if number is None:
        raise UsageError(f"there is no campaign '{wanted.place.campaign}' to go on behind", hint=BEGIN_AGAIN)
    return [beyond(wanted.place, wanted.sort, wanted.rising, number)]


def _late(wanted: Filter) -> dict[str, Any]:
    """The compiled patterns of columns that have no table of names, which must be matched against the rows."""
    rest = {kind: text for kind, text in wanted.patterns.items() if kind in SHOWN and text}
    return {kind: compiled(text) for kind, text in rest.items() if kind not in (*NAMED, "campaign")}


def _of_texts(
    connection: Connection, wanted: Filter, where: list[Any], late: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], int]:
    """``runs_of`` with patterns of columns without a table of names: it reads these columns of all runs that meet ``where``."""
    known: dict[tuple[str, Any], bool] = {}

    def holds(kind: str, value: Any) -> bool:
        if (kind, value) not in known:
            text = "" if value is None else wanted.texts.get(kind, str)(value)
            known[kind, value] = bool(late[kind].search(text))
        return known[kind, value]

    here = case((and_(*_begin(connection, wanted)), 1), else_=0) if wanted.place is not None else literal_column("1")
    chosen = select(runs.c.campaign, runs.c.run, here, *(runs.c[kind].label(f"of_{kind}") for kind in late))
    found = [
        (row[0], row[1], row[2])
        for row in connection.execute(chosen.where(*where).order_by(*_order(wanted)))
        if all(holds(kind, value) for kind, value in zip(late, row[3:], strict=True))
    ]
    keys = _forwards([(number, run) for number, run, behind in found if behind][: wanted.limit], wanted)
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    for number in {key[0] for key in keys}:
        mine = [key[1] for key in keys if key[0] == number]
        for place in range(0, len(mine), 500):
            some = select(runs).where(runs.c.campaign == number, runs.c.run.in_(mine[place : place + 500]))
            rows |= {(number, row.run): dict(row._mapping) for row in connection.execute(some)}
    return _in_words(connection, [rows[key] for key in keys]), len(found)


def run_times(connection: Connection, wanted: Filter) -> list[tuple[float, float, str, str]]:
    """Purpose: (start, elapsed seconds, state, test) of the matching runs that have a start and an end; at most ``limit``,
    the newest first. Errors: UsageError for an invalid regular expression.
    """
    where = _where(connection, wanted)
    if where is None:
        return []
    late = _late(wanted)
    if late:
        found, _ = _of_texts(connection, wanted, where, late)
        timed = [row for row in found if row["started"] is not None and row["elapsed"] is not None]
        return [(row["started"], row["elapsed"], row["state"], row["test"]) for row in timed]
    chosen = select(runs.c.started, runs.c.elapsed, runs.c.state, runs.c.test).where(
        *where, runs.c.started.is_not(None), runs.c.elapsed.is_not(None)
    )
    rows = connection.execute(chosen.order_by(runs.c.at.desc()).limit(wanted.limit)).all()
    words = _words(connection, {number for row in rows for number in (row[2], row[3])})
    return [(start, seconds, words[state], words[test]) for start, seconds, state, test in rows]


def counted_by_minute(connection: Connection, campaign: int) -> list[tuple[int, str, int]]:
    """Purpose: (minute, state, number of runs that entered this state in this minute and are still in it)."""
    rows = select(minutes.c.minute, names.c.text, func.sum(minutes.c.count)).join(names, names.c.id == minutes.c.state)
    chosen = (
        rows.where(minutes.c.campaign == campaign).group_by(minutes.c.minute, names.c.text).order_by(minutes.c.minute)
    )
    return [(int(minute), state, int(count)) for minute, state, count in connection.execute(chosen)]


def notes_of(
    connection: Connection, campaign: int | None, limit: int, kinds: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Purpose: the notes (findings and acts), the newest first; only of these ``kinds``, if any are given."""
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
    """Purpose: name of the figure -> value, for one run."""
    rows = select(names.c.text, figures.c.value).join(names, names.c.id == figures.c.figure)
    found = connection.execute(rows.where(figures.c.campaign == campaign, figures.c.run == run))
    return {row.text: row.value for row in found}


def figure_names(connection: Connection) -> list[str]:
    """Purpose: the names of the figures of all campaigns, in alphabetical order."""
    return sorted(text for _, text in _texts(connection, "figure"))


def kinds_of_notes(connection: Connection, campaign: int) -> list[str]:
    """Purpose: the kinds of notes that a campaign has, in alphabetical order."""
    rows = select(names.c.text).join(notes, notes.c.kind == names.c.id).where(notes.c.campaign == campaign).distinct()
    return sorted(connection.scalars(rows))


def has_run(connection: Connection, campaign: int, run: str) -> bool:
    """Purpose: whether the index has a run of this name."""
    return connection.scalar(select(func.count()).where(runs.c.campaign == campaign, runs.c.run == run)) == 1


def compiled(pattern: str) -> Any:
    """Purpose: compile a user's regular expression. Errors: UsageError, with the message of RE2, if it is invalid or too long."""
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


def literal(text: str) -> str:
    """Purpose: a regular expression that matches exactly this text."""
    escaped: str = re2.escape(text)
    return escaped


def _where(connection: Connection, wanted: Filter) -> list[Any] | None:
    """The WHERE conditions of a filter; None if no run can meet them."""
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
    if wanted.node:
        held = [number for number, text in _texts(connection, "nodes") if has_node(text, wanted.node)]
        if not held:
            return None
        conditions.append(or_(*(runs.c.nodes.in_(some) for some in _groups(held))))
    if wanted.patterns.get("campaign"):
        expression = compiled(wanted.patterns["campaign"])
        rows = connection.execute(select(campaigns.c.id, campaigns.c.name))
        conditions.append(runs.c.campaign.in_([number for number, text in rows if expression.search(text)]))
    conditions += [runs.c.bad == int(wanted.bad)] if wanted.bad is not None else []
    conditions += [runs.c.live == int(wanted.live)] if wanted.live is not None else []
    conditions += [runs.c.at >= wanted.since] if wanted.since is not None else []
    conditions += [runs.c.at <= wanted.until] if wanted.until is not None else []
    return [and_(*conditions)] if conditions else []


def _matching(connection: Connection, kind: str, pattern: str) -> list[int]:
    expression = compiled(pattern)
    return [number for number, text in _texts(connection, kind) if expression.search(text)]


def _texts(connection: Connection, kind: str) -> list[tuple[int, str]]:
    """(id, text) of every name of a kind."""
    rows = connection.execute(select(names.c.id, names.c.text).where(names.c.kind == kind))
    return [(number, text) for number, text in rows]


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
