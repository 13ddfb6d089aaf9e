"""What ``run: {trace: yes}`` adds to a case: the tracer is built beside what the case needs built, and preloaded into its ranks."""

# paths are text in this room: a Path for each of thousands of files costs too much
# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import hashlib
import os
import re
import shlex
from dataclasses import replace

from shakedown.model.nouns import Toolchain
from shakedown.plans.cases.build_keys import Plan
from shakedown.plans.cases.launching import Launch
from shakedown.plans.context import Context
from shakedown.plans.library import Definition
from shakedown.plans.mpi import compiler_for_mpi, mpi_of_compiler, mpi_of_programs
from shakedown.plans.schema.scalars import InvalidValue
from shakedown.plans.schema.source_positions import key_place

TRACE_FILE = "shakedown-trace.jsonl"
_PLACE = ".shakedown-trace"  # in the directory of the build
_LIBRARY = "libshakedown-trace.so"
_TIME_LIMIT_S = 600.0
_C_OF = re.compile(r"(?:mpi(?:cxx|c\+\+|CC|fort|f77|f90)|mpii(?:cpc|cpx|fort|fx))(?=$|\.)")


def check_trace(test: Definition, context: Context) -> None:
    """Purpose: what is wrong with ``trace`` in a test goes to the context's problems."""
    run = test.values["run"]
    if run.get("trace", False) is False:
        return
    at = key_place(test.root, "run", "trace")
    if "container" in run:
        context.problems.at(
            at,
            "programs in a container are not traced: the tracer is built for the MPI of the machine",
            "leave out trace, or container",
        )
    elif not test.values.get("abstract") and "{launch}" not in run.get("command", ""):
        context.problems.at(at, "the command has no {launch}, so there are no ranks to trace", "{launch} ./program")


def with_tracer(plan: Plan | None, compiler: str, context: Context) -> Plan:
    """Purpose: what a traced case builds: the tracer first, then what its test builds. Equal ones are built once.

    ``compiler``: of programs of the case's MPI. Raises InvalidValue where the tracer's source cannot be read.
    """
    source = os.path.join(os.path.dirname(context.kernels), "trace")
    try:
        digest = context.around.tree(source)
    except OSError as error:
        raise InvalidValue(f"the tracer cannot be read in {source}: {error.strerror}") from error
    lines = [
        f"mkdir -p {_PLACE}",
        f"cp {_literal(shlex.quote(source))}/* {_PLACE}/",
        f"make -C {_PLACE} CC_MPI={_literal(shlex.quote(compiler))} {_LIBRARY}",
    ]
    if plan is None:
        return Plan("trace", "", digest, "\n".join(lines), _TIME_LIMIT_S)
    both = hashlib.sha256(f"{plan.digest}\n{digest}".encode()).hexdigest()
    return replace(plan, digest=both, run="\n".join([*lines, plan.run]))


def traced(launch: Launch) -> Launch:
    """Purpose: the launch line whose ranks, and nothing else, have the tracer in them."""
    words = f"env LD_PRELOAD={{build}}/{_PLACE}/{_LIBRARY} SHAKEDOWN_TRACE={TRACE_FILE}"
    return replace(launch, text=f"{launch.text} {words}")


def tracer_compiler(
    plan: Plan | None, toolchain: Toolchain | None, programs: list[str], mpi: str, context: Context
) -> str:
    """Purpose: the compiler whose MPI is that of the case's program: the build's own, else one that has the program's MPI.

    ``mpi``: what the test says it is, "" where it says nothing.
    """
    mine = _c_compiler(toolchain)
    if plan is not None:
        return mine
    around = context.around
    wanted = mpi or mpi_of_programs(programs, around)
    if not wanted or mpi_of_compiler(toolchain, around) == wanted:
        return mine
    named = f"mpicc.{wanted}"  # as Debian has it
    return named if around.place(named) else mine


def _c_compiler(toolchain: Toolchain | None) -> str:
    """Of the family of the toolchain's MPI compiler the one for C."""
    folder, name = os.path.split(compiler_for_mpi(toolchain))
    return os.path.join(folder, _C_OF.sub(lambda found: "mpiicx" if found[0].startswith("mpii") else "mpicc", name))


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
