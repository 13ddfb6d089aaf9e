"""What a campaign is called: its name is a fact of its record, said by its first event.

A directory that somebody renames, or a copy of it, holds the same campaign. A rehearsal is called as its directory: the
same seed gives the same record, whatever the rehearsal is called.
"""

from __future__ import annotations

from pathlib import Path

from shakedown.events.reader import first_event
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout


def campaign_name(layout: Layout) -> str:
    """Purpose: the recorded name; that of the directory where nothing is recorded yet, or cannot be read."""
    return recorded_name(layout) or directory_name(layout)


def recorded_name(layout: Layout) -> str:
    """Purpose: what its first event calls a campaign; "" where it has none that can be read, and for a rehearsal."""
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
    """Purpose: that a directory does not bear the name of its campaign, in a sentence; "" where it does."""
    name, directory = recorded_name(layout), directory_name(layout)
    if name in ("", directory):
        return ""
    return f"this is campaign {name}: its directory is called {directory}, for it was renamed or is a copy"


def name_in_register(layout: Layout) -> str:
    """Purpose: the name by which the register of its site knows what lies in a directory: that of the record, unless it is a copy
    beside the campaign of that name.
    """
    name = campaign_name(layout)
    original = Layout(layout.root.absolute().with_name(name))
    is_copy = name != directory_name(layout) and _is_there(original.root)
    return directory_name(layout) if is_copy else name


def _is_there(root: Path) -> bool:
    return (root / "log").is_dir() or (root / "documents").is_dir()
