"""The same log gives the same bytes: another process, place, time zone, hash seed, locale and user's settings change nothing."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shakedown.report import write_report, writing

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder

MAKE = (
    "import sys; from pathlib import Path; from shakedown.report import write_report; write_report(Path(sys.argv[1]))"
)


def report_files(campaign: Path) -> dict[str, bytes]:
    found = [campaign / "report.html", *sorted((campaign / "report").rglob("*"))]
    return {str(path.relative_to(campaign)): path.read_bytes() for path in found if path.is_file()}


def test_another_process_in_another_place_makes_the_same_bytes(reported: Path, tmp_path: Path) -> None:
    moved = tmp_path / "else where" / "renamed <b>"
    shutil.copytree(reported, moved, ignore=shutil.ignore_patterns("report*"))
    settings = tmp_path / "matplotlib"
    settings.mkdir()
    (settings / "matplotlibrc").write_text(
        "font.size: 33\nsvg.fonttype: none\nxtick.direction: in\naxes.labelpad: 19\n"
    )
    changed = {"TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "77", "LC_ALL": "C.UTF-8", "MPLCONFIGDIR": str(settings)}
    subprocess.run([sys.executable, "-c", MAKE, str(moved)], cwd="/", env=os.environ | changed, check=True)
    first, second = report_files(reported), report_files(moved)
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []
    assert len(first) > 20


def test_nothing_of_the_place_or_the_day_is_in_it(reported: Path) -> None:
    for name, data in report_files(reported).items():
        assert str(reported.parent).encode() not in data, name
        assert b"CreationDate" not in data and b"dc:date" not in data, name
    page = (reported / "report.html").read_text()
    assert "2026-11-03" in page, "times come from the log"


def test_the_sums_are_of_what_was_written(reported: Path) -> None:
    lines = (reported / "report/SHA256SUMS").read_text().splitlines()
    assert {line.split("  ")[1] for line in lines} == set(report_files(reported)) - {"report/SHA256SUMS"}
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((reported / name).read_bytes()).hexdigest() == digest


def test_the_digest_on_the_page_is_that_of_the_log_lines(reported: Path) -> None:
    lines = (reported / "log/000001.jsonl").read_bytes().split(b"\n", 1)[1]
    assert hashlib.sha256(lines).hexdigest() in (reported / "report.html").read_text()


def test_a_second_report_takes_away_figures_that_are_no_more_and_nothing_else(small: CampaignBuilder) -> None:
    small.run("hello", "main")
    campaign = small.save()
    write_report(campaign)
    mine = campaign / "report/figures/mine.svg"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("hands off")
    stale = campaign / "report/figures/stale.svg"
    stale.write_text("old")
    outside = campaign.parent / "outside.svg"
    outside.write_text("not ours")
    sums = campaign / "report/SHA256SUMS"
    more = [
        "report/figures/stale.svg",
        "report/figures/../../../outside.svg",
        "log/000001.jsonl",
        "report/figures/gone.svg",
    ]
    sums.write_text(sums.read_text() + "".join(f"{'0' * 64}  {name}\n" for name in more))
    write_report(campaign)
    assert not stale.exists()
    assert mine.exists() and outside.exists() and (campaign / "log/000001.jsonl").exists()


def test_a_report_that_was_interrupted_leaves_sums_that_tell_and_the_next_one_takes_away_the_rest(
    small: CampaignBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.run("hello", "main")
    campaign = small.save()
    write_report(campaign)
    sums = campaign / "report/SHA256SUMS"
    stale = campaign / "report/figures/stale.svg"
    stale.parent.mkdir(exist_ok=True)
    stale.write_text("old")
    sums.write_text(sums.read_text() + f"{'0' * 64}  report/figures/stale.svg\n")
    before, replace = sums.read_text(), writing.replace_file

    def interrupted(path: Path, data: bytes) -> None:
        if path.name == "report.html":
            raise KeyboardInterrupt
        replace(path, data)

    monkeypatch.setattr(writing, "replace_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_report(campaign)
    assert sums.read_text() == before and stale.exists()
    monkeypatch.undo()
    write_report(campaign)
    assert not stale.exists() and "stale" not in sums.read_text()
