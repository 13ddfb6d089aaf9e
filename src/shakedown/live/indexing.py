"""Keep the index of a site up to date: new events of each campaign's log are added, from the place that was saved.

``Indexer.refresh`` is the table of contents. A campaign that has not grown costs one look at its log's length. One that has grown
since the index was opened is folded from the beginning once, and then event by event: its rows are kept while somebody drives it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from shakedown.events.campaigns import CAMPAIGNS, REHEARSALS, campaigns_in, read_document
from shakedown.events.chain import damage_of
from shakedown.events.follower import Follower
from shakedown.events.lease import holder
from shakedown.events.looks import Looks
from shakedown.events.segments import Position
from shakedown.metrics.rehearsed import in_words
from shakedown.metrics.rows.rows import OpenRun, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model.errors import ShakedownError
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.model.ports import ENDED
from shakedown.store.index import Batch, Index

LOOK_FOR_DAMAGE_S = 30.0  # between two looks at all bytes of a log that grows
BUILT = ("done", "failed")
JUDGING = "judging"  # the state of a run whose job is over and that has no verdict yet


@dataclass(slots=True)
class _Followed:
    """A campaign that is followed. ``written``: run -> its row in the index; ``notes``: how many are in the index."""

    layout: Layout
    follower: Follower
    record: Record = field(default_factory=Record)
    written: dict[str, RunRow | OpenRun] = field(default_factory=dict)
    notes: int = 0
    cases: dict[str, tuple[str, str]] = field(default_factory=dict)  # case -> (test, expected verdict)
    documents: int = 0
    damage: str = ""
    looked: float = 0.0
    begun: bool = False  # its first batch, which takes the place of what was there, is written


class Indexer:
    """Adds every campaign and rehearsal of a site to an index. ``versions``: campaign -> how often it has changed.

    ``rehearsals``: whether rehearsals are followed too.
    """

    def __init__(self, site: Path, index: Index, rehearsals: bool = False) -> None:
        self.site, self.index = site, index
        self.folders = (CAMPAIGNS, REHEARSALS) if rehearsals else (CAMPAIGNS,)
        self.versions: dict[str, int] = {}
        self.paths: dict[str, Path] = {}
        self._followed: dict[str, _Followed] = {}
        self._saved = {name: _position(text) for name, text in index.positions().items()}
        self._damages = index.damages()
        self._turn = -1

    def start_again(self) -> None:
        """Purpose: rebuild the index after its database was deleted. Errors: IndexAway."""
        self.index.make_again()
        self._followed, self._saved, self._damages = {}, {}, {}

    def refresh(self) -> list[str]:
        """Purpose: update the index. Returns the names of the campaigns that changed. Errors: only IndexAway."""
        self.index.check()
        there = {path.name: path for folder in self.folders for path in campaigns_in(self.site / folder)}
        changed = [name for name in self._saved if name not in there]
        for name in changed:
            self.index.drop(name)
            self._saved.pop(name), self._followed.pop(name, None)
        self.paths = there
        changed += [name for name, path in there.items() if self._has_news(name, path) and self._read(name, path)]
        changed += self._patrol(set(changed))
        for name in changed:
            self.versions[name] = self.versions.get(name, 0) + 1
        return changed

    def _patrol(self, just_read: set[str]) -> list[str]:
        """Check every byte of one record, of each in turn: whether it is damaged, or undamaged again. Returns the campaigns that
        changed.
        """
        names = sorted(self.paths.keys() & self._saved.keys() - just_read)
        if not names:
            return []
        self._turn += 1
        name = names[self._turn % len(names)]
        layout = Layout(self.paths[name])
        found = damage_of(layout, Looks(layout))
        why = str(found) if found is not None else ""
        known = self._followed.get(name)
        if why == self._damages.get(name, ""):
            return []
        if known is not None:
            known.damage = why
        self._damages[name] = why
        self.index.tell_damage(name, why)
        return [name]

    def _has_news(self, name: str, path: Path) -> bool:
        """Whether there may be something new; the check costs next to nothing."""
        followed = self._followed.get(name)
        if followed is not None:
            return True
        saved = self._saved.get(name)
        if saved is None or not saved.header:
            return True
        follower = Follower(Layout(path).log, saved)
        try:
            return bool(follower.new_lines()) or follower.rewound > 0
        except ShakedownError:
            return True

    def _read(self, name: str, path: Path) -> bool:
        """Read new events; returns whether there were any. A record that cannot be read is reported in the campaign's ``damage``,
        once.
        """
        one = self._followed.setdefault(name, _Followed(Layout(path), Follower(Layout(path).log)))
        grown = False
        try:
            while events := one.follower.new_events():
                if one.follower.rewound:
                    self._followed[name] = one = _Followed(Layout(path), Follower(Layout(path).log))
                    continue
                for event in events:
                    one.record.add(event)
                self._look_for_damage(one)
                self._write(name, one)
                grown = True
        except ShakedownError as error:
            from shakedown.model.errors import RecordError

            if not isinstance(error, RecordError):
                raise
            return self._tell(name, one, str(error)) or grown
        if one.begun and (one.record.ended is not None or not _is_driven(one.layout)):
            del self._followed[name]  # its rows take memory, and nobody adds to them
        return grown

    def _tell(self, name: str, one: _Followed, why: str) -> bool:
        """Note that a record cannot be read any further; the earlier rows stay. Returns whether the note is new."""
        if one.damage == why:
            return False
        one.damage = why
        self._write(name, one)
        return True

    def _write(self, name: str, one: _Followed) -> None:
        self.index.write(self._batch(name, one))
        one.begun = True
        self._saved[name], self._damages[name] = one.follower.position, one.damage

    def _look_for_damage(self, one: _Followed) -> None:
        now = time.monotonic()
        if one.looked and now - one.looked < LOOK_FOR_DAMAGE_S and not one.damage and one.record.ended is None:
            return
        one.looked = now
        damage = damage_of(one.layout, Looks(one.layout))
        one.damage = str(damage) if damage is not None else ""

    # ---- rows of the record into rows of the index

    def _batch(self, name: str, one: _Followed) -> Batch:
        record = one.record
        _learn_cases(one)
        batch = Batch(name, _facts(one), afresh=not one.begun)
        for row in _newest(record):
            if one.written.get(row.run) is row:
                continue
            one.written[row.run] = row
            batch.runs.append(_live_row(one, row) if isinstance(row, OpenRun) else _judged_row(one, row))
            if isinstance(row, RunRow):
                batch.figures[row.run] = row.figures
        batch.notes = [
            {
                "seq": note.seq,
                "time": note.time,
                "kind": _kind(note.kind, note.value),
                "says": note.reason,
                "run": note.run,
                "case": note.case,
            }
            for note in record.notes[one.notes :]
        ]
        one.notes = len(record.notes)
        return batch


def _is_driven(layout: Layout) -> bool:
    held = holder(layout)
    return held is not None and not held.gone


def _newest(record: Record) -> Iterator[RunRow | OpenRun]:
    """One row per run: its verdict in force, or what is known so far."""
    yield from record.current()
    yield from record.open.values()


def _kind(kind: str, value: Any) -> str:
    """The kind of a note; for a finding its own kind."""
    return f"finding: {value.get('kind', '')}" if kind == "finding" else kind


def _facts(one: _Followed) -> dict[str, Any]:
    record = one.record
    return {
        "plan": record.plan,
        "rehearsal": in_words(record.rehearsal) if record.rehearsal else "",
        "started": record.started,
        "last": record.last,
        "ended": record.ended,
        "seq": record.seq,
        "epoch": record.epoch,
        "building": sum(row.state not in BUILT for row in record.builds.values()),
        "position": json.dumps(asdict(one.follower.position)),
        "damage": one.damage,
    }


def _learn_cases(one: _Followed) -> None:
    """Read test and expected verdict of each case from every plan that was in force so far."""
    for digest in one.record.documents[one.documents :]:
        try:
            document = thaw(read_document(one.layout, digest))
        except ShakedownError as error:
            one.damage = one.damage or str(error)
            continue
        one.cases |= {case.id: (case.test, case.expect) for case in document.cases}
    one.documents = len(one.record.documents)


def _live_row(one: _Followed, row: OpenRun) -> dict[str, Any]:
    test, _ = one.cases.get(row.case, (row.case.partition("/")[0], ""))
    common = _common(row, test) | {"seq": one.record.seq, "at": one.record.last, "live": 1, "bad": 0}
    more = {
        "state": JUDGING if row.state in ENDED else row.state,
        "nodes": "",
        "reason": "",
        "failure": "",
        "ruling": "",
        "ticket": "",
        "ticket_by": "",
    }
    return common | more | {"ended": row.freed, "elapsed": None, "exit": None, "minute": int(one.record.last // 60)}


def _judged_row(one: _Followed, row: RunRow) -> dict[str, Any]:
    test, expected = one.cases.get(row.case, (row.case.partition("/")[0], ""))
    bad = bool(row.failure_class) and not row.was_taken_back and not (expected and row.verdict == expected)
    common = _common(row, test) | {"seq": row.seq, "at": row.time, "live": 0, "bad": int(bad)}
    more = {"state": row.verdict, "nodes": row.nodes, "reason": row.reason, "failure": row.cause}
    ends = {"ended": row.over, "elapsed": row.elapsed_s, "exit": row.exit, "minute": int(row.time // 60)}
    return common | more | ends | {"ruling": row.ruling, "ticket": row.ticket, "ticket_by": row.ticket_by}


def _common(row: RunRow | OpenRun, test: str) -> dict[str, Any]:
    names = ("run", "case", "component", "attempt", "repeat", "epoch", "ordered", "started", "job", "mode")
    return {name: getattr(row, name) for name in names} | {"test": test}


def _position(text: str) -> Position | None:
    try:
        return Position(**json.loads(text))
    except (ValueError, TypeError):
        return None
