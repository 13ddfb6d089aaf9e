"""The tables of the index. Names that come again and again (cases, tests, states, reasons...) stand once in ``names``.

So a regular expression meets each distinct name once, however many runs bear it. Times are seconds since 1970; a ``minute`` is
such a time divided by 60. Whatever the log says may be in here as text: nothing of it is ever part of a statement.
"""

from __future__ import annotations

from sqlalchemy import Column, Double, Index, Integer, MetaData, Table, Text, UniqueConstraint
from sqlalchemy.dialects.mysql import LONGTEXT, VARCHAR

VERSION = 3  # of the tables: an index of another version is thrown away and built again

metadata = MetaData()

# MariaDB and MySQL tell apart what is spelt differently only where that is said, and keep no text in a key without a length.
_MYSQL = ("mysql", "mariadb")
Words = Text().with_variant(LONGTEXT(collation="utf8mb4_bin"), *_MYSQL)
Key = Text().with_variant(VARCHAR(255, collation="utf8mb4_bin"), *_MYSQL)

about = Table("about", metadata, Column("key", Key, primary_key=True), Column("value", Words, nullable=False))

campaigns = Table(
    "campaigns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Key, nullable=False),
    Column("plan", Words, nullable=False),
    Column("rehearsal", Words, nullable=False),  # on what it was rehearsed, in words; "" of a real campaign
    Column("started", Double),
    Column("last", Double, nullable=False),
    Column("ended", Double),
    Column("seq", Integer, nullable=False),  # the last event that is in here
    Column("epoch", Integer, nullable=False),
    Column("building", Integer, nullable=False),  # builds that were ordered and are not over
    Column("position", Words, nullable=False),  # where the log is read on, as JSON
    Column("damage", Words, nullable=False),  # why the record cannot be believed, "" where it is whole
    UniqueConstraint("name"),
)

names = Table(
    "names",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("kind", Key, nullable=False),
    Column("text", Words, nullable=False),
    Index("names_by_kind", "kind"),
)

runs = Table(
    "runs",
    metadata,
    Column("campaign", Integer, primary_key=True),
    Column("run", Key, primary_key=True),
    Column("seq", Integer, nullable=False),  # the event that last changed it
    Column("at", Double, nullable=False),  # when that was
    Column("minute", Integer, nullable=False),
    Column("live", Integer, nullable=False),
    Column("bad", Integer, nullable=False),  # judged, and neither passed nor as expected
    *(
        Column(kind, Integer, nullable=False)
        for kind in ("state", "case", "test", "component", "nodes", "reason", "failure")
    ),
    Column("attempt", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("ordered", Double),
    Column("started", Double),
    Column("ended", Double),
    Column("elapsed", Double),
    Column("exit", Integer),
    Column("job", Words, nullable=False),
    Column("mode", Words, nullable=False),
    Column("ruling", Words, nullable=False),
    Column("ticket", Words, nullable=False),
    Column("ticket_by", Words, nullable=False),
    Index("runs_by_time", "campaign", "at"),
    Index("bad_runs_by_time", "campaign", "bad", "at"),
    Index("runs_by_minute", "campaign", "minute"),
)

figures = Table(
    "figures",
    metadata,
    Column("campaign", Integer, primary_key=True),
    Column("run", Key, primary_key=True),
    Column("figure", Integer, primary_key=True),
    Column("value", Double, nullable=False),
)

notes = Table(
    "notes",
    metadata,
    Column("campaign", Integer, primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("time", Double, nullable=False),
    Column("kind", Integer, nullable=False),
    Column("says", Words, nullable=False),
    Column("run", Words, nullable=False),
    Column("case", Words, nullable=False),
)

minutes = Table(
    "minutes",
    metadata,
    Column("campaign", Integer, primary_key=True),
    Column("minute", Integer, primary_key=True),
    Column("test", Integer, primary_key=True),
    Column("state", Integer, primary_key=True),
    Column("count", Integer, nullable=False),
)

NAMED = ("state", "case", "test", "component", "nodes", "reason", "failure")  # columns of runs that hold a name's id
OF_A_CAMPAIGN = (runs, figures, notes, minutes)
