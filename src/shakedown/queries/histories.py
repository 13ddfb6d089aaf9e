"""Read all campaigns of a site, in the order in which they began, for one figure over all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from shakedown.metrics.comparing.cells import Source
from shakedown.metrics.comparing.history import History, history_of
from shakedown.metrics.references import Proposed, Tolerance, propose
from shakedown.model.errors import RecordError, UsageError, did_you_mean
from shakedown.model.figures import Pairs, figure_of
from shakedown.queries.comparisons import Asked, any_rehearsed, notes_on, read_sources


class Looked(NamedTuple):
    """The history, its sources, why campaigns could not be read, campaigns that have not begun, and notes on the others."""

    history: History
    sources: tuple[Source, ...]
    not_begun: tuple[str, ...]
    notes: tuple[str, ...]
    rehearsed: bool
    unreadable: tuple[str, ...] = ()


def look_back(
    figure: str, paths: Sequence[Path], least: float, tests: Sequence[str] = (), cases: Sequence[str] = ()
) -> Looked:
    """Purpose: a figure over campaigns. ``tests``, ``cases``: only these, by name; all where none is given.

    A campaign whose record cannot be read is left out and mentioned. Errors: UsageError where no campaign measured the figure (it
    lists the figures there are); RecordError where no campaign can be read.
    """
    sources, not_begun, unreadable = _read(paths)
    wanted = _chooser(tests, cases)
    history = history_of(figure, sources, least, wanted)
    if not history.lines:
        raise _no_values_error(figure, sources, tests, cases)
    return Looked(
        history, tuple(sources), tuple(not_begun), tuple(notes_on(sources)), any_rehearsed(sources), unreadable
    )


def proposed_rows(looked: Looked, figure: str, tolerance: Tolerance) -> Proposed:
    """Purpose: contract rows for these cases and this figure, as ``metrics.references`` proposes them."""
    proposed = propose([(one.document, one.record) for one in looked.sources], tolerance)
    shown = {case for line in looked.history.lines for case in line.cases}
    about = [
        (case.test, dict(case.parameters)) for one in looked.sources for case in one.document.cases if case.id in shown
    ]
    rows = tuple(
        row
        for row in proposed.rows
        if figure in (row.figure, figure_of(row.figure))
        and any(row.test == test and parameters.items() <= dict(row.where).items() for test, parameters in about)
    )
    return Proposed(rows, ())


def _read(paths: Sequence[Path]) -> tuple[list[Source], list[str], tuple[str, ...]]:
    """The readable campaigns in the order in which they began, those that have not begun, and what is wrong with the others."""
    sources: list[Source] = []
    not_begun: list[str] = []
    damaged: list[RecordError] = []
    for path in paths:
        try:
            sources += read_sources([Asked(path, path.name)])
        except UsageError:
            not_begun.append(path.name)
        except RecordError as error:
            damaged.append(error)
    if damaged and not sources:
        raise damaged[0]
    unreadable = tuple(error.message for error in damaged)
    return sorted(sources, key=lambda one: (one.record.started or 0.0, one.label)), not_begun, unreadable


def _chooser(tests: Sequence[str], cases: Sequence[str]) -> Callable[[Pairs, Sequence[str]], bool]:
    def wanted(subject: Pairs, ids: Sequence[str]) -> bool:
        of_test = not tests or dict(subject)["test"] in tests
        return of_test and (not cases or any(one in cases for one in ids))

    return wanted


def _no_values_error(figure: str, sources: Sequence[Source], tests: Sequence[str], cases: Sequence[str]) -> UsageError:
    known = {"elapsed"} | {one.name for source in sources for test in source.document.tests for one in test.figures}
    of = f" of {', '.join((*tests, *cases))}" if tests or cases else ""
    if figure in known:
        return UsageError(f"no run that counts gave a value of {figure}{of}")
    hint = did_you_mean(figure, known) or f"there are {', '.join(sorted(known))}"
    return UsageError(f"no campaign here measured '{figure}'{of}", hint=hint)
