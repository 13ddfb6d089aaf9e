"""The commands that pages and messages tell people to give are commands: each word and each option of them is one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import shakedown
from shakedown.cli.main import COMMANDS, cli

SOURCE = Path(shakedown.__file__).parent
_IN_PAGES = re.compile(r"<code>shakedown ([^<]*)</code>")
_IN_MESSAGES = re.compile(r"(?<!\()'shakedown ((?:[^'\"\n{}]|\{[^{}\n]*\})+)'")
_FILLED_IN = re.compile(r"\{+[^{}]*\}+")
_AS = {"name": "NAME", "view.run": "RUN"}  # what a page fills in -> what it is


def told() -> Iterator[tuple[str, str]]:
    """File and command, with a word for each thing that is filled in."""
    for path in sorted(SOURCE.rglob("*.html")):
        for words in _IN_PAGES.findall(path.read_text()):
            yield path.name, _FILLED_IN.sub(_filled, words)
    for path in sorted(SOURCE.rglob("*.py")):
        for words in _IN_MESSAGES.findall(path.read_text()):
            yield path.name, _FILLED_IN.sub("x1", words)


def _filled(found: re.Match[str]) -> str:
    return _AS.get(found[0].strip("{} ").partition(" |")[0], "x1")


EVERY = sorted({(file, words) for file, words in told() if words.split()[0] not in ("x1", "COMMAND", "--help")})


def command_of(words: str) -> click.Command:
    name = words.split(maxsplit=1)[0]
    assert name in COMMANDS, name
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def test_some_are_told() -> None:
    assert len(EVERY) > 40 and any(file.endswith(".html") for file, _ in EVERY)


@pytest.mark.parametrize(("file", "words"), EVERY)
def test_each_told_command_has_the_options_that_it_is_told_with(file: str, words: str) -> None:
    command = command_of(words)
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words.split() if word.startswith("-")} <= known | {"--help"}, file


@pytest.mark.parametrize(("file", "words"), [one for one in EVERY if one[0].endswith(".html")])
def test_each_command_that_a_page_tells_is_whole(file: str, words: str) -> None:
    """It is given as it stands: no word lacks, none is too many, and a campaign and a run stand in their places."""
    given = command_of(words).make_context(words.split(maxsplit=1)[0], words.split()[1:]).params
    assert given.get("campaign") in (None, "NAME") and given.get("run") in (None, "RUN"), (file, given)
