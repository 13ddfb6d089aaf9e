"""The reference of events says what the code says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from shakedown.model.events import EVENTS, LINE_VERSION, VERDICTS, Event

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs" / "reference" / "events.md").read_text()
FIXTURE = Path(__file__).parent / "fixtures" / "v1" / "expected.json"
SECTIONS = dict(re.findall(r"^### `(\w+)`\n\n(.*?)(?=^##|\Z)", REFERENCE, flags=re.MULTILINE | re.DOTALL))


def facts(name: str) -> set[str]:
    return set(re.findall(r"^- `(\w+)`:", SECTIONS[name], flags=re.MULTILINE))


def test_every_event_is_described_in_the_words_of_the_code() -> None:
    assert list(SECTIONS) == list(EVENTS)
    assert {name: text.split("\n")[0] for name, text in SECTIONS.items()} == EVENTS


def test_every_verdict_is_described_in_the_words_of_the_code() -> None:
    described = dict(re.findall(r"^- `(\w+)`: (.*)$", REFERENCE.split("\n## Verdicts\n")[1], flags=re.MULTILINE))
    assert described == VERDICTS
    assert f"of version {LINE_VERSION}." in REFERENCE


def test_the_facts_of_the_kept_log_are_described() -> None:
    for event in msgspec.json.decode(FIXTURE.read_bytes(), type=list[dict[str, Any]]):
        assert set(event.get("value", {})) <= facts(event["event"]), event["event"]


def test_the_page_on_the_record_names_every_field_of_a_line() -> None:
    page = (ROOT / "docs" / "concepts" / "record.md").read_text()
    fields = {"event": '"event"', "v": '"v"'}
    assert all(fields.get(name, f"`{name}`") in page for name in Event.__struct_fields__)
