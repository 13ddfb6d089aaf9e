"""Sealing and verifying: what was sealed is checked anywhere, and one flipped byte is found and located."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shakedown.audit.sealing import seal_campaign
from shakedown.audit.verifying import Verified, verify_campaign
from shakedown.conductor.commands.offline import carry_out
from shakedown.conductor.record.going_on import is_closed
from shakedown.events.chain import damage_of
from shakedown.events.inbox import post
from shakedown.events.lease import Lease
from shakedown.events.opening import open_log
from shakedown.events.reader import read_events
from shakedown.events.signatures import Signature
from shakedown.model.errors import LeaseHeld, RecordError, UsageError
from shakedown.model.events import Event
from shakedown.model.layout import Layout

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def sealed_site(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished campaign, with a ruling, sealed, ruled on again, and sealed again."""
    site = Path(shutil.copytree(finished, tmp_path_factory.mktemp("sealed") / "site"))
    layout = Layout(site / "campaigns/p-1")
    post(layout, "rule", {"run": "r000002", "as": "site", "by": "Anna"}, "the switch was off")
    seal_campaign(layout, "Anna")
    post(layout, "rule", {"run": "r000004", "as": "vendor", "by": "Bo"}, "a bad cable")
    seal_campaign(layout, "Bo")
    return site


