"""Campaigns and the register of their site vouch for each other: what is gone, copied, renamed, cut or replaced is told."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from shakedown.audit.register_check import claims_rightly, own_entry, verify_register
from shakedown.conductor.record import registering
from shakedown.conductor.record.register_words import history
from shakedown.conductor.record.registering import enter, ready
from shakedown.events.campaigns import create_campaign
from shakedown.events.entered import keep_entry, read_entry, vouched_by
from shakedown.events.reader import first_event
from shakedown.events.register import read_register, register_path
from shakedown.model.errors import RecordError, UsageError
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document

Run = Callable[..., subprocess.CompletedProcess[str]]


def facts(site: Path) -> list[tuple[str, str, str]]:
    return [(one.fact, one.campaign, one.outcome) for one in read_register(site).entries]


def judging_page() -> str:
    """docs/concepts/judging.md on one line."""
    page = (Path(__file__).parents[2] / "docs/concepts/judging.md").read_text()
    return " ".join(page.replace("\n> ", "\n").split())


def plan_of(site: Path) -> tuple[bytes, Document]:
    frozen = next((site / "campaigns/p-2/documents").glob("*.json")).read_bytes()
    return frozen, thaw(frozen)


def new(site: Path, name: str = "p-3", plan: Path | None = None) -> Layout:
    """A campaign that was made and entered, and has not begun; of the plan of another site, where one is named."""
    frozen, document = plan_of(plan or site)
    layout = create_campaign(site / "campaigns", name, frozen)
    enter(layout, document)
    return layout


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
    assert (checked, unchecked, wrong) == ([f"register: entry 5 of {name}, as its first event says"], [], [])


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


# ---- interrupted, and found ----------------------------------------------------------------------------------------------------


def test_killed_between_the_line_and_the_first_event_enters_once(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frozen, document = plan_of(site)
    layout = create_campaign(site / "campaigns", "p-3", frozen)

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(registering, "keep_entry", crash)
        enter(layout, document)
    assert read_register(site).entries[-1].campaign == "p-3"
    found = verify_register(site)
    assert (found.troubles, found.remarks) == (
        [],
        ["p-3: it was entered and has not begun: 'shakedown resume p-3' begins it"],
    )
    count = len(read_register(site).entries)
    said = enter(layout, document)
    assert len(read_register(site).entries) == count
    assert (said["entry"], said["sha256"]) == (count, read_register(site).sums[-1])
    assert enter(layout, document) == said


def test_killed_before_the_line_leaves_a_campaign_that_is_entered_when_it_begins(site: Path) -> None:
    frozen, document = plan_of(site)
    layout = create_campaign(site / "campaigns", "p-3", frozen)
    assert verify_register(site).whole
    assert enter(layout, document)["entry"] == 7
    assert verify_register(site).whole


def test_another_site_directory_is_what_one_side_can_still_make(site: Path, tmp_path: Path) -> None:
    """The example of docs/concepts/judging.md: nothing of the first site is on its pages but another name of a register."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "site.yaml").write_text("site: other\n")
    said = read_entry(new(other, "p-1", plan=site))
    assert said["words"] == "the only campaign of this plan (of 1 of the site, entry 2 of its register)"
    assert said["register"] not in ("", read_register(site).name)
    assert judging_page().count(said["words"]) == 2


def test_a_campaign_that_was_entered_begins_with_resume(site: Path, drive: Run) -> None:
    new(site)
    assert drive(site, "resume", "p-3", "-q").returncode == 0
    assert facts(site)[-2:] == [("begun", "p-3", ""), ("ended", "p-3", "accepted")]
    assert verify_register(site).whole


def test_a_copy_that_has_not_begun_is_entered_under_its_own_name(site: Path) -> None:
    layout = new(site)
    copy = Layout(Path(shutil.copytree(layout.root, site / "campaigns/p-4")))
    said = enter(copy, plan_of(site)[1])
    assert read_register(site).entries[said["entry"] - 1].campaign == "p-4"


def test_a_name_taken_meanwhile_by_another_is_refused_before_anything_runs(site: Path) -> None:
    layout = new(site)
    shutil.rmtree(layout.root)
    frozen, document = plan_of(site)
    again = create_campaign(site / "campaigns", "p-3", frozen)
    with pytest.raises(UsageError, match="the name p-3 was used before"):
        enter(again, document)


