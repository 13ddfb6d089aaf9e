"""Symbolic links among the files of a record. Shakedown makes none, because the target of a link is not the file that was kept.

A link in the place of a file that the record names is damage. A link that nothing in the record names is reported, because no
seal covers it. A whole folder that a site keeps on another file system through a link is reported too; its files are checked as
usual.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from shakedown.checks.text import cut, printable
from shakedown.events.plain_files import LINK_CHARACTERS, link_of
from shakedown.events.seal_check import Damage
from shakedown.events.seals import FOLDERS
from shakedown.metrics.words import plural
from shakedown.model.events import Event
from shakedown.model.layout import Layout

_FOLDERS = ("log", "seals", *FOLDERS)
_MOST_NAMED = 3  # links that nothing names and that are shown


class Links(Struct):
    """The links that were found. ``remarks``: sentences on links that are no damage."""

    damage: Damage | None = None
    remarks: list[str] = []


def look_for_links(layout: Layout, events: Iterable[Event], named: Collection[str] = ()) -> Links:
    """Purpose: find the first link in the place of a file that the record names, and report all other links.

    ``named``: paths inside the campaign that the record names, in addition to the outputs that the events point to. Follows no
    link; changes nothing.
    """
    links = dict(_links(layout.root))
    found = Links()
    if not links:
        return found
    kept, known = _kept(events)
    places = {above: path for path in sorted({*kept, *named}, reverse=True) for above in _with_folders(path)}
    strange = []
    for path, target in links.items():
        shown = cut(printable(target), LINK_CHARACTERS)
        if path in _FOLDERS:
            found.remarks.append(f"{path} is a link to {shown}: what lies there is held against its sums like all else")
        elif known.get(path) == shown:
            found.remarks.append(
                f"{path} was a link to {shown} already when its run was judged: no output was kept of it"
            )
        elif path in places:
            why = f"a symbolic link to {shown} lies in the place of what was kept"
            event = kept.get(places[path], 0)
            found.damage = found.damage or Damage(path, why, event=event)
        else:
            strange.append(f"{path} (to {shown})")
    if strange:
        more = f" and {len(strange) - _MOST_NAMED} more" if len(strange) > _MOST_NAMED else ""
        said = f"{plural(len(strange), 'symbolic link')} that no verdict and no seal names: {', '.join(strange[:_MOST_NAMED])}"
        found.remarks.append(f"{said}{more}")
    return found


def _links(root: Path) -> Iterator[tuple[str, str]]:
    """(path inside the campaign, target) of every link in the folders of the record, sorted by path."""
    for name in _FOLDERS:
        if target := link_of(root / name):
            yield name, target
        for folder, folders, files in os.walk(root / name):
            folders.sort()
            for entry in sorted((*folders, *files)):
                path = Path(folder, entry)
                if target := link_of(path):
                    yield str(path.relative_to(root)), target


def _with_folders(path: str) -> Iterator[str]:
    """The path itself, then every folder that contains it, inside the campaign."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _kept(events: Iterable[Event]) -> tuple[dict[str, int], dict[str, str]]:
    """Output path -> first verdict event that points to it; and output path -> target, for outputs that were links when they were
    judged.
    """
    kept: dict[str, int] = {}
    links: dict[str, str] = {}
    for event in events:
        output = event.value.get("output")
        if event.event == "verdict" and isinstance(output, dict) and (name := _name(output)):
            kept.setdefault(name, event.seq)
            if isinstance(output.get("link"), str):
                links[name] = output["link"]
    return kept, links


def _name(output: Mapping[str, Any]) -> str:
    return f"packs/{output['pack']}" if "pack" in output else str(output.get("file", ""))
