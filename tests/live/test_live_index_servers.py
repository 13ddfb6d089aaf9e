"""The index on a database server: it says what the one in a file says, whatever tests print, and one process writes it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from real_servers import needs_mariadb, needs_postgres
from sqlalchemy import text
from tests.live.conftest import Browser
from tests.live.test_live_index import whole

from shakedown.live.indexing import Indexer
from shakedown.live.server import application
from shakedown.model.errors import UsageError
from shakedown.store.index import Batch, Index, IndexAway, writing_alone
from shakedown.store.reading import Filter, campaigns_in, notes_of, runs_of

ODD = "a\0b \U0001f600 \\ ' \" % :x {y} \u202e"
END_ALL = {
    "postgresql": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL",
    "mariadb": "SELECT 1",
}


@pytest.fixture(params=[pytest.param("postgres", marks=needs_postgres), pytest.param("mariadb", marks=needs_mariadb)])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


def test_a_server_holds_what_a_file_holds_through_all_that_happens_to_it(site: Path, index: Index, url: str) -> None:
    shutil.copytree(site / "campaigns/p-1", site / "campaigns/P-1", symlinks=True)  # another one, by its capital alone
    served = Index(url)
    mine, theirs = Indexer(site, index), Indexer(site, served)
    assert sorted(mine.refresh()) == sorted(theirs.refresh()) == ["P-1", "p-1"]
    for name in ("p-1", "P-1"):
        assert whole(served, name) == whole(index, name)
    for words in ({"case": "^ok"}, {"state": "fail"}, {"reason": "status 3"}, {"exit": "3"}):
        wanted = Filter(campaign="p-1", patterns=words, sort="run")
        with served.reading() as one, index.reading() as other:
            assert [row["run"] for row in runs_of(one, wanted)[0]] == [row["run"] for row in runs_of(other, wanted)[0]]
    page = Browser(application(theirs, ["127.0.0.1"], wait_s=None))
    assert page.get("/campaign/p-1?as=json").data["groups"]["failed"] == 2
    shutil.rmtree(site / "campaigns/P-1")
    assert theirs.refresh() == ["P-1"]
    with served.reading() as connection:
        assert [row["name"] for row in campaigns_in(connection)] == ["p-1"]
        connection.execute(text(END_ALL[served.engine.dialect.name]))  # all other connections are gone
    assert theirs.refresh() == [] and whole(served, "p-1") == whole(index, "p-1")
    theirs.start_again()
    assert theirs.refresh() == ["p-1"] and whole(served, "p-1") == whole(index, "p-1")
    again = Index(url)
    assert Indexer(site, again).refresh() == [] and whole(again, "p-1") == whole(index, "p-1")
    again.close()
    served.close()


def test_whatever_a_test_prints_is_kept(url: str) -> None:
    index = Index(url)
    run = {
        "run": "r1", "seq": 1, "at": 1.0, "minute": 0, "live": 0, "bad": 1, "state": "failed", "case": ODD, "test": ODD,
        "component": ODD,
        "nodes": ODD, "reason": ODD * 3000, "failure": ODD, "attempt": 1, "repeat": 1, "epoch": 1, "ordered": 1.0, "started": None,
        "ended": None, "elapsed": None, "exit": None, "job": ODD, "mode": ODD, "ruling": ODD, "ticket": ODD,
        "ticket_by": ODD,
    }  # fmt: skip
    facts = {
        "plan": ODD, "rehearsal": ODD, "started": None, "last": 1.0, "ended": None, "seq": 1, "epoch": 1, "building": 0,
        "position": "{}", "damage": ODD,
    }  # fmt: skip
    note = {"seq": 1, "time": 1.0, "kind": ODD, "says": ODD * 3000, "run": "r1", "case": ODD}
    index.write(Batch("p", facts, [run], {"r1": {ODD: 1.5}}, [note], afresh=True))
    kept = ODD.replace("\0", "\N{SYMBOL FOR NULL}")
    with index.reading() as connection:
        (row,), total = runs_of(connection, Filter(campaign="p"))
        assert (row["case"], row["reason"], row["ticket"], total) == (kept, kept * 3000, kept, 1)
        assert notes_of(connection, 1, 9)[0]["says"] == kept * 3000
    index.close()


def test_one_process_writes_it(url: str) -> None:
    with writing_alone(url), pytest.raises(UsageError, match="another server writes the index"), writing_alone(url):
        raise AssertionError("a second one writes")
    with writing_alone(url):
        pass  # it was given back


@pytest.mark.parametrize("url", ["postgresql+psycopg://x@127.0.0.1:1/x", "mariadb+pymysql://x:secret@127.0.0.1:1/x"])
def test_a_server_that_is_away_has_its_sentence(url: str) -> None:
    for work in (lambda: Index(url), lambda: writing_alone(url).__enter__()):
        with pytest.raises(IndexAway, match="cannot be used: ") as caught:
            work()
        assert "secret" not in str(caught.value)