def test_campaigns_of_before_are_found(site: Path, people: Run) -> None:
    """A site of an older version: its campaigns say nothing of a register, and there is none."""
    from shakedown.events.lines import encode_event

    register_path(site).unlink()
    shutil.rmtree(site / "campaigns/p-2")
    log = site / "campaigns/p-1/log"
    first = first_event(log)
    assert first is not None
    older = {key: value for key, value in first.value.items() if key != "register"}
    for path in log.glob("*.jsonl"):
        path.unlink()
    shutil.rmtree(site / "campaigns/p-1/seals")
    (site / "campaigns/p-1/lease/log-end").unlink()
    line = encode_event(msgspec.structs.replace(first, value=older))
    (log / "000001.jsonl").write_bytes(
        b'{"segment":1,"v":1,"first":1,"epoch":1,"previous":"","previous_bytes":0}\n' + line
    )
    assert verify_register(site).remarks == [
        "there is no register yet: the next 'shakedown run' opens one, and enters what it finds"
    ]
    ready(site)
    assert facts(site) == [("opened", "", ""), ("found", "p-1", "")]
    assert history(site, read_register(site), "p-1") == (
        "the only campaign of this plan (of 1 of the site, entry 2 of its register, found there when the register was opened)"
    )
    shutil.copytree(site / "campaigns/p-1", site / "campaigns/q-1")
    ready(site)
    assert len(facts(site)) == 2, "a copy is no campaign of its own"
    assert verify_register(site).troubles == ["q-1: this is campaign p-1, copied"]
    done = people(site, "list", "campaigns")
    assert "p-1       p         2" in done.stdout and "q-1" in done.stdout


# ---- shown -----------------------------------------------------------------------------------------------------------------------


def test_it_is_listed_with_what_became_of_each(site: Path, people: Run) -> None:
    shutil.rmtree(site / "campaigns/p-1")
    done = people(site, "list", "campaigns")
    assert done.returncode == 0
    rows = [line.split("  ") for line in done.stdout.splitlines()]
    assert rows[1][0] == "p-1" and "removed after its seal (rejected)" in done.stdout
    assert done.stdout.splitlines()[-1] == (
        "2 campaigns in the register: 1 removed after its seal (rejected), 1 accepted"
    )
    assert people(site, "register").stdout == done.stdout
    data = json.loads(people(site, "register", "--json").stdout)
    assert [(one["campaign"], one["place"], one["sealed"]) for one in data["campaigns"]] == [
        ("p-1", "gone", 1),
        ("p-2", "there", 0),
    ]
    register_path(site).unlink()
    assert people(site, "register").stdout.startswith("THE REGISTER IS NOT WHAT IT WAS: it is gone, and campaign p-2")


def test_a_copy_elsewhere_says_that_the_register_is_not_there(site: Path, tmp_path: Path, people: Run) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(site / "campaigns/p-1", copy)
    name = read_register(site).name
    done = people(tmp_path, "verify", str(copy))
    assert done.returncode == 0
    assert f"not checked: the register of its site is not here: it was entry 2 of {name}" in done.stdout


def test_what_a_campaign_claims_of_others_is_held_against_the_register(site: Path) -> None:
    """Its note of before is not believed, and its first event is checked."""
    layout = new(site)
    said = read_entry(layout)
    keep_entry(layout, said | {"words": "the only campaign of this plan"})
    assert enter(layout, plan_of(site)[1])["words"].startswith("third of three campaigns of this plan ")
    register = read_register(site)
    vouched = vouched_by(Layout(site / "campaigns/p-2"))
    assert vouched is not None and claims_rightly(register, vouched)
    for words in ("the only campaign of this plan (of 1 of the site, entry 5 of its register)", "", "second of two"):
        assert not claims_rightly(register, msgspec.structs.replace(vouched, words=words))


def test_a_campaign_that_begins_outside_of_its_site_says_so(site: Path, tmp_path: Path) -> None:
    layout = new(site)
    elsewhere = Layout(Path(shutil.move(layout.root, tmp_path / "p-3")))
    said = enter(elsewhere, plan_of(site)[1])
    assert said["words"] == f"entry {said['entry']} of the register of its site, which is not where it began"
    assert (said["register"], said["sha256"]) == (read_register(site).name, read_register(site).sums[-1])
    (tmp_path / "p-3/entry.json").unlink()
    assert enter(elsewhere, plan_of(site)[1]) == {"words": registering.IN_NO_SITE}


def test_a_campaign_that_begins_while_another_one_looks_is_no_older_copy(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its line is there before its first event: who has seen the event reads the register after that."""
    from shakedown.events import entered

    look = entered.vouchers
    register = read_register(site)
    later = entered.Vouched(register.name, 7, "", "p-3")

    def begun_meanwhile(where: Path) -> Iterator[entered.Vouched]:
        yield from look(where)
        if len(read_register(where).entries) == 6:
            monkeypatch.setattr(entered, "vouchers", look)  # the one that begins looks too
            new(where)
            yield msgspec.structs.replace(later, sha256=read_register(where).sums[6])

    monkeypatch.setattr(entered, "vouchers", begun_meanwhile)
    assert entered.read_vouched(site)[1] == ""
