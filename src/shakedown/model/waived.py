"""What is waived, as it was when a person waived it: a waiver does not hold for what an amendment puts in its place.

A digest of what is waived has two parts, with a full stop between them: what is asked, and of what: cases, modes, procedures, rows.
Records of before have the first part alone; there the second one is not looked at.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from shakedown.model.contracts import content
from shakedown.model.judging import ContractRow, Criterion
from shakedown.model.nouns import Case, Component, Document

_SAID = (
    *("measure", "comparison", "bound", "unit", "of", "test", "statistic"),
    *("per", "enough", "mode", "basis", "leave_out", "epochs"),
)


_OF_STEPS = {"set up": "set_up", "clean up": "clean_up"}  # measures -> the field of a component that has their cases
_OF_TIME = frozenset({"planned time", "late"})  # measures that count no cases


def holds(said: str, now: str) -> bool:
    """Purpose: whether a waiver that says a digest is of what has a digest now; one that says none goes by its name."""
    return said in ("", now) or said == now.partition(".")[0]


def says_of_what(digest: str) -> bool:
    """Purpose: whether a digest says of what something was asked; those in older records do not."""
    return "." in digest


def waived_criterion(document: Document, component: Component, criterion: Criterion) -> str:
    """Purpose: what a criterion asks for, and of what it asks it in a plan, as a digest."""
    return f"{criterion_digest(criterion)}.{_digest(_counted(document, component, criterion))}"


def waived_row(document: Document, row: ContractRow) -> str:
    """Purpose: what a contract row asks for, and the cases that it is in force for in a plan, as a digest."""
    return f"{row_digest(row)}.{_digest(sorted(case.id for case in document.cases if row.name in case.rows))}"


def _counted(document: Document, component: Component, criterion: Criterion) -> dict[str, Any]:
    """What a criterion counts: by its measure."""
    if criterion.measure in _OF_TIME:
        return {}
    if criterion.measure == "attested":
        return {"procedures": sorted([one.name, one.about, one.evidence] for one in component.procedures)}
    if criterion.measure in _OF_STEPS:
        return {"cases": sorted(getattr(component, _OF_STEPS[criterion.measure]))}
    mine = set(component.cases)
    cases = [case for case in document.cases if case.id in mine and criterion.test in ("", case.test)]
    modes = sorted(mode.name for mode in component.modes if criterion.mode in ("", mode.name))
    rows = {"rows": _rows_of(document, criterion, cases)} if criterion.measure == "rows met" else {}
    return {"cases": sorted(case.id for case in cases), "modes": modes} | rows


def _rows_of(document: Document, criterion: Criterion, cases: Iterable[Case]) -> list[str]:
    """The rows in force for some cases that a criterion on rows met asks about, each as a digest."""
    names = {name for case in cases for name in case.rows}
    rows = (row for contract in document.contracts for row in contract.rows if row.name in names)
    basis = criterion.basis or "contract"
    mine = (row for row in rows if row.basis == basis and (not criterion.mode or row.mode in ("", criterion.mode)))
    return sorted(map(row_digest, mine))


def criterion_digest(criterion: Criterion) -> str:
    """Purpose: what a criterion asks for, as a digest. Its name, its clause and the spelling of its bound are no part of that."""
    later = {
        key: getattr(criterion, key) for key in ("files", "across", "inputs", "at", "since") if getattr(criterion, key)
    }
    return _digest({key: getattr(criterion, key) for key in _SAID} | later)


def row_digest(row: ContractRow) -> str:
    """Purpose: what a contract row asks for, as a digest. Its name is its place, which another row may have."""
    return _digest(content(row))


def gate_digest(document: Document, component: str) -> str:
    """Purpose: what a gate asks for, as a digest: the criteria and procedures of the component, and which others wait for it;
    and what its criteria count.

    "" where the document has no such component, or nothing waits until it is met.
    """
    found = next((one for one in document.components if one.name == component), None)
    waiting = sorted(one.name for one in document.components if one.gate == "met" and component in one.after)
    if found is None or not waiting:
        return ""
    criteria = sorted([one.name, criterion_digest(one)] for one in found.criteria)
    procedures = sorted([one.name, one.evidence] for one in found.procedures)
    counted = sorted([one.name, _digest(_counted(document, found, one))] for one in found.criteria)
    counted = counted or [
        ["", _digest({"cases": sorted(found.cases), "modes": sorted(one.name for one in found.modes)})]
    ]
    asked = _digest({"criteria": criteria, "procedures": procedures, "waiting": waiting})
    return f"{asked}.{_digest(counted)}"


def conditions_digest(finding: Mapping[str, Any]) -> str:
    """Purpose: what a finding says that changed under the campaign, as a digest; by its event it is found again."""
    return _digest({key: finding[key] for key in ("difference", "inputs", "late") if key in finding})


def issue_digest(kind: str, what: str) -> str:
    """Purpose: what an issue of the ledger says, as a digest; by the event that opened it, it is found again."""
    return _digest({"kind": kind, "what": what})


def _digest(said: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(said, order="deterministic")).hexdigest()
