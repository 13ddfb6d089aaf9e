"""Outputs are strangers': missing, moved, huge, binary, damaged. Each trouble is a sentence, none is a crash."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.report import write_report
from shakedown.report.figures import outputs_read as gathering
from shakedown.report.figures.records import find_pictures
from shakedown.report.outputs import read_output

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder

ALL = frozenset({"matrix", "histogram", "io", "nodes"})


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs/000001.pack").write_bytes(b"0123456789")
    (tmp_path / "packs/secret").symlink_to("/etc/passwd")
    return tmp_path


def test_a_piece_of_a_pack(campaign: Path) -> None:
    assert read_output(campaign, {"pack": "000001.pack", "offset": 3, "bytes": 4}, 100).data == b"3456"


@pytest.mark.parametrize(
    ("pointer", "trouble"),
    [
        ({}, "no output was kept"),
        ({"pack": "000009.pack", "offset": 0, "bytes": 3}, "000009.pack is missing"),
        ({"pack": "000001.pack", "offset": 8, "bytes": 3}, "that output lies in bytes 8 to 11, and 10 are there"),
        ({"pack": "000001.pack", "offset": 99, "bytes": 0}, "000001.pack is shorter than the record says"),
        ({"pack": "../../etc/passwd"}, "the record points outside the campaign, which is not followed"),
        ({"pack": "secret"}, "the record points outside the campaign, which is not followed"),
        ({"file": "/etc/passwd", "bytes": 5}, "the record points outside the campaign, which is not followed"),
        ({"file": 7}, "the record points outside the campaign, which is not followed"),
        ({"file": "packs", "bytes": 5}, "packs is damaged: it is a directory and no regular file"),
        ({"file": "x" * 5000, "bytes": 5}, "cannot be read: File name too long"),
    ],
)
def test_every_trouble_has_its_sentence(campaign: Path, pointer: dict[str, Any], trouble: str) -> None:
    output = read_output(campaign, pointer, 100)
    assert output.data == b"" and output.trouble.endswith(trouble)


def test_no_more_is_read_than_the_limit_and_that_is_said(campaign: Path) -> None:
    pointer = {"pack": "000001.pack", "offset": 2, "bytes": 8}
    head = read_output(campaign, pointer, 3)
    assert (head.data, head.trouble) == (b"234", "only 3 B of 8 B were read")
    assert read_output(campaign, pointer, 3, tail=True).data == b"789"


# ---- records in it ---------------------------------------------------------------------------------------------------


def test_pictures_among_other_output() -> None:
    found = find_pictures(
        b"starting\n"
        b'{"record":"start","kernel":"pairs"}\n'
        b'{"record":"matrix","name":"bandwidth","unit":"MB/s","labels":["a","b"],"rows":[[null,2],[3,null]]}\n'
        b'{"record":"histogram","name":"noise","unit":"us","edges":[1,2,3],"counts":[4,5],"core":0,"host":"n1"}\n'
        b'{"record":"io","operation":"write","mode":"shared","transfer":1048576,"unit":"MB/s","value":7.5}\n'
        b'{"record":"nodes","name":"memory","unit":"GB/s","labels":["n1","n2"],"values":[null,98.5]}\n'
        b'{"record":"end","complete":true}\n',
        ALL,
    )
    assert found.troubles == []
    (matrix,), (histogram,), (rate,), (nodes,) = found.matrices, found.histograms, found.rates, found.nodes
    assert (nodes.name, nodes.labels, nodes.values[1]) == ("memory", ("n1", "n2"), 98.5)
    assert nodes.values[0] != nodes.values[0]
    assert matrix.labels == ("a", "b") and matrix.rows[0][1] == 2.0 and matrix.rows[0][0] != matrix.rows[0][0]
    assert (histogram.who, histogram.edges, histogram.counts) == ("n1 core 0", (1.0, 2.0, 3.0), (4.0, 5.0))
    assert (rate.operation, rate.mode, rate.transfer, rate.unit, rate.value) == (
        "write",
        "shared",
        1 << 20,
        "MB/s",
        7.5,
    )


@pytest.mark.parametrize(
    ("line", "trouble"),
    [
        (b'{"record":"matrix"}', "it has no rows"),
        (b'{"record":"matrix","rows":[[1,2],[3]]}', "it is not square"),
        (b'{"record":"matrix","rows":[["x"]]}', "'x' is no believable number"),
        (b'{"record":"matrix","rows":[[1e200]]}', "'1e+200' is no believable number"),
        (b'{"record":"matrix","rows":[[1,nan],[1,1]]}', "its line is damaged or cut off"),
        (b'{ "record" : "matrix","rows":[[1,', "its line is damaged or cut off"),
        (b'{"record":"histogram","edges":[1,2],"counts":[1,2]}', "2 edges do not hold 2 counts"),
        (b'{"record":"histogram","edges":[1,1],"counts":[1]}', "its edges do not rise"),
        (b'{"record":"histogram","edges":[1,2],"counts":[-1]}', "a count is negative"),
        (b'{"record":"histogram","edges":"all","counts":[1]}', "'edges' is no list"),
        (b'{"record":"io","value":"fast"}', "'fast' is no believable number"),
        (b'{"record":"io","value":-1}', "its value is negative"),
        (b'{"record":"nodes","labels":["a"],"values":[1,2]}', "its labels and values do not fit each other"),
        (b'{"record":"nodes","values":[1,2]}', "its labels and values do not fit each other"),
        (b'{"record":"nodes","labels":["a"],"values":["fast"]}', "'fast' is no believable number"),
    ],
)
def test_a_record_that_is_no_picture_is_left_out_and_said(line: bytes, trouble: str) -> None:
    found = find_pictures(b"before\n" + line + b"\nafter\n", ALL)
    assert not (found.matrices or found.histograms or found.rates or found.nodes)
    assert [said.partition(": ")[2] for said in found.troubles] == [trouble]


def test_records_without_end_have_one() -> None:
    found = find_pictures(b'{"record":"io","value":1}\n' * 5000, ALL)
    assert len(found.rates) == 4096 and found.troubles == ["more than 4096 records to draw; the rest is left out"]


@given(st.binary(max_size=200), st.sampled_from(["matrix", "histogram", "io"]))
def test_whatever_bytes_come_nothing_breaks(data: bytes, kind: str) -> None:
    find_pictures(data, ALL)
    find_pictures(b'{"record":"' + kind.encode() + b'",' + data, ALL)
    find_pictures(io.BytesIO(b'{"record":"io","value":' + data + b"}").getvalue(), ALL)


# ---- in a campaign ---------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("without_figures")
def test_what_cannot_be_drawn_is_said_in_the_report(drawing_campaign: CampaignBuilder) -> None:
    builder = drawing_campaign
    builder.run("pairs", "main", output='{"record":"matrix","rows":[[1,2],[3]]}\n')
    builder.run("noise", "main", output=b"\x00\xff\x1b[2J" * 1000)
    run = builder.run("io", "main", output="x")
    value = builder.events[-1].value
    value["output"] = {"pack": "000007.pack", "offset": 0, "bytes": 10}
    builder.end()
    text = write_report(builder.save()).read_text()
    for words in (
        "pairs, r000001: a matrix record is left out: it is not square",
        "noise, r000002: nothing to draw is in its output",
        f"io, {run}: 000007.pack is missing",
    ):
        assert words in text


@pytest.mark.usefixtures("without_figures")
def test_an_output_of_one_endless_line_is_read_up_to_the_limit(
    drawing_campaign: CampaignBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "OUTPUT_LIMIT", 1000)
    drawing_campaign.run("pairs", "main", output='{"record":"matrix","rows":[[' + "1," * 5000)
    drawing_campaign.end()
    text = write_report(drawing_campaign.save()).read_text()
    assert (
        "only 1000\N{NO-BREAK SPACE}B of 9.8\N{NO-BREAK SPACE}KiB were read" in text
        and "its line is damaged or cut off" in text
    )


def test_all_outputs_together_have_a_limit_too(drawing_campaign: CampaignBuilder) -> None:
    gathered = gathering.Gathered(left=0)
    found = gathering._read(gathered, drawing_campaign.root, _row(drawing_campaign), ALL)
    assert found.troubles == ["its output is not read: the report has read as much as it may"]
    assert gathered.troubles == ["pairs, r000001: its output is not read: the report has read as much as it may"]


def _row(builder: CampaignBuilder) -> Any:
    from shakedown.metrics.rows.table import fold_runs

    builder.run("pairs", "main", output="x")
    return fold_runs(builder.events).runs[0]


@pytest.mark.usefixtures("without_figures")
def test_the_end_of_a_kept_output_is_quoted_where_the_verdict_has_no_excerpt(small: CampaignBuilder) -> None:
    output = "first\n" * 3000 + "\x1b[31mgoodbye\x1b[0m\x07 cruel\u202e world\n"
    small.run("hello", "main", "failed", output=output, reason="exit status 3")
    small.end()
    text = write_report(small.save()).read_text()
    assert "goodbye\\x07 cruel\\u202e world</pre>" in text
    assert text.count("first\n") <= 12
