"""What a feed sends of an event: JSON, or lines of the line protocol. Messages of syslog are made in ``syslog_message``.

``Lines.of`` and ``as_json`` are the main functions. The same event always gives the same items.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from shakedown.events.campaigns import read_document
from shakedown.live.feeds.line_protocol import line_of
from shakedown.live.feeds.olcf import OlcfNames
from shakedown.live.feeds.points import Point, points_of
from shakedown.model.errors import ShakedownError
from shakedown.model.events import Event
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout

LINES, OLCF, JSON, SYSLOG = "lines", "olcf", "json", "syslog"
Items = Callable[[Path, Event], Iterator[bytes]]  # (directory of a campaign, one of its events) -> what is sent of it


def as_json(campaign: Path, event: Event) -> Iterator[bytes]:
    """Purpose: an event as the record has it, with its campaign."""
    yield msgspec.json.encode({"campaign": campaign.name, **msgspec.to_builtins(event)})


@dataclass(slots=True)
class Lines:
    """Lines of the line protocol; ``names`` is LINES for our measurements, OLCF for those of its harness."""

    names: str
    _tests: dict[str, dict[str, str]] = field(default_factory=dict)
    _olcf: dict[str, OlcfNames] = field(default_factory=dict)

    def of(self, campaign: Path, event: Event) -> Iterator[bytes]:
        """Purpose: the lines of an event, without the new lines at their ends."""
        if campaign.name not in self._tests or event.event in ("campaign_start", "amended"):
            self._tests[campaign.name] = _tests_of_cases(Layout(campaign))
            self._olcf.pop(campaign.name, None)
        for point in self._points(campaign, event):
            yield line_of(point).encode()

    def _points(self, path: Path, event: Event) -> Iterator[Point]:
        tests = self._tests[path.name]
        if self.names == LINES:
            return points_of(path.name, event, tests)
        if path.name not in self._olcf:
            self._olcf[path.name] = OlcfNames(Layout(path), _machine_of(Layout(path)), tests)
        return self._olcf[path.name].points_of(event)


def _tests_of_cases(layout: Layout) -> dict[str, str]:
    """Case -> its test, from every plan that was ever in force."""
    found: dict[str, str] = {}
    for path in sorted(layout.documents.glob("*.json")):
        with contextlib.suppress(ShakedownError):
            found |= {case.id: case.test for case in thaw(read_document(layout, path.stem)).cases}
    return found


def _machine_of(layout: Layout) -> str:
    """The name of the system, from any plan that was in force: a campaign does not change its machine."""
    for path in sorted(layout.documents.glob("*.json")):
        with contextlib.suppress(ShakedownError):
            return str(thaw(read_document(layout, path.stem)).system.name)
    return ""
