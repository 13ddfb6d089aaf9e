"""What each kernel reports: the numbers agree with each other, and each finds what it is there to find."""

from __future__ import annotations

import os
import statistics
import subprocess
from pathlib import Path

import pytest

from .conftest import TIME_LIMIT, Record, RunKernel

pytestmark = pytest.mark.mpi


# ---- hello


def test_hello_names_each_rank_with_its_cores(run_kernel: RunKernel) -> None:
    outcome = run_kernel("hello", "--expect", "3", ranks=3, cores=sorted(os.sched_getaffinity(0)))
    places = outcome.kind("rank")
    assert [p["rank"] for p in places] == [0, 1, 2]
    assert {p["core_count"] for p in places} == {len(os.sched_getaffinity(0))}
    assert outcome.result["ranks"] == 3 and outcome.result["ranks_sharing_cores"] == 3


def test_hello_sees_the_cores_it_is_bound_to(programs: dict[str, Path]) -> None:
    core = min(os.sched_getaffinity(0))
    command = ["taskset", "-c", str(core), str(programs["hello"])]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert f'"cores":"{core}","core_count":1,"running_on":{core}' in output


def test_ranks_that_were_started_alone_are_noticed(run_kernel: RunKernel) -> None:
    outcome = run_kernel("hello", "--expect", "4")
    assert outcome.status == 1
    assert outcome.errors.splitlines() == [
        "error: hello: 4 ranks were expected, and this job has 1: each process was started alone. The launcher does not "
        "belong to the MPI library that the kernel was compiled with: use the mpiexec beside its mpicc, or srun "
        "--mpi=pmi2 or pmix"
    ]
    assert run_kernel("hello", "--expect", "4", ranks=2).errors.splitlines() == [
        "error: hello: 4 ranks were expected, and this job has 2"
    ]


