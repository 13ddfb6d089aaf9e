"""Comparisons on the live page: two campaigns, or one figure over all of them, as the commands compute them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from shakedown.live.pictures import painted
from shakedown.metrics.comparing.compare import LEAST
from shakedown.model.errors import UsageError, did_you_mean
from shakedown.queries.comparisons import Asked as Side
from shakedown.queries.comparisons import Compared, compare_campaigns
from shakedown.queries.histories import Looked, look_back
from shakedown.report.figures.comparison import draw_comparison, draw_history
from shakedown.report.figures.style import Drawing

BY = ("campaign", "epoch", "component", "partition", "toolchain", "mode", "node")


@dataclass(frozen=True, slots=True)
class ToCompare:
    """The comparison that a URL asks for. ``before`` and ``after``: campaigns, "" where none is chosen; ``by``: what the groups of
    runs differ in; ``least``: the smallest change that matters, as a share.
    """

    before: str = ""
    after: str = ""
    by: str = "campaign"
    least: float = LEAST

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for name in (self.before, self.after) if name))


@dataclass(frozen=True, slots=True)
class ToLookBack:
    """The figure that a URL asks for, and its test ("": all tests)."""

    figure: str = ""
    test: str = ""
    least: float = LEAST


@dataclass(frozen=True, slots=True)
class Beside:
    """A comparison or a history with its figure; None where nothing was asked for. ``names``: the campaigns to choose from.

    ``figures``: the figures of merit that runs have. ``at``: when it was worked out, in seconds since 1970.
    """

    compared: Compared | None = None
    looked: Looked | None = None
    drawing: Drawing | None = None
    names: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    at: float = 0.0

    def svg(self) -> bytes:
        """Purpose: the figure as SVG. Errors: UsageError where there is none."""
        if self.drawing is None:
            raise UsageError("nothing was asked for that could be drawn")
        return painted(self.drawing)


def asked_to_compare(words: Mapping[str, str]) -> ToCompare:
    """Purpose: read the query of a URL. Errors: UsageError that names the wrong word and the allowed ones."""
    _refuse_unknown(words, ("before", "after", "by", "least", "as", "event"))
    by = words.get("by") or "campaign"
    return ToCompare(words.get("before", ""), words.get("after", ""), by, _share(words))


def asked_to_look_back(words: Mapping[str, str]) -> ToLookBack:
    """Purpose: as ``asked_to_compare``, for a figure over all campaigns."""
    _refuse_unknown(words, ("figure", "test", "least", "as", "event"))
    return ToLookBack(words.get("figure", ""), words.get("test", ""), _share(words))


def compared(asked: ToCompare, paths: Mapping[str, Path]) -> Beside:
    """Purpose: compare two campaigns, or groups of the runs of one. Errors: UsageError, RecordError."""
    names = tuple(sorted(paths))
    if not asked.names:
        return Beside(names=names)
    for name in asked.names:
        if name not in paths:
            raise UsageError(
                f"there is no campaign '{name}'", hint=did_you_mean(name, paths) or "the first page lists them"
            )
    found = compare_campaigns([Side(paths[name], name) for name in asked.names], asked.by, None, asked.least)
    return Beside(compared=found, drawing=draw_comparison(found.comparison, found.rehearsed), names=names)


def looked_back(asked: ToLookBack, paths: Mapping[str, Path], figures: tuple[str, ...]) -> Beside:
    """Purpose: one figure over the campaigns. Errors: UsageError, RecordError."""
    if not asked.figure or not paths:
        return Beside(names=tuple(sorted(paths)), figures=figures)
    tests = [asked.test] if asked.test else []
    found = look_back(asked.figure, list(paths.values()), asked.least, tests)
    drawn = draw_history(found.history, found.rehearsed)
    return Beside(looked=found, drawing=drawn, names=tuple(sorted(paths)), figures=figures)


def _refuse_unknown(words: Mapping[str, str], known: tuple[str, ...]) -> None:
    for word in words:
        if word not in known:
            raise UsageError(
                f"there is no word '{word}'", hint=did_you_mean(word, known) or f"there are {', '.join(known)}"
            )


def _share(words: Mapping[str, str]) -> float:
    text = words.get("least") or f"{LEAST:.0%}"
    found = re.fullmatch(r"\s*(\d{1,3}(?:\.\d{1,6})?)\s*%?\s*", text, re.ASCII)
    share = float(found[1]) / 100 if found else 0.0
    if not 1e-6 <= share <= 1:
        raise UsageError(f"least={text}: it is a share of change such as 2%, above 0% and at most 100%")
    return share
