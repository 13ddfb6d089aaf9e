"""The index says what the logs say, however they came in: at once, in pieces, by several processes, or after damage."""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from shakedown.events.chain import damage_of
from shakedown.events.lease import Lease
from shakedown.events.looks import Looks
from shakedown.events.reader import read_events
from shakedown.events.seal_check import Damage
from shakedown.live import indexing
from shakedown.live.indexing import Indexer
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout
from shakedown.store import tables
from shakedown.store.index import Index, sqlite_url, writing_alone
from shakedown.store.reading import Filter, campaigns_in, compiled, counted_by_minute, counts_of, notes_of, runs_of


def whole(index: Index, campaign: str) -> tuple[Any, ...]:
    """Everything that an index has of a campaign, but for the times of what is not judged."""
    with index.reading() as connection:
        rows, total = runs_of(connection, Filter(campaign=campaign, limit=10_000, sort="run", rising=True))
        facts = next(row for row in campaigns_in(connection) if row["name"] == campaign)
        number = facts["id"]
        figures = connection.execute(select(tables.figures).where(tables.figures.c.campaign == number)).all()
        named = {row.id: row.text for row in connection.execute(select(tables.names))}
        values = sorted((row.run, named[row.figure], row.value) for row in figures)
        notes = [(row["seq"], row["kind"], row["says"]) for row in notes_of(connection, number, 10_000)]
        counts = counts_of(connection, number).get(number, {})
        minutes = counted_by_minute(connection, number) if all(not row["live"] for row in rows) else []
    assert total == len(rows)
    return [_plain(row) for row in rows], values, notes, counts, minutes, facts["seq"], facts["ended"], facts["damage"]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    times = {"at", "minute", "seq"} if row["live"] else set()
    return {key: value for key, value in row.items() if key not in times | {"campaign"}}


def test_the_index_has_every_run_as_the_record_has_it(site: Path, index: Index) -> None:
    Indexer(site, index).refresh()
    record = fold_runs(read_events(Layout(site / "campaigns/p-1").log))
    rows, _, notes, counts, _, seq, ended, damage = whole(index, "p-1")
    assert {(row["run"], row["state"], row["case"], row["elapsed"], row["exit"]) for row in rows} == {
        (row.run, row.verdict, row.case, row.elapsed_s, row.exit) for row in record.current()
    }
    assert counts == dict(Counter(row.verdict for row in record.current())) == {"passed": 2, "failed": 2}
    assert [row["bad"] for row in rows] == [int(row["state"] == "failed") for row in rows]
    assert len(notes) == len(record.notes)
    assert (seq, ended, damage) == (record.seq, record.ended, "")


@pytest.mark.parametrize("seed", range(4))
def test_a_log_that_comes_in_pieces_leads_to_the_same_index(
    site: Path, index: Index, tmp_path: Path, seed: int
) -> None:
    """Pieces end anywhere, also inside of a line; and another process may go on with the index."""
    lots = random.Random(seed)
    source = site / "campaigns/p-1/log/000001.jsonl"
    written = source.read_bytes()
    segments = sorted(source.parent.glob("0*.jsonl"))
    later = {path: path.read_bytes() for path in segments[1:]}
    for path in later:
        path.unlink()
    other = Index(sqlite_url(tmp_path / "pieces.sqlite"))
    follower = Indexer(site, other)
    for end in sorted(lots.sample(range(200, len(written)), 6)):
        source.write_bytes(written[:end])
        follower.refresh()
        if lots.random() < 0.3:
            follower = Indexer(site, other)
    source.write_bytes(written)
    for path, bytes_ in later.items():
        path.write_bytes(bytes_)
    follower.refresh()
    Indexer(site, index).refresh()
    assert whole(other, "p-1") == whole(index, "p-1")
    other.close()


def test_what_did_not_grow_is_not_read_again(site: Path, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Indexer(site, index).refresh() == ["p-1"]
    monkeypatch.setattr(Index, "write", lambda *_: pytest.fail("nothing is new"))
    again = Indexer(site, index)
    assert again.refresh() == again.refresh() == []


def test_rows_of_a_campaign_that_nobody_drives_take_no_memory(site: Path, index: Index) -> None:
    """A site has a thousand campaigns, and many were left without an end."""
    log = site / "campaigns/p-1/log/000001.jsonl"
    for later in sorted(log.parent.glob("0*.jsonl"))[1:]:
        later.unlink()
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-4]))
    indexer = Indexer(site, index)
    with Lease.acquire(Layout(site / "campaigns/p-1")):
        indexer.refresh()
        assert list(indexer._followed) == ["p-1"]
    indexer.refresh()
    assert list(indexer._followed) == []
    before = whole(index, "p-1")
    log.write_bytes(b"".join(lines))
    assert indexer.refresh() == ["p-1"] and whole(index, "p-1") != before
    Indexer(site, other := Index("sqlite://")).refresh()
    assert whole(index, "p-1") == whole(other, "p-1")


