"""Campaigns as baselines of another one: read, sealed, refused where they could move, and looked at by whoever drives."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from compared_campaigns import HERE, PLAN, TEST, campaign
from msgspec.structs import replace

from shakedown.cli.main import cli
from shakedown.conductor.driver.baselines import look_at_baselines
from shakedown.conductor.record.baselines import look_at, past_of, read_baseline
from shakedown.events.lease import Lease
from shakedown.events.opening import open_log
from shakedown.events.reader import read_events
from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.populations import populations
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.errors import FileProblems, ShakedownError, UsageError
from shakedown.model.events import Event
from shakedown.model.frozen import digest, freeze
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document
from shakedown.plans import read_plan
from shakedown.queries.comparisons import Asked, read_sources
from shakedown.report.reading import read_campaign

AGAIN = """plan: again
system: here
baselines: {before: {campaign: p-1}}
components:
  - performance:
      tests: [a]
      repeats: 12
      criteria:
        rate: {measure: change since, of: triad, since: before, must: "<= 5%"}
"""


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "site"
    files = {"site.yaml": "site: s\n", "tests/a.yaml": TEST, "plans/p.yaml": PLAN, "plans/again.yaml": AGAIN}
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return path


def plan(room: Path, name: str = "again") -> Document:
    return read_plan(room, name, lambda: HERE, past=past_of(room))


def ran(room: Path, **more: Any) -> Document:
    """The campaign p-1, and the plan that is held against it."""
    campaign(room, read_plan(room, "p", lambda: HERE), "p-1", **more)
    return plan(room)


def shakedown(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, list(words), standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return int(done.return_value or 0), done.output


def add(layout: Layout, *events: Event) -> None:
    last = max(event.seq for event in read_events(layout.log))
    with Lease.acquire(layout) as lease:
        log, _ = open_log(layout.log, lease)
        log.append([Event(one.event, last + n, 2e8, value=one.value, reason=one.reason, case=one.case, run=one.run)
                    for n, one in enumerate(events, 1)])  # fmt: skip
        log.close()


def test_a_campaign_is_frozen_with_what_judging_counts(room: Path) -> None:
    (baseline,) = ran(room).baselines
    assert baseline.name == "before" and baseline.campaign == "p-1" and not baseline.seal
    assert [(case.component, case.where, case.judged, case.failed) for case in baseline.cases] == [
        ("performance", (("n", n),), 12, 0) for n in "123"
    ]
    assert all(len(case.samples) == 1 and len(case.samples[0].values) == 12 for case in baseline.cases)
    assert baseline.cases[0].samples[0].runs[:2] == ("r000003", "r000006")


@pytest.mark.parametrize(
    ("more", "epoch", "said", "hint"),
    [
        ({"over": False}, 0, "campaign p-1 is not over, and a baseline must not move", "wait until it is over"),
        ({"over": False, "changed": True}, 2, "campaign p-1 is not over", "or an earlier epoch: 1 to 1"),
        ({}, 2, "campaign p-1 has no epoch 2: it had one epoch", "name one that it had"),
        ({"count": 0}, 0, "no run of p-1 was judged", "that has runs"),
        ({"rehearsal": {"seed": 1}}, 0, "p-1 is a rehearsal", "name a campaign that ran"),
    ],
)
def test_what_could_move_or_was_no_measurement_is_no_baseline(
    room: Path, more: dict[str, Any], epoch: int, said: str, hint: str
) -> None:
    campaign(room, read_plan(room, "p", lambda: HERE), "p-1", **more)
    with pytest.raises(UsageError) as caught:
        read_baseline(room, "p-1", epoch)
    assert said in caught.value.message and hint in (caught.value.hint or "")


def test_an_epoch_that_is_over_is_a_baseline_of_a_campaign_that_goes_on(room: Path) -> None:
    campaign(room, read_plan(room, "p", lambda: HERE), "p-1", over=False, changed=True)
    baseline = read_baseline(room, "p-1", 1)
    assert [case.judged for case in baseline.cases] == [6, 6, 6] and baseline.words.startswith("epoch 1 of p-1 (not")


def test_check_says_that_a_campaign_is_away(room: Path) -> None:
    with pytest.raises(FileProblems) as caught:
        shakedown("check", "--site", str(room))
    (problem,) = caught.value.problems
    assert "baselines.before: there is no campaign 'p-1'" in problem.message
    assert (problem.line, problem.column) == (3, 32)
    ran(room)
    assert shakedown("check", "--site", str(room))[0] == 0


def test_a_damaged_campaign_is_no_baseline(room: Path) -> None:
    ran(room)
    segment = room / "campaigns/p-1/log/000001.jsonl"
    segment.write_bytes(segment.read_bytes().replace(b'"passed"', b'"failed"', 1))
    with pytest.raises(ShakedownError, match="damaged"):
        plan(room)


def test_a_baseline_that_was_judged_otherwise_or_is_away_is_seen(room: Path) -> None:
    (before,) = ran(room).baselines
    layout = Layout(room / "campaigns/p-1")
    value = {"component": "performance", "repeat": 1, "attempt": 1, "verdict": "failed", "supersedes": 2}
    add(layout, Event("verdict", value=value, reason="other", case="a/n=1", run="r000003"))
    state, said = look_at(room, before)
    assert state == "changed" and "p-1 no longer says what was frozen of it: values " in said
    shutil.move(layout.root, room / "elsewhere")
    assert look_at(room, before)[0] == "away"


class Driver:
    """As much of a conductor as a look takes: the plan in force, the log, and a place for what is found."""

    def __init__(self, document: Document, layout: Layout) -> None:
        self.state = type("State", (), {"index": type("Index", (), {"document": document})})
        self.layout, self.found = layout, list[Event]()

    def commit(self) -> None:
        if self.found:
            add(self.layout, *self.found)
            self.found = []

    def reread(self) -> Any:
        return read_events(self.layout.log)

    def log(self, event: str, value: dict[str, Any], reason: str) -> None:
        self.found.append(Event(event, value=value, reason=reason))


def test_whoever_drives_says_once_what_became_of_it_and_when_it_is_back(room: Path) -> None:
    document = ran(room)
    campaign(room, document, "again-2")
    layout, old, away = Layout(room / "campaigns/again-2"), room / "campaigns/p-1", room / "away"
    look: Any = lambda: look_at_baselines(Driver(document, layout), room)  # type: ignore[arg-type]  # noqa: E731
    told, outcomes = [], []
    for step in (lambda: None, lambda: old.rename(away), lambda: None, lambda: away.rename(old), lambda: None):
        step()
        look()
        record = fold_runs(read_events(layout.log))
        told.append([note.value["state"] for note in record.of_kind("finding")])
        outcomes.append(score(document, record).components[0].criteria[0].outcome)
    assert told == [[], ["away"], ["away"], ["away", "same"], ["away", "same"]]
    assert outcomes == ["met", "undecided", "undecided", "met", "met"]


def test_status_and_report_show_what_it_is_held_against(room: Path) -> None:
    document = ran(room)
    campaign(room, document, "again-2", slow=0.2)
    words = document.baselines[0].words
    assert f"baseline before: {words}" in shakedown("status", "again-2", "--site", str(room))[1]
    code, said = shakedown("status", "again-2", "--site", str(room), "--json")
    assert json.loads(said)["baselines"] == [{"baseline": "before", "against": words, "state": "as frozen", "says": ""}]
    code, said = shakedown("report", "again-2", "--site", str(room))
    assert code == 1 and "20.0% worse" in " ".join(said.split())
    page = (room / "campaigns/again-2/report.html").read_text()
    assert '<h2 id="changes">Changes since</h2>' in page and words in page
    lines = (room / "campaigns/again-2/report/tables/changes.csv").read_text().splitlines()
    assert len(lines) == 4 and [",not met," in line for line in lines] == [False, False, True, False]


OF_A_RUN = """plan: again
system: here
baselines: {before: {campaign: p-1}}
components:
  - functionality:
      tests: [ok]
      criteria:
        time: {measure: change since, of: elapsed, since: before, must: "<= 50%"}
