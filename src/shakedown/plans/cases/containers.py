"""The words that start a program in a case's container image: what ``{container}`` stands for, and ``{launch}`` ends with.

Sources of the command lines: the user guides of Apptainer (exec, --bind, --pwd), Podman and Podman-HPC (run), Sarus (run --mount,
--workdir), NVIDIA's Pyxis for Enroot (srun --container-image, --container-mounts, --container-workdir) and Charliecloud (ch-run).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from shakedown.plans.cases.combinations import Path
from shakedown.plans.cases.environment import Surroundings
from shakedown.plans.schema.containers import LAUNCHED_BY, RUNTIME, RUNTIMES, image, mount

_PROGRAMS = {"charliecloud": "ch-run", "enroot": "srun"}  # of the others their name is that of their program
_NAMED = ("podman", "podman-hpc", "sarus", "enroot")  # a plain word is a name of an image that they know
_OWN = '"$PWD"'  # the run's directory, where the shell that reads these words stands
_PODMAN = "run --rm --env-host --network=host --ipc=host --pid=host --entrypoint="


@dataclass(frozen=True, slots=True)
class Settings:
    """The container settings of a system's file. ``runtime``: "" where the file names none."""

    runtime: str = ""
    images: str = ""
    mounts: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Container:
    """The container of one case.

    ``runtime`` is "" where none is known. ``mounts``: directories beside the run's own, as HOST or HOST:INSIDE; shell text where
    only the campaign knows the place. ``sha256``: of an image that is a file or directory here, "" of others.
    """

    runtime: str
    image: str
    launcher: str = "host"
    mounts: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    sha256: str = ""
    fault: str = ""

    @property
    def tools(self) -> tuple[str, ...]:
        """The programs of the machine that start it."""
        return (_PROGRAMS.get(self.runtime, self.runtime),) if self.runtime else ()

    @property
    def in_srun(self) -> bool:
        """Whether srun itself starts the container, by its own options."""
        return self.runtime == "enroot"

    def words(self) -> str:
        """Purpose: shell text that a program and its arguments follow; it is read in the run's directory."""
        return f"srun --nodes=1 --ntasks=1 {self.srun_options()}" if self.in_srun else self._exec()

    def srun_options(self) -> str:
        """Purpose: the options for srun, for a container that srun itself starts."""
        mounts = ",".join([f"{_OWN}:{_OWN}", *(f"{host}:{inside}" for host, inside in self._pairs())])
        options = [*map(shlex.quote, self.options)]
        image_word = f"--container-image={shlex.quote(self.image)}"
        return " ".join([image_word, f"--container-mounts={mounts}", f"--container-workdir={_OWN}", *options])

    def identity(self) -> str:
        """Purpose: a description of the container, for people and for the record."""
        digest = f", sha256 {self.sha256}" if self.sha256 else ""
        return f"{self.image}{digest} ({self.runtime or 'no runtime'}, launcher of the {self.launcher})"

    def _exec(self) -> str:
        pairs = self._pairs()
        options, name = [*map(shlex.quote, self.options)], shlex.quote(self.image)
        if self.runtime in ("podman", "podman-hpc"):
            mounts = [f"--volume={_OWN}:{_OWN}", *(f"--volume={host}:{inside}" for host, inside in pairs)]
            words = [self.runtime, _PODMAN, *mounts, f"--workdir={_OWN}", *options, name]
        elif self.runtime == "sarus":
            every = [(_OWN, _OWN), *pairs]
            mounts = [f"--mount=type=bind,source={host},destination={inside}" for host, inside in every]
            words = ["sarus run", *mounts, f"--workdir={_OWN}", *options, name]
        elif self.runtime == "charliecloud":
            mounts = [f"--bind={_OWN}", *(f"--bind={host}:{inside}" for host, inside in pairs)]
            words = ["ch-run", *mounts, f"--cd={_OWN}", *options, name, "--"]
        else:
            mounts = [f"--bind={_OWN}", *(f"--bind={host}:{inside}" for host, inside in pairs)]
            words = [f"{self.runtime or 'apptainer'} exec", *mounts, f"--pwd={_OWN}", *options, name]
        return " ".join(words)

    def _pairs(self) -> list[tuple[str, str]]:
        """Each mount as shell text of both places."""
        pairs = []
        for written in self.mounts:
            host, _, inside = written.partition(":")
            pairs.append((_quoted(host), _quoted(inside or host)))
        return pairs


