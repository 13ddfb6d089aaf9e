"""The front door: help without imports, misspelt commands, tables that survive odd names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shakedown.cli.main import COMMANDS, SECTIONS
from shakedown.cli.output import printable, table


def test_help_imports_click_and_nothing_heavy() -> None:
    program = (
        "import sys\nfrom shakedown.cli.main import cli\n"
        "try:\n    cli.main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted(m for m in ('yaml', 'numpy', 'rich', 'msgspec', 'jinja2', 'matplotlib', 'ClusterShell') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_short_command_does_not_look_for_garbage() -> None:
    """Neither while it makes thousands of objects nor when it ends, where a look goes through all that was imported."""
    program = (
        "import atexit, gc, os, sys\nfrom shakedown.cli.main import main\n"
        "looked = []\ngc.callbacks.append(lambda phase, info: looked.append(info['generation']))\n"
        "atexit.register(lambda: print('kept', gc.get_freeze_count(), 'looked', len(looked), file=sys.stderr))\n"
        "main()"
    )
    command = [sys.executable, "-c", program, "schema", "plan"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    _, kept, _, looked = done.stderr.split()[-4:]
    assert done.returncode == 0, done.stderr
    assert int(kept) > 10_000 and int(looked) < 10


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_help(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "shakedown", name, "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Usage: python -m shakedown {name}")


@pytest.mark.parametrize("options", [[], ["-P"]])
def test_a_file_of_the_site_is_never_taken_for_a_library(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "site.yaml").write_text("site: x\nabout: a site with files of Python\n")
    for name in ("yaml", "msgspec", "click", "calendar"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the site')\n")
    command = [sys.executable, *options, "-m", "shakedown", "list", "systems"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_command_stands_in_one_section() -> None:
    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(COMMANDS)


def test_the_first_help_is_by_task_and_fits_a_terminal() -> None:
    env = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-m", "shakedown", "-h"], capture_output=True, text=True, check=True, env=env
    )
    lines = done.stdout.splitlines()
    headings = [line.rstrip(":") for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings == ["Options", *SECTIONS, "Examples"]
    assert max(map(len, lines)) <= 80
    for name, (_, about) in COMMANDS.items():  # each on a line of its own
        assert any(line.split(maxsplit=1) == [name, about] for line in lines), name


def test_a_misspelt_command_is_told_the_right_one() -> None:
    done = subprocess.run([sys.executable, "-m", "shakedown", "staus"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no command 'staus'; did you mean 'status'?" in done.stderr


def test_control_characters_never_reach_a_terminal() -> None:
    assert printable("a\x1b[2Jb\x07\n\u202ec") == "a\\x1b[2Jb\\x07\n\\u202ec"


def test_a_table_keeps_its_columns_whatever_the_cells_hold() -> None:
    text = table(["name", "n"], [["a\nb", "1"], ["long name", "20"]], right=(1,))
    assert text.splitlines() == ["name        n", "a b         1", "long name  20"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", [["--help"], ["init", "--list"], ["schema", "plan"]])
def test_standard_output_that_takes_nothing_is_named(words: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from shakedown.cli.main import main\nmain()", *words]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "error: standard output: No space left on device\n")


def test_a_fault_of_our_own_is_a_sentence_and_status_3(tmp_path: Path) -> None:
    program = (
        "import sys, shakedown.cli.status as s\n"
        "def broken(*_, **__): raise RuntimeError('the drum is loose')\n"
        "s.command.callback = broken\n"
        "sys.argv = ['shakedown', 'status']\n"
        "from shakedown.cli.main import main\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith("error: a fault of Shakedown itself: RuntimeError: the drum is loose\nhint: ")