def test_a_campaign_that_is_gone_is_forgotten(site: Path, index: Index) -> None:
    follower = Indexer(site, index)
    follower.refresh()
    shutil.rmtree(site / "campaigns/p-1")
    assert follower.refresh() == ["p-1"]
    with index.reading() as connection:
        assert campaigns_in(connection) == []
        for table in tables.OF_A_CAMPAIGN:
            assert connection.execute(select(table)).all() == []


def test_another_log_in_the_place_of_one_is_read_from_its_beginning(site: Path, index: Index) -> None:
    follower = Indexer(site, index)
    follower.refresh()
    log = site / "campaigns/p-1/log/000001.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    shutil.rmtree(log.parent / "snapshots", ignore_errors=True)
    for path in log.parent.glob("0*.jsonl"):
        path.unlink()
    log.write_bytes(b"".join(lines[:6]))
    fresh = Indexer(site, index)
    assert fresh.refresh() == ["p-1"]
    rows, *_, damage = whole(index, "p-1")
    assert len(rows) < 4
    assert damage  # the log is shorter than it was


def test_a_damaged_record_is_told_and_what_is_known_stays(site: Path, index: Index) -> None:
    log = site / "campaigns/p-1/log/000001.jsonl"
    text = log.read_bytes()
    place = text.index(b'"verdict":"failed"')
    log.write_bytes(text[:place] + b'"verdict":"passed"' + text[place + 18 :])
    Indexer(site, index).refresh()
    *_, damage = whole(index, "p-1")
    assert "000001.jsonl" in damage


def test_an_index_of_another_version_is_built_again(site: Path, tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "old.sqlite")
    old = Index(url)
    Indexer(site, old).refresh()
    with old.engine.begin() as connection:
        connection.execute(tables.about.update().values(value="0"))
    old.close()
    fresh = Index(url)
    assert fresh.positions() == {}
    assert Indexer(site, fresh).refresh() == ["p-1"]
    fresh.close()


def test_what_is_no_index_gives_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.sqlite").write_text("this is no database " * 100)
    with pytest.raises(UsageError, match=r"text\.sqlite cannot be used: file is not a database") as told:
        Index(sqlite_url(tmp_path / "text.sqlite"))
    assert told.value.hint and "--index" in told.value.hint
    with pytest.raises(UsageError, match="cannot be used"):
        Index("nonsense")


def test_expressions_that_take_for_ever_elsewhere_take_no_time(site: Path, index: Index) -> None:
    assert compiled("(a+)+$").search("a" * 5000 + "b") is None
    with pytest.raises(UsageError, match=r"'\(' is not a regular expression: missing \)"):
        compiled("(")
    with pytest.raises(UsageError, match="400 letters is too long"):
        compiled("a" * 400)


def test_damage_that_comes_later_is_found_in_turn_and_goes_again(site: Path, index: Index) -> None:
    shutil.copytree(site / "campaigns/p-1", site / "campaigns/p-2")
    follower = Indexer(site, index)
    assert sorted(follower.refresh()) == ["p-1", "p-2"]
    log = site / "campaigns/p-2/log/000001.jsonl"
    text = log.read_bytes()
    log.write_bytes(text.replace(b'"verdict":"failed"', b'"verdict":"passed"', 1))
    assert sorted(name for _ in range(2) for name in follower.refresh()) == ["p-2"]
    assert {name: bool(why) for name, why in index.damages().items()} == {"p-1": False, "p-2": True}
    log.write_bytes(text)
    assert sorted(name for _ in range(2) for name in follower.refresh()) == ["p-2"]
    assert set(index.damages().values()) == {""}


def test_what_was_found_whole_is_remembered_when_records_are_looked_at_in_turn(
    site: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Path | None] = []

    def looked(layout: Layout, looks: Looks | None = None) -> Damage | None:
        assert layout.root == site / "campaigns/p-1"
        given.append(looks.shelf.folder if looks is not None else None)
        return damage_of(layout, looks)

    monkeypatch.setattr(indexing, "damage_of", looked)
    follower = Indexer(site, index)
    follower.refresh()
    follower.refresh()
    assert len(given) >= 2 and set(given) == {Looks(Layout(site / "campaigns/p-1")).shelf.folder}


def test_two_servers_of_one_file_are_refused(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "index.sqlite")
    with writing_alone(url):
        said = rf"another server writes the index .*: process {os.getpid()} on "
        with pytest.raises(UsageError, match=said) as told, writing_alone(url):
            pytest.fail("both write it")
        assert "--index" in (told.value.hint or "")
        with writing_alone(sqlite_url(tmp_path / "other.sqlite")), writing_alone("sqlite://"):
            pass
    with writing_alone(url):
        assert not (tmp_path / "index.sqlite").exists(), "nothing of the index is touched before"
