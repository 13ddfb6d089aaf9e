"""Plans: the files that people write, read into the frozen nouns. Every fault is told with its place and a way out."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from shakedown.model.nouns import System
    from shakedown.plans.documents import read_plan
    from shakedown.plans.finding import find_site
    from shakedown.plans.listing import Listing, abstract_test, list_cases
    from shakedown.plans.site import Site, read_site

__all__ = ["Listing", "Site", "abstract_test", "find_site", "list_cases", "read_plan", "read_site", "read_system"]

_PLACES = {
    "read_plan": "documents",
    "Listing": "listing",
    "abstract_test": "listing",
    "list_cases": "listing",
    "Site": "site",
    "find_site": "finding",
    "read_site": "site",
}


def read_system(path: Path) -> System:
    """Purpose: the system that one file describes. Raises FileProblems."""
    from shakedown.plans.schema.problems import Problems
    from shakedown.plans.site import read_system_file

    problems = Problems()
    machine = read_system_file(str(path), str(path), problems)
    problems.stop()
    if machine is None:
        raise AssertionError("a system's file without problems makes a system")
    return machine.system


def __getattr__(name: str) -> Any:
    """Import a part of the package when it is first used."""
    if name in _PLACES:
        return getattr(importlib.import_module(f"shakedown.plans.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