@pytest.fixture(scope="session")
def flipping(sealed_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Layout:
    """A copy whose bytes are flipped one at a time, and put back."""
    copy = tmp_path_factory.mktemp("flipping") / "copy"
    return Layout(Path(shutil.copytree(sealed_site / "campaigns/p-1", copy)))


def protected(layout: Layout) -> list[Path]:
    """Every file of the log, of the frozen plans and of the seals."""
    files = [path for name in ("log", "documents", "seals") for path in sorted((layout.root / name).iterdir())]
    return [path for path in files if path.suffix in (".jsonl", ".json", ".lines")]


def flip(path: Path, place: int, bits: int, layout: Layout) -> Verified:
    """What verifying says while one byte is another."""
    content = path.read_bytes()
    path.write_bytes(content[:place] + bytes([content[place] ^ bits]) + content[place + 1 :])
    try:
        return verify_campaign(layout)
    finally:
        path.write_bytes(content)


def assert_located(found: Verified, layout: Layout, path: Path, place: int, bits: int) -> None:
    name, content = str(path.relative_to(layout.root)), path.read_bytes()
    assert found.damage is not None, f"{name}, byte {place}, bits {bits}: not found"
    assert found.damage.path == name, f"{name}, byte {place}: {found.damage}"
    if path.suffix != ".jsonl":
        return
    assert found.damage.segment == int(path.stem)
    assert found.damage.line == content[:place].count(b"\n") + 1, str(found.damage)
    if b"\n" not in (content[place : place + 1], bytes([content[place] ^ bits])):
        assert found.damage.byte == place, str(found.damage)
    if found.damage.line > 1:
        line = content.split(b"\n")[found.damage.line - 1]
        assert found.damage.event == json.loads(line)["seq"]


def test_a_sealed_campaign_is_whole_there_and_as_a_copy(sealed_site: Path, flipping: Layout) -> None:
    found = verify_campaign(Layout(sealed_site / "campaigns/p-1"))
    assert (found.whole, found.damage, found.changed, len(found.seals)) == (True, None, [], 2)
    copy = verify_campaign(flipping)
    assert (copy.whole, copy.seals) == (True, found.seals)
    assert "the site's files: this campaign lies in no site directory (name one with --site)" in copy.unchecked
    assert verify_campaign(flipping, sealed_site).changed == []


def test_pages_made_from_the_record_are_said_not_to_be_checked(flipping: Layout) -> None:
    """A report that was made to say something else is no damage of the record; but nobody may take it as checked."""
    said = "made from the record and not sealed; 'shakedown report' and 'seal' make them again"
    flipping.report.write_text("<h1>Accepted</h1>")
    try:
        found = verify_campaign(flipping)
    finally:
        flipping.report.unlink()
    assert found.whole
    assert f"report.html: {said}" in found.unchecked


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_flipped_byte_is_found_and_located(flipping: Layout, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(protected(flipping)))
    place = data.draw(st.integers(0, path.stat().st_size - 1))
    bits = data.draw(st.integers(1, 255))
    assert_located(flip(path, place, bits, flipping), flipping, path, place, bits)


@pytest.mark.parametrize("from_the_end", [1, 2])
def test_every_byte_of_the_end_of_the_log_is_protected(flipping: Layout, from_the_end: int) -> None:
    """Nothing comes after the newest seal's own event that could vouch for it; the seal itself does."""
    last = sorted(flipping.log.glob("*.jsonl"))[-from_the_end]
    for place in range(last.stat().st_size):
        assert_located(flip(last, place, 0x02, flipping), flipping, last, place, 0x02)


def test_a_cut_log_is_found(flipping: Layout) -> None:
    *_, with_event, closing = sorted(flipping.log.glob("*.jsonl"))
    content, rest = with_event.read_bytes(), closing.read_bytes()
    try:
        closing.unlink()
        with_event.write_bytes(content[: content.index(b"\n") + 1])
        damage = verify_campaign(flipping).damage
        assert damage is not None and "it ends before the event of the seal" in damage.why
        with_event.unlink()
        damage = verify_campaign(flipping).damage
        assert damage is not None and "it is gone, and with it the event of the seal" in damage.why
    finally:
        with_event.write_bytes(content)
        closing.write_bytes(rest)


def test_a_seal_that_is_gone_is_found(flipping: Layout) -> None:
    for path in (flipping.root / "seals").glob("*.json"):
        content = path.read_bytes()
        path.unlink()
        damage = verify_campaign(flipping).damage
        path.write_bytes(content)
        assert damage is not None
        assert damage.path == f"seals/{path.name}"
        assert damage.why == "the log says that the record was sealed under this digest, and the seal is gone"


def test_a_changed_output_and_a_changed_fingerprint_are_found(flipping: Layout) -> None:
    for folder in ("packs", "fingerprints", "environments"):
        path = next(path for path in (flipping.root / folder).rglob("*") if path.is_file() and path.stat().st_size)
        found = flip(path, path.stat().st_size // 2, 1, flipping)
        assert found.damage is not None and found.damage.path == str(path.relative_to(flipping.root))


def test_a_fingerprint_that_is_gone_is_told_in_words(site: Path) -> None:
    layout = Layout(site / "campaigns/p-1")
    next(path for path in (layout.root / "fingerprints").rglob("*") if path.is_file()).unlink()
    damage = verify_campaign(layout).damage
    assert damage is not None
    assert damage.why == "the facts of a fingerprint cannot be read: No such file or directory"


def test_what_comes_after_a_seal_is_said(site: Path) -> None:
    layout = Layout(site / "campaigns/p-1")
    unsealed = verify_campaign(layout)
    assert unsealed.whole and unsealed.seals == []
    assert unsealed.unchecked[0].startswith("there is no seal: ")
    first = seal_campaign(layout, "Anna")
    again = seal_campaign(layout, "Bo")
    assert (again.digest, again.again) == (first.digest, True)
    post(layout, "rule", {"run": "r000002", "as": "site"}, "later")
    from shakedown.conductor.commands.offline import carry_out

    carry_out(layout)
    found = verify_campaign(layout)
    assert found.whole
    assert "1 event came after the newest seal, under none: seal again" in found.unchecked
    second = seal_campaign(layout, "Bo")
    assert sorted(verify_campaign(layout).seals) == sorted([first.digest, second.digest])


def test_the_digest_on_paper_is_compared(sealed_site: Path) -> None:
    layout = Layout(sealed_site / "campaigns/p-1")
    digest = verify_campaign(layout).seals[0]
    on_paper = " ".join(digest[at : at + 8] for at in range(0, 64, 8)).upper()
    assert verify_campaign(layout, digest=on_paper).whole
    wrong = verify_campaign(layout, digest="0" * 64)
    assert not wrong.whole and "this is not the record that was signed" in str(wrong.damage)


@pytest.mark.parametrize("digest", ["", "12", "123 456 7", "zzzzzzzz", "0123456789abcdeg", "0" * 65, "../../etc"])
def test_what_is_no_digest_accuses_nobody(site: Path, people: Run, digest: str) -> None:
    """It is wrong use: the record is not another one than the one that was signed."""
    done = people(site, "verify", "--digest", digest)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: '{digest}' is no digest, nor its beginning\nhint: give the digits 0 to 9")


# ---- when it is refused --------------------------------------------------------------------------------------------------------


def test_a_driven_campaign_is_not_sealed(site: Path) -> None:
    from shakedown.events.lease import Lease

    layout = Layout(site / "campaigns/p-1")
    with Lease.acquire(layout), pytest.raises(LeaseHeld, match="p-1 is driven"):
        seal_campaign(layout, "Anna")


def test_open_results_are_sealed_only_where_it_is_said(site: Path, people: Run) -> None:
    plan = site / "plans/p.yaml"
    plan.write_text(plan.read_text().replace("repeats: 2", "repeats: 3"))
    assert people(site, "amend", "p", "--by", "Bo", "--because", "one more").returncode == 0
    layout = Layout(site / "campaigns/p-1")
    with pytest.raises(UsageError, match="p-1 is not over: "):
        seal_campaign(layout, "Anna")
    sealed = seal_campaign(layout, "Anna", unfinished=True)
    assert sealed.signed["finished"] is False
    assert verify_campaign(layout).whole


AGAIN = ("again", "functionality", "--by", "Ada", "--because", "a new switch")
CLOSED = "the campaign is closed: it is over and sealed, and nothing of it runs again"


def test_nothing_of_a_sealed_campaign_runs_again_and_what_people_say_is_recorded(site: Path, people: Run) -> None:
    layout = Layout(site / "campaigns/p-1")
    seal_campaign(layout, "Anna")
    told = people(site, *AGAIN)
    assert (told.returncode, told.stderr.splitlines()[0]) == (2, f"error: {CLOSED}")
    assert "run the plan as a new campaign: shakedown run PLAN" in told.stderr
    post(layout, "again", {"component": "functionality", "by": "Ada"}, "from a script")
    (refused,) = carry_out(layout)
    assert refused.event == "command_refused" and refused.reason.startswith(CLOSED)
    assert people(site, "rule", "r000002", "--as", "site", "--by", "Ada", "--because", "so").returncode == 0
    assert "again" not in {event.event for event in read_events(layout.log)}


def test_resume_says_why_it_starts_nothing_of_a_closed_campaign(site: Path, people: Run) -> None:
    """An earlier version recorded ``again`` after the seal: the result is to come, and never comes."""
    layout = Layout(site / "campaigns/p-1")
    seal_campaign(layout, "Anna")
    with Lease.acquire(layout) as lease:
        log, tail = open_log(layout.log, lease)
        log.append([Event("again", tail.seq + 1, tail.time, value={"component": "functionality", "by": "Ada"})])
        log.commit()
        log.close()
    told = people(site, "resume", "-q")
    assert told.returncode == 4
    assert (
        "nothing of p-1 is started: it is over and sealed, and nothing of it runs again\nhint: run the" in told.stderr
    )


def test_a_campaign_that_was_to_run_again_is_not_closed_by_a_seal(site: Path, people: Run) -> None:
    layout = Layout(site / "campaigns/p-1")
    assert people(site, *AGAIN).returncode == 0
    seal_campaign(layout, "Anna", unfinished=True)
    assert not is_closed(layout)


def _without(folder: Path) -> None:
    shutil.rmtree(folder)


def _without_sums_of_lines(folder: Path) -> None:
    min(folder.glob("*.lines")).unlink()


def _with_other_sums_of_lines(folder: Path) -> None:
    path = min(folder.glob("*.lines"))
    path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])


