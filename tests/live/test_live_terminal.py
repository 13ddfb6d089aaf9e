"""``shakedown watch``: the streams of a campaign on a terminal, their filters, and the detail of a run."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, Input, Static

from shakedown.events.reader import read_events
from shakedown.live.terminal import Detail, WatchApp
from shakedown.live.watched import Watched
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.errors import RecordError, UsageError
from shakedown.model.layout import Layout


@pytest.fixture
def watched(site: Path) -> Watched:
    return Watched(Layout(site / "campaigns/p-1"))


@pytest.mark.parametrize(
    ("stream", "words", "runs"),
    [
        ("failures", "", ["r000004", "r000002"]),
        ("runs", "", ["r000004", "r000003", "r000002", "r000001"]),
        ("runs", "^ok$", ["r000003", "r000001"]),
        ("runs", "case=^bad run=2$", ["r000002"]),
        ("runs", "'exit status 3'", ["r000004", "r000002"]),
        ("runs", "state=passed case=bad", []),
        ("runs", "node=nowhere", []),
    ],
)
def test_a_stream_has_the_runs_that_its_filter_lets_through(
    watched: Watched, stream: str, words: str, runs: list[str]
) -> None:
    lines, total = watched.lines(stream, words)
    order = sorted((line["run"] for line in lines), reverse=True)
    assert (order, total) == (runs, len(runs))


def test_a_filter_that_is_none_is_a_sentence(watched: Watched) -> None:
    for words, says in (
        ("case=(", "is not a regular expression"),
        ("cse=x", "there is no column 'cse' here"),
        ("'x", "'x: "),
    ):
        with pytest.raises(UsageError, match=says):
            watched.lines("runs", words)


def test_it_follows_the_log_as_it_grows(site: Path) -> None:
    """Cut after any event, read, let the rest come: what is known is what a fold of the whole log knows."""
    log = site / "campaigns/p-1/log/000001.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    for path in log.parent.glob("0*.jsonl"):
        if path != log:
            path.unlink()
    shutil.rmtree(log.parent / "snapshots", ignore_errors=True)
    log.write_bytes(b"".join(lines[:9]))
    watched = Watched(Layout(site / "campaigns/p-1"))
    assert not watched.refresh()
    log.write_bytes(b"".join(lines))
    assert watched.refresh() and not watched.refresh()
    whole = fold_runs(read_events(log.parent))
    assert (watched.record.runs, watched.record.open, watched.record.seq) == (whole.runs, whole.open, whole.seq)


def _with(app: WatchApp, story: Callable[[Pilot[Any]], Awaitable[None]]) -> None:
    async def play() -> None:
        async with app.run_test(size=(100, 40)) as pilot:
            await pilot.pause()
            await story(pilot)

    asyncio.run(play())


def _rows(app: WatchApp) -> list[list[str]]:
    table: DataTable[Any] = app.query_one(DataTable)
    return [[str(cell) for cell in table.get_row_at(place)] for place in range(table.row_count)]


def test_keys_choose_a_stream_a_filter_and_a_run(watched: Watched) -> None:
    app = WatchApp(watched)

    async def story(pilot: Pilot[Any]) -> None:
        assert {row[1] for row in _rows(app)} == {"r000002", "r000004"} and "× failed" in _rows(app)[0]
        await pilot.press("r")
        assert len(_rows(app)) == 4
        await pilot.press("slash", *"case=^ok", "enter")
        assert {row[1] for row in _rows(app)} == {"ok"} and "runs: 2 lines" in str(
            app.query_one("#about", Static).render()
        )
        await pilot.press("f")
        assert len(_rows(app)) == 2 and app.query_one(Input).value == ""
        await pilot.press("r")
        assert app.query_one(Input).value == "case=^ok" and len(_rows(app)) == 2
        chosen = _rows(app)[1][0]
        await pilot.press("down", "enter")
        assert isinstance(app.screen, Detail) and app.screen.heading == chosen
        await app.workers.wait_for_complete()
        await pilot.pause()
        said = str(app.screen.query_one("#text", Static).render())
        assert f"run {chosen}" in said and "fine" in said and "echo fine" in said
        await pilot.press("escape", "w")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "functionality: 4 of 4 closed" in str(app.screen.query_one("#text", Static).render())

    _with(app, story)


def test_a_detail_stays_open_while_events_come_and_a_key_leads_back(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = WatchApp(watched)

    async def story(pilot: Pilot[Any]) -> None:
        await pilot.press("enter")
        await app.workers.wait_for_complete()
        monkeypatch.setattr(watched, "refresh", lambda: True)
        app.look()
        await pilot.pause()
        assert isinstance(app.screen, Detail)
        await pilot.press("n")
        assert not isinstance(app.screen, Detail) and app.stream == "notes" and _rows(app)
        monkeypatch.setattr(watched, "refresh", _raise)
        app.look()
        await pilot.pause()
        assert "the log is gone" in str(app.query_one("#head", Static).render())

    def _raise() -> bool:
        raise RecordError("the log is gone")

    _with(app, story)


def test_what_a_filter_got_wrong_is_said_and_nothing_ends(watched: Watched) -> None:
    app = WatchApp(watched)

    async def story(pilot: Pilot[Any]) -> None:
        await pilot.press("slash", *"case=(", "enter")
        assert _rows(app) == [] and "is not a regular expression" in str(app.query_one("#about", Static).render())
        await pilot.press("n")
        assert "driver_start" in {row[1] for row in _rows(app)}

    _with(app, story)


def test_without_a_terminal_it_says_what_to_do(
    site: Path, people: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = people(site, "watch", stdin=subprocess.DEVNULL)
    assert (
        done.returncode == 2 and "'shakedown watch' needs a terminal" in done.stderr and "status --watch" in done.stderr
    )
