"""The pages as text: templates, and the queries of addresses. The template engine escapes everything of unknown origin."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from shakedown import __version__
from shakedown.events.lines import shown_json
from shakedown.live.beside import BY
from shakedown.live.maps import COLOURS
from shakedown.model.errors import UsageError, did_you_mean
from shakedown.queries.status_words import clock_in_words, deadline_in_words, shut_in_words
from shakedown.report.page.filters import FILTERS
from shakedown.report.page.site_templates import OURS as REPORT_TEMPLATES
from shakedown.report.words import harmless, show_elapsed, show_figure, show_percent, show_time
from shakedown.store.paging import Place, Value
from shakedown.store.reading import BEGIN_AGAIN, SORTABLE, Filter, literal

HERE = Path(__file__).parent
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PAGE_ROWS, MOST_ROWS = 100, 1000
COLUMNS = {
    "campaign": "campaign", "run": "run", "case": "case", "test": "test", "component": "component", "state": "state",
    "attempt": "attempt", "repeat": "repeat", "at": "last change (UTC)", "ordered": "ordered (UTC)", "started": "began (UTC)",
    "ended": "ended (UTC)", "elapsed": "seconds", "nodes": "nodes", "failure": "put down to", "reason": "reason", "job": "job",
    "mode": "mode", "epoch": "epoch", "exit": "exit", "ruling": "ruled",
    "ticket": "ticket", "ticket_by": "ticket by",
}  # fmt: skip
COUNTED = {
    "too few runs": "with too few runs to say",
    "no change seen": "without a change that can be seen",
}  # after a number
USUAL = ("run", "case", "state", "attempt", "started", "elapsed", "nodes", "reason")
FIRST = ("test", "case", "state", "nodes", "failure", "reason")  # filters that stand before the others
RIGHT = frozenset({"attempt", "repeat", "elapsed", "epoch", "exit"})
MOMENTS = frozenset({"at", "ordered", "started", "ended"})
TEXTS: dict[str, Callable[[Any], str]] = dict.fromkeys(MOMENTS, show_time) | {"elapsed": lambda value: f"{value:.3f}"}


@dataclass(frozen=True, slots=True)
class Asked:
    """The query of an address for a stream of runs. ``columns``: shown ones, in order; ``items``: the query as it was given."""

    filter: Filter
    columns: tuple[str, ...]
    items: tuple[tuple[str, str], ...]

    def address(self, **changes: str | int) -> str:
        """The address of the same stream with some words of its query changed."""
        kept = [(key, value) for key, value in self.items if key not in changes]
        return "?" + urlencode([*kept, *((key, str(value)) for key, value in changes.items() if value != "")])

    def first(self, **changes: str | int) -> str:
        """The address of the first page of the same stream, with some words of its query changed."""
        return self.address(**{"after": "", "before": ""} | changes)

    def beside(self, place: Place) -> str:
        """The address of the page that begins behind a place, or ends before it."""
        said = msgspec.json.encode([place.value, place.campaign, place.run]).decode()
        return self.address(after="" if place.before else said, before=said if place.before else "")

    def sorted_by(self, column: str) -> str:
        """The address of the same stream sorted by another column; for the current sort column, in the opposite order."""
        rising = column not in (*MOMENTS, "elapsed") if column != self.filter.sort else not self.filter.rising
        return self.first(sort=column, rising="1" if rising else "")

    def direction(self, column: str) -> str:
        """How the stream is sorted by a column, as a value for ARIA."""
        if column != self.filter.sort:
            return "none"
        return "ascending" if self.filter.rising else "descending"

    def filters(self) -> list[tuple[str, str, str]]:
        """Each filter of the address: (name, value, the address without it)."""
        found = []
        for key, value in self.items:
            if key in (*COLUMNS, "node", "since", "until"):
                found.append((COLUMNS.get(key, key), value, self.first(**{key: ""})))
            elif (key, value) in _FLAGS:
                found.append((_FLAGS[key, value], "", self.first(**{key: ""})))
        return found

    def deep(self) -> bool:
        """Whether the address has a filter that is not among the first ones shown."""
        return any(key in COLUMNS and key not in FIRST for key, _ in self.items)

    def word(self, key: str) -> str:
        """The value of one word of the query; "" where it is missing."""
        return dict(self.items).get(key, "")


class Pages:
    """Renders pages. One engine for all requests; templates are compiled once."""

    def __init__(self, rulings: bool = False) -> None:
        from jinja2 import Environment, FileSystemLoader, PrefixLoader, StrictUndefined

        loaders = {"shakedown": FileSystemLoader(REPORT_TEMPLATES), "live": FileSystemLoader(HERE / "templates")}
        self.engine = Environment(
            loader=PrefixLoader(loaders),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.engine.filters.update(FILTERS)
        self.engine.filters |= {"moment": show_time, "seconds": show_elapsed, "harmless": harmless, "segment": segment}
        self.engine.filters |= {"change": show_percent, "number": show_figure, "clock": clock_in_words}
        self.engine.filters |= {"deadline": deadline_in_words, "shut": shut_in_words, "literally": literally}
        self.engine.globals |= {
            "version": __version__,
            "may": "rulings are taken" if rulings else "read only",
            "BY": BY,
            "COUNTED": COUNTED,
            "COLOURS": COLOURS,
            "COLUMNS": COLUMNS,
            "FIRST": FIRST,
            "MOMENTS": MOMENTS,
            "RIGHT": RIGHT,
            "SORTABLE": SORTABLE,
        }

    def render(self, template: str, facts: dict[str, Any], path: str) -> str:
        """Purpose: a page. ``path``: its own address."""
        return self.engine.get_template(f"live/{template}").render({"here": path} | facts)

    def as_json(self, facts: dict[str, Any]) -> bytes:
        """Purpose: the data of a page, for programs, without its drawings."""
        from markupsafe import Markup

        left_out = ("view", "damage", "here", "asked", "found", "sections", "words", "saying")
        shown = {key: value for key, value in facts.items() if key not in left_out}
        plain = {key: value for key, value in shown.items() if not isinstance(value, Markup)}
        return shown_json(plain)

    def asked(self, items: list[tuple[str, str]], campaign: str) -> Asked:
        """Purpose: read the query of an address. Errors: UsageError that names the wrong word and the allowed ones."""
        items = [(key, value) for key, value in items if value != "" and key != "told"]
        words = dict(items)
        for key, value in items:
            _refuse_unknown("word", key, _WORDS)
            if key == "column":
                _refuse_unknown("column", value, COLUMNS)
        columns = tuple(value for key, value in items if key == "column" and value in COLUMNS)
        usual = USUAL if campaign else ("campaign", *USUAL)
        size = _whole_number(words, "rows", PAGE_ROWS, 1, MOST_ROWS)
        sort = words.get("sort", "at")
        if sort not in SORTABLE:
            raise UsageError(f"sort={sort}: runs are sorted by one of {', '.join(SORTABLE)}")
        wanted = Filter(
            campaign=campaign,
            patterns={kind: words[kind] for kind in COLUMNS if kind in words},
            node=words.get("node", ""),
            bad=True if words.get("bad") == "1" else None,
            live={"1": True, "0": False}.get(words.get("live", "")),
            since=_moment(words, "since"),
            until=_moment(words, "until"),
            sort=sort,
            rising=words.get("rising") == "1",
            limit=size,
            place=_place(words),
            texts=TEXTS,
        )
        return Asked(wanted, columns or usual, tuple(items))


_FLAGS = {("bad", "1"): "failures only", ("live", "1"): "live", ("live", "0"): "judged"}
_WORDS = (
    *COLUMNS,
    "node",
    "since",
    "until",
    "bad",
    "live",
    "sort",
    "rising",
    "rows",
    "after",
    "before",
    "column",
    "draw",
    "as",
)


def _refuse_unknown(what: str, word: str, known: Iterable[str]) -> None:
    """Raise UsageError for an unknown word: if it were ignored, the page would show other runs than its address says."""
    if word not in known:
        listed = list(known)
        hint = did_you_mean(word, listed) or f"there are {', '.join(listed)}"
        raise UsageError(f"there is no {what} '{word}'", hint=hint)


def segment(text: str) -> str:
    """A name, escaped as one segment of an address."""
    return quote(text, safe="")


def literally(text: str) -> str:
    """A regular expression that matches only this text, escaped as part of an address."""
    return quote(f"^{literal(text)}$", safe="")


def static(name: str) -> tuple[bytes, str] | None:
    """Purpose: the content and media type of a file that pages load; None where there is no file of this name."""
    for path in (HERE / "static").iterdir():
        if path.name == name and path.suffix in KINDS:
            return path.read_bytes(), KINDS[path.suffix]
    return None


def _whole_number(words: dict[str, str], key: str, default: int, least: int, most: int) -> int:
    text = words.get(key, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
        raise UsageError(f"{key}={text}: it is a whole number from {least} to {most}")
    return int(text)


def _place(words: dict[str, str]) -> Place | None:
    """The place in the stream that the address names; None where it names none."""
    key = "after" if "after" in words else "before"
    if key not in words:
        return None
    try:
        value, campaign, run = msgspec.json.decode(words[key], type=tuple[Value, str, str])
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise UsageError(f"{key}={words[key]}: it is no place in a stream of runs", hint=BEGIN_AGAIN) from error
    if "after" in words and "before" in words:
        raise UsageError("a page is after a run or before one, and not both", hint=BEGIN_AGAIN)
    return Place(value, campaign, run, before=key == "before")


def _moment(words: dict[str, str], key: str) -> float | None:
    """A time from ISO 8601, such as 2026-11-22T06:00+01:00, in seconds since 1970; UTC where it has no offset. None where it is
    missing.
    """
    if key not in words:
        return None
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(words[key])
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{key}={words[key]}: it is a moment such as 2026-11-22T06:00") from error
