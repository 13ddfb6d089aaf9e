"""Write the man pages from the commands' own help: scripts/man.py FOLDER makes FOLDER/man1/shakedown*.1.

The text is that of --help. No page is kept in the repository.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from shakedown import __version__
from shakedown.cli.main import COMMANDS, EXAMPLES, SECTIONS, cli

NAMES = ["-h", "--help"]  # as the front door sets them
STATUS = (
    ("0", "met, or done"),
    ("1", "not met"),
    ("2", "wrong use; the message says what to do"),
    ("3", "a fault of Shakedown itself, or a damaged record"),
    ("4", "undecided"),
)


def pages() -> Iterator[tuple[str, str]]:
    """Purpose: every man page as (file name, text in the man macros): the front page, each command, each command below one."""
    yield "shakedown.1", front_page()
    for name, (module, about) in COMMANDS.items():
        command: click.Command = importlib.import_module(f"shakedown.cli.{module}").command
        yield page_name(name), page(name, command, about)
        if isinstance(command, click.Group):
            context = click.Context(command)
            for below in command.list_commands(context):
                found = command.get_command(context, below)
                if found is not None:
                    yield page_name(f"{name} {below}"), page(f"{name} {below}", found, found.get_short_help_str(200))


def page_name(words: str) -> str:
    return f"shakedown-{words.replace(' ', '-')}.1"


def front_page() -> str:
    """The page of ``shakedown`` itself: its commands by task."""
    lines = [
        *head("shakedown", (cli.help or "").strip()),
        ".SH SYNOPSIS",
        ".B shakedown",
        ".I COMMAND \\fR[\\fIOPTIONS\\fR]",
    ]
    for section, names in SECTIONS.items():
        lines.append(f".SS {escaped(section)}")
        for name in names:
            lines += [".TP", f".BR shakedown\\-{escaped(name)} (1)", escaped(COMMANDS[name][1])]
    lines += [".SH EXAMPLES", ".nf", *(escaped(line) for line in EXAMPLES.splitlines()), ".fi", *exit_status()]
    return "\n".join(lines) + "\n"


def page(words: str, command: click.Command, about: str) -> str:
    """The page of one command: what it is for, its arguments, its options, its exit status."""
    context = click.Context(command, info_name=f"shakedown {words}", help_option_names=NAMES)
    name = f"shakedown {words}"
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [*head(name.replace(" ", "-"), about), ".SH SYNOPSIS", f".B {escaped(name)}", escaped(usage)]
    lines += [".SH DESCRIPTION", *paragraphs(command.help or about)]
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            lines += [".TP", f".BR {escaped(page_name(f'{words} {below}')[:-2])} (1)"]
            lines.append(escaped(found.get_short_help_str(200) if found else ""))
    lines.append(".SH OPTIONS")
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            lines += [".TP", f".B {escaped(record[0])}", *paragraphs(record[1])]
    return "\n".join([*lines, *exit_status(), ".SH SEE ALSO", ".BR shakedown (1)"]) + "\n"


def head(name: str, about: str) -> list[str]:
    title = f'.TH "{escaped(name.upper())}" "1" "" "Shakedown {__version__}" "Shakedown"'
    return [title, ".SH NAME", f"{escaped(name)} \\- {escaped(about.rstrip('.'))}"]


def exit_status() -> list[str]:
    lines = [".SH EXIT STATUS"]
    for number, meaning in STATUS:
        lines += [".TP", f".B {number}", meaning]
    return lines


def paragraphs(text: str) -> list[str]:
    """Text of a help as man has it: paragraphs are filled, what stands behind click's mark keeps its lines."""
    lines: list[str] = []
    for number, block in enumerate(re.split(r"\n\s*\n", text.replace("\f", "").strip("\n"))):
        if number:
            lines.append(".PP")
        kept = block.lstrip().startswith("\b")
        rows = [escaped(row.strip("\b").strip() if not kept else row.strip("\b")) for row in block.splitlines()]
        rows = [row for row in rows if row.strip()]
        lines += [".nf", *rows, ".fi"] if kept else rows
    return lines


def escaped(text: str) -> str:
    """Text that the man macros take as it is: backslashes, hyphens, and a dot or quote that begins a line."""
    safe = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe


if __name__ == "__main__":
    folder = Path(sys.argv[1]) / "man1"
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in pages():
        (folder / file).write_text(text)
    print(f"{folder}: {len(list(folder.glob('shakedown*.1')))} pages; read them with: man -M {folder.parent} shakedown")
