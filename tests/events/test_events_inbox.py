"""The inbox: what operators ask for is heard until it is acknowledged; junk is said and put aside; nobody can pose as another."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from shakedown.events import inbox as inboxes
from shakedown.events.identity import user_name
from shakedown.events.inbox import LIMIT_BYTES, FileInbox, post
from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout
from shakedown.model.ports import Command, Inbox

ME = user_name(os.getuid())


def test_a_command_is_heard_until_it_is_acknowledged(layout: Layout) -> None:
    inbox: Inbox = FileInbox(layout)
    assert inbox.poll() == []
    request = post(layout, "cancel", {"runs": ["r000001"]}, "wrong input")
    said = (layout.inbox / f"{request}.json").stat().st_ctime
    expected = [Command(request, "cancel", ME, {"runs": ["r000001"]}, "wrong input", said)]
    assert inbox.poll() == expected
    assert inbox.poll() == expected
    assert FileInbox(layout).poll() == expected
    inbox.acknowledge([request])
    assert inbox.poll() == []
    assert list(layout.inbox.iterdir()) == []


def test_commands_come_in_the_order_they_were_asked(layout: Layout) -> None:
    requests = [post(layout, "stop", reason=str(n)) for n in range(5)]
    assert [command.request for command in FileInbox(layout).poll()] == requests


def test_a_new_driver_acknowledges_what_the_last_one_had_logged(layout: Layout) -> None:
    request = post(layout, "stop")
    FileInbox(layout).acknowledge([request, "never-heard-of"])
    assert FileInbox(layout).poll() == []


def test_a_file_that_is_still_being_written_is_not_looked_at(layout: Layout) -> None:
    (layout.inbox / ".draft").write_bytes(b'{"what":')
    assert FileInbox(layout).poll() == []


def test_who_asked_is_the_owner_of_the_file_not_what_it_says(layout: Layout) -> None:
    path = layout.inbox / "one.json"
    path.write_bytes(b'{"what":"stop","who":"root","value":{"who":"root"}}')
    if os.getuid() == 0:
        os.chown(path, 54321, -1)
    (command,) = FileInbox(layout).poll()
    assert command.who == ("uid 54321" if os.getuid() == 0 else ME)


def test_when_it_was_asked_is_when_it_came_there_whenever_it_is_heard(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An hour later, by a conductor that was stopped meanwhile, it is the same moment."""
    inbox = FileInbox(layout)
    inbox.poll()
    path = layout.inbox / f"{post(layout, 'stop')}.json"
    came, now = path.stat().st_ctime, time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3600.0)
    heard = [inbox.poll(), inbox.poll(), FileInbox(layout).poll()]
    assert [command.said for (command,) in heard] == [pytest.approx(came, abs=0.1)] * 3


def test_nobody_says_by_a_file_that_it_was_asked_earlier(layout: Layout) -> None:
    """Neither its name nor its time of change, which its owner may set, nor what it says."""
    began = time.time()
    path = layout.inbox / "0000000001000000000-abcdef.json"
    path.write_bytes(b'{"what":"stop","value":{"asked":1.0,"said":1.0}}')
    os.utime(path, (1.0, 1.0))
    (command,) = FileInbox(layout).poll()
    assert command.said is not None and began - 0.1 < command.said <= time.time()


