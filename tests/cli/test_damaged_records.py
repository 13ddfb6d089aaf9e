"""A damaged record as a person meets it: the word comes first, on the page and in JSON too, with status 3; and nothing is added."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import killing
import more_damages
import pytest
import record_damages
from record_damages import Source, Told, tell

from shakedown.events.lines import encode_event
from shakedown.events.reader import read_events
from shakedown.events.segments import segment_numbers, segment_path
from shakedown.model.events import Event


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Source]:
    """Finished, sealed, interrupted, killed and rehearsed ones."""
    return {source.name: source for source in record_damages.make_records(tmp_path_factory.mktemp("records"))}


Open = Callable[[str], Source]


@pytest.fixture
def opened(records: dict[str, Source], tmp_path: Path) -> Open:
    """A copy of one of them that may be spoilt."""

    def take(name: str) -> Source:
        site = Path(shutil.copytree(records[name].site, tmp_path / name, symlinks=True))
        return Source(name, site, records[name].campaign)

    return take


def say(source: Source, *words: str) -> Told:
    return tell(source.site, *record_damages.words_of(source, words))


def faster(source: Source) -> None:
    """One digit, in a log that goes on to make sense."""
    path = source.root / "log/000001.jsonl"
    before = path.read_bytes()
    path.write_bytes(before.replace(b'"repeat":1', b'"repeat":2', 1))
    assert path.read_bytes() != before


# ---- readers -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["finished", "interrupted"])
@pytest.mark.parametrize("words", [words for words in record_damages.READERS if words[0] not in ("verify", "report")])
def test_every_reader_says_it_first_and_ends_with_3(opened: Open, name: str, words: tuple[str, ...]) -> None:
    source = opened(name)
    faster(source)
    told = say(source, *words)
    assert told.status == 3, told
    first = (told.out or told.err).splitlines()
    if "--json" in words and told.out:
        first = [line for line in first if '"damaged"' in line]
    assert "damaged" in first[0].lower() and "log/000001.jsonl" in first[0], told
    assert "Traceback" not in told.err


def test_the_page_and_the_tables_say_it(opened: Open) -> None:
    source = opened("finished")
    assert say(source, "report", "--no-pdf").status == 0
    assert any((source.root / "report/figures").iterdir())
    faster(source)
    told = say(source, "report", "--no-pdf")
    assert told.status == 3 and told.out.startswith("DAMAGED: the record of p-1 is damaged: log/000001.jsonl, line ")
    page = (source.root / "report.html").read_text()
    assert page.index("DAMAGED: the record is not what was written") < page.index("functionality")
    tables = list((source.root / "report/tables").glob("*.csv"))
    assert tables and all(table.read_text().startswith("DAMAGED: ") for table in tables)
    assert not list((source.root / "report/figures").glob("*")), "a figure alone could not say so"


def test_json_has_it_beside_what_is_read(opened: Open) -> None:
    source = opened("finished")
    faster(source)
    data = json.loads(say(source, "runs", "--json").out)
    assert data["damaged"].startswith("the record of p-1 is damaged: log/000001.jsonl, line ") and data["judged"]
    assert "damaged" not in json.loads(say(opened("sealed"), "runs", "--json").out)


@pytest.mark.parametrize("content", [b"", b"\x80\x00\xff" * 200])
def test_a_segment_that_is_empty_or_binary_is_told_in_one_sentence_by_everybody(opened: Open, content: bytes) -> None:
    source = opened("finished")
    (source.root / "log/000001.jsonl").write_bytes(content)
    acts = (("resume", "-q"), ("seal", "--by", "Ada"))
    asked = (("status",), ("runs",), ("why", "r000001"), ("nodes",), ("show", "run", "r000001"), ("log", "--verify"))
    told = [say(source, *words) for words in (*asked, *acts)]
    assert {one.status for one in told} == {3}
    said = {next(line for line in one.err.splitlines() if line.startswith("error: ")) for one in told}
    assert len(said) == 1, said
    assert said.pop().startswith("error: the record of p-1 is damaged: log/000001.jsonl, line 1: it is no header: ")
    assert say(source, "verify").out.startswith("p-1 is DAMAGED: log/000001.jsonl, line 1: it is no header: ")


@pytest.mark.parametrize("words", [*record_damages.ACTS, ("resume", "-q")])
def test_nothing_is_added_to_it(opened: Open, words: tuple[str, ...]) -> None:
    source = opened("interrupted")
    faster(source)
    before = {path: path.read_bytes() for path in (source.root / "log").glob("*.jsonl")}
    ran = (source.site / "truth").read_text()
    told = say(source, *words)
    assert told.status == 3 and "the record of p-1 is damaged: log/000001.jsonl, line " in told.err
    assert {path: path.read_bytes() for path in (source.root / "log").glob("*.jsonl")} == before
    assert (source.site / "truth").read_text() == ran


@pytest.mark.parametrize("words", [*record_damages.ACTS, ("resume", "-q"), ("verify",)])
def test_nothing_is_added_to_one_that_makes_no_sense_though_its_chain_was_made_again(
    opened: Open, words: tuple[str, ...]
) -> None:
    source = opened("interrupted")
    path = source.root / "log/000001.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if b'"event":"submit_order"' in line)
    lines[at] = lines[at].replace(b',"job":"j000001"', b"")
    path.write_bytes(b"".join(lines))
    record_damages.remake(path.parent)
    before = {one: one.read_bytes() for one in path.parent.glob("*.jsonl")}
    ran = (source.site / "truth").read_text()
    told = say(source, *words)
    assert told.status == (1 if words == ("verify",) else 3), told
    assert "this 'submit_order' makes no sense" in told.err + told.out, told
    assert {one: one.read_bytes() for one in path.parent.glob("*.jsonl")} == before
    assert (source.site / "truth").read_text() == ran


@pytest.mark.parametrize("words", [("resume", "-q"), ("verify",)])
def test_a_number_of_more_than_64_bits_makes_no_sense(opened: Open, words: tuple[str, ...]) -> None:
    """No program of ours writes one; what is folded from it cannot be kept."""
    source = opened("interrupted")
    path = source.root / "log/000001.jsonl"
    content, done = re.subn(rb'"repeat":1\b', b'"repeat":' + b"9" * 400, path.read_bytes())
    assert done
    path.write_bytes(content)
    record_damages.remake(path.parent)
    before = path.read_bytes()
    told = say(source, *words)
    assert told.status == (1 if words == ("verify",) else 3), told
    assert "makes no sense: it has a number of 400 digits" in told.err + told.out, told
    assert path.read_bytes() == before


def test_an_interrupted_record_is_not_damaged(opened: Open) -> None:
    source = opened("killed")
    with (segment_path(source.root / "log", segment_numbers(source.root / "log")[-1])).open("ab") as log:
        log.write(b'{"v":1,"event":"job_re')  # a torn line
    told = say(source, "status")
    assert told.status == 0 and not told.damaged


@pytest.mark.parametrize("name", ["finished", "rehearsed"])
def test_a_log_that_is_gone_is_no_campaign_that_did_not_start(opened: Open, name: str) -> None:
    source = opened(name)
    shutil.rmtree(source.root / "log")
    for words in (("status",), ("runs",), ("report", "--no-pdf"), ("resume", "-q")):
        told = say(source, *words)
        assert told.status == 3 and told.damaged and "not started" not in told.out, (words, told)
        assert not (source.root / "log").exists()


@pytest.mark.parametrize("spoil", ["removed", "changed", "a pipe"])
def test_a_frozen_plan_that_is_gone_or_changed_is_missed_by_every_reader(opened: Open, spoil: str) -> None:
    """Also by those that read the log alone; and nothing is executed."""
    source = opened("interrupted")
    (plan,) = (source.root / "documents").iterdir()
    content = plan.read_bytes()
    plan.unlink()
    if spoil == "changed":
        plan.write_bytes(content + b" ")
    elif spoil == "a pipe":
        os.mkfifo(plan)
    ran = (source.site / "truth").read_text()
    for words in (
        ("status",),
        ("runs",),
        ("report", "--no-pdf"),
        ("log",),
        ("failures",),
        ("resume", "-q"),
        ("verify",),
    ):
        told = say(source, *words)
        assert told.status == (1 if words == ("verify",) else 3) and told.damaged, (words, told)
        assert f"documents/{plan.name}" in told.out + told.err, words
    assert (source.site / "truth").read_text() == ran


@pytest.mark.parametrize("spoil", ["log-end", "lease"])
def test_lines_that_were_removed_together_with_the_logs_end_are_missed(opened: Open, spoil: str) -> None:
    source = opened("interrupted")
    path = segment_path(source.root / "log", segment_numbers(source.root / "log")[-1])
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-5]))
    if spoil == "lease":
        shutil.rmtree(source.root / "lease")
    else:
        (source.root / "lease/log-end").unlink()
    ran = (source.site / "truth").read_text()
    for words in (("status",), ("runs",), ("resume", "-q")):
        told = say(source, *words)
        assert told.status == 3 and told.damaged and "lease/log-end" in told.out + told.err, (words, told)
    assert (source.site / "truth").read_text() == ran


@pytest.mark.parametrize("spoil", ["removed", "changed", "a pipe"])
def test_verify_misses_an_environment_that_is_not_sealed(opened: Open, spoil: str) -> None:
    source = opened("finished")
    kept = next(path for path in (source.root / "environments").iterdir() if b"PATH" in path.read_bytes())
    content = kept.read_bytes()
    kept.unlink()
    if spoil == "changed":
        kept.write_bytes(content.replace(b"PATH", b"HTAP", 1))
    elif spoil == "a pipe":
        os.mkfifo(kept)
    found = json.loads(say(source, "verify", "--json").out)
    assert not found["whole"] and found["damage"]["path"] == f"environments/{kept.name}", found
    names = next(event for event in read_events(source.root / "log") if kept.stem in str(event.value))
    assert found["damage"]["why"] and found["damage"]["event"] == names.seq > 0


def test_an_emptied_log_is_the_newest_campaign_and_damaged(opened: Open) -> None:
    """Without a name, too; and JSON has the word where nothing else can be said."""
    source = opened("finished")
    for path in (source.root / "log").glob("*.jsonl"):
        path.unlink()
    told = tell(source.site, "report", "--json")
    assert told.status == 3, told
    assert json.loads(told.out)["damaged"].startswith("the record of p-1 is damaged: log: it is empty or missing")
    assert tell(source.site, "status").status == 3


# ---- seal ----------------------------------------------------------------------------------------------------------------


def test_what_verify_calls_damaged_is_not_sealed(opened: Open) -> None:
    """The log is whole; a kept output says something else than its verdict."""
    source = opened("finished")
    (pack,) = (source.root / "packs").iterdir()
    pack.write_bytes(pack.read_bytes().replace(b"17.25", b"99.25", 1))
    found = json.loads(say(source, "verify", "--json").out)
    assert not found["whole"] and found["damage"]["path"] == f"packs/{pack.name}"
    assert found["damage"]["why"].endswith("is damaged: it is not what was kept of the run")
    shown = say(source, "show", "run", found["damage"]["why"].partition(":")[0])
    assert shown.status == 3 and "99.25" not in shown.out and "is damaged" in shown.err
    told = say(source, "seal", "--by", "A")
    assert told.status == 3 and "is damaged, so it is not sealed: packs/" in told.err
    assert not (source.root / "seals").exists() and "sealed" not in {e.event for e in read_events(source.root / "log")}


def test_a_figure_that_was_changed_with_the_whole_chain_is_held_against_its_output(opened: Open) -> None:
    """No sum tells any more; the output that was kept does."""
    source = opened("finished")
    path = source.root / "log/000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"figures":{"rate":17.25}', b'"figures":{"rate":97.25}', 1))
    record_damages.remake(source.root / "log")
    told = say(source, "status")
    assert (told.status, "entry 3 of the site's register" in told.out) == (3, True), (
        "the chain is whole, and not what ended"
    )
    found = json.loads(say(source, "verify", "--json").out)
    assert "has rate = 97.25 in the log, and 17.25 comes out of its output" in found["damage"]["why"]
    assert say(source, "seal", "--by", "A").status == 3


def test_outputs_that_are_gone_are_counted_and_no_damage(opened: Open) -> None:
    source = opened("finished")
    shutil.rmtree(source.root / "packs")
    told = say(source, "verify")
    assert told.status == 0
    assert "not checked: 9 verdicts against their kept outputs: its output in 000001.pack is gone" in told.out


# ---- resume --------------------------------------------------------------------------------------------------------------


def test_resume_of_a_sealed_campaign_that_is_over_adds_nothing(opened: Open) -> None:
    source = opened("sealed")
    before = {path: path.read_bytes() for path in source.root.rglob("*") if path.is_file()}
    told = say(source, "resume", "-q")
    assert told.status == 0 and "functionality" in told.out
    assert {path: path.read_bytes() for path in source.root.rglob("*") if path.is_file()} == before


def test_resume_stops_at_an_order_that_it_does_not_know(opened: Open) -> None:
    """A newer version left a standing order: reading goes on and says so, driving does not."""
    source = opened("interrupted")
    last = segment_numbers(source.root / "log")[-1]
    path = segment_path(source.root / "log", last)
    end = list(read_events(source.root / "log"))[-1]
    unknown = Event("only_on_tuesdays", seq=end.seq + 1, time=end.time, value={"component": "functionality"})
    path.write_bytes(path.read_bytes() + encode_event(unknown))
    ran = (source.site / "truth").read_text()
    told = say(source, "resume", "-q")
    assert told.status == 3
    assert "has events that this version does not know (only_on_tuesdays: 1)" in told.err
    assert (source.site / "truth").read_text() == ran
    assert "submit_order" not in {e.event for e in read_events(source.root / "log", after=unknown.seq)}
    told = say(source, "status")
    assert told.status == 0 and "events of a later version, which are passed over: only_on_tuesdays: 1" in told.out


# ---- runs ----------------------------------------------------------------------------------------------------------------


def test_every_run_that_ran_has_its_end(opened: Open) -> None:
    source = opened("finished")
    rows = json.loads(say(source, "runs", "--json").out)["judged"]
    assert len(rows) == 9
    for row in rows:
        assert row["ended"] == pytest.approx(row["started"] + row["elapsed_s"], abs=1e-5)


# ---- at random -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["finished", "sealed", "interrupted", "killed", "rehearsed"])
def test_random_damages_break_no_promise(records: dict[str, Source], name: str, tmp_path: Path) -> None:
    """A sample; ``benchmarks/damaged_records.py`` has thousands. Only the cheap readers, and ``resume``."""
    source = records[name]
    cheap = [words for words in record_damages.READERS if words[0] in ("status", "runs", "log", "show", "why")]
    if not source.reference:
        record_damages.learn(source, tmp_path / "scratch", cheap)
    for seed in range(10):
        chance = random.Random(seed)
        site = record_damages.copy(source, tmp_path / "copy")
        done = record_damages.damage(site / source.campaign, chance, [other.root for other in records.values()])
        broken = record_damages.try_commands(source, site, done, chance, 2, cheap, limit_s=2.0)
        assert not broken, f"seed {seed}, {name}, {done}: {broken}"


@pytest.mark.parametrize("kind", ["strange names", "second name", "strays in the inbox", "driven elsewhere"])
def test_what_lies_beside_a_record_breaks_no_promise(records: dict[str, Source], kind: str, tmp_path: Path) -> None:
    source, chance = records["interrupted"], random.Random(kind)
    cheap = [words for words in record_damages.READERS if words[0] in ("status", "runs", "log", "show", "why")]
    if not source.reference:
        record_damages.learn(source, tmp_path / "scratch", cheap)
    site = record_damages.copy(source, tmp_path / "copy")
    remade = more_damages.spoil_record(site / source.campaign, kind, chance, ())
    done = record_damages.Damage(kind, ".", remade)
    assert record_damages.try_commands(source, site, done, chance, 4, cheap, limit_s=2.0) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_command_that_is_killed_leaves_nothing_or_all(records: dict[str, Source], tmp_path: Path, seed: int) -> None:
    """A sample of ``benchmarks/killed_commands.py``, each of another command."""
    assert killing.trial(records["finished"], tmp_path / "scratch", seed) == []
