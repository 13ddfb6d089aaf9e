"""A directory that somebody renames holds the campaign that its record names: everybody tells it by that name."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from registered import facts

from shakedown.events.campaigns import find_campaign
from shakedown.events.reader import read_events
from shakedown.events.set_back import set_back_of
from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout

Run = Callable[..., subprocess.CompletedProcess[str]]
NOTE = "note: this is campaign p-2: its directory is called q, for it was renamed or is a copy\n"


@pytest.fixture
def renamed(site: Path) -> Path:
    (site / "campaigns/p-2").rename(site / "campaigns/q")
    return site


@pytest.mark.parametrize("name", ["q", "p-2"])
def test_what_is_told_of_it_bears_the_recorded_name(renamed: Path, people: Run, name: str) -> None:
    done = people(renamed, "status", name, "--json")
    assert (done.returncode, done.stderr) == (0, NOTE)
    said = json.loads(done.stdout)
    assert (said["campaign"], said["directory"]) == ("p-2", "q")
    assert people(renamed, "status", name).stdout.startswith("p-2: ended; it is over; as of event ")
    assert "its directory is called q\n" in people(renamed, "status", name).stdout
    found = json.loads(people(renamed, "verify", name, "--json").stdout)
    assert (found["campaign"], found["directory"]) == ("p-2", "q")
    assert found["register"] == ["this is campaign p-2, renamed, or a copy whose original is gone"]


def test_the_report_and_its_page_bear_it(renamed: Path, people: Run) -> None:
    done = people(renamed, "report", "q", "--no-pdf", "--output", "out")
    assert NOTE in done.stderr, done.stderr
    page = re.sub(r"<[^>]*>", "", (renamed / "out/report.html").read_text())
    assert "campaign p-2" in page and "campaign q" not in page


def test_a_seal_is_of_the_campaign_and_the_register_notes_it_under_its_name(renamed: Path, people: Run) -> None:
    done = people(renamed, "seal", "q", "--by", "Ada")
    assert NOTE in done.stderr and done.returncode == 0, done.stderr
    assert facts(renamed)[-1] == ("sealed", "p-2", "accepted")
    (seal,) = [path for path in (renamed / "campaigns/q/seals").glob("*.json") if len(path.stem) == 64]
    assert json.loads(seal.read_bytes())["campaign"] == "p-2"
    (renamed / "campaigns/q").rename(renamed / "campaigns/p-2")
    done = people(renamed, "verify", "--register")
    assert done.returncode == 0, done.stdout


def test_an_older_copy_under_another_name_is_set_back(site: Path, people: Run) -> None:
    """It was sealed since, which the register knows; then the newer one is gone."""
    shutil.copytree(site / "campaigns/p-2", site / "older", symlinks=True)
    assert people(site, "seal", "p-2", "--by", "Ada").returncode == 0
    shutil.rmtree(site / "campaigns/p-2")
    (site / "older").rename(site / "campaigns/q")
    assert set_back_of(Layout(site / "campaigns/q")).startswith("was set back to an older copy")
    done = people(site, "status", "q")
    assert done.returncode == 3 and "p-2 was set back to an older copy" in done.stderr + done.stdout


def test_a_copy_beside_its_original_writes_nothing_into_the_register(site: Path, people: Run) -> None:
    shutil.copytree(site / "campaigns/p-2", site / "campaigns/q")
    before = facts(site)
    assert people(site, "seal", "q", "--by", "Ada").returncode == 0
    assert facts(site) == before
    assert set_back_of(Layout(site / "campaigns/p-2")) == ""
    assert find_campaign(site, "p-2").name == "p-2"


def test_two_copies_of_what_is_gone_are_found_by_their_directories_alone(renamed: Path) -> None:
    shutil.copytree(renamed / "campaigns/q", renamed / "campaigns/r")
    with pytest.raises(UsageError, match="there is no campaign 'p-2'"):
        find_campaign(renamed, "p-2")
    assert [next(iter(read_events(find_campaign(renamed, name) / "log"))).value["campaign"] for name in "qr"] == [
        "p-2"
    ] * 2
