"""What a rehearsal cannot know: figures that nobody vouches for. A criterion or row on one of these is neither met nor missed.

The record of a rehearsal says which figures are known (``modelled`` of its first event). Records of versions that did not say it
are judged as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from shakedown.metrics.judging.contract import ContractScore
from shakedown.metrics.judging.populations import Population
from shakedown.metrics.rehearsed import NOT_MODELLED
from shakedown.metrics.words import some
from shakedown.model.figures import figure_of
from shakedown.model.judging import Criterion
from shakedown.model.measures import measure_named
from shakedown.model.nouns import Document

_WAY_OUT = "give a source in the rehearsal's file (times, figures), or measure it"


def not_modelled(criterion: Criterion, population: Population, document: Document, rehearsal: Mapping[str, Any]) -> str:
    """Purpose: why a rehearsal says nothing of a criterion; "" where it does, and of every real campaign."""
    if "modelled" not in rehearsal:
        return ""
    declared = measure_named(criterion.measure)
    if declared and declared.on_a_figure:
        have = {
            test.name
            for test in document.tests
            if figure_of(criterion.of) in ("elapsed", *(spec.name for spec in test.figures))
        }
        asked = {(case.case.test, criterion.of) for case in population.cases if case.case.test in have}
    elif criterion.measure == "rows met":
        rows = {row.name: row for contract in document.contracts for row in contract.rows}
        named = {name for case in population.cases for name in case.case.rows if name in rows}
        asked = {(rows[name].test, rows[name].figure) for name in named if criterion.basis in ("", rows[name].basis)}
    else:
        return ""
    return unknown_figures(asked, rehearsal)


def without_what_is_made_up(contract: ContractScore | None, rehearsal: Mapping[str, Any]) -> ContractScore | None:
    """Purpose: a contract's rows, undecided where what they are about is not modelled."""
    if contract is None or "modelled" not in rehearsal:
        return contract
    rows = []
    for score in contract.rows:
        why = unknown_figures({(score.row.test, score.row.figure)}, rehearsal) if score.outcome != "unjudged" else ""
        made_up = replace(score, outcome="undecided", measured=None, arithmetic="", reason=why, outside=0, worst_run="")
        rows.append(made_up if why else score)
    return replace(contract, rows=tuple(rows))


def unknown_figures(asked: Iterable[tuple[str, str]], rehearsal: Mapping[str, Any]) -> str:
    """Purpose: that a rehearsal does not know some of these (test, figure), in words; "" where it knows them all."""
    known = set(rehearsal["modelled"] or ())
    missing = sorted({f"{test}.{figure}" for test, figure in asked} - known)
    if not missing:
        return ""
    are = "is" if len(missing) == 1 else "are"
    return f"{NOT_MODELLED}: nobody says what {some(missing)} {are} on this machine; {_WAY_OUT}"