def _with_a_link_as_seal(folder: Path) -> None:
    path = min(folder.glob("*.json"))
    path.rename(folder.parent / "elsewhere")
    path.symlink_to(folder.parent / "elsewhere")


@pytest.mark.parametrize(
    "spoil",
    [_without, _without_sums_of_lines, _with_other_sums_of_lines, _with_a_link_as_seal],
    ids=lambda it: it.__name__,
)
def test_every_reader_says_that_a_seal_is_gone_or_changed(
    site: Path, people: Run, spoil: Callable[[Path], None]
) -> None:
    """The log names the seals that there must be."""
    root = site / "campaigns/p-1"
    seal_campaign(Layout(root), "Anna")
    log = {path.name: path.read_bytes() for path in root.glob("log/*.jsonl")}
    spoil(root / "seals")
    assert_damaged_everywhere(site, people, "the record of p-1 is damaged: seals/")
    assert {path.name: path.read_bytes() for path in root.glob("log/*.jsonl")} == log


def test_the_pdf_of_a_damaged_record_says_so_too(site: Path, people: Run) -> None:
    from shakedown.report.page.pdf import pdf_text, trouble

    if trouble():
        pytest.skip(trouble())
    root = site / "campaigns/p-1"
    seal_campaign(Layout(root), "Anna")
    _without(root / "seals")
    assert people(site, "report").returncode == 3
    assert "DAMAGED: the record is not what was written" in " ".join(
        pdf_text((root / "report.pdf").read_bytes()).split()
    )


