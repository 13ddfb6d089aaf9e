"""Campaign directories: made once, named in a row, found by id, by path or as the newest."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from shakedown.events.campaigns import (
    REHEARSALS,
    create_campaign,
    find_campaign,
    new_identifier,
    read_document,
    write_document,
)
from shakedown.events.lease import Lease as Holding
from shakedown.events.opening import open_log
from shakedown.model.errors import RecordError, UsageError, there_are
from shakedown.model.events import Event
from shakedown.model.frozen import digest
from shakedown.model.layout import Layout


class Lease:
    epoch = 1

    def check(self) -> None: ...


@pytest.fixture
def site(tmp_path: Path) -> Path:
    place = tmp_path / "site"
    place.mkdir()
    (place / "site.yaml").write_text("site: here\n")
    return place


def started(site: Path, identifier: str, when: float) -> Path:
    layout = create_campaign(site / "campaigns", identifier, b"{}")
    writer, _ = open_log(layout.log, Lease())
    writer.append([Event("campaign_start", seq=1, time=when)])
    writer.close()
    return layout.root


def test_ids_are_numbered_and_never_used_twice(site: Path) -> None:
    assert [new_identifier(site, "laptop") for _ in range(3)] == ["laptop-1", "laptop-2", "laptop-3"]
    assert new_identifier(site, "laptop-3") == "laptop-3-1"
    (site / "campaigns" / "laptop-9").mkdir()
    (site / "campaigns" / "laptop-1").rmdir()
    assert new_identifier(site, "laptop") == "laptop-10"


def test_campaigns_and_rehearsals_share_their_names(site: Path) -> None:
    """So that ``status laptop-2`` is one thing."""
    assert new_identifier(site, "laptop") == "laptop-1"
    assert new_identifier(site, "laptop", REHEARSALS) == "laptop-2"
    assert new_identifier(site, "laptop") == "laptop-3"
    for folder, other, kind in (("campaigns", REHEARSALS, "a campaign"), (REHEARSALS, "campaigns", "a rehearsal")):
        create_campaign(site / folder, f"mine-in-{folder}", b"{}")
        with pytest.raises(UsageError, match=f"there is {kind} of the name mine-in-{folder}: "):
            create_campaign(site / other, f"mine-in-{folder}", b"{}")
        assert not (site / other / f"mine-in-{folder}").exists()


def test_a_name_that_both_have_since_an_older_version_is_asked_about(site: Path) -> None:
    for folder in ("campaigns", REHEARSALS):
        (site / folder / "old-1/log").mkdir(parents=True)
    with pytest.raises(UsageError, match="old-1 is the name of a campaign and of a rehearsal") as error:
        find_campaign(site, "old-1")
    for folder in ("campaigns", REHEARSALS):
        assert str(site / folder / "old-1") in (error.value.hint or "")
        assert find_campaign(site, str(site / folder / "old-1")) == site / folder / "old-1"


def test_a_campaign_has_its_directories_and_its_document(site: Path) -> None:
    identifier = new_identifier(site, "laptop")
    layout = create_campaign(site / "campaigns", identifier, b'{"plan":"laptop"}')
    assert layout.root == site / "campaigns" / "laptop-1"
    made = {path.name for path in layout.root.iterdir()}
    assert made == {"log", "documents", "packs", "outputs", "claims", "work", "builds", "inbox", "lease"}
    assert read_document(layout, digest(b'{"plan":"laptop"}')) == b'{"plan":"laptop"}'


def test_an_existing_campaign_is_not_touched(site: Path) -> None:
    create_campaign(site / "campaigns", "mine", b"one")
    with pytest.raises(UsageError) as error:
        create_campaign(site / "campaigns", "mine", b"two")
    assert error.value.message == f"{site}/campaigns/mine exists already"


@pytest.mark.parametrize("name", ["", "../up", "a/b", "-x", ".hidden", "a b", "x" * 101, "ä", "a\n"])
def test_a_name_that_makes_no_directory_is_refused(site: Path, name: str) -> None:
    with pytest.raises(UsageError) as error:
        create_campaign(site / "campaigns", name, b"")
    assert error.value.message == f"{name!r} is no name for a campaign"


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "campaigns").write_text("")
    with pytest.raises(RecordError, match=f"{tmp_path}/campaigns cannot be written: "):
        new_identifier(tmp_path, "laptop")
    with pytest.raises(RecordError, match=f"{tmp_path}/campaigns/x cannot be written: "):
        create_campaign(tmp_path / "campaigns", "x", b"")


# ---- documents -------------------------------------------------------------------------------------------------------


def test_a_frozen_plan_that_was_edited_is_refused(site: Path) -> None:
    layout = create_campaign(site / "campaigns", "mine", b"{}")
    name = write_document(layout, b'{"must":">= 95%"}')
    assert read_document(layout, name) == b'{"must":">= 95%"}'
    layout.document(name).write_bytes(b'{"must":">= 9%"}')
    with pytest.raises(RecordError) as error:
        read_document(layout, name)
    assert error.value.message == (
        f"the record is damaged: the frozen plan {layout.document(name)} was changed after it was frozen:"
        " its bytes no longer match its name"
    )


def test_a_missing_frozen_plan_is_said(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"the frozen plan .*ab\.json cannot be read: No such file or directory"):
        read_document(Layout(tmp_path), "ab")


# ---- finding ---------------------------------------------------------------------------------------------------------


def test_a_campaign_is_found_by_id_by_path_and_as_the_newest(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    second = started(site, "laptop-2", 2000.0)
    first = started(site, "laptop-1", 1000.0)
    create_campaign(site / "campaigns", "laptop-3", b"{}")
    assert find_campaign(site, "laptop-1") == first
    assert find_campaign(None, str(first)) == first
    assert find_campaign(site, None) == second
    inside = site / "tests" / "deep"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert find_campaign(None, None) == second
    assert find_campaign(None, "laptop-1") == first
    monkeypatch.chdir(first.parent)
    assert find_campaign(None, "laptop-2/").resolve() == second


def test_one_that_a_conductor_is_about_to_begin_is_the_newest(site: Path) -> None:
    earlier = started(site, "laptop-1", 1000.0)
    begun = create_campaign(site / "campaigns", "laptop-2", b"{}")
    assert find_campaign(site, None) == earlier
    with Holding.acquire(begun):
        assert find_campaign(site, None) == begun.root
    assert find_campaign(site, None) == earlier


def test_a_damaged_campaign_is_the_newest_only_where_there_is_no_other(site: Path) -> None:
    damaged = started(site, "laptop-2", 2000.0)
    path = damaged / "log" / "000001.jsonl"
    path.write_bytes(b"x" + path.read_bytes()[1:])
    assert find_campaign(site, None) == damaged
    other = started(site, "laptop-1", 1000.0)
    assert find_campaign(site, None) == other


def test_what_is_not_found_is_said_with_what_there_is(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError) as error:
        find_campaign(site, None)
    assert str(error.value) == f"no campaign was started in {site} yet\nhint: start one: shakedown run PLAN"
    with pytest.raises(UsageError) as error:
        find_campaign(site, "laptop-1")
    assert str(error.value) == f"there is no campaign 'laptop-1' in {site}/campaigns\nhint: there is none yet"
    started(site, "laptop-1", 1000.0)
    with pytest.raises(UsageError) as error:
        find_campaign(site, "latpop-1")
    assert error.value.hint == "did you mean 'laptop-1'?"
    with pytest.raises(UsageError) as error:
        find_campaign(site, "zzz")
    assert error.value.hint == "there are laptop-1"
    with pytest.raises(UsageError) as error:
        find_campaign(None, str(site))
    assert error.value.message == f"{site} is no campaign: it has no log"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"which campaign\? No directory above here holds site\.yaml"):
        find_campaign(None, None)
    with pytest.raises(UsageError, match=r"there is no campaign 'x': no directory above here holds site\.yaml"):
        find_campaign(None, "x")


# ---- killed while it is made -----------------------------------------------------------------------------------------


def test_a_kill_while_it_is_made_leaves_nothing_that_looks_like_one(site: Path) -> None:
    """Killed at each call to the system that the interpreter tells of, one after the other, until one comes through."""
    for place in range(1, 200):
        root = site / f"try-{place}" / "campaigns"
        child = os.fork()
        if child == 0:
            seen = 0

            def count(event: str, arguments: tuple[object, ...], place: int = place) -> None:
                nonlocal seen
                seen += event.startswith(("os.", "open", "shutil."))
                if seen == place:
                    os._exit(9)

            sys.addaudithook(count)
            create_campaign(root, "mine", b"{}")
            os._exit(0)
        _, status = os.waitpid(child, 0)
        made = (root / "mine").exists()
        if made:
            layout = Layout(root / "mine")
            assert read_document(layout, digest(b"{}")) == b"{}"
            assert all((layout.root / name).is_dir() for name in ("log", "lease", "claims", "inbox", "packs"))
            assert find_campaign(root.parent, "mine") == root / "mine"
        else:
            with pytest.raises(UsageError, match="there is no campaign 'mine'"):
                find_campaign(root.parent, "mine")
            with pytest.raises(UsageError, match="no campaign was started"):
                find_campaign(root.parent, None)
        if os.waitstatus_to_exitcode(status) == 0:
            assert made and place > 10
            return
    raise AssertionError("it never came to its end")


def test_an_empty_directory_gives_way_and_what_is_in_one_does_not(site: Path) -> None:
    folder = site / "campaigns"
    (folder / "p-1").mkdir(parents=True)
    assert create_campaign(folder, "p-1", b"{}").log.is_dir()
    assert sorted(path.name for path in folder.iterdir()) == ["p-1"], "no draft is left"
    with pytest.raises(UsageError, match="p-1 exists already"):
        create_campaign(folder, "p-1", b"{}")
    assert sorted(path.name for path in folder.iterdir()) == ["p-1"]


def test_a_file_of_the_name_of_a_campaign_is_named(site: Path) -> None:
    (site / "campaigns").mkdir(parents=True, exist_ok=True)
    (site / "campaigns/p-1").write_text("a note")
    with pytest.raises(UsageError, match="campaigns/p-1 exists already and is not a directory"):
        create_campaign(site / "campaigns", "p-1", b"{}")
    assert (site / "campaigns/p-1").read_text() == "a note"


def test_a_campaign_whose_log_is_gone_is_found_all_the_same(site: Path) -> None:
    layout = create_campaign(site / "campaigns", "p-1", b"{}")
    layout.log.rmdir()
    assert find_campaign(site, "p-1") == layout.root


def test_a_hint_that_lists_some_says_how_many_more_there_are(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"campaigns/uf{number:02d}/log").mkdir(parents=True)
    (tmp_path / "site.yaml").touch()
    with pytest.raises(UsageError) as error:
        find_campaign(tmp_path, "zzz")
    assert error.value.hint == "there are uf15, uf16, uf17, uf18, uf19 and 15 more"
    assert there_are([]) == "there is none"
    assert there_are(["a", "b"], says="its tests are:") == "its tests are: a, b"
