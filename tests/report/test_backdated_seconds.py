"""An act that is backdated by some seconds shows seconds: the same minute twice says nothing."""

from __future__ import annotations

import pytest

from shakedown.metrics.judging.scorecard import ActScore
from shakedown.report.page.signature import _act_text
from shakedown.report.terminal import act_lines


@pytest.mark.parametrize(
    ("as_of", "words"),
    [
        (1000.0, "1970-01-01 00:16:52{0}, BACKDATED to 1970-01-01 00:16:40{0}"),
        (0.0, "1970-01-01 00:16{0}, BACKDATED to 1970-01-01 00:00{0}"),
    ],
)
def test_times_of_one_minute_have_seconds(as_of: float, words: str) -> None:
    act = ActScore(
        number=3,
        kind="clock",
        by="Ada",
        said=1012.0,
        as_of=as_of,
        backdated=True,
        what="paused",
        because="x",
        without="accepted",
    )
    assert words.format(" UTC") in " ".join(act_lines(act)[0].split())
    assert words.format("") in _act_text({"said": 1012.0, "as_of": as_of, "what": "paused", "because": "x"})
