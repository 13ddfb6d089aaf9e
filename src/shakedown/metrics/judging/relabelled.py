"""What an amendment calls otherwise and asks for as before: the parties that a contract names, and clauses. It is told, no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shakedown.model.contracts import content
from shakedown.model.nouns import Document


def relabelled(document: Document, earlier: Sequence[Document]) -> list[str]:
    """Purpose: a sentence for each, with how it was in the plan that the campaign began with; none where no plan came after it."""
    return [*_parties(earlier[0], document), *_clauses(earlier[0], document)] if earlier else []


def _parties(old: Document, new: Document) -> Iterator[str]:
    before = {contract.name: dict(contract.parties) for contract in old.contracts}
    for contract in new.contracts:
        now, was = dict(contract.parties), before.get(contract.name, {})
        changed = [role for role in {**was, **now} if was.get(role) != now.get(role)] if contract.name in before else []
        if changed:
            told = "; ".join(
                f"{role}: {now.get(role) or 'nobody'}, before {was.get(role) or 'nobody'}" for role in changed
            )
            yield f"contract {contract.name} names other parties since an amendment: {told}"


def _clauses(old: Document, new: Document) -> Iterator[str]:
    was, now = _labels(old), _labels(new)
    for key, (what, clause) in now.items():
        before = was.get(key, (what, clause))[1]
        if before != clause:
            yield f"{what} stands for {_named(clause)} since an amendment, before for {_named(before)}"


def _named(clause: str) -> str:
    return f"clause {clause}" if clause else "no clause"


def _labels(document: Document) -> Mapping[Any, tuple[str, str]]:
    """What asks for something -> how it is called, and its clause."""
    found: dict[Any, tuple[str, str]] = {}
    for contract in document.contracts:
        found |= {
            ("row", repr(content(row))): (f"contract row {row.name} ({row.test}: {row.figure} {row.must})", row.clause)
            for row in contract.rows
        }
    for part in document.components:
        found |= {
            ("criterion", part.name, one.name): (f"criterion {one.name} of {part.name}", one.clause)
            for one in part.criteria
        }
        found |= {
            ("procedure", part.name, one.name): (f"procedure {one.name} of {part.name}", one.clause)
            for one in part.procedures
        }
    return found
