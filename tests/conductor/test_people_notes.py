"""What people note beside failed runs: a class of failures and a ticket, told everywhere, and nothing is judged by it."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from shakedown.events.reader import read_events
from shakedown.metrics.rows.table import Record
from shakedown.model.layout import Layout
from shakedown.queries.status import look_at_runs
from shakedown.report.reading import read_campaign, scorecard_of

Run = Callable[..., subprocess.CompletedProcess[str]]
SAID = ("--by", "Anna", "--because", "the console log says so")


def record_of(site: Path) -> Record:
    return look_at_runs(Layout(site / "campaigns/p-1"))


def test_a_class_and_a_ticket_stand_beside_what_was_found_and_change_no_outcome(site: Path, people: Run) -> None:
    found = {row.run: (row.verdict, row.failure_class) for row in record_of(site).current()}
    scorecard = scorecard_of(read_campaign(site / "campaigns/p-1"))
    done = people(site, "note", "r000002", "r000004", "--class", "out-of-memory", "--ticket", "INC-17", *SAID)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("r000002, r000004: class out-of-memory, ticket INC-17; recorded in p-1: event ")
    record = record_of(site)
    assert {row.run: (row.verdict, row.failure_class) for row in record.current()} == found
    rows = {row.run: (row.cause, row.cause_family, row.said_by, row.ticket) for row in record.current()}
    assert rows["r000002"] == rows["r000004"] == ("out-of-memory", "out-of-memory", "Anna", "INC-17")
    assert rows["r000001"] == ("", "", "", "") and not record.acts
    assert "out-of-memory" in people(site, "failures").stdout and "2 runs" in people(site, "failures").stdout
    assert "ticket" in people(site, "runs").stdout.splitlines()[0] and "INC-17" in people(site, "runs").stdout
    why = people(site, "why", "r000002").stdout
    assert f"class out-of-memory (by Anna; found: {found['r000002'][1]})" in why and "ticket INC-17 (by Anna)" in why
    assert "r000002  out-of-memory INC-17 Anna: the console" in people(site, "log", "--event", "noted").stdout
    after = scorecard_of(read_campaign(site / "campaigns/p-1"))
    assert (after.outcome, after.components) == (scorecard.outcome, scorecard.components)
    assert people(site, "report", "p-1", "--no-pdf").returncode == 1
    with (site / "campaigns/p-1/report/tables/runs.csv").open() as file:
        table = {row["run"]: row for row in csv.DictReader(file)}
    told = table["r000004"]
    names = ("failure_class", "classified_by", "ticket", "ticket_by")
    assert [told[name] for name in names] == ["out-of-memory", "Anna", "INC-17", "Anna"]
    page = (site / "campaigns/p-1/report.html").read_text()
    assert "as Anna says" in page and "ticket INC-17 (by Anna)" in page


def test_why_tells_the_ruling_in_force(site: Path, people: Run) -> None:
    """The last one that nobody took back, with who said it and why; in the text and for programs."""
    told = []
    for party in ("site", "vendor"):
        done = people(
            site, "rule", "r000002", "--as", party, "--by", "Ben", "--because", f"it was the {party}'s", "--json"
        )
        assert done.returncode == 0, done.stderr
        number = [event.seq for event in read_events(Layout(site / "campaigns/p-1").log) if event.event == "ruled"][-1]
        told.append((number, f"  ruled {party} by Ben (event {number}): it was the {party}'s; the verdict stands"))
        lines = json.loads(people(site, "why", "r000002", "--json").stdout)["lines"]
        assert [line for line in lines if "ruled" in line] == [told[-1][1]]
        assert told[-1][1] in people(site, "why", "r000002").stdout
    assert people(site, "withdraw", str(told[1][0]), "--by", "Ben", "--because", "a mistake").returncode == 0
    assert told[0][1] in people(site, "why", "r000002").stdout
    assert people(site, "rule", "r000002", "--as", "none", "--by", "Ben", "--because", "open again").returncode == 0
    assert "ruled" not in people(site, "why", "r000002").stdout


def test_the_last_word_counts_and_none_takes_each_back_alone(site: Path, people: Run) -> None:
    found = {row.run: row.failure_class for row in record_of(site).current()}["r000002"]
    for words in (("--class", "unclassified", "--ticket", "1"), ("--class", "out-of-memory"), ("--ticket", "none")):
        assert people(site, "note", "r000002", *words, *SAID).returncode == 0
    row = record_of(site).row_of("r000002")
    assert row is not None and (row.cause, row.ticket) == ("out-of-memory", "")
    people(site, "note", "r000002", "--class", "none", *SAID)
    row = record_of(site).row_of("r000002")
    assert row is not None and (row.cause, row.said_by) == (found, "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("r000002", *SAID), "error: it names neither a class of failures nor a ticket"),
        (
            ("r000002", "--class", "out-of-memry", *SAID),
            "there is no class of failures 'out-of-memry'; did you mean 'out-of-memory'?",
        ),
        (("r000002", "--ticket", "9" * 101, *SAID), "the ticket is 101 characters long; at most 100 are kept"),
        (
            ("r000002", "--ticket", "\u200b", *SAID),
            "the ticket has no visible character: say it in words that can be read",
        ),
        (("r000099", "--ticket", "1", *SAID), "there is no run 'r000099' in this campaign"),
        (("r000002", "--ticket", "1", "--by", "A"), "error: --because"),
        (("r000002", "--ticket", "1", "--by", " ", "--because", "x"), "--by is empty"),
    ],
)
def test_a_note_that_says_nothing_is_refused_and_nothing_is_recorded(
    site: Path, people: Run, words: tuple[str, ...], said: str
) -> None:
    before = record_of(site).seq
    done = people(site, "note", *words)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert record_of(site).seq == before


def test_a_class_that_is_none_is_refused_without_an_empty_hint(site: Path, people: Run) -> None:
    done = people(site, "note", "r000002", "--class", "nonsense", *SAID)
    words = "error: there is no class of failures 'nonsense'; 'shakedown failures --catalogue' has them\n"
    assert (done.returncode, done.stderr) == (2, words)
