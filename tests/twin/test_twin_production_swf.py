"""Traces in the Standard Workload Format: odd headers, missing fields, bad lines; and a trace whose scheduler is known."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import numpy as np
import pytest
from naive_easy import Job, play

from shakedown.model.errors import UsageError
from shakedown.twin.production.easy import Rules
from shakedown.twin.production.swf import read_records
from shakedown.twin.production.trace import Trace, read_trace
from shakedown.twin.production.year import fit, play_trace

PLAIN = "; MaxProcs: 64\n"


def record(
    job: int,
    submit: float,
    wait: float,
    run: float,
    given: int,
    asked: int = -1,
    limit: float = -1,
    status: int = 1,
    user: int = 3,
) -> str:
    return f"{job} {submit} {wait} {run} {given} -1 -1 {asked} {limit} -1 {status} {user} -1 -1 2 -1 -1 -1\n"


def written(folder: Path, text: str, name: str = "t.swf") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def trace_of(folder: Path, text: str, processors: int | None = None, counted_as: str = "allocated") -> Trace:
    return read_trace(written(folder, text), processors, counted_as)


# ---- headers -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "machine"),
    [
        ("; MaxProcs: 128\n; MaxNodes: 128\n", 128),
        (";MaxProcs:128\n", 128),
        (";   MaxProcs :   128   \n", 128),
        ("; MaxProcs: 128 (64 of them fat)\n", 128),
        ("; MaxProcs: 1,152\n; MaxNodes: 144\n", 1152),
        ("; maxprocs: 128\n", 128),
        ("; MaxNodes: 128 \n", 128),
        ("; MaxProcs: UNKNOWN\n; MaxNodes: 256\n", 256),
        ("; MaxProcs: -1\n; MaxNodes: 256\n", 256),
        ("; MaxProcs: 128\n; Partition: 1\n; MaxProcs: 32\n", 128),
        ("; Note: MaxProcs: 4 was meant\n;; MaxProcs: 128\n", 128),
    ],
)
def test_the_machine_is_read_from_odd_headers(tmp_path: Path, header: str, machine: int) -> None:
    big = "".join(record(n, 0, 0, 10, 1) for n in range(1, 160))
    assert trace_of(tmp_path, header + big).processors == machine


def test_a_trace_that_counts_nodes_has_a_machine_of_nodes(tmp_path: Path) -> None:
    header = "; MaxNodes: 10\n; MaxProcs: 480\n"
    nodes = trace_of(tmp_path, header + record(1, 0, 0, 10, 10) + record(2, 5, 5, 10, 10))
    assert nodes.processors == 10 and "MaxNodes" in nodes.machine_from and "480" in nodes.machine_from
    cores = trace_of(tmp_path, header + record(1, 0, 0, 10, 10) + record(2, 5, 0, 10, 1))
    assert cores.processors == 480, "eleven were held at once"
    assert trace_of(tmp_path, header + record(1, 0, 0, 10, 10), processors=12).processors == 12


def test_without_a_machine_nothing_is_guessed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither MaxProcs nor MaxNodes") as caught:
        trace_of(tmp_path, "; Computer: none\n" + record(1, 0, 0, 10, 4))
    assert "--nodes" in str(caught.value)
    assert trace_of(tmp_path, record(1, 0, 0, 10, 4), processors=16).processors == 16


# ---- which records count, and as what -----------------------------------------------------------------------------------------


def test_what_is_left_out_is_counted_by_reason(tmp_path: Path) -> None:
    lines = [
        record(1, 0, 0, 30, 4),
        record(2, 0, 100, -1, -1, asked=4, status=5),  # cancelled in the queue
        record(3, 0, 100, 0, 4, status=5),  # the same, written otherwise
        record(4, 0, 0, 20, 4, status=5),  # cancelled while it ran: it held processors
        record(5, 0, 0, -1, 4),
        record(6, 0, 0, 10, -1),
        record(7, -1, 0, 10, 4),
        record(8, 0, 0, 40, 4, status=1),  # as a whole, and its parts
        record(8, 0, 0, 15, 4, status=2),
        record(8, -1, 10, 25, 4, status=3),
        record(9, 1, 0, 10, 65),
        record(10, 2, 0, 0, 4),  # less than half a second
        record(11, 3, 0, 7, 4, status=2),  # a part without its whole
        record(12, 4, 0, 8, 0, asked=6, status=0),
    ]
    trace = trace_of(tmp_path, PLAIN + "".join(lines))

    assert trace.jobs.job.tolist() == [1, 4, 8, 10, 11, 12]
    assert trace.jobs.processors.tolist() == [4, 4, 4, 4, 4, 6]
    assert dict(trace.left_out) == {
        "parts of jobs that are there as a whole": 2,
        "without a time of submission": 1,
        "cancelled before they started": 2,
        "without a run time": 1,
        "without processors": 1,
        "larger than the machine": 1,
    }
    assert sum(count for _, count in trace.left_out) + len(trace.jobs) == len(lines)
    assert any(note.startswith("1 of 6 jobs are parts") for note in trace.notes)


def test_given_processors_count_or_asked_ones(tmp_path: Path) -> None:
    text = PLAIN + record(1, 0, 0, 30, 8, asked=5) + record(2, 0, 0, 30, -1, asked=3) + record(3, 0, 0, 30, 2)
    assert trace_of(tmp_path, text).jobs.processors.tolist() == [8, 3, 2]
    asked = trace_of(tmp_path, text, counted_as="requested")
    assert asked.jobs.processors.tolist() == [5, 3, 2]
    assert "1 of 3 jobs were given other numbers of processors than they asked for" in asked.notes


def test_what_is_missing_is_stood_in_for_and_said(tmp_path: Path) -> None:
    text = PLAIN + record(1, 10, -1, 30, 8) + record(2, 20, 5, 30, 8, limit=20) + record(3, 21, 0, 30, 8, limit=600)
    trace = trace_of(tmp_path, text)
    assert trace.jobs.requested_s.tolist() == [30, 20, 600]
    assert trace.start_s.tolist() == [10, 25, 21] and np.isnan(trace.wait_s).tolist() == [True, False, False]
    assert [note.split(":")[0] for note in trace.notes] == [
        "1 of 3 jobs have no recorded wait",
        "1 of 3 jobs ask for no time",
        "1 of 3 jobs ran longer than they asked for",
    ]


def test_records_out_of_order_are_sorted_and_it_is_said(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, PLAIN + record(1, 50, 0, 5, 1) + record(2, 0.5, 1.25, 5, 1) + "\n")
    assert trace.jobs.job.tolist() == [2, 1] and trace.start_s.tolist() == [1.75, 50]
    assert any("not in the order" in note for note in trace.notes)


# ---- what is no workload ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("2 0 0 30 2\n", "line 3: 5 fields instead of 18"),
        (record(2, 0, 0, 30, 2).replace(" 30 ", " 3O "), r"line 3: field 4 \('3O'\) is not a number"),
        (record(2, 0, 0, 30, 2).replace(" 30 ", " nan "), r"line 3: field 4 \('nan'\)"),
        (record(2, 0, 0, 30, 2).replace(" 30 ", " inf "), r"line 3: field 4 \('inf'\)"),
        (record(2, 0, 0, 30, 2).replace(" 30 ", " 1e300 "), r"line 3: field 4 \('1e300'\)"),
        (record(2, 0, 0, 30, 2).replace("2 0", "1_0 0", 1), "line 3: a field with '_'"),
        ("<html>" + "x" * 20_000, "line 3: this line is too long for a job record"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, said: str) -> None:
    path = written(tmp_path, PLAIN + record(1, 0, 0, 30, 2) + line)
    with pytest.raises(UsageError, match=said):
        read_trace(path)


def test_bad_lines_can_be_left_out_and_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, PLAIN + "rubbish\n" + record(1, 0, 0, 30, 2) + "2 0 0 30 2\n")
    assert dict(read_trace(path, pass_over_bad=True).left_out) == {"no record of a job (bad lines)": 2}


def test_more_fields_than_there_should_be_are_said(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, PLAIN + record(1, 0, 0, 30, 2).rstrip() + " 7 7\n")
    assert "1 records have more than 18 fields: the first 18 are read" in trace.notes


def test_an_empty_file_and_one_without_a_job(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no record of a job"):
        trace_of(tmp_path, "; MaxProcs: 4\n")
    with pytest.raises(UsageError, match="no job of it can be replayed"):
        trace_of(tmp_path, PLAIN + record(1, 0, 0, -1, 2))


def test_packed_files_are_known_by_their_bytes(tmp_path: Path) -> None:
    data = (PLAIN + "; Installation: Universität\n" + record(1, 0, 0, 30, 2)).encode("latin-1")
    (tmp_path / "packed").write_bytes(gzip.compress(b"\xef\xbb\xbf" + data))
    assert len(read_trace(tmp_path / "packed").jobs) == 1
    (tmp_path / "cut.swf.gz").write_bytes(gzip.compress(data)[:-12])
    with pytest.raises(UsageError, match="cannot be unpacked"):
        read_records(tmp_path / "cut.swf.gz")


# ---- a trace whose scheduler is known --------------------------------------------------------------------------------------------


def known_trace(folder: Path, depth: int = 100, largest_first: bool = False) -> tuple[Path, list[Job]]:
    """150 jobs on 32 processors as the naive scheduler plays them, written down as a trace."""
    die = random.Random(5)
    jobs, at = [], 0
    for number in range(150):
        at += die.choice([0, 3, 10, 40])
        run, size = die.randint(1, 200), die.choice([1, 1, 2, 4, 7, 16, 32])
        first = -float(size) if largest_first else float(at)
        jobs.append(Job(number, at, size, run + die.choice([0, 50, 300]), run, (first, number)))
    play(jobs, 32, depth)
    lines = [
        record(job.number + 1, job.submit, (job.start or 0) - job.submit, job.run, job.size, -1, job.request)
        for job in jobs
    ]
    return written(folder, "; MaxProcs: 32\n" + "".join(lines)), jobs


def test_a_trace_made_by_the_same_rules_agrees_to_the_second(tmp_path: Path) -> None:
    path, jobs = known_trace(tmp_path)
    outcome = play_trace(read_trace(path), "t", Rules(kill=False))

    assert outcome.made is not None and outcome.made.start_s.tolist() == [job.start for job in jobs]
    comparison = outcome.year.comparison
    assert comparison is not None and comparison.same == 1.0 and comparison.furthest_apart == 0.0
    assert all(line.own == line.ours and line.agrees for line in comparison.lines)
    assert comparison.reasons == () and outcome.year.closed == ()


def test_measures_of_the_trace_itself_are_what_its_records_say(tmp_path: Path) -> None:
    path, jobs = known_trace(tmp_path)
    own = play_trace(read_trace(path), "t", Rules(), only_own=True).year.own
    assert own is not None
    ends, work = max(job.end for job in jobs), sum(job.size * job.run for job in jobs)
    assert own.utilisation == pytest.approx(work / (32 * (ends - jobs[0].submit)))
    assert own.waits.mean_s == pytest.approx(sum((job.start or 0) - job.submit for job in jobs) / len(jobs))


def test_other_rules_are_told_apart_and_the_right_ones_are_found(tmp_path: Path) -> None:
    path, _ = known_trace(tmp_path, largest_first=True)
    trace = read_trace(path)
    year = play_trace(trace, "t", Rules(kill=False)).year
    assert year.comparison is not None and year.comparison.same is not None and year.comparison.same < 0.9
    assert [line.name for line in year.comparison.lines if line.agrees is False]

    tried = fit(trace, Rules(kill=False))
    assert (tried[0].rules.order, tried[0].rules.depth, tried[0].off_s) == ("largest", 100, 0.0)


def test_a_trace_without_waits_is_not_held_against_ours(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, "; MaxNodes: 8\n" + record(1, 0, -1, 30, 8) + record(2, 40, -1, 30, 8))
    year = play_trace(trace, "t", Rules()).year
    assert year.ours is not None
    assert year.ours.utilisation == pytest.approx(60 / 70) and year.ours.waits.mean_s == 0
    assert (year.own, year.own_timeline, year.comparison) == (None, None, None), "it has no schedule of its own"
    assert "2 of 2 jobs have no recorded wait: nothing says when they ran" in year.notes
    with pytest.raises(UsageError, match="no schedule of its own"):
        play_trace(trace, "t", Rules(), only_own=True)
    with pytest.raises(UsageError, match="records no waits"):
        fit(trace, Rules())


def test_a_standstill_of_the_trace_is_kept_or_not(tmp_path: Path) -> None:
    """Nothing runs from 100 to 10,100, and job 2 waits from 200 on."""
    text = "; MaxProcs: 8\n" + record(1, 0, 0, 100, 8) + record(2, 200, 9900, 50, 8) + record(3, 20_000, 0, 5, 8)
    trace = trace_of(tmp_path, text)
    kept = play_trace(trace, "t", Rules())
    assert kept.year.closed == ((200.0, 10_100.0),)
    assert kept.made is not None and kept.made.start_s.tolist() == [0, 10_100, 20_000]
    free = play_trace(trace, "t", Rules(), keep_standstills=False)
    assert free.made is not None and free.made.start_s.tolist() == [0, 200, 20_000]
    assert free.year.comparison is not None and "enough free processors" in free.year.comparison.reasons[0]


def test_a_trace_that_holds_more_than_the_machine_is_told(tmp_path: Path) -> None:
    text = "; MaxProcs: 8\n" + record(1, 0, 0, 100, 8) + record(2, 50, 0, 50, 8)
    year = play_trace(trace_of(tmp_path, text), "t", Rules()).year
    assert year.comparison is not None and "16 processors at once" in year.comparison.reasons[0]
