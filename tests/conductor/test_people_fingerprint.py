"""Fingerprints of a campaign: at the start, on resume and on demand; a machine that changed opens an epoch."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from shakedown.cli.main import cli
from shakedown.conductor.commands import fingerprints
from shakedown.conductor.commands.fingerprints import fingerprint_event
from shakedown.events.reader import read_events
from shakedown.machine.fingerprint_here import Answers
from shakedown.model.layout import Layout
from shakedown.queries.status import look, look_at_runs

Run = Callable[..., subprocess.CompletedProcess[str]]


def layout_of(site: Path) -> Layout:
    return Layout(site / "campaigns/p-1")


def test_it_is_taken_before_the_first_order_and_on_resume(site: Path, people: Run) -> None:
    names = [event.event for event in read_events(layout_of(site).log)]
    assert names.index("fingerprint") < names.index("submit_order")
    assert people(site, "resume", "-q").returncode == 1
    record = look_at_runs(layout_of(site))
    assert [row.changed for row in record.fingerprints] == [False, False]
    assert (record.epoch, record.fingerprints[-1].reason) == (1, "1 node; as it was the last time")


def test_on_demand_without_a_driver(site: Path, people: Run) -> None:
    done = people(site, "fingerprint", "p-1", "--by", "Anna", "--because", "after the update")
    assert done.returncode == 0, done.stderr
    assert "1 node; as it was the last time" in done.stdout
    event = list(read_events(layout_of(site).log))[-1]
    assert (event.value["by"], event.value["because"]) == ("Anna", "after the update")
    assert (layout_of(site).root / event.value["facts_file"]).is_file()


def test_without_a_campaign_it_is_printed_and_kept_nowhere(tmp_path: Path, people: Run) -> None:
    done = people(tmp_path, "fingerprint", "--json")
    (facts,) = json.loads(done.stdout)["nodes"].values()
    assert facts["kernel"].startswith("Linux")
    assert list(tmp_path.iterdir()) == []


def test_words_that_would_be_kept_nowhere_are_refused(site: Path, people: Run) -> None:
    done = people(site, "fingerprint", "--by", "Anna")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: --by and --because are kept in the record of a campaign\nhint: name one: fingerprint CAMPAIGN\n"
    )
    done = people(site, "fingerprint", "p-1", "--by", "A" * 101)
    assert (done.returncode, done.stderr) == (2, "error: --by is 101 characters long; at most 100 are kept\n")


@pytest.mark.parametrize("command", [("fingerprint", "p-1"), ("cancel", "--all", "--campaign", "p-1")])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--by", "An\u200bna", "--because", "x"), "--by: it has an invisible character (U+200B)"),
        (("--by", "Ann\u0430", "--because", "x"), "--by: 'Ann\u0430' has letters of two alphabets"),
        (("--by", " ", "--because", "x"), "--by is empty"),
        (("--because", "\u2800"), "--because has no visible character"),
        (("--because", " "), "--because is empty"),
        (("--because", "x" * 2001), "--because is 2001 characters long; at most 2000 are kept"),
    ],
)
def test_words_that_a_conductor_would_refuse_are_refused_at_once(
    site: Path, people: Run, command: tuple[str, ...], words: tuple[str, ...], said: str
) -> None:
    before = (site / "campaigns/p-1/log").stat().st_mtime_ns
    done = people(site, *command, *words)
    assert done.returncode == 2 and done.stderr.startswith(f"error: {said}"), done.stderr
    assert not list((site / "campaigns/p-1/inbox").glob("*")), "nothing was asked of a conductor"
    assert (site / "campaigns/p-1/log").stat().st_mtime_ns == before


def test_a_site_that_is_not_there_is_said(site: Path, people: Run) -> None:
    done = people(site, "rule", "r000001", "--as", "site", "--by", "A", "--because", "x", "--site", "nowhere")
    assert done.returncode == 2
    assert "Directory 'nowhere' does not exist." in done.stderr


def test_a_changed_machine_opens_an_epoch_and_says_what_changed(site: Path, people: Run) -> None:
    """The site's own command reads a file, as one reads a firmware's version."""
    version = site / "version"
    version.write_text("2.0\n")
    people(site, "show", "system", "here")
    (site / "systems/lab.yaml").write_text(
        "system: lab\nclusters:\n  c: {scheduler: local, partitions: {all: {nodes: host, type: node}}}\n"
        f"node_types:\n  node: {{cores: 1}}\nfingerprint: {{bios: cat {version}}}\n"
    )
    (site / "plans/q.yaml").write_text(
        "plan: q\nsystem: lab\ncomponents:\n  - functionality: {tests: [ok], repeats: 1}\n"
    )
    assert people(site, "run", "q", "-q").returncode == 0
    version.write_text("2.1\n")
    done = people(site, "fingerprint", "q-1")
    assert done.returncode == 0, done.stderr
    assert "site.bios: 2.0 -> 2.1" in done.stdout and "a new epoch begins" in done.stdout
    layout = Layout(site / "campaigns/q-1")
    record = look_at_runs(layout)
    assert (record.epoch, look(layout).epoch, record.epochs[-1].opened_by) == (2, 2, "fingerprint")
    assert record.fingerprints[-1].since_last[0].endswith("site.bios: 2.0 -> 2.1")
    assert people(site, "fingerprint", "q-1").returncode == 0
    assert look_at_runs(layout).epoch == 2


def test_nobody_answering_is_a_finding_and_opens_no_epoch(site: Path) -> None:
    layout = layout_of(site)
    event = fingerprint_event(layout, look(layout).campaign.fingerprint, Answers(silent={"host": "it is off"}))
    assert (event.event, event.value["kind"]) == ("finding", "no_fingerprint")
    assert event.reason == "no fingerprint: host: it is off; nothing is known of it"


def test_facts_that_are_gone_are_said(site: Path) -> None:
    layout = layout_of(site)
    event = fingerprint_event(layout, "0" * 64, Answers({"host": "kernel\tLinux\nfingerprint\tcomplete\n"}))
    assert event.reason == "1 node; the facts of the last time are gone, so what changed cannot be said"


def test_the_machine_is_held_against_a_campaign_and_nothing_is_recorded(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a nightly look asks: 0 as it was, 1 changed, 4 not known."""
    before = layout_of(site).log.stat().st_mtime_ns, len(list(read_events(layout_of(site).log)))
    monkeypatch.chdir(site)
    real = fingerprints.ask_now(layout_of(site), None)
    assert real is not None
    newer = {node: text.replace("Linux", "Linux newer") for node, text in real.texts.items()}
    silent = dict.fromkeys(real.texts, "it did not answer")
    for answers, status, said in (
        (real, 0, "as it was the last time"),
        (Answers(newer), 1, "since the last time"),
        (Answers({}, silent), 4, "did not answer"),
        (None, 4, "not known"),
    ):
        monkeypatch.setattr(fingerprints, "ask_now", lambda layout, document, answers=answers: answers)
        done = CliRunner().invoke(cli, ["fingerprint", "--against", "p-1"], standalone_mode=False)
        assert (done.return_value, said in done.stdout) == (status, True), done.stdout
    assert before == (layout_of(site).log.stat().st_mtime_ns, len(list(read_events(layout_of(site).log))))
