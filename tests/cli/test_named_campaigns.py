"""A campaign is named by its place among the words, or with ``--campaign`` anywhere: every command knows both."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from finished_campaign import finished, people, site

from shakedown.cli.main import COMMANDS, LazyGroup
from shakedown.events.reader import read_events

__all__ = ["finished", "people", "site"]

People = Callable[..., subprocess.CompletedProcess[str]]
SAID = ("--by", "Ada", "--because", "a trial")
OF_SEVERAL = {"compare", "history", "scaling", "reference"}  # they take as many campaigns as are named


def _shown(parameter: click.Parameter) -> str:
    return str(getattr(parameter, "metavar", None) or parameter.name).upper()


def test_every_command_with_the_word_campaign_knows_the_option_too() -> None:
    group = LazyGroup(name="shakedown")
    without = []
    for name in COMMANDS.keys() - OF_SEVERAL:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        words = [shown for each in command.params if isinstance(each, click.Argument) for shown in [_shown(each)]]
        options = [option for each in command.params for option in each.opts]
        if any("CAMPAIGN" in shown for shown in words) and "--campaign" not in options:
            without.append(name)
    assert without == ["list"]  # what it may list is campaigns, among others


@pytest.mark.parametrize("words", [("status", "--campaign", "p-1"), ("runs", "--json", "--campaign=p-1")])
def test_the_option_stands_for_the_word(site: Path, people: People, words: tuple[str, ...]) -> None:
    done = people(site, *words)
    assert done.returncode == 0
    assert done.stdout == people(site, words[0], "p-1", *[word for word in words[1:] if word == "--json"]).stdout


def test_names_after_the_campaign_are_those_of_the_command(site: Path, people: People) -> None:
    words = ("waive", "functionality", "passed", "--restriction", "two of four", *SAID)
    done = people(site, *words, "--campaign", "p-1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("criterion passed is waived: two of four; recorded in p-1: event ")
    missing = people(site, *words, "--campaign", "q-1")
    assert missing.returncode == 2 and missing.stderr.startswith("error: there is no campaign 'q-1' in ")


@pytest.mark.parametrize(
    "words",
    [
        ("waive", "passed", "--restriction", "x"),
        ("attest", "passed", "--met"),
        ("drill", "passed", "--begun"),
        ("cap", "passed"),
        ("budget", "passed"),
    ],
)
def test_a_name_that_is_missing_is_never_taken_from_the_option(
    site: Path, people: People, words: tuple[str, ...]
) -> None:
    """Without a campaign it would be the newest: ``functionality`` is its component, ``passed`` a criterion of it."""
    done = people(site, *words, *SAID, "--campaign", "functionality")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: 1 name is given beside --campaign\nhint: shakedown {words[0]} ")
    assert "[CAMPAIGN]" not in done.stderr and done.stderr.endswith(" --campaign functionality\n")


def test_a_campaign_in_the_place_of_a_component_is_told(site: Path, people: People) -> None:
    """One word is a component of the newest campaign: who meant the campaign hears which word is missing beside it."""
    row = ("--row", "deal:1", "--restriction", "x", *SAID)
    for words, metavar in ((("waive", "p-1", *row), "COMPONENT [CRITERION]"), (("again", "p-1", *SAID), "COMPONENT")):
        done = people(site, *words)
        missing = (
            f"hint: 'p-1' is a campaign, and what is meant of it is missing: shakedown {words[0]} [CAMPAIGN] {metavar}"
        )
        assert (done.returncode, done.stderr.splitlines()[-1]) == (2, missing)
    done = people(site, "waive", *row, "--campaign", "p-1")
    assert done.stderr.startswith(
        "error: no name is given beside --campaign\nhint: shakedown waive COMPONENT --row NAME "
    )
    assert "is a campaign" not in people(site, "again", "functionalty", *SAID).stderr


def test_the_number_of_an_act_of_another_campaign_is_told(site: Path, people: People) -> None:
    """Without a name it is the newest campaign: the message says which one that is, and who has such an act."""
    assert people(site, "rule", "r000002", "--as", "site", *SAID).returncode == 0
    (act,) = [event.seq for event in read_events(site / "campaigns/p-1/log") if event.event == "ruled"]
    (site / "plans/q.yaml").write_text("plan: q\nsystem: here\ncomponents: [{functionality: {tests: [ok]}}]\n")
    assert people(site, "run", "q", "-q").returncode == 0
    for command in ("agree", "withdraw"):
        done = people(site, command, str(act), *SAID)
        assert done.returncode == 2
        assert done.stderr == (
            f"error: event {act} of q-1 is no act of a person\nhint: p-1 has such an act: --campaign p-1\n"
        )
    assert "is no act of a person\nhint: there is none\n" in people(site, "agree", "9999", *SAID).stderr


@pytest.mark.parametrize(
    ("word", "hint"), [("nosuch-1", "there are p-1"), ("o-1", "there are p-1"), ("p-l", "did you"), ("p-11", "did you")]
)
def test_a_name_that_shares_its_number_alone_is_not_alike(site: Path, people: People, word: str, hint: str) -> None:
    done = people(site, "status", word)
    assert done.returncode == 2 and f"\nhint: {hint}" in done.stderr


def test_the_option_beside_the_word_is_one_name_too_many(site: Path, people: People) -> None:
    done = people(site, "exclude", "p-1", "n1", *SAID, "--campaign", "p-1")
    assert done.returncode == 2 and done.stderr.startswith("error: 2 names are given beside --campaign\n")


def test_numbers_beside_the_option_are_acts(site: Path, people: People) -> None:
    done = people(site, "withdraw", "999", *SAID, "--campaign", "p-1")
    assert done.returncode == 2 and "there is no campaign" not in done.stderr and "999" in done.stderr


def test_two_campaigns_are_refused(site: Path, people: People) -> None:
    done = people(site, "status", "p-1", "--campaign", "q-1")
    assert done.returncode == 2
    assert done.stderr == "error: two campaigns are named: p-1 and q-1\nhint: name one of them\n"


def test_a_campaign_among_runs_is_told_how_it_is_named(site: Path, people: People) -> None:
    done = people(site, "rule", "p-1", "--as", "site", *SAID)
    assert done.returncode == 2
    assert done.stderr == "error: p-1 has no run 'p-1'\nhint: 'p-1' is a campaign; it is named so: --campaign p-1\n"


@pytest.mark.parametrize("words", [("why", "r000001", "p-1"), ("why", "p-1", "r000001")])
def test_why_takes_its_two_words_in_either_order(site: Path, people: People, words: tuple[str, ...]) -> None:
    done = people(site, *words)
    assert done.returncode == 0 and done.stdout.startswith("run r000001\n")


def test_why_says_what_is_missing_where_neither_word_is_a_campaign(site: Path, people: People) -> None:
    done = people(site, "why", "r000001", "q-1")
    assert done.returncode == 2 and done.stderr.startswith("error: there is no campaign 'q-1' in ")
