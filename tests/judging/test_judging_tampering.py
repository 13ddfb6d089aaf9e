"""What is edited afterwards is found and said: a sealed log, a contract, a golden file, kept outputs, the signed digest."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from c5_in_virtual_time import command

from shakedown.metrics.judging.criteria import score
from shakedown.report.reading import read_campaign

CAMPAIGN = "campaigns/c5-phase2-1"


@pytest.fixture(scope="module")
def sealed(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("sealed") / "c5"
    shutil.copytree(example, site, symlinks=True)
    done = command("seal", "--by", "Ada Example", cwd=site)
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture
def site(sealed: Path, tmp_path: Path) -> Path:
    """A copy that may be spoilt."""
    copy = tmp_path / "c5"
    shutil.copytree(sealed, copy, symlinks=True)
    return copy


def test_untouched_it_is_whole(site: Path) -> None:
    done = command("verify", cwd=site)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "c5-phase2-1 is whole\nsealed as " in done.stdout


def _figure(text: bytes) -> bytes:
    """A slow run made fast: one digit of a figure in the middle of the log."""
    place = text.index(b'"runtime":', len(text) // 2) + len(b'"runtime":')
    return text[:place] + (b"3" if text[place : place + 1] != b"3" else b"2") + text[place + 1 :]


def _verdict(text: bytes) -> bytes:
    return text.replace(b'"verdict":"failed"', b'"verdict":"passed"', 1).replace(
        b'"elapsed_s":0.', b'"elapsed_s":1.', 1
    )


def _line_out(text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    return b"".join(lines[:50] + lines[51:])


@pytest.mark.parametrize(("spoil", "located"), [(_figure, True), (_verdict, True), (_line_out, True)])
def test_a_sealed_log_that_is_edited(site: Path, spoil: Callable[[bytes], bytes], located: bool) -> None:
    """Segment, line and event are named; of a single byte the byte too, with what it was."""
    path = site / CAMPAIGN / "log/000001.jsonl"
    before = path.read_bytes()
    after = spoil(before)
    assert after != before
    path.write_bytes(after)

    done = command("verify", cwd=site)

    assert done.returncode == 1
    assert "c5-phase2-1 is DAMAGED: log/000001.jsonl" in done.stdout
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    line = next(number for number, (one, other) in enumerate(pairs, 1) if one != other)
    if len(before) == len(after):
        assert f"line {line}" in done.stdout and f"event {line - 1}:" in done.stdout, done.stdout
    if spoil is _figure:
        byte = next(place for place, (one, other) in enumerate(zip(before, after, strict=True)) if one != other)
        assert f"at byte {byte}" in done.stdout and f"was {before[byte : byte + 1]!r}" in done.stdout


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("contracts/c5-phase2.yaml", '"<= 4355.5 s"', '"<= 8500.5 s"'),
        ("tests/model/golden/cm4.sha256", "c014c975", "d014c975"),
        ("plans/c5-phase2.yaml", '">= 20%"', '">= 1%"'),
    ],
)
def test_a_contract_or_a_golden_file_edited_after_the_start(site: Path, name: str, before: str, after: str) -> None:
    """The record is whole and says what was agreed; the file is named."""
    path = site / name
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))

    done = command("verify", cwd=site)

    assert done.returncode == 1
    assert "the record is whole; but files of the site are not as they were frozen" in done.stdout
    assert f"  {name} was changed since the start; what was agreed is in the frozen plan" in done.stdout


def test_a_contract_edited_after_the_start_changes_no_outcome(site: Path) -> None:
    path = site / "contracts/c5-phase2.yaml"
    path.write_text(path.read_text().replace('"<= 4355.5 s"', '"<= 1 s"'))

    read = read_campaign(site / CAMPAIGN)

    assert score(read.document, read.record).summary.startswith(
        "accepted with restrictions: all 16 criteria are met; 1 contract row "
    )


def test_kept_evidence_and_outputs_that_are_edited(site: Path) -> None:
    pack = next((site / CAMPAIGN / "packs").glob("*.pack"))
    content = pack.read_bytes()
    place = content.index(b"run time on C5 = ") + len(b"run time on C5 = ")
    pack.write_bytes(content[:place] + b"1" + content[place + 1 :])

    done = command("verify", cwd=site)

    assert done.returncode == 1
    assert f"DAMAGED: packs/{pack.name}" in done.stdout


def test_another_record_than_the_one_that_was_signed(site: Path) -> None:
    done = command("verify", "--digest", "0123456789abcdef", cwd=site)

    assert done.returncode == 1
    assert "this is not the record that was signed" in done.stdout
