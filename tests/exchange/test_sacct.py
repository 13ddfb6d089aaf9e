"""Records of sacct as people's names and clocks make them: each is read once, and what cannot be read is told."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacct_lines import HEADER, at, line, text

from shakedown.exchange.history import JobHistory
from shakedown.exchange.sacct import read_sacct
from shakedown.exchange.usage import usage
from shakedown.model.errors import UsageError


def read(folder: Path, content: str, zone: str = "") -> JobHistory:
    file = folder / "sacct.txt"
    file.write_text(content)
    return read_sacct(file, zone)


def test_a_record_is_what_its_columns_say(tmp_path: Path) -> None:
    found = read(
        tmp_path, text(line(7, 0, 2, 5, nodes=4, account="phys"), line(8, 1, None, 3, state="CANCELLED by 1001"))
    )
    assert (len(found), found.unit, found.told) == (2, "nodes", ())
    assert found.start_s[0] - found.submit_s[0] == 2 * 3600
    assert (found.run_s.tolist(), found.units.tolist()) == ([3 * 3600, 0], [4, 1])
    assert np.isnan(found.start_s[1]) and not found.waited[1]
    assert [found.state.names[code] for code in found.state.codes] == ["COMPLETED", "CANCELLED"]
    assert [found.account.names[code] for code in found.account.codes] == ["phys", "a"]


@pytest.mark.parametrize(
    "name", ["a|b", "|", "a | b || c", "COMPLETED|2026-03-01T00:00:00", "line\nbreak", "two\n|lines|\n", ""]
)
@pytest.mark.parametrize("last", [True, False])
def test_names_with_delimiters_and_new_lines(name: str, last: bool, tmp_path: Path) -> None:
    """Whether the name stands last or first, the records beside it stay what they are."""
    rows = [line(1, 0, 1, 2, nodes=3), line(2, 0, 1, 3, nodes=5, name=name), line(3, 0, 1, 4, nodes=7)]
    if not last:
        rows = ["|".join([row.split("|", 8)[8], *row.split("|", 8)[:8]]) for row in rows]
    header = HEADER if last else "JobName|" + HEADER.removesuffix("|JobName")
    found = read(tmp_path, text(*rows, header=header))
    assert found.units.tolist() == [3, 5, 7]
    assert found.run_s.tolist() == [3600, 7200, 10800]
    if last and name != "two\n|lines|\n":  # which may be a record that was cut off
        assert not any("cannot be read" in told for told in found.told)


@given(st.lists(st.text(alphabet="ab| \n\r\té'\"", max_size=12), min_size=1, max_size=6))
def test_any_names_at_all(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    rows = [line(number, 0, 1, 2, nodes=number, name=name) for number, name in enumerate(names, 1)]
    found = read(tmp_path_factory.mktemp("names"), text(*rows))
    assert found.units.tolist() == list(range(1, len(names) + 1))


def test_lines_that_end_with_the_delimiter(tmp_path: Path) -> None:
    """As sacct --parsable prints them."""
    rows = [row + "|" for row in (HEADER, line(1, 0, 1, 2, nodes=3), line(2, 0, 1, 2, nodes=4, name="x|y"))]
    assert read(tmp_path, "\n".join(rows) + "\n").units.tolist() == [3, 4]


def test_what_is_cut_off_is_told_and_counts_nowhere(tmp_path: Path) -> None:
    found = read(tmp_path, text(line(1, 0, 1, 2), "2|a|2026-03-01T00:", line(3, 0, 1, 2), "4|a|nothing|more"))
    assert len(found) == 2
    assert found.told == (f"2 records of {tmp_path}/sacct.txt cannot be read, the first at line 3, and count nowhere",)


def test_counts_that_are_no_numbers_are_told(tmp_path: Path) -> None:
    bad = line(2, 0, 1, 2).replace("|1|run", "|many|run")
    found = read(tmp_path, text(line(1, 0, 1, 2), bad))
    assert (len(found), len(found.told)) == (1, 1)


def test_steps_are_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, text(line(1, 0, 1, 2), line("1.batch", 0, 1, 2), line("1.0", 0, 1, 2)))
    assert len(found) == 1
    assert found.told == ("2 records of steps are left out; --allocations leaves them out of the file",)


def test_a_job_that_was_requeued_waits_once_and_holds_its_nodes_each_time(tmp_path: Path) -> None:
    rows = [line(5, 0, 6, 8, state="COMPLETED"), line(5, 0, 1, 3, state="REQUEUED"), line(5, 9, 10, 11)]
    found = read(tmp_path, text(*rows))
    assert found.run_s.tolist() == [7200, 7200, 3600]
    assert found.waited.tolist() == [False, True, True]  # another job has the number again: it was submitted later


REQUEUED = """JobID|JobName|State|NodeList|Submit|Start|End|NNodes
221|preempt|RUNNING|n005|2026-11-21T08:30:06|2026-11-21T08:30:06|Unknown|1
223|power|NODE_FAIL|n007|2026-11-21T08:30:06|2026-11-21T08:30:06|2026-11-21T08:30:33|1
225|no-kill|RESIZING|n[001,007]|2026-11-21T08:30:06|2026-11-21T08:30:06|2026-11-21T08:30:33|2
226|requeue|REQUEUED|n001|2026-11-21T08:30:06|2026-11-21T08:30:07|2026-11-21T08:30:08|1
226|requeue|COMPLETED|n001|2026-11-21T08:30:08|2026-11-21T08:32:12|2026-11-21T08:32:13|1
221|preempt|PREEMPTED|n005|2026-11-21T08:30:11|2026-11-21T08:32:12|2026-11-21T08:32:32|1
223|power|TIMEOUT|n007|2026-11-21T08:30:33|2026-11-21T08:30:52|2026-11-21T08:40:52|1
225|no-kill|COMPLETED|n001|2026-11-21T08:30:33|2026-11-21T08:30:33|2026-11-21T08:30:53|1
221|preempt|COMPLETED|n005|2026-11-21T08:32:33|2026-11-21T08:32:52|2026-11-21T08:33:22|1
"""


def test_slurm_gives_each_start_of_a_job_a_submission_of_its_own(tmp_path: Path) -> None:
    """As Slurm 22.05 wrote them: preempted, put back after a power loss, shrunk by a lost node, requeued by a person."""
    found = read(tmp_path, REQUEUED)
    assert found.waited.tolist() == [True, True, True, True, False, False, False, False, False]
    # the first record of 221 lost its end: it was over when its job was submitted again
    assert found.run_s.tolist() == [5, 27, 27, 1, 1, 20, 600, 20, 30]
    assert found.told == (
        "1 record says that it runs, and its job was submitted again: it is over by then",
        "5 records are of jobs that were put back into the queue or resized: each counts as a job in the tables, and the "
        "first wait of a job alone counts",
    )


@pytest.mark.parametrize(
    ("state", "after", "same"),
    [("COMPLETED", 0.4, True), ("COMPLETED", 0.6, False), ("NODE_FAIL", 20.0, True), ("NODE_FAIL", 25.0, False)],
)
def test_a_number_that_comes_again_is_another_job(state: str, after: float, same: bool, tmp_path: Path) -> None:
    again = 2 + after  # hours after the end of the first record
    found = read(tmp_path, text(line(5, again, again + 1, again + 2), line(5, 0, 1, 2, state=state)))
    assert found.waited.tolist() == [not same, True]


def test_what_was_cancelled_in_the_queue_never_started(tmp_path: Path) -> None:
    """Accounting gives it the moment of its end as its start: no wait, though the job stood in the queue for five hours."""
    rows = [
        line(1, 0, 5, 5, state="CANCELLED by 1001"),
        line(2, 0, 5, 5, state="DEADLINE"),
        line(3, 0, 5, 6, state="CANCELLED by 1001"),  # this one ran for an hour
        line(4, 0, 5, 5, state="FAILED"),  # it ran, and ended at once
        line(5, 0, 5, None, state="PENDING"),  # a start that the scheduler expects
    ]
    found = read(tmp_path, text(*rows))
    assert np.isnan(found.start_s).tolist() == [True, True, False, False, True]
    assert found.waited.tolist() == [False, False, True, True, False]
    assert found.run_s.tolist() == [0, 0, 3600, 0, 0]


def test_a_state_that_nobody_knows_is_its_own_and_takes_nothing_of_the_next_record(tmp_path: Path) -> None:
    rows = [
        line(1, 0, 1, 2, state="EXPEDITING", name="a|b"),
        line(2, 0, 1, 2, state="QUITE_NEW", account="phys", name="a|b"),
        line(3, 0, 1, 2, state="OUT_OF_ME+", account="bio", name="a|b"),
        line(4, 0, 1, 2, account="chem", name="a|b"),
    ]
    found = read(tmp_path, text(*rows))
    assert [found.state.names[code] for code in found.state.codes] == [
        *("EXPEDITING", "QUITE_NEW", "OUT_OF_MEMORY", "COMPLETED"),
    ]
    assert [found.account.names[code] for code in found.account.codes] == ["a", "phys", "bio", "chem"]


def test_users_where_there_is_such_a_column(tmp_path: Path) -> None:
    header = "JobIDRaw|User|" + HEADER.removeprefix("JobIDRaw|")
    rows = [line(1, 0, 1, 2).replace("1|", "1|ann|", 1), line(2, 0, 1, 2).replace("2|", "2|bo|", 1)]
    found = read(tmp_path, text(*rows, header=header))
    assert [found.user.names[code] for code in found.user.codes] == ["ann", "bo"]
    assert read(tmp_path, text(line(1, 0, 1, 2))).user.names == ("",)


def test_live_jobs_and_lost_ends(tmp_path: Path) -> None:
    found = read(tmp_path, text(line(1, 0, 1, None, state="RUNNING"), line(2, 0, None, None, state="PENDING")))
    assert np.isnan(found.run_s[0]) and found.run_s[1] == 0
    bare = "JobID|Submit|Start|End|State|NCPUS"
    lost = read(tmp_path, text(f"1|{at(0)}|{at(1)}|Unknown|COMPLETED|4", header=bare))
    assert lost.unit == "processors"
    assert lost.told == ("1 record has a start and no end; sacctmgr show runawayjobs lists such jobs",)


def test_what_runs_or_is_suspended_counts_for_as_long_as_its_record_says(tmp_path: Path) -> None:
    """An end, as --truncate writes, and what the scheduler counted go before the end of all that is looked at, here ten hours."""
    rows = [
        line(1, 0, 1, 2, state="SUSPENDED", elapsed=0.5),
        line(2, 0, 1, 2, state="RUNNING"),
        line(3, 0, 1, None, state="SUSPENDED", elapsed=0.75),
        line(4, 0, 1, None, state="RUNNING", elapsed=2),
        line(5, 0, 1, 11),
    ]
    found = read(tmp_path, text(*rows))
    assert [None if np.isnan(run) else run / 3600 for run in found.run_s] == [0.5, 1, 0.75, None, 10]
    assert usage(found).work == 0.5 + 1 + 0.75 + 10 + 10
    assert found.told[0] == "2 records say that they run or are suspended, and have an end: they count until then"
    bare = "JobID|Submit|Start|End|State|NNodes"
    uncounted = read(tmp_path, text(f"1|{at(0)}|{at(1)}|Unknown|SUSPENDED|1", header=bare))
    assert np.isnan(uncounted.run_s).all()


def test_the_hour_that_comes_twice(tmp_path: Path) -> None:
    """Berlin, 25 October 2026: 02:30 is there twice. The run time is what the scheduler counted."""
    autumn = "1|a|2026-10-25T02:50:00|2026-10-25T02:10:00|2026-10-25T03:10:00|3600|COMPLETED|1|run"
    plain, there = read(tmp_path, text(autumn)), read(tmp_path, text(autumn), "Europe/Berlin")
    assert plain.told == ("1 record starts before it was submitted; its wait is not known",)
    assert not plain.waited[0]
    assert there.told == () and there.waited[0]
    assert there.start_s[0] - there.submit_s[0] == 20 * 60
    assert there.run_s[0] == 3600


@pytest.mark.parametrize(
    ("submit", "start", "end", "elapsed", "waits", "runs"),
    [
        ("01:00:00", "02:50:00", "02:10:00", None, 110, 20),
        ("01:00:00", "02:50:00", "02:10:00", 20, 110, 20),
        ("02:50:00", "02:10:00", "02:20:00", None, 20, 10),
        ("02:50:00", "02:55:00", "02:20:00", None, 5, 25),
        ("01:00:00", "02:30:00", "03:30:00", 60, 150, 60),
        ("01:00:00", "02:30:00", "02:40:00", 70, 90, 70),
        ("01:00:00", "02:30:00", "02:40:00", None, 90, 10),
        ("02:10:00", "02:10:00", "02:10:00", None, 0, 0),
    ],
)
def test_whatever_lies_in_the_hour_that_comes_twice(
    submit: str, start: str, end: str, elapsed: int | None, waits: int, runs: int, tmp_path: Path
) -> None:
    """Minutes of waiting and running, by what must come before what and by the count, if there is one."""
    day = "2026-10-25T"
    header = "JobIDRaw|Submit|Start|End|State|NNodes" + ("|ElapsedRaw" if elapsed is not None else "")
    row = f"1|{day}{submit}|{day}{start}|{day}{end}|COMPLETED|1" + (f"|{elapsed * 60}" if elapsed is not None else "")
    found = read(tmp_path, text(row, header=header), "Europe/Berlin")
    assert found.told == ()
    assert (found.start_s[0] - found.submit_s[0], found.run_s[0]) == (waits * 60, runs * 60)


def test_a_clock_that_goes_back_by_half_an_hour(tmp_path: Path) -> None:
    """Lord Howe Island, 5 April 2026: from 02:00 back to 01:30."""
    row = "1|2026-04-05T01:00:00|2026-04-05T01:50:00|2026-04-05T01:40:00|COMPLETED|1"
    found = read(tmp_path, text(row, header="JobIDRaw|Submit|Start|End|State|NNodes"), "Australia/Lord_Howe")
    assert (found.told, found.run_s[0]) == ((), 20 * 60)


def test_offsets_of_a_zone_are_those_of_the_days(tmp_path: Path) -> None:
    """A run over the change of March: 01:30 to 03:30 local time is one hour."""
    spring = "1|a|2026-03-29T01:00:00|2026-03-29T01:30:00|2026-03-29T03:30:00|3600|COMPLETED|1|run"
    there = read(tmp_path, text(spring), "Europe/Berlin")
    assert (there.told, there.run_s[0], there.start_s[0] - there.submit_s[0]) == ((), 3600, 1800)
    assert there.submit_s[0] == 1774742400.0  # 2026-03-29T00:00:00Z
    plain = read(tmp_path, text(spring))
    assert plain.run_s[0] == 3600
    assert plain.told == ("1 record ends later or earlier than it ran for: suspended, or the clock was changed",)


def test_a_clock_that_was_set_back_without_a_count(tmp_path: Path) -> None:
    bare = "JobID|Submit|Start|End|State|NNodes"
    found = read(tmp_path, text(f"1|{at(0)}|{at(5)}|{at(4)}|COMPLETED|2", header=bare))
    assert found.run_s.tolist() == [0]
    assert found.told == ("1 record ends before it starts; it counts as a job without a run time",)


def test_elapsed_as_days_and_hours_and_counts_in_thousands(tmp_path: Path) -> None:
    header = "JobID|Submit|Start|End|Elapsed|State|AllocNodes"
    row = f"12_3|{at(0)}|{at(1)}|{at(51)}|2-02:00:00|COMPLETED|1.5K"
    found = read(tmp_path, text(row, header=header))
    assert (found.run_s.tolist(), found.units.tolist()) == ([50 * 3600], [1500])


def test_small_letters_in_the_first_line(tmp_path: Path) -> None:
    found = read(tmp_path, text(line(1, 0, 1, 2, nodes=3, name="a|b"), header=HEADER.lower()))
    assert (found.units.tolist(), found.run_s.tolist()) == ([3], [3600])


def test_compressed(tmp_path: Path) -> None:
    file = tmp_path / "sacct.gz"
    file.write_bytes(gzip.compress(text(line(1, 0, 1, 2, nodes=9)).encode()))
    assert read_sacct(file).units.tolist() == [9]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "line 1: no column Submit, Start, End, State, NNodes or NCPUS"),
        ("JobID|Submit|Start|End|State\n", "line 1: no column NNodes or NCPUS"),
        (HEADER + "\n", "there is no record of a job in it"),
        (HEADER + "\nx|y\n", "there is no record of a job in it; 1 line is none"),
        ("\x00\x01\x02" * 1000, "line 1: no column Submit"),
    ],
)
def test_a_file_that_is_none(content: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, content)
    assert words in str(caught.value) and "sacct --allusers" in str(caught.value)