@pytest.mark.parametrize("place", ["log/000001.jsonl", "log", "documents", "a document", "lease/log-end"])
def test_every_reader_says_that_a_link_lies_in_the_place_of_the_log_or_of_a_plan(
    site: Path, people: Run, place: str
) -> None:
    root = site / "campaigns/p-1"
    kept = root / place if place != "a document" else next((root / "documents").glob("*.json"))
    kept.rename(site / "elsewhere")
    kept.symlink_to(site / "elsewhere")
    shown = kept.relative_to(root)
    assert_damaged_everywhere(
        site, people, f"the record of p-1 is damaged: {shown}: a symbolic link to {site}/elsewhere "
    )
    assert people(site, "verify").stdout.startswith(f"p-1 is DAMAGED: {shown}")


def assert_damaged_everywhere(site: Path, people: Run, words: str) -> None:
    """Readers say it first and end with 3; what would add to the record stops."""
    for reader in (("status",), ("runs",), ("why", "r000001"), ("report", "--no-pdf"), ("log",)):
        done = people(site, *reader)
        first = (done.stdout + done.stderr).partition("\n")[0] if done.stdout else done.stderr
        assert done.returncode == 3, (reader, done.stdout, done.stderr)
        assert words in " ".join((done.stdout + done.stderr).split()), (reader, done.stdout, done.stderr)
        assert "damaged" in first.lower(), (reader, first)
    for adder in (
        ("resume",),
        ("seal", "--by", "Bo"),
        ("rule", "r000002", "--as", "site", "--by", "Bo", "--because", "x"),
    ):
        done = people(site, *adder)
        assert done.returncode == 3, (adder, done.stdout, done.stderr)
        assert words in " ".join(done.stderr.split()), (adder, done.stderr)


def test_verify_says_that_nobody_knows_who_drove_where_a_lease_was_changed(site: Path, people: Run) -> None:
    (site / "campaigns/p-1/lease/000001.json").write_text("junk")
    done = people(site, "verify")
    assert done.returncode == 0
    said = " ".join(done.stdout.split())
    assert "lease/000001.json is not what its driver wrote: who drove then, and where, is not known" in said
    assert "left no name" not in people(site, "status").stdout


def test_a_damaged_record_is_not_sealed_again(site: Path) -> None:
    layout = Layout(site / "campaigns/p-1")
    sealed = seal_campaign(layout, "Anna")
    path = layout.root / f"seals/{sealed.digest}.json"
    path.write_bytes(path.read_bytes().replace(b"Anna", b"Bert"))
    with pytest.raises(RecordError, match=r"the record of p-1 is damaged: seals/.* was changed"):
        seal_campaign(layout, "Anna")


