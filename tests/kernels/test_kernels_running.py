"""What every kernel must do: check itself, write records, notice a wrong result, end in time, refuse misuse in a sentence."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from shakedown.kernels import find_mpiexec, kernel_names
from shakedown.kernels.launch import is_complete

from .conftest import TIME_LIMIT, Outcome, RunKernel

pytestmark = pytest.mark.mpi

SHORT: dict[str, list[str]] = {
    "metadata": ["--files", "5", "--repeats", "1"],
    "mpimem": [],
    "nodecheck": ["--repeats", "1", "--elements", "1000", "--partners", "2", "--size", "4KiB", "--round-trips", "2"],
    "pt2pt": ["--patterns", "bidirectional,cores", "--largest", "2", "--windows", "2", "--round-trips", "2"],
    "congestion": [
        *("--rings", "2", "--latency-repeats", "2", "--bandwidth-repeats", "2", "--allreduce-repeats", "2"),
        *("--size", "1KiB", "--congestors", "put-incast"),
    ],
    "collectives": ["--operations", "barrier,alltoall", "--largest", "8", "--iterations", "3"],
    "cg": ["--n", "8", "--levels", "2", "--iterations", "3", "--solves", "1"],
    "gemm": ["--n", "48", "--repeats", "1"],
    "gpu-copy": ["--largest", "600", "--repeats", "2"],
    "gpu-gemm": ["--n", "40", "--repeats", "1"],
    "gpu-pairs": ["--size", "2KiB", "--iterations", "2"],
    "gpu-stream": ["--elements", "2000", "--repeats", "3"],
    "halo": ["--cells", "4", "--steps", "2"],
    "hello": [],
    "io": ["--block", "64KiB", "--transfer", "4KiB", "--files", "10"],
    "loader": ["--libraries", "4", "--modules", "2", "--repeats", "2"],
    "noise": ["--samples", "20", "--quantum", "100"],
    "pairs": ["--size", "4KiB", "--iterations", "2"],
    "stream": ["--elements", "10000", "--repeats", "3"],
    "sweep": ["--n", "3", "--nz", "4", "--angles", "2", "--groups", "2", "--repeats", "1"],
    "transpose": ["--n", "8", "--repeats", "2"],
}


IN_A_DIRECTORY = ("io", "loader", "metadata")
NODES = {"congestion": 4}  # the fewest that a kernel needs


def arguments(name: str, tmp_path: Path, nodes: int = 0) -> list[str]:
    """The options for a short run; on so many pretended nodes, or on the fewest that the kernel needs."""
    pretended = nodes or NODES.get(name, 0)
    where = ["--directory", str(tmp_path)] if name in IN_A_DIRECTORY else []
    return [*SHORT[name], *where, *(["--fake-nodes", str(pretended)] if pretended else [])]


def ranks_for(name: str, ranks: int) -> int:
    return max(ranks, NODES.get(name, 0))


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("name", kernel_names())
def test_a_self_check_passes(run_kernel: RunKernel, tmp_path: Path, name: str, ranks: int) -> None:
    where = ["--directory", str(tmp_path)] if name in IN_A_DIRECTORY else []
    outcome = run_kernel(name, "--self-check", *SHORT[name], *where, ranks=ranks)
    assert outcome.status == 0, outcome.errors
    (said,) = outcome.kind("self-check")
    assert said["passed"] is True and said["checks"] > 10


@pytest.mark.parametrize("name", kernel_names())
def test_records_begin_with_the_start_and_end_complete(run_kernel: RunKernel, tmp_path: Path, name: str) -> None:
    ranks = ranks_for(name, 2)
    outcome = run_kernel(name, *arguments(name, tmp_path), ranks=ranks)
    assert outcome.status == 0, outcome.errors
    records = outcome.records
    assert records[0]["record"] == "start" and records[0]["kernel"] == name and records[0]["ranks"] == ranks
    assert records[-1]["record"] == "end" and is_complete(records)
    assert outcome.result
    assert '"record":"end","complete":true' in outcome.output


@pytest.mark.parametrize("name", kernel_names())
def test_fake_nodes_spread_the_ranks_in_blocks(run_kernel: RunKernel, tmp_path: Path, name: str) -> None:
    nodes = NODES.get(name, 2)
    outcome = run_kernel(name, *arguments(name, tmp_path, nodes), ranks=nodes + 1)
    start = outcome.records[0]
    assert outcome.status == 0, outcome.errors
    assert start["nodes"] == nodes == len(set(start["hosts"]))
    assert [h.rpartition("#")[2] for h in start["hosts"]] == [str(node) for node in range(nodes)]


FAULTS = {
    "metadata": "/rank00000001/00000000: the file has 0 bytes, and 1 were written",
    "nodecheck": " computed a wrong result: 24000001, and not 24000000",
    "mpimem": "what rank 0 sent to rank 1 arrived with wrong content",
    "pt2pt": "a message of 1 bytes from rank 0 arrived with wrong content",
    "congestion": "a message of the latency from a neighbour arrived with wrong content",
    "collectives": "alltoall of 4 bytes among 2 ranks gave a wrong result",
    "cg": "after 3 iterations the residual is ",
    "gemm": "after 2 multiplications element 47,47 is ",
    "gpu-copy": "a copy to-device of 8 bytes arrived with wrong content, at byte 7",
    "gpu-gemm": "after a multiplication element 39,39 is ",
    "gpu-pairs": "a staged message from rank 1 arrived with wrong content, at byte 2047",
    "gpu-stream": "the results are wrong: element 1999 of array b is ",
    "halo": "after 3 steps cell 4,1,1 holds ",
    "hello": "a message that went round all 2 ranks came back wrong",
    "io": "the data that was read is not what was written, at byte 0",
    "loader": "library 0: its calls gave the sum ",
    "noise": "computed a wrong result: multiplications that must give one number gave another",
    "pairs": "the message 0 of a window from rank 1 arrived with wrong content",
    "sweep": "by blocks of 1 planes group 1 of cell 2,2,3 is ",
    "transpose": "after the way back a number is ",
    "stream": "the results are wrong: array b differs from what it must be by",
}


@pytest.mark.parametrize("name", kernel_names())
def test_a_wrong_result_is_noticed(run_kernel: RunKernel, tmp_path: Path, name: str) -> None:
    outcome = run_kernel(name, "--self-check-fault", *arguments(name, tmp_path), ranks=ranks_for(name, 2))
    errors = [s for s in outcome.sentences if s.startswith("error:")]
    assert outcome.status == 1
    assert len(errors) == 1 and errors[0].startswith(f"error: {name}: rank ") and FAULTS[name] in errors[0]
    assert not is_complete(outcome.records)
    assert list(tmp_path.iterdir()) == []


def test_what_the_launcher_says_of_a_rank_that_died_is_no_record() -> None:
    """Which of two failing ranks it hears of first is a matter of moments, and so is whether it says this."""
    dies = """echo '{"record":"start"}'; kill -9 $$"""
    done = subprocess.run([find_mpiexec(), "-n", "1", "sh", "-c", dies], capture_output=True, text=True, check=False)
    assert "BAD TERMINATION" in done.stdout
    assert Outcome(done.returncode, done.stdout, done.stderr).records == [{"record": "start"}]
    with pytest.raises(ValueError):
        Outcome(0, done.stdout, done.stderr).records  # noqa: B018 - reading it is the test
    with pytest.raises(ValueError):
        Outcome(1, '{"record":"start"}\n\nan own line\n', "").records  # noqa: B018


ENDLESS: dict[str, list[str]] = {
    "metadata": ["--files", "10000000", "--repeats", "1"],
    "nodecheck": ["--repeats", "10000000", "--fake-nodes", "4"],
    "gpu-copy": ["--repeats", "100000000", "--largest", "600"],
    "gpu-gemm": ["--repeats", "10000000", "--n", "40"],
    "gpu-pairs": ["--iterations", "100000000", "--size", "2KiB"],
    "gpu-stream": ["--repeats", "10000000", "--elements", "2000"],
    "halo": ["--steps", "100000000"],
    "cg": ["--n", "8", "--levels", "2", "--solves", "100000000"],
    "sweep": ["--n", "2", "--nz", "2", "--angles", "1", "--groups", "1", "--repeats", "100000000"],
    "transpose": ["--repeats", "100000000", "--n", "8"],
    "congestion": ["--rings", "1000", "--fake-nodes", "4", "--congestors", "get"],
    "collectives": ["--operations", "bcast,barrier", "--largest", "8", "--iterations", "100000000"],
    "io": ["--block", "1TiB", "--transfer", "64KiB", "--no-fsync", "--mode", "file-per-process"],
    "loader": ["--libraries", "3", "--modules", "1", "--repeats", "100000000"],
    "noise": ["--samples", "10000000"],
    "pairs": ["--iterations", "1000000"],
    "stream": ["--elements", "100000", "--repeats", "10000000"],
}


# Seconds: four ranks that take turns on few cores use all of them as long as their budget lasts. The first is enough for a short
# round of most kernels; where it is not, the kernel says so, and has more.
BUDGETS = ("0.5", "1.5", "3", "10")


@pytest.mark.parametrize("name", ENDLESS)
def test_four_ranks_on_few_cores_end_within_their_budget_with_what_they_have(
    run_kernel: RunKernel, tmp_path: Path, name: str
) -> None:
    where = ["--directory", str(tmp_path)] if name in IN_A_DIRECTORY else []
    for budget in BUDGETS:
        outcome = run_kernel(name, "--budget", budget, *ENDLESS[name], *where, ranks=4)
        if outcome.status == 0:
            break
        assert any(f"the budget of {budget} s ended before " in sentence for sentence in outcome.sentences), (
            outcome.errors
        )
    assert outcome.status == 0, outcome.errors
    assert outcome.result["complete"] is False
    end = outcome.records[-1]
    assert end["complete"] is False and end["reason"] == "the budget was used up or a signal came"
    assert list(tmp_path.iterdir()) == []


def test_a_signal_stops_all_ranks_with_what_they_have(programs: dict[str, Path]) -> None:
    command = [str(find_mpiexec()), "-n", "2", str(programs["noise"]), "--samples", "10000000", "--count", "100000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        rest, errors = process.communicate(timeout=TIME_LIMIT)
    outcome = Outcome(process.returncode, first + rest, errors)
    assert outcome.records[-1]["record"] == "end" and not is_complete(outcome.records)


@pytest.mark.parametrize(
    "name", ["noise", "stream", "io", "collectives", "loader", "metadata", "nodecheck", "gemm", "cg", "sweep"]
)
def test_a_budget_too_small_for_anything_is_a_failure(run_kernel: RunKernel, tmp_path: Path, name: str) -> None:
    where = ["--directory", str(tmp_path)] if name in IN_A_DIRECTORY else []
    outcome = run_kernel(name, "--budget", "0.001", *where, *SHORT[name])
    assert outcome.status == 1
    (sentence,) = outcome.sentences[-1:]
    assert sentence.startswith(f"error: {name}: the budget of 0.001 s ended before ") and "--budget" in sentence


MISUSE = [
    (["--elemnts", "5"], "there is no option '--elemnts'; did you mean '--elements'? See stream --help"),
    (["--zzz"], "there is no option '--zzz'; see stream --help"),
    (["stream"], "'stream' is not an option; see stream --help"),
    (["--repeats"], "option '--repeats' needs a value: N"),
    (["--repeats", "many"], "option '--repeats': 'many' is not a number"),
    (["--repeats", "2.5"], "option '--repeats': '2.5' is not a whole number"),
    (["--repeats=1"], "option '--repeats': 1 is too small; the least is 2"),
    (["--numa=yes"], "option '--numa' takes no value"),
    (["--budget", "0"], "option '--budget': 0 is too small; the least is 0.001"),
    (["--repeats", "3", "--repeats=4"], "option '--repeats' is given twice; give it once"),
    (["--budget", "5", "--budget", "5"], "option '--budget' is given twice; give it once"),
    (["--fake-nodes", "3"], "option '--fake-nodes': 3 nodes need at least 3 ranks, this job has 2"),
]


@pytest.mark.parametrize(("wrong", "sentence"), MISUSE)
def test_misuse_is_one_sentence_and_status_2(run_kernel: RunKernel, wrong: list[str], sentence: str) -> None:
    outcome = run_kernel("stream", *wrong, ranks=2)
    assert (outcome.status, outcome.output) == (2, "")
    assert outcome.errors.splitlines() == [f"error: stream: {sentence}"]


TOO_LONG = "are too many or too long; the most are 100000 of 2147483647"
MISUSE_OF_ONE = [
    ("metadata", ["--directory", ""], "option '--directory': the path is empty"),
    ("metadata", ["--files", "1e9"], "option '--files': 1000000000 is too many; the most is 99999999"),
    ("loader", ["--directory", ""], "option '--directory': the path is empty"),
    ("loader", ["--modules", "10000"], "option '--modules': 10000 is too many; the most is 9999"),
    (
        "loader",
        ["--libraries", "9999"],
        "option '--libraries': 9999 is too many; this program has 32: build it with more (make LOADER_LIBRARIES=9999 loader)",
    ),
    ("mpimem", ["--size", "5GiB"], "messages of 5368709120 bytes are too long; the most is 2147483647"),
    ("pt2pt", ["--largest", "1GiB", "--window", "1000000"], f"1000000 messages of 1073741824 bytes {TOO_LONG}"),
    ("pt2pt", ["--smallest", "4", "--largest", "2"], "the smallest size of 4 bytes is above the largest of 2 bytes"),
    (
        "congestion",
        [],
        "needs at least 4 nodes, two that measure and two that load the network, and this job has 1; ask for more, or pretend "
        "them with --fake-nodes",
    ),
    (
        "collectives",
        ["--operations", "alltoall,bcst"],
        "'bcst' is not one of barrier|bcast|allreduce|allgather|alltoall|reduce_scatter|reduce+scatter",
    ),
    (
        "collectives",
        ["--smallest", "6"],
        "option '--smallest': 6 bytes are no whole number of floats; give a multiple of 4",
    ),
    (
        "collectives",
        ["--smallest", "8", "--largest", "4"],
        "the smallest size of 8 bytes is above the largest of 4 bytes",
    ),
    (
        "nodecheck",
        ["--window", "20000"],
        "20000 messages of 1048576 bytes are too many or too long; the most are 10000 of 2147483647",
    ),
    (
        "cg",
        ["--n", "12"],
        "a side of 12 points cannot be halved 3 times; give a multiple of 8, or fewer --levels",
    ),
    ("cg", ["--px", "3"], "3 ranks along an axis are more than the 2 of this job"),
    ("cg", ["--px", "1", "--py", "1", "--pz", "1"], "--px 1 --py 1 --pz 1 do not share out 2 ranks"),
    ("cg", ["--lower-layers", "1"], "--lower-layers and --lower-nz belong together: give both, or none"),
    (
        "cg",
        ["--lower-layers", "2", "--lower-nz", "8", "--pz", "2"],
        "2 lower layers leave no other of 2 along z; give fewer --lower-layers, or more --pz",
    ),
    ("cg", ["--n", "4096"], "a box of 4096 x 4096 x 4096 points is too large; give a smaller --n or --nz"),
    ("sweep", ["--planes", "65"], "option '--planes': 65 is more than the 64 planes along z"),
    ("sweep", ["--px", "3"], "option '--px': 3 ranks along x do not share out 2 ranks"),
    ("transpose", ["--n", "48"], "option '--n': 48 is no power of two up to 8192"),
    ("gemm", ["--n", "50"], "option '--n': 50 is no multiple of 8"),
    ("gpu-gemm", ["--n", "50"], "option '--n': 50 is no multiple of 4"),
    ("gpu-gemm", ["--precision", "double,single"], "option '--precision': 'double,single' is a list; give one"),
    (
        "gpu-copy",
        ["--smallest", "4KiB", "--largest", "1KiB"],
        "the smallest size of 4096 bytes is above the largest of 1024 bytes",
    ),
    ("gpu-pairs", ["--size", "5GiB"], "option '--size': 5368709120 bytes are too many; the most is 2147483647"),
    ("gpu-stream", ["--repeats", "1"], "option '--repeats': 1 is too small; the least is 2"),
    ("halo", ["--cells", "5000"], "option '--cells': 5000 is too many; the most is 4096"),
    ("pairs", ["--size", "1 Mib"], "option '--size': '1 Mib' is not a size; write 4096, 64KiB, 4MiB or 1GB"),
    ("pairs", ["--size", "5GiB"], f"10 messages of 5368709120 bytes {TOO_LONG}"),
    ("pairs", ["--window", "1000000"], f"1000000 messages of 1048576 bytes {TOO_LONG}"),
    ("noise", ["--quantum", "1e9"], "a quantum of 1e+09 us does not fit into the budget of 60 s"),
    ("noise", ["--bins", "1000000"], "option '--bins': 1000000 is too many; the most is 10000"),
    ("io", ["--mode", "shard"], "'shard' is not one of file-per-process|shared|metadata"),
    ("io", ["--block", "1000KiB"], "the block of 1024000 bytes is not a multiple of the transfer of 1048576 bytes"),
    ("io", ["--transfer", "1000", "--block", "2000"], "the transfer of 1000 bytes is not a multiple of 512 bytes"),
    ("io", ["--directory", ""], "option '--directory': the path is empty"),
    (
        "io",
        ["--directory", "/dev/null"],
        "option '--directory': cannot make a directory in /dev/null: Not a directory; "
        "name a directory that exists and that you may write to",
    ),
]


@pytest.mark.parametrize(("name", "wrong", "sentence"), MISUSE_OF_ONE)
def test_misuse_of_one_kernel(run_kernel: RunKernel, name: str, wrong: list[str], sentence: str) -> None:
    outcome = run_kernel(name, *wrong, ranks=2)
    assert outcome.status == 2
    assert outcome.errors.splitlines() == [f"error: {name}: {sentence}"]


TOO_MUCH = [
    ("metadata", ["--bytes", "100TB"], "the content of a file", "200000.0", "fewer --bytes"),
    (
        "collectives",
        ["--operations", "alltoall", "--largest", "1TB", "--most-buffers", "10TB"],
        "the buffers",
        "8000.0",
        "a smaller --largest or --most-buffers",
    ),
    ("stream", ["--elements", "1e13"], "3 arrays of 10000000000000 doubles", "480000.0", "fewer --elements"),
    ("cg", ["--n", "512", "--nz", "4096"], "the matrices", "962.1", "a smaller --n"),
    (
        "sweep",
        ["--n", "256", "--planes", "1", "--groups", "1", "--angles", "1e6"],
        "the cells",
        "1065.1",
        "a smaller --n",
    ),
    ("noise", ["--samples", "1e13"], "the samples", "160000.0", "fewer --samples"),
    ("io", ["--transfer", "100TB", "--block", "100TB"], "buffers of one transfer", "200000.0", "a smaller --transfer"),
    (
        "pairs",
        ["--size", "1GB", "--window", "100000"],
        "two windows of 100000 messages of 1000000000 bytes",
        "400000.0",
        "a smaller --size or --window",
    ),
]


@pytest.mark.parametrize(("name", "wrong", "what", "gigabytes", "way_out"), TOO_MUCH)
def test_more_than_the_memory_is_wrong_use(
    run_kernel: RunKernel, name: str, wrong: list[str], what: str, gigabytes: str, way_out: str
) -> None:
    outcome = run_kernel(name, *wrong, ranks=2)
    assert outcome.status == 2
    (sentence,) = outcome.errors.splitlines()
    start = f"error: {name}: {what} in 2 ranks need {gigabytes} GB, and the host "
    assert sentence.startswith(start) and sentence.endswith(f" GB; give {way_out}")


@pytest.mark.parametrize(
    "name",
    ["cg", "collectives", "congestion", "io", "loader", "metadata", "noise", "pairs", "pt2pt", "stream", "sweep"],
)
def test_a_kernel_whose_ranks_share_cores_says_so(run_kernel: RunKernel, tmp_path: Path, name: str) -> None:
    core = min(os.sched_getaffinity(0))
    ranks = ranks_for(name, 3)
    outcome = run_kernel(name, *arguments(name, tmp_path), ranks=ranks, cores=[core])
    notes = [s for s in outcome.sentences if s.startswith(f"note: {name}: {ranks} ranks share 1 core on ")]
    assert outcome.status == 0 and len(notes) == 1, outcome.errors
    assert outcome.records[0]["crowded"] is True


def test_output_that_cannot_be_written_is_a_failure(run_kernel: RunKernel) -> None:
    outcome = run_kernel("hello", output=Path("/dev/full"))
    assert outcome.status != 0
    assert "cannot write to standard output: No space left on device" in outcome.errors
