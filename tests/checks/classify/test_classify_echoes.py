"""Causes come before their echoes: who tells that another rank is gone does not tell why, however loud."""

from __future__ import annotations

import pytest
from known_failures import KNOWN

from shakedown.checks.classify.ending import weigh
from shakedown.checks.classify.reading import Scan
from shakedown.model.failures import Failure

ECHOES = [
    "[n001:2:0:2] ucp_ep.c:1494 UCX  ERROR ep 0x7f: error 'Connection reset by remote peer' on rc_mlx5",
    "[1699.1] [n001:2:0] tcp_ep.c:1201 UCX  ERROR tcp_ep 0x55: recv(fd=33) failed: Connection reset by peer",
    "[n7:91] ucp_worker.c:700 UCX  ERROR endpoint 0x15 error: Endpoint timeout",
    (
        "n003: MPICH ERROR [Rank 3] [job id 1.0] Abort(15): Fatal error in PMPI_Waitall: Other MPI error, error stack:"
        " MPIDI_OFI_handle_cq_error(1067): OFI poll failed (ofi_events.c:1069:MPIDI_OFI_handle_cq_error:Input/output error -"
        " UNDELIVERABLE)"
    ),
    "libfabric:99:cxi:core:cxip_cq_eq_progress():450<warn> UNDELIVERABLE",
    (
        "[n002][[52,1],3][btl_tcp_endpoint.c:730:mca_btl_tcp_endpoint_start_connect] connect() to 10.0.0.3:1024 failed:"
        " Connection refused (111)"
    ),
    "[n002][[52,1],3][btl_tcp_frag.c:242:mca_btl_tcp_frag_recv] readv failed: Connection reset by peer",
    "n002:1:2 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer n001<4242>",
    "n002:1:2 [0] transport/net_socket.cc:12 NCCL WARN Net : Connection closed by remote peer",
    "[rank1]: torch.distributed.DistBackendError: NCCL communicator was aborted on rank 1.",
    "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
    "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.2]:1234",
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
    "[n1:33] An MPI communication peer process has unexpectedly disconnected.",
    "MPID_nem_tcp_connpoll(1845): Communication error with rank 3: Connection reset by peer",
    "[E ProcessGroupNCCL.cpp:563] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=42)",
    "n004.99 PSM2 Endpoint is closed or does not exist",
    "mpirun: HYDU_sock_write write error (Broken pipe)",
    (
        "Fatal error in PMPI_Bcast: Unknown error class, error stack: MPIDU_Socki_handle_read(607): connection failure"
        " (set=0,sock=1,errno=104:Connection reset by peer)"
    ),
]
CAUSES = [
    ("segmentation-fault", "srun: error: n002: task 1: Segmentation fault"),
    ("bus-error", "n3: Signal: Bus error (7)"),
    ("assertion-failed", "app: grid.cc:7: Assertion `n > 0' failed."),
    ("fortran-runtime-error", "Fortran runtime error: Index '11' of dimension 1 of array 'x' above upper bound of 10"),
    (
        "numerical-failure",
        "FATAL: NaN detected in field u\napplication called MPI_Abort(MPI_COMM_WORLD, 1) - process 0",
    ),
    ("floating-point-exception", "forrtl: error (73): floating divide by zero"),
    ("disk-full", "write: No space left on device"),
    ("missing-input", "cannot open file 'mesh.cgns': No such file or directory"),
    ("glibc-heap-corruption", "free(): invalid pointer\nAborted (core dumped)"),
    ("abort", "terminate called after throwing an instance of 'std::out_of_range'\n  what():  vector::_M_range_check"),
    (
        "python-traceback",
        'Traceback (most recent call last):\n  File "t.py", line 3\nIndexError: list index out of range',
    ),
    ("gpu-out-of-memory", "torch.cuda.OutOfMemoryError: CUDA out of memory."),
    ("out-of-memory", "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0."),
    (
        "missing-library",
        "./x: error while loading shared libraries: libz.so.9: cannot open shared object file: No such file or directory",
    ),
    ("illegal-instruction", "srun: error: n1: task 3: Illegal instruction"),
]
OF_THE_NETWORK = [
    "ib_mlx5_log.c:139  Transport retry count exceeded on mlx5_0:1/IB",
    "mlx5_0: port 1 link down",
    "NET/IB : Got completion from peer 10.0.0.2<41234> with status=12 opcode=0 len=0 vendor err 129",
]
GENERAL = "Fatal error in PMPI_Wait: Other MPI error, error stack:"


def classify(*lines: str) -> Failure:
    scan = Scan(lambda: KNOWN)
    scan.feed("\n".join(lines))
    return scan.failure()


@pytest.mark.parametrize(("name", "cause"), CAUSES)
def test_a_cause_wins_over_every_echo_of_it(name: str, cause: str) -> None:
    ended = "srun: error: n1: task 2: Exited with exit code 1"
    wrong = [echo for echo in ECHOES if classify(echo, cause, ended).name != name or classify(cause, echo).name != name]
    assert wrong == []
    assert classify(*ECHOES, GENERAL, cause, ended).name == name


@pytest.mark.parametrize("echo", ECHOES)
def test_an_echo_that_nothing_explains_is_still_a_hint(echo: str) -> None:
    assert classify(echo, "srun: error: n1: task 2: Exited with exit code 1").name not in (
        "unclassified",
        "exit-status",
    )


def test_an_echo_tells_more_than_that_an_mpi_call_failed() -> None:
    poll = "MPIDI_OFI_handle_cq_error(1067): OFI poll failed (ofi_events.c:1069:Input/output error - UNDELIVERABLE)"
    assert classify(GENERAL, poll).name == "fabric-error"


@pytest.mark.parametrize("line", OF_THE_NETWORK)
def test_what_the_network_says_of_itself_is_a_cause(line: str) -> None:
    assert classify(line, "ERROR: MPI_Wait failed", "Aborted (core dumped)").name == "fabric-error"


def test_who_waited_in_vain_ends_itself_by_a_signal_which_explains_nothing() -> None:
    timeout = "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=42) ran for 600012 milliseconds"
    assert classify(timeout, "Aborted (core dumped)", "srun: error: n1: task 3: Killed").name == "collective-timeout"


def test_a_signal_in_the_exit_status_explains_an_echo_too() -> None:
    reset = "[n1:2] UCX  ERROR ep 0x7f: error 'Connection reset by remote peer'"
    for status, name in ((139, "segmentation-fault"), (1, "fabric-error"), (143, "fabric-error")):
        failure = weigh("failed", "", status, classify(reset))
        assert failure is not None and failure.name == name, status