def test_a_seal_that_was_interrupted_before_its_event_is_none(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shakedown.events.writer import LogWriter

    def crash(self: LogWriter) -> None:
        raise KeyboardInterrupt

    layout = Layout(site / "campaigns/p-1")
    with monkeypatch.context() as patched:
        patched.setattr(LogWriter, "append", lambda self, events: crash(self))
        with pytest.raises(KeyboardInterrupt):
            seal_campaign(layout, "Anna")
    assert verify_campaign(layout).whole
    assert verify_campaign(layout).seals == []
    assert seal_campaign(layout, "Anna").digest in verify_campaign(layout).seals


def test_a_seal_that_was_interrupted_after_its_event_gets_its_name(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shakedown.audit import sealing

    layout = Layout(site / "campaigns/p-1")
    with monkeypatch.context() as patched:
        patched.setattr(sealing, "publish", lambda layout, digest: None)
        sealed = seal_campaign(layout, "Anna")
    assert not verify_campaign(layout).whole
    assert damage_of(layout) is None  # whoever reads meanwhile, and whoever seals again
    assert (seal_campaign(layout, "Anna").digest, verify_campaign(layout).whole) == (sealed.digest, True)


# ---- the site's files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["contracts/deal.yaml", "tests/golden.sha256", "tests/ok.yaml", "plans/p.yaml"])
def test_a_file_edited_after_the_start_is_told_apart_from_damage(site: Path, people: Run, name: str) -> None:
    path = site / name
    path.write_text(path.read_text() + "# edited\n")
    done = people(site, "verify")
    assert done.returncode == 1
    assert "p-1: the record is whole; but files of the site are not as they were frozen:" in done.stdout
    assert f"  {name} was changed since the start; what was agreed is in the frozen plan" in done.stdout
    assert "DAMAGED" not in done.stdout


def test_the_commands_say_it_all(site: Path, people: Run) -> None:
    sealed = people(site, "seal", "--by", "Anna", "--json")
    assert sealed.returncode == 0, sealed.stderr
    digest = json.loads(sealed.stdout)["digest"]
    done = people(site, "verify", "p-1", "--digest", digest[:16])
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "p-1 is whole")
    log = sorted((site / "campaigns/p-1/log").glob("*.jsonl"))[0]
    content = log.read_bytes()
    at = content.index(b'"event":"submit_order"') + 11
    log.write_bytes(content[:at] + b"X" + content[at + 1 :])
    done = people(site, "verify")
    assert done.returncode == 1
    line = content[:at].count(b"\n") + 1
    where = f"p-1 is DAMAGED: log/000001.jsonl, line {line}, at byte {at}, event {line - 1}: "
    assert done.stdout.startswith(where + "one byte was changed after it was sealed: b'X' was b'b'"), done.stdout


def test_digits_of_no_seal_are_damage(site: Path, people: Run) -> None:
    done = people(site, "verify", "p-1", "--digest", "2236F01F cb0820a5")
    assert done.returncode == 1
    assert "p-1 is DAMAGED: seals: none of them has the digest 2236f01fcb0820a5" in done.stdout


def test_a_frozen_plan_that_was_edited_is_damage_without_a_seal_too(site: Path) -> None:
    layout = Layout(site / "campaigns/p-1")
    (document,) = layout.documents.glob("*.json")
    document.write_bytes(document.read_bytes().replace(b'"low":', b'"loW":').replace(b"60.0", b"61.0"))
    damage = verify_campaign(layout).damage
    assert damage is not None and damage.path == f"documents/{document.name}"
    assert "its bytes no longer match its name" in damage.why


# ---- the page to sign ------------------------------------------------------------------------------------------------------------


def test_the_page_has_both_parties_and_the_digest_and_no_markup_of_others(site: Path, people: Run) -> None:
    digest = json.loads(people(site, "seal", "--by", "<i>Anna</i>", "--json").stdout)["digest"]
    page = (site / "campaigns/p-1/signature.html").read_text()
    for text in (
        "Supply of &lt;Example&gt; &amp; installation",
        "Iron &lt;b&gt;Works&lt;/b&gt;",
        "The Centre",
        "Rejected",
    ):
        assert text in page
    for at in range(0, 64, 8):
        assert f"<span>{digest[at : at + 8]}</span>" in page
    assert "<i>" not in page and "<script" not in page and "http" not in page.replace("http-equiv", "")
    assert page.count("Signature</p>") == 2


def test_the_page_says_which_outputs_are_gone(finished: Path, tmp_path: Path, people: Run) -> None:
    site = Path(shutil.copytree(finished, tmp_path / "site"))
    layout = Layout(site / "campaigns/p-1")
    whole = seal_campaign(layout, "Ada").signed["outputs"]
    assert whole["of"] == whole["kept"] > 3 and whole["missing"] == []
    shutil.rmtree(layout.packs)
    sealed = people(site, "seal", "--by", "Ada")
    assert sealed.returncode == 3, "what a seal covers is damaged now"
    shutil.rmtree(site)
    shutil.copytree(finished, site)
    shutil.rmtree(layout.packs)
    said = people(site, "seal", "--by", "Ada").stdout
    words = f"0 of {whole['of']} kept outputs (GONE: r000001, "
    page = (layout.root / "signature.html").read_text()
    assert words in page and words in said and f"and {whole['of'] - 3} more). Check a copy" in page


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ({"of": 3, "kept": 3, "missing": []}, "and all 3 kept outputs. Check"),
        ({"of": 0, "kept": 0, "missing": []}, "and no outputs: none was kept. Check"),
        (
            {"of": 3, "kept": 2, "missing": ["r<1"]},
            "and 2 of 3 kept outputs (GONE: r&lt;1). Check",
        ),
        (None, "and kept outputs that were there. Check"),
    ],
)
def test_what_the_page_says_of_outputs(outputs: object, words: str) -> None:
    from shakedown.report.page.signature import render_signature_page

    page = render_signature_page("0" * 64, 4, {"outcome": "accepted", "outputs": outputs}).decode()
    assert words in page and "<1" not in page


