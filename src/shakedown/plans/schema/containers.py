"""Keys that name the container image of a test's programs, and how a site starts containers."""

from __future__ import annotations

import re

from shakedown.plans.schema.records import Either, Key, ListOf, Record
from shakedown.plans.schema.scalars import Choice, InvalidValue, Parsed, Text

RUNTIMES = ("apptainer", "singularity", "podman", "podman-hpc", "sarus", "enroot", "charliecloud")
LAUNCHERS = ("host", "image")
_IMAGE = re.compile(r"[^\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?")
_MOUNT = re.compile(r"/[^:,\x00-\x1f\x7f]*(:/[^:,\x00-\x1f\x7f]*)?")


def image(text: str) -> str:
    """The name of an image: a file or directory, or a name in a registry or of the runtime. Raises InvalidValue."""
    if _IMAGE.fullmatch(text) is None or text.startswith("-"):
        raise InvalidValue(f"'{text}' is no image", "a file such as lammps.sif, or a name such as docker://debian:12")
    return text


def mount(text: str) -> str:
    """A directory of the machine, and after ':' its path in the container. Raises InvalidValue."""
    if _MOUNT.fullmatch(text) is None:
        raise InvalidValue(f"'{text}' is no mount", "an absolute path, or two: /scratch, /project/data:/data")
    return text


RUNTIME = Choice(RUNTIMES, templated=True)
LAUNCHED_BY = Choice(LAUNCHERS, templated=True)
_IMAGES = Parsed("an image: a file, or the name of one", image, templated=True)
_MOUNTS = ListOf(
    Parsed("a directory such as /scratch, or two as /data:/input", mount, templated=True), "a list of mounts"
)
_OPTIONS = ListOf(Text("an option", templated=True), "a list of options")

CONTAINER = Either(
    scalar=_IMAGES,
    keys=Record(
        "a map that says what container is used",
        {
            "image": Key(
                _IMAGES,
                "a file or directory, from this file, or from the system's images; or a name that the runtime knows",
                True,
            ),
            "with": Key(
                RUNTIME, "what starts containers; without it what the system says, else the first that is here"
            ),
            "launcher": Key(
                LAUNCHED_BY,
                "whose launcher starts the ranks: host: that of the machine, a container for each rank; image: mpiexec "
                "of the image, in one container on one node; without it host",
            ),
            "mounts": Key(_MOUNTS, "directories of the machine that are seen inside, after the system's"),
            "options": Key(_OPTIONS, "more words for the runtime, after the system's"),
        },
    ),
)

CONTAINERS = Record(
    "a map that says how containers are started",
    {
        "with": Key(Choice(RUNTIMES), "what starts containers here; without it the first runtime that is found"),
        "images": Key(Text("an absolute path"), "a directory of images; looked in where none lies beside the test"),
        "mounts": Key(
            ListOf(Parsed("a directory such as /scratch, or two as /data:/input", mount), "a list of mounts"),
            "directories that every container sees, beside the run's own",
        ),
        "options": Key(ListOf(Text("an option"), "a list of options"), "words for the runtime, such as --nv"),
    },
)
