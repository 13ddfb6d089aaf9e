"""A feed: every event of every campaign of a site to one server, from a saved place, across restarts and outages.

``Feed.run`` is the table of contents. The place is saved after the server accepted a request. So after a crash the last request is
sent twice: servers of time series keep one point for it, and others recognise it by its campaign and number.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from shakedown.events.campaigns import CAMPAIGNS, campaigns_in
from shakedown.events.chain import Unwhole, damage_of
from shakedown.events.damage import LaterVersion
from shakedown.events.follower import Follower
from shakedown.events.looks import Looks
from shakedown.events.segments import Position
from shakedown.live.feeds.items import Items
from shakedown.live.feeds.same_campaign import identity_of
from shakedown.live.feeds.sending import Answer, Outcome
from shakedown.model.errors import RecordError, UsageError
from shakedown.model.layout import Layout
from shakedown.model.own_places import own_place
from shakedown.report.words import one_line

MANY = 2000  # items in one request
LOOK_S, LONGEST_WAIT_S = 1.0, 60.0
LOOK_FOR_DAMAGE_S = 30.0


@dataclass(slots=True)
class Counts:
    """The counts of a feed: ``sent`` items that the server accepted, ``refused`` ones that it rejected for good,
    ``events`` read.
    """

    events: int = 0
    sent: int = 0
    refused: int = 0


@dataclass(slots=True)
class Place:
    """How far a campaign was sent: ``position`` in its log, and ``sent``, the last event that the server has. ``identity``:
    identifies the campaign, whatever the name of its directory is.
    """

    position: Position
    sent: int = 0
    identity: str = ""


@dataclass(slots=True)
class Feed:
    """A feed of a site: ``items`` makes what is sent of each event, ``send`` sends a request of them to the server.

    The place is kept in the file ``saved``. ``say`` tells a person about outages and rejected items; ``wait`` waits a number of
    seconds.
    """

    site: Path
    items: Items
    send: Callable[[Sequence[bytes]], Answer]
    saved: Path
    say: Callable[[str], None]
    wait: Callable[[float], None] = time.sleep
    counts: Counts = field(default_factory=Counts)
    untrusted: dict[str, str] = field(default_factory=dict)  # campaign -> why nothing of it is sent
    _places: dict[str, Place] = field(default_factory=dict)
    _outage: str = ""
    _looked: dict[str, float] = field(default_factory=dict)  # campaign -> when it was found whole

    def run(self, once: bool) -> bool:
        """Purpose: send what is new, until a person ends it; with ``once``, end when all is sent, or at the first outage.

        Returns whether all was accepted. Errors: UsageError where the server denies access.
        """
        self._places = _read(self.saved)
        while True:
            for path in campaigns_in(self.site / CAMPAIGNS):
                if not self._send_campaign(path, once):
                    return False
            if once:
                return not self.untrusted
            self.wait(LOOK_S)

    def _send_campaign(self, path: Path, once: bool) -> bool:
        """Send all that is new of one campaign, if its record can be trusted. False where the server does not answer and ``once``
        is set.
        """
        try:
            done = self._send_new(path, once)
            self._refuse_damaged(path, LOOK_FOR_DAMAGE_S)  # what was sent before may have been changed since
        except (RecordError, OSError) as error:
            self._tell_untrusted(path.name, self._why(path, error))
            return True
        self.untrusted.pop(path.name, None)
        return done

    def _send_new(self, path: Path, once: bool) -> bool:
        """As ``_send_campaign``. Errors: RecordError, OSError where the record is damaged, or cannot be read."""
        place, age_s = self._place(path), 0.0
        follower = Follower(Layout(path).log, place.position)
        while events := follower.new_events():
            self._refuse_damaged(path, age_s)
            age_s = LOOK_S  # a long backlog comes in many parts
            if follower.rewound:
                self._begin_another(path, place)
            fresh = [event for event in events if event.seq > place.sent]
            items = [(event.seq, item) for event in fresh for item in self.items(path, event)]
            if not self._deliver(items, place, once):
                return False
            self.counts.events += len(fresh)
            place.position, place.sent = follower.position, max(place.sent, events[-1].seq)
            _write(self.saved, self._places)
        return True

    def _place(self, path: Path) -> Place:
        """How far a campaign was sent; a renamed or copied campaign continues at the place of its other name."""
        known = self._places.get(path.name)
        if known is not None and known.identity:
            return known
        identity = identity_of(Layout(path).log)
        if known is None:
            same = next((one for one in self._places.values() if identity and one.identity == identity), None)
            known = replace(same) if same is not None else Place(Position())
            self._places[path.name] = known
        known.identity = identity
        return known

    def _begin_another(self, path: Path, place: Place) -> None:
        """Where another campaign has the name now, it is sent from its own place: nothing of it was sent under this one."""
        identity = identity_of(Layout(path).log)
        if identity and place.identity and identity != place.identity:
            same = next((one for one in self._places.values() if one.identity == identity), None)
            place.sent, place.identity = same.sent if same is not None else 0, identity

    # ---- records that cannot be trusted

    def _refuse_damaged(self, path: Path, age_s: float) -> None:
        """Raise Unwhole where the record is not what was written. One that was found whole so many seconds ago is not looked at."""
        now = time.monotonic()
        if path.name in self._looked and now - self._looked[path.name] <= age_s:
            return
        self._looked.pop(path.name, None)
        found = damage_of(Layout(path), Looks(Layout(path)))
        if found is not None:
            raise Unwhole(Layout(path), found)
        self._looked[path.name] = now

    def _why(self, path: Path, error: RecordError | OSError) -> str:
        """Why nothing of a campaign is sent. What the check of the record finds is told before what a reader stumbled over."""
        try:
            self._refuse_damaged(path, 0.0)
        except (RecordError, OSError) as found:
            error = found
        self._looked.pop(path.name, None)
        if isinstance(error, OSError):
            return f"it cannot be read: {error.strerror or error}"
        if isinstance(error, LaterVersion):
            return error.message
        return f"DAMAGED: {error.damage if isinstance(error, Unwhole) else error.message}"

    def _tell_untrusted(self, name: str, why: str) -> None:
        if self.untrusted.get(name) != why:
            self.say(f"{name}: {one_line(why, 400)}: nothing more of it is sent")
        self.untrusted[name] = why

    # ---- delivery

    def _deliver(self, items: list[tuple[int, bytes]], place: Place, once: bool) -> bool:
        """Send items until the server accepts them or rejects them for good. False where it does not answer and ``once`` is set."""
        todo = [items[start : start + MANY] for start in range(0, len(items), MANY)]
        pause = LOOK_S
        while todo:
            batch = todo.pop(0)
            answer = self._post([item for _, item in batch])
            if answer.outcome == Outcome.LATER:
                self._tell_outage(answer.says)
                if once:
                    return False
                todo.insert(0, batch)
                self.wait(pause)
                pause = min(2 * pause, LONGEST_WAIT_S)
                continue
            if answer.outcome == Outcome.REFUSED and len(batch) > 1:  # which of them it is that the server cannot take
                middle = len(batch) // 2
                todo[:0] = [batch[:middle], batch[middle:]]
                continue
            self._count(batch, answer)
            pause = LOOK_S
            if todo:  # all events before the next one are with the server
                place.sent = max(place.sent, todo[0][0][0] - 1)
                _write(self.saved, self._places)
        return True

    def _count(self, batch: list[tuple[int, bytes]], answer: Answer) -> None:
        if answer.outcome == Outcome.TAKEN:
            self.counts.sent += len(batch)
            self._tell_back()
            return
        self.counts.refused += 1
        self.say(f"refused for good: {answer.says}: {batch[0][1][:200].decode('utf-8', 'replace')}")

    def _post(self, batch: list[bytes]) -> Answer:
        """Send one request. If a server that accepted something before denies access now, that counts as an outage."""
        try:
            return self.send(batch)
        except UsageError as error:
            if not any(place.sent for place in self._places.values()):
                raise
            return Answer(Outcome.LATER, error.message)

    def _tell_outage(self, why: str) -> None:
        if not self._outage:
            self.say(f"the server does not take it: {one_line(why, 300)}; nothing is lost, it is tried again")
        self._outage = why

    def _tell_back(self) -> None:
        if self._outage:
            self.say("the server takes it again")
        self._outage = ""


def place_of(site: Path, address: str, form: str) -> Path:
    """Purpose: the default file for the place of a feed: in the user's own state directory, one for each site and server."""
    import hashlib

    home = own_place("XDG_STATE_HOME") / "shakedown/feeds"
    key = hashlib.sha256(os.fsencode(f"{site.resolve()}\0{address}\0{form}")).hexdigest()[:16]
    return home / f"{key}.json"


def _read(path: Path) -> dict[str, Place]:
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        return {
            name: Place(Position(**said["position"]), int(said["sent"]), str(said.get("identity", "")))
            for name, said in found.items()
        }
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        hint = "without it every event is sent again: remove it if the server can bear that"
        raise UsageError(f"{path} is not the place of a feed: {error}", hint=hint) from error


def _write(path: Path, places: dict[str, Place]) -> None:
    """Write the file completely or not at all: a crash leaves the previous places."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps({name: asdict(place) for name, place in places.items()}))
        with draft.open("rb") as handle:
            os.fsync(handle.fileno())
        draft.replace(path)
    except OSError as error:
        message = f"the place of the feed cannot be kept in {path}: {error.strerror}"
        raise UsageError(message, hint="name another file with --position") from error
