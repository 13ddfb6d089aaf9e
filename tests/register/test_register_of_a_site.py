"""Campaigns and the register of their site vouch for each other: what is gone, copied, renamed, cut or replaced is told."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from registered import facts, judging_page, new

from shakedown.audit.register_check import own_entry, verify_register
from shakedown.conductor.record.registering import ready
from shakedown.events.campaigns import create_campaign, new_identifier
from shakedown.events.entered import read_entry
from shakedown.events.reader import first_event
from shakedown.events.register import read_register, register_path
from shakedown.model.errors import RecordError, UsageError
from shakedown.model.layout import Layout

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_each_fact_has_a_line(site: Path) -> None:
    assert facts(site) == [
        ("opened", "", ""),
        ("begun", "p-1", ""),
        ("ended", "p-1", "rejected"),
        ("sealed", "p-1", "rejected"),
        ("begun", "p-2", ""),
        ("ended", "p-2", "accepted"),
    ]


def test_the_first_event_names_the_line_by_which_it_was_entered(site: Path) -> None:
    register = read_register(site)
    for name, place in (("p-1", 1), ("p-2", 4)):
        first = first_event(site / f"campaigns/{name}/log")
        assert first is not None
        said = first.value["register"]
        assert (said["register"], said["entry"], said["sha256"]) == (register.name, place + 1, register.sums[place])
    assert said["words"] == (
        "second of two campaigns of this plan (of 2 of the site, entry 5 of its register); earlier: 1 rejected"
    )


def test_what_is_as_it_was_is_whole(site: Path, people: Run) -> None:
    done = people(site, "verify", "--register")
    name = read_register(site).name
    assert done.returncode == 0, done.stdout
    assert done.stdout == (
        f"the register {name} is whole: 6 entries in a chain\n2 campaigns in the register: 1 rejected, 1 accepted\n"
    )
    checked, unchecked, wrong = own_entry(Layout(site / "campaigns/p-2"))
    assert (checked, unchecked, wrong) == (
        [f"register: entry 5 of {name}, as its first event and entry.json say"],
        [],
        [],
    )


def _gone(path: Path) -> None:
    path.unlink()


def _junk(path: Path) -> None:
    path.write_bytes(b"\xff junk")


def _no_object(path: Path) -> None:
    path.write_text("[]")


def _another_entry(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"entry": 3}))


def _other_words(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"words": "the only campaign of this plan"}))


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link(path: Path) -> None:
    path.rename(path.parent.parent / "elsewhere.json")
    path.symlink_to(path.parent.parent / "elsewhere.json")


@pytest.mark.parametrize(
    "spoil", [_gone, _junk, _no_object, _another_entry, _other_words, _directory, _link], ids=lambda it: it.__name__
)
def test_an_entry_that_is_not_what_was_written_is_damage_and_is_not_sealed(
    site: Path, people: Run, spoil: Callable[[Path], None]
) -> None:
    """Its facts stand in the first event."""
    path = site / "campaigns/p-2/entry.json"
    spoil(path)
    done = people(site, "verify", "p-2")
    said = " ".join(done.stdout.split())
    assert done.returncode == 1, said
    assert said.startswith("p-2 is DAMAGED: entry.json: ")
    assert f"event 1 says what it held: campaign p-2, entry 5 of {read_register(site).name}" in said
    assert people(site, "seal", "p-2", "--by", "Bo").returncode == 3
    assert not list((site / "campaigns/p-2").glob("seals/*.json"))


def test_an_entry_with_another_identity_than_the_line_is_told(site: Path, people: Run) -> None:
    path = site / "campaigns/p-2/entry.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"identity": "0123456789abcdef"}))
    done = people(site, "verify", "p-2")
    assert done.returncode == 1
    assert "the identity in its entry.json is not that of entry 5 of the register" in " ".join(done.stdout.split())


def test_deleted_and_run_again_is_on_both_pages(site: Path, people: Run, drive: Run) -> None:
    """The example of docs/concepts/judging.md."""
    shutil.rmtree(site / "campaigns/p-1")
    assert drive(site, "run", "p", "-q").returncode == 0
    assert not (site / "campaigns/p-1").exists()
    words = (
        "third of three campaigns of this plan (of 3 of the site, entry 7 of its register); "
        "earlier: 1 removed after its seal (rejected), 1 accepted"
    )
    assert people(site, "report", "p-3", "--no-pdf").returncode == 0
    page = (site / "campaigns/p-3/report.html").read_text()
    assert f"By the register of the site: {words}." in page
    sealed = json.loads(people(site, "seal", "p-3", "--by", "Ada", "--json").stdout)
    assert sealed["register"]["words"] == words
    head = sealed["register"]
    page = (site / "campaigns/p-3/signature.html").read_text()
    assert f"T{words[1:]}. Register {head['register']}, entry {head['entry']}: {head['sha256'][:16]}" in page
    told = verify_register(site).troubles
    assert told == ["p-1: it is gone: removed after its seal (rejected)"]
    assert words in judging_page()


def test_a_name_is_never_used_twice(site: Path, people: Run) -> None:
    shutil.rmtree(site / "campaigns/p-1")
    for words in (("run", "p", "-q", "--id", "p-1"), ("rehearse", "p", "--id", "p-1")):
        done = people(site, *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"error: the name p-1 was used before: entry 2 of {register_path(site)}\n"
            "hint: a name is used once, so that it means one campaign on every page: give another one with --id\n"
        )
    assert not (site / "campaigns/p-1").exists()


def test_a_name_in_other_letters_is_the_same_name(site: Path, people: Run) -> None:
    for words, said in (
        (("run", "p", "-q", "--id", "P-1"), "error: the name p-1, which reads like P-1, was used before: entry 2 of "),
        (("rehearse", "p", "--id", "P-1"), "error: the name p-1, which reads like P-1, was used before: entry 2 of "),
    ):
        done = people(site, *words)
        assert done.returncode == 2 and done.stderr.startswith(said), done.stderr
    with pytest.raises(UsageError, match="only in the case of its letters"):
        create_campaign(site / "campaigns", "P-1", b"{}")
    assert new_identifier(site, "P") == "P-3"
    assert not (site / "campaigns/P-1").exists()


def test_a_rehearsal_is_not_in_it(site: Path, drive: Run) -> None:
    before = register_path(site).read_bytes()
    done = drive(site, "rehearse", "p", "-q")
    assert (site / "rehearsed/p-3").is_dir(), done.stderr
    assert register_path(site).read_bytes() == before
    shutil.copytree(site / "rehearsed/p-3", site / "campaigns/q-3")
    ready(site)
    assert register_path(site).read_bytes() == before
    assert verify_register(site).whole


@pytest.mark.parametrize("keeps", [True, False])
def test_a_copy_or_another_name_is_seen(site: Path, keeps: bool) -> None:
    shutil.copytree(site / "campaigns/p-1", site / "campaigns/q-7")
    if not keeps:
        shutil.rmtree(site / "campaigns/p-1")
    told = verify_register(site).troubles
    gone = ["p-1: it is gone: removed after its seal (rejected)"]
    became = "copied" if keeps else "renamed, or a copy whose original is gone"
    assert told == [f"q-7: this is campaign p-1, {became}", *([] if keeps else gone)]
    assert own_entry(Layout(site / "campaigns/q-7"))[2] == [f"this is campaign p-1, {became}"]


def test_another_record_under_a_name_is_seen(site: Path) -> None:
    shutil.rmtree(site / "campaigns/p-1")
    shutil.copytree(site / "campaigns/p-2", site / "campaigns/p-1")
    assert "p-1: another record lies under its name than the one that was entered" in verify_register(site).troubles


def test_a_campaign_brought_to_another_site_is_seen(site: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(site, other, ignore=shutil.ignore_patterns("campaigns", "register.jsonl"))
    (other / "campaigns").mkdir()
    new(other, "x-1", plan=site)
    shutil.copytree(site / "campaigns/p-2", other / "campaigns/p-2")
    (trouble,) = [line for line in verify_register(other).troubles if line.startswith("p-2")]
    assert trouble.startswith("p-2: the register is not the one that it was entered in: it is another one (")
    with pytest.raises(RecordError, match="is not what it was: it is another one"):
        ready(other)


@pytest.fixture
def other(site: Path, tmp_path: Path) -> Path:
    """Another site, with a campaign p-1 of its own."""
    made = tmp_path / "other"
    shutil.copytree(site, made, ignore=shutil.ignore_patterns("campaigns", "register.jsonl"))
    (made / "campaigns").mkdir()
    new(made, "p-1", plan=site)
    return made


def test_a_campaign_of_equal_name_of_another_site_is_no_copy(site: Path, other: Path) -> None:
    shutil.copytree(site / "campaigns/p-1", other / "campaigns/q-1")
    (trouble,) = [line for line in verify_register(other).troubles if line.startswith("q-1")]
    wanted = "q-1: this is a campaign p-1, and the register is not the one that it was entered in: it is another one ("
    assert trouble.startswith(wanted)


@pytest.mark.parametrize(
    "words",
    [
        ("status", "p-1"),
        ("report", "p-1", "--no-pdf"),
        ("rule", "r000001", "--as", "site", "--by", "Ada", "--because", "a disk", "--campaign", "p-1"),
        ("seal", "p-1", "--by", "Ada"),
    ],
)
def test_every_command_says_that_another_record_lies_in_place_of_a_campaign(
    site: Path, other: Path, people: Run, words: tuple[str, ...]
) -> None:
    shutil.rmtree(other / "campaigns/p-1")
    shutil.copytree(site / "campaigns/p-1", other / "campaigns/p-1")
    told = people(other, *words).stderr
    assert "note: p-1: the register of the site is not the one that it was entered in: it is another one (" in told
    assert "the register of the site" not in people(site, *words).stderr


def test_a_record_from_before_its_seal_is_seen(site: Path) -> None:
    """An older copy of the campaign lies in its place: its log ends before what the register knows."""
    log = site / "campaigns/p-1/log"
    *_, with_seal, closing = sorted(log.glob("*.jsonl"))
    with_seal.unlink()
    closing.unlink()
    shutil.rmtree(site / "campaigns/p-1/seals")
    (site / "campaigns/p-1/lease/log-end").unlink()
    lines = verify_register(site).troubles
    assert len(lines) == 1 and lines[0].startswith("p-1: ")


def test_what_was_changed_with_all_sums_made_again_is_seen(site: Path) -> None:
    """A campaign without a seal whose chain is whole again: the register has the sum of what it ended with."""
    from shakedown.events.sums import sum_of, with_sum

    campaign = site / "campaigns/p-2"
    import zlib

    first, *others = sorted((campaign / "log").glob("*.jsonl"))
    lines, crc = [], 0
    for line in first.read_bytes().replace(b"localhost", b"otherhost").splitlines(keepends=True):
        plain = line if sum_of(line) is None else line[: -len(b',"sum":"00000000"}\n')] + b"}\n"
        made, crc = (plain, zlib.crc32(plain)) if sum_of(line) is None else with_sum(plain, crc)
        lines.append(made)
    content = b"".join(lines)
    if content == first.read_bytes():
        content = b"".join(lines).replace(b'"reason":"', b'"reason":"X')
    first.write_bytes(content)
    for path in others:
        path.unlink()
    (campaign / "lease/log-end").unlink()
    assert any(line.startswith("p-2: ") for line in verify_register(site).troubles)


def test_an_older_copy_of_the_register_is_seen(site: Path, people: Run) -> None:
    path = register_path(site)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]))
    told = verify_register(site).troubles
    why = "it ends at entry 3, before entry 5 of p-2: it is an older copy"
    assert told[0] == f"p-2: the register is not the one that it was entered in: {why}"
    assert told[1].startswith("p-1: the register lacks its seal ")
    done = people(site, "run", "p", "-q")
    name = read_register(site).name
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"error: the register of this site, {path}, is not what it was: {why}, and campaign p-2 says that it was entered "
        f"as entry 5 of {name}\nhint: put it back from a copy; where it is lost for good, 'shakedown register --anew --by WHO "
        "--because WHY' begins another one, and every later page says so\n"
    )
    assert sorted(item.name for item in (site / "campaigns").iterdir()) == ["p-1", "p-2"]
    assert people(site, "verify", "p-2").returncode == 1


@pytest.mark.parametrize("keep", [5, 2])
def test_lines_that_were_cut_off_its_end_are_seen(site: Path, keep: int) -> None:
    path = register_path(site)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:keep]))
    told = verify_register(site)
    assert not told.whole
    if keep == 5:
        assert told.troubles == [
            "p-2: the register lacks how it ended: this is an older copy of it, or the command was interrupted; "
            "'shakedown resume p-2' enters it"
        ]


def test_a_register_that_is_gone_is_damage_and_not_a_new_site(site: Path, people: Run) -> None:
    register_path(site).unlink()
    assert verify_register(site).troubles == [
        "the register is gone: p-1 was entered in it as entry 2",
        "the register is gone: p-2 was entered in it as entry 5",
    ]
    assert people(site, "verify", "--register").returncode == 1
    done = people(site, "run", "p", "-q")
    assert done.returncode == 3
    assert (
        f"the register of this site, {register_path(site)}, is not what it was: it is gone, and campaign p-1"
        in done.stderr
    )
    register_path(site).write_bytes(b"")
    with pytest.raises(RecordError, match="it is gone, and campaign p-1"):
        ready(site)


def test_begun_anew_stands_on_every_later_page(site: Path, people: Run) -> None:
    done = people(site, "register", "--anew", "--by", "Ada", "--because", "no reason")
    assert done.returncode == 2
    assert done.stderr == (
        f"error: nothing is wrong with {register_path(site)}\n"
        "hint: a register is begun anew only where it is lost or damaged\n"
    )
    register_path(site).write_bytes(register_path(site).read_bytes().replace(b"rejected", b"accepted"))
    done = people(site, "register", "--anew", "--by", "Ada", "--because", "the disk broke")
    assert done.returncode == 0, done.stderr
    assert [(one.fact, one.campaign, one.outcome) for one in read_register(site).entries] == [
        ("opened", "", ""),
        ("found", "p-1", "rejected"),
        ("found", "p-2", "accepted"),
    ]
    assert len(list(site.glob("register-*.jsonl"))) == 1
    layout = new(site)
    assert read_entry(layout)["words"].endswith(
        "earlier: 1 rejected, 1 accepted; the register was begun anew on " + f"{_day(site)} by Ada: the disk broke"
    )
    found = verify_register(site)
    assert found.troubles == []
    assert "this register was begun anew by Ada: the disk broke" in found.remarks


def _day(site: Path) -> str:
    import time

    return time.strftime("%Y-%m-%d", time.gmtime(read_register(site).entries[0].time))
