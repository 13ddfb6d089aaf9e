"""Checks against contents: what holds, what does not and what was seen instead, what cannot be decided."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.checks import extract
from shakedown.checks.text import LINE_LIMIT, Missing, Text, decode, joined
from shakedown.model.nouns import Check, Test


def on_output(kind: str, argument: str) -> Check:
    return Check(kind, "output", argument, f'output {kind} "{argument}"')


def text(content: str, limit: int = LINE_LIMIT) -> Text:
    return decode("output", content.encode(), limit=limit)


# Line ends, colours and byte order marks are not text (test_checks_structured.py has what becomes of them).
PLAIN = st.characters(blacklist_characters="\r\x1b\ufeff")


@given(st.text(PLAIN, max_size=200), st.text(PLAIN, max_size=5))
def test_contains_and_lacks_say_the_opposite_of_each_other(content: str, sought: str) -> None:
    contents = text(content.encode(errors="replace").decode())
    contains = extract.check(on_output("contains", sought), contents)
    lacks = extract.check(on_output("lacks", sought), contents)
    assert contains.held is (sought in content.encode(errors="replace").decode())
    assert lacks.held is not contains.held


@given(st.binary(max_size=300), st.integers(2, 40).map(lambda n: 2 * n))
def test_whatever_the_bytes_are_nothing_raises_and_a_match_is_a_match(data: bytes, limit: int) -> None:
    contents = decode("output", data, limit=limit)
    result = extract.check(on_output("matches", "a+b"), contents)
    if result.held:
        assert re.search(b"a+b", data)
    if re.search(b"a+b", data) and all(len(line) <= limit for line in data.decode(errors="replace").split("\n")):
        assert result.held


@given(st.lists(st.text("ab ", max_size=30), max_size=20), st.integers(2, 10).map(lambda n: 2 * n))
def test_pieces_hold_every_short_line_whole_and_both_ends_of_every_long_one(lines: list[str], limit: int) -> None:
    pieces = text("\n".join(lines), limit=limit).pieces
    seen = [line for piece in pieces for line in piece.split("\n")]
    for line in lines:
        if len(line) <= limit:
            assert line in seen
        else:
            assert line[: limit // 2] in seen
            assert line[-(limit // 2) :] in seen
    assert all(len(line) <= limit for line in seen)


def test_what_is_not_found_is_told_with_the_last_line() -> None:
    result = extract.check(on_output("contains", "Completed"), text("step 1\nstep 2: diverged\n\n"))
    assert result.held is False
    assert result.detail == "it is nowhere in the output, whose last line is 'step 2: diverged'"


def test_what_should_not_be_there_is_told_with_its_line() -> None:
    result = extract.check(on_output("lacks", "ERROR"), text("fine\n  ERROR: \x1b[31mresidual\x1b[0m is 7\nend\n"))
    assert result.held is False
    assert result.detail == "the output has the line 'ERROR: residual is 7'"


def test_an_anchor_means_a_line() -> None:
    assert extract.check(on_output("matches", r"^residual = [0-9.]+$"), text("a\nresidual = 0.5\nb")).held


def test_no_output_is_a_sentence_and_no_error() -> None:
    contents = decode("output", b"", absent=True)
    assert contents.problems == ("the output is empty: the run wrote nothing",)
    assert extract.check(on_output("contains", "x"), contents).detail == "the output is empty"
    assert extract.check(on_output("lacks", "x"), contents).held is True


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"a\xff\xfeb", "the output is not all UTF-8 text (0xff is one such byte): what is not was replaced"),
        (b"a\0b", "the output holds NUL bytes; they are kept as they are"),
        (b"\x1b[2Jb", "the output holds terminal escape codes; they are kept, and escaped wherever they are shown"),
    ],
)
def test_output_that_is_no_plain_text_is_read_all_the_same_and_said(data: bytes, problem: str) -> None:
    contents = decode("output", data)
    assert contents.problems == (problem,)
    assert extract.check(on_output("contains", "b"), contents).held


def test_a_very_long_line_is_cut_for_regular_expressions_only_at_first() -> None:
    contents = text("x" * 50 + "needle" + "x" * 50 + "\nshort\n", limit=20)
    assert contents.problems == (
        "the output has a line longer than 20 B: regular expressions see the middle only where nothing else fits",
    )
    assert extract.check(on_output("contains", "needle"), contents).held
    assert extract.check(on_output("matches", "x+needlex+$"), contents).held
    assert extract.check(on_output("matches", "^short$"), contents).held
    nowhere = extract.check(on_output("matches", "pin"), contents)
    assert (nowhere.held, nowhere.detail) == (False, "it is nowhere in the output, whose last line is 'short'")


def test_of_several_files_with_long_lines_all_is_looked_through() -> None:
    files = [text("x" * 50 + "needle" + "x" * 50, limit=20), text("short\n")]
    contents = joined("*.txt", files)
    assert len(contents.parts) == 1 and extract.check(on_output("matches", "needlex+\nshort$"), contents).held


def test_what_lies_in_an_unread_middle_is_never_decided() -> None:
    contents = decode("output", b"begin\nhalf a li", b"ne\nend\n", skipped=1 << 30)
    assert contents.parts == ("begin\n", "end\n")
    assert contents.problems == ("the output has 1.0 GiB: only its first 15 B and last 7 B were read",)
    assert extract.check(on_output("contains", "begin"), contents).held is True
    assert extract.check(on_output("contains", "middle"), contents).held is None
    assert extract.check(on_output("lacks", "end"), contents).held is False
    lacks = extract.check(on_output("lacks", "middle"), contents)
    assert lacks.held is None
    assert lacks.detail == "it is not in what was read of the output, but its middle was not read"


def test_a_character_that_the_gap_cuts_in_two_is_not_called_binary() -> None:
    euro = "€".encode()
    contents = decode("output", b"a" + euro[:2], euro[2:] + b"b", skipped=9)
    assert contents.parts == ("a", "b")
    assert len(contents.problems) == 1


@pytest.mark.parametrize(
    ("pattern", "detail"),
    [
        ("(", "'(' is not a regular expression: missing ), unterminated subpattern at position 0"),
        ("a{9999999999999}", "'a{9999999999999}' is not a regular expression: the repetition number is too large"),
    ],
)
def test_a_faulty_pattern_decides_nothing(pattern: str, detail: str) -> None:
    result = extract.check(on_output("matches", pattern), text("a"))
    assert (result.held, result.detail) == (None, detail)


def test_a_file_that_is_not_there_meets_no_check_and_one_that_cannot_be_read_decides_none() -> None:
    check = Check("lacks", "log.txt", "ERROR", 'file log.txt lacks "ERROR"')
    gone = extract.check(check, Missing("log.txt", "there is no file log.txt", held=False))
    assert (gone.held, gone.detail) == (False, "there is no file log.txt")
    hidden = extract.check(check, Missing("log.txt", "file log.txt cannot be read: Permission denied"))
    assert hidden.held is None
    exists = Check("exists", "log.txt", text="file log.txt exists")
    assert extract.exists(exists, None).held is True
    assert extract.exists(exists, Missing("log.txt", "there is no file log.txt", held=False)).held is False


GOLDEN = Check(
    "golden", "out/*.nc", "out/a.nc=" + "A" * 64 + "\nout/b=c.nc=" + "b" * 64, "files match golden: out/*.nc"
)


def test_golden_files_are_all_there_all_alike_and_none_besides() -> None:
    alike: dict[str, str | Missing] = {"out/a.nc": "a" * 64, "out/b=c.nc": "b" * 64}
    assert extract.golden(GOLDEN, alike).held is True
    differs = extract.golden(GOLDEN, alike | {"out/a.nc": "c" * 64})
    assert (differs.held, differs.detail) == (False, "file out/a.nc differs: sha256 cccccccccccc, golden aaaaaaaaaaaa")
    one_more = extract.golden(GOLDEN, alike | {"out/new.nc": "d" * 64})
    assert (one_more.held, one_more.detail) == (False, "file out/new.nc has no golden sum")
    one_less = extract.golden(GOLDEN, {"out/a.nc": "a" * 64})
    assert (one_less.held, one_less.detail) == (False, "there is no file out/b=c.nc")
    unreadable = extract.golden(GOLDEN, alike | {"out/a.nc": Missing("out/a.nc", "file out/a.nc cannot be read: EIO")})
    assert (unreadable.held, unreadable.detail) == (None, "file out/a.nc cannot be read: EIO")


def test_golden_sums_that_compare_nothing_do_not_hold() -> None:
    empty = extract.golden(Check("golden", "*.nc", ""), {})
    assert (empty.held, empty.detail) == (False, "no golden sums are given, so nothing was compared")
    broken = extract.golden(Check("golden", "*.nc", "deadbeef"), {})
    assert (broken.held, broken.detail) == (None, "'deadbeef' is no pair path=sha256")


def test_evidence_that_could_not_be_had_leaves_every_check_open_but_the_exit_status() -> None:
    checks = (on_output("contains", "a"), Check("exit", "", "3", "exit is 3"), on_output("lacks", "b"))
    results = extract.undecided(Test("t", checks=checks), "the worker was killed")
    assert [(result.held, result.detail) for result in results] == [(None, "the worker was killed")] * 2
