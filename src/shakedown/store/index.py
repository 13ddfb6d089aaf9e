"""The index: opening it, writing each batch in one transaction, and replacing an index of another version by an empty one.

Start reading at ``Index.write``. One transaction holds both the rows read from a log and the position up to which the log was
read. After a crash the index may therefore be behind the log, but it is never wrong.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    bindparam,
    create_engine,
    delete,
    event,
    func,
    insert,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from shakedown.model.errors import UsageError
from shakedown.store import tables
from shakedown.store.tables import (
    NAMED,
    OF_A_CAMPAIGN,
    VERSION,
    campaigns,
    figures,
    metadata,
    minutes,
    names,
    notes,
    runs,
)

MANY = 500  # values in one statement: databases have a limit


@dataclass(slots=True)
class Batch:
    """The rows from one reading of a campaign's log. ``afresh``: the rows that the index has of the campaign are deleted first.

    ``facts``: the columns of ``campaigns``. ``runs``: rows of ``runs`` with names as words; ``figures``: run -> figure -> value;
    ``notes``: rows of ``notes`` with the kind as a word.
    """

    campaign: str
    facts: dict[str, Any]
    runs: list[dict[str, Any]] = field(default_factory=list)
    figures: dict[str, Mapping[str, float]] = field(default_factory=dict)
    notes: list[dict[str, Any]] = field(default_factory=list)
    afresh: bool = False


class IndexAway(UsageError):
    """The database of the index cannot be reached, read or written."""


class Index:
    """An index of campaigns in the database at ``url``, such as ``sqlite:////home/me/index.sqlite``.

    Errors: IndexAway where the database cannot be reached or written. One process writes; any number reads.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._known: dict[tuple[str, str], int] = {}
        with self._told():
            self.engine = _engine(url)
            self._make()

    def make_again(self) -> None:
        """Purpose: make an empty index, after the earlier one was deleted or became unreadable. Errors: UsageError."""
        self._known = {}
        with self._told():
            self.engine.dispose()
            if self.engine.dialect.name == "sqlite" and self.engine.url.database:
                with contextlib.suppress(OSError):
                    Path(self.engine.url.database).parent.mkdir(parents=True, exist_ok=True)
            self._make()

    def close(self) -> None:
        self.engine.dispose()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for reading; all its queries see the same state of the index."""
        with self._told(), self.engine.connect() as connection:
            yield connection

    def check(self) -> None:
        """Purpose: check that the index still exists. Errors: IndexAway if somebody deleted it."""
        with self.reading() as connection:
            known = connection.scalar(select(tables.about.c.value).where(tables.about.c.key == "version"))
        if known != str(VERSION):
            raise IndexAway(f"the index {_without_password(self.url)} was thrown away")

    def positions(self) -> dict[str, str]:
        """Purpose: campaign -> the position up to which the index contains its log, as JSON."""
        with self.reading() as connection:
            rows = connection.execute(select(campaigns.c.name, campaigns.c.position))
            return {row.name: row.position for row in rows}

    def damages(self) -> dict[str, str]:
        """Purpose: campaign -> how its record is damaged; "" for an intact record."""
        with self.reading() as connection:
            return {row.name: row.damage for row in connection.execute(select(campaigns.c.name, campaigns.c.damage))}

    def tell_damage(self, campaign: str, why: str) -> None:
        """Purpose: enter that a record is damaged, and why; ``why`` "" enters that the record is intact again."""
        with self._told(), self.engine.begin() as connection:
            connection.execute(update(campaigns).where(campaigns.c.name == campaign).values(damage=why))

    def write(self, batch: Batch) -> None:
        """Purpose: write a batch in one transaction."""
        with self._told(), self.engine.begin() as connection:
            batch = _fit(batch)
            number = _campaign(connection, batch)
            if batch.afresh:
                _forget(connection, number)
            touched = _minutes_of(connection, number, [row["run"] for row in batch.runs])
            self._runs(connection, number, batch.runs)
            self._figures(connection, number, batch.figures)
            self._notes(connection, number, batch.notes)
            _count_again(connection, number, touched | {row["minute"] for row in batch.runs})

    def drop(self, campaign: str) -> None:
        """Purpose: delete a campaign that no longer exists from the index."""
        with self._told(), self.engine.begin() as connection:
            number = connection.scalar(select(campaigns.c.id).where(campaigns.c.name == campaign))
            if number is not None:
                _forget(connection, number)
                connection.execute(delete(campaigns).where(campaigns.c.id == number))

    # ---- parts of ``write``

    def _runs(self, connection: Connection, campaign: int, rows: list[dict[str, Any]]) -> None:
        ids = self._names(connection, {(kind, row[kind]) for row in rows for kind in NAMED})
        plain = [row | {kind: ids[kind, row[kind]] for kind in NAMED} | {"campaign": campaign} for row in rows]
        _replace(connection, runs, campaign, plain)

    def _figures(self, connection: Connection, campaign: int, found: dict[str, Mapping[str, float]]) -> None:
        ids = self._names(connection, {("figure", name) for values in found.values() for name in values})
        for some in _groups(list(found)):
            connection.execute(delete(figures).where(figures.c.campaign == campaign, figures.c.run.in_(some)))
        rows = [
            {"campaign": campaign, "run": run, "figure": ids["figure", name], "value": value}
            for run, values in found.items()
            for name, value in values.items()
        ]
        if rows:
            connection.execute(insert(figures), rows)

    def _notes(self, connection: Connection, campaign: int, found: list[dict[str, Any]]) -> None:
        ids = self._names(connection, {("note", row["kind"]) for row in found})
        rows = [row | {"campaign": campaign, "kind": ids["note", row["kind"]]} for row in found]
        if rows:
            connection.execute(insert(notes), rows)

    def _names(self, connection: Connection, wanted: set[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """The ids of these names; new names are added to the table of names."""
        if not self._known:
            self._known = {(kind, text): number for number, kind, text in connection.execute(select(names))}
        new = sorted(wanted - self._known.keys())
        if new:
            first = (connection.scalar(select(func.max(names.c.id))) or 0) + 1
            fresh = {key: number for number, key in enumerate(new, start=first)}
            connection.execute(
                insert(names), [{"id": n, "kind": kind, "text": text} for (kind, text), n in fresh.items()]
            )
            self._known |= fresh
        return {key: self._known[key] for key in wanted}

    # ---- opening

    def _make(self) -> None:
        with self.engine.begin() as connection:
            metadata.create_all(connection)
            known = connection.scalar(select(tables.about.c.value).where(tables.about.c.key == "version"))
            if known == str(VERSION):
                return
            metadata.drop_all(connection)
            metadata.create_all(connection)
            connection.execute(insert(tables.about), [{"key": "version", "value": str(VERSION)}])

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            with _telling(self.url):
                yield
        except IndexAway:
            self._known = {}  # names from a transaction that was rolled back are not in the database
            raise


@contextlib.contextmanager
def _telling(url: str) -> Iterator[None]:
    """Turn errors of the database or its driver into IndexAway with a message for the user."""
    try:
        yield
    except ModuleNotFoundError as error:
        message = f"the index {_without_password(url)} needs a driver that is not installed: {error.name}"
        raise IndexAway(message, hint="install its package with pip, or leave --index out") from error
    except SQLAlchemyError as error:
        why = str(getattr(error, "orig", None) or error).splitlines()[0]
        message = f"the index {_without_password(url)} cannot be used: {why}"
        hint = "name another one with --index; an index can always be thrown away"
        raise IndexAway(message, hint=hint) from error


def _fit(batch: Batch) -> Batch:
    """The batch with each NUL character replaced: PostgreSQL refuses NUL, and the output of a test may contain it."""
    figures: dict[str, Mapping[str, float]] = {}
    for run, found in batch.figures.items():
        figures[run] = {_plain(name): value for name, value in found.items()}
    runs, notes = ([_plain_row(row) for row in rows] for rows in (batch.runs, batch.notes))
    return Batch(batch.campaign, _plain_row(batch.facts), runs, figures, notes, batch.afresh)


def _plain_row(row: dict[str, Any]) -> dict[str, Any]:
    return {key: _plain(value) if isinstance(value, str) else value for key, value in row.items()}


def _plain(text: str) -> str:
    return text.replace("\0", "\N{SYMBOL FOR NULL}")


def _engine(url: str) -> Engine:
    if make_url(url).get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=True)  # reconnects after a restart of the database server
    engine = create_engine(url, poolclass=NullPool if url.startswith("sqlite:///") and url != "sqlite://" else None)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _set_up_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    """Set SQLite so that readers do not wait for the writer, and without sync: a lost index can be built again from the logs."""
    for pragma in (
        "journal_mode=WAL",
        "synchronous=OFF",
        "busy_timeout=10000",
        "temp_store=MEMORY",
        "cache_size=-65536",
    ):
        connection.execute(f"PRAGMA {pragma}")


@contextlib.contextmanager
def writing_alone(url: str) -> Iterator[None]:
    """Purpose: hold the lock of the only writer of an index while the context lasts. Enter it before the first access to the index.

    Errors: UsageError if another process holds the lock. SQLite: a lock file; PostgreSQL and MariaDB: a lock of the connection.
    """
    path = _file_of(url)
    if path is None:
        with _held_on_a_server(url):
            yield
        return
    lock = path.with_name(f".{path.name}.lock")
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise UsageError(
            f"the index {path} cannot be held: {lock}: {error.strerror}", hint="name another one with --index"
        ) from error
    try:
        _lock(handle, path)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def _held_on_a_server(url: str) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        with _telling(url):
            engine = _engine(url)
            stack.callback(engine.dispose)  # closes the connection, which releases the lock
            asked = _HELD.get(engine.dialect.name)
            if asked:
                connection = stack.enter_context(engine.connect().execution_options(isolation_level="AUTOCOMMIT"))
                held = connection.scalar(text(asked))
                if not held:
                    message = f"another server writes the index {_without_password(url)}"
                    raise UsageError(message, hint="look at its page, or name an index of your own with --index")
        yield


# Per dialect, the query for the writer's lock; the database server releases the lock when the connection ends, also after a crash.
_HELD = {
    "postgresql": "SELECT pg_try_advisory_lock(hashtext('shakedown index'))",
    "mysql": "SELECT GET_LOCK(CONCAT('shakedown index ', DATABASE()), 0)",
    "mariadb": "SELECT GET_LOCK(CONCAT('shakedown index ', DATABASE()), 0)",
}


def _lock(handle: int, path: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        who = os.pread(handle, 80, 0).decode("utf-8", "replace").strip()
        message = f"another server writes the index {path}" + (f": {who}" if who else "")
        raise UsageError(message, hint="look at its page, or name an index of your own with --index") from error
    except OSError:
        return  # a file system without locks
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"process {os.getpid()} on {os.uname().nodename}\n".encode(), 0)


def _file_of(url: str) -> Path | None:
    """The file of an SQLite index; None for an index in memory or on a server, and for an invalid URL."""
    from sqlalchemy.exc import ArgumentError

    try:
        known = make_url(url)
    except ArgumentError:
        return None
    in_file = known.get_backend_name() == "sqlite" and known.database not in (None, "", ":memory:")
    return Path(str(known.database)) if in_file else None


def sqlite_url(path: Path) -> str:
    """Purpose: the database URL of an SQLite index in a file."""
    return f"sqlite:///{path.resolve()}"


def _without_password(url: str) -> str:
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return json.dumps(url)


def _campaign(connection: Connection, batch: Batch) -> int:
    found = connection.scalar(select(campaigns.c.id).where(campaigns.c.name == batch.campaign))
    if found is None:
        number = (connection.scalar(select(func.max(campaigns.c.id))) or 0) + 1
        connection.execute(insert(campaigns), [{"id": number, "name": batch.campaign, **batch.facts}])
        return int(number)
    connection.execute(update(campaigns).where(campaigns.c.id == found).values(**batch.facts))
    return int(found)


def _forget(connection: Connection, campaign: int) -> None:
    for table in OF_A_CAMPAIGN:
        connection.execute(delete(table).where(table.c.campaign == campaign))


def _replace(connection: Connection, table: Any, campaign: int, rows: list[dict[str, Any]]) -> None:
    """Replace the rows of these runs: delete, then insert, because every database supports these two statements."""
    for some in _groups([row["run"] for row in rows]):
        connection.execute(delete(table).where(table.c.campaign == campaign, table.c.run.in_(some)))
    if rows:
        connection.execute(insert(table), rows)


def _minutes_of(connection: Connection, campaign: int, changed: list[str]) -> set[int]:
    """The minutes in which the index counts these runs before the batch is written."""
    found: set[int] = set()
    for some in _groups(changed):
        rows = select(runs.c.minute).distinct().where(runs.c.campaign == campaign, runs.c.run.in_(some))
        found |= set(connection.scalars(rows))
    return found


def _count_again(connection: Connection, campaign: int, touched: set[int]) -> None:
    """Compute the counts of these minutes again from the table of runs, so that they are right after any change of the runs."""
    for some in _groups(sorted(touched)):
        connection.execute(delete(minutes).where(minutes.c.campaign == campaign, minutes.c.minute.in_(some)))
        group = [runs.c.campaign, runs.c.minute, runs.c.test, runs.c.state]
        counted = select(*group, func.count()).where(runs.c.campaign == bindparam("c"), runs.c.minute.in_(some))
        filled = insert(minutes).from_select(["campaign", "minute", "test", "state", "count"], counted.group_by(*group))
        connection.execute(filled, {"c": campaign})


def _groups(values: Iterable[Any]) -> Iterator[list[Any]]:
    """The values in groups that fit into one statement."""
    listed = list(values)
    for start in range(0, len(listed), MANY):
        yield listed[start : start + MANY]
