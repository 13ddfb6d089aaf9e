"""Reading traces: their sums and estimates, what is damaged, and the commands that show one, up to a campaign's report."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from shakedown.cli.trace import command
from shakedown.kernels.traces import read_trace, trace_files
from shakedown.model.errors import RecordError
from shakedown.report.figure_files import list_figures

COUNTS = {"ranks": 2, "calls": 20, "bytes": 160, "wait_s": 0.0, "most_rank": 1, "even": True}


def lines_of(ranks: int = 2) -> list[dict[str, Any]]:
    """A trace of ranks of which each is a second longer in its barriers than the one before, and sends to the next one."""
    lines: list[dict[str, Any]] = [{"record": "trace", "version": 1, "ranks": ranks, "program": "/bin/a", "mpi": "M"}]
    for rank in range(ranks):
        memory = {"after_init": 10.0, "end": 12.0, "peak": 15.5}
        calls = {"MPI_Barrier": [5, 0, 1.0 + rank, 0.0], "MPI_Send": [10, 80 * (rank + 1), 0.5, 0.0]}
        mine = {"mpi_s": 1.5 + rank, "files_s": 0.0, "wall_s": 10.0, "memory_mb": memory, "calls": calls, "files": {}}
        lines.append({"record": "rank", "rank": rank, "host": "n1\x1b[31m", **mine})
        to, others = [(rank + 1) % ranks], {"ranks": 1, "messages": 2, "bytes": 3}
        lines.append(
            {"record": "pairs", "from": rank, "to": to, "messages": [10], "bytes": [80 * (rank + 1)], "others": others}
        )
    spent = sum(1.0 + rank for rank in range(ranks))
    lines.append({"record": "call", "name": "MPI_Send", "s": 0.5 * ranks, "least_s": 0.5, "most_s": 0.5, **COUNTS})
    lines.append(
        {"record": "call", "name": "MPI_Barrier", "s": spent, "least_s": 1.0, "most_s": float(ranks), **COUNTS}
    )
    lines[-1]["ranks"] = lines[-2]["ranks"] = ranks
    lines.append({"record": "matrix", "labels": ["0", "1"], "rows": [[0.0, 1.5], [2.5, 0.0]]})
    lines.append({"record": "line", "step_s": 5.0, "mpi_share": [0.25, 0.75]})
    return [*lines, {"record": "end", "wall_s": 10.0, "complete": True}]


def written(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "shakedown-trace.jsonl", lines_of())


def test_waits_are_what_a_rank_is_longer_in_a_collective_than_the_shortest(file: Path) -> None:
    trace = read_trace(file)
    assert trace.waits == [0.0, 1.0] and trace.mpi_s == 4.0 and trace.unlisted == 2
    assert [(row.name, row.seconds, row.wait_s) for row in trace.calls] == [
        ("MPI_Barrier", 3.0, 1.0),
        ("MPI_Send", 1.0, None),
    ]
    assert [(pair.sender, pair.to, pair.bytes) for pair in trace.pairs] == [(1, 0, 160), (0, 1, 80)]


def test_where_ranks_called_it_unequally_often_no_wait_is_known(file: Path) -> None:
    lines = lines_of()
    lines[-4]["even"] = False
    trace = read_trace(written(file, lines))
    assert trace.waits == [0.0, 0.0] and trace.calls[0].wait_s is None


def test_a_thousand_ranks_are_read(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path / "t", lines_of(1024)))
    assert len(trace.ranks) == len(trace.pairs) == 1024 and trace.waits[-1] == 1023.0


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("cut", "is not complete"),
        ("word", "is no trace: "),
        ("lists", "is no trace: "),
        ("square", "is no trace: its matrix is not square"),
        ("nothing", "is not complete"),
        ("absent", "cannot be read: No such file or directory"),
    ],
)
def test_what_is_no_whole_trace_is_told(file: Path, fault: str, said: str) -> None:
    lines = lines_of()
    if fault == "absent":
        file.unlink()
    else:
        if fault == "cut":
            lines.pop()
        elif fault == "word":
            lines[1]["mpi_s"] = "much"
        elif fault == "lists":
            lines[2]["bytes"] = [1, 2]
        elif fault == "square":
            lines[-3]["rows"] = [[0.0]]
        written(file, [] if fault == "nothing" else lines)
    with pytest.raises(RecordError, match=said):
        read_trace(file)


def test_traces_of_a_run_are_in_the_order_of_its_programs(tmp_path: Path) -> None:
    names = ["shakedown-trace-10.jsonl", "shakedown-trace-2.jsonl", "shakedown-trace.jsonl"]
    for name in [*names, "other.jsonl"]:
        (tmp_path / name).touch()
    (tmp_path / "deep/er/and/deeper").mkdir(parents=True)
    (tmp_path / "deep/er/and/deeper/shakedown-trace.jsonl").touch()
    (tmp_path / "deep/shakedown-trace.jsonl").touch()
    found = [str(path.relative_to(tmp_path)) for path in trace_files(tmp_path)]
    assert found == [*reversed(names), "deep/shakedown-trace.jsonl"]


def said(*words: str) -> str:
    """What a command prints, in this process."""
    done = CliRunner().invoke(command, list(words), standalone_mode=False)
    assert done.exception is None, done.exception
    return done.output


def test_the_command_shows_tables_and_draws(file: Path, tmp_path: Path) -> None:
    picture = tmp_path / "a.svg"
    text = said(str(file), "--figure", str(picture))
    assert text.startswith("/bin/a: 2 ranks, 10 s, 20 % of the time in MPI; M\n")
    assert "MPI_Barrier     20  0.000    3.000       15.0  1.000  2.000        1  1.000\n" in text
    assert "   1  n1\\x1b[31m  2.500   1.000    0.000        15.5       5.5\n" in text
    assert "   1   0        10  0.000\n" in text and "files  calls" not in text
    assert b"<svg" in picture.read_bytes()
    data = json.loads(said(str(file), "--json"))
    assert data[0]["pairs"][0] == {"sender": 1, "to": 0, "messages": 10, "bytes": 160}


CAMPAIGN = """test: {name}
build: {{source: src, run: 'mpicc -w -o known known.c'}}
run: {{tasks_per_node: 2, trace: {trace}, command: "{{launch}} {{build}}/known"}}
"""


@pytest.mark.mpi
def test_a_campaign_traces_its_ranks_and_its_report_draws_them(tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "tests/src").mkdir(parents=True)
    (site / "site.yaml").write_text("site: s\n")
    for source in ("known.c", "counting.h"):
        shutil.copy(Path(__file__).parent / "traced" / source, site / "tests/src")
    for name, trace in (("plain", "no"), ("traced", "yes")):
        (site / f"tests/{name}.yaml").write_text(CAMPAIGN.format(name=name, trace=trace))
    variables = {**os.environ, "CFLAGS": "-O0", "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def people(*words: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "shakedown", *words]
        return subprocess.run(line, cwd=site, env=variables, capture_output=True, text=True, timeout=120, check=False)

    done = people("run", "--test", "plain", "--test", "traced", "-q")
    assert done.returncode == 0, done.stdout + done.stderr
    plain, traced = "r000001", "r000002"
    (trace,) = json.loads(people("trace", traced, "--json").stdout)
    assert len(trace["ranks"]) == 2 and trace["program"].endswith("/known")
    refused = people("trace", plain)
    assert (refused.returncode, refused.stderr) == (
        2,
        f"error: {plain} was not traced\nhint: write run: {{trace: yes}} into its test, and run it again\n",
    )
    (campaign,) = (site / "campaigns").iterdir()
    assert [one.name for one in list_figures(campaign) if one.name.startswith("trace-")] == ["trace-01-traced"]
    (campaign / "work/000" / traced / "shakedown-trace.jsonl").unlink()
    assert f"error: {traced} left no trace\n" in people("trace", traced).stderr
