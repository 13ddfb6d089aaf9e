"""The name of a campaign is part of its record: its first event holds it.

A renamed directory, or a copy of it, still holds the same campaign. A rehearsal has the name of its directory, because the same
seed gives the same record under any name.
"""

from __future__ import annotations

from pathlib import Path

from shakedown.events.reader import first_event
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout


def campaign_name(layout: Layout) -> str:
    """Purpose: the recorded name; the directory's name where no name is recorded yet or it cannot be read."""
    return recorded_name(layout) or directory_name(layout)


def recorded_name(layout: Layout) -> str:
    """Purpose: the campaign's name in its first event; "" where no first event can be read, and for a rehearsal."""
    try:
        first = first_event(layout.log) if layout.log.is_dir() else None
    except (RecordError, OSError):
        return ""  # whoever reads the record says what is wrong with it
    value = first.value if first is not None else {}
    said = value.get("campaign")
    return said if isinstance(said, str) and "rehearsal" not in value else ""


def directory_name(layout: Layout) -> str:
    return layout.root.absolute().name


def called_otherwise(layout: Layout) -> str:
    """Purpose: a sentence that the directory does not have the name of its campaign; "" where it does."""
    name, directory = recorded_name(layout), directory_name(layout)
    if name in ("", directory):
        return ""
    return f"this is campaign {name}: its directory is called {directory}, for it was renamed or is a copy"


def name_in_register(layout: Layout) -> str:
    """Purpose: the name of a directory's campaign in the register of its site: the recorded name, or the directory's own name where
    it is a copy beside the campaign of the recorded name.
    """
    name = campaign_name(layout)
    original = Layout(layout.root.absolute().with_name(name))
    is_copy = name != directory_name(layout) and _is_there(original.root)
    return directory_name(layout) if is_copy else name


def _is_there(root: Path) -> bool:
    return (root / "log").is_dir() or (root / "documents").is_dir()
