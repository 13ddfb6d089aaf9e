"""What is kept between two looks at a campaign: the answers are those of the whole log, and nothing torn is believed."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import BinaryIO

import msgspec
import pytest
from finished_campaign import _run as run_command
from finished_campaign import finished
from once import made_once

from shakedown.engine.state.snapshot import freeze_state
from shakedown.events.chain import damage_of
from shakedown.events.kept_folds import code_signature
from shakedown.events.looks import BELIEVED_S, SETTLED_S, Looks, kept_in
from shakedown.events.reader import read_events
from shakedown.events.set_back import set_back_of
from shakedown.metrics.rows.frozen_rows import selected
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.queries import failures, folds, nodes
from shakedown.queries.folds import Folds
from shakedown.queries.status import live_runs, status
from shakedown.queries.why import why

__all__ = ["finished"]
FIXTURE = Path(__file__).parent.parent / "events/fixtures/v1"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return kept_in()


@pytest.fixture(scope="session")
def told(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign with a plan that was amended, verdicts that were judged again, a ruling, and a seal."""

    def make(place: Path) -> None:
        site = Path(shutil.copytree(finished, place / "site", symlinks=True))
        test = site / "tests/ok.yaml"
        test.write_text(test.read_text().replace('"fine"', '"fin"'))
        for words in (
            ("amend", "p", "--campaign", "p-1", "--by", "A", "--because", "less is asked"),
            ("resume", "p-1", "-q"),
            ("rule", "r000002", "--as", "site", "--by", "A", "--because", "power"),
            ("rejudge", "--by", "A", "--because", "another look"),
            ("seal", "--by", "A. Example"),
        ):
            done = run_command(site, *words)
            assert done.returncode in (0, 1), done.stdout + done.stderr

    return made_once(tmp_path_factory, "told", make) / "site/campaigns/p-1"


@pytest.fixture
def campaign(told: Path, tmp_path: Path) -> Layout:
    return Layout(Path(shutil.copytree(told, tmp_path / "site/campaigns/p-1", symlinks=True)))


def later() -> float:
    return time.time() + 2 * SETTLED_S


def answers(layout: Layout, mine: Folds) -> bytes:
    """What the commands print, but for what depends on the moment."""
    rows = mine.checked(lambda record: selected(record, lambda key: True))
    record = mine.record()
    data = [status(layout, mine), failures.seen(layout, "", mine), rows, record.open, record.seq]
    data += [live_runs(layout, record, mine), nodes.nodes_of(layout, mine)]
    return msgspec.json.format(msgspec.json.encode(data))


@dataclass
class Growing:
    """A log that is cut back to its first events, and grows again as a conductor writes it."""

    layout: Layout

    def __post_init__(self) -> None:
        self.whole = {path: path.read_bytes() for path in sorted(self.layout.log.glob("*.jsonl"))}
        self.lines = sum(data.count(b"\n") for data in self.whole.values())

    def cut(self, left: int) -> None:
        """Only the first lines, headers counted."""
        for path, data in self.whole.items():
            lines = data.splitlines(keepends=True)
            mine, left = lines[: max(left, 0)], left - len(lines)
            if mine:
                path.write_bytes(b"".join(mine))
            else:
                path.unlink(missing_ok=True)


