"""The contract rows that runs are judged by, read from frozen plans; an amendment binds only runs that are judged after it."""

from __future__ import annotations

from collections.abc import Mapping

from shakedown.events.campaigns import read_document
from shakedown.model.contracts import rows_of
from shakedown.model.frozen import thaw
from shakedown.model.judging import ContractRow
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Document


class FrozenRows:
    """The contract rows that a run is judged by: those of the plan that judged the run first, even if a later plan is in force."""

    def __init__(self, first_by: Mapping[str, str], document: Document, layout: Layout) -> None:
        """``first_by``: run -> digest of the plan in force when the run was first judged; ``document``: the plan for runs not in
        ``first_by``.
        """
        self.first_by, self.document, self.layout = first_by, document, layout
        self.known: dict[str, tuple[Document, dict[str, Case]]] = {}

    def of(self, run: str, case: Case) -> tuple[ContractRow, ...]:
        """Purpose: the contract rows for a run of this case. Raises RecordError where the plan of the run is damaged."""
        digest = self.first_by.get(run, "")
        if not digest:
            return rows_of(self.document, case)
        if digest not in self.known:
            self.known[digest] = _with_cases(self.layout, digest)
        document, cases = self.known[digest]
        return rows_of(document, cases[case.id]) if case.id in cases else ()


def _with_cases(layout: Layout, digest: str) -> tuple[Document, dict[str, Case]]:
    document = thaw(read_document(layout, digest))
    return document, {case.id: case for case in document.cases}
