"""Write docs/reference/commands.md from the commands themselves, or with --print show it; a test holds the file against them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import click

from shakedown.cli.main import COMMANDS, SECTIONS

PAGE = Path(__file__).parent.parent / "docs/reference/commands.md"

HEAD = r"""# Commands

Every command takes `--help`. Data goes to standard output, talk to standard error; `--json` gives the data as JSON.

Exit status: 0 met · 1 not met · 2 wrong use · 3 our own fault, or a damaged record · 4 undecided.

Completion of commands, options and the names of campaigns, plans, tests, tags, systems, runs and nodes: put one line into the
file that your shell reads at its start.

| shell | file | line |
|---|---|---|
| bash | `~/.bashrc` | `eval "$(_SHAKEDOWN_COMPLETE=bash_source shakedown)"` |
| zsh | `~/.zshrc` | `eval "$(_SHAKEDOWN_COMPLETE=zsh_source shakedown)"` |
| fish | `~/.config/fish/completions/shakedown.fish` | `_SHAKEDOWN_COMPLETE=fish_source shakedown \| source` |

"""


def page() -> str:
    """The whole page, from the table of commands and their options."""
    sections = "".join(
        f"- {section}: {', '.join(f'[{name}](#shakedown-{name})' for name in names)}\n"
        for section, names in SECTIONS.items()
    )
    ordered = [name for names in SECTIONS.values() for name in names]
    return HEAD + sections + "\n" + "\n".join(_command(name, COMMANDS[name][1]) for name in ordered)


def _command(name: str, about: str) -> str:
    command: click.Command = importlib.import_module(f"shakedown.cli.{COMMANDS[name][0]}").command
    text = f"## shakedown {name}\n\n{about}\n\n"
    if isinstance(command, click.Group):
        below = {
            sub: command.get_command(click.Context(command), sub)
            for sub in command.list_commands(click.Context(command))
        }
        return text + "".join(_usage(f"{name} {sub}", found) for sub, found in sorted(below.items()) if found)
    return text + _usage(name, command)


def _usage(name: str, command: click.Command) -> str:
    names = ["-h", "--help"]  # as the front door sets them
    context = click.Context(command, info_name=f"shakedown {name}", terminal_width=100, help_option_names=names)
    return f"```\n{command.get_help(context)}\n```\n\n"


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.write(page())
    else:
        PAGE.write_text(page())
