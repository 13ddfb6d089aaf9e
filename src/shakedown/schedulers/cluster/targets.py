"""Runs whose input files take long to place: those that work outside of the campaign, on a target of a file system, and those in
the campaign whose inputs are copied or include a directory.

A run on a target has a link to its directory at the usual place in the campaign, so that its files are found there. The link, or
for runs in the campaign the directory itself, is made last: where it exists, everything is complete.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from shakedown.events.plain_files import read_plain
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Pairs
from shakedown.model.ports import Part
from shakedown.schedulers.claims import CannotStart, cannot_start
from shakedown.schedulers.copied_inputs import Progress, copy_input, shared_input
from shakedown.schedulers.linked_inputs import deepest_first, link_input
from shakedown.schedulers.made_directories import make_directory

GATHERED_S = 3600.0  # for which gathered input files are taken as they are
_WORD = re.compile(r"\{([A-Za-z0-9_-]+)\}")


def work_of(run: str, case: Case, targets: Pairs) -> str:
    """Purpose: the directory that a case's runs work in, with the run's targets filled in. Raises CannotStart."""
    chosen, budgets = dict(targets), dict(case.targets)

    def target(match: re.Match[str]) -> str:
        word = match[1]
        if word not in budgets:
            return match[0]
        if budgets[word] not in chosen:
            raise CannotStart(f"run {run} cannot be started: no target of {budgets[word]} was chosen for {case.work}")
        return chosen[budgets[word]]

    work = _WORD.sub(target, case.work)
    if not work.startswith("/") or "\n" in work or "\0" in work or ".." in Path(work).parts:
        raise CannotStart(f"run {run} cannot be started: {work!r} is no absolute path to a directory")
    return work


@dataclass(frozen=True, slots=True)
class Placing:
    """The place of one run that is to be made. ``inside``: for a part, its place in the job's directory. ``own``: the place is in
    the campaign.
    """

    layout: Layout
    token: str
    job: str
    restart: int
    run: str
    case: Case
    work: str
    inside: str = ""
    own: bool = False

    @property
    def home(self) -> Path:
        return Path(self.work, self.token)

    @property
    def place(self) -> Path:
        return self.link if self.own else self.home / f"{self.job}.{self.restart}" / self.inside

    @property
    def link(self) -> Path:
        return self.layout.job_work(self.job, self.restart) / self.inside

    @property
    def draft(self) -> Path:
        """The directory where the input files of the run are gathered. It belongs to the run, not to a job: if the job is put off,
        the next job of the run finds the files copied already.
        """
        return self.layout.gathered(self.run) if self.own else self.home / f".{self.run}"

    def carry_out(self, progress: Progress, wanted: Callable[[], bool] = lambda: True) -> None:
        """Purpose: gather the input files, then make the place if it is still ``wanted``. Doing it again changes nothing. Raises
        CannotStart.
        """
        try:
            if self._is_done():
                return
            origins = self._gathered()
            if origins is None:
                origins = self.gather(progress)
                self._note.write_bytes(b"\0".join(os.fsencode(origin) for origin in origins))
            if wanted():
                self.settle(origins)
        except OSError as error:
            raise cannot_start(self.run, error, self.layout) from error

    @property
    def _note(self) -> Path:
        """The file which says that the draft directory is complete, and where its links lead. Looking through the draft again may
        take as long as making it.
        """
        return self.draft.with_name(f"{self.draft.name}.gathered")

    def _gathered(self) -> list[Path] | None:
        """Where the links of a complete draft lead; None where there is no draft, or it is so old that its sources may have
        changed.
        """
        try:
            if time.time() - self._note.stat().st_mtime > GATHERED_S or not self.draft.is_dir():
                return None
            return [Path(os.fsdecode(word)) for word in read_plain(self._note).split(b"\0") if word]
        except OSError:
            return None

    def gather(self, progress: Progress) -> list[Path]:
        """Put the run's input files into its draft directory, which no job uses yet. Returns the inputs that exist once per target
        and that the draft links to. Raises OSError, CannotStart.
        """
        if self.own:
            make_directory(self.draft.parent, self.layout.root)
        else:
            self._make_home()
        progress.add()
        origins: list[Path] = []
        if self.place.is_dir():
            return origins
        self.draft.mkdir(exist_ok=True)

        def link(target: str, place: str) -> None:
            _point(Path(place), Path(target))
            progress.add()

        for name, source in reversed(deepest_first(self.case.files)):  # a link takes the place of one that is there
            file = self.draft / name
            if self.case.stage == "copy":
                copy_input(Path(source), file, progress)
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            origin = Path(os.path.normpath(source))
            if self.case.stage == "per-target" and not self.own:
                origin = shared_input(self.home / "inputs", origin, progress)
                origins.append(origin)
            link_input(str(file), str(origin), link)
        return origins

    def settle(self, origins: Sequence[Path] = ()) -> None:
        """Turn the draft into the working directory of the job, then make the link that marks it as complete. Raises OSError.

        ``origins``: the inputs that are linked to. They are noted for restarts, since the first start may have changed what is in
        its place.
        """
        if not self.place.is_dir():
            if origins and not self.inside:
                shared = self.home / f"{self.job}.inputs"
                shared.mkdir(exist_ok=True)
                for number, origin in enumerate(origins):
                    _point(shared / str(number), origin)
            self.place.parent.mkdir(exist_ok=True, parents=self.own)
            self._note.unlink(missing_ok=True)
            self.draft.rename(self.place)
        if self.own:
            return
        if not self.inside:
            _write(self.layout.job(self.job) / "place", str(self.home / self.job))
        self.link.parent.mkdir(parents=True, exist_ok=True)
        _point(self.link, self.place)

    def _is_done(self) -> bool:
        if self.own:
            return self.place.is_dir()
        try:
            return self.link.readlink() == self.place and self.place.is_dir()
        except OSError:
            return False

    def _make_home(self) -> None:
        """Make the directory that the site's file names, but none above it: a directory made there would be on no target."""
        work = Path(self.work)
        if not work.is_dir():
            if not work.parent.is_dir():
                raise CannotStart(
                    f"run {self.run} cannot be started: {work.parent} does not exist; it has to be made first, on its target"
                )
            work.mkdir(exist_ok=True)
        self.home.mkdir(exist_ok=True)