def test_answers_from_what_is_kept_are_those_of_the_whole_log(campaign: Layout) -> None:
    log = Growing(campaign)
    steps = sorted({3, *range(4, log.lines, max(1, log.lines // 5)), log.lines})
    for before, after in pairwise(steps):
        log.cut(before)
        Folds(campaign, Looks(campaign, later), worth=1).whole_record()
        Folds(campaign, Looks(campaign, later), worth=1).state()
        for left in (before, after):
            log.cut(left)
            plain, kept = Folds(campaign), Folds(campaign, Looks(campaign, later), worth=10**6)
            assert answers(campaign, kept) == answers(campaign, plain), (before, left)
            assert kept.trouble == []
            whole = fold_runs(read_events(campaign.log))
            kept_record = Folds(campaign, Looks(campaign, later), worth=10**6).whole_record()
            assert kept_record == whole and repr(kept_record) == repr(whole)
    kinds = {event.event for event in read_events(campaign.log)}
    assert {"amended", "ruled", "rejudged", "sealed", "verdict"} <= kinds


def test_nothing_is_folded_twice_that_is_kept(campaign: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    first = answers(campaign, Folds(campaign, Looks(campaign, later), worth=1))
    for place, name in ((folds, "fold_one"), (Record, "add"), (nodes, "examine_nodes")):
        monkeypatch.setattr(place, name, lambda *_words, **_more: pytest.fail("it is folded again"))
    assert answers(campaign, Folds(campaign, Looks(campaign, later), worth=1)) == first


@pytest.mark.parametrize("subject", ["r000001", "case"])
def test_why_folds_nothing_that_is_kept_and_says_the_same(
    campaign: Layout, monkeypatch: pytest.MonkeyPatch, subject: str
) -> None:
    subject = Folds(campaign).whole_record().runs[0].case if subject == "case" else subject
    plain = why(campaign, subject)
    assert why(campaign, subject, Folds(campaign, Looks(campaign, later), worth=1)) == plain
    for place, name in ((folds, "fold_one"), (Record, "add")):
        monkeypatch.setattr(place, name, lambda *_words, **_more: pytest.fail("it is folded again"))
    assert why(campaign, subject, Folds(campaign, Looks(campaign, later), worth=1)) == plain


@pytest.mark.parametrize("name", ["record", "state", "nodes", "looks"])
def test_kept_bytes_that_changed_are_never_believed(campaign: Layout, cache: Path, name: str) -> None:
    first, whole = answers(campaign, Folds(campaign, Looks(campaign, later), worth=1)), Folds(campaign).whole_record()
    (path,) = cache.glob(f"*/{name}")
    kept = path.read_bytes()
    for place in range(0, len(kept), len(kept) // 8):
        path.write_bytes(kept[:place] + bytes([kept[place] ^ 0x10]) + kept[place + 1 :])
        mine = Folds(campaign, Looks(campaign, later), worth=1)
        assert answers(campaign, mine) == first and mine.whole_record() == whole, place
        if name != "looks":
            assert len(mine.trouble) == 1 and "is not believed: it is not what was written" in mine.trouble[0], place
            assert path.read_bytes() == kept, "it is made again"
    path.unlink()
    mine = Folds(campaign, Looks(campaign, later), worth=1)
    assert answers(campaign, mine) == first and mine.trouble == []


def test_what_is_kept_of_another_log_is_not_believed(campaign: Layout) -> None:
    log = Growing(campaign)
    Folds(campaign, Looks(campaign, later), worth=1).whole_record()
    path, data = next((path, data) for path, data in log.whole.items() if b'"verdict":"failed"' in data)
    path.write_bytes(data.replace(b'"exit":3', b'"exit":4', 1))
    mine = Folds(campaign, Looks(campaign, later), worth=1)
    assert answers(campaign, mine) == answers(campaign, Folds(campaign))
    if path != max(log.whole):  # a segment that is sealed: the chain says it, and a damaged record is read alone
        assert damage_of(campaign, Looks(campaign, later)) is not None


def test_what_other_code_kept_is_folded_again(campaign: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    Folds(campaign, Looks(campaign, later), worth=1).whole_record()
    monkeypatch.setattr("shakedown.events.kept_folds.code_signature", lambda: "other")
    added: list[int] = []
    add = Record.add

    def counted(record: Record, event: Event) -> None:
        added.append(event.seq)
        add(record, event)

    monkeypatch.setattr(Record, "add", counted)
    mine = Folds(campaign, Looks(campaign, later))
    assert mine.record().seq == len(added) and mine.trouble == []


BESIDE = {
    "Python": lambda patch, folder: patch.setattr(sys, "version", sys.version.replace("3.", "4.", 1)),
    "interpreter": lambda patch, folder: patch.setattr(sys.implementation, "name", "other"),
    "byte order": lambda patch, folder: patch.setattr(sys, "byteorder", "other"),
    "machine": lambda patch, folder: patch.setattr(os, "uname", lambda: SimpleNamespace(machine="other")),
    "library": lambda patch, folder: (folder / "msgspec-1.0.dist-info").rename(folder / "msgspec-1.1.dist-info"),
    "package": lambda patch, folder: (folder / "measures_of_ours-2.egg-info").mkdir(),
}


@pytest.mark.parametrize("change", BESIDE.values(), ids=BESIDE)
def test_what_the_same_code_kept_under_another_python_or_library_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[pytest.MonkeyPatch, Path], object]
) -> None:
    folder = tmp_path / "site-packages"
    (folder / "msgspec-1.0.dist-info").mkdir(parents=True)
    monkeypatch.syspath_prepend(folder)
    before = code_signature.__wrapped__()
    assert code_signature.__wrapped__() == before
    with monkeypatch.context() as patch:
        change(patch, folder)
        assert code_signature.__wrapped__() != before


def test_a_log_of_an_older_version_is_kept_as_well(tmp_path: Path) -> None:
    layout = Layout(Path(shutil.copytree(FIXTURE, tmp_path / "old")))
    whole = fold_runs(read_events(layout.log))
    for _ in range(2):
        assert Folds(layout, Looks(layout, later), worth=1).whole_record() == whole


def test_the_state_that_is_kept_is_the_one_of_the_log(campaign: Layout) -> None:
    states = [Folds(campaign, Looks(campaign, later), worth=1).state()[0] for _ in range(2)]
    assert freeze_state(states[0]) == freeze_state(states[1]) and states[0] == states[1]


# ---- what is looked at again ---------------------------------------------------------------------------------------------


def reads(layout: Layout, monkeypatch: pytest.MonkeyPatch, clock: Callable[[], float]) -> int:
    """How many segments a look reads to their last byte."""
    from shakedown.events import chain

    counted: list[int] = []
    hashed = chain._hashed

    def count(file: BinaryIO, end: int) -> tuple[int, str, dict[str, None], int]:
        counted.append(end)
        return hashed(file, end)

    with monkeypatch.context() as patch:
        patch.setattr(chain, "_hashed", count)
        assert damage_of(layout, Looks(layout, clock)) is None
    return len(counted)


def test_a_segment_that_did_not_change_is_read_once_a_day(campaign: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    sealed = len(list(campaign.log.glob("*.jsonl"))) - 1
    assert sealed > 1
    assert reads(campaign, monkeypatch, time.time) == reads(campaign, monkeypatch, time.time) == sealed, "it is too new"
    assert [reads(campaign, monkeypatch, later) for _ in range(2)] == [sealed, 0]
    assert reads(campaign, monkeypatch, lambda: later() + BELIEVED_S) == sealed
    os.utime(campaign.log / "000001.jsonl")
    assert reads(campaign, monkeypatch, lambda: later() + BELIEVED_S) == 1


def every_file(layout: Layout) -> Iterator[Path]:
    yield from sorted(layout.log.glob("*.jsonl"))
    yield from sorted(layout.documents.glob("*.json"))
    yield from sorted(layout.root.glob("seals/*"))
    yield layout.lease / "log-end"


def test_damage_behind_a_look_is_told_in_the_words_of_a_whole_look(campaign: Layout) -> None:
    assert damage_of(campaign, Looks(campaign, later)) is None
    for path in every_file(campaign):
        data, stat = path.read_bytes(), path.stat()
        if not data:
            continue
        path.write_bytes(data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :])
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # as somebody does who hides it
        found = damage_of(campaign, Looks(campaign, later))
        assert found == damage_of(campaign), path
        path.write_bytes(data)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert damage_of(campaign, Looks(campaign, later)) is None


def test_a_campaign_that_is_set_back_is_told_from_what_is_remembered_too(
    told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Path(shutil.copytree(told.parent.parent, tmp_path / "other", symlinks=True))
    layout = Layout(site / "campaigns/p-1")
    for _ in range(2):
        assert set_back_of(layout, Looks(layout, later)) == set_back_of(layout) == ""
    Growing(layout).cut(20)
    assert "was set back to an older copy" in set_back_of(layout, Looks(layout, later)) == set_back_of(layout)
