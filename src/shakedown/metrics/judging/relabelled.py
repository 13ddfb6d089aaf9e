"""Labels that an amendment changed while the requirements stayed the same: parties of a contract, clauses and texts.
These changes are reported and have no other effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import side_by_side
from shakedown.model.contracts import content
from shakedown.model.judging import ContractRow
from shakedown.model.nouns import Document
from shakedown.model.waived import row_digest

ROOM = 200  # the most characters of a clause's text in a remark


def relabelled(document: Document, earlier: Sequence[Document]) -> list[str]:
    """Purpose: a sentence for each changed label, with its value in the plan of the campaign's start; none without an amendment."""
    return (
        [*_parties(earlier[0], document), *_clauses(earlier[0], document), *_words(earlier[0], document)]
        if earlier
        else []
    )


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


def _words(old: Document, new: Document) -> Iterator[str]:
    """Changes of the titles and texts of contracts and their rows."""
    was, now = _written(old), _written(new)
    for key, (what, words) in now.items():
        before = was.get(key, (what, words))[1]
        if before != words:
            old_words, new_words = side_by_side(before, words, ROOM)
            yield f"{what} {_quoted(new_words)} since an amendment, before {_quoted(old_words)}"


def _quoted(words: str) -> str:
    return f"'{words}'" if words else "nothing"


def _written(document: Document) -> Mapping[Any, tuple[str, str]]:
    """Labelled thing -> (its description, its text)."""
    found: dict[Any, tuple[str, str]] = {}
    for contract in document.contracts:
        found["title", contract.name] = (f"contract {contract.name} is titled", contract.title)
        found["about", contract.name] = (f"contract {contract.name} is about", contract.about)
        for row in contract.rows:
            called = f"contract row {row.name} ({row.test}: {row.figure} {row.must})"
            found["row text", repr(content(row))] = (f"{called} reads", row.text)
            found["row about", repr(content(row))] = (f"{called} is about", row.about)
    return found


def first_texts(record: Record) -> dict[str, tuple[str, str]]:
    """Purpose: content of a contract row whose text an amendment changed -> (its first text, who changed it last). A row whose
    bound changed is still the same row. Empty if the earlier plans are not known.
    """
    plans = [record.plans[name] for name in record.documents if name in record.plans]
    if not plans or len(plans) < len(record.documents):
        return {}
    people = [epoch.by for epoch in record.epochs if epoch.opened_by == "amended"]
    found: dict[str, tuple[str, str]] = {}
    for row in _rows(plans[-1]):
        now, by = row, ""
        for place in range(len(plans) - 1, 0, -1):
            before = _as_it_was(now, plans[place - 1])
            if before is None:
                continue
            if before.text != now.text and not by:
                by = people[place - 1] if place <= len(people) else ""
            now = before
        if now.text != row.text:
            found[row_digest(row)] = now.text, by
    return found


def _rows(document: Document) -> list[ContractRow]:
    return [row for contract in document.contracts for row in contract.rows]


def _as_it_was(row: ContractRow, before: Document) -> ContractRow | None:
    """The row of an earlier plan with the same content, else the only row that differs just in its bound; else None."""
    rows = _rows(before)
    same = [one for one in rows if content(one) == content(row)] or [one for one in rows if _asks(one) == _asks(row)]
    return same[0] if same and (len(same) == 1 or content(same[0]) == content(row)) else None


def _asks(row: ContractRow) -> tuple[object, ...]:
    return row.contract, row.test, row.figure, row.where, row.basis, row.mode, row.statistic


def _named(clause: str) -> str:
    return f"clause {clause}" if clause else "no clause"


def _labels(document: Document) -> Mapping[Any, tuple[str, str]]:
    """Requirement -> (its description, its clause)."""
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