@pytest.mark.parametrize("beside", ["", "Beside the criteria: " + "contract row " * 30])
@pytest.mark.parametrize("parties", [0, 2, 6])
def test_the_page_is_one_page_whatever_stands_on_it(parties: int, beside: str) -> None:
    from shakedown.report.page.pdf import trouble
    from shakedown.report.page.signature import render_signature_page

    if trouble():
        pytest.skip(trouble())
    import weasyprint

    long = "word " * 100
    signed = {"contracts": [long], "parties": [["party", long]] * parties, "summary": long, "restrictions": [long] * 20}
    signed |= {"beside": beside} if beside else {}
    signed |= {"campaign": long, "plan": long, "system": long, "outcome": "rejected", "sealed_by": long}
    signed |= {
        "outputs": {"of": 123456, "kept": 100000, "missing": [f"r{number}" for number in range(1000000, 1000020)]}
    }
    page = render_signature_page("0123456789abcdef" * 4, 4711, signed)
    assert len(weasyprint.HTML(string=page.decode()).render().pages) == 1
    signature = Signature("0" * 64, long, "2026-01-02T03:04:05Z", "ssh-ed25519", "SHA256:" + 43 * "W", "seals/x.sig")
    every = parties == 2 and beside != ""  # how many signatures there are matters alike for each of the others
    for count in (1, 3, 6) if every else (6,):
        with_keys = render_signature_page("0123456789abcdef" * 4, 4711, signed, [signature] * count)
        assert len(weasyprint.HTML(string=with_keys.decode()).render().pages) == 1
    act = {
        "what": long,
        "because": long,
        "said": 0.0,
        "as_of": 0.0,
        "standing": long,
        "takes": long,
        "without": "rejected",
    }
    acted = signed | {"acts": [act] * 20, "acts_in_all": 40, "without_acts": "rejected"}
    acted["register"] = {"register": 16 * "0", "entry": 12345, "sha256": 64 * "0", "words": 4 * long}
    for count in (0, 1, 2, 6) if every else (0, 6):
        with_acts = render_signature_page("0123456789abcdef" * 4, 4711, acted, [signature] * count)
        assert len(weasyprint.HTML(string=with_acts.decode()).render().pages) == 1
        assert b"ithout all of th" in with_acts and (parties > 2 or b"BACKDATED to 1970-01-01 00:00" in with_acts)
    room = (8 if parties <= 2 else 2) - bool(beside)
    assert b"and " + str(20 - room).encode() + b" more, in the report." in page
    assert (b"Beside the criteria: contract row" in page) == bool(beside)


