"""What runs depend on besides the frozen plan: input files, programs, settings; and whether they were changed meanwhile.

Every driver notes them when it starts, checks the files from time to time, and compares. A change in a campaign that still has
something to run opens an epoch (the finding ``conditions_changed``) and restricts the acceptance: runs before and after it had
different conditions.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shakedown.conductor.driver.known_files import DIRECTORY, VARIABLE, files_changed, files_removed
from shakedown.conductor.driver.script_words import (
    files_of_variables,
    filled_in,
    normal,
    programs_in,
    run_by_others,
    variables_in,
)
from shakedown.conductor.record.environments import is_stored, keep_named, read_environment, read_named
from shakedown.events.plain_files import open_plain
from shakedown.metrics.words import plural, some
from shakedown.model.checks import kinds_with_reference
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Document, Pairs
from shakedown.model.references import references_in
from shakedown.model.secrets import is_secret

if TYPE_CHECKING:
    from shakedown.conductor.driver.conductor import Conductor
    from shakedown.engine import State

LOOK_S = 60.0  # between two looks at the files while a campaign is driven
HASHED_BYTES = 64 << 20  # of one file; a larger one is known by its size and the time of its last change
ALL_BYTES = 512 << 20  # read by one driver; what comes after so much is known in the same way
MOST_FILES = 10_000
SHOWN = 20
_BLOCK = 1 << 20
_SCRIPT_BYTES = 1 << 18  # a longer file is taken for data
# Of the stored variables those that differ from login to login and from job to job, and that no result depends on. Which programs a
# PATH finds is looked at itself.
_NO_SETTINGS = """
    PATH HOME USER LOGNAME SHELL PWD HOST HOSTNAME TMPDIR TMP TEMP SCRATCH WORK LANG LANGUAGE LC_* TZ UMASK
    VIRTUAL_ENV CONDA_* PYTHONHOME SLURM_* SLURMD_* SRUN_* SALLOC_* PBS_* PALS_* PMI_* PMIX_* SHAKEDOWN_* MAKEFLAGS
    MODULESHOME MODULE_VERSION LMOD_* __LMOD_* _LMFILES_
