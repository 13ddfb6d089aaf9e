"""A machine's job history as columns, independent of the source: one record for each job, or one for each start of a job."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Words:
    """A column of words as numbers: ``codes`` are places in ``names``."""

    names: tuple[str, ...]
    codes: Codes


NOBODY = Words((), np.array([], dtype=np.int32))


@dataclass(frozen=True)
class JobHistory:
    """Columns of equal length, one entry a record. Times in seconds since 1970, nan where they are not known.

    ``start_s`` is nan for a job that never started; ``run_s`` is how long it held its nodes (0 for a job that
    never started, nan for one that still runs). ``units``: nodes, or processors where the source counts no nodes; ``unit`` says
    which. ``waited``: whose wait counts: a job that was requeued waited once. ``user``: who submitted it, NOBODY where the source
    has no such column. ``capacity``: units of the machine, 0 where it
    is not known. ``told``: a sentence for each thing that a reader of the numbers should know.
    """

    source: str
    unit: str
    submit_s: Floats
    start_s: Floats
    run_s: Floats
    units: Floats
    state: Words
    account: Words
    waited: Flags
    user: Words = NOBODY
    capacity: float = 0.0
    told: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.submit_s)


@dataclass
class WordColumn:
    """Builds a column of words; each distinct word is stored once."""

    known: dict[str, int] = field(default_factory=dict)
    codes: list[int] = field(default_factory=list)

    def add(self, word: str) -> None:
        self.codes.append(self.known.setdefault(word, len(self.known)))

    def done(self) -> Words:
        return Words(tuple(self.known), np.array(self.codes, dtype=np.int32))


def coded(words: Iterable[str]) -> Words:
    """Purpose: the column that encodes these words."""
    column = WordColumn()
    for word in words:
        column.add(word)
    return column.done()
