"""The paths of a campaign as text, for callers that need thousands a second. Only the layout defines what the paths are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from shakedown.model.layout import Layout, shard

_HOLE = "\0"  # stands for the id in a pattern; no path holds it


@dataclass(slots=True)
class Places:
    """Paths of jobs and runs. A thousand ids share a directory, so each path is made by one replacement in a pattern."""

    layout: Layout
    _patterns: dict[tuple[str, int, str], str] = field(default_factory=dict)

    def claim(self, job: str, restart: int = 0) -> str:
        """As ``Layout.claim``."""
        return self._path("claim", restart, job, lambda: self.layout.claim(job, restart))

    def work_directory(self, run: str) -> str:
        """As ``Layout.work_directory``."""
        return self._path("work", 0, run, lambda: self.layout.work_directory(run))

    def _path(self, kind: str, restart: int, identifier: str, full: Callable[[], Path]) -> str:
        key = kind, restart, shard(identifier)
        pattern = self._patterns.get(key)
        if pattern is None:
            root = str(self.layout.root)
            pattern = root + str(full()).removeprefix(root).replace(identifier, _HOLE)
            self._patterns[key] = pattern
        return pattern.replace(_HOLE, identifier)