def test_the_page_has_the_whole_sentence_or_says_where_the_rest_is() -> None:
    from shakedown.report.page.signature import render_signature_page

    sentence = "Rejected: " + ", ".join(f"criterion number {number} is not met" for number in range(12)) + "."
    assert 380 < len(sentence) < 420
    signed = {"summary": sentence, "outcome": "rejected", "parties": [["vendor", "A"], ["site", "B"]]}
    assert sentence in render_signature_page("0" * 64, 4, signed).decode()
    longer = render_signature_page("0" * 64, 4, signed | {"summary": sentence + sentence}).decode()
    assert f"<p>{sentence[:360]}" in longer and "criterion number 11 is not ... (the rest in the report)</p>" in longer
    crowded = render_signature_page("0" * 64, 4, signed | {"parties": [["party", "A"]] * 4}).decode()
    assert f"<p>{sentence[:90]}" in crowded and "criterion number ... (the rest in the report)</p>" in crowded


def test_a_long_restriction_stands_whole_where_it_fits_and_else_says_where_the_rest_is() -> None:
    from shakedown.report.page.signature import render_signature_page

    line = "waived: " + ", ".join(f"limit number {number}" for number in range(19)) + " and that is all."
    assert 300 < len(line) < 420
    signed = {"summary": "Accepted with restrictions.", "outcome": "accepted with restrictions", "finished": True}
    act = {"what": "waived it", "because": "agreed", "said": 0.0, "standing": "agreed", "without": "rejected"}
    for acts in ([], [act]):
        page = render_signature_page("0" * 64, 4, signed | {"restrictions": [line], "acts": acts}).decode()
        assert f"<li>{line}</li>" in page
        page = render_signature_page("0" * 64, 4, signed | {"restrictions": [line] * 8, "acts": acts}).decode()
        assert line not in page and page.count("... (the rest in the report)</li>") >= 5


def test_verify_names_the_line_where_several_were_changed(site: Path, people: Run) -> None:
    log = sorted((site / "campaigns/p-1/log").glob("*.jsonl"))[0]
    lines = log.read_bytes().split(b"\n")
    places = [place for place, line in enumerate(lines) if b'"event":"submit_order"' in line][:2]
    assert len(places) == 2
    for place in places:
        lines[place] = lines[place].replace(b'"submit_order"', b'"submit_Order"')
    log.write_bytes(b"\n".join(lines))
    where = f"log/{log.name}, line {places[0] + 1}, event {places[0]}: "
    assert people(site, "verify").stdout.startswith(f"p-1 is DAMAGED: {where}")
    assert where in people(site, "status").stderr, "as every other view says"


def test_an_amendment_without_effect_writes_no_heading_on_the_page(site: Path, people: Run) -> None:
    """The vendor alone gives the contract another title and the site another name."""
    plan, contract = site / "plans/p.yaml", site / "contracts/deal.yaml"
    plan.write_text(plan.read_text() + "parties: {site: [Ada], vendor: [Bo]}\nconsent: [amend]\n")
    assert people(site, "run", "p", "-q").returncode == 1
    forged = contract.read_text().replace("Supply of <Example> & installation", "Accepted by both parties")
    contract.write_text(forged.replace("The Centre", "The Centre which accepts"))
    assert people(site, "amend", "p", "--by", "Bo", "--because", "words").returncode == 0
    people(site, "resume", "-q")
    assert people(site, "seal", "--by", "Bo", "--open").returncode == 0
    page = (site / "campaigns/p-2/signature.html").read_text()
    assert "<h1>Supply of &lt;Example&gt; &amp; installation</h1>" in page
    assert "ccepted by both parties" not in page.partition("What people did")[0] and "which accepts" not in page


