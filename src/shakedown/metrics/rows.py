"""The rows that the record is folded into: plain, frozen, one thing a line of a table.

Times are seconds since 1970 by the driver's clock, None where they are not known; ``seq`` is the event a row came from.
``epoch`` counts the frozen documents: 1 is the first, each amendment opens the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class RunRow(Struct, frozen=True):
    """One verdict on one run. A run that was judged again has several rows; only the last is current.

    ``result`` numbers the wanted result that the run is an attempt at: attempts at the same one share it.
    ``figures``: name -> value in the unit of the test's figure. ``checks``: (text, held or None, detail).
    ``output`` points to the kept output. ``superseded_by`` is the seq of the verdict that replaced this one, or 0.
    ``retried``: another attempt was ordered because of this one.
    """

    run: str
    case: str
    component: str
    repeat: int
    attempt: int
    verdict: str
    reason: str
    seq: int
    time: float
    result: int
    epoch: int = 1
    started: float | None = None
    ended: float | None = None
    elapsed_s: float | None = None
    exit: int | None = None
    figures: Mapping[str, float] = {}
    checks: tuple[tuple[str, bool | None, str], ...] = ()
    problems: tuple[str, ...] = ()
    nodes: str = ""
    output: Mapping[str, Any] = {}
    excerpt: str = ""
    job: str = ""
    supersedes: int = 0
    superseded_by: int = 0
    retried: bool = False


class OpenRun(Struct, frozen=True):
    """A run that was ordered and is not judged yet. ``state`` is the last thing a source said of its job."""

    run: str
    case: str
    component: str
    repeat: int
    attempt: int
    job: str
    ordered: float
    seq: int
    result: int
    epoch: int
    state: str = "ordered"


class BuildRow(Struct, frozen=True):
    """One build. ``state``: ordered, started, done, failed. ``log`` is a path inside the campaign."""

    key: str
    state: str
    ordered: float
    ended: float | None = None
    elapsed_s: float | None = None
    log: str = ""
    reason: str = ""
    seq: int = 0


class UnavailableRow(Struct, frozen=True):
    """A case that cannot run on this system; ``reason`` says what is missing and how to get it."""

    component: str
    case: str
    reason: str
    seq: int = 0
    test: str = ""


class NoteRow(Struct, frozen=True):
    """Anything else worth a line: a finding, a driver, a wait, an amendment, a request of a person."""

    kind: str
    time: float
    reason: str
    value: Mapping[str, Any]
    seq: int
    case: str = ""
    run: str = ""
