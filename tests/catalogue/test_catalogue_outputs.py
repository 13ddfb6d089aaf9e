"""Outputs of published programs through the real reading, checks and judging: every cell, and outputs that are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from catalogue_outputs import EXPECTED, NAMES, OUTPUTS, judged, rows, texts

from shakedown.model.nouns import Document

pytestmark = pytest.mark.usefixtures("as_in_a_worker")


@pytest.mark.parametrize("one", EXPECTED, ids=NAMES)
def test_every_cell_is_taken(document: Document, tmp_path: Path, one: dict[str, Any]) -> None:
    found = judged(document, tmp_path, one["test"], texts(one["files"]))
    assert (found.verdict, [said for said in found.problems if "is empty" not in said]) == ("passed", []), found.reason
    assert dict(found.figures) == pytest.approx(rows(one["figures"]), rel=1e-14)


@pytest.mark.parametrize(
    "one", [one for one in EXPECTED if one["test"] not in ("ftq", "fwq")], ids=lambda one: one["test"]
)
def test_an_output_of_which_half_is_there_is_incorrect(document: Document, tmp_path: Path, one: dict[str, Any]) -> None:
    """The files of FTQ and FWQ have no end; their tests count the lines instead."""
    halves = {name: text[: len(text) // 2] for name, text in texts(one["files"]).items()}
    assert judged(document, tmp_path, one["test"], halves).verdict == "incorrect"


def test_every_program_of_the_catalogue_has_an_output_here(document: Document) -> None:
    read = {one["test"] for one in EXPECTED}
    assert {case.test.removeprefix("own-") for case in document.cases} == read


WRONG = [
    # the test, what its output says, what it says instead, and a word of the reason
    ("osu-latency", "2.75", "nan", "latency[size=1024]"),
    ("osu-bandwidth", "26161.33              Pass", "26161.33              Fail", 'lacks "Fail"'),
    ("osu-bidirectional", "1048576             48812.05\n", "", "1048576"),
    ("osu-message-rate", "25657.01", "-nan", "message_rate[size=1048576]"),
    ("osu-allreduce", "862.06", "inf", "latency[size=1048576]"),
    ("osu-alltoall", "# OSU MPI All-to-All", "DATA VALIDATION ERROR", "OSU MPI"),
    ("imb-pingpong", "382.15     10975.61", "time-out.", "time-out"),
    ("imb-allreduce", "27.94", "****", "latency[bytes=8]"),
    ("stream-reference", "Solution Validates", "Failed Validation on array a[]", "Solution Validates"),
    ("babelstream", "Version: 5.0", "Validation failed on c[]. Average error 0.5", "Validation failed"),
    ("babelstream-csv", "23935.4", "inf", "rate[Function=Triad]"),
    ("dgemm", "PASSED successfully", "FAILED", "Solution check PASSED"),
    ("ftq", "4013", "nan", "nan"),
    ("fwq", "1500", "nan", "nan"),
    ("gpcnet-network", "usec |", "msec |", "lacks"),
    ("hpl", "1.14792654e-03 ...... PASSED", "1.14792654e+05 ...... FAILED", "FAILED"),
    (
        "hpl",
        "              0 tests completed and failed",
        "             10 tests completed and failed",
        "0 tests completed",
    ),
    ("hpl-nvidia", "1.268e+06", "nan", "gflops"),
    ("hpl-mxp", "2.774020E-03 ...... PASSED", "nan ...... FAILED", "PASSED"),
    ("hpcg", "HPCG result is VALID with", "HPCG result is INVALID with", "VALID"),
    (
        "hpcg",
        "Departure from Symmetry |x'Ay-y'Ax|/(2*||x||*||A||*||y||)/epsilon::Result=PASSED",
        "::Result=FAILED",
        "FAILED",
    ),
    ("ior", "Began  ", "WARNING: incorrect data on read (7 errors found).", "ncorrect data"),
    ("ior", "585.00       5.00", "nan       5.00", "bandwidth[Operation=write]"),
    ("ior-json", '"bwMeanMIB": 1012.56', '"bwMeanMIB": null', "read"),
    ("mdtest", "47021.209", "inf", "rate[Operation=Directory stat]"),
    ("io500", "time 313.701 seconds", "time 31.701 seconds [INVALID]", "INVALID"),
    ("io500", "TOTAL 17.690911", "TOTAL nan", "score"),
    ("gpcnet-network", "1693.4", "-nan", "bandwidth[Name=RR Two-sided BW (131072 B)]"),
    ("gpcnet-load", "995.9X", "infX", "impact[name=Multiple Allreduce (8 B)]"),
    ("mpigraph", "END mpiGraph", "", "END mpiGraph"),
    ("nccl-allreduce", "# Out of bounds values : 0 OK", "# Out of bounds values : 3 FAILED", "Out of bounds"),
    ("nccl-allreduce", "436.02      0", "436.02    N/A", "wrong_in_place"),
    ("rccl-allreduce", "28.73", "nan", "in_place[size=1048576]"),
    ("npb", "=               SUCCESSFUL", "=             UNSUCCESSFUL", "SUCCESSFUL"),
    ("minife", "Total CG Mflops: 223577", "Total CG Mflops: inf", "rate"),
    ("amg", "1.400566e+08", "nan", "merit"),
    ("snap", "1.1078E+01", "NaN", "grind"),
    ("minisweep", "PASS", "FAIL", "PASS"),
    ("umt", "1.52301e+08", "-nan", "throughput"),
    ("gromacs", "        1.008       23.801", "          nan          inf", "speed"),
    ("quantum-espresso", "convergence has been achieved in", "convergence NOT achieved after", "convergence NOT"),
    ("cp2k", "200.816", "NaN", "wall"),
    ("nwchem", "Total SCF energy =    -76.009802114212", "Total SCF energy =    NaN", "energy"),
    ("nwchem-water", "-76.009108035017", "-76.019108035017", "-76[.]0091"),
    ("gromacs-water", "500 steps,", "100 steps,", "500 steps"),
    ("quantum-espresso-silicon", "-15.84452726", "-15.74452726", "-15[.]8445"),
    ("cp2k-water", "-17.162756773857218", "-17.152756773857218", "-17[.]1627"),
    ("openfoam-cavity", "-0.2043005238", "-0.1943005238", "-0[.]20[345]"),
    ("openfoam", "Time = 2\n", "--> FOAM FATAL ERROR:\n", "FOAM FATAL"),
    ("milc", "iters = 100 mflops", "not converged iters = 100 mflops", "not converged"),
    ("lammps-defaults", "Total wall time", "ERROR: Lost atoms", "Total wall time"),
    ("minighost", "Computation within error tolerance.", "", "within error tolerance"),
    ("minighost", "GFLOPS_Total:                 2.187E+00", "GFLOPS_Total:                     NaN", "rate"),
    ("minidft", "convergence has been achieved", "convergence NOT achieved", "convergence NOT"),
    ("minidft", "215.00s WALL (       1 calls)\n=", "****** WALL (       1 calls)\n=", "benchmark"),
    ("gtc", "NERSC TIME(SEC):     286.312", "NERSC TIME(SEC):************", "loop"),
    ("gtc", " 1.531E+02 1.252E+01", "       NaN 1.252E+01", "pusher"),
    ("lsms", "FOM = 1.2e+11/sec", "FOM = -nan/sec", "merit"),
    ("lsms", "Loaded input file!", "RESULTS WILL BE WRONG!!!", "RESULTS WILL BE WRONG"),
    ("genasis", "Finishing the Program", "ERROR: aborting", "Finishing"),
    ("genasis", "2.674439E+001", "NaN", "execution"),
    ("hio", "<result> pass <<< xexec done.  Test name: read", "<result> fail <<< xexec done.  Test name: read", "read"),
    ("hio", "Write_speed 0.308243", "Write_speed -nan", "write"),
    ("lammps-omp", "using 2 OpenMP", "using 1 OpenMP", "using 2 OpenMP"),
    ("lammps-omp", "tersoff/omp", "tersoff", "tersoff/omp"),
    ("lammps-kokkos", "tersoff/kk", "tersoff", "tersoff/kk"),
    ("lammps-reaxff-omp", "energy conserved", "energy lost or gained", "energy conserved"),
    ("lammps-reaxff-kokkos", "-85.329693", "-84.329693", "-85[.]3"),
]


@pytest.mark.parametrize(("name", "good", "bad", "reason"), WRONG, ids=[f"{one[0]}-{one[3]}" for one in WRONG])
def test_an_output_that_is_wrong_is_incorrect(
    document: Document, tmp_path: Path, name: str, good: str, bad: str, reason: str
) -> None:
    files = texts(next(one["files"] for one in EXPECTED if one["test"] == name))
    assert any(good in text for text in files.values())
    found = judged(document, tmp_path, name, {file: text.replace(good, bad) for file, text in files.items()})
    assert found.verdict == "incorrect"
    assert reason in found.reason


def test_every_program_has_an_output_that_is_wrong() -> None:
    assert {one[0] for one in WRONG} == {one["test"] for one in EXPECTED}


def test_a_value_that_is_wrong_on_the_gpus_is_counted(document: Document, tmp_path: Path) -> None:
    text = (OUTPUTS / "nccl-allreduce.txt").read_text().replace("420.42      0", "420.42      7")
    assert dict(judged(document, tmp_path, "nccl-allreduce", {"output": text}).figures)["wrong_in_place"] == 7


def test_collectives_without_the_columns_of_all_ranks_pass_all_the_same(document: Document, tmp_path: Path) -> None:
    text = "# OSU MPI Allreduce Latency Test v7.4\n# Size       Avg Latency(us)\n1048576    862.06\n"
    found = judged(document, tmp_path, "osu-allreduce", {"output": text})
    assert (found.verdict, dict(found.figures)) == ("passed", {"latency[size=1048576]": 862.06})


def test_a_time_with_an_exponent_counts_in_every_figure(document: Document, tmp_path: Path) -> None:
    output = {"fwq_times.dat": "1000\n2000\n1.5e+03\n"}
    figures = dict(judged(document, tmp_path, "fwq", output).figures)
    assert (figures["samples_taken"], figures["time_mean"]) == (3, 1500)
