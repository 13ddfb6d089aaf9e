"""What a history amounts to, by hand and against a plain program that goes second by second."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sacct_lines import at, line, text

from shakedown.cli.main import cli
from shakedown.exchange.sacct import read_sacct
from shakedown.exchange.swf import read_swf
from shakedown.exchange.usage import Usage, usage
from shakedown.model.errors import UsageError

HOUR = 3600.0


def of(folder: Path, *lines: str, **asked: float) -> Usage:
    file = folder / "sacct.txt"
    file.write_text(text(*lines))
    return usage(read_sacct(file), **asked)  # type: ignore[arg-type]


def test_by_hand(tmp_path: Path) -> None:
    """Ten nodes for ten hours: 4 for five hours, 6 for ten; one job never starts, one ends with its node."""
    found = of(
        tmp_path,
        line(1, 0, 0, 5, nodes=4, account="phys"),
        line(2, 0, 0, 10, nodes=6, account="bio", state="NODE_FAIL"),
        line(3, 2, None, 3, state="CANCELLED by 7", account="bio"),
        capacity=10,
    )
    assert (found.records, found.never_started, found.work) == (3, 1, 80.0)
    assert found.utilisation == pytest.approx(0.8)
    assert [(one.name, one.jobs, one.work, one.share) for one in found.accounts] == [
        ("bio", 2, 60, 0.75),
        ("phys", 1, 20, 0.25),
    ]
    assert [(one.name, one.jobs) for one in found.sizes] == [("1", 1), ("4 to 7", 2)]
    assert [one.name for one in found.states] == ["NODE_FAIL", "COMPLETED", "CANCELLED"]
    assert (found.counted, found.between_failures_s) == ("as given", None)


def test_a_job_that_was_never_given_a_node(tmp_path: Path) -> None:
    """AllocNodes of a job that was cancelled in the queue is 0, and so are the processors of many jobs of an archive."""
    found = of(tmp_path, line(1, 0, 1, 3, nodes=4), line(2, 0, None, 3, nodes=0, state="CANCELLED by 7"))
    assert [(one.name, one.jobs, one.work) for one in found.sizes] == [("none", 1, 0), ("4 to 7", 1, 8)]
    swf = tmp_path / "some.swf"
    rest = "-1 1 1 1 1 1 -1 -1 -1"
    swf.write_text(f"1 0 10 3600 4 -1 -1 4 9000 {rest}\n2 5 5 50 0 -1 -1 0 200 {rest}\n")
    found = usage(read_swf(swf))
    assert [(one.name, one.jobs, one.work) for one in found.sizes] == [("none", 1, 0), ("4 to 7", 1, 4)]


def test_an_interval_cuts_what_is_held_and_waits_are_of_what_started_inside(tmp_path: Path) -> None:
    begin = usage_begin(tmp_path)
    found = of(tmp_path, line(1, 0, 1, 9, nodes=2), line(2, 0, 4, 6, nodes=2), line(3, 20, 21, 22),
               capacity=4, begin_s=begin + 2 * HOUR, end_s=begin + 6 * HOUR)  # fmt: skip
    assert (found.records, found.work) == (2, 2 * 4 + 2 * 2)
    assert (found.waits.jobs, found.waits.longest_s) == (1, 4 * HOUR)
    assert found.utilisation == pytest.approx(12 / 16)


def usage_begin(folder: Path) -> float:
    return of(folder, line(1, 0, 1, 2)).begin_s


def test_areas_join_accounts_and_none_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "s"
    file.write_text(text(line(1, 0, 0, 1, account="x"), line(2, 0, 0, 2, account="y"), line(3, 0, 0, 4, account="z")))
    found = usage(read_sacct(file), areas={"x": "Physics", "z": "Physics"})
    assert [(one.name, one.jobs, one.work) for one in found.areas] == [("Physics", 2, 5), ("(no area)", 1, 2)]


def test_failures_of_nodes_that_end_together_are_one(tmp_path: Path) -> None:
    ends = (2, 2, 5, 11)
    found = of(tmp_path, *(line(number, 0, 1, end, state="NODE_FAIL") for number, end in enumerate(ends)))
    assert found.between_failures_s == pytest.approx((11 - 2) / 2 * HOUR)


def test_a_node_that_fails_after_the_interval_is_no_failure_at_its_end(tmp_path: Path) -> None:
    """Ends after 1, 2, 10 and 19 days, looked at for the first ten: two times, of 1 and of 8 days; for the first nine: one."""
    days = (1, 2, 10, 19)
    lines = [line(number, 0, 0, 24 * day, state="NODE_FAIL") for number, day in enumerate(days)]
    begin = of(tmp_path, *lines).begin_s
    for until, between in ((10, 4.5), (9, 1.0), (1.5, None)):
        found = of(tmp_path, *lines, begin_s=begin, end_s=begin + until * 24 * HOUR)
        assert found.between_failures_s == (between and pytest.approx(between * 24 * HOUR)), until


def test_more_than_the_machine_has_is_told(tmp_path: Path) -> None:
    found = of(tmp_path, line(1, 0, 0, 1, nodes=8), line(2, 0, 0, 1, nodes=8), capacity=10)
    (told,) = found.told
    assert told.startswith("up to 16 nodes are held at once, more than the 10 of the machine: jobs share nodes")


def test_what_runs_still_holds_its_nodes_to_the_end(tmp_path: Path) -> None:
    found = of(tmp_path, line(1, 0, 0, None, nodes=3, state="RUNNING"), line(2, 0, 0, 10))
    assert found.work == 3 * 10 + 10


jobs = st.tuples(st.integers(0, 50), st.integers(0, 30), st.integers(0, 60), st.integers(1, 9))


@given(st.lists(jobs, min_size=1, max_size=12), st.integers(0, 40), st.integers(1, 60))
def test_against_a_plain_program(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, int, int]], begin: int, wide: int
) -> None:
    folder = tmp_path_factory.mktemp("plain")
    lines = [
        line(n, submit, submit + wait, submit + wait + run, nodes) for n, (submit, wait, run, nodes) in enumerate(rows)
    ]
    zero = usage_begin(folder)
    try:
        found = of(folder, *lines, capacity=100, begin_s=zero + begin * HOUR, end_s=zero + (begin + wide) * HOUR)
    except UsageError:
        inside = [1 for submit, wait, run, _ in rows if begin <= submit + wait <= begin + wide]
        assert not inside
        return
    held = [
        sum(nodes for submit, wait, run, nodes in rows if submit + wait <= hour < submit + wait + run)
        for hour in range(begin, begin + wide)
    ]
    assert found.work == pytest.approx(sum(held))
    assert found.utilisation == pytest.approx(sum(held) / (100 * wide))
    parts = sum(one.utilisation * (one.end_s - one.begin_s) for one in found.periods)
    assert parts * 100 / HOUR == pytest.approx(found.work)
    assert sum(one.work for one in found.sizes) == pytest.approx(found.work)
    assert sum(one.jobs for one in found.states) == found.records


def test_a_workload(tmp_path: Path) -> None:
    file = tmp_path / "w.swf"
    rows = ["; MaxProcs: 128", "; UnixStartTime: 1000000", *(
        f"{n} {n * 100} {wait} {run} {procs} -1 -1 {procs} -1 -1 {status} 3 -1 -1 -1 -1 -1 -1"
        for n, (wait, run, procs, status) in enumerate([(10, 3600, 64, 1), (-1, -1, 32, 5), (0, 7200, 128, 0)], 1)
    )]  # fmt: skip
    file.write_text("\n".join(rows) + "\n")
    found = usage(read_swf(file))
    assert (found.unit, found.capacity, found.counted, found.never_started) == (
        "processors",
        128,
        "as the file says",
        1,
    )
    assert found.work == pytest.approx(64 + 256)
    assert {one.name: one.jobs for one in found.states} == {"COMPLETED": 1, "CANCELLED": 1, "FAILED": 1}


SWF = "{job} {submit} {wait} {run} {given} -1 -1 {asked} -1 -1 {status} 3 -1 -1 -1 -1 -1 -1"


def workload(folder: Path, *rows: dict[str, int], header: str = "; MaxProcs: 128") -> Usage:
    plain = {"submit": 0, "wait": 0, "run": 3600, "given": 64, "asked": 64, "status": 1}
    file = folder / "w.swf"
    file.write_text("\n".join([header, *(SWF.format(**plain | row) for row in rows)]) + "\n")
    return usage(read_swf(file))


def test_a_workload_without_waits_holds_what_it_ran(tmp_path: Path) -> None:
    """As the log of NASA's iPSC is: no waits, and no word on how jobs ended."""
    rows = [{"job": n, "submit": n * 3600, "wait": -1, "status": -1, "given": 128} for n in range(4)]
    found = workload(tmp_path, *rows)
    assert (found.never_started, found.work, found.waits.jobs) == (0, 4 * 128, 0)
    assert found.utilisation == pytest.approx(1.0)
    assert found.told == ("4 records have no wait: they are taken to start when they were submitted",)


