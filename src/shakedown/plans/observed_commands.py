"""Commands that say numbers and that this machine does not have: a campaign with one would wait for a number that never comes."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from yaml.nodes import Node

from shakedown.model.nouns import Document
from shakedown.model.observing import COMMAND
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import place

_PROGRAM = re.compile(r"\s*(?P<name>[\w./+-]+)(?=\s|$|[|;&<>])")  # what needs a shell to be known is left to it
_OF_A_SHELL = (
    ": . alias break builtin case cd command continue declare echo eval exec exit export false for function getopts hash if let "
    "local mapfile printf pwd read readonly return select set shift shopt source test time times trap true type typeset ulimit "
    "umask unalias unset until wait while"
)


def tell_commands_not_found(root: Node, document: Document, site: str, advice: Problems) -> None:
    """Purpose: advice for each command of ``limits.observe`` whose first word is no program here. ``site``: where commands run."""
    for word in document.limits.observed:
        found = _PROGRAM.match(word.query) if word.source == COMMAND else None
        if found is None or found["name"] in _OF_A_SHELL.split():
            continue
        name = found["name"]
        if "/" not in name:
            there, why = shutil.which(name) is not None, "is not found on PATH of this machine"
        else:
            path = Path(site, name)
            there = path.is_file() and os.access(path, os.X_OK)
            why = "is no program of this machine" if path.exists() else "is not there on this machine"
        if not there:
            message = f"limits.observe.{word.budget}: {name} {why}, so the number cannot be read"
            hint = "commands run in the site's directory, on the machine that drives the campaign: check there, or mend its name"
            advice.at(place(root, "limits", "observe", word.budget, COMMAND), message, hint)
