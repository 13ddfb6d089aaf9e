"""``shakedown nodes`` and what the report says of nodes, from a campaign on disk."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nodes_as_rows import Load, Machine, campaign, name_of

from shakedown.cli.main import cli
from shakedown.events.lines import encode_event
from shakedown.events.segments import first_header
from shakedown.metrics.rows.rows import RunRow
from shakedown.model.errors import UsageError
from shakedown.model.events import Event
from shakedown.model.frozen import digest, freeze
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Cluster, Component, Document, NodeType, Partition, Shape, System, Test
from shakedown.report import write_report

BEGIN = 1_793_700_000.0
LOADS = [Load("stream", 1), Load("cm4", 4, 1200.0)]


def document(nodes: int) -> Document:
    partition = Partition("batch", "c5", f"n[{0:05d}-{nodes - 1:05d}]", nodes, "rome")
    return Document(
        "c5-stability",
        System("c5", (Cluster("c5", "slurm", (partition,)),), (NodeType("rome", cores=128),)),
        (Component("stability", "stability", tuple(load.case for load in LOADS), 1000),),
        tuple(
            Case(load.case, load.case, "c5:batch", shape=Shape(nodes=load.width, units=load.width)) for load in LOADS
        ),
        tuple(Test(load.case) for load in LOADS),
    )


def write(root: Path, plan: Document, rows: Sequence[RunRow], *more: Event) -> Path:
    """A campaign's directory with these runs in its log."""
    frozen, layout = freeze(plan), Layout(root)
    start = {"document": digest(frozen), "campaign": root.name, "plan": plan.plan, "seed": 7}
    events = [Event("campaign_start", time=BEGIN, value=start)]
    for row in sorted(rows, key=lambda row: row.ended or 0.0):
        events += _told(row)
    events += more
    for directory in (layout.log, layout.documents, layout.packs):
        directory.mkdir(parents=True, exist_ok=True)
    layout.document(digest(frozen)).write_bytes(frozen)
    lines = b"".join(
        encode_event(msgspec.structs.replace(event, seq=seq, time=max(event.time, BEGIN)))
        for seq, event in enumerate(events, 1)
    )
    (layout.log / "000001.jsonl").write_bytes(msgspec.json.encode(first_header(1)) + b"\n" + lines)
    return root


