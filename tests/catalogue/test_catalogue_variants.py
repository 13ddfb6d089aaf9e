"""Outputs as other machines print them: warnings between the lines, other forms of numbers, colours, names of ranks.

Whatever is done to an output, its test passes with the numbers that stand there, or it does not pass: no number is another one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from catalogue_outputs import EXPECTED, NAMES, judged, rows, texts

from shakedown.model.nouns import Document

pytestmark = pytest.mark.usefixtures("as_in_a_worker")

WARNINGS = [
    "[1714000000.123456] [n001:4711 :0]    ib_mlx5.c:123  UCX  WARN  device mlx5_0 is down",
    "n001:4711:4712 [0] NCCL INFO Channel 00/0 : 1 -> 2 via P2P",
    "srun: warning: 2 of 4 tasks are late 17",
    "WARNING 3",
    "libfabric:4711:1714000000::core:core:fi_getinfo():1 5",
]
FRACTION = re.compile(r"(?<![\w.+-])[+-]?\d+\.\d+(?:[eE][+-]?\d+)?(?![\w.:])")
# whose tables say which lines are their rows
TALKATIVE = ("osu-", "imb-", "nccl-", "rccl-", "stream-", "babelstream", "ior", "mdtest", "hpl", "lammps-", "snap")

Files = dict[str, str]
Change = Callable[[str], Iterator[tuple[str, str]]]


def wrongly_read(document: Document, root: Path, one: dict[str, Any], files: Files, passes: bool) -> str:
    """What is wrong with the reading of these files, "" for nothing: it passes with the numbers of the sample, or does not pass.

    ``passes``: it must pass.
    """
    found = judged(document, root, one["test"], files)
    wanted = rows(one["figures"])
    if found.verdict != "passed":
        return f"{found.verdict}: {found.reason}" if passes else ""
    other = {
        name: (value, wanted.get(name))
        for name, value in found.figures
        if name not in wanted or not math.isclose(value, wanted[name], rel_tol=1e-12, abs_tol=0)
    }
    said = " ".join(found.problems)
    lost = sorted(name for name in set(wanted) - {name for name, _ in found.figures} if name not in said)
    return f"other numbers {other}" if other else f"lost {lost}" if lost else ""


def each(files: Files, change: Change) -> Iterator[tuple[str, Files]]:
    """The files with one of them changed in one place."""
    for name, text in files.items():
        for what, changed in change(text):
            yield f"{name}: {what}", files | {name: changed}


def with_a_line(text: str) -> Iterator[tuple[str, str]]:
    lines = text.split("\n")
    for number in range(len(lines)):
        for warning in {WARNINGS[number % len(WARNINGS)], WARNINGS[-2]}:
            yield f"line {number}, {warning}", "\n".join([*lines[:number], warning, *lines[number:]])


def with_another_form(text: str) -> Iterator[tuple[str, str]]:
    for found in FRACTION.finditer(text):
        exponent = f"{float(found[0]):.16E}"
        for form in (exponent, exponent.replace("E", "d")):
            yield f"{found[0]} at {found.start()} as {form}", text[: found.start()] + form + text[found.end() :]


def with_no_number(text: str) -> Iterator[tuple[str, str]]:
    for found in FRACTION.finditer(text):
        for form in ("nan", "****"):
            yield f"{found[0]} at {found.start()} as {form}", text[: found.start()] + form + text[found.end() :]


def with_marks(text: str) -> Iterator[tuple[str, str]]:
    yield "colours", re.sub(r"(?m)^(.+)$", "\x1b[1;32m\\1\x1b[0m", text)
    yield "carriage returns", text.replace("\n", "\r\n")
    yield "ranks", re.sub(r"(?m)^", "0: ", text)
    yield "Open MPI's tags", re.sub(r"(?m)^", "[1,0]<stdout>: ", text)
    yield "tabs", re.sub(r"(?<=\S) {2,}(?=\S)", "\t", text)


CHANGES = [with_a_line, with_another_form, with_no_number, with_marks]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("one", EXPECTED, ids=NAMES)
def test_no_number_is_another_one_in_silence(
    document: Document, tmp_path: Path, one: dict[str, Any], change: Change
) -> None:
    """Warnings of libraries do not even make a run incorrect, where the test says which lines are its rows."""
    passes = change is with_a_line and one["test"].startswith(TALKATIVE) and "output" in one["files"]
    broken = [
        f"{what}: {wrong}"
        for what, files in each(texts(one["files"]), change)
        if (wrong := wrongly_read(document, tmp_path, one, files, passes))
    ]
    assert broken == []


@pytest.mark.parametrize("one", [one for one in EXPECTED if "output" in one["files"]], ids=lambda one: one["test"])
def test_colours_hide_no_number(document: Document, tmp_path: Path, one: dict[str, Any]) -> None:
    files = texts(one["files"])
    _, coloured = next(with_marks(files["output"]))
    assert judged(document, tmp_path, one["test"], files | {"output": coloured}).verdict == "passed"


def test_a_run_that_only_reads_is_not_taken_for_one_that_writes(document: Document, tmp_path: Path) -> None:
    text = texts({"ior.json": "ior.json"})["ior.json"]
    lines = [line for line in text.split("\n") if '"operation": "write"' not in line]
    found = judged(document, tmp_path, "ior-json", {"ior.json": "\n".join(lines)})
    assert found.verdict == "incorrect"
    assert "summary" in found.reason


def test_percentiles_of_a_collective_are_no_fastest_and_slowest_rank(document: Document, tmp_path: Path) -> None:
    text = (
        "# OSU MPI Allreduce Latency Test v7.4\n"
        "# Size       Avg Latency(us)  P50 Tail Lat(us)  P90 Tail Lat(us)  P99 Tail Lat(us)\n"
        "1048576    862.06  860.01  870.12  901.23\n"
    )
    found = judged(document, tmp_path, "osu-allreduce", {"output": text})
    assert (found.verdict, dict(found.figures)) == ("passed", {"latency[size=1048576]": 862.06})


def test_energies_before_the_last_one_do_not_stand_for_it(document: Document, tmp_path: Path) -> None:
    text = texts({"output": "cp2k.txt"})["output"]
    energy = next(line for line in text.split("\n") if line.startswith(" ENERGY|"))
    broken = text.replace(energy, f"{energy}\n{energy.replace('-17.164636842912345', 'NaN')}")
    found = judged(document, tmp_path, "cp2k", {"output": broken})
    assert (found.verdict, "energy" in found.reason) == ("incorrect", True)


def test_steps_an_hour_are_no_nanoseconds_a_day(document: Document, tmp_path: Path) -> None:
    text = texts({"output": "gromacs.txt"})["output"]
    other = text.replace("(ns/day)    (hour/ns)", "(steps/hour)").replace("1.008       23.801", "4201.3\n42")
    assert judged(document, tmp_path, "gromacs", {"output": other}).verdict == "incorrect"


def test_mdtest_of_old_versions_is_read(document: Document, tmp_path: Path) -> None:
    text = texts({"output": "mdtest-3.2.txt"})["output"].replace("SUMMARY rate:", "SUMMARY:")
    assert "SUMMARY:" in text
    found = judged(document, tmp_path, "mdtest", {"output": text})
    assert dict(found.figures)["rate[Operation=File stat]"] == 165000.75


def test_the_rate_of_a_gpu_is_that_of_the_best_run(document: Document, tmp_path: Path) -> None:
    text = texts({"output": "hpl-nvidia.txt"})["output"]
    row = next(line for line in text.split("\n") if line.startswith("WC0"))
    slower = row.replace("571392", "285696").replace("1.268e+06 ( 3.964e+04)", "1.000e+06 ( 3.125e+04)")
    found = dict(judged(document, tmp_path, "hpl-nvidia", {"output": text.replace(row, f"{row}\n{slower}")}).figures)
    assert (found["best"], found["per_gpu"]) == (1268000, 39640)


def test_of_two_runs_of_ior_in_one_output_the_last_one_counts(document: Document, tmp_path: Path) -> None:
    first = texts({"output": "ior-3.0.txt"})["output"]
    second = first.replace("143.22", "613.20").replace("9049.20", "8021.50")
    found = judged(document, tmp_path, "ior", {"output": f"{first}\n{second}"})
    bandwidth = {name: value for name, value in found.figures if name.startswith("bandwidth")}
    assert (found.verdict, bandwidth) == (
        "passed",
        {"bandwidth[Operation=write]": 613.2, "bandwidth[Operation=read]": 8021.5},
    )
