"""Options that a command line gives twice: which of the two words counts is not left to chance."""

from __future__ import annotations

from collections.abc import Sequence

import click

from shakedown.model.errors import UsageError


def refuse_repeated(above: click.Context, command: click.Command, words: Sequence[str]) -> None:
    """Purpose: refuse an option that is given twice, and two options that contradict each other (``--met --not-met``). Click would
    take the last one, and the record would keep a word that nobody meant. Options that may come several times, and flags that mean
    the same twice, are no such case. ``above``: the context of the front door; ``words``: what follows the command's name. Other
    mistakes in them are told elsewhere.

    Errors: UsageError.
    """
    if isinstance(command, click.Group):
        return
    context = click.Context(command, parent=above, **command.context_settings)
    try:
        _, _, given = command.make_parser(context).parse_args(list(words))
    except click.UsageError:
        return
    for option in dict.fromkeys(found for found in given if isinstance(found, click.Option)):
        if given.count(option) < 2 or option.multiple or option.count or (option.is_flag and not option.secondary_opts):
            continue
        names = [name for name in (*option.opts, *option.secondary_opts) if name in words]
        if option.secondary_opts and len(names) > 1:
            raise UsageError(f"{' and '.join(names)} are both given", hint="give one of them")
        raise UsageError(f"{option.opts[0]} is given {given.count(option)} times", hint="give it once")
