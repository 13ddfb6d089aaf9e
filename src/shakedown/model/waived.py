"""What is waived, as it was when a person waived it: a waiver does not hold for what an amendment puts in its place."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from shakedown.model.contracts import content
from shakedown.model.judging import ContractRow, Criterion
from shakedown.model.nouns import Document

_SAID = (
    *("measure", "comparison", "bound", "unit", "of", "test", "statistic"),
    *("per", "enough", "mode", "basis", "leave_out", "epochs"),
)


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
    """Purpose: what a gate asks for, as a digest: the criteria and procedures of the component, and which others wait for it.

    "" where the document has no such component, or nothing waits until it is met.
    """
    found = next((one for one in document.components if one.name == component), None)
    waiting = sorted(one.name for one in document.components if one.gate == "met" and component in one.after)
    if found is None or not waiting:
        return ""
    criteria = sorted([one.name, criterion_digest(one)] for one in found.criteria)
    procedures = sorted([one.name, one.evidence] for one in found.procedures)
    return _digest({"criteria": criteria, "procedures": procedures, "waiting": waiting})


def conditions_digest(finding: Mapping[str, Any]) -> str:
    """Purpose: what a finding says that changed under the campaign, as a digest; by its event it is found again."""
    return _digest({key: finding[key] for key in ("difference", "inputs", "late") if key in finding})


def issue_digest(kind: str, what: str) -> str:
    """Purpose: what an issue of the ledger says, as a digest; by the event that opened it, it is found again."""
    return _digest({"kind": kind, "what": what})


def _digest(said: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(said, order="deterministic")).hexdigest()
