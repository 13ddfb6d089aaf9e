"""A campaign that was set back to an older copy of its directory is a whole record; the register of its site knows more of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from shakedown.audit.register_check import verify_register
from shakedown.audit.sealing import seal_campaign, signature_page
from shakedown.conductor.commands.offline import carry_out
from shakedown.conductor.record.register_words import history, standings
from shakedown.conductor.record.registering import ready
from shakedown.events.inbox import post
from shakedown.events.register import read_register
from shakedown.events.set_back import set_back_of
from shakedown.model.layout import Layout

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def waived(site: Path, tmp_path: Path) -> Path:
    """``p-1`` was rejected and sealed; then it was waived and sealed again. ``older``: a copy of it from before that."""
    layout = Layout(site / "campaigns/p-1")
    shutil.copytree(layout.root, tmp_path / "older", symlinks=True)
    _waive(layout)
    signature_page(layout, seal_campaign(layout, "Bo"))
    return site


def _waive(layout: Layout) -> None:
    said = {"what": "criterion", "component": "functionality", "name": "passed", "restriction": "no jobs", "by": "Bo"}
    post(layout, "waive", said, "agreed")
    carry_out(layout)


def put_back(site: Path, older: Path) -> Layout:
    shutil.rmtree(site / "campaigns/p-1")
    shutil.copytree(older, site / "campaigns/p-1", symlinks=True)
    return Layout(site / "campaigns/p-1")


def test_an_older_copy_is_told_by_every_reader_and_nothing_is_added_to_it(
    waived: Path, tmp_path: Path, people: Run, drive: Run
) -> None:
    layout = put_back(waived, tmp_path / "older")
    before = sorted((path, path.read_bytes()) for path in layout.log.glob("*.jsonl"))
    register = read_register(waived).path.read_bytes()
    for words in (("status", "p-1"), ("report", "p-1", "--no-pdf"), ("runs", "p-1"), ("acts", "p-1")):
        told = people(waived, *words)
        assert told.returncode == 3, words
        assert "p-1 was set back to an older copy" in told.stdout + told.stderr, words
    shown = json.loads(people(waived, "status", "p-1", "--json").stdout)
    assert "when it was sealed" in shown["damaged"]
    assert "It was set back to an older copy" in layout.report.read_text().partition("</p>")[0]
    steps: list[tuple[str, ...]] = [("seal", "p-1", "--by", "Bo")]
    steps += [("rule", "r000001", "--as", "site", "--by", "Bo", "--because", "x", "--campaign", "p-1")]
    for step in steps:
        told = people(waived, *step)
        assert told.returncode == 3 and "put the newer copy of the campaign back" in told.stderr, step
    assert drive(waived, "resume", "p-1").returncode == 3
    assert people(waived, "verify", "p-1").returncode == 1
    assert sorted((path, path.read_bytes()) for path in layout.log.glob("*.jsonl")) == before
    assert read_register(waived).path.read_bytes() == register
    assert standings(waived, read_register(waived))[0].words.startswith("set back to an older copy after its seal (")


def test_one_that_went_on_from_there_is_told_and_what_is_said_of_it_is_true(
    waived: Path, tmp_path: Path, people: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an older version, which holds nothing against the register: it has more events than before now, and others."""
    layout = put_back(waived, tmp_path / "older")
    with monkeypatch.context() as patched:
        patched.setattr("shakedown.events.opening.refuse_set_back", lambda layout: None)
        for _ in range(3):
            _waive(layout)
    why = set_back_of(layout)
    assert "its first" in why and "events are others now" in why
    told = verify_register(waived).troubles
    assert not any("was cut" in line and "set back" not in line for line in told)
    assert people(waived, "verify", "p-1").returncode == 1


def test_the_newer_copy_put_back_is_as_it_was(waived: Path, tmp_path: Path, people: Run) -> None:
    newer = shutil.copytree(waived / "campaigns/p-1", tmp_path / "newer", symlinks=True)
    put_back(waived, tmp_path / "older")
    layout = put_back(waived, newer)
    assert set_back_of(layout) == ""
    assert people(waived, "status", "p-1").returncode == 0 and verify_register(waived).whole


def test_an_outcome_that_changed_stays_on_its_own_pages_and_on_later_ones(waived: Path, people: Run) -> None:
    own = next(one for one in standings(waived, read_register(waived)) if one.campaign == "p-1")
    assert own.before == ("rejected",) and own.outcome != "rejected"
    register = ready(waived)
    assert "this one came out as rejected before" in history(waived, register, "p-1")
    assert "this one came out as rejected before" in " ".join(
        (waived / "campaigns/p-1/signature.html").read_text().split()
    )
    assert f"earlier: 1 {own.outcome} (rejected before)" in history(waived, register, "p-2")
    listed = people(waived, "register").stdout
    assert next(line for line in listed.splitlines() if line.startswith("p-1")).rstrip().endswith("rejected before")


def test_a_register_that_does_not_know_the_campaign_says_nothing_of_it(waived: Path, tmp_path: Path) -> None:
    """A copy under another name, or elsewhere, is told as that."""
    other = shutil.copytree(tmp_path / "older", waived / "campaigns/q-1", symlinks=True)
    assert set_back_of(Layout(Path(other))) == "" and set_back_of(Layout(tmp_path / "older")) == ""
