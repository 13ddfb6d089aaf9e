"""What people say of a campaign that nobody drives: recorded at once, told in every table, refused where it names nothing."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from shakedown.conductor.commands.rulings import why_not_waive
from shakedown.conductor.record.documents import Documents
from shakedown.metrics.issues import told_issues
from shakedown.metrics.rows.table import Record
from shakedown.model.contracts import content
from shakedown.model.judging import Contract, ContractRow
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Component, Document, System
from shakedown.queries.status import look, look_at_runs

Run = Callable[..., subprocess.CompletedProcess[str]]


def record_of(site: Path) -> Record:
    return look_at_runs(Layout(site / "campaigns/p-1"))


def test_a_ruling_stands_beside_the_verdict_and_the_last_one_counts(site: Path, people: Run) -> None:
    first = people(
        site, "rule", "r000002", "r000004", "--as", "site", "--by", "Anna", "--because", "the switch was off"
    )
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith("r000002, r000004: ruled site; recorded in p-1: event ")
    people(site, "rule", "r000002", "--as", "vendor", "--by", "Bo", "--because", "it was theirs")
    people(site, "rule", "r000004", "--as", "none", "--by", "Bo", "--because", "nobody knows")
    record = record_of(site)
    rows = {row.run: (row.verdict, row.ruling) for row in record.current()}
    assert rows["r000002"] == ("failed", "vendor")
    assert rows["r000004"] == ("failed", "")
    said = [(row.run, row.party, row.by, row.reason) for row in record.rulings]
    assert said == [
        ("r000002", "site", "Anna", "the switch was off"),
        ("r000004", "site", "Anna", "the switch was off"),
        ("r000002", "vendor", "Bo", "it was theirs"),
        ("r000004", "", "Bo", "nobody knows"),
    ]
    table = people(site, "runs").stdout
    assert "ruled" in table.splitlines()[0]
    assert "vendor" in table
    log = people(site, "log", "--event", "ruled").stdout
    assert "r000002  vendor Bo: it was theirs" in log


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["r000099", "--as", "site", "--by", "A", "--because", "x"], "error: p-1 has no run 'r000099'"),
        (["r000002", "r000099", "--as", "site", "--by", "A", "--because", "x"], "error: p-1 has no run 'r000099'"),
        (
            ["r000002", "--as", "none", "--by", "A", "--because", "x"],
            "error: r000002 has no ruling that could be taken back",
        ),
        (["r000002", "--as", "site", "--by", "A", "--because", "  "], "error: --because is empty"),
        (["r000002", "--as", "site", "--by", " ", "--because", "x"], "error: --by is empty"),
        (["r000002", "--as", "moon", "--by", "A", "--because", "x"], "'moon' is not one of"),
        (["r000002", "--as", "site", "--because", "x"], "Missing option '--by'"),
    ],
)
def test_a_ruling_that_names_nothing_is_refused_and_nothing_is_recorded(
    site: Path, people: Run, words: list[str], said: str
) -> None:
    before = record_of(site).seq
    done = people(site, "rule", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert record_of(site).seq == before


def test_a_change_opens_an_epoch_and_results_keep_theirs(site: Path, people: Run) -> None:
    done = people(site, "change", "--by", "Bo", "--because", "new firmware")
    assert done.stdout.startswith("epoch 2 begins; recorded in p-1: event ")
    record = record_of(site)
    assert record.epoch == look(Layout(site / "campaigns/p-1")).epoch == 2, record.epochs
    assert {row.epoch for row in record.current()} == {1}
    opened = record.epochs[-1]
    assert (opened.number, opened.opened_by, opened.by, opened.reason) == (2, "changed", "Bo", "new firmware")
    assert people(site, "change", "--by", "Bo", "--because", "").returncode == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["functionality", "passd"], "component functionality has no criterion 'passd'; did you mean 'passed'?"),
        (
            ["functionalty", "passed"],
            "the plan in force has no component 'functionalty'; did you mean 'functionality'?",
        ),
        (["functionality", "--gate"], "nothing in the plan in force waits until functionality is met"),
        (
            ["functionality", "--row", "deal:9"],
            "the plan in force has no contract row 'deal:9'; did you mean 'deal:1'?",
        ),
        (
            ["functionality", "--row", "deal:1", "--gate"],
            "--gate, --row, --conditions and --issue are different waivers",
        ),
        (["functionality"], "1 name is given"),
        (["nowhere", "functionality", "passed"], "there is no campaign 'nowhere'"),
    ],
)
def test_a_waiver_that_names_nothing_is_refused(site: Path, people: Run, words: list[str], said: str) -> None:
    done = people(site, "waive", *words, "--restriction", "r", "--by", "A", "--because", "x")
    assert done.returncode == 2
    assert said in done.stderr
    assert not record_of(site).waivers


def test_an_open_issue_is_closed_by_whoever_accepts_it(site: Path, people: Run) -> None:
    """Before that its event is told where another one is named, and afterwards it is closed."""
    assert people(site, "rule", "r000002", "--as", "vendor", "--by", "Ada", "--because", "a cable").returncode == 0
    (ruling,) = record_of(site).rulings
    words = ("--by", "Bo", "--because", "replaced, ticket 17")
    wrong = people(site, "waive", "--issue", "1", *words)
    assert wrong.returncode == 2 and f"event 1 opened no issue; open ones are: {ruling.seq}" in wrong.stderr
    assert people(site, "waive", "--issue", str(ruling.seq), *words).returncode == 0
    (closed,) = [one for one in told_issues(record_of(site)) if one.number == ruling.seq]
    assert (closed.state, closed.closed_by) == ("closed", "Bo accepted it as it is: replaced, ticket 17")
    again = people(site, "waive", "--issue", str(ruling.seq), *words)
    assert again.returncode == 2 and f"issue {ruling.seq} is closed: Bo accepted it as it is" in again.stderr
    named = people(site, "waive", "p-1", "functionality", "--issue", str(ruling.seq), *words)
    assert "an issue is waived for the whole campaign; no component is named" in named.stderr


def test_a_waiver_without_a_restriction_is_refused(site: Path, people: Run) -> None:
    done = people(site, "waive", "functionality", "passed", "--restriction", " ", "--by", "A", "--because", "x")
    assert (done.returncode, done.stderr) == (
        2,
        "error: --restriction is missing or empty\nhint: say what the acceptance is restricted by\n",
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--restriction", "r" * 301, "--by", "A"],
            "error: --restriction is 301 characters long; at most 300 are kept\n",
        ),
        (["--restriction", "r", "--by", "A" * 101], "error: --by is 101 characters long; at most 100 are kept\n"),
    ],
)
def test_what_the_record_would_cut_is_refused(site: Path, people: Run, words: list[str], said: str) -> None:
    """Half a restriction, or half a name, would be signed otherwise."""
    done = people(site, "waive", "functionality", "passed", *words, "--because", "x")
    assert (done.returncode, done.stderr) == (2, said)
    assert not record_of(site).waivers


def test_what_is_as_long_as_the_record_keeps_is_kept_whole(site: Path, people: Run) -> None:
    words = ("--restriction", "r" * 300, "--by", "A" * 100, "--because", "x" * 2000)
    assert people(site, "waive", "functionality", "passed", *words).returncode == 0
    (row,) = record_of(site).waivers
    assert (len(row.restriction), len(row.by), len(row.reason)) == (300, 100, 2000)


def test_a_row_is_waived_for_a_component_that_it_asks_about() -> None:
    """Else nobody hears of it: the row would stay not met where it counts, and the person believes otherwise."""
    row = ContractRow("c:1", "c", "ok", "elapsed", "<= 1 s", "contract", high=1.0, unit="s")
    lost = msgspec.structs.replace(row, name="c:2", test="gone")
    document = Document(
        plan="p",
        system=System("s", (), ()),
        components=(Component("ft", "functionality", ("ok",)), Component("st", "stability", ("other",))),
        cases=(Case("ok", "ok", "local:all", rows=("c:1",)), Case("other", "other", "local:all")),
        tests=(),
        contracts=(Contract("c", (row, lost)),),
    )
    assert why_not_waive(document, "row", "ft", "c:1") == ""
    assert why_not_waive(document, "row", "st", "c:1") == "row c:1 asks nothing of component st; it does of: ft"
    nowhere = "row c:2 asks nothing of component ft; it is in force for no case of the plan"
    assert why_not_waive(document, "row", "ft", "c:2") == nowhere


def test_waivers_are_in_the_record(site: Path, people: Run) -> None:
    rest = ["--restriction", "without bad", "--by", "A", "--because", "agreed"]
    assert people(site, "waive", "p-1", "functionality", "passed", *rest).returncode == 0
    assert people(site, "waive", "functionality", "--row", "deal:1", *rest).returncode == 0
    rows = [(row.what, row.component, row.name, row.restriction, row.by, row.reason) for row in record_of(site).waivers]
    assert rows == [
        ("criterion", "functionality", "passed", "without bad", "A", "agreed"),
        ("row", "functionality", "deal:1", "without bad", "A", "agreed"),
    ]
    (of_row,) = [row for row in record_of(site).waivers if row.what == "row"]
    document = Documents(Layout(site / "campaigns/p-1"))
    (first, *_) = [row for contract in document(record_of(site).document).contracts for row in contract.rows]
    assert (first.name, dict(of_row.row)) == ("deal:1", content(first))


def test_where_somebody_drives_the_wish_is_left_for_them(site: Path, people: Run) -> None:
    from shakedown.events.lease import Lease

    layout = Layout(site / "campaigns/p-1")
    with Lease.acquire(layout):
        done = people(site, "change", "--by", "Bo", "--because", "new firmware", "--json")
    said = json.loads(done.stdout)
    assert said["recorded"] == []
    assert said["said"].startswith("left for the conductor of p-1: ")
    assert record_of(site).epoch == 1
    assert people(site, "resume", "-q").returncode == 1
    assert record_of(site).epoch == 2, record_of(site).epochs


def test_an_amendment_is_recorded_without_a_driver_too(site: Path, people: Run) -> None:
    plan = site / "plans/p.yaml"
    plan.write_text(plan.read_text().replace("repeats: 2", "repeats: 3"))
    done = people(site, "amend", "p", "--by", "Bo", "--because", "one more")
    assert done.returncode == 0, done.stderr
    record = record_of(site)
    assert (record.epoch, record.ended) == (2, None), record.epochs
    assert people(site, "resume", "-q").returncode == 1
    rows = [(row.run, row.epoch) for row in record_of(site).current()]
    assert rows[-1][1] == 2 and len(rows) == 6, record_of(site).epochs


def test_an_amendment_that_describes_a_cluster_anew_is_for_who_drives_next(site: Path, people: Run) -> None:
    """Whoever drives opened the clusters of before; where nobody does, the next conductor opens those of the new plan."""
    from shakedown.events.inbox import post
    from shakedown.events.lease import Lease

    (site / "systems").mkdir(exist_ok=True)
    (site / "systems/box.yaml").write_text(
        "system: box\nclusters: {box: {scheduler: local, partitions: {all: {nodes: localhost, type: t}}}}\n"
        "node_types: {t: {cores: 1}}\n"
    )
    plan = site / "plans/p.yaml"
    plan.write_text(plan.read_text().replace("system: here", "system: box").replace("repeats: 2", "repeats: 3"))
    done = people(site, "amend", "p", "--by", "Bo", "--because", "another description")
    assert (done.returncode, done.stderr) == (0, "")
    assert record_of(site).epoch == 2, record_of(site).epochs
    people(site, "resume", "-q")
    ran = [row for row in record_of(site).current() if row.epoch == 2]
    assert {row.verdict for row in ran} == {"passed", "failed"}

    plan.write_text(plan.read_text().replace("system: box", "system: here"))
    layout = Layout(site / "campaigns/p-1")
    with Lease.acquire(layout):  # a conductor drives: a person hears it at once
        told = people(site, "amend", "p", "--by", "Bo", "--because", "as before")
        assert told.returncode == 2 and "whoever drives opened the clusters of before" in told.stderr
        before = record_of(site).documents[0]
        post(layout, "amend", {"document": before, "by": "Bo"}, "as before")
    people(site, "resume", "-q")
    (refused,) = [line for line in people(site, "log", "--event", "command_refused").stdout.splitlines() if line]
    assert "whoever drives opened the clusters of before" in refused


@pytest.mark.parametrize(
    ("what", "value", "reason", "said"),
    [
        ("rule", {"run": "r000099", "as": "site"}, "x", "there is no run 'r000099' in this campaign"),
        ("rule", {"run": "r0", "as": "site"}, "x", "there is no run 'r0' in this campaign"),
        ("rule", {"run": "r000002", "as": "moon"}, "x", "'moon' is no party; there are vendor, site, application"),
        ("change", {}, " ", "it does not say what was changed"),
        ("waive", {"what": "all"}, "x", "'all' cannot be waived; criterion, gate, row, conditions, issue can"),
        (
            "waive",
            {"what": "criterion", "component": "functionality", "name": "passed"},
            "x",
            "it names no restriction",
        ),
    ],
)
def test_what_comes_through_the_inbox_is_checked_again(
    site: Path, what: str, value: dict[str, str], reason: str, said: str
) -> None:
    """Whoever puts a file into the inbox by hand went past the command's own checks."""
    from shakedown.conductor.commands.offline import carry_out
    from shakedown.events.inbox import post

    layout = Layout(site / "campaigns/p-1")
    post(layout, what, value, reason)
    (event,) = carry_out(layout)
    assert event.event == "command_refused"
    assert said in event.reason
    assert list(layout.inbox.glob("*.json")) == []


def test_a_component_is_run_again_and_what_was_before_counts_too(site: Path, people: Run) -> None:
    """Two tests, two results each; once more: eight results are wanted, and those of before stay in every count."""
    done = people(site, "again", "functionality", "--by", "Anna", "--because", "new cables")
    assert (done.returncode, done.stderr) == (0, "")
    assert people(site, "resume", "-q").returncode == 1
    record = record_of(site)
    assert len(list(record.current())) == 8 and record.ended is not None
    card = json.loads(people(site, "report", "--json", "--no-pdf").stdout)
    text = people(site, "status", "--json").stdout
    assert json.loads(text)["phase"] == "ended" and card
    refused = people(site, "again", "nothing", "--by", "Anna", "--because", "x")
    assert refused.returncode == 2
