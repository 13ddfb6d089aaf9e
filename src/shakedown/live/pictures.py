"""The figures of the report while a campaign runs: use of the machine, budgets, run times with limits, pairs of nodes and more.

They are the figures of the later report, made from the record so far. Each is painted when a browser asks for it, one at a time:
matplotlib has global settings that threads share.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shakedown.model.errors import UsageError, did_you_mean
from shakedown.report.evidence import evidence_of
from shakedown.report.figures.registry import draw_all
from shakedown.report.figures.style import Drawing
from shakedown.report.reading import read_campaign
from shakedown.store.reading import compiled

SECTIONS = {
    "stability": "The machine in use, budgets",
    "line": "Over time",
    "counts": "Counts",
    "times": "Run times",
    "node_map": "Nodes",
    "machine": "What the machine does",
    "time_spent": "Where the time went",
    "sides": "Beside the vendor",
    "scaling": "Scaling",
    "toolchains": "Toolchains",
}
_PAINTING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Gallery:
    """``sections``: title and figures of each section that has figures; ``seq``: the event that they show; ``troubles``: what is
    not drawn.
    """

    sections: tuple[tuple[str, tuple[Drawing, ...]], ...]
    seq: int
    troubles: tuple[str, ...]

    def chosen(self, only: str) -> list[tuple[str, list[Drawing]]]:
        """Purpose: the sections with the figures whose title or name matches a regular expression. Errors: UsageError."""
        if not only:
            return [(title, list(drawings)) for title, drawings in self.sections]
        wanted = compiled(only)
        found = [
            (title, [one for one in drawings if wanted.search(one.title) or wanted.search(one.file)])
            for title, drawings in self.sections
        ]
        return [(title, drawings) for title, drawings in found if drawings]

    def named(self, file: str) -> Drawing:
        """Purpose: one figure. Errors: UsageError where there is none of this name."""
        every = {one.file: one for _, drawings in self.sections for one in drawings}
        if file not in every:
            raise UsageError(
                f"there is no figure '{file}'", hint=did_you_mean(file, every) or "the page of figures lists them"
            )
        return every[file]


def gallery_of(campaign: Path) -> Gallery:
    """Purpose: all figures of a campaign, not painted yet. Errors: those of ``read_campaign``."""
    read = read_campaign(campaign)
    pictures = draw_all(read.layout.root, evidence_of(read))
    for drawing in pictures.all if read.damage else ():
        drawing.mark("the record is DAMAGED: nothing here can be relied on")
    sections = [(title, tuple(getattr(pictures, name))) for name, title in SECTIONS.items()]
    return Gallery(tuple(one for one in sections if one[1]), read.record.seq, tuple(pictures.troubles))


def painted(drawing: Drawing) -> bytes:
    """Purpose: a figure as SVG; it is painted only once."""
    with _PAINTING:
        return drawing.svg


def titles(sections: Sequence[tuple[str, Sequence[Drawing]]]) -> list[dict[str, str]]:
    """Purpose: section, name, title and caption of each figure, as plain data."""
    return [
        {"section": title, "name": one.file, "title": one.title, "caption": one.caption}
        for title, drawings in sections
        for one in drawings
    ]