def test_a_job_that_was_checkpointed_counts_once(tmp_path: Path) -> None:
    """A record of the whole, and two of its parts; another job is there in parts alone."""
    rows = [
        {"job": 1},
        {"job": 1, "run": 1800, "status": 2},
        {"job": 1, "submit": -1, "run": 1800, "status": 3},
        {"job": 2, "run": 7200, "status": 2},
    ]
    found = workload(tmp_path, *rows)
    assert (found.records, found.work) == (2, 64 + 128)
    assert found.told == ("2 records are parts of jobs that are there as a whole; they are left out",)


@pytest.mark.parametrize("submits", [(0, -1, -1), (0, 3610, 7230), (0, 0, 0)])
def test_a_job_that_is_there_in_parts_alone_waited_once(submits: tuple[int, int, int], tmp_path: Path) -> None:
    """Three parts of an hour; each later one begins 20 s after the one before ended, or has the wait of the whole job before it."""
    waits = (10, 3630, 7250) if submits[1] == 0 else (10, 20, 20)
    rows: list[dict[str, int]] = [
        {"job": 1, "submit": submit, "wait": wait, "status": status}
        for submit, wait, status in zip(submits, waits, (2, 2, 3), strict=True)
    ]
    found = workload(tmp_path, *rows, {"job": 2, "wait": 50})
    assert (found.records, found.work) == (4, 4 * 64)
    assert (found.waits.jobs, found.waits.longest_s) == (2, 50)
    assert found.end_s - found.begin_s == 3 * 3600 + 10 + 2 * 20
    (told,) = found.told
    assert told.startswith("2 records are later parts of a job")


