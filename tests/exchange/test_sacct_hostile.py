"""Dumps of sacct as sites have them, each with what is true of it: records, waits, node-hours of work, lines left out."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from sacct_lines import HEADER, at, line, text

from shakedown.exchange.sacct import read_sacct
from shakedown.model.errors import UsageError

H = 3600.0
BARE = "JobID|Submit|Start|End|State|NNodes"
STEPS = "JobID|JobName|Submit|Start|End|Elapsed|State|NNodes|NCPUS"


def bare(job: str, submit: str, start: str, end: str, state: str = "COMPLETED", nodes: str = "1") -> str:
    return f"{job}|{submit}|{start}|{end}|{state}|{nodes}"


def job(name: str = "run", number: int | str = 1, nodes: int = 2) -> str:
    """An hour of waiting and two of running."""
    return line(number, 0, 1, 3, nodes=nodes, name=name)


WHOLE = job("run", 7, 5)
# what it is -> file, (records, that waited, node-hours, records left out)
DUMPS: dict[str, tuple[str, tuple[int, int, float, int]]] = {
    "a | in a name": (text(job("a|b"), WHOLE), (2, 2, 14, 0)),
    "a name like a record": (text(job(WHOLE), WHOLE), (2, 2, 14, 0)),
    "a name like half a record": (text(job("x|2026-03-01T00:00:00|Unknown"), WHOLE), (2, 2, 14, 0)),
    "a name of several lines": (text(job("one\ntwo\nthree"), WHOLE), (2, 2, 14, 0)),
    "a name of empty lines": (text(job("one\n\n\ntwo"), WHOLE), (2, 2, 14, 0)),
    "a name with a carriage return": (text(job("one\rtwo"), WHOLE), (2, 2, 14, 0)),
    "a name with a form feed and a line separator": (text(job("one\x0ctwo\u2028three\x85four"), WHOLE), (2, 2, 14, 0)),
    "a name with a tab and quotes": (text(job("one\t'two'\"three"), WHOLE), (2, 2, 14, 0)),
    "an empty name": (text(job(""), WHOLE), (2, 2, 14, 0)),
    "a name that is a | alone": (text(job("|"), WHOLE), (2, 2, 14, 0)),
    "a state that nobody knows": (text(line(1, 0, 1, 3, nodes=2, state="QUITE_NEW"), WHOLE), (2, 2, 14, 0)),
    "a state that nobody knows, and a | in the name and the next": (
        text(line(1, 0, 1, 3, nodes=2, state="QUITE_NEW", name="a|b"), job("c|d", 8), WHOLE),
        (3, 3, 18, 0),
    ),
    "a state that was cut off": (text(line(1, 0, 1, 3, nodes=2, state="OUT_OF_ME+", name="a|b"), WHOLE), (2, 2, 14, 0)),
    "a record without a state before one with a | in its name": (
        text(line(1, 0, 1, 3, nodes=2, state="?"), job("c|d", 8), WHOLE),
        (2, 2, 14, 1),
    ),
    "a comment before the times": (
        text(
            f"1|a|b|c|{at(0)}|{at(1)}|{at(3)}|COMPLETED|2",
            f"2|plain|{at(0)}|{at(1)}|{at(3)}|COMPLETED|5",
            header="JobID|Comment|Submit|Start|End|State|NNodes",
        ),
        (2, 2, 14, 0),
    ),
    "a comment of lines before the times": (
        text(
            f"1|a\nb||c\n|{at(0)}|{at(1)}|{at(3)}|COMPLETED|2",
            f"2|plain|{at(0)}|{at(1)}|{at(3)}|COMPLETED|5",
            header="JobID|Comment|Submit|Start|End|State|NNodes",
        ),
        (2, 2, 14, 0),
    ),
    "ends of lines as on Windows": (text(job(), WHOLE).replace("\n", "\r\n"), (2, 2, 14, 0)),
    "a | at the end of each line": (text(job(), WHOLE).replace("\n", "|\n"), (2, 2, 14, 0)),
    "a mark of byte order": ("\ufeff" + text(job(), WHOLE), (2, 2, 14, 0)),
    "no end of the last line": (text(job(), WHOLE).rstrip("\n"), (2, 2, 14, 0)),
    "a last line that is cut off": (text(job(), WHOLE)[:-30], (1, 1, 4, 1)),
    "a last line of half a time": (text(job(), WHOLE)[:-40], (1, 1, 4, 1)),
    "empty lines between": (text(job(), "", "", WHOLE, ""), (2, 2, 14, 0)),
    "the first line again": (text(job(), HEADER, WHOLE), (2, 2, 14, 0)),
    "columns in another order": (
        text(f"5|COMPLETED|{at(3)}|{at(1)}|{at(0)}|1", header="NNodes|State|End|Start|Submit|JobID"),
        (1, 1, 10, 0),
    ),
    "columns with widths": (
        text(bare("1", at(0), at(1), at(3), nodes="5"), header="JobID%30|Submit|Start|End|State%20|NNodes"),
        (1, 1, 10, 0),
    ),
    "steps beside their jobs": (
        text(
            f"1|run|{at(0)}|{at(1)}|{at(3)}|02:00:00|COMPLETED|2|4",
            f"1.batch|batch|{at(1)}|{at(1)}|{at(3)}|02:00:00|COMPLETED|1|2",
            f"1.extern|extern|{at(1)}|{at(1)}|{at(3)}|02:00:00|COMPLETED|2|4",
            f"1.0|a.out|{at(1)}|{at(1)}|{at(2)}|01:00:00|COMPLETED|2|4",
            header=STEPS,
        ),
        (1, 1, 4, 0),
    ),
    "an array": (
        text(
            bare("10_1", at(0), at(1), at(2)),
            bare("10_2", at(0), at(2), at(3)),
            bare("10_[3-9]", at(0), "Unknown", "Unknown", "PENDING"),
        ),
        (3, 2, 2, 0),
    ),
    "parts of a job of several kinds": (
        text(bare("20+0", at(0), at(1), at(3), nodes="1"), bare("20+1", at(0), at(1), at(3), nodes="4")),
        (2, 2, 10, 0),
    ),
    "requeued": (
        text(
            line(1, 0, 1, 2, nodes=3, state="NODE_FAIL"),
            line(1, 2, 4, 6, nodes=3, state="COMPLETED"),
        ),
        (2, 1, 9, 0),
    ),
    "put back by a person, with words": (
        text(line(1, 0, 1, 2, state="REQUEUED"), line(1, 2.5, 3, 4, state="CANCELLED by 1001")),
        (2, 1, 2, 0),
    ),
    "numbers that came again": (
        text(line(1, 0, 1, 2), line(1, 5000, 5001, 5003)),
        (2, 2, 3, 0),
    ),
    "cancelled in the queue": (text(line(1, 0, 2, 2, state="CANCELLED by 0"), WHOLE), (2, 1, 10, 0)),
    "no wait is known": (text(bare("1", "Unknown", at(1), at(3), nodes="2"), header=BARE), (1, 0, 4, 0)),
    "no node was given": (text(line(1, 0, 1, 1, nodes=0, state="FAILED"), WHOLE), (2, 2, 10, 0)),
    "counts in thousands": (text(bare("1", at(0), at(1), at(2), nodes="1.5K"), header=BARE), (1, 1, 1500, 0)),
    "a count that is none": (
        text(bare("1", at(0), at(1), at(2), nodes="many"), bare("2", at(0), at(1), at(2)), header=BARE),
        (1, 1, 1, 1),
    ),
    "no start as newer versions write it": (
        text(bare("1", at(0), "None", "None", "PENDING"), bare("2", at(0), at(1), at(3)), header=BARE),
        (2, 1, 2, 0),
    ),
    "states that are cut": (text(line(1, 0, 1, 3, state="CANCELLED+"), WHOLE), (2, 2, 12, 0)),
    "bytes that are no text": (text(job("caf\udce9"), WHOLE), (2, 2, 14, 0)),
    "a day that does not exist": (
        text(bare("1", "2026-02-30T00:00:00", at(1), at(3)), bare("2", at(0), at(1), at(3)), header=BARE),
        (2, 1, 4, 0),
    ),
}


@pytest.mark.parametrize("what", DUMPS)
def test_a_dump_is_read_as_it_is(what: str, tmp_path: Path) -> None:
    content, (records, waited, work, left_out) = DUMPS[what]
    header = BARE if what in ("an array", "parts of a job of several kinds") else ""
    content = content.replace(HEADER, header, 1) if header else content
    file = tmp_path / "sacct.txt"
    file.write_bytes(content.encode("utf-8", "surrogateescape"))
    found = read_sacct(file)
    bad = sum(int(told.split()[0]) for told in found.told if "cannot be read" in told)
    held = float(np.nansum(found.run_s * found.units)) / H
    assert (len(found), int(found.waited.sum()), held, bad) == (records, waited, work, left_out), found.told


@pytest.mark.parametrize(
    ("content", "way"),
    [
        (text(WHOLE).replace("|", ","), "--parsable2"),
        (text(WHOLE).replace("|", "\t"), "--parsable2"),
        ("JobID Submit Start End State NNodes\n------ ----\n1 2 3 4 5 6\n", "--parsable2"),
        ("", "--parsable2"),
        ("\n\n\n", "--parsable2"),
        (HEADER, "--parsable2"),
        (text(WHOLE).split("\n")[1], "--parsable2"),
    ],
)
def test_another_file_is_refused_with_the_way_out(content: str, way: str, tmp_path: Path) -> None:
    file = tmp_path / "sacct.txt"
    file.write_text(content)
    with pytest.raises(UsageError) as caught:
        read_sacct(file)
    assert str(file) in str(caught.value) and way in str(caught.value.hint)


@pytest.mark.parametrize("damage", ["cut", "changed", "not packed"])
def test_a_packed_file_that_is_damaged_is_refused(damage: str, tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(text(*(line(n, n, n + 1, n + 3, name=f"{n * n}") for n in range(5000))).encode()))
    if damage == "changed":
        packed[len(packed) // 2] ^= 0xFF
    file = tmp_path / "sacct.gz"
    file.write_bytes({"cut": packed[: len(packed) // 2], "not packed": packed[:2] + b"nothing"}.get(damage, packed))
    with pytest.raises(UsageError, match="it cannot be unpacked: "):
        read_sacct(file)
