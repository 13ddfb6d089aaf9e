"""Input files that an amendment moved without changing their content: judging treats them as still in their old places."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from shakedown.metrics.rows.table import Record
from shakedown.model.nouns import Document


def moved_files(record: Record) -> Mapping[str, str]:
    """Purpose: new path -> the first path with the same content, according to the amendments."""
    found: dict[str, str] = {}
    for row in record.acts:
        said = row.value.get("moved") if row.kind == "amend" else None
        for pair in said if isinstance(said, list) else ():
            if isinstance(pair, list) and len(pair) == 2 and all(isinstance(path, str) for path in pair):
                new, was = str(pair[0]), str(pair[1])
                found.setdefault(new, found.get(was, was))
    return {new: was for new, was in found.items() if new != was}


def where_they_were(
    document_of: Callable[[str], Document], moved: Mapping[str, str]
) -> tuple[Callable[[str], Document], Callable[[Document], Document]]:
    """Purpose: two functions: digest -> its plan with all moved files in their first places (cached), and the same for a given
    plan.
    """
    made: dict[str, Document] = {}

    def one(document: Document) -> Document:
        cases = tuple(
            replace(case, files=tuple((name, moved.get(path, path)) for name, path in case.files))
            for case in document.cases
        )
        return replace(document, cases=cases)

    def by_digest(digest: str) -> Document:
        if digest not in made:
            made[digest] = one(document_of(digest))
        return made[digest]

    return by_digest, one
