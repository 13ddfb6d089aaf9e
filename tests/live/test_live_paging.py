"""Pages of a stream of runs: each begins behind the last row of the one before, whatever arrives or changes meanwhile."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from real_servers import needs_mariadb, needs_postgres
from sqlalchemy import select, update
from tests.live.conftest import Browser

from shakedown.live.indexing import Indexer
from shakedown.live.pages import TEXTS
from shakedown.live.server import application
from shakedown.store.index import Index
from shakedown.store.reading import SORTABLE, Filter, page_of
from shakedown.store.tables import runs

ROWS = 25
SERVERS = [pytest.param("postgres", marks=needs_postgres), pytest.param("mariadb", marks=needs_mariadb)]


def fill(index: Index, site: Path) -> None:
    Indexer(site, index).refresh()
    draw = random.Random(5)
    with index.engine.begin() as connection:
        known = [dict(row._mapping) for row in connection.execute(select(runs).order_by(runs.c.run))]
        for number in range(5, ROWS + 1):
            run = dict(draw.choice(known)) | {"run": f"r{number:06d}", "at": draw.choice([1.5e9 + 0.1, 1.6e9, 1.7e9])}
            run |= {key: draw.choice([None, 1, 2]) for key in ("exit", "elapsed", "started", "ended")}
            connection.execute(runs.insert().values(run))


def walked(index: Index, wanted: Filter) -> list[list[tuple[str, str]]]:
    """All pages from the first to the last, and back again; they are the same both ways."""
    with index.reading() as connection:
        found = [page_of(connection, wanted)]
        while place := found[-1]["later"]:
            found.append(page_of(connection, replace(wanted, place=place)))
        assert {page["total"] for page in found} == {found[0]["total"]}
        back = [found[-1]]
        while place := back[-1]["earlier"]:
            back.append(page_of(connection, replace(wanted, place=place)))
    forth = [keys(page) for page in found]
    assert [keys(page) for page in reversed(back)] == forth
    return forth


def keys(page: dict[str, Any]) -> list[tuple[str, str]]:
    return [(row["campaign"], row["run"]) for row in page["rows"]]


def walk_in_any_order(index: Index, pattern: dict[str, str], sorts: Sequence[str]) -> None:
    for sort in sorts:
        for rising in (False, True):
            wanted = Filter(patterns=pattern, sort=sort, rising=rising, limit=6, texts=TEXTS)
            found = walked(index, wanted)
            assert [len(page) for page in found[:-1]] == [6] * (len(found) - 1)
            (whole,) = walked(index, replace(wanted, limit=500))
            assert [key for page in found for key in page] == whole and len(set(whole)) == len(whole)
            assert len(whole) == ROWS if not pattern else 6 < len(whole) < ROWS


@pytest.mark.parametrize("pattern", [{}, {"exit": "^[12]?$", "state": "."}])
def test_every_run_is_on_one_page_in_any_order(site: Path, index: Index, pattern: dict[str, str]) -> None:
    fill(index, site)
    walk_in_any_order(index, pattern, SORTABLE)


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_has_the_same_pages(request: pytest.FixtureRequest, site: Path, index: Index, server: str) -> None:
    fill(index, site)
    served = Index(str(request.getfixturevalue(server)))
    fill(served, site)
    sorts = ("at", "run", "case", "elapsed", "exit")
    walk_in_any_order(served, {}, sorts)
    for wanted in (Filter(sort=sort, rising=rising) for sort in sorts for rising in (False, True)):
        assert walked(served, wanted) == walked(index, wanted)
    served.close()


def test_runs_without_a_value_come_last(site: Path, index: Index) -> None:
    fill(index, site)
    for rising in (False, True):
        with index.reading() as connection:
            values = [row["elapsed"] for row in page_of(connection, Filter(sort="elapsed", rising=rising))["rows"]]
        said = [value for value in values if value is not None]
        assert said == sorted(said, reverse=not rising) and values == said + [None] * (len(values) - len(said)) != said


def test_the_next_page_repeats_no_row_and_leaves_none_out_while_rows_arrive_and_move(site: Path, index: Index) -> None:
    fill(index, site)
    browser = Browser(application(Indexer(site, index), ["127.0.0.1"], wait_s=None))
    address = "/campaign/p-1/runs?as=json&rows=10"
    first = browser.get(address).data
    before = [row["run"] for row in first["rows"]]
    unseen = {f"r{number:06d}" for number in range(1, ROWS + 1)} - set(before)
    seen: list[str] = []
    data, number = first, 100
    while data["later"]:
        with index.engine.begin() as connection:  # five new ones, and the last row of this page changes once more
            known = dict(connection.execute(select(runs).limit(1)).one()._mapping)
            for _ in range(5):
                number += 1
                connection.execute(runs.insert().values(known | {"run": f"r{number:06d}", "at": 2e9 + number}))
            last = data["rows"][-1]["run"]
            connection.execute(update(runs).where(runs.c.run == last).values(at=3e9 + number))
        data = browser.get("/campaign/p-1/runs" + data["later"]).data
        seen += [row["run"] for row in data["rows"]]
    assert len(seen) == len(set(seen)) and set(seen) == unseen
    assert data["total"] > ROWS and data["earlier"].startswith("?as=json&rows=10&before=")
