"""A new site directory: the files that ``shakedown init`` writes, and writing them without touching any other."""

from __future__ import annotations

import re
from pathlib import Path

from shakedown.machine.writing import NO_REMARKS, Remarks, system_yaml
from shakedown.model.errors import UsageError
from shakedown.model.nouns import System

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_GENERAL_NAMES = frozenset({"localhost", "here", ""})  # hosts that have no name of their own


def site_files(site: str, system: System, remarks: Remarks = NO_REMARKS) -> dict[str, str]:
    """Purpose: path inside the site directory -> text, in the order a newcomer should read them.

    The first plan runs on this machine, or on the cluster where the system is one.
    """
    local = all(cluster.embedded for cluster in system.clusters)
    return {
        "site.yaml": _SITE.format(site=site),
        f"systems/{system.name}.yaml": system_yaml(system, remarks),
        "tests/hello-world.yaml": _TEST,
        "plans/first.yaml": _PLAN.format(system=(_HERE if local else _CLUSTER).format(system=system.name)),
        ".gitignore": "# what campaigns record is kept, but not in git\ncampaigns/\nrehearsed/\nregister.jsonl\n",
    }


def write_site(directory: Path, files: dict[str, str]) -> list[Path]:
    """Purpose: write all the files, or none. Returns their paths.

    Errors: UsageError that names the files which are there already, or the place that cannot be written.
    """
    there = [path for path in files if (directory / path).exists() or (directory / path).is_symlink()]
    if there:
        raise UsageError(
            f"{directory}: nothing was written, because these are there already: {', '.join(there)}",
            "name another directory, or move these away",
        )
    written: list[Path] = []
    try:
        for path, text in files.items():
            written.append(_write_new(directory / path, text))
    except OSError as error:
        for path_written in written:
            path_written.unlink(missing_ok=True)
        raise UsageError(f"cannot write {error.filename or directory}: {error.strerror or error}") from error
    return written


def check_name(name: str) -> str:
    """A system's name that can also be a file's; raises UsageError where it cannot."""
    if name == "here":
        raise UsageError("'here' cannot be a system's name: it always means the machine a command runs on")
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be a system's name", "use letters, digits, '.', '_' and '-'")
    return name


def site_name(directory: Path) -> str:
    """A site's name made from that of its directory, in characters that names can have."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", directory.resolve().name).strip("-_.") or "site"


def default_name(host: str) -> str:
    """A name for the machine made from its host name: its first part, in characters that a file's name can have."""
    name = re.sub(r"[^a-z0-9_-]+", "-", host.lower().split(".")[0]).strip("-_")
    return "machine" if name in _GENERAL_NAMES else name


def _write_new(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:  # x: never over a file that came in between
        file.write(text)
    return path


_SITE = """\
# A site directory holds what is yours: systems/, tests/, plans/, and campaigns/ with everything that was recorded.
# Commands find it from anywhere inside. Keep it in git.
site: {site}
about: ""
"""

_TEST = """\
# A test says how a program is run and when it ran well. No machine's numbers stand in it:
# {node.cores} and the like are filled in from the system it runs on.
# Each combination of its parameters is a case; this test has two.
test: hello-world
about: greets, and counts the processors it may run on
tags: [first]
parameters:
  greeting: [hello, goodbye]
run:
  time_limit: 30s
  command: |
    echo "{greeting}, world"
    echo "processors = $(nproc)"
check:                                     # all must hold; that it exits with 0 is always checked
  - output contains "world"
  - output lacks "error"
figures:                                   # numbers taken from the output: unit, and which direction is better
  processors: {regex: 'processors = (?P<value>\\d+)', better: higher}
"""

_HERE = "system: here                               # the machine the command runs on; or {system}, as systems/ describes it"
_CLUSTER = "system: {system}   # as systems/ describes it; 'here' would be the machine the command runs on"

_PLAN = """\
# A plan says what is run, how often, and what must come out of it.
# Run it with: shakedown run first
plan: first
about: the first plan of this site
{system}
components:
  - functionality:
      tests: [hello-world]                 # more come with the package: shakedown list
      repeats: 3
      criteria:
        correct: {{measure: correct / completed, must: "= 100%"}}
        done: {{measure: passed / wanted, must: "= 100%"}}
"""
