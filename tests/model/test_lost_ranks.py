"""What launchers write of ranks that were lost, and what is not taken for it."""

from __future__ import annotations

import pytest

from shakedown.model.steps import broken_step, lost_ranks

TIMED_OUT = "srun: error: Timed out waiting for job step to complete"
LOST = (
    TIMED_OUT,
    "srun: error: n002: task 1: Killed",
    "srun: error: n[001-002]: tasks 0-3: Segmentation fault (core dumped)",
    "srun: error: n001: tasks 0,2: Out Of Memory",
    "srun: error: Task launch for StepId=7.0 failed on node n002: Communication connection failure",
    "srun: error: Application launch failed: Communication connection failure",
    "srun: error: Unable to create step for job 9: Requested nodes are busy",
    "srun: error: Node failure on n003",
    "srun: error: step_launch_notify_io_failure: aborting, io error with slurmstepd on node 1",
    "slurmstepd: error: Detected 1 oom_kill event in StepId=12.0. Some of the step tasks have been OOM Killed.",
    "slurmstepd-n001: error: Detected 2 oom-kill event(s) in step 12.0 cgroup.",
    "slurmstepd: error: StepId=12.0 exceeded memory limit (2 > 1), being killed",
    "slurmstepd: error: *** STEP 12.0 ON n001 CANCELLED AT 2026-01-01T00:00:00 DUE TO NODE FAILURE, SEE SLURMCTLD LOG",
    "mpirun noticed that process rank 3 with PID 0 on node n002 exited on signal 9 (Killed).",
    "prterun noticed that process rank 1 with PID 99 on node n002 exited on signal 11 (Segmentation fault: 11).",
    "mpirun noticed that the job aborted, but has no info as to the process",
    "ORTE has lost communication with a remote daemon.",
    "PRTE has lost communication with a remote daemon.",
    "PRTE was unable to reliably start one or more daemons.",
    "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)",
    "=   KILLED BY SIGNAL: 9 (Killed)",
    "[proxy:0:1@n002] HYD_pmcd_pmip_control_cmd_cb (pmip_cb.c:480): assert (!closed) failed",
    "slurmstepd: error: execve(): ./solve: No such file or directory",
    "srun: error: Unable to allocate resources: Requested node configuration is not available",
    "mpirun was unable to launch the specified application as it could not find an executable:",
    "mpirun.openmpi was unable to find the specified executable file, and therefore",
    "There are not enough slots available in the system to satisfy the 8",
    "[proxy:0:0@n001] HYDU_create_process (utils/launch.c:73): execvp error on file ./x (No such file or directory)",
    "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD",
    "Abort(5) on node 1 (rank 1 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 5) - process 1",
    "application called MPI_Abort(MPI_COMM_WORLD, 5) - process 1",
    "MPICH ERROR [Rank 0] [job id 1.0] - Abort(1) (rank 0): application called MPI_Abort(MPI_COMM_WORLD, 1) - process 0",
    "[NID 00012] 2026-01-01 00:00:00 Apid 4: initiated application termination",
    "[NID 00012] 2026-01-01 00:00:00 Apid 4: OOM killer terminated this process.",
)
OTHERS = (
    "srun: error: n001: task 0: Exited with exit code 3",  # it hands that on
    "srun: error: n001: task 0: Terminated",  # a script ended a step that it needed no more
    "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
    "slurmstepd: error: *** STEP 12.1 ON n001 CANCELLED AT 2026-01-01T00:00:00 ***",
    "srun: Job 12 step creation temporarily disabled, retrying (Requested nodes are busy)",
    "srun: warning: can't honor --ntasks-per-node set to 4",
    "mpirun noticed that process rank 3 with PID 0 on node n002 exited on signal 15 (Terminated).",
    "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Terminated (signal 15)",
    "=   KILLED BY SIGNAL: 15 (Terminated)",
    "my log: srun: error: n002: task 1: Killed",  # the application's own text
    "  srun: error: n002: task 1: Killed",
    "0: srun: error: n002: task 1: Killed",
    "we write what slurmstepd: error: would, being killed",
    "the sentence 'mpirun noticed that process rank 3 exited on signal 9' is tested here",
    "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\nwith errorcode 0.\n",
    "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\n  Proc: [[1,1],1]\n  Errorcode: 0\n",
    "Abort(0) on node 1 (rank 1 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 0) - process 1",
    "we look whether MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD",
    "the handler of application called MPI_Abort(MPI_COMM_WORLD, 5) - process 1",
    "",
)


