"""Options that nobody would give, and lists that help has room for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
import warm_commands
from click.testing import CliRunner

from shakedown.cli.log import _capped_length
from shakedown.cli.main import COMMANDS, cli
from shakedown.model.errors import UsageError


def shakedown(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = words
    environment = os.environ | {"COLUMNS": "80"}
    return warm_commands.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", list(COMMANDS))
def test_help_fits_into_eighty_columns(name: str) -> None:
    done = CliRunner(env={"COLUMNS": "80"}).invoke(cli, [name, "--help"])
    assert done.exit_code == 0 and done.stdout.startswith("Usage: ")
    assert [line for line in done.stdout.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize(("last", "kept"), [(None, None), (0, 0), (3, 3), (10**30, sys.maxsize)])
def test_no_number_of_lines_is_too_large(last: int | None, kept: int | None) -> None:
    assert _capped_length(last) == kept


@pytest.fixture
def site(tmp_path: Path) -> Path:
    done = shakedown("init", ".", "--local", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "--test", "zz"), "error: there is no test 'zz'\nhint: 'shakedown list tests' has them\n"),
        (
            ("list", "--tag", "zzz"),
            "error: no test has the tag 'zzz'\nhint: tags are: application, checkpoint, first, ",
        ),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(site: Path, words: tuple[str, ...], said: str) -> None:
    done = shakedown(*words, cwd=site)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)


PAIRS = {"attest": ("--met", "--not-met"), "drill": ("--begun", "--ended")}


def pairs_of(name: str) -> list[click.Option]:
    """The options of a command that are one of two words, and of which one must be given."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return [one for one in command.params if isinstance(one, click.Option) and one.secondary_opts and one.required]


def test_of_two_options_one_must_be_given_where_help_says_so() -> None:
    """None of them said the second one: an attestation without a word was one of "not met"."""
    assert {name for name in COMMANDS if pairs_of(name)} == set(PAIRS)
    for name, pair in PAIRS.items():
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        words = ["stability", "recabling", "--by", "Ada", "--because", "seen"]
        with pytest.raises(UsageError) as refused:
            command.make_context(name, list(words))
        assert refused.value.message == f"neither {pair[0]} nor {pair[1]} is given"
        said = [command.make_context(name, [*words, option]).params for option in pair]
        assert [found[pair[0].removeprefix("--")] for found in said] == [True, False]


@pytest.mark.parametrize(
    ("words", "said", "hint"),
    [
        (("attest", "c", "p", "--met", "--not-met"), "--met and --not-met are both given", "give one of them"),
        (("attest", "c", "p", "--not-met", "--met"), "--not-met and --met are both given", "give one of them"),
        (("drill", "c", "d", "--begun", "--ended"), "--begun and --ended are both given", "give one of them"),
        (("attest", "c", "p", "--met", "--met"), "--met is given 2 times", "give it once"),
        (("rule", "r1", "--as", "vendor", "--as", "site"), "--as is given 2 times", "give it once"),
        (("waive", "c", "--by", "Ada", "--by=Bo"), "--by is given 2 times", "give it once"),
        (("report", "--pdf", "--no-pdf"), "--pdf and --no-pdf are both given", "give one of them"),
    ],
)
def test_an_option_that_is_given_twice_is_refused(words: tuple[str, ...], said: str, hint: str) -> None:
    """The last word would count otherwise, and the record would keep what nobody meant."""
    done = CliRunner().invoke(cli, [*words, "--because", "it was seen"] if words[0] != "report" else words)
    assert isinstance(done.exception, UsageError)
    assert {*done.exception.message.split()} == {*said.split()}
    assert done.exception.hint == hint


def test_flags_and_lists_may_come_twice(site: Path) -> None:
    assert shakedown("list", "tests", "--json", "--json", cwd=site).returncode == 0
    words = [
        "fault",
        "p",
        "--by",
        "Ada",
        "--because",
        "seen",
        "--evidence",
        "no.log",
        "--evidence",
        "none.log",
        "--met",
    ]
    told = CliRunner().invoke(cli, ["attest", *words, "--site", str(site)]).exception
    assert isinstance(told, UsageError) and "given" not in told.message


def test_an_option_before_the_command_is_told_with_the_line_that_works() -> None:
    done = CliRunner().invoke(cli, ["--json", "run", "acceptance"])
    assert done.exit_code != 0
    said = "--json stands before the command, and options come after it: shakedown run acceptance --json"
    assert said in " ".join(done.output.split())
