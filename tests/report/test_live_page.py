"""``report --live``: one page that follows a campaign to its end."""

from __future__ import annotations

from pathlib import Path

import pytest
from finished_campaign import finished, people, site

from shakedown.metrics.judging.scorecard import exit_status
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout
from shakedown.report.live_page import keep_written

__all__ = ["finished", "people", "site"]


def test_the_page_follows_the_campaign_and_stays_when_it_is_over(site: Path, tmp_path: Path) -> None:
    layout, file = Layout(site / "campaigns/p-1"), tmp_path / "page.html"
    whole = {path: path.read_bytes() for path in sorted(layout.log.glob("*.jsonl"))}
    first, *others = whole
    lines = whole[first].splitlines(keepends=True)
    for path in others:
        path.unlink()
    (layout.lease / "log-end").unlink()
    first.write_bytes(b"".join(lines[:14]))
    seen: list[str] = []

    def wait(_: Layout) -> None:
        seen.append(file.read_text())
        for path, data in whole.items():
            path.write_bytes(data)

    scorecard = keep_written(layout.root, file, None, wait)
    (begun,), over = seen, file.read_text()
    assert "As of event 13, " in begun and "It is written again while the campaign runs." in begun
    assert '<meta http-equiv="refresh" content="60">' in begun and 'http-equiv="refresh"' not in over
    assert "The campaign is over." in over and "written again" not in over
    assert exit_status(scorecard) == 1 and [path.name for path in tmp_path.glob("*page*")] == ["page.html"]


def test_a_record_that_cannot_be_read_is_said_on_the_page(site: Path, tmp_path: Path) -> None:
    layout, file = Layout(site / "campaigns/p-1"), tmp_path / "page.html"
    path = layout.log / "000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b'{"v":1,"event":"verdict"', b'{"v":1,"event":"verd', 1))
    with pytest.raises(RecordError):
        keep_written(layout.root, file, None, lambda _: pytest.fail("it goes on"))
    assert "DAMAGED: the record is not what was written" in file.read_text()