def test_what_a_workload_does_not_know_is_told(tmp_path: Path) -> None:
    rows = [{"job": 1}, {"job": 2, "submit": -1}, {"job": 3, "run": -1}, {"job": 4, "wait": -1, "run": -1, "status": 5}]
    found = workload(tmp_path, *rows, header="; MaxNodes: 256")
    assert (found.records, found.capacity, found.work, found.never_started) == (3, 256, 64, 1)
    assert found.told == (
        "1 record has no time of submission, and counts nowhere",
        "1 record has a start and no run time; it holds nothing",
    )
    with pytest.raises(UsageError, match="no record has a time of submission"):
        workload(tmp_path, {"job": 1, "submit": -1})


# ---- the command -----------------------------------------------------------------------------------------------------


def test_the_command_within_eighty_columns_and_as_data(tmp_path: Path) -> None:
    file = tmp_path / "sacct.txt"
    file.write_text(text(*(line(n, n, n + 1, n + 5, nodes=2**n, account=f"account-{n}") for n in range(14))))
    words = [
        "import",
        "sacct",
        str(file),
        "--nodes",
        "20000",
        "--csv",
        str(tmp_path / "t.csv"),
        "--figure",
        str(tmp_path / "f.svg"),
    ]
    said = CliRunner().invoke(cli, words, standalone_mode=False, catch_exceptions=False).output
    assert max(map(len, said.replace(str(tmp_path), "").splitlines())) <= 80
    assert "(2 others)" in said and "machine: 20,000 nodes, as given" in said
    assert (tmp_path / "t.csv").read_text().startswith("by,name,jobs,node_hours,share")
    assert (tmp_path / "f.svg").stat().st_size > 1000
    data = json.loads(CliRunner().invoke(cli, [*words[:5], "--json"], standalone_mode=False).output)
    assert len(data["accounts"]) == 14 and data["capacity"] == 20000


def test_little_work_is_not_printed_as_none(tmp_path: Path) -> None:
    file = tmp_path / "some.swf"
    file.write_text("1 0 10 100 4 -1 -1 4 200 -1 1 1 1 1 1 -1 -1 -1\n")
    said = CliRunner().invoke(cli, ["import", "swf", str(file)], standalone_mode=False, catch_exceptions=False).output
    assert "of its processor-hours (0.111)" in said
    assert [" 0.111 " in line for line in said.splitlines() if line.startswith(("COMPLETED", "user 1"))] == [True] * 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--from", "yesterday"], "--from 'yesterday' is no date\nhint: write 2026-01-31 or 2026-01-31T12:00"),
        (["--zone", "Mars/Base"], "there is no time zone 'Mars/Base'"),
        (["--from", "2027-01-01"], "the interval ends before it begins"),
        (["--from", "2026-03-02", "--to", "2026-03-03"], "no job is inside the interval that is asked for"),
    ],
)
def test_misuse(words: list[str], message: str, tmp_path: Path) -> None:
    file = tmp_path / "sacct.txt"
    file.write_text(text(line(1, 0, 1, 2)))
    error = CliRunner().invoke(cli, ["import", "sacct", str(file), *words], standalone_mode=False).exception
    assert isinstance(error, UsageError) and message in str(error)


def test_areas_that_are_no_pairs(tmp_path: Path) -> None:
    file, areas = tmp_path / "sacct.txt", tmp_path / "areas.csv"
    file.write_text(text(line(1, 0, 1, 2)))
    areas.write_text("# account,area\na,Physics\nb\n")
    error = (
        CliRunner().invoke(cli, ["import", "sacct", str(file), "--areas", str(areas)], standalone_mode=False).exception
    )
    assert str(error) == f"{areas}, line 3: 1 fields\nhint: each line is ACCOUNT,AREA"
    assert at(0) == "2026-03-01T00:00:00"
