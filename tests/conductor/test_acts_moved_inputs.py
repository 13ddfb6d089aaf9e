"""An input that an amendment finds elsewhere, with the content that it had, is no other input."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
import warm_commands
from acts_story import CASES, Acted, plan
from msgspec.structs import replace

from shakedown.conductor.commands.amend import told_differences
from shakedown.conductor.commands.moved_inputs import moved_inputs
from shakedown.conductor.record.environments import keep_named
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document

SHAKEDOWN = [sys.executable, "-m", "shakedown"]


def with_deck(place: object, document: Document | None = None) -> Document:
    """The plan whose first case has this input."""
    document = document or plan()
    case, *cases = document.cases
    return replace(document, cases=(replace(case, files=(("deck", str(place)),)), *cases))


@pytest.mark.parametrize("is_told", [True, False])
def test_another_path_alone_takes_nothing_away(is_told: bool) -> None:
    told = Acted(with_deck("/a/deck"))
    told.run("speed", CASES[0])
    said = {"document": told.keep(with_deck("/b/deck")), "by": "Bo", "difference": []}
    number = told.say("amended", said | ({"moved": [["/b/deck", "/a/deck"]]} if is_told else {}), "tidied up")
    told.run("speed", CASES[0], repeat=2)
    (act,) = [act for act in told.card().acts if act.number == number]
    assert act.takes == (() if is_told else ("the program, input or settings of stream/a",))
    assert act.without == ("incomplete" if is_told else "not known")


def test_what_is_moved_twice_is_where_it_was_first_and_another_content_is_another_input() -> None:
    whole = plan()
    whole = replace(whole, components=(replace(whole.components[0], repeats=3), *whole.components[1:]))
    told = Acted(with_deck("/a/deck", whole))
    moves: tuple[tuple[str, list[list[str]]], ...] = (
        ("/b/deck", [["/b/deck", "/a/deck"]]),
        ("/c/deck", [["/c/deck", "/b/deck"]]),
        ("/d/deck", []),
    )
    for repeat, (place, moved) in enumerate(moves, 1):
        said = {"document": told.keep(with_deck(place, whole)), "by": "Bo", "difference": [], "moved": moved}
        told.say("amended", said, "tidied up")
        told.run("speed", CASES[0], repeat=repeat)
    assert [bool(act.takes) for act in told.card().acts] == [False, False, True]


def test_content_is_compared_with_what_the_record_knows_of_the_old_place(tmp_path: Path) -> None:
    layout, old, new = Layout(tmp_path / "p-1"), tmp_path / "old", tmp_path / "new"
    layout.documents.mkdir(parents=True)
    for place in (old, new):
        (place / "in").mkdir(parents=True)
        (place / "in/deck").write_text("n = 1\n")
    before, after = with_deck(old / "in"), with_deck(new / "in")
    assert moved_inputs(layout, "", before, after) == {str(new / "in"): str(old / "in")}
    (line,) = told_differences(before, after, moved_inputs(layout, "", before, after))
    assert line == f"input {old / 'in'} lies at {new / 'in'}, with the same content"

    digest = hashlib.sha256(b"n = 1\n").hexdigest()
    known = {"inputs": {f"{old}/in/deck": f"6@1#{digest}"}}
    inputs = keep_named(layout, json.dumps(known).encode())
    (old / "in/deck").write_text("n = 3\n")  # since the driver looked
    assert moved_inputs(layout, inputs, before, after) == {str(new / "in"): str(old / "in")}
    (old / "in/deck").unlink()
    assert moved_inputs(layout, inputs, before, after) != {}
    (new / "in/more").write_text("")
    assert moved_inputs(layout, inputs, before, after) == {}, "one file more is another input"
    (new / "in/more").unlink()
    (new / "in/deck").write_text("n = 2\n")
    assert moved_inputs(layout, inputs, before, after) == {}
    assert "files" in told_differences(before, after, {})[0]
    assert moved_inputs(layout, "", before, after) == {}, "nobody knows what the old one held"


def test_an_input_that_is_moved_in_a_site_is_told_as_moved(tmp_path: Path) -> None:
    for folder in ("tests", "plans", "systems", "campaigns", "decks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "site.yaml").write_text("site: s\n")
    test = 'test: t\nrun: {files: [PLACE], command: "cat deck"}\ncheck: [output contains "n ="]\n'
    (tmp_path / "tests/t.yaml").write_text(test.replace("PLACE", "deck"))
    (tmp_path / "tests/deck").write_text("n = 1\n")
    (tmp_path / "plans/p.yaml").write_text("plan: p\nsystem: here\ncomponents:\n  - functionality: {tests: [t]}\n")

    def give(*words: str) -> str:
        done: subprocess.CompletedProcess[str] = warm_commands.run(
            words, cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        return done.stdout + done.stderr

    give("run", "p", "-q")
    (tmp_path / "tests/deck").rename(tmp_path / "decks/deck")
    (tmp_path / "tests/t.yaml").write_text(test.replace("PLACE", "../decks/deck"))
    said = give("amend", "p", "--by", "Ada", "--because", "tidied up")
    assert "tests/deck lies at" in said and "with the same content" in said and "is changed" not in said, said
    give("resume", "p-1", "-q")
    acts = json.loads(give("acts", "--json"))
    (act,) = acts["acts"]
    assert act["takes"] == [] and acts["outcome"] == "accepted", acts
