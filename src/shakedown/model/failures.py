"""Classes of failures: which lines of an output tell them, and what a person does next. Plain data, from YAML to a verdict."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

SUSPECTS: Final = ("application", "site", "vendor", "harness", "machine")

# what classes are kinds of: the broad answer to "why", stable, and what reports count by
FAMILIES: Final[dict[str, str]] = {
    "out-of-memory": "There was not enough memory.",
    "killed": "A signal from outside ended it.",
    "time-limit": "Its time was over.",
    "node-failure": "A node was lost, or its hardware reports a fault.",
    "mpi-error": "MPI, or the process manager under it, reports an error.",
    "fabric-error": "The network between the nodes failed or could not be used.",
    "missing-library": "A shared library is missing or of another version.",
    "file-system-error": "A file system refused, lost or has no room for data.",
    "segmentation-fault": "The program touched memory that is not its own.",
    "wrong-launch-line": "What was asked of the launcher does not fit the job, the machine or the program.",
    "program-error": "The program itself gave up or did what no processor allows.",
    "environment": "Something that the program needs is not there: a command, a module, a right, a licence.",
    "gpu-error": "An accelerator or its driver reports an error.",
    "scheduler": "The scheduler, or a person there, ended or refused it.",
    "unknown": "Nothing that is known was found.",
}
UNCLASSIFIED: Final = "unclassified"
# Shipped classes of lines that say that a file system had no room.
NO_ROOM_CLASSES: Final = frozenset({"disk-full", "quota"})
AFTERMATH: Final = (
    20  # lines of a lower weight only repeat that something ended; they decide where nothing else is said
)


class FailureLine(Struct, frozen=True):
    """Lines that are equally telling. ``texts``: ``...`` stands for anything, case is no matter. ``patterns``: regular expressions.

    ``weight``: how telling, 1 to 100; of two lines the heavier one wins. ``source``: where the texts were seen.
    """

    weight: int
    source: str
    texts: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()


class FailureClass(Struct, frozen=True):
    """One class. ``examples``: lines that must be classified so, ``unlike``: those that must not. ``suspect`` is but a hint."""

    name: str
    family: str
    about: str
    hint: str
    lines: tuple[FailureLine, ...]
    suspect: str = ""
    examples: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    place: str = ""  # where it is written: file:line


class Failure(Struct, frozen=True):
    """What a failed run is put down to. ``source``: output, scheduler or status (the exit status). ``name`` may be UNCLASSIFIED.

    ``line``: the words that say so, printable and short; of an unclassified failure the line that is most likely telling.
    """

    name: str
    family: str = ""
    line: str = ""
    source: str = ""
    weight: int = 0

    def value(self) -> dict[str, str]:
        """As a verdict's value has it; what is empty is left out."""
        pairs = {"class": self.name, "family": self.family, "line": self.line, "source": self.source}
        return {key: text for key, text in pairs.items() if text}