def test_what_was_added_to_a_pack_is_said_and_no_damage(site: Path, people: Run) -> None:
    layout = Layout(site / "campaigns/p-1")
    pack = min(layout.packs.glob("*.pack"))
    with pack.open("ab") as file:
        file.write(b"more")
    done = people(site, "verify")
    assert done.returncode == 0
    assert f"not checked: 4 bytes lie behind the last output in packs/{pack.name}, and no verdict" in done.stdout
    seal_campaign(layout, "Anna")
    with pack.open("ab") as file:
        file.write(b"x\n")
    done = people(site, "verify")
    assert done.returncode == 0
    assert f"not checked: 2 bytes were added to packs/{pack.name} after it was sealed, under no seal" in done.stdout
    assert f"4 bytes lie behind the last output in packs/{pack.name}" in done.stdout


@pytest.mark.parametrize("how", ["cut", "pipe", "directory"])
def test_a_pack_that_is_cut_or_replaced_is_damage_and_is_not_sealed(site: Path, people: Run, how: str) -> None:
    pack = next((site / "campaigns/p-1/packs").glob("*.pack"))
    if how == "cut":
        os.truncate(pack, 1)
    else:
        pack.unlink()
        os.mkfifo(pack) if how == "pipe" else pack.mkdir()
    done = people(site, "verify")
    assert done.returncode == 1
    assert done.stdout.startswith(f"p-1 is DAMAGED: packs/{pack.name}, event ")
    sealed = people(site, "seal", "--by", "Anna")
    assert sealed.returncode == 3 or "is damaged, so it is not sealed" in sealed.stderr
    assert not list((site / "campaigns/p-1").glob("seals/*.json"))


@pytest.mark.parametrize("place", ["packs/000001.pack", "documents", "log/000001.jsonl"])
def test_a_link_in_the_place_of_what_was_kept_is_damage_and_is_not_sealed(site: Path, people: Run, place: str) -> None:
    """It leads to the same bytes today, and may lead to others tomorrow."""
    root = site / "campaigns/p-1"
    kept = root / place if place != "documents" else next((root / place).glob("*.json"))
    elsewhere = site / "elsewhere"
    kept.rename(elsewhere)
    kept.symlink_to(elsewhere)
    done = people(site, "verify")
    assert done.returncode == 1, done.stdout
    assert done.stdout.startswith(f"p-1 is DAMAGED: {kept.relative_to(root)}")
    assert f"a symbolic link to {elsewhere} lies in the place of what was kept" in done.stdout
    assert people(site, "seal", "--by", "Anna").returncode == 3
    assert not list(root.glob("seals/*.json"))


def test_a_link_that_nothing_names_is_told_and_so_is_a_folder_on_another_file_system(site: Path, people: Run) -> None:
    root = site / "campaigns/p-1"
    (root / "outputs/000").mkdir(parents=True)
    (root / "outputs/000/notes.out").symlink_to("/etc/hostname")
    (root / "packs").rename(site / "packs")
    (root / "packs").symlink_to(site / "packs")
    done = people(site, "verify")
    assert done.returncode == 0, done.stdout
    said = " ".join(done.stdout.split())
    assert "1 symbolic link that no verdict and no seal names: outputs/000/notes.out (to /etc/hostname)" in said
    assert f"packs is a link to {site}/packs: what lies there is held against its sums like all else" in said


def test_a_link_in_the_place_of_a_sealed_file_is_damage(site: Path, people: Run) -> None:
    layout = Layout(site / "campaigns/p-1")
    seal_campaign(layout, "Anna")
    sealed = min(layout.root.glob("fingerprints/*.json"))
    sealed.rename(site / "elsewhere")
    sealed.symlink_to(site / "elsewhere")
    done = people(site, "verify")
    assert done.returncode == 1
    assert done.stdout.startswith(f"p-1 is DAMAGED: fingerprints/{sealed.name}")
