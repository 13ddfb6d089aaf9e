"""--self-check finds a kernel that counts wrongly: each fault is planted into a copy of the sources and must be found."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from shakedown.kernels import find_mpicc, find_mpiexec, kernel_directory

from .conftest import taking_turns

pytestmark = pytest.mark.mpi

# fmt: off
FAULTS = {  # kernel, what is there, what a slip makes of it
    "copy counts three arrays": ("stream", "? 2 : 3;", "? 3 : 3;"),
    "add counts two arrays": ("stream", "operation == COPY || operation == SCALE", "operation != TRIAD"),
    "GiB for GB": ("stream", "return bytes / seconds / 1e9;", "return bytes / seconds / 1073741824;"),
    "floats for doubles": ("stream", "(double)sizeof(double) * (double)n;", "(double)sizeof(float) * (double)n;"),
    "one rank for all ranks": ("stream", "rates_of(whole, done, o, bytes * job.ranks)", "rates_of(whole, done, o, bytes)"),
    "the mean over one repeat too few": ("stream", "bytes * (double)(done - 1), sum", "bytes * (double)(done - 2), sum"),
    "the first repeat counts": ("stream", "k = 1; k < done; k++)\n        best", "k = 0; k < done; k++)\n        best"),
    "triad without its third array": ("stream", "a[i] = b[i] + q * c[i];", "a[i] = b[i] + q;"),
    "MiB for MB between ranks": ("pairs", "(double)windows / seconds / 1e6", "(double)windows / seconds / 1048576"),
    "a window forgotten": ("pairs", "(double)size * (double)window * (double)windows", "(double)size * (double)windows"),
    "MiB for MB of files": ("io", "return bytes / 1e6;", "return bytes / 1048576;"),
    "one segment for all": ("io", "double total = (double)segments * (double)block;", "double total = (double)block;"),
    "the timed read is of the own file": ("io", "read_file(other, readable, false);", "read_file(own, readable, false);"),
    "the thorough read is of the own file": ("io", "read_file(other, readable, true);", "read_file(own, readable, true);"),
    "every rank is its own neighbour": ("io", "return (rank + (nodes > 1 ? ranks_per_node : 1)) % ranks;", "return rank;"),
    "the neighbour is on the same node": ("io", "(int)all_max(node_ranks), job.nodes)", "1, job.nodes)"),
    "a step of the work is left out": ("noise", "i = 0; i < count; i++) {\n", "i = 1; i < count; i++) {\n"),
    "a late receiver gains": ("pairs", "began < own.began ? began : own.began;", "began > own.began ? began : own.began;"),
    "another host's clock is believed": ("pairs", "(int)host == job.host && began", "began"),
    "any OMP_NUM_THREADS is a number": ("stream", "return number && first > 0 &&", "return number &&"),
    "a step of the clock as a fraction": ("noise", "return 100 * step / of;", "return step / of;"),
    "milliseconds of a collective": ("collectives", "return 1e6 * seconds", "return 1e3 * seconds"),
    "half of an alltoall": ("collectives", "MPI_Ialltoall(call.out, (int)call.size", "MPI_Ialltoall(call.out, (int)call.size / 2"),
    "the first block is scattered to all": ("collectives", "(size_t)rank * (call.size / sizeof(float)));", "0);"),
    "one neighbour for two": ("congestion", "return 2 * (double)window *", "return (double)window *"),
    "an impact upside down": ("congestion", "? isolated / congested", "? congested / isolated"),
    "the first of a hundred": ("congestion", "if (enough >= wanted)\n", "if (enough > 0)\n"),
    "puts into another's place": ("congestion", "(MPI_Aint)load.slice.rank * (MPI_Aint)load_size", "0 * (MPI_Aint)load_size"),
    "repeats that warm up count": ("pt2pt", "with_batch(timed, rounds.batch,", "with_batch(timed, rounds.batch + warm_up.done,"),
    "a batch for all batches": ("pt2pt", "timed.seconds + seconds}", "seconds}"),
    "the ranks for their pairs": ("pt2pt", "all ? job.ranks / 2 : 1", "all ? job.ranks : 1"),
    "a distance's repeats of short messages": ("pt2pt", '("bandwidth", 1, large.repeats)', '("bandwidth", 1, small.repeats)'),
    "half of a clock": ("pt2pt", "now() - began;\n}\n\n/* All", "(now() - began) / 2;\n}\n\n/* All"),
    "a round trip for a message": ("pt2pt", "(double)repeats / 2;", "(double)repeats;"),
    "a window that lacks a message": ("pt2pt", "(double)pairs * (double)window *", "(double)pairs * (double)(window - 1) *"),
    "empty messages": ("pt2pt", "buffers.out, size, MESSAGE);\n            rec", "buffers.out, 0, MESSAGE);\n            rec"),
    "MiB for MB of memory": ("mpimem", "return bytes / 1e6;", "return bytes / 1048576;"),
    "one rank's memory": ("mpimem", "    last = on_nodes(all.resident);", "    last = (struct on_nodes){0, 0, all.resident};"),
    "the kernel's buffers are MPI's": ("mpimem", "read_footprint()), own);", "read_footprint()), (struct growth){0, 0});"),
    "memory since MPI began": ("mpimem", "without(grown(job.at_start,", "without(grown(job.after_init,"),
    "the emptiest node for the fullest": ("mpimem", '"node_mb", 1e-6 * last.max', '"node_mb", 1e-6 * last.min'),
    "a mean over ranks of a mean over nodes": ("mpimem", "last.mean * job.nodes / job.ranks", "last.mean / job.ranks"),
    "a growth for all memory": ("mpimem", "on_nodes(job.at_start.resident + all.resident), ", "on_nodes(all.resident), "),
    "messages that are not sent": ("mpimem", "        exchange(apart);\n", ""),
    "a mean over a repeat too many": ("metadata", "kept->sum / (double)kept->count", "kept->sum / (double)(kept->count + 1)"),
    "a rank's own time for all ranks": ("metadata", "job_seconds(&span, 1, &seconds);", "seconds = span.ended - span.began;"),
    "the own files are looked at": ("metadata", "operation == STAT || operation == READ ? &other", "operation == READ ? &other"),
    "the most for the least": ("metadata", "kept->count ? kept->least", "kept->count ? kept->most"),
    "another rank's content": ("metadata", "content(owner, file, at)) {", "content(owner + 1, file, at)) {"),
    "one rank's files for all": ("metadata", "double rate = all / seconds;", "double rate = all / job.ranks / seconds;"),
    "half of the operations": ("nodecheck", "FLOPS = 2 }", "FLOPS = 1 }"),
    "messages of one way": ("nodecheck", "return 2 * (double)size * (double)window;", "return (double)size * (double)window;"),
    "the fastest core for the slowest": ("nodecheck", "value > than : value < than;", "value > than : value > than;"),
    "a latency that is better is slow": ("nodecheck", "? value > (1 + slow / 100)", "? value < (1 + slow / 100)"),
    "there and back for one way": ("nodecheck", "return 1e6 * seconds / 2;", "return 1e6 * seconds;"),
    "a step of the work too few": ("nodecheck", "i = 0; i < steps; i++) {", "i = 1; i < steps; i++) {"),
    "a face of the other side": ("halo", "+= side % 2 ? 1 : -1;", "-= side % 2 ? 1 : -1;"),
    "old faces": ("halo", "        pack(field, side);\n", ""),
    "eight operations of nine": ("halo", "FLOPS = 9", "FLOPS = 8"),
    "one operation for two": ("gemm", "return 2 * (double)size", "return (double)size"),
    "the last block is left out": ("gemm", "k = 0; k < n; k += DEPTH", "k = 0; k + DEPTH <= n; k += DEPTH"),
    "one way for two": ("transpose", "WAYS = 2", "WAYS = 1"),
    "blocks that stay in their order": ("transpose", "(o * n + from + p) * n, blocks + at", "(o * n + p) * n, blocks + at"),
    "a turn of the wrong sign": ("transpose", "double im = sign * turn.im", "double im = turn.im"),
    "one operation of two": ("cg", "FLOPS = 2", "FLOPS = 1"),
    "two ways too many on the last grid": ("cg", "? 5 : 2) * stored", "? 5 : 4) * stored"),
    "the face of the other end": ("cg", "step_of(d, axis) > 0 ? l->size[axis] - 1", "step_of(d, axis) < 0 ? l->size[axis] - 1"),
    "old values in the smoother": ("cg", "    exchange(l, x);\n    double began", "    double began"),
    "both ways of a sweep upwards": ("cg", "sweep(l, b, x, false);", "sweep(l, b, x, true);"),
    "a correction beside its point": ("cg", "l->x[i] += coarse->x", "l->x[i + 1] += coarse->x"),
    "a remainder beside its point": ("cg", "= b[i] - l->product[i];", "= b[i + 1] - l->product[i + 1];"),
    "no sweep after the correction": ("cg", "+= coarse->x[row++];\n    smooth(l, b, l->x);", "+= coarse->x[row++];"),
    "a remainder that is too small": ("cg", "update(s->r, s->r, -alpha,", "update(s->r, s->r, -0.5 * alpha,"),
    "the sum of one rank": ("cg", "sum = all_sum(mine);", "sum = mine;"),
    "regions of one height": ("cg", "return lower ? lower_height : height", "return height"),
    "more than an equation asks": ("cg", "sum / DIAGONAL;", "sum / (DIAGONAL - 1);"),
    "directions that are not conjugate": ("cg", "ratio(rz, s->rz)", "ratio(s->rz, rz)"),
    "upwards along z twice": ("sweep", "number % 2 ? -1 : 1", "number % 2 ? 1 : 1"),
    "another diagonal": ("cg", "DIAGONAL = 26", "DIAGONAL = 27"),
    "the efficiency of one rank": ("sweep", "(p->seconds * job.ranks)", "p->seconds"),
    "thirteen operations": ("sweep", "FLOPS = 14", "FLOPS = 13"),
    "the other buffer's faces": ("sweep", "MPI_Irecv(c->x[buffer]", "MPI_Irecv(c->x[1 - buffer]"),
    "twice the weight": ("sweep", "OCTANTS * angles);", "CORNERS * angles);"),
    "edges of the other side": ("sweep", "return sign > 0 ? 0 :", "return sign < 0 ? 0 :"),
    "octants in another order": ("sweep", "{-1, 1}, {-1, -1}", "{-1, -1}, {-1, 1}"),
    "a crossing too few": ("sweep", "+ 3 * (double)(dims[0] - 1)", "+ 2 * (double)(dims[0] - 1)"),
    "borders along x alone": ("sweep", " + (double)dims[0] * (dims[1] - 1);", ";"),
    "faces that do not go out": ("sweep", "x[i] = twice - x[i];", "x[i] = centre;"),
    "what was left before stays": ("sweep", "            c->flux[i * groups + g] = 0;\n", ""),
    "a library's calls without its entrance": ("loader", "return 1 + built.functions / CHAIN", "return built.functions / CHAIN"),
    "one library before for two": ("loader", "return (library > 0) + (library > 2);", "return library > 0;"),
    "the first of a chain for its last": ("loader", "(built.functions / CHAIN)) + CHAIN - 1;", "(built.functions / CHAIN));"),
    "one rank's bytes for all": ("loader", "return bytes * ranks / 1e6;", "return bytes / 1e6;"),
    "MiB for MB of libraries": ("loader", "return bytes * ranks / 1e6;", "return bytes * ranks / 1048576;"),
    "no library is called": ("loader", "k < libraries && !troubled_here(); k++) {\n        char", "k < 0; k++) {\n        char"),
    "symbols that were not looked for": ("loader", "found += target == dlsym(", "found += target != dlsym("),
    "the fastest for the slowest rank": ("loader", "/ job.ranks, all_max(own)}", "/ job.ranks, all_min(own)}"),
    "a sum for a mean of ranks": ("loader", "all_min(own), all_sum(own) / job.ranks,", "all_min(own), all_sum(own),"),
    "dot counts three arrays": ("gpu-stream", "{2, 2, 3, 3, 2}", "{2, 2, 3, 3, 3}"),
    "GiB for GB of a device": ("gpu-stream", "sizeof(double) / 1e9;", "sizeof(double) / 1073741824;"),
    "the first repeat of a device counts": ("gpu-stream", "r = 1; r < done", "r = 0; r < done"),
    "triad of a device without its third array": ("gpu-stream", "a[i] = b[i] + q * c[i];", "a[i] = b[i];"),
    "a sum over all but one": ("gpu-stream", "i = 0; i < n; i++)\n            sum", "i = 1; i < n; i++)\n            sum"),
    "a device's operations once": ("gpu-gemm", "return 2 * (double)size", "return (double)size"),
    "the first multiplication counts": ("gemm", "k = 1; k < done; k++)", "k = 0; k < done; k++)"),
    "a mean over a multiplication too many": ("gemm", "(double)(timed.done - 1)", "(double)timed.done"),
    "the operations of one rank": ("gpu-gemm", "gflop_s(flops * ranks,", "gflop_s(flops,"),
    "a rank's own time for that of all": ("gemm", "best_of(timed.whole,", "best_of(timed.own,"),
    "a device leaves out the last column": ("gpu-gemm", "k = 0; k < size; k++)", "k = 0; k < size - 1; k++)"),
    "GiB for GB of copies": ("gpu-copy", "return bytes / seconds / 1e9;", "return bytes / seconds / 1073741824;"),
    "half of a copy": ("gpu-copy", "E: to_device(places.here, host, size)", "E: to_device(places.here, host, size / 2)"),
    "sizes eight times too large": ("gpu-copy", "largest ? largest : size * 8", "largest ? largest : size * 64"),
    "a message that stays on the host": ("gpu-pairs", "(way == STAGED)\n        to_device(", "(0)\n        to_device("),
    "MiB for MB between devices": ("gpu-pairs", "(double)messages / seconds / 1e6", "(double)messages / seconds / 1048576"),
    "noise against the mean": ("noise", "facts[LEAST]) / facts[LEAST]", "facts[LEAST]) / facts[MEAN]"),
}
RANKS = {"metadata": 2, "pt2pt": 2}  # two show their faults; the others need several on a node
SPAN_FAULTS = {  # in the time in which all ranks did their parts
    "the ranks' own times": ("return one_host ? ended - began : ended - entered;", "return most[OWN];"),
    "the last start for the first": ("{span.entered, -span.began, span.ended,", "{span.entered, span.began, span.ended,"),
    "no regard for different clocks": ("if (began < entered)", "if (0)"),
    "one node's ranks for all": ("seconds_among(job.host_comm, one_host()", "seconds_among(job.node_comm, one_host()"),
    "the job's ranks for a node's": ("seconds_among(job.node_comm, true", "seconds_among(MPI_COMM_WORLD, true"),
}
# fmt: on


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources whose shared part is compiled once for all faults."""
    copy = tmp_path_factory.mktemp("faults") / "sources"
    shutil.copytree(kernel_directory(), copy)
    build(copy, "hello")
    build(copy, "loader.libraries")  # what a kernel that is made of loader.c carries
    return copy


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_fails_the_self_check(common: Path, tmp_path: Path, fault: str) -> None:
    kernel, right, wrong = FAULTS[fault]
    source = with_products((kernel_directory() / f"{kernel}.c").read_text())
    assert source.count(right) == 1, "the fault is planted at one place"
    (common / "faulty.c").write_text(source.replace(right, wrong))
    build(common, "faulty")
    place = ["--directory", str(tmp_path)] if kernel in ("io", "loader", "metadata") else []
    done = self_check(common / "faulty", *place, ranks=RANKS.get(kernel, 4))
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"error: {kernel}: " in done.stderr


