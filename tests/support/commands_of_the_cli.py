"""Every command of ``shakedown`` with its words, those below a group too."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import click

from shakedown.cli.main import COMMANDS


def every_command() -> Iterator[tuple[str, click.Command]]:
    """Purpose: "twin noise" and its command, in the order of the table."""
    for name, (module, _) in COMMANDS.items():
        command: click.Command = importlib.import_module(f"shakedown.cli.{module}").command
        yield name, command
        if isinstance(command, click.Group):
            context = click.Context(command)
            for below in command.list_commands(context):
                found = command.get_command(context, below)
                assert found is not None
                yield f"{name} {below}", found
