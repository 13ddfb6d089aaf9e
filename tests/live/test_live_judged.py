"""What takes long is worked out once, beside the requests: who cannot wait is told, and gets what was known before."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from shakedown.live.indexing import Indexer
from shakedown.live.judged import Judged, NotYet
from shakedown.model.errors import RecordError
from shakedown.store.index import Index


class Work:
    """Work that ends when it is let; it gives how often it was done."""

    def __init__(self) -> None:
        self.may_end, self.begun, self.count = threading.Event(), threading.Semaphore(0), 0

    def __call__(self) -> int:
        self.begun.release()
        assert self.may_end.wait(60)
        self.count += 1
        return self.count


@pytest.fixture
def indexer(tmp_path: Path, index: Index) -> Indexer:
    made = Indexer(tmp_path, index)
    made.versions["p-1"] = 1
    return made


def settled(judged: Judged, times: int) -> None:
    """Wait until so many things were ready that somebody had not waited for."""
    while judged.told.get("p-1", 0) < times:
        threading.Event().wait(0.001)


def test_nobody_waits_for_what_is_worked_out_for_the_first_time_and_all_are_told(indexer: Indexer) -> None:
    judged, work = Judged(indexer, wait_s=0.0), Work()
    for _ in range(3):
        with pytest.raises(NotYet):
            judged.of("nodes", "p-1", work)
    work.may_end.set()
    settled(judged, 1)
    assert (judged.of("nodes", "p-1", work).value, work.count) == (1, 1)


def test_of_a_record_that_grew_the_older_is_given_until_the_newer_is_there(
    indexer: Indexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shakedown.live.judged.PATIENCE", -1.0)
    judged, work = Judged(indexer, wait_s=0.0), Work()
    with pytest.raises(NotYet):
        judged.of("nodes", "p-1", work)
    work.may_end.set()
    settled(judged, 1)
    work.may_end.clear()
    indexer.versions["p-1"] = 2
    old = judged.of("nodes", "p-1", work)
    assert old.value == 1 and old.age >= 0
    work.may_end.set()
    settled(judged, 2)
    assert judged.of("nodes", "p-1", work).value == 2


def test_what_took_long_is_not_worked_out_again_at_once(indexer: Indexer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shakedown.live.judged.PATIENCE", 1e9)
    judged, work = Judged(indexer, wait_s=60.0), Work()
    work.may_end.set()
    assert judged.of("nodes", "p-1", work).value == 1
    indexer.versions["p-1"] = 2
    assert judged.of("nodes", "p-1", work).value == 1


def test_who_got_something_older_is_told_when_it_can_be_worked_out_again(
    indexer: Indexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing more happens in the campaign: without this word the page would keep the older result."""
    later: list[tuple[float, Any]] = []

    class Timer:
        def __init__(self, seconds: float, work: Any, words: tuple[Any, ...]) -> None:
            later.append((seconds, lambda: work(*words)))

        daemon, start = False, staticmethod(lambda: None)

    judged, work = Judged(indexer, wait_s=60.0), Work()
    work.may_end.set()
    judged.of("nodes", "p-1", work)
    indexer.versions["p-1"] = 2
    monkeypatch.setattr("shakedown.live.judged.PATIENCE", 1e9)
    monkeypatch.setattr("shakedown.live.judged.threading.Timer", Timer)
    for _ in range(3):
        assert judged.of("nodes", "p-1", work).value == 1
    assert len(later) == 1 and later[0][0] > 0 and "p-1" not in judged.told
    later[0][1]()
    assert judged.told["p-1"] == 1
    judged.of("nodes", "p-1", work)
    assert len(later) == 2


def test_what_has_time_in_it_is_worked_out_again_though_nothing_happened(
    indexer: Indexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged, work = Judged(indexer, wait_s=None), Work()
    work.may_end.set()
    first = judged.of("status", "p-1", work, good_s=3600.0)
    assert (judged.of("status", "p-1", work, good_s=3600.0), first.value) == (first, 1)
    again = judged.of("status", "p-1", work, good_s=0.0)
    assert again.value == 2 and again.at >= first.at


def test_what_cannot_be_worked_out_is_raised_and_tried_again(indexer: Indexer) -> None:
    judged = Judged(indexer, wait_s=None)
    answers: list[Any] = [RecordError("it is torn"), 7]

    def work() -> Any:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(RecordError, match="it is torn"):
        judged.of("nodes", "p-1", work)
    assert judged.of("nodes", "p-1", work).value == 7
