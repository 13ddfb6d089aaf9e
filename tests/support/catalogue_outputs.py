"""The sample outputs of the catalogue's programs, and their judgement by the real reading and checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from shakedown.checks.judge import Judgement, judge
from shakedown.conductor.workers import worker
from shakedown.conductor.workers.run_reader import OpenPack, ReadingLimits, RunReader
from shakedown.machine.here import local_system
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Document, NodeType, Test, Toolchain
from shakedown.model.ports import JobReport
from shakedown.plans import read_plan

OUTPUTS = Path(__file__).parents[1] / "catalogue/outputs"
RUN = "r000001"
GCC = Toolchain("gcc", cc="gcc", cxx="g++", fc="gfortran")
# whose input is the site's own, and what a site's test of them is called
TO_EXTEND = (
    *("cp2k", "gromacs", "gtc", "io500", "lammps-defaults", "lsms", "milc", "minidft", "nwchem", "openfoam"),
    *("quantum-espresso", "snap"),
)

Numbers = dict[str, float]


def rows(figures: dict[str, Any]) -> Numbers:
    """Each number under its own name: ``{"x[size=*]": {8: 1.5}}`` is ``{"x[size=8]": 1.5}``."""
    found: Numbers = {}
    for name, value in figures.items():
        each = value if isinstance(value, dict) else {"": value}
        found |= {name.replace("*", str(row)): float(number) for row, number in each.items()}
    return found


EXPECTED = yaml.load((OUTPUTS / "expected.yaml").read_bytes(), yaml.CSafeLoader)
NAMES = [f"{one['test']}-{number}" for number, one in enumerate(EXPECTED)]


def judged(document: Document, root: Path, name: str, files: dict[str, str]) -> Judgement:
    """The judgement of a run of the catalogue's test that left these texts: ``output``, or a file's name -> text."""
    case, test = case_of(document, f"own-{name}" if name in TO_EXTEND else name)
    layout, output = Layout(root), {"file": "run.out", "bytes": len(files.get("output", "").encode())}
    layout.work_directory(RUN).mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (root / "run.out" if file == "output" else layout.work_directory(RUN) / file).write_text(text)
    reader = RunReader(layout, RUN, output if output["bytes"] else {}, (), ReadingLimits(), OpenPack())
    evidence = worker.take_evidence(RUN, test, reader, ReadingLimits())
    return judge(case, test, JobReport("j000001", "completed", "local", exit_status=0, elapsed_s=10.0), evidence)


def case_of(document: Document, name: str) -> tuple[Case, Test]:
    case = next(case for case in document.cases if case.test == name)
    return case, next(test for test in document.tests if test.name == name).of(case)


def texts(files: dict[str, str]) -> dict[str, str]:
    return {name: (OUTPUTS / file).read_text() for name, file in files.items()}


def document_in(site: Path) -> Document:
    """Purpose: a plan of every program, read by a new site that has nothing but names for the tests that it extends."""
    (site / "site.yaml").write_text("site: empty\n")
    for folder in ("tests", "plans"):
        (site / folder).mkdir()
    for name in TO_EXTEND:
        command = "  command: lmp\n" if name == "lammps-defaults" else ""
        run = f"run:\n{command}" if command else ""
        (site / "tests" / f"own-{name}.yaml").write_text(
            f"test: own-{name}\nextends: {name}\nabout: with an input of our own\n{run}tags: [program]\n"
        )
    (site / "plans" / "all.yaml").write_text(
        "plan: all\nsystem: here\ncomponents: [{site: {tests: ['tag:program']}}]\n"
    )
    return read_plan(site, "all", lambda: local_system("here", "somewhere", NodeType("host", cores=16), "", (GCC,), ()))
