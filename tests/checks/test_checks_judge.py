"""Verdicts and their reasons: what a person reads first when a run is not well."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shakedown.checks.judge import REASON_LIMIT, Judgement, judge, telling_line
from shakedown.checks.text import NOT_AS_WRITTEN
from shakedown.checks.trim import TRIMMED
from shakedown.model.events import VALUE_LIMIT
from shakedown.model.nouns import Case, Check, FigureSpec, Test
from shakedown.model.ports import CheckResult, Evidence, JobReport

CASE = Case("stream", "stream", "local:all")
CONTAINS = Check("contains", "output", "Completed", 'output contains "Completed"')
HELD = CheckResult('output contains "Completed"', True)
TRIAD = FigureSpec("triad", json="triad.gb_s", unit="GB/s")


def report(exit_status: int | None = 0, state: str = "", message: str = "") -> JobReport:
    state = state or ("completed" if exit_status == 0 else "failed")
    return JobReport("j000001", state, "local", exit_status=exit_status, elapsed_s=1.5, message=message)


def verdict(test: Test, job: JobReport, evidence: Evidence, case: Case = CASE) -> tuple[str, str]:
    judgement = judge(case, test, job, evidence)
    return judgement.verdict, judgement.reason


def exit_check(argument: str) -> Test:
    return Test("t", checks=(Check("exit", "", argument, f"exit is {argument}"),))


def test_a_run_whose_checks_hold_and_whose_figures_are_there_passes() -> None:
    evidence = Evidence("r000001", (HELD,), (("triad", 11.5),), excerpt="Completed")
    judgement = judge(CASE, Test("t", checks=(CONTAINS,), figures=(TRIAD,)), report(), evidence)
    assert judgement == Judgement(
        "passed", "exit status 0, 1 check holds, 1 figure taken", (("triad", 11.5),), (HELD,), (), ""
    )
    assert judgement.value() == {
        "verdict": "passed",
        "figures": {"triad": 11.5},
        "checks": [['output contains "Completed"', True, ""]],
    }


@pytest.mark.parametrize(
    ("exit_status", "excerpt", "reason"),
    [
        (2, "ERROR: no mesh\ncleaning up\n", "exit status 2: ERROR: no mesh"),
        (1, "step 1\nstep 2", "exit status 1: step 2"),
        (1, "", "exit status 1"),
        (127, "sh: 1: strem: not found", "exit status 127 (a command was not found): sh: 1: strem: not found"),
        (139, "", "exit status 139 (a command was ended by signal 11 (SIGSEGV))"),
        (-15, "", "ended by signal 15 (SIGTERM)"),
        (-9, "", "ended by signal 9 (SIGKILL); perhaps it ran out of memory"),
        (-99, "", "ended by signal 99"),
        (-15, "num = 42", 'ended by signal 15 (SIGTERM): the last line of its output is "num = 42"'),
        (-15, "Terminated", "ended by signal 15 (SIGTERM): Terminated"),
        (
            137,
            "num = 42",
            'exit status 137 (a command was ended by signal 9 (SIGKILL)): the last line of its output is "num = 42"',
        ),
        (None, "", "it failed, and its exit status is not known"),
    ],
)
def test_a_run_that_failed_is_told_with_its_exit_status_and_its_most_telling_line(
    exit_status: int | None, excerpt: str, reason: str
) -> None:
    assert verdict(Test("t"), report(exit_status), Evidence("r", excerpt=excerpt)) == ("failed", reason)


def test_the_words_of_the_scheduler_come_before_those_of_the_program() -> None:
    job = report(1, message="of 9 bytes of output the first 5 were kept: No space left on device")
    said = verdict(Test("t"), job, Evidence("r", excerpt="error: x"))
    assert said == (
        "failed",
        "exit status 1: of 9 bytes of output the first 5 were kept: No space left on device; error: x",
    )


def test_a_program_that_ended_well_in_a_job_that_failed_has_failed() -> None:
    assert verdict(Test("t"), report(0, "failed"), Evidence("r")) == (
        "failed",
        "the job is reported as failed (local), though with exit status 0",
    )


@pytest.mark.parametrize(
    ("argument", "exit_status", "outcome", "reason"),
    [
        ("3", 3, "passed", "exit status 3"),
        ("3", 0, "failed", "exit status 0, where 3 is expected"),
        ("3", -11, "failed", "ended by signal 11 (SIGSEGV), where 3 is expected"),
        ("any", 77, "passed", "exit status 77"),
        ("any", 0, "passed", "exit status 0"),
        ("0", 1, "failed", "exit status 1"),
    ],
)
def test_a_test_may_ask_for_another_exit_status(argument: str, exit_status: int, outcome: str, reason: str) -> None:
    judgement = judge(CASE, exit_check(argument), report(exit_status), Evidence("r"))
    assert (judgement.verdict, judgement.reason) == (outcome, reason)
    fault = "" if outcome == "passed" else reason
    assert judgement.checks == (CheckResult(f"exit is {argument}", outcome == "passed", fault),)


KILLED = "srun: error: n002: task 1: Killed"


@pytest.mark.parametrize(
    ("test", "exit_status", "outcome"),
    [
        (Test("t"), 0, ("failed", f"ranks of a step were lost, although its exit status is 0: {KILLED}")),
        (exit_check("0"), 0, ("failed", f"ranks of a step were lost, although its exit status is 0: {KILLED}")),
        (exit_check("any"), 0, ("passed", "exit status 0")),  # it means to lose some
        (exit_check("7"), 7, ("passed", "exit status 7")),
    ],
)
def test_a_step_that_lost_ranks_has_not_passed(test: Test, exit_status: int, outcome: tuple[str, str]) -> None:
    assert verdict(test, report(exit_status), Evidence("r", lost_ranks=KILLED)) == outcome


def test_checks_are_listed_in_the_order_written() -> None:
    checks = (Check("exit", "", "0", "exit is 0"), CONTAINS)
    judgement = judge(CASE, Test("t", checks=checks), report(), Evidence("r", (HELD,)))
    assert [check.text for check in judgement.checks] == ["exit is 0", 'output contains "Completed"']


def test_a_check_that_does_not_hold_makes_a_run_incorrect_and_comes_first() -> None:
    results = (
        HELD,
        CheckResult('file a exists "', None, "file a cannot be read: Permission denied"),
        CheckResult('output lacks "ERROR"', False, "the output has the line 'ERROR 7'"),
    )
    checks = (CONTAINS, Check("exists", "a"), Check("lacks", "output", "ERROR"))
    assert verdict(Test("t", checks=checks, figures=(TRIAD,)), report(), Evidence("r", results)) == (
        "incorrect",
        "output lacks \"ERROR\": the output has the line 'ERROR 7' (and 2 more)",
    )


def test_what_could_not_be_checked_is_not_passed_in_silence() -> None:
    slow = CheckResult('output matches "(a+)+$"', None, "it took longer than 5 s")
    test = Test("t", checks=(Check("matches", "output", "(a+)+$"),))
    assert verdict(test, report(), Evidence("r", (slow,))) == (
        "incorrect",
        'could not be checked: output matches "(a+)+$": it took longer than 5 s',
    )


def test_checks_that_nobody_looked_at_are_not_passed_either() -> None:
    assert verdict(Test("t", checks=(CONTAINS,)), report(), Evidence("r")) == (
        "incorrect",
        "could not be checked: 1 of 1 checks were not looked at",
    )


def test_a_missing_figure_makes_a_run_incorrect_unless_it_is_optional() -> None:
    problems = ("the output holds NUL bytes", "figure triad: triad.gb_s is nan, which is no finite number")
    test = Test("t", figures=(TRIAD,))
    assert verdict(test, report(), Evidence("r", problems=problems)) == (
        "incorrect",
        "figure triad is missing: triad.gb_s is nan, which is no finite number",
    )
    assert verdict(test, report(), Evidence("r")) == ("incorrect", "figure triad is missing")
    assert verdict(Test("t", figures=(replace(TRIAD, required=False),)), report(), Evidence("r"))[0] == "passed"


def test_figures_of_a_run_that_failed_are_kept() -> None:
    assert judge(CASE, Test("t"), report(1), Evidence("r", figures=(("triad", 3.0),))).figures == (("triad", 3.0),)


@pytest.mark.parametrize(
    ("state", "message", "reason"),
    [
        ("timeout", "", "it was ended at its time limit, after 1.5 s"),
        ("timeout", "it was ended at its time limit of 1.0 s", "it was ended at its time limit, after 1.5 s"),
        (
            "timeout",
            "it was ended at its time limit of 1 s; the job went on",
            "it was ended at its time limit, after 1.5 s: the job went on",
        ),
        ("node_fail", "n7 is down", "a node it ran on failed: n7 is down"),
        ("cancelled", "", "it was cancelled"),
        ("interrupted", "", "it was ended from outside"),
    ],
)
def test_another_end_names_its_own_verdict(state: str, message: str, reason: str) -> None:
    assert verdict(Test("t", checks=(CONTAINS,)), report(0, state, message), Evidence("r")) == (state, reason)


def test_an_expected_verdict_stays_what_it_is_and_is_said_to_be_expected() -> None:
    case = replace(CASE, expect="failed", because="the compiler is too old, see 4.2")
    assert verdict(Test("t"), report(2), Evidence("r"), case) == (
        "failed",
        "as expected: the compiler is too old, see 4.2 (exit status 2)",
    )
    assert verdict(Test("t"), report(0), Evidence("r"), case) == (
        "passed",
        "exit status 0 (expected: failed: the compiler is too old, see 4.2)",
    )


def test_the_most_telling_line_is_the_last_that_speaks_of_an_error() -> None:
    assert telling_line("Fatal: A\nerror: B\nbye\n\n") == "error: B"
    assert telling_line("one\ntwo\n") == "two"
    assert telling_line(" \n") == ""


def test_the_programs_own_words_go_before_those_that_launchers_add_to_any_failure() -> None:
    """As srun 22.05 writes them, after everything else."""
    added = (
        "srun: error: n002: tasks 2-3: Exited with exit code 1\nsrun: error: n001: task 0: Exited with exit code 1\n"
    )
    step = "slurmstepd: error: *** STEP 3.0 ON n001 CANCELLED AT 2026-11-22T08:37:17 ***\n"
    assert telling_line("error: hello: alone\n" + added + step) == "error: hello: alone"
    assert telling_line("one\n" + added) == "srun: error: n001: task 0: Exited with exit code 1"
    fault = "srun: error: n001: task 1: Segmentation fault"
    assert telling_line(f"error: before\n{fault}\n{step}") == fault


MPI_ADDS = {  # as MPICH 4.0 and 5.0 and Open MPI 4.1 write them after the program's own words
    "MPICH, MPI_Abort": (
        "Abort(5) on node 1 (rank 1 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 5) - process 1"
    ),
    "Open MPI, MPI_Abort": """\
MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD
with errorcode 5.

NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.
You may or may not see output from other processes, depending on
exactly when Open MPI kills them.""",
    "Open MPI, exit": """\
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
mpiexec.openmpi detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[14301,1],1]
  Exit code:    3""",
}


@pytest.mark.parametrize("added", MPI_ADDS)
def test_the_programs_own_words_go_before_those_that_mpi_adds(added: str) -> None:
    assert telling_line("error: hello: alone\n" + MPI_ADDS[added] + "\n") == "error: hello: alone"
    assert telling_line("hello\n" + MPI_ADDS[added] + "\n") in MPI_ADDS[added]


ANY_TEXT = st.text(max_size=400)
RESULTS = st.lists(st.builds(CheckResult, ANY_TEXT, st.sampled_from([True, False, None]), ANY_TEXT), max_size=40)


@given(RESULTS, st.lists(ANY_TEXT, max_size=30), st.text(max_size=1500), st.sampled_from([0, 1, -9]), ANY_TEXT)
def test_every_reason_is_a_printable_line_and_every_verdict_fits_an_event(
    results: list[CheckResult], problems: list[str], excerpt: str, status: int, message: str
) -> None:
    figures = tuple((f"figure_{number}", number / 7) for number in range(40))
    evidence = Evidence("r", tuple(results), figures, tuple(problems), excerpt)
    checks = tuple(Check("contains", "output", "x") for _ in results)
    judgement = judge(CASE, Test("t", checks=checks), report(status, message=message), evidence)
    assert judgement.reason.isprintable()
    assert 0 < len(judgement.reason) <= REASON_LIMIT
    assert judgement.figures == figures
    assert len(msgspec.json.encode(judgement.value())) <= VALUE_LIMIT - 800
    before = sum(len(check.text) + len(check.detail) for check in results) + sum(map(len, problems)) + len(excerpt)
    kept = sum(len(c.text) + len(c.detail) for c in judgement.checks) + sum(map(len, judgement.problems))
    assert TRIMMED in judgement.problems or kept + len(judgement.excerpt) == before or judgement.verdict == "passed"


def test_of_many_checks_those_that_do_not_hold_are_kept() -> None:
    results = [CheckResult(f"check {number} " + "x" * 100, number != 77) for number in range(200)]
    checks = tuple(Check("contains", "output", "x") for _ in results)
    judgement = judge(CASE, Test("t", checks=checks), report(), Evidence("r", tuple(results)))
    assert any(check.text.startswith("check 77 ") and check.held is False for check in judgement.checks)
    assert judgement.problems[-2:] == (TRIMMED, "188 of 200 checks are not listed")


def test_many_figures_leave_room_for_what_held_and_what_did_not() -> None:
    results = (
        CheckResult("output contains 'End of Tests.'", True),
        CheckResult("output lacks 'FAILED'", False, "it is there"),
    )
    figures = tuple((f"latency[size={number}]", number / 7) for number in range(300))
    evidence = Evidence("r", results, figures, ("figure gflops: a match of 'x' is missing",), "z" * 1500)
    judgement = judge(CASE, Test("t", checks=(Check("contains", "output", "x"),) * 2), report(), evidence)
    assert [(check.text, check.held) for check in judgement.checks[-2:]] == [(one.text, one.held) for one in results]
    assert judgement.problems == ("figure gflops: a match of 'x' is missing", TRIMMED)
    assert judgement.figures == figures


def test_a_verdict_with_a_long_list_of_nodes_fits_as_well() -> None:
    job = replace(report(), nodes="n[" + ",".join(str(n) for n in range(0, 900, 2)) + "]", output={"pack": "1.pack"})
    evidence = Evidence("r", (replace(HELD, held=False, detail="y" * 300),) * 30, excerpt="z" * 1500)
    judgement = judge(CASE, Test("t"), job, evidence)
    value = judgement.value() | {"nodes": job.nodes, "output": job.output}
    assert len(msgspec.json.encode(value)) <= VALUE_LIMIT - 500


# ---- a disk that was full ----------------------------------------------------------------------------------------------

FULL = "the disk was full while it ran (from 21:15:06 to 21:15:10)"


def _with_full_disk(
    state: str, status: int, held: bool | None, piped: bool = False, subject: str = "output"
) -> Judgement:
    test = Test("t", checks=(Check("contains", subject, "num", f'{subject} contains "num"'),))
    output = {"no_room": FULL} | ({"pack": "0", "crc": "0"} if piped else {"file": "o", "bytes": 0, "directory": "d"})
    report = JobReport("j000001", state, "marks", exit_status=status, elapsed_s=4.0, output=output)
    check = CheckResult(f'{subject} contains "num"', held, "" if held else "the output is empty")
    return judge(Case("c", "t", "here:cores"), test, report, Evidence("r000001", (check,)))


def test_what_a_full_disk_may_have_taken_is_not_judged_against_the_test() -> None:
    wrong, failed = _with_full_disk("completed", 0, held=False), _with_full_disk("failed", 1, held=False)
    assert (wrong.verdict, wrong.gone, failed.verdict, failed.gone) == ("undetermined", True, "undetermined", True)
    assert wrong.reason.startswith(f'could not be judged: {FULL}, and output contains "num": the output is empty')
    assert wrong.reason.endswith("so the result is attempted again while there is time")
    assert "exit status 1" in failed.reason


def test_an_output_that_is_not_what_was_written_is_gone_and_its_result_attempted_again() -> None:
    test = Test("t", checks=(Check("contains", "output", "num", 'output contains "num"'),))
    report = JobReport("j000001", "completed", "local", exit_status=0, output={"pack": "0", "bytes": 7, "crc": "0"})
    check = CheckResult('output contains "num"', None, NOT_AS_WRITTEN)
    found = judge(Case("c", "t", "here:cores"), test, report, Evidence("r000001", (check,), trouble=NOT_AS_WRITTEN))
    assert (found.verdict, found.gone) == ("undetermined", True)
    assert found.reason.endswith("that is gone for good, so the result is attempted again while there is time")


def test_a_run_that_has_its_whole_answer_passes_on_a_full_disk() -> None:
    well = _with_full_disk("completed", 0, held=True)
    assert (well.verdict, well.gone) == ("passed", False)
    assert "run time" not in well.reason


def test_a_run_whose_end_mark_a_full_disk_did_not_take_says_why_its_run_time_is_not_known() -> None:
    output = {"no_room": FULL, "file": "o", "bytes": 0, "directory": "d"}
    report = JobReport("j000001", "completed", "queue", exit_status=0, output=output)
    well = judge(Case("c", "t", "here:cores"), Test("t"), report, Evidence("r000001"))
    why = f"its run time is not known: its end mark could not be written ({FULL})"
    assert (well.verdict, well.reason) == ("passed", f"exit status 0, {why}")


def test_an_output_that_came_by_a_pipe_is_whole_though_a_disk_was_full() -> None:
    """Where it could not be kept, that is known. What the run itself wrote into files may be lost."""
    assert _with_full_disk("completed", 0, held=False, piped=True).verdict == "incorrect"
    assert _with_full_disk("completed", 0, held=False, piped=True, subject="result.txt").verdict == "undetermined"