def test_what_was_not_there_at_the_look_before_was_not_asked_before_that(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a file system says of a file: a host with another clock, or one that keeps old times when a file is renamed."""
    real = inboxes._read
    monkeypatch.setattr(inboxes, "_read", lambda path: (*real(path)[:2], 5.0))
    inbox, looked = FileInbox(layout), time.time()
    inbox.poll()
    post(layout, "stop")
    heard = [command.said for _ in range(2) for command in inbox.poll()]
    assert len(heard) == 2 and all(said is not None and looked <= said <= time.time() for said in heard)
    assert [command.said for command in FileInbox(layout).poll()] == [
        5.0
    ]  # nobody looked: there is nothing else to go by
    monkeypatch.setattr(inboxes, "_read", lambda path: (*real(path)[:2], 1e12))
    assert all((command.said or 0.0) <= time.time() for command in inbox.poll())


def test_a_word_that_is_no_command_is_not_posted(layout: Layout) -> None:
    with pytest.raises(UsageError) as error:
        post(layout, "cancle")
    assert str(error.value) == "'cancle' is no command\nhint: did you mean 'cancel'?"
    with pytest.raises(UsageError, match="is no campaign: it has no inbox"):
        post(Layout(layout.root / "elsewhere"), "stop")
    with pytest.raises(UsageError, match="is too long"):
        post(layout, "cancel", {"runs": ["r000001"] * 10000})
    assert list(layout.inbox.iterdir()) == []


# ---- junk ------------------------------------------------------------------------------------------------------------


def link_to_passwords(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def another_name(path: Path) -> None:
    (path.parent.parent / "original").write_bytes(b'{"what":"stop"}')
    os.link(path.parent.parent / "original", path)


JUNK: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda path: path.write_bytes(b""), "it is no command: Input data was truncated"),
    "no JSON": (lambda path: path.write_bytes(b"please stop"), "it is no command: JSON is malformed"),
    "not UTF-8": (lambda path: path.write_bytes(b'{"what":"\xff"}'), "it is no command: "),
    "no object": (lambda path: path.write_bytes(b"[]"), "it is no command: Expected `object`, got `array`"),
    "no word": (lambda path: path.write_bytes(b"{}"), "it is no command: Object missing required field `what`"),
    "odd value": (lambda path: path.write_bytes(b'{"what":"stop","value":3}'), "it is no command: Expected `object`"),
    "unknown": (
        lambda path: path.write_bytes(b'{"what":"dance"}'),
        "'dance' is no command; there are again, agree, amend",
    ),
    "deep": (lambda path: path.write_bytes(b'{"what":"stop","value":{"a":' + b"[" * 30000), "it is no command: "),
    "huge": (
        lambda path: path.write_bytes(b" " * (LIMIT_BYTES + 1)),
        "it is 65537 bytes long; at most 65536 are taken",
    ),
    "directory": (lambda path: path.mkdir(), "it is no plain file"),
    "pipe": (lambda path: os.mkfifo(path), "it is no plain file"),
    "link": (link_to_passwords, "it cannot be read: Too many levels of symbolic links"),
    "second name": (another_name, "it has a second name elsewhere, so its owner may not have put it here"),
}


@pytest.mark.parametrize("kind", JUNK)
def test_junk_is_refused_with_a_reason_and_put_aside(layout: Layout, kind: str) -> None:
    make, why = JUNK[kind]
    path = layout.inbox / "junk.json"
    make(path)
    good = post(layout, "stop")
    inbox = FileInbox(layout)
    for _ in range(2):
        commands = {command.what: command for command in inbox.poll()}
        assert set(commands) == {"refused", "stop"}
    refused = commands["refused"]
    assert (refused.request, refused.who, refused.value) == ("junk", ME, {"file": "junk.json"})
    assert refused.reason.startswith(f"junk.json: {why}")
    inbox.acknowledge([refused.request, good])
    assert inbox.poll() == []
    assert os.path.lexists(layout.inbox / "refused" / "junk.json")


def test_files_of_other_kinds_and_odd_names_are_said_printably(layout: Layout) -> None:
    (layout.inbox / "notes.txt").write_bytes(b"{}")
    Path(os.fsdecode(bytes(layout.inbox) + b"/\x1b[31m\xff.json")).write_bytes(b"{}")
    inbox = FileInbox(layout)
    commands = inbox.poll()
    assert [command.value["file"] for command in commands] == ["\\x1b[31m\\udcff.json", "notes.txt"]
    assert commands[1].reason == "notes.txt: it is no command: its name does not end in .json"
    inbox.acknowledge([command.request for command in commands])
    assert inbox.poll() == []


@pytest.mark.parametrize("other", ["{request}", "long", "escaped"])
def test_a_file_beside_a_command_is_told_once_and_the_command_stays_heard_once(layout: Layout, other: str) -> None:
    """Their names differ in the ending alone, in what is too long to be shown, or look alike where they are shown."""
    names = {"long": ["n" * 210 + "a", "n" * 210 + "b"], "escaped": ["\x1b.json", "\\x1b.json"]}
    mine = names.get(other) or [(request := post(layout, "stop")), f"{request}.json"]
    for name in mine:
        if not (layout.inbox / name).exists():
            (layout.inbox / name).write_text("{}")
    inbox = FileInbox(layout)
    commands = inbox.poll()
    assert len({command.request for command in commands}) == 2
    inbox.acknowledge([commands[0].request])
    assert [command.request for command in inbox.poll()] == [commands[1].request]
    inbox.acknowledge([commands[1].request])
    assert inbox.poll() == []
    assert {path.name for path in layout.inbox.iterdir()} == {"refused"}


def test_junk_of_the_same_name_is_kept_beside_the_older(layout: Layout) -> None:
    inbox = FileInbox(layout)
    for content in ("one", "two"):
        (layout.inbox / "junk.json").write_text(content)
        inbox.acknowledge([command.request for command in inbox.poll()])
    kept = sorted((layout.inbox / "refused").iterdir())
    assert [path.name for path in kept] == ["junk.json", "junk.json~2"]
    assert [path.read_text() for path in kept] == ["one", "two"]


def test_a_file_that_cannot_be_removed_is_heard_only_once(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    request = post(layout, "stop")
    inbox = FileInbox(layout)
    inbox.poll()

    def fail(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr(Path, "unlink", fail)
    inbox.acknowledge([request])
    assert inbox.poll() == []


def test_a_mended_file_is_a_command_again(layout: Layout) -> None:
    path = layout.inbox / "mine.json"
    path.write_bytes(b"stop")
    inbox = FileInbox(layout)
    assert [command.what for command in inbox.poll()] == ["refused"]
    path.write_bytes(b'{"what":"stop"}')
    assert [command.what for command in inbox.poll()] == ["stop"]
    inbox.acknowledge(["mine"])
    assert not (layout.inbox / "refused").exists()


def test_request_ids_are_plain_words(layout: Layout) -> None:
    assert re.fullmatch(r"\d{19}-[0-9a-f]{6}", post(layout, "stop"))
    standing = ("pause", "continue", "cap", "budget", "exclude", "include", "drain", "clock", "again")
    others = (
        "cancel",
        "stop",
        "amend",
        "attest",
        "rule",
        "change",
        "waive",
        "agree",
        "withdraw",
        "note",
        "fingerprint",
        "drill",
    )
    assert sorted(others + standing) == list(inboxes.KNOWN)