"""


def test_a_sealed_campaign_is_named_and_looked_at_by_run_resume_and_verify(site: Path, people: Any) -> None:
    """The whole way, with programs that run: sealed, held against, moved away, and put back."""
    before = read_baseline(site, "p-1", 0)
    assert people(site, "seal", "p-1", "--by", "Ada").returncode == 0
    sealed = read_baseline(site, "p-1", 0)
    assert sealed.digest == before.digest and sealed.words == f"p-1 (sealed {sealed.seal[:16]})"
    (site / "plans/again.yaml").write_text(OF_A_RUN)
    done = people(site, "run", "again", "-q")
    assert done.returncode == 4, done.stderr
    assert f"held against {sealed.words}" in " ".join(done.stdout.split())
    said = people(site, "verify", "again-1")
    assert said.returncode == 0 and "checked: baseline before: p-1 is as it was frozen" in said.stdout
    place, elsewhere = site / "campaigns/p-1", site / "p-1"
    told = []
    for old, new in ((place, elsewhere), (elsewhere, place)):
        old.rename(new)
        said = people(site, "verify", "again-1").stdout
        people(site, "resume", "again-1", "-q")
        record = fold_runs(read_events(site / "campaigns/again-1/log"))
        found = [note.value["state"] for note in record.of_kind("finding") if note.value["kind"] == "baseline"]
        told.append(("not checked: baseline before: there is no campaign 'p-1'" in said, found))
    assert told == [(True, ["away"]), (False, ["away", "same"])]


def test_what_an_amendment_took_out_and_another_one_brought_back_counts_for_no_reader_until_it_ran_anew(
    room: Path,
) -> None:
    """The third case was out for a while: its report counts none of its runs, and so do a baseline and a comparison."""
    document = read_plan(room, "p", lambda: HERE)
    campaign(room, document, "p-1", over=False)
    layout = Layout(room / "campaigns/p-1")
    (part,) = document.components
    for about, cases in (("without it", part.cases[:2]), ("with it", part.cases)):
        after = replace(document, about=about, components=(replace(part, cases=cases),))
        layout.document(digest(freeze(after))).write_bytes(freeze(after))
        value = {"document": digest(freeze(after)), "components": ["performance"], "difference": [about], "by": "Bo"}
        add(layout, Event("amended", value=value))
    add(layout, Event("campaign_end", value={"counts": {}}))
    read = read_campaign(layout.root)
    reported = populations(read.document, read.record)["performance"].cases
    assert [len(case.rows) for case in reported] == [12, 12, 0]
    assert [case.where for case in read_baseline(room, "p-1", 0).cases] == [(("n", "1"),), (("n", "2"),)]
    (source,) = read_sources([Asked(layout.root, "p-1")])
    seen = populations(source.document, source.record)["performance"].cases
    assert [len(case.rows) for case in seen] == [12, 12, 0]