"""
_NO_SETTING = tuple(_NO_SETTINGS.split())
# What a login or a terminal says of itself.
_OF_A_LOGIN = (
    "_",
    "OLDPWD",
    "SHLVL",
    "XDG_*",
    "DBUS_*",
    "SSH_*",
    "DISPLAY",
    "TERM*",
    "COLUMNS",
    "LINES",
    "TMUX*",
    "STY",
    "MAIL",
)
Known = dict[str, str]  # what a file or a program was: by path, or by name


@dataclass(slots=True)
class Conditions:
    """The conditions, for one driver. ``environment``: the digest of its environment. ``known``: what files and programs are;
    ``digest``: of that, as stored. ``next_look``: when to look again. ``read_bytes``: how much was read so far.
    """

    layout: Layout
    document: Document
    environment: str = ""  # the digest of this driver's
    known: Known = field(default_factory=dict)
    digest: str = ""
    next_look: float = 0.0
    read_bytes: int = 0
    _texts: dict[str, tuple[str, str]] = field(default_factory=dict)  # path -> (what it was, what it says as a script)
    _looks: dict[str, tuple[tuple[int, ...], str]] = field(
        default_factory=dict
    )  # path -> (size, time, inode), what it was

    def begin(self, state: State) -> dict[str, Any]:
        """Purpose: note the conditions when a driver starts; returns fields for its ``driver_start``."""
        self.known = self._look(state)
        self.digest = self._keep()
        return {"inputs": self.digest} if self.digest else {}

    def compare(self, conductor: Conductor, environment: str, inputs: str) -> None:
        """Purpose: record what differs from the driver before, by the digests of its environment and its inputs."""
        lines: list[str] = []
        try:
            lines += settings_changed(self.layout, self.document, environment, self.environment)
            lines += files_changed(known_inputs(self.layout, inputs), self.known)
        except RecordError:
            return  # damage of the record, which is said elsewhere
        self._say(conductor, lines, "since the last conductor left")

    def consider(self, conductor: Conductor, now: float) -> None:
        """Look at the files if it is time to. Called at every wait."""
        if now >= self.next_look:
            first, self.next_look = not self.next_look, now + LOOK_S
            if not first:
                self.look_again(conductor)

    def look_again(self, conductor: Conductor, late: bool = False) -> None:
        """Purpose: record what was changed while this driver runs, and note what is new. ``late``: nothing runs any more, so no
        epoch begins.
        """
        before, self.known = self.known, self._look(conductor.state)
        lines = files_changed(before, self.known)
        gone = files_removed(before, self.known)
        self.known = {name: was for name, was in before.items() if name not in gone} | self.known
        if self.known != before:
            self.digest = self._keep() or self.digest
        self._say(conductor, lines, "while the campaign was driven", late)

    def _say(self, conductor: Conductor, lines: list[str], when: str, late: bool = False) -> None:
        if not lines:
            return
        shown = lines[:SHOWN] + ([f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else [])
        count = plural(len(lines), "input, program or setting", "inputs, programs or settings")
        why = f"{count} of the runs changed {when}: {some(lines)}"
        value: dict[str, Any] = {"kind": "conditions_changed", "difference": shown}
        value |= {"inputs": self.digest} if self.digest else {}
        value |= {"late": True} if late else {}
        conductor.log("finding", value=value, reason=why)

    def _keep(self) -> str:
        try:
            return keep_named(
                self.layout, json.dumps({"inputs": self.known}, sort_keys=True, ensure_ascii=True).encode()
            )
        except (OSError, RecordError):
            return ""

    # ---- looking ----

    def _look(self, state: State) -> Known:
        """What all files and programs are now. The source of a build counts until it is built; after that, what
        was built from it.
        """
        self.document = state.index.document if state.plan is not None else self.document
        found: Known = {}
        for path in self._files(state, found):
            if len(found) >= MOST_FILES:
                break
            found[str(path)] = self._what(path)
        for name, path in self._programs():
            found[f"program {name}"] = f"{path} {self._what(path)}"
        for name in self._variables():
            found[f"{VARIABLE}{name}"] = _inherited(name)
        return found

    def _variables(self) -> list[str]:
        """Variables that runs inherit and that their scripts, or scripts named there, clearly read and do not set. Variables that
        are stored with the environment are compared there; variables that differ from login to login do not count.
        """
        found: dict[str, None] = {}
        texts = [self._text(Path(path)) for _, path in self._programs()]
        beside = [name for text in texts for name in variables_in(text)]
        for script, environment in dict.fromkeys((case.script, case.environment) for case in self._cases()):
            own = {name for name, _ in environment}
            named = [
                *variables_in(script),
                *(name for _, value in environment for name in variables_in(str(value))),
                *beside,
            ]
            found.update((name, None) for name in named if name not in own)
        return [name for name in found if self._is_looked_at(name)]

    def _is_looked_at(self, name: str) -> bool:
        stored = is_stored(name, self.document.record_environment)
        return is_setting(name) and not stored and not any(fnmatchcase(name, pattern) for pattern in _OF_A_LOGIN)

    def _text(self, path: Path) -> str:
        """The text of a script; "" if the file is no script, or too large for one. It is read again only where it
        may have changed.
        """
        mark = self._what(path)
        known = self._texts.get(str(path))
        if known is None or known[0] != mark:
            known = self._texts[str(path)] = (mark, script_text(path))
        return known[1]

    def _files(self, state: State, found: Known) -> Iterator[Path]:
        """The files to look at. ``found`` gets an entry for each directory all of whose files were listed, or why it cannot be
        read.
        """
        for place in dict.fromkeys(path for case in self._cases() for _, path in case.files):
            yield from self._inputs_in(Path(place), found)
        yield from map(Path, references_in(self.document, kinds_with_reference()))
        for build in self.document.builds:
            phase = state.builds[build.key].phase if build.key in state.builds else ""
            if phase == "done":  # what else lies there may be what runs leave
                yield from filter(_is_program, files_in(self.layout.build(build.key)))
            elif build.source and phase != "failed":
                yield from self._inputs_in(Path(build.source), found)

    def _inputs_in(self, place: Path, found: Known) -> Iterator[Path]:
        failed: list[OSError] = []
        yield from files_in(place, failed.append)
        holds_us = f"{os.path.realpath(self.layout.root)}/".startswith(f"{os.path.realpath(place)}/")
        if not place.is_file() and not holds_us:
            found[f"{DIRECTORY}{place}"] = f"cannot be read: {failed[0].strerror}" if failed else ""

    def _cases(self) -> Iterator[Case]:
        return (case for case in self.document.cases if not case.unavailable)

    def _programs(self) -> Iterator[tuple[str, Path]]:
        search = os.pathsep.join((os.path.join(sys.prefix, "bin"), os.environ.get("PATH", os.defpath)))  # noqa: PTH118
        for name in dict.fromkeys(self._named()):
            path = name if name.startswith("/") else shutil.which(name, path=search) if "/" not in name else None
            if path is not None and Path(path).is_file():
                yield name, Path(path)

    def _named(self) -> Iterator[str]:
        """Programs and absolute paths that the scripts and variables of runs name, except those inside the campaign."""
        root = str(self.layout.root)
        done: set[tuple[str, Pairs]] = set()
        for case in self._cases():
            if (case.script, case.environment) in done:
                continue
            done.add((case.script, case.environment))
            script, environment = (
                self._placed(case, text) for text in (case.script, json.dumps(case.environment, ensure_ascii=False))
            )
            pairs = [(str(name), str(value)) for name, value in json.loads(environment)]
            variables = {**os.environ, "SHAKEDOWN_CAMPAIGN": root, **dict(pairs)}
            text = filled_in(script, variables)
            own = [(name, filled_in(value, variables)) for name, value in pairs]
            for name in (*programs_in(text), *files_of_variables(own, text), *run_by_others(variables)):
                path = normal(name) if name.startswith("/") else name
                if not path.startswith(f"{root}/"):
                    yield path

    def _placed(self, case: Case, text: str) -> str:
        """The text with the directories of the campaign and of the case's build, as the job's script has them."""
        text = text.replace("{build}", str(self.layout.build(case.build))) if case.build else text
        return text.replace("{campaign}", str(self.layout.root))

    def _what(self, path: Path) -> str:
        """What a file is: size, time and sum. It is read again only where it may have changed."""
        try:
            status = path.stat()
            mark = (status.st_size, status.st_mtime_ns, status.st_ino)
            looked = self._looks.get(str(path))
            if looked is None or looked[0] != mark:
                digest = ""
                if status.st_size <= HASHED_BYTES and self.read_bytes + status.st_size <= ALL_BYTES:
                    self.read_bytes += status.st_size
                    digest = file_digest(path)
                looked = self._looks[str(path)] = (mark, f"{status.st_size}@{status.st_mtime_ns}#{digest}")
            return looked[1]
        except OSError as error:
            return f"cannot be read: {error.strerror}"


def script_text(path: Path) -> str:
    """Purpose: the text of a script, which begins with ``#!`` or is named like a shell script; "" for any other file."""
    try:
        with open_plain(path) as file:
            data = file.read(_SCRIPT_BYTES + 1)
    except OSError:
        return ""
    is_script = data.startswith(b"#!") or path.suffix in (".sh", ".bash")
    return data.decode("utf-8", "replace") if is_script and len(data) <= _SCRIPT_BYTES else ""