def _told(row: RunRow) -> list[Event]:
    assert row.started is not None and row.ended is not None
    ids = {"component": "stability", "repeat": row.repeat, "attempt": 1}
    facts = {
        "verdict": row.verdict,
        "started": BEGIN + row.started,
        "ended": BEGIN + row.ended,
        "elapsed_s": row.elapsed_s,
    }
    when = BEGIN + row.ended
    return [
        Event("submit_order", time=when, run=row.run, job=row.job, case=row.case, value=ids),
        Event("verdict", time=when, run=row.run, case=row.case, value=ids | facts | {"nodes": row.nodes}, reason="so"),
    ]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty nodes, of which three were never used; n00007 fails, n00020 is slow, n00030 was excluded for no good reason."""
    rows = campaign(Machine(57, bad={7: 0.6}, slow={20: 1.3}), LOADS, 700, 5)
    out = Event("excluded", time=BEGIN + 1e6, value={"nodes": [name_of(30)]}, reason="ann said so")
    return write(tmp_path_factory.mktemp("nodes") / "c5-1", document(60), rows, out)


def nodes(*words: object) -> Any:
    return cli.main(["nodes", *map(str, words)], standalone_mode=False)


def test_findings_come_first_then_what_it_took_then_the_table(
    planted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nodes(planted) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert lines[0] == "node-failures"
    assert re.match(r"  n00007: \d+ of its \d+ runs failed, elsewhere \d+ of \d+ of the same cases;$", lines[1])
    assert re.search(r"node-slow\n  n00020: its runs take 1\.\d+ times as long", text)
    assert text.count("  what to do: ") == 2
    heading = next(
        place for place, line in enumerate(lines) if line.split()[:4] == ["node", "runs", "failed", "node_fail"]
    )
    table = [line.split() for line in lines[heading + 1 :]]
    assert {table[0][0], table[1][0]} == {"n00007", "n00020"}
    assert [line[-1] for line in table[:3]] == ["found", "found", "excluded"]
    assert "no run has used n[00057-00059]" in lines
    assert re.search(r"^\d+ more of 60 nodes: --all shows them$", text, re.MULTILINE)
    assert max(map(len, lines)) <= 80


def test_all_nodes_on_demand(planted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert nodes(planted, "--all") == 0
    text = capsys.readouterr().out
    assert all(f"\n{name_of(node)} " in text for node in range(60))
    assert "--all shows them" not in text


def test_everything_as_json(planted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert nodes(planted, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert [(one["kind"], one["names"]) for one in data["findings"]] == [
        ("node-failures", ["n00007"]),
        ("node-slow", ["n00020"]),
    ]
    first = data["findings"][0]
    assert len(first["evidence"]) == first["on_it"]["hits"]
    assert len(data["nodes"]) == 60 and data["unused"] == "n[00057-00059]"


def test_a_clean_machine_and_one_without_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert nodes(write(tmp_path / "clean", document(16), campaign(Machine(16), LOADS, 100, 1))) == 0
    assert capsys.readouterr().out.startswith("no node stands out among failed or slow runs\n\n")
    assert nodes(write(tmp_path / "empty", document(16), [])) == 0
    assert capsys.readouterr().out.splitlines() == [
        "no node stands out among failed or slow runs",
        "",
        "runs on one node, or on none, have nothing to be compared with.",
        "16 more of 16 nodes: --all shows them",
        "no run has used n[00000-00015]",
        "as of event 1",
    ]


def test_a_directory_that_is_no_campaign(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        nodes(tmp_path)


def test_names_with_control_characters_never_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = campaign(Machine(16), LOADS, 60, 1)
    odd = [
        msgspec.structs.replace(row, nodes="n\x1b[2J<script>") if number < 3 else row for number, row in enumerate(rows)
    ]
    assert nodes(write(tmp_path / "odd", document(16), odd), "--all") == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "the nodes of 3 runs cannot be read" in out


# ---- the report ------------------------------------------------------------------------------------------------------


def test_the_report_has_a_section_a_map_and_tables(planted: Path, tmp_path: Path) -> None:
    write_report(planted, tmp_path)
    page = (tmp_path / "report.html").read_text()
    section = page[page.index('<h2 id="nodes">') :]
    assert '<a href="#nodes">' in page
    assert re.search(r"N00007: \d+ of its \d+ runs failed", section, re.IGNORECASE)
    assert {path.name for path in (tmp_path / "report/figures").glob("nodes.*")} == {
        "nodes.svg",
        "nodes.pdf",
        "nodes.png",
    }
    table = read(tmp_path / "report/tables/node-findings.csv")
    assert [(row["kind"], row["nodes"], row["figure"]) for row in table] == [
        ("node-failures", "n00007", ""),
        ("node-slow", "n00020", "elapsed"),
    ]
    lines = read(tmp_path / "report/tables/node-runs.csv")
    assert len(lines) == 60
    runs = read(tmp_path / "report/tables/runs.csv")
    for line in lines:
        mine = [run for run in runs if line["node"] in run["nodes"].split(",")]
        assert int(line["runs"]) == len(mine)
        assert int(line["failed"]) == sum(run["verdict"] == "failed" for run in mine)
        hours = sum(float(run["ended"]) - float(run["started"]) for run in mine) / 3600
        assert float(line["hours"]) == pytest.approx(hours, abs=1e-6)


def read(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text())))


def test_one_node_has_no_section(tmp_path: Path) -> None:
    rows = campaign(Machine(1), [Load("stream", 1)], 20, 1)
    write_report(write(tmp_path / "one", document(1), rows), tmp_path / "out")
    assert '<h2 id="nodes">' not in (tmp_path / "out/report.html").read_text()


@pytest.mark.parametrize("count", [2, 17, 1920, 20000])
def test_the_map_of_few_and_of_many_nodes(count: int) -> None:
    from shakedown.diagnosis.node_report import examine_rows
    from shakedown.diagnosis.trials import Setting
    from shakedown.report.figures.nodes import columns_of, draw_nodes

    rows = campaign(Machine(count, bad={1: 0.5}), [Load("stream", 1)], 200, 1)
    (drawing,) = draw_nodes(examine_rows(rows, Setting({}, {}, tuple(map(name_of, range(count))))))
    assert drawing.svg.startswith(b"<?xml") and len(drawing.svg) < 400_000
    assert columns_of(count) * -(-count // columns_of(count)) >= count
    assert f"to {name_of(count - 1)}" in drawing.caption


# ---- nodes that launched nothing ---------------------------------------------------------------------------------------


def left_out(node: str, at: float, *jobs: str) -> Event:
    value = {"kind": "node_left_out", "nodes": [node], "pool": "c5:batch", "jobs": list(jobs), "count": len(jobs)}
    return Event("finding", time=BEGIN + at, value=value | {"why": "launch failure on it: read-only"}, reason="so")


def looks(node: str, at: float, job: str) -> Event:
    value = {"component": "stability", "repeat": 900, "attempt": 1, "may_have": [node]}
    return Event("submit_order", time=BEGIN + at, run=f"r9{job[1:]}", job=job, case="stream", value=value)


@pytest.fixture(scope="module")
def launching_nothing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """n00003 is left out now, and was tried twice; n00004 was let in by a job, n00005 by a person, n00006 with its held queue."""
    began = 1e6
    told = [left_out(name_of(node), began + node, "j1", "j2", "j3") for node in (3, 4, 5, 6)]
    told += [looks(name_of(3), began + 600, "j900001"), looks(name_of(4), began + 601, "j900002")]
    let_in = {"kind": "node_let_in", "nodes": [name_of(4)], "pool": "c5:batch"}
    told.append(Event("finding", time=BEGIN + began + 700, value=let_in, reason="j900002 has taken its claim there"))
    by_ada = {"nodes": [name_of(5)], "by": "Ada"}
    told.append(Event("included", time=BEGIN + began + 710, value=by_ada, reason="mounted again"))
    held = {"kind": "queue_held", "nodes": [name_of(6)], "pool": "c5:batch"}
    told.append(Event("finding", time=BEGIN + began + 720, value=held, reason="jobs end"))
    told.append(looks(name_of(3), began + 1800, "j900003"))
    rows = campaign(Machine(16), LOADS, 60, 1)
    return write(tmp_path_factory.mktemp("left-out") / "c5-1", document(16), rows, *told)


def test_nodes_that_launched_nothing_are_told_with_what_was_tried_and_the_way_back(
    launching_nothing: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nodes(launching_nothing) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    text = " ".join(out.split())
    assert text.count("nodes that launched nothing") == 1
    now = text[text.index("n00003: left out since") : text.index("n00006: left out on")]
    assert (
        "3 jobs in a row ended there before they took their claims (j1, j2, j3): launch failure on it: read-only" in now
    )
    assert "2 jobs since might go there to see whether it starts, the last ordered on" in now
    assert now.rstrip().endswith("shakedown include n00003 gives it work at once")
    for node, why in (
        (4, "j900002 has taken its claim there"),
        (5, "Ada gave it work again: mounted again"),
        (6, "the queue was held, for it was not this node alone"),
    ):
        mine = text[text.index(f"{name_of(node)}: left out on") :]
        assert why in mine and f"include {name_of(node)}" not in mine
    table = [line.split() for line in out.splitlines() if line.startswith("n0")]
    assert [row[0] for row in table if row[-2:] == ["left", "out"]] == [name_of(3)]

    assert nodes(launching_nothing, "--json") == 0
    told = json.loads(capsys.readouterr().out)["left_out"]
    assert [(one["node"], one["until"] is None, len(one["looked"])) for one in told] == [
        (name_of(3), True, 2),
        (name_of(4), False, 1),
        (name_of(5), False, 0),
        (name_of(6), False, 0),
    ]


def test_the_report_says_it_too_also_of_one_node(launching_nothing: Path, tmp_path: Path) -> None:
    write_report(launching_nothing, tmp_path)
    page = (tmp_path / "report.html").read_text()
    section = page[page.index('<h2 id="nodes">') :]
    assert "Nodes that launched nothing" in section
    assert f"shakedown include {name_of(3)} gives it work at once" in section
    rows = read(tmp_path / "report/tables/node-runs.csv")
    assert [row["node"] for row in rows if row["left_out"] == "yes"] == [name_of(3)], rows[0]

    alone = write(tmp_path / "one", document(1), [], left_out(name_of(0), 10.0, "j1", "j2", "j3"))
    write_report(alone, tmp_path / "out")
    assert "Nodes that launched nothing" in (tmp_path / "out/report.html").read_text()
