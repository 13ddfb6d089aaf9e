"""Who is killed in between leaves nothing wrong; what was there before is found; what is shown of it all."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from registered import facts, judging_page, new, plan_of

from shakedown.audit.register_check import claims_rightly, verify_register
from shakedown.conductor.record import registering
from shakedown.conductor.record.register_words import history
from shakedown.conductor.record.registering import enter, ready
from shakedown.events.campaigns import create_campaign
from shakedown.events.entered import keep_entry, read_entry, vouched_by
from shakedown.events.reader import first_event
from shakedown.events.register import read_register, register_path
from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout

Run = Callable[..., subprocess.CompletedProcess[str]]


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


def test_acts_that_came_after_an_end_are_told_wherever_the_end_is(site: Path, people: Run, drive: Run) -> None:
    """The register has how it ended, and a waiver of later may have made something else of that: also later pages say so."""
    said = ("--by", "Ada", "--because", "agreed")
    for name in ("p-1", "p-2"):
        done = people(site, "waive", name, "functionality", "passed", "--restriction", "less", *said)
        assert done.returncode == 0, done.stderr
    ends = "1 rejected (1 act of people came after that), 1 accepted (1 act of people came after that)"
    assert people(site, "list", "campaigns").stdout.splitlines()[-1] == f"2 campaigns in the register: {ends}"
    assert drive(site, "run", "p", "-q").returncode == 0
    assert people(site, "report", "p-3", "--no-pdf").returncode == 0
    assert f"earlier: {ends}" in (site / "campaigns/p-3/report.html").read_text()
    assert people(site, "verify", "--register").returncode == 0

    assert people(site, "seal", "p-1", "--by", "Ada").returncode == 0
    rows = people(site, "list", "campaigns").stdout
    assert "disputed" in rows and rows.count("came after that") == 2, (
        "of p-2 alone, once in its row and once in the sum"
    )


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
