"""Lines that look bad and are no cause: what denies a failure, counts none, names a test, or is a warning that everyone knows."""

from __future__ import annotations

from pathlib import Path

import pytest
from known_failures import KNOWN

from shakedown.checks.classify.reading import Scan

LINES = Path(__file__).parent / "lines"

HARMLESS = """\
No segmentation fault occurred.
no segfaults, no memory leaks
0 node failures
node failures: 0
Node failures ........ 0
oom_kill 0
oom-kill events = 0
uncorrectable errors: none
No Xid errors were found on any GPU
Never ran out of memory.
The job did not run out of memory.
did not exceed the time limit
The run was not killed and not preempted
without a segmentation fault
free of stale file handles
Disk quota exceeded: no
Checking for stale file handle ... ok
checking whether No space left on device is handled... yes
[ RUN      ] Quota.DiskQuotaExceeded
[       OK ] Memory.OutOfMemory (12 ms)
[  PASSED  ] 14 tests. Segmentation fault tests included
ok 3 - Bus error is caught
PASS: out of memory
PASSED test_segmentation_fault.py::test_bus_error
=== RUN   TestNodeFailure
      Start 12: segmentation_fault_recovery
12/40 Test #12: disk quota exceeded ...........   Passed    0.02 sec
Testing: No space left on device
perl: warning: Setting locale failed.
bash: warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8)
stty: standard input: Inappropriate ioctl for device
tput: No value for $TERM and no -T specified
fatal: not a git repository (or any of the parent directories): .git
Note: The following floating-point exceptions are signalling: IEEE_INEXACT_FLAG
mkdir: cannot create directory 'out': File exists
rm: cannot remove 'core': No such file or directory
[INFO] node n0012 is not responding, asking again
nfs: server home01 OK
Lustre: scratch-OST0003-osc: Connection restored to scratch-OST0003
handler for SIGSEGV installed
installing signal handlers for SIGSEGV, SIGBUS, SIGFPE
SLURM_TIME_LIMIT=3600
time limit: 7200 s
Memory limit: 256 GB
max locked memory: unlimited
""".splitlines()

CAUSES = """\
write error: No space left on device
No route to host
No such file or directory: input.nml
ERROR: 0 of 4 nodes are not enough: node n001 is down: not responding
slurmstepd: error: Detected 1 oom-kill event(s)
no more memory: Out of memory
Segmentation fault
Error: no license available: FlexNet error -4
test.x: error while loading shared libraries: libm.so.9: cannot open shared object file
Bus error in test of rank 3
./test_solver: Segmentation fault (core dumped)
Not enough memory: cannot allocate 12 GB
""".splitlines()


@pytest.mark.parametrize("line", HARMLESS)
def test_a_harmless_line_is_no_cause(line: str) -> None:
    scan = Scan(lambda: KNOWN)
    scan.feed(f"{line}\nFATAL: the sea is dry\n")
    failure = scan.failure()
    assert (failure.name, failure.line) == ("unclassified", "FATAL: the sea is dry")


@pytest.mark.parametrize("line", CAUSES)
def test_a_cause_beside_small_words_stays_a_cause(line: str) -> None:
    scan = Scan(lambda: KNOWN)
    scan.feed(f"{line}\nsrun: error: n001: task 0: Exited with exit code 1\n")
    assert scan.failure().name != "unclassified" and scan.failure().line in line


def put_down_to(text: str) -> tuple[str, str]:
    scan = Scan(lambda: KNOWN)
    scan.feed(text)
    return scan.failure().name, scan.failure().line


def test_denials_conditions_names_of_files_and_fallbacks_are_no_cause() -> None:
    """Each line of the file beside an error that no class knows."""
    wrong = []
    for line in (LINES / "harmless.txt").read_text().splitlines():
        found = put_down_to(f"{line}\nFATAL: the sea is dry\nsrun: error: n001: task 0: Exited with exit code 1\n")
        if found[0] != "unclassified":
            wrong.append((line, found))
    assert wrong == []


def test_causes_that_look_like_denials_are_causes() -> None:
    """Each line of the file, 'class | line', beside an aftermath."""
    wrong = []
    for one in (LINES / "causes.txt").read_text().splitlines():
        name, _, line = one.partition(" | ")
        found = put_down_to(f"{line}\nsrun: error: n001: task 0: Exited with exit code 1\n")
        if found[0] != name:
            wrong.append((one, found))
    assert wrong == []


RECORD = """\
{{1}}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 1
{{1}}[Hardware Error]: event severity: {severity}
{{1}}[Hardware Error]:  Error 0, type: {severity}
{{1}}[Hardware Error]:   section_type: memory error
"""


def test_a_record_of_a_corrected_hardware_error_is_no_cause_in_any_of_its_lines() -> None:
    assert put_down_to(RECORD.format(severity="corrected") + "FATAL: the sea is dry\n")[1] == "FATAL: the sea is dry"
    assert put_down_to(RECORD.format(severity="corrected"))[0] == "unclassified"
    assert put_down_to(RECORD.format(severity="fatal") + "FATAL: the sea is dry\n")[0] == "hardware-error"
    both = RECORD.format(severity="corrected") + RECORD.replace("{{1}}", "{{2}}").format(severity="fatal")
    assert put_down_to(both)[0] == "hardware-error"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "process-limit",
            "OMP: Error #34: System unable to allocate necessary resources for OMP thread:\nOMP: System error #11: x\n",
        ),
        ("stack-overflow", "OMP: Error #34: System unable to allocate necessary resources for OMP thread:\n"),
        ("locked-memory-limit", "libibverbs: Warning: RLIMIT_MEMLOCK is 32768 bytes.\nERROR: job failed\n"),
        ("missing-library", "/usr/bin/ld: cannot find -lfftw3\ncollect2: error: ld returned 1 exit status\n"),
        ("module-not-found", "/etc/bashrc: line 3: module: command not found\n"),
        ("segmentation-fault", "EDAC MC0: 1 CE memory read error\nsrun: error: n1: task 0: Segmentation fault\n"),
    ],
)
def test_of_several_lines_the_right_one_tells(name: str, text: str) -> None:
    assert put_down_to(text)[0] == name
