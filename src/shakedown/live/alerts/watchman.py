"""Watch the campaigns of a site and send their news: collected, at most one message per interval, repeated until it is accepted.

``Watchman.run`` is the table of contents. The position in each log is saved after a message was accepted, so news that a crash or
an outage held up is sent afterwards. The very first start sends no earlier news.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from shakedown.events.campaigns import CAMPAIGNS, campaigns_in
from shakedown.events.chain import damage_of
from shakedown.events.follower import Follower
from shakedown.events.lease import holder
from shakedown.events.looks import Looks
from shakedown.events.segments import Position
from shakedown.live.alerts.kinds import CRITERIA, DAMAGE, DISK, OUTCOME, SILENT
from shakedown.live.alerts.news import News, lines_of, news_of, title_of
from shakedown.live.alerts.targets import Target
from shakedown.live.feeds.same_campaign import identity_of
from shakedown.model.errors import RecordError, ShakedownError, UsageError
from shakedown.model.layout import Layout
from shakedown.report.reading import read_campaign, scorecard_of
from shakedown.report.words import one_line

LOOK_S = 2.0
LONGEST_WAIT_S = 600.0
LOOK_FOR_DAMAGE_S = 30.0
LEAST_ROOM = 0.05  # of a file system
SCORED_EVERY = 20.0  # times the seconds that a scorecard takes, and at least a minute


@dataclass(slots=True)
class _Seen:
    """What is known of a campaign: how far its log was read, and which troubles were reported and still hold."""

    position: Position = field(default_factory=Position)
    over: bool = False
    begun: bool = False
    troubles: dict[str, str] = field(default_factory=dict)  # silent, disk, damage -> the words that were told
    criteria: list[str] = field(default_factory=list)  # not met, and told
    identity: str = ""  # which campaign it is, whatever its directory is called


@dataclass(slots=True)
class Watchman:
    """``kinds``: the kinds of news to send. ``every_s``: the shortest time between two messages. ``told``: a file with every
    message.
    """

    site: Path
    target: Target
    kinds: Collection[str]
    saved: Path
    told: Path
    say: Callable[[str], None]
    every_s: float = 60.0
    wait: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time
    _seen: dict[str, _Seen] = field(default_factory=dict)
    _waiting: list[News] = field(default_factory=list)
    _looked: dict[str, float] = field(default_factory=dict)  # campaign -> when its bytes were looked at
    _scored: dict[str, tuple[int, float, float]] = field(
        default_factory=dict
    )  # campaign -> event, when, seconds it took

    def run(self, once: bool) -> bool:
        """Purpose: send news until a person ends it; with ``once``, send what there is and end. Returns whether all of it was
        accepted.
        """
        known = _read(self.saved)
        self._seen = known or {}
        self._gather(tells=known is not None)
        last, pause = 0.0, self.every_s
        while True:
            if self._waiting and (once or self.clock() - last >= pause):
                taken = self._send(self._waiting)
                last = self.clock()
                pause = self.every_s if taken else min(max(2 * pause, LOOK_S), LONGEST_WAIT_S)
                if taken:
                    self._waiting = []
                    _write(self.saved, self._seen)
                elif once:
                    return False
            elif not self._waiting:
                _write(self.saved, self._seen)
            if once:
                return True
            self.wait(LOOK_S)
            self._gather(tells=True)

    def _send(self, news: Sequence[News]) -> bool:
        why = self.target(news)
        line = {"time": self.clock(), "title": title_of(news), "lines": lines_of(news), "not_taken": why}
        try:
            self.told.parent.mkdir(parents=True, exist_ok=True)
            with self.told.open("a", encoding="utf-8") as out:
                out.write(json.dumps(line) + "\n")
        except OSError as error:
            self.say(f"{self.told}: {error.strerror}")
        if why:
            self.say(f"not taken: {one_line(why, 300)}; it is tried again")
        return not why

    # ---- what is new

    def _gather(self, tells: bool) -> None:
        there = {path.name: path for path in campaigns_in(self.site / CAMPAIGNS)}
        news = [one for name, path in there.items() for one in self._news_of_campaign(path, self._known(name, path))]
        for name in self._seen.keys() - there.keys():
            gone = self._seen.pop(name)
            if not any(one.identity == gone.identity for one in self._seen.values() if gone.identity):
                news.append(News(DAMAGE, name, self.clock(), "its directory is not there any more"))
        if tells:
            self._waiting += [one for one in news if one.kind in self.kinds]

    def _known(self, name: str, path: Path) -> _Seen:
        """What is known of a campaign; for a renamed or copied one, what is known of it under its other name."""
        seen = self._seen.get(name)
        if seen is not None and seen.identity:
            return seen
        identity = identity_of(Layout(path).log)
        if seen is None:
            same = next((one for one in self._seen.values() if identity and one.identity == identity), None)
            seen = deepcopy(same) if same is not None else _Seen()
            self._seen[name] = seen
        seen.identity = identity
        return seen

    def _news_of_campaign(self, path: Path, seen: _Seen) -> list[News]:
        over = seen.over
        news = [*self._events(path, seen), *self._states(path, seen)]
        if seen.over and not over and OUTCOME in self.kinds:
            news = [one for one in news if one.kind != OUTCOME] + [
                News(OUTCOME, path.name, self.clock(), _outcome(path))
            ]
        return news

    def _events(self, path: Path, seen: _Seen) -> list[News]:
        follower, found = Follower(Layout(path).log, seen.position), []
        known = seen.position.seq
        try:
            while events := follower.new_events():
                for event in events:
                    if event.seq <= known:
                        continue
                    seen.begun = True
                    seen.over = event.event == "campaign_end" or (
                        seen.over and event.event not in ("amended", "again", "submit_order")
                    )
                    one = news_of(path.name, event)
                    found += [one] if one is not None else []
                seen.position = follower.position
        except RecordError as error:
            found += self._changed(path.name, seen, DAMAGE, DAMAGE, f"DAMAGED: {error}", "")
        return found

    def _states(self, path: Path, seen: _Seen) -> list[News]:
        """News that no event shows: who drives, how much room there is, which criteria are lost."""
        if not seen.begun:
            return []
        found = self._damage(path, seen)
        layout = Layout(path)
        held = holder(layout)
        if seen.over:
            why = ""
        elif held is None or held.gone:
            why = "nobody drives it: shakedown resume goes on with it"
        else:
            why = "its conductor does not answer" if held.hung else ""
        found += self._changed(path.name, seen, SILENT, SILENT, why, "" if seen.over else "somebody drives it again")
        why = "" if seen.over else _little_room(layout.root)
        found += self._changed(path.name, seen, DISK, DISK, why, "its file system has room again")
        return found + (self._criteria(path, seen) if CRITERIA in self.kinds else [])

    def _damage(self, path: Path, seen: _Seen) -> list[News]:
        """News where the record is damaged or undamaged again; all of its bytes are checked at intervals."""
        now, looked = time.monotonic(), self._looked.get(path.name, 0.0)
        if looked and now - looked < LOOK_FOR_DAMAGE_S:
            return []
        self._looked[path.name] = now
        damage = damage_of(Layout(path), Looks(Layout(path)))
        why = f"DAMAGED: {damage}" if damage is not None else ""
        return self._changed(path.name, seen, DAMAGE, DAMAGE, why, "its record is whole again")

    def _changed(self, campaign: str, seen: _Seen, what: str, kind: str, why: str, back: str) -> list[News]:
        """News where a trouble begins or is over; none while it lasts."""
        before = seen.troubles.get(what, "")
        if bool(before) == bool(why):
            return []
        seen.troubles[what] = why
        text = why or back
        return [News(kind, campaign, self.clock(), one_line(text, 300))] if text else []

    def _criteria(self, path: Path, seen: _Seen) -> list[News]:
        """News of criteria that are not met, but were met or open at the previous check."""
        event, when, took = self._scored.get(path.name, (-1, 0.0, 0.0))
        now = time.monotonic()
        if event == seen.position.seq or (when and not seen.over and now - when < max(60.0, SCORED_EVERY * took)):
            return []
        try:
            scores = scorecard_of(read_campaign(path)).components
        except ShakedownError:
            return []
        self._scored[path.name] = (seen.position.seq, now, time.monotonic() - now)
        lost = {
            f"{score.name}: {item.name}": item.arithmetic
            for score in scores
            for item in score.criteria
            if item.outcome == "not met"
        }
        fresh = [name for name in lost if name not in seen.criteria]
        seen.criteria = list(lost)
        return [
            News(CRITERIA, path.name, self.clock(), one_line(f"{name} is not met: {lost[name]}", 300)) for name in fresh
        ]


def _outcome(path: Path) -> str:
    """The outcome of a finished campaign, in the words of its report."""
    try:
        return one_line(f"it is over: {scorecard_of(read_campaign(path)).summary}", 300)
    except ShakedownError as error:
        return one_line(f"it is over, and how it came out cannot be said: {error}", 300)


def _little_room(place: Path) -> str:
    try:
        found = os.statvfs(place)
    except OSError:
        return ""
    if not found.f_blocks or found.f_bavail / found.f_blocks >= LEAST_ROOM:
        return ""
    return f"its file system has {100 * found.f_bavail / found.f_blocks:.1f} % of room left"


def _read(path: Path) -> dict[str, _Seen] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        return {name: _Seen(**(said | {"position": Position(**said["position"])})) for name, said in found.items()}
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise UsageError(
            f"{path} does not say how far alerts came: {error}", hint="remove it: what was before is not told"
        ) from error


def _write(path: Path, seen: dict[str, _Seen]) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps({name: asdict(one) for name, one in seen.items()}))
        draft.replace(path)
    except OSError as error:
        message = f"how far the alerts came cannot be kept in {path}: {error.strerror}"
        raise UsageError(message, hint="name another file with --position") from error
