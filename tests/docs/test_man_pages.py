"""Man pages and help: made of the same text, as wide as a terminal of 80 columns, and without a warning of groff."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
import warm_commands
from commands_of_the_cli import every_command

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("man")
    subprocess.run([sys.executable, str(ROOT / "scripts/man.py"), str(folder)], check=True, capture_output=True)
    return folder / "man1"


def test_every_command_has_a_page_with_its_options(pages: Path) -> None:
    wanted = {"shakedown.1"}
    for words, command in every_command():
        name = f"shakedown-{words.replace(' ', '-')}.1"
        wanted.add(name)
        text = (pages / name).read_text().replace("\\-", "-")
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert max(parameter.opts, key=len) in text, (name, parameter.opts)
    assert {path.name for path in pages.iterdir()} == wanted


def test_the_page_of_shakedown_names_every_command_by_its_task(pages: Path) -> None:
    text = (pages / "shakedown.1").read_text().replace("\\-", "-")
    assert all(f"shakedown-{words} (1)" in text for words, _ in every_command() if " " not in words)
    assert ".SS Judge and sign" in text and "shakedown rehearse acceptance" in text


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_has_no_warning(pages: Path) -> None:
    words = ["groff", "-K", "utf8", "-ww", "-b", "-z", "-man", *map(str, sorted(pages.iterdir()))]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
    assert (done.returncode, done.stderr) == (0, "")


def test_a_text_that_the_macros_would_take_for_their_own_is_escaped(pages: Path) -> None:
    """No line of text begins with a dot or a quote: groff would leave it out."""
    known = (".TH", ".SH", ".SS", ".TP", ".B", ".BR", ".I", ".PP", ".nf", ".fi")
    for page in pages.iterdir():
        for line in page.read_text().splitlines():
            assert not line.startswith("'"), (page.name, line)
            assert not line.startswith(".") or line.split(" ")[0] in known, (page.name, line)


@pytest.mark.parametrize(
    ("words", "command"), list(every_command()), ids=lambda one: one if isinstance(one, str) else ""
)
def test_the_help_fits_80_columns(words: str, command: click.Command) -> None:
    context = click.Context(
        command, info_name=f"shakedown {words}", help_option_names=["-h", "--help"], terminal_width=80
    )
    assert [line for line in command.get_help(context).splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("words", [[], ["run"], ["twin"]])
def test_it_stays_so_in_a_wider_terminal(words: list[str]) -> None:
    env = {**os.environ, "COLUMNS": "200"}
    command = [*words, "-h"]
    text = warm_commands.run(command, capture_output=True, text=True, check=True, env=env).stdout
    assert [line for line in text.splitlines() if len(line) > 80] == []
