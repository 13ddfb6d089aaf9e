"""Payloads are held against the names of their files."""

from __future__ import annotations

from pathlib import Path

from shakedown.audit.payloads import changed_payloads
from shakedown.audit.verifying import verify_campaign
from shakedown.model.layout import Layout
from shakedown.schedulers.cluster.job_places import keep_payload


def test_a_payload_that_is_not_what_its_name_says_is_told(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert changed_payloads(layout) == []
    first, second = keep_payload(layout, "true\n"), keep_payload(layout, "false\n")
    assert changed_payloads(layout) == []
    second.write_text("exit 0\n")
    (said,) = changed_payloads(layout)
    assert said.startswith(f"payloads/{second.name}: not what the name says") and first.name not in said


def test_verify_tells_it(site: Path) -> None:
    finished = Layout(site / "campaigns" / "p-1")
    payload = keep_payload(finished, "true\n")
    assert verify_campaign(finished).changed == []
    payload.write_text("exit 0\n")
    found = verify_campaign(finished)
    assert found.whole and not found.as_it_was
    assert [payload.name in said for said in found.changed] == [True]
