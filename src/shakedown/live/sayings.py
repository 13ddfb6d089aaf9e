"""Rulings and notes of people on the live page, where it is served with ``--allow-rulings``: whose failure, which class, which
ticket.

Nothing here writes the log: a form becomes requests in the campaign's inbox, as with ``shakedown rule`` and ``shakedown note``, and
is refused for the same reasons. ``Sayings.say`` is the main function.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request

from shakedown.conductor.commands.asking import record_wishes
from shakedown.conductor.commands.noting import families_of, why_not_note
from shakedown.conductor.commands.rulings import WITHDRAWN, why_not_rule
from shakedown.engine import State
from shakedown.model.errors import UsageError
from shakedown.model.events import PARTIES
from shakedown.model.layout import Layout
from shakedown.model.said_words import shows_nothing, wrong_said

LONGEST_REASON, LONGEST_NAME = 2000, 100  # characters; what is longer is refused, never cut
LONGEST_FORM = 64 * 1024  # bytes
MOST_RUNS = 500  # of which something is said at once
KEPT = 200  # answers that are kept for the page that comes after a form
FIELDS = ("run", "as", "class", "ticket", "by", "because", "word")
RULINGS = (*PARTIES, WITHDRAWN)
FORM = "application/x-www-form-urlencoded"


class NotAllowed(UsageError):
    """A form that did not come from this page."""


class TooLong(UsageError):
    """A form that is too long to be filled in by hand."""


@dataclass(frozen=True, slots=True)
class Said:
    """One form. ``party``, ``given`` (a class) and ``ticket`` are "" where the form leaves them out."""

    runs: tuple[str, ...]
    party: str
    given: str
    ticket: str
    by: str
    because: str


class Sayings:
    """The forms that one server accepts. ``token``: the server's access token, from which the secret word of the forms is made."""

    def __init__(self, token: str) -> None:
        self.word = hmac.new(token.encode(), b"the word of a form", hashlib.sha256).hexdigest()
        self._answers: OrderedDict[str, str] = OrderedDict()
        self._turn = threading.Lock()  # one at a time: nobody finds the lease of a campaign taken by his neighbour

    def said_in(self, request: Request, body: bytes) -> Said:
        """Purpose: read a form. Errors: NotAllowed where it may be from another page; UsageError for what is wrong in it."""
        words, runs = _fields(request, body)
        _refuse_foreign(request, words.get("word", ""), self.word)
        texts = {key: words.get(key, "").strip() for key in FIELDS}
        _refuse_wrong(texts, runs)
        return Said(runs, texts["as"], texts["class"], texts["ticket"], texts["by"], texts["because"])

    def say(
        self, layout: Layout, said: Said, look: Callable[[], State], ruled: Callable[[str], bool]
    ) -> dict[str, Any]:
        """Purpose: leave the requests in the inbox, and record them where no driver runs. Returns what ``record_wishes`` says about
        each kind.

        ``look``: returns the state of the campaign; ``ruled``: whether a run has a ruling. Errors: UsageError; then no request is
        left.
        """
        with self._turn:
            _check(said, look(), ruled)
            told = []
            if said.party:
                told.append(record_wishes(layout, "rule", [_ruling(said, run) for run in said.runs], said.because))
            if said.given or said.ticket:
                told.append(record_wishes(layout, "note", [_note(said, run) for run in said.runs], said.because))
        sentence = f"{in_words(said)}; " + "; ".join(one["said"] for one in told)
        requests = [request for one in told for request in one["requests"]]
        return {"said": sentence, "requests": requests, "recorded": [seq for one in told for seq in one["recorded"]]}

    def keep(self, told: Mapping[str, Any]) -> str:
        """Purpose: keep an answer for the page that is shown next. Returns its key."""
        key = str(told["requests"][0])
        self._answers[key] = str(told["said"])
        while len(self._answers) > KEPT:
            self._answers.popitem(last=False)
        return key

    def kept(self, key: str) -> str:
        """Purpose: an answer that was kept; "" where there is none."""
        return self._answers.get(key, "")


@cache
def shipped_classes() -> tuple[str, ...]:
    """Purpose: the failure classes that a form proposes. It also accepts a site's own classes."""
    from shakedown.plans.failures import shipped_failures

    return tuple(sorted(one.name for one in shipped_failures()))


