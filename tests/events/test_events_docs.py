"""The reference of events says what the code says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from shakedown.cli.main import COMMANDS
from shakedown.engine.fold.evolve import HANDLERS
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.event_kinds import EVENT_KINDS
from shakedown.model.events import EVENTS, LINE_VERSION, VERDICTS, Event

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs" / "reference" / "events.md").read_text()
FIXTURE = Path(__file__).parent / "fixtures" / "v1" / "expected.json"
SECTIONS = dict(re.findall(r"^### `(\w+)`\n\n(.*?)(?=^##|\Z)", REFERENCE, flags=re.MULTILINE | re.DOTALL))


def facts(name: str) -> set[str]:
    lines = re.findall(r"^- ((?:`\w+`(?:, )?)+):", SECTIONS[name], flags=re.MULTILINE)
    return {word for line in lines for word in re.findall(r"\w+", line)}


def test_every_event_is_described_in_the_words_of_the_code() -> None:
    assert list(SECTIONS) == list(EVENTS)
    assert {name: text.split("\n")[0] for name, text in SECTIONS.items()} == EVENTS


def test_every_event_stands_under_the_heading_that_it_declares() -> None:
    headed = re.split(r"^## (.+)\n", REFERENCE, flags=re.MULTILINE)[1:]
    under = {
        name: heading
        for heading, text in zip(headed[::2], headed[1::2], strict=True)
        for name in re.findall(r"^### `(\w+)`", text, flags=re.MULTILINE)
    }
    assert under == {kind.name: kind.section for kind in EVENT_KINDS}


def test_no_event_is_declared_twice_and_every_function_that_folds_one_is_declared() -> None:
    assert len(EVENTS) == len(EVENT_KINDS)
    for kind in EVENT_KINDS:
        assert bool(kind.fold or kind.opens_epoch) == (kind.name in HANDLERS), kind.name
    introduced = set(re.findall(r"`(\w+)`", REFERENCE.split("\n## Standing orders\n")[1].split("\n### ")[0]))
    shown_but_not_described = {kind.name: set(kind.shown) - facts(kind.name) - introduced for kind in EVENT_KINDS}
    assert {name: words for name, words in shown_but_not_described.items() if words} == {}


def test_every_standing_order_that_is_declared_is_kept_among_them() -> None:
    orders = [kind.name for kind in EVENT_KINDS if kind.section == "Standing orders"]
    record = fold_runs(Event(name, seq) for seq, name in enumerate(orders, 1))
    assert [note.kind for note in record.standing] == orders


def test_every_act_that_is_declared_is_a_command() -> None:
    acts = {kind.act for kind in EVENT_KINDS if kind.act}
    assert acts - {"stop"} <= set(COMMANDS)  # stop: Ctrl-C


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
