"""What people say while a conductor is about to begin a campaign is meant for that one, and not for the one before."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from shakedown.cli.steer import requests as wishes
from shakedown.events.campaigns import create_campaign
from shakedown.events.lease import Lease
from shakedown.events.opening import open_log
from shakedown.events.reader import first_event
from shakedown.model.errors import UsageError


def test_a_command_waits_until_the_campaign_has_begun(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    earlier = site / "campaigns" / "p-1"
    start = first_event(earlier / "log")
    assert start is not None
    document = (earlier / "documents" / f"{start.value['document']}.json").read_bytes()
    layout = create_campaign(site / "campaigns", "p-2", document)
    with Lease.acquire(layout) as lease:

        def begin(seconds: float) -> None:
            log, _ = open_log(layout.log, lease)
            log.append([msgspec.structs.replace(start, value=start.value | {"campaign": "p-2"})])
            log.close()

        monkeypatch.setattr(wishes, "time", SimpleNamespace(monotonic=time.monotonic, sleep=begin))
        found, state = wishes.find_started(str(site), None, "attest")
    assert found.root == layout.root
    assert state.plan is not None


def test_nobody_waits_for_a_campaign_that_no_conductor_begins(site: Path) -> None:
    create_campaign(site / "campaigns", "p-2", b"{}")
    with pytest.raises(UsageError, match="p-2 has not started; there is nothing to attest"):
        wishes.find_started(str(site), "p-2", "attest")