def placings(
    layout: Layout, token: str, job: str, restart: int, run: str, case: Case, targets: Pairs, parts: Sequence[Part]
) -> list[Placing]:
    """Purpose: the places outside of the campaign that must be made before a job may start. Raises CannotStart."""
    return [
        Placing(layout, token, job, restart, name, one, work_of(name, one, targets), inside)
        for name, one, inside in _works(run, case, parts)
        if one.work
    ]


def gatherings(
    layout: Layout, token: str, job: str, restart: int, run: str, case: Case, parts: Sequence[Part]
) -> list[Placing]:
    """Purpose: the places in the campaign that must be made before a job is submitted, and that may take longer
    than a submission.
    """
    work = str(layout.work)
    return [
        Placing(layout, token, job, restart, name, one, work, inside, own=True)
        for name, one, inside in _works(run, case, parts)
        if takes_its_time(one)
    ]


def _works(run: str, case: Case, parts: Sequence[Part]) -> list[tuple[str, Case, str]]:
    return [(part.run, part.case, part.run) for part in parts] if parts else [(run, case, "")]


def takes_its_time(case: Case) -> bool:
    """Purpose: whether placing the input files takes more than one link each, for a case that works in the campaign."""
    if case.work or not case.files:
        return False
    return case.stage == "copy" or any(os.path.isdir(source) for _, source in case.files)  # noqa: PTH112


def _point(link: Path, target: Path) -> None:
    """Make a link, replacing one that leads elsewhere. Raises OSError, also where something that is no link is there."""
    with contextlib.suppress(FileExistsError):
        link.symlink_to(target)
        return
    if link.readlink() != target:  # OSError where it is no link: nothing of ours is overwritten
        draft = link.with_name(f".{link.name}.{os.getpid()}")
        draft.symlink_to(target)
        draft.replace(link)


def _write(path: Path, line: str) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_bytes(os.fsencode(line) + b"\n")
    draft.replace(path)