def _inherited(name: str) -> str:
    """What is known of a variable: the sha256 of its value; if it may hold a credential, only that it is set."""
    value = os.environ.get(name)
    if value is None:
        return "not set"
    digest = "" if is_secret(name, value) else hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()
    return f"set#{digest}"


def files_in(place: Path, failed: Callable[[OSError], object] | None = None) -> Iterator[Path]:
    """Purpose: the regular files of a place: the place itself, or all below it. ``failed`` is called for each directory that cannot
    be read.
    """
    try:
        mode = place.stat().st_mode
    except OSError as error:
        if failed is not None:
            failed(error)
        yield place  # that it is not there is said as what it is
        return
    if stat.S_ISREG(mode):
        yield place
    elif stat.S_ISDIR(mode):
        for folder, folders, names in os.walk(place, onerror=failed):
            folders.sort()
            yield from (path for name in sorted(names) if (path := Path(folder, name)).is_file())


def _is_program(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & stat.S_IXUSR) or ".so" in path.suffixes
    except OSError:
        return False


def file_digest(path: Path) -> str:
    """Purpose: the sha256 of a file. Raises OSError."""
    hashed = hashlib.sha256()
    with open_plain(path) as file:
        while block := file.read(_BLOCK):
            hashed.update(block)
    return hashed.hexdigest()


# ---- what differs ----------------------------------------------------------------------------------------------------------


def settings_changed(layout: Layout, document: Document, before: str, after: str) -> list[str]:
    """Purpose: the inherited variables that differ from those of the driver before, one line each. Variables that every case sets
    itself are left out. Raises RecordError.
    """
    if not before or not after or before == after:
        return []
    was, now = read_environment(layout, before).variables, read_environment(layout, after).variables
    names = sorted(name for name in was.keys() | now.keys() if was.get(name) != now.get(name) and is_setting(name))
    own = _set_by_all(document)
    return [f"{name} is {_value(now.get(name))}, and was {_value(was.get(name))}" for name in names if name not in own]


def is_setting(name: str) -> bool:
    return not any(fnmatchcase(name, pattern) for pattern in _NO_SETTING)


def _set_by_all(document: Document) -> set[str]:
    sets = [{name for name, _ in case.environment} for case in document.cases if not case.unavailable]
    return set.intersection(*sets) if sets else set()


def _value(value: str | None) -> str:
    if value is None:
        return "not set"
    return f"'{value}'" if len(value) <= 60 else f"'{value[:57]}...'"


def known_inputs(layout: Layout, digest: str) -> Known:
    """Purpose: what the record knows of files and programs under this digest; {} for "". Raises RecordError."""
    if not digest:
        return {}
    said = read_named(layout, digest).get("inputs")
    return {str(key): str(value) for key, value in said.items()} if isinstance(said, dict) else {}
