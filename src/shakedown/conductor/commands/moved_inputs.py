"""Input files that a new plan has in another place with the same content: another path does not make another input.

``moved_inputs`` is where to begin. The content of a file before is taken from the record, since the old place may be gone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from shakedown.conductor.driver.conditions import HASHED_BYTES, file_digest, files_in, known_inputs
from shakedown.conductor.driver.known_files import sum_of
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document

_ROOM = 1500  # characters of the event that say it; what has no room counts as another input
_Sums = dict[str, str]  # path below the place, "" for the place itself -> sha256, "" where it is not known


def moved_inputs(layout: Layout, inputs: str, before: Document, after: Document) -> dict[str, str]:
    """Purpose: new path -> the path that a case had under the same name, where both have the same content. ``inputs``: the digest
    of what the record knows of input files; "" where no driver has looked at them.
    """
    old = {case.id: dict(case.files) for case in before.cases}
    pairs: dict[str, set[str]] = {}
    for case in after.cases:
        for name, path in case.files:
            was = old.get(case.id, {}).get(name, path)
            pairs.setdefault(path, set()).add(was)
    try:
        known = known_inputs(layout, inputs)
    except RecordError:
        known = {}
    found: dict[str, str] = {}
    for new, places in pairs.items():
        was = next(iter(places))
        fits = len(json.dumps([*found.items(), (new, was)])) <= _ROOM
        if len(places) == 1 and was != new and fits and _have_same_content(known, was, new):
            found[new] = was
    return found


def at_old_places(document: Document, moved: Mapping[str, str]) -> Document:
    """Purpose: the document with these files in their old places, to be compared with the one before."""
    if not moved:
        return document
    cases = tuple(
        replace(case, files=tuple((name, moved.get(path, path)) for name, path in case.files))
        for case in document.cases
    )
    return replace(document, cases=cases)


def moved_words(moved: Mapping[str, str]) -> list[str]:
    """Purpose: the lines that an amendment has on moved files."""
    return [f"input {was} lies at {new}, with the same content" for new, was in moved.items()]


def _have_same_content(known: Mapping[str, str], was: str, new: str) -> bool:
    there = {path: sum_of(said) for path, said in known.items() if path == was or path.startswith(f"{was}/")}
    before = {path[len(was) :]: digest for path, digest in there.items()} or _sums(Path(was))
    return bool(before) and "" not in before.values() and before == _sums(Path(new))


def _sums(place: Path) -> _Sums:
    found: _Sums = {}
    for path in files_in(place):
        try:
            digest = file_digest(path) if path.stat().st_size <= HASHED_BYTES else ""
        except OSError:
            digest = ""
        found[str(path)[len(str(place)) :]] = digest
    return found