def in_words(said: Said) -> str:
    """Purpose: a form in words: the runs and what was said about them."""
    runs = ", ".join(said.runs[:10]) + (f" and {len(said.runs) - 10} more" if len(said.runs) > 10 else "")
    words = ["no ruling any more" if said.party == WITHDRAWN else f"ruled {said.party}"] * bool(said.party)
    words += [f"class {said.given}"] * bool(said.given) + [f"ticket {said.ticket}"] * bool(said.ticket)
    return f"{runs}: {', '.join(words)}"


# ---- forms of unknown origin -----------------------------------------------------------------------------------------------


def _fields(request: Request, body: bytes) -> tuple[dict[str, str], tuple[str, ...]]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        raise UsageError(f"a form is sent as {FORM}")
    try:
        items = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=2 * MOST_RUNS, errors="strict")
    except ValueError as error:
        raise UsageError(f"the form cannot be read: {error}") from error
    words = dict(items)
    for key in words:
        if key not in FIELDS:
            raise UsageError(f"there is no field '{key[:40]}'", hint=f"there are {', '.join(FIELDS)}")
    return words, tuple(dict.fromkeys(value.strip() for key, value in items if key == "run" and value.strip()))


def _refuse_foreign(request: Request, brought: str, word: str) -> None:
    """Raise NotAllowed for a form of a foreign page. Such a page can send a form here, even with the cookie where both have one
    host; but it cannot read the secret word in our forms or send a header, and its browser names its origin.
    """
    origin = request.headers.get("origin", "")
    if origin and urlsplit(origin).netloc != request.headers.get("host", ""):
        raise NotAllowed("this form comes from another page", hint="open the page itself, and send its form")
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise NotAllowed("this form comes from another page", hint="open the page itself, and send its form")
    if "authorization" not in request.headers and not hmac.compare_digest(brought.encode(), word.encode()):
        raise NotAllowed("this form is of another server, or of an earlier one", hint="open the page again")


def _refuse_wrong(texts: Mapping[str, str], runs: Sequence[str]) -> None:
    """Raise UsageError for mistakes that can be seen without the record."""
    if not runs:
        raise UsageError("no run is chosen", hint="choose the runs that you speak of")
    if len(runs) > MOST_RUNS:
        raise UsageError(f"{len(runs)} runs are chosen; at most {MOST_RUNS} at once")
    if not (texts["as"] or texts["class"] or texts["ticket"]):
        raise UsageError("the form says nothing", hint="choose whose failure it was, or name a class or a ticket")
    if texts["as"] and texts["as"] not in RULINGS:
        raise UsageError(f"'{texts['as'][:40]}' is no party", hint=f"there are {', '.join(RULINGS)}")
    for key, what, most in (("by", "your name", LONGEST_NAME), ("because", "the reason", LONGEST_REASON)):
        if shows_nothing(texts[key]):
            raise UsageError(f"{what} is missing", hint="who and why are kept in the record")
        if len(texts[key]) > most:
            raise UsageError(f"{what} is {len(texts[key])} characters long; at most {most} are kept")


def _check(said: Said, state: State, ruled: Callable[[str], bool]) -> None:
    """Raise UsageError for mistakes that only the record shows."""
    if state.plan is None:
        raise UsageError("the campaign has not begun")
    document = state.index.document
    people = [person for party in document.parties for person in party.people]
    why = wrong_said(said.by, said.because, "", people).replace(" (--by)", "").replace(" (--because)", "")
    families = families_of(document) if said.given else {}
    for run in said.runs if not why else ():
        why = why or (why_not_rule(state, run, said.party) if said.party else "")
        why = why or (why_not_note(state, families, run, said.given, said.ticket) if said.given or said.ticket else "")
        if not why and said.party == WITHDRAWN and not ruled(run):
            why = f"{run} has no ruling that could be taken back"
    if why:
        raise UsageError(why)


def _ruling(said: Said, run: str) -> dict[str, Any]:
    return {"run": run, "as": said.party, "by": said.by}


def _note(said: Said, run: str) -> dict[str, Any]:
    return {"run": run, "class": said.given, "ticket": said.ticket, "by": said.by}
