"""The file of the token while a campaign is driven."""

from __future__ import annotations

from pathlib import Path

import pytest

from shakedown.model.layout import Layout
from shakedown.model.ports import JobReport
from shakedown.model.void_starts import TOKEN_CHANGED
from shakedown.schedulers.cluster.job_places import campaign_token
from shakedown.schedulers.cluster.token_watch import TokenWatch

GAVE_UP = "Slurm started it on n001 and it ended with exit status 97 (FAILED) before it took its claim"


@pytest.mark.parametrize("left", [None, "deadbeef\n", ""])
def test_a_token_that_somebody_changed_is_put_right_and_no_node_is_blamed(tmp_path: Path, left: str | None) -> None:
    layout, now = Layout(tmp_path), [0.0]
    watch = TokenWatch(layout, campaign_token(layout), lambda: now[0])
    right, lost = layout.token.read_bytes(), JobReport("j000001", "refused", "queue", nodes="n001", message=GAVE_UP)
    other = JobReport("j000002", "failed", "marks", nodes="n001", exit_status=1)
    watch.look()
    assert watch.explained([lost, other]) == [lost, other], "the token is right: the node may be at fault"
    layout.token.unlink()
    if left is not None:
        layout.token.write_text(left)
    watch.look()
    assert layout.token.read_bytes() == right
    told, same = watch.explained([lost, other])
    assert (told.nodes, told.message, same) == ("", f"{TOKEN_CHANGED}: {GAVE_UP}", other)
    now[0] = 181.0
    watch.look()
    assert watch.explained([lost]) == [lost]
