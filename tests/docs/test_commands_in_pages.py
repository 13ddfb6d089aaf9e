"""Every line of ``shakedown`` that a page shows is one that the commands take: no page tells of a command or option that is gone.

The lines are read, not run: most need a cluster, or days. Pages that a test follows word for word have their lines run there.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from commands_of_the_cli import every_command

ROOT = Path(__file__).parents[2]
COMMANDS = dict(every_command())
PAGES = sorted(
    [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*/README.md")],
)
GENERATED = ROOT / "docs/reference/commands.md"
_UP_TO_A_PIPE = re.compile(r"""(?:'[^']*'|"[^"]*"|(?!\s\#)[^|;&>])*""")  # what is quoted is no pipe


def lines(text: str) -> Iterator[str]:
    """Lines of blocks, fenced or indented, that call ``shakedown``, without what follows a pipe or a redirection."""
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif (fenced or line.startswith("    ")) and re.match(r"\s*(\$ )?shakedown [a-z]", line):
            yield _UP_TO_A_PIPE.match(line.strip().removeprefix("$ "))[0].strip(" \\")  # type: ignore[index]


def fault(line: str) -> str:
    """What is wrong with a line, or ""."""
    words = shlex.split(line)[1:]
    name = " ".join(words[:2]) if " ".join(words[:2]) in COMMANDS else words[0]
    if name not in COMMANDS:
        return f"there is no command {name}"
    command = COMMANDS[name]
    known = {"--help", "-h", "--version"}
    known |= {
        opt
        for param in command.params
        if isinstance(param, click.Option)
        for opt in (*param.opts, *param.secondary_opts)
    }
    theirs = words.index("--") if "--" in words else len(words)
    strange = [word for word in words[:theirs] if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in known]
    return f"{name} has no option {', '.join(strange)}" if strange else ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_are_there(page: Path) -> None:
    if page == GENERATED:
        return
    found = {line: fault(line) for line in lines(page.read_text())}
    assert {line: why for line, why in found.items() if why} == {}


def test_lines_are_found_and_faults_are_seen() -> None:
    page = "text\n\n    shakedown runs --cases x | head\n\n```bash\n$ shakedown twin noise --help   # why\n```\nshakedown gone\n"
    assert list(lines(page)) == ["shakedown runs --cases x", "shakedown twin noise --help"]
    assert fault("shakedown runs --cases x") == "runs has no option --cases"
    assert fault("shakedown gone") == "there is no command gone"
    assert fault("shakedown kernels run stream -- --threads 2") == ""
    assert sum(len(list(lines(path.read_text()))) for path in PAGES if path != GENERATED) > 100
