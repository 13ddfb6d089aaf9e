"""Slow computations on a record: each is done once for each state of the record, in a thread beside the requests that wait for it.

``Judged.of`` is the main function. For a large campaign a page does not wait: it gets the previous result with its age, and is
notified when a newer one is ready. If there is no earlier result, ``NotYet`` is raised.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from shakedown.live.indexing import Indexer
from shakedown.model.errors import ShakedownError

PATIENCE = 10.0  # what is worked out is worked out again at the earliest after so many times the seconds that it took
QUICK_S = 2.0  # that a page waits for what was never worked out
LONGEST_S = 3600.0  # after which pages with something older ask again at the latest
STALE_S = 0.3  # that it waits where there is something older
AT_ONCE = 2  # things that are worked out at the same time
KEPT = 64  # things that are kept


class NotYet(ShakedownError):
    """The computation runs for the first time and has no result yet."""


@dataclass(slots=True)
class Worked:
    """``version``: that of the record it was computed from; ``took`` and ``begun``: seconds, the latter of the monotonic clock.

    ``at``: the same moment as ``begun``, in seconds since 1970.
    """

    version: int
    took: float
    begun: float
    value: Any
    at: float = field(default_factory=time.time)

    @property
    def age(self) -> float:
        """Seconds since the computation began, that is, the age of the record it shows."""
        return time.monotonic() - self.begun


@dataclass(slots=True)
class _Job:
    done: threading.Event = field(default_factory=threading.Event)
    error: Exception | None = None
    late: bool = False  # somebody was given something older, or nothing


Key = tuple[str, str]


class Judged:
    """``wait_s``: how long a page waits for a first result; None: until it is ready, and no page gets an older result.

    ``told``: campaign -> how often its pages are to ask again: a result is ready that none had waited for, or what they have can be
    worked out again; "" counts those about several campaigns.
    """

    def __init__(self, indexer: Indexer, wait_s: float | None = QUICK_S) -> None:
        self.indexer, self.wait_s = indexer, wait_s
        self.told: dict[str, int] = {}
        self._known: OrderedDict[Key, Worked] = OrderedDict()
        self._jobs: dict[Key, _Job] = {}
        self._awaited: set[Key] = set()  # whose pages have an older result, and are told when there can be a newer one
        self._lock = threading.Lock()
        self._room = threading.Semaphore(AT_ONCE)

    def of(
        self, what: str, name: str, work: Callable[[], Any], most_s: float = QUICK_S, good_s: float = math.inf
    ) -> Worked:
        """Purpose: the result of ``work`` for a campaign, for the current record or an earlier state of it.

        ``name`` "": it is about several campaigns. ``most_s``: how long the page can wait. ``good_s``: an older result is worked
        out again although the record is the same, because time is in it. Errors: NotYet; those of ``work``.
        """
        key = (what, name)
        with self._lock:
            known, version = self._known.get(key), self.version(name)
            is_same = known is not None and known.version == version and known.age <= good_s
            if known is not None and (is_same or self._is_young(known)):
                if known.version != version:
                    self._ask_again_later(key, known)
                return known
            job = self._jobs.get(key) or self._start(key, version, work)
        patience = most_s if known is None else min(STALE_S, most_s)
        in_time = job.done.wait(None if self.wait_s is None else min(patience, self.wait_s))
        with self._lock:
            job.late = job.late or not job.done.is_set()
            if job.error is not None:
                raise job.error
            known = self._known.get(key)
        if known is None and not in_time:
            raise NotYet("This is being worked out.", hint="The page comes again by itself.")
        return known if known is not None else self.of(what, name, work, most_s, good_s)

    def _is_young(self, known: Worked) -> bool:
        return self.wait_s is not None and known.age <= (1 + PATIENCE) * known.took

    def _ask_again_later(self, key: Key, known: Worked) -> None:
        """Without this a page that got an older result keeps it for as long as nothing more happens."""
        if key not in self._awaited:
            self._awaited.add(key)
            left = min(max((1 + PATIENCE) * known.took - known.age, 0.0), LONGEST_S)
            timer = threading.Timer(left, self._ask_again, (key,))
            timer.daemon = True
            timer.start()

    def _ask_again(self, key: Key) -> None:
        with self._lock:
            self._awaited.discard(key)
            self.told[key[1]] = self.told.get(key[1], 0) + 1

    def version(self, name: str) -> int:
        """Purpose: a number that grows whenever a campaign changes, or with "" any campaign."""
        versions = dict(self.indexer.versions)
        return versions.get(name, 0) if name else sum(versions.values())

    def _start(self, key: Key, version: int, work: Callable[[], Any]) -> _Job:
        job = self._jobs[key] = _Job()
        threading.Thread(target=self._work, args=(key, version, work, job), name=f"{key[0]}", daemon=True).start()
        return job

    def _work(self, key: Key, version: int, work: Callable[[], Any], job: _Job) -> None:
        with self._room:
            begun, at = time.monotonic(), time.time()
            value = None
            try:
                value = work()
            except Exception as error:  # noqa: BLE001 - whoever waits for it raises it again
                job.error = error
            with self._lock:
                del self._jobs[key]
                if job.error is None:
                    self._known[key] = Worked(version, time.monotonic() - begun, begun, value, at)
                    self._known.move_to_end(key)
                    while len(self._known) > KEPT:
                        self._known.popitem(last=False)
                if job.late:
                    self.told[key[1]] = self.told.get(key[1], 0) + 1
                job.done.set()
