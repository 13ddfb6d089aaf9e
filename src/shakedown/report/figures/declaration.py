"""The declaration of a figure of the report: its section, its place in the section, and its drawing function.

A file that draws figures for the report ends with ``FIGURES``, a tuple of these, which the registry finds. A package of a site
names its declarations as entry points of the group ``shakedown.figures``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from shakedown.report.evidence import Evidence
from shakedown.report.figures.outputs_read import Gathered
from shakedown.report.figures.style import Drawing

GROUP = "shakedown.figures"
Section = Literal[
    "scores", "issues", "line", "stability", "time_spent", "sides", "scaling", "toolchains", "counts", "times", "node_map",
    "machine",
]  # fmt: skip
SECTIONS: tuple[Section, ...] = (
    "scores", "issues", "line", "stability", "time_spent", "sides", "scaling", "toolchains", "counts", "times", "node_map",
    "machine",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Material:
    """What figures are drawn from: the campaign in numbers, the data from kept outputs, and time zero in seconds since 1970."""

    evidence: Evidence
    gathered: Gathered
    begin: float


Drawn = tuple[list[Drawing], list[str]]  # figures, and a sentence for each that is not drawn


@dataclass(frozen=True, slots=True)
class ReportFigure:
    """``section`` says where the figure appears: ``scores`` and ``issues`` at the scores and the issue ledger, ``line`` and
    ``counts`` at the runs, ``sides`` at performance, ``scaling`` at scaling, ``toolchains`` at toolchains, ``times`` at run times,
    ``node_map`` at nodes, ``time_spent`` at where the time went, ``stability`` and ``machine`` in sections of their own. Within a
    section the lowest ``order`` comes first.

    ``draw`` returns no figure where there is nothing to draw.
    """

    name: str
    section: Section
    draw: Callable[[Material], Drawn]
    order: int = 50