@pytest.mark.parametrize("line", LOST)
@pytest.mark.parametrize("around", ["{}", "hello\n{}\nbye\n", "x" * 5000 + "\n{}\n" + "y" * 5000])
def test_a_launchers_words_of_ranks_that_were_lost(line: str, around: str) -> None:
    assert lost_ranks(around.format(line)) == line


@pytest.mark.parametrize("line", OTHERS)
def test_other_words_are_not_taken_for_them(line: str) -> None:
    assert lost_ranks(f"hello\n{line}\nbye\n") == ""


def test_an_abort_with_a_status_is_one_and_the_message_is_its_first_line() -> None:
    first = "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD"
    assert lost_ranks(f"hello\n{first}\nwith errorcode 7.\nbye\n") == first
    assert lost_ranks(f"{first}\n  Proc: [[1,1],1]\n  Errorcode: 10\n") == first


CANCELLED = "slurmstepd: error: *** STEP 7.0 ON n001 CANCELLED AT 2026-01-01T00:00:00 ***"
KILLED = "srun: error: n001: task 0: Killed"
ABORTED = "srun: Job step aborted: Waiting up to 32 seconds for job step to finish."


@pytest.mark.parametrize(
    ("lines", "lost"),
    [
        ((CANCELLED, KILLED), False),
        ((ABORTED, CANCELLED, KILLED, "srun: error: n002: task 1: Killed"), False),
        ((CANCELLED, "GFlops 7", KILLED), True),  # another step
        ((KILLED, CANCELLED), True),
        ((CANCELLED.replace("***", "DUE TO NODE FAILURE ***"), KILLED), True),
        ((CANCELLED.replace(" ***", " DUE TO TIME LIMIT ***"), KILLED), True),
        ((CANCELLED, "srun: error: n001: task 0: Segmentation fault"), True),
        ((ABORTED, KILLED), True),
    ],
)
def test_a_step_that_its_script_cancelled_lost_no_ranks_when_it_had_to_be_killed(
    lines: tuple[str, ...], lost: bool
) -> None:
    assert bool(lost_ranks("\n".join(["hello", *lines, "bye"]))) == lost


def test_of_steps_that_a_script_is_known_to_have_ended_killed_tasks_are_not_lost_and_others_are() -> None:
    assert lost_ranks(f"{KILLED}\n", ended=True) == ""
    assert lost_ranks(f"{KILLED}\n{TIMED_OUT}\n", ended=True) == TIMED_OUT


def test_the_first_of_several_is_said_short_and_printable() -> None:
    first = "srun: error: n002: task 1: Killed\x1b[0m" + "x" * 900
    said = lost_ranks(f"{first}\n{TIMED_OUT}\n")
    assert said.startswith("srun: error: n002: task 1: Killed [0mxx") and len(said) == 200


def test_a_line_of_megabytes_is_passed_over_in_a_moment() -> None:
    """It is an amount of work, not a time, that is bounded: nothing is looked for further back than a launcher's line is long."""
    assert lost_ranks("a slurmstepd [NID srun: error: " * 100_000 + f"\n{TIMED_OUT}\n") == TIMED_OUT


def test_a_step_that_was_waited_for_in_vain_is_looked_into() -> None:
    assert broken_step(f"hello\n{TIMED_OUT}\n") is not None