@dataclass(frozen=True, slots=True)
class Chooser:
    """Makes the containers of one test's cases. ``beside``: a path as the test writes it -> where it would lie."""

    written: Any  # run.container
    settings: Settings
    around: Surroundings
    beside: Callable[[str], str]
    look_here: bool  # whether what this machine has tells what the case's nodes have

    def choose(
        self, text: Callable[[Path, str], str], places: Iterable[str], at: Callable[[Path], None], local: bool
    ) -> Container:
        """Purpose: the container of one case, its expressions filled in by ``text``.

        ``places``: directories that its files and its program lie in, which it must see. Raises InvalidValue, after ``at`` was
        told where.
        """
        written = self.written if isinstance(self.written, dict) else {"image": self.written}
        base: Path = ("run", "container")

        def value(key: str, usual: str, parse: Callable[[str], str]) -> str:
            path = (*base, key) if isinstance(self.written, dict) else base
            filled = text(path, written.get(key, usual))
            at(path)
            return parse(filled) if filled else ""

        def values(key: str, parse: Callable[[str], str]) -> tuple[str, ...]:
            return tuple(parse(text((*base, key, i), one)) for i, one in enumerate(written.get(key, ())))

        runtime = value("with", self.settings.runtime, RUNTIME.convert) or self._found()
        launcher = value("launcher", "host", LAUNCHED_BY.convert)
        own = tuple(dict.fromkeys(place for place in places if place))
        mounts = (*own, *self.settings.mounts, *values("mounts", mount))
        options = (*self.settings.options, *values("options", str))
        found = self._image(value("image", "", image), runtime)
        fault = self._fault(runtime, launcher, local) or found.fault
        return Container(runtime, found.image, launcher, mounts, options, found.sha256, fault)

    def _found(self) -> str:
        """The first runtime that is installed here; Enroot is only known by name, since srun does not tell."""
        if not self.look_here:
            return ""
        return next((name for name in RUNTIMES if name != "enroot" and self.around.program(_program(name))), "")

    def _fault(self, runtime: str, launcher: str, local: bool) -> str:
        if not runtime and not self.look_here:
            return "it is not known what starts containers there: write 'containers: {with: apptainer}' in the system's file"
        if not runtime:
            return (
                f"nothing here starts containers: install one of {', '.join(RUNTIMES)}, or name one that modules bring: "
                "'containers: {with: apptainer}' in the system's file"
            )
        if runtime == "enroot" and local:
            return (
                "Enroot is used through srun, which the local scheduler does not have: write 'with: podman' or another"
            )
        if runtime == "enroot" and launcher == "image":
            return "launcher: image cannot be had from Enroot, where srun makes a container for each rank: leave it out"
        return ""

    def _image(self, written: str, runtime: str) -> Container:
        """The container with its image's place and digest; ``fault`` says why the image cannot be used."""
        if "://" in written:
            return Container(runtime, written)
        path = self.beside(written)
        if not self.around.there(path) and self.settings.images and not written.startswith("/"):
            path = str(PurePosixPath(self.settings.images) / written)
        if self.around.there(path):
            sha256, fault = self._digest(path)
            return Container(runtime, path, sha256=sha256, fault=fault)
        if runtime in _NAMED and not written.startswith(("/", "./", "../")):
            return Container(runtime, written)
        where = f" and in {self.settings.images}" if self.settings.images and not written.startswith("/") else ""
        beside = "" if written.startswith("/") else f"; it was looked for beside the test{where}"
        return Container(runtime, path, fault=f"the image {written} is not on this machine{beside}")

    def _digest(self, path: str) -> tuple[str, str]:
        """The digest of an image, and why it cannot be used. A directory with files that only root can read has no digest."""
        try:
            return self.around.digest(path), ""
        except IsADirectoryError:
            return "", ""
        except OSError as error:
            return "", f"the image {path} cannot be read: {error.strerror or error}"


def settings_from(written: dict[str, Any]) -> Settings:
    """Purpose: what the key ``containers`` of a system's file says."""
    return Settings(
        written.get("with", ""),
        written.get("images", ""),
        tuple(written.get("mounts", ())),
        tuple(written.get("options", ())),
    )


def _program(runtime: str) -> str:
    return _PROGRAMS.get(runtime, runtime)


def _quoted(path: str) -> str:
    """A path quoted for the shell; names that only a campaign knows stay unquoted and are filled in when it runs."""
    return path if path in ("{build}", "{campaign}") else shlex.quote(path)