@pytest.mark.parametrize("fault", SPAN_FAULTS)
def test_ranks_that_took_turns_pass_for_no_kernel_as_side_by_side(common: Path, tmp_path: Path, fault: str) -> None:
    right, wrong = SPAN_FAULTS[fault]
    copy = tmp_path / "sources"
    shutil.copytree(common, copy)
    spans = copy / "common" / "spans.c"
    assert spans.read_text().count(right) == 1, "the fault is planted at one place"
    spans.write_text(spans.read_text().replace(right, wrong))
    build(copy, "hello")
    done = self_check(copy / "hello", ranks=4)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "self-check: it does not hold that ranks " in done.stderr


def test_files_that_take_longer_to_remove_than_the_budget_has_left_are_removed_all_the_same(
    common: Path, tmp_path: Path
) -> None:
    source = (kernel_directory() / "metadata.c").read_text()
    removal = "return unlink(path) == 0;"
    assert source.count(removal) == 1
    (common / "slow.c").write_text(source.replace(removal, "usleep(2000); " + removal))
    build(common, "slow")
    options = ["--layouts", "own", "--files", "400", "--repeats", "1", "--budget", "0.5", "--directory", str(tmp_path)]
    done = subprocess.run([str(common / "slow"), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    (rate,) = [r["value"] for r in records if r.get("operation") == "remove"]
    assert 0 < rate < 500, "the slow removal was made and measured"
    assert list(tmp_path.iterdir()) == []


def with_products(source: str) -> str:
    """The source with what gemm and gpu-gemm share in its place, so that a fault can be planted there too."""
    return source.replace('#include "products.h"', (kernel_directory() / "common/products.h").read_text())


def self_check(program: Path, *words: str, ranks: int) -> subprocess.CompletedProcess[str]:
    command = [str(find_mpiexec()), "-n", str(ranks), str(program), "--self-check", "--fake-nodes", "2", *words]
    return subprocess.run([*taking_turns(ranks), *command], capture_output=True, text=True, check=False)


def build(where: Path, name: str) -> None:
    """As fast as a compiler is: a fault is one with whatever optimisation, and each program runs once."""
    (where / name).unlink(missing_ok=True)
    command = ["make", "-s", f"CC_MPI={find_mpicc()}", "CFLAGS=-O0", "WARNINGS=-w", name]
    subprocess.run(command, cwd=where, check=True)