@pytest.mark.parametrize("name", ["SHAKEDOWN_RANKS", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"])
@pytest.mark.parametrize("kernel", ["hello", "stream", "pairs", "io", "noise"])
def test_no_kernel_measures_where_each_rank_is_alone(programs: dict[str, Path], kernel: str, name: str) -> None:
    """As under ``srun --mpi=none``: four processes, each of them rank 0 of 1. One says so, none measures."""
    errors = ""
    for number in ("0", "1", "2", "3"):
        variables = {name: "4", "SLURM_PROCID": number}
        done = subprocess.run(
            [programs[kernel]], env=alone(variables), capture_output=True, text=True, timeout=TIME_LIMIT, check=False
        )
        assert (done.returncode, done.stdout) == (1, "")
        errors += done.stderr
    assert errors == (
        f"error: {kernel}: 4 ranks were started alone, not as one job of 4: its MPI is MPICH or one of its kind, so say "
        "'mpi: mpich' at the toolchain or in run.launch (srun --mpi=pmi2)\n"
    )


@pytest.mark.parametrize(
    "variables", [{}, {"SHAKEDOWN_RANKS": "1"}, {"SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "8"}]
)
def test_one_rank_that_is_meant_to_be_alone_may_be(programs: dict[str, Path], variables: dict[str, str]) -> None:
    done = subprocess.run(
        [programs["hello"]], env=alone(variables), capture_output=True, timeout=TIME_LIMIT, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def alone(variables: dict[str, str]) -> dict[str, str]:
    """Our environment without what a launcher may have left in it."""
    launchers = ("PMI", "OMPI_", "PMIX", "SLURM_", "SHAKEDOWN_", "HYD")
    return {k: v for k, v in os.environ.items() if not k.startswith(launchers)} | variables


# ---- stream


def test_stream_orders_its_rates_and_sums_over_nodes(run_kernel: RunKernel) -> None:
    outcome = run_kernel("stream", "--elements", "50000", "--repeats", "6", "--fake-nodes", "2", ranks=2)
    (setup,) = outcome.kind("setup")
    assert setup["elements"] == 50000 and setup["array_bytes"] == 400000
    for name in ("copy", "scale", "add", "triad"):
        rates = outcome.result[name]
        assert 0 < rates["min_gb_s"] <= rates["avg_gb_s"] <= rates["gb_s"], name
        assert rates["counted"] == 5
        assert rates["slowest_node_gb_s"] <= rates["median_node_gb_s"] <= rates["fastest_node_gb_s"]
    nodes = {r["name"]: r["values"] for r in outcome.kind("nodes")}
    assert max(nodes["triad"]) == outcome.result["triad"]["fastest_node_gb_s"]
    assert outcome.result["triad"]["gb_s"] <= sum(nodes["triad"]) * 1.000001


def test_stream_says_so_when_a_cache_may_hold_the_arrays(run_kernel: RunKernel) -> None:
    outcome = run_kernel("stream", "--elements", "1000")
    (sentence,) = outcome.sentences
    assert "times the last-level caches, and 4 is the rule" in sentence
    caches = outcome.kind("setup")[0]["cache_bytes"]
    assert sentence.endswith((f"; give --elements {caches // 2}", "does not hold arrays by the rule"))


def test_stream_says_what_it_times(run_kernel: RunKernel) -> None:
    (setup,) = run_kernel("stream", "--elements", "1000", ranks=2).kind("setup")
    assert setup["timed"] == "all ranks, from the first start to the last end"


@pytest.mark.parametrize("wrong", ["abc", "0", "-3", "2x", "1.5"])
def test_stream_refuses_a_variable_that_is_no_number_of_threads(run_kernel: RunKernel, wrong: str) -> None:
    outcome = run_kernel("stream", "--elements", "1000", OMP_NUM_THREADS=wrong)
    assert outcome.status == 2
    assert outcome.sentences == [
        f"error: stream: OMP_NUM_THREADS is '{wrong}', which is no number of threads; set it to 1 or more, or give --threads"
    ]
    assert run_kernel("stream", "--elements", "1000", "--threads", "1", OMP_NUM_THREADS=wrong).status == 0


@pytest.mark.parametrize(("text", "threads"), [("3", 3), (" 2,1", 2)])
def test_stream_takes_the_threads_of_the_variable(run_kernel: RunKernel, text: str, threads: int) -> None:
    assert run_kernel("stream", "--elements", "1000", OMP_NUM_THREADS=text).kind("setup")[0]["threads"] == threads


def test_stream_refuses_threads_that_openmp_does_not_start(run_kernel: RunKernel) -> None:
    outcome = run_kernel("stream", "--elements", "1000", "--threads", "2", OMP_THREAD_LIMIT="1")
    assert outcome.status == 2
    assert outcome.sentences == [
        "error: stream: OpenMP starts 1 of 2 threads; raise OMP_THREAD_LIMIT, or give fewer --threads"
    ]


def test_stream_says_that_threads_share_cores(run_kernel: RunKernel) -> None:
    core = min(os.sched_getaffinity(0))
    outcome = run_kernel("stream", "--elements", "1000", "--threads", "2", cores=[core])
    assert outcome.sentences[0].startswith("note: stream: 1 rank of 2 threads shares 1 core on ")


# ---- pairs


def cells(matrix: Record) -> list[float]:
    return [v for row in matrix["rows"] for v in row if v is not None]


def test_pairs_measures_every_ordered_pair_once(run_kernel: RunKernel) -> None:
    outcome = run_kernel("pairs", "--size", "8KiB", "--iterations", "3", ranks=4)
    matrices = {m["name"]: m for m in outcome.kind("matrix")}
    assert list(matrices) == ["bandwidth", "received bandwidth"]
    for matrix, key in zip(matrices.values(), ("send", "receive"), strict=True):
        assert [row[i] for i, row in enumerate(matrix["rows"])] == [None] * 4
        values = cells(matrix)
        assert len(values) == 12 == outcome.result[key]["cells"]
        assert outcome.result[key]["min_mb_s"] == min(values)
        assert outcome.result[key]["max_mb_s"] == max(values)
        assert outcome.result[key]["median_mb_s"] == pytest.approx(statistics.median(values))
        assert outcome.result[key]["mean_mb_s"] == pytest.approx(statistics.harmonic_mean(values))
        assert outcome.result[key]["mean"] == "harmonic"
    slowest = outcome.result["send"]["slowest"]
    labels = matrices["bandwidth"]["labels"]
    row, column = labels.index(slowest["sender"]), labels.index(slowest["receiver"])
    assert matrices["bandwidth"]["rows"][row][column] == outcome.result["send"]["min_mb_s"]


def test_pairs_that_were_not_reached_are_empty_and_the_others_are_kept(run_kernel: RunKernel) -> None:
    outcome = run_kernel("pairs", "--iterations", "1000000", "--budget", "3", ranks=3)
    sent = outcome.kind("matrix")[0]["rows"]
    assert [sent[r][(r + 1) % 3] for r in range(3)] == [v for row in sent for v in row if v is not None]
    assert outcome.result["send"]["cells"] == 3


def test_pairs_needs_a_partner(run_kernel: RunKernel) -> None:
    outcome = run_kernel("pairs")
    assert outcome.status == 2
    assert outcome.errors == "error: pairs: needs at least 2 ranks, this job has 1; start it with mpiexec -n 2\n"


# ---- noise


def test_noise_reports_each_rank_on_a_core_of_its_own(run_kernel: RunKernel) -> None:
    ranks = min(2, len(os.sched_getaffinity(0)))
    outcome = run_kernel("noise", "--samples", "60", "--quantum", "100", "--bins", "7", ranks=ranks)
    histograms = outcome.kind("histogram")
    assert len({h["core"] for h in histograms}) == ranks
    for h in histograms:
        assert len(h["edges"]) == 8 and h["edges"] == sorted(h["edges"])
        assert sum(h["counts"]) == 60
        assert h["percent"] == pytest.approx(100 * (h["mean_us"] - h["min_us"]) / h["min_us"])
        assert h["min_us"] <= h["p50_us"] <= h["p99_us"] <= h["p99_9_us"] <= h["max_us"]
        assert h["edges"][0] <= h["min_us"] and h["max_us"] <= h["edges"][-1]
    noise = outcome.result["noise"]
    assert noise["samples"] == 60 * ranks
    assert noise["max_us"] == max(h["max_us"] for h in histograms)
    assert noise["p99_9_us"] == noise["max_us"]  # of few samples, the nearest rank is the last
    assert noise["percent"] == pytest.approx(statistics.mean(h["percent"] for h in histograms))


def test_noise_does_the_work_it_is_told_to(run_kernel: RunKernel) -> None:
    outcome = run_kernel("noise", "--samples", "20", "--count", "5000")
    assert outcome.kind("setup")[0]["count"] == 5000


def test_noise_says_how_long_the_work_it_is_told_to_do_takes(run_kernel: RunKernel) -> None:
    (setup,) = run_kernel("noise", "--samples", "20", "--count", "5000").kind("setup")
    assert 0 < setup["clock_step_us"] < setup["quantum_us"] != 1000


def test_noise_refuses_work_that_the_clock_cannot_tell(run_kernel: RunKernel) -> None:
    outcome = run_kernel("noise", "--samples", "20", "--count", "1")
    assert outcome.status == 2
    (sentence,) = outcome.errors.splitlines()
    assert "the times would be the clock's; give a larger --count, or a --quantum instead" in sentence


# ---- io


def test_io_measures_both_layouts_and_metadata_and_leaves_nothing(run_kernel: RunKernel, tmp_path: Path) -> None:
    small = ["--block", "128KiB", "--transfer", "32KiB", "--segments", "2", "--files", "70"]
    outcome = run_kernel("io", "--directory", tmp_path, *small, "--fake-nodes", "2", ranks=3)
    assert outcome.status == 0, outcome.errors
    measured = [(r["mode"], r["operation"], r["unit"], r["complete"]) for r in outcome.kind("io")]
    assert measured == [
        *((mode, op, "MB/s", True) for mode in ("file-per-process", "shared") for op in ("write", "read")),
        *(("metadata", op, "ops/s", True) for op in ("create", "stat", "remove")),
    ]
    assert set(outcome.result["shared"]) == {"write_mb_s", "read_mb_s"}
    assert set(outcome.result["metadata"]) == {"create_per_s", "stat_per_s", "remove_per_s"}
    assert list(tmp_path.iterdir()) == []


def test_io_measures_only_what_is_asked_for(run_kernel: RunKernel, tmp_path: Path) -> None:
    options = ["--mode", "shared", "--operations", "read", "--block", "1MiB"]
    outcome = run_kernel("io", "--directory", tmp_path, *options)
    assert [(r["mode"], r["operation"]) for r in outcome.kind("io")] == [("shared", "read")]


def test_io_in_a_directory_that_is_not_there(run_kernel: RunKernel, tmp_path: Path) -> None:
    outcome = run_kernel("io", "--directory", tmp_path / "missing", ranks=2)
    assert outcome.status == 2
    assert outcome.sentences == [
        f"error: io: option '--directory': cannot make a directory in {tmp_path}/missing: No such file or directory; "
        "name a directory that exists and that you may write to"
    ]


def test_io_in_a_directory_that_cannot_be_written(run_kernel: RunKernel, tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    where = Path("/sys") if os.geteuid() == 0 else tmp_path  # root may write anywhere but there
    outcome = run_kernel("io", "--directory", where)
    assert outcome.status == 2
    (sentence,) = outcome.sentences
    assert f"cannot make a directory in {where}: " in sentence
    tmp_path.chmod(0o755)


def test_io_on_a_full_disk_says_so_and_cleans_up(programs: dict[str, Path], tmp_path: Path) -> None:
    """A file system of 1 MiB in a mount name space of its own, where the machine allows one."""
    mount = f"mount -t tmpfs -o size=1m none {tmp_path}"
    if subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine allows no mount of a small file system")
    script = f"{mount} && {programs['io']} --directory {tmp_path} --block 2MiB; echo $?; ls -A {tmp_path}"
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True, check=False)
    assert "No space left on device" in done.stderr and "error: io: rank 0 on" in done.stderr
    assert done.stdout.splitlines()[-1] == "1"  # the status, and no file after it
